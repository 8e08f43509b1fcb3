# SPDX-License-Identifier: Apache-2.0
"""Runs a program whose `import smdebug` finds smd.compat.smdebug, if no real smdebug is there or --force is given."""
import argparse
import os
import runpy
import sys

from smd.compat import install

parser = argparse.ArgumentParser("python3 -m smd.compat", description=__doc__, allow_abbrev=False)
parser.add_argument("--force", action="store_true", help="also if a real smdebug is there")
parser.add_argument("script", metavar="SCRIPT")
parser.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER).required = False
given = parser.parse_args()
sys.argv = [given.script, *given.arguments]
sys.path[0] = os.path.dirname(os.path.abspath(given.script))  # as for any program, and before smdebug is looked for
install(given.force)
runpy.run_path(given.script, run_name="__main__")
