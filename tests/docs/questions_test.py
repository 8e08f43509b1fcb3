#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""questions_test.py ROOT BIN_DIR: every command in docs/questions.md prints what stands below it there."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

QUESTIONS = 30


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    text = (root / "docs/questions.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^\*\*(\d+)\. (.*?)\*\*.*?^```console\n\$ (.*?)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    failed = [int(number) for number, *_ in blocks] != list(range(1, QUESTIONS + 1))
    for number, question, command, expected in blocks:
        with tempfile.TemporaryDirectory() as home:
            environment = {"PATH": os.pathsep.join([os.path.abspath(sys.argv[2]), "/usr/bin", "/bin"]), "HOME": home,
                           "LC_ALL": "C.UTF-8", "TERM": "dumb", "TZ": "UTC"}
            done = subprocess.run(["bash", "-c", command], cwd=root / "tests/fixtures", env=environment, timeout=60,
                                  check=False, capture_output=True, text=True)
        printed = (done.stdout + done.stderr).replace(home, "$HOME").rstrip()
        if printed != expected.rstrip():
            failed = True
            print(f"{number}. {question}\n$ {command}\n{printed}\nand not\n{expected}")
    sys.exit(failed)


main()
