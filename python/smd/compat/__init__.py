# SPDX-License-Identifier: Apache-2.0
"""The names of the reference, smdebug, over `smd`: `smd.compat.smdebug`. `python3 -m smd.compat SCRIPT ARGS…` runs a
program whose `import smdebug` finds it."""
import importlib.util
import os
import sys

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "path")  # its package smdebug calls `install`


def install(force=False):
    """Makes `import smdebug` find `smd.compat.smdebug`, unless the real one is there. Returns whether it does.
    So do processes that multiprocessing starts by spawn: they get the sys.path of the process that starts them."""
    from smd.compat import smdebug
    loaded = sys.modules.get("smdebug")
    if not force and loaded is not smdebug:
        spec = loaded.__spec__ if loaded else importlib.util.find_spec("smdebug")
        found = spec.origin if spec else loaded  # a mere folder of that name has no origin
        if found and found != os.path.join(_FOLDER, "smdebug", "__init__.py"):
            return False
    if _FOLDER not in sys.path:
        sys.path.insert(0 if force else len(sys.path), _FOLDER)
    for name, module in list(sys.modules.items()):
        if name.startswith("smd.compat.smdebug"):
            sys.modules[name[len("smd.compat."):]] = module
    return True
