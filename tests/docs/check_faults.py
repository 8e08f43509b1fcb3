#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_faults.py SOURCE: checks that every test that docs/faults.md and docs/security.md name exists."""
import glob
import os
import re
import sys

root = sys.argv[1]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


text = "".join(read(os.path.join(root, "docs", page)) for page in ("faults.md", "security.md"))
cases = [name for path in glob.glob(os.path.join(root, "tests/unit/**/*.cpp"), recursive=True)
         for name in re.findall(r'TEST_CASE(?:_FIXTURE)?\((?:\w+,\s*)?"([^"]+)', read(path))]
scripts = "".join(read(path) for path in glob.glob(os.path.join(root, "tests/[ch]*/*.py")))
absent = []
for quoted in re.findall(r'"([^"]+)"', " ".join(text.split())):
    start, end = ("", quoted[2:]) if quoted.startswith("… ") else (quoted.rstrip(" …"), "")
    if not any(case.startswith(start) and case.endswith(end) for case in cases):
        absent.append(quoted)
absent += [name for name in re.findall(r"`(test_\w+)`", text) if f"def {name}(" not in scripts]
absent += [name for name in re.findall(r"`fuzz\.replay\.(\w+)`", text)
           if not os.path.exists(os.path.join(root, "tests/fuzz", name + ".cpp"))]
for name in absent:
    print(f"docs/faults.md or docs/security.md names a test that does not exist: {name}")
sys.exit(1 if absent or len(cases) < 100 else 0)
