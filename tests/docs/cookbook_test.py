#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cookbook_test.py ROOT BIN_DIR: compares every command of docs/cookbook.md with NumPy's results for the same files, or with
the description of the trials (tests/fixtures/README.md). Programs at the end of a pipe that may not be installed are stubs
that record their input."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import cookbook_answers

TRIALS = {"run": "good-pytorch-digits", "good": "good-pytorch-digits", "bad": "good-pytorch-exploding",
         "ddp": "good-pytorch-two-workers", "live": "good-running", "copied": "bad-flipped-bit",
         "logs/healthy": "tb-logs/healthy", "logs/sick": "tb-logs/sick",
         "runs/a": "good-pytorch-digits", "runs/b": "good-pytorch-exploding", "out/job-1/debug-output": "good-pytorch-digits"}
# Always stubs: no network access, and no waiting for a person.
STUBS = ("aws", "curl", "mail", "fzf", "feedgnuplot")
NEEDED = ("gnuplot", "jq", "mlr")

Recipe = collections.namedtuple("Recipe", "question command")
Outcome = collections.namedtuple("Outcome", "status output errors stubs folder")


def recipes(document):
    """Returns question and command of each recipe. Each question has exactly one command."""
    found = []
    for section in re.split(r"^### ", document, flags=re.MULTILINE)[1:]:
        question = section.split("\n", 1)[0]
        blocks = re.findall(r"^```sh\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
        assert len(blocks) == 1, f"{question}: {len(blocks)} commands"
        found.append(Recipe(question, blocks[0]))
    return found


def prepare(root, folder):
    for name, trial in TRIALS.items():
        shutil.copytree(root / "tests/fixtures" / trial, os.path.join(folder, name))
    os.mkdir(os.path.join(folder, "stubs"))
    for name in STUBS:
        shutil.copy(root / "tests/docs/cookbook_stub.py", os.path.join(folder, "stubs", name))
        os.chmod(os.path.join(folder, "stubs", name), 0o755)
    shutil.copy(root / "tests/docs/cookbook_pandas.py", os.path.join(folder, "stubs", "pandas.py"))


def run(recipe, root, bin_dir):
    with tempfile.TemporaryDirectory(prefix="smd-cookbook-") as folder:
        prepare(root, folder)
        environment = {"PATH": os.pathsep.join([os.path.join(folder, "stubs"), bin_dir, "/usr/bin", "/bin"]),
                       "PYTHONPATH": os.path.join(folder, "stubs"), "LC_ALL": "C.UTF-8", "HOME": folder,
                       "STUB_LOG": os.path.join(folder, "log"), "GNUTERM": "dumb", "J": "job-1",
                       "TOPIC": "arn:aws:sns:eu-west-1:1:t", "WEBHOOK": "https://chat.example.com/hook"}
        done = subprocess.run(["bash", "-c", recipe.command], cwd=folder, env=environment, timeout=120, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        log = pathlib.Path(folder, "log")
        stubs = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
        cookbook_answers.check(recipe.question,
                               Outcome(done.returncode, done.stdout, done.stderr, stubs, pathlib.Path(folder)))


def main():
    root, bin_dir = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])
    missing = [name for name in NEEDED if not shutil.which(name, path="/usr/bin:/bin")]
    if missing:
        print("skipped: not installed:", *missing)
        sys.exit(77)
    failed = False
    cookbook = recipes((root / "docs/cookbook.md").read_text(encoding="utf-8"))
    assert len(cookbook) == 36, len(cookbook)
    numbers = [int(recipe.question.split(".")[0]) for recipe in cookbook]
    assert numbers == list(range(1, len(cookbook) + 1)), numbers
    for recipe in cookbook:
        try:
            run(recipe, root, bin_dir)
        except Exception as error:  # the other recipes are tried too
            failed = True
            print(f"{recipe.question}\n{recipe.command}{type(error).__name__}: {error}\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()
