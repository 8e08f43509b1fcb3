#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_unit_tests.py ROOT: checks that each unit test is named after a source in the folder that its own mirrors, or is
in the table of tests/unit/README.md, and that each source of libsmd has a test of its name or is in that table."""

import pathlib
import re
import sys


def folder_of(source):
    """Returns the folder of tests/unit for a source, and null if it has none."""
    match = re.match(r"libsmd/src/(.*)/|libsmd/(\w+)/|tools/(\w+)/", source.as_posix())
    return match and next(group for group in match.groups() if group)


def main():
    root = pathlib.Path(sys.argv[1])
    sources = [path.relative_to(root) for folder in ("libsmd", "tools") for path in (root / folder).rglob("*.[ch]pp")]
    mirrored = {f"{folder_of(source)}/{source.stem}" for source in sources if folder_of(source)}
    unit = root / "tests/unit"
    tests = {path.relative_to(unit).as_posix().removesuffix("_test.cpp") for path in unit.rglob("*_test.cpp")}

    rows = re.findall(r"^\| (`.*?) \| (.*?) \|", (unit / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    named_tests = {name.removesuffix("_test") for row in rows for name in re.findall(r"`([^`]+)`", row[0])}
    named_sources = {name for row in rows for name in re.findall(r"`([^`]+)`", row[1])}
    complaints = [f"tests/unit/README.md does not name {test}_test.cpp, which no source of its folder is named after"
                  for test in tests - mirrored - named_tests]
    complaints += [f"tests/unit/README.md names {test}, which does not exist"
                   for test in named_tests - tests if not (root / test).exists()]

    known = set()
    for source in sources:
        if source.suffix != ".cpp" or source.parts[0] != "libsmd" or "include" in source.parts:
            continue
        names = {source.stem, f"{source.parent.name}/{source.stem}", f"{folder_of(source)}/{source.stem}"}
        known |= names
        if f"{folder_of(source)}/{source.stem}" not in tests and not names & named_sources:
            complaints.append(f"{source} has no test of its name, and tests/unit/README.md does not say where it is tested")
    complaints += [f"tests/unit/README.md names a source {name}, which does not exist" for name in named_sources - known]
    print("\n".join(sorted(complaints)))
    sys.exit(bool(complaints))


main()
