#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_tags.py ROOT: checks that each message tag in the sources is in the table (tools/cli/exit_status.cpp), and that
each one in the table is used."""

import pathlib
import re
import sys

# Kinds of problems that are not failures, so that their names are not tags; a stopped request is reported as Timeout.
NO_FAILURE = {"NotYet", "Absent", "Warning", "Note", "Remark", "OtherTrial", "Stopped"}


def main():
    root = pathlib.Path(sys.argv[1])
    table = root / "tools/cli/exit_status.cpp"
    listed = set(re.findall(r'\{"(\w+)",\s*ExitStatus', table.read_text(encoding="utf-8")))
    made = set()
    for folder in ("libsmd", "tools"):
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            text = path.read_text(encoding="utf-8")
            if path != table:
                made.update(re.findall(r'\b(?:fail|Error)\(\s*"([A-Z]\w+)"', text))
                made.update(re.findall(r'reason = .*"(\w+)";', text))
    kinds = (root / "libsmd/src/types/problem.cpp").read_text(encoding="utf-8")
    made.update(set(re.findall(r'return "([A-Z]\w+)";', kinds)) - NO_FAILURE)
    for tag in sorted(made - listed):
        print(f"{tag} is not in {table.relative_to(root)}")
    for tag in sorted(listed - made):
        print(f"{tag}, in {table.relative_to(root)}, is made nowhere")
    sys.exit(made != listed or not made)


main()
