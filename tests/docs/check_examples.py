#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_examples.py ROOT BIN_DIR: every smd command in the EXAMPLES of the manual pages, which --help shows too, does what
it is an example of: run on a trial with the name that the examples use, it finds what it asks for."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

UNESCAPE = {"\\-": "-", "\\(aq": "'", "\\(dq": '"', "\\(ga": "`", "\\(ha": "^", "\\(ti": "~", "\\e": "\\", "\\&": ""}


def examples(page):
    section = re.search(r"^\.Sh EXAMPLES\n(.*?)(?=^\.Sh )", page, re.DOTALL | re.MULTILINE).group(1)
    for block in re.findall(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed", section, re.DOTALL | re.MULTILINE):
        yield re.sub(r"\\(?:-|e|&|\(..)", lambda found: UNESCAPE[found.group()], block)


def main():
    root = pathlib.Path(sys.argv[1])
    failed = False
    count = 0
    for path in sorted((root / "man").glob("*.1")):
        for example in examples(path.read_text(encoding="utf-8")):
            # Requires a network, or programs that may not be installed.
            if re.search(r"aws |s3://|gnuplot|mlr |--python ", example):
                continue
            count += 1
            work = tempfile.mkdtemp(prefix="smd-examples-")
            try:
                for name in ("run", "other-run", "good", "bad", "runs/a", "runs/b"):
                    shutil.copytree(root / "tests/fixtures/good-pytorch-digits", os.path.join(work, name))
                shutil.copytree(root / "tests/fixtures/checkpoints/rule_blowup", os.path.join(work, "checkpoints"))
                for name in ("job.json", "rules.json"):
                    pathlib.Path(work, name).write_text(
                        '[{"RuleConfigurationName": "a", "RuleParameters": {"rule_to_invoke": "VanishingGradient"}}]',
                        encoding="utf-8")
                environment = {"PATH": os.pathsep.join([sys.argv[2], "/usr/bin", "/bin"]), "LC_ALL": "C.UTF-8",
                               "HOME": work, "TRIAL": "run"}
                prepare = ("smd-tensor run DigitNet_fc.weight -f npy -o weight.npy\nsmd-save fresh --init\n"
                           "python() { echo 'iter 1: loss 0.5'; }\n"
                           "train.R() { echo '{\"step\": 1, \"tensor\": \"loss\", \"value\": 0.5}'; }\n")
                if path.name == "smd-save.1":  # a trial whose job has ended takes nothing more
                    example = prepare + re.sub(r"\brun\b", "fresh", example)
                done = subprocess.run(["bash", "-c", example], cwd=work, env=environment, timeout=60, check=False,
                                      capture_output=True)
            finally:
                shutil.rmtree(work)
            # 1: two trials differ, or a rule triggered; 123: one of many. That the job ended is the end of a loop.
            tags = set(re.findall(rb"^smd-\w+: ([A-Z]\w+):", done.stderr, re.MULTILINE))
            if done.returncode not in (0, 1, 123) or tags - ({b"NoMoreData"} if "while" in example else set()):
                failed = True
                print(f"{path.name}: {example}status {done.returncode}\n{done.stderr.decode()}")
    if count < 3:
        failed = True
        print("only", count, "examples found")
    sys.exit(failed)


main()
