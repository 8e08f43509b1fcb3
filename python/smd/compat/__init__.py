# SPDX-License-Identifier: Apache-2.0
"""The names of the reference, smdebug, over `smd`: `smd.compat.smdebug`. `python3 -m smd.compat SCRIPT ARGS…` runs a
program whose `import smdebug` finds it."""
import importlib.util
import sys


def install(force=False):
    """Makes `import smdebug` find `smd.compat.smdebug`, unless the real one is there. Returns whether it does."""
    from smd.compat import smdebug
    loaded = sys.modules.get("smdebug")
    if not force and loaded is not smdebug:
        spec = loaded.__spec__ if loaded else importlib.util.find_spec("smdebug")
        if spec.origin if spec else loaded:  # a mere folder of that name has no origin
            return False
    for name, module in list(sys.modules.items()):
        if name.startswith("smd.compat.smdebug"):
            sys.modules[name[len("smd.compat."):]] = module
    return True
