#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_limits.py ROOT: checks that each limit of text/limits.hpp stands in the table of docs/security.md, and nothing
else does."""

import pathlib
import re
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    header = (root / "libsmd/src/text/limits.hpp").read_text(encoding="utf-8")
    declared = set(re.findall(r"^inline constexpr [\w:]+ (\w+) =", header, re.MULTILINE))
    page = (root / "docs/security.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    for name in sorted(declared - told):
        print(f"docs/security.md does not name the limit {name}")
    for name in sorted(told - declared):
        print(f"docs/security.md names a limit {name}, which text/limits.hpp does not have")
    sys.exit(declared != told or not declared)


main()
