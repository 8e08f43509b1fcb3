#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_readme.py ROOT BIN_DIR...: every `$ smd-…` in the console blocks of README.md and docs/questions.md prints what is
shown there, and README.md begins with what scripts/demo.sh shows, in the same order."""
import difflib
import os
import pathlib
import re
import subprocess
import sys


def sessions(page):
    """(command, expected output) of every command in the console blocks."""
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def main():
    root = pathlib.Path(sys.argv[1])
    environment = dict(os.environ, LC_ALL="C.UTF-8", PATH=os.pathsep.join(
        sys.argv[2:] + [os.path.dirname(sys.executable), os.environ["PATH"]]))
    run = []
    failed = False
    pages = (root / "README.md", root / "docs/questions.md")
    for page, command, expected in ((page, *session) for page in pages for session in sessions(page)):
        if not command.startswith("smd-"):
            continue
        run.append(command)
        actual = subprocess.run(["sh", "-c", command], cwd=root / "tests/fixtures", env=environment, timeout=60,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()
        # Trailing blanks, and a blank line before the next command, belong to the page.
        shown = [line.rstrip() for line in expected.rstrip("\n").split("\n")]
        printed = [line.rstrip() for line in actual.rstrip("\n").split("\n")]
        if shown != printed:
            failed = True
            print("$ " + command)
            print("\n".join(difflib.unified_diff(shown, printed, page.name, "printed", lineterm="")))
    demo = re.findall(r"^show (.*)$", (root / "scripts/demo.sh").read_text(encoding="utf-8"), re.MULTILINE)
    if not demo or run[:len(demo)] != demo:
        failed = True
        print("the README's first commands are not those of scripts/demo.sh:", *demo, sep="\n")
    sys.exit(failed)


main()
