#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_examples.py ROOT BIN_DIR: checks every smd command in the EXAMPLES of the manual pages: run on a trial with
the name that the examples use, it does not end with a usage error, and finds the trial."""
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
            if "aws " in example or "s3://" in example or "gnuplot" in example or "mlr " in example:
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
                           "train.R() { echo '{\"step\": 1, \"tensor\": \"loss\", \"value\": 0.5}'; }\n")
                if path.name == "smd-save.1":  # a trial whose job has ended takes nothing more
                    example = prepare + re.sub(r"\brun\b", "fresh", example)
                done = subprocess.run(["bash", "-c", example], cwd=work, env=environment, timeout=60, check=False,
                                      capture_output=True)
            finally:
                shutil.rmtree(work)
            # The trial may lack what the example names: then the status is 1 or 6, with a message, and not a usage
            # error.
            if done.returncode not in (0, 1, 6, 123) or b"Usage" in done.stderr or b"NotFound" in done.stderr:
                failed = True
                print(f"{path.name}: {example}status {done.returncode}\n{done.stderr.decode()}")
    if count < 3:
        failed = True
        print("only", count, "examples found")
    sys.exit(failed)


main()
