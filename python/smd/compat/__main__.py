# SPDX-License-Identifier: Apache-2.0
"""python3 -m smd.compat [--force] SCRIPT ARGS…: runs a program with smd.compat.smdebug as smdebug, if no real one is
there or --force is given."""
import os
import runpy
import sys

from smd.compat import install

arguments = sys.argv[1:]
force = arguments[:1] == ["--force"]
sys.argv = arguments[force:]
if not sys.argv or sys.argv[0].startswith("-"):
    sys.exit("usage: python3 -m smd.compat [--force] SCRIPT [ARGUMENT]...")
install(force)
sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
