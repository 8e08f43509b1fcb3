#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_environment.py ROOT: checks that each environment variable that the sources read is in the table of the
manual pages (tools/cli/environment.cpp), that each one in the table is read, and that the page of each command with an
option names a variable that goes with it."""
import pathlib
import re
import sys

NAME = r"(?:SMD|SMDEBUG|SLURM|AWS|PARALLEL|LC)_[A-Z0-9_]*[A-Z0-9]|USE_SMDEBUG|NO_COLOR|TERM|LANG|COLUMNS"

# Set for other programs (smd-rule --on-trigger), not read; smd-rule(1) describes it.
SET = {"SMD_RULE"}

# A variable that each command with the option reads.
OF_OPTION = {"cache": "SMD_CACHE_DIR", "endpoint-url": "AWS_PROFILE", "idle": "SMDEBUG_TRAINING_END_DELAY_REFRESH",
             "shard": "SLURM_PROCID"}


def main():
    root = pathlib.Path(sys.argv[1])
    table = root / "tools/cli/environment.cpp"
    documented = set()
    for names in re.findall(r'\{((?:"[A-Z0-9_, ]+"\s*)+),', table.read_text(encoding="utf-8")):
        documented.update(re.findall(r"[A-Z0-9_]+", names))
    read = {}
    for folder in ("libsmd", "tools"):
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            if path == table or "docgen" in path.parts:
                continue
            for name in re.findall(r'"(%s)"' % NAME, path.read_text(encoding="utf-8")):
                read.setdefault(name, path.relative_to(root))
    failed = False
    for name in sorted(set(read) - documented - SET):
        failed = True
        print(f"{name}, read in {read[name]}, is not in {table.relative_to(root)}")
    for name in sorted(documented - set(read)):
        failed = True
        print(f"{name}, in {table.relative_to(root)}, is read nowhere")
    for page in sorted((root / "man").glob("*.1")):
        lines = page.read_text(encoding="utf-8").replace("\\-", "-").splitlines()
        for option, name in OF_OPTION.items():
            if any(line.startswith(f".It Fl -{option} ") for line in lines) and f".It Ev {name}" not in lines:
                failed = True
                print(f"{page.relative_to(root)} has --{option}, and does not name {name}")
    if not documented or not read:
        failed = True
        print("nothing found: the sources do not look as this script thinks")
    sys.exit(failed)


main()
