#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_readme.py [--rewrite] ROOT BIN_DIR EXAMPLE...: in a folder of the examples that the packages install, every `$ smd-…` in the
console blocks of README.md and of the pages below prints what is shown there, and commands about an example within a
sentence work too. What scripts/demo.sh shows stands in these pages, in the same order.
--rewrite: writes what is printed into the pages; look at the difference."""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


PAGES = ("README.md", "docs/tour.md", "docs/sagemaker.md", "docs/programs.md")


def sessions(page):
    """(command, expected output) of every command in the console blocks."""
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def in_sentences(page):
    """Commands about examples outside blocks."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    spans = (" ".join(span.split()) for span in re.findall(r"`(smd-[^`]+)`", text))
    return [span for span in spans if re.search(r" (good|bad)-| (tb-logs|checkpoints)/", span)]


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--rewrite"]
    with tempfile.TemporaryDirectory(prefix="smd-readme-") as folder:
        check(pathlib.Path(arguments[0]), arguments[1], arguments[2:], folder, len(arguments) + 1 < len(sys.argv))


def check(root, bin_dir, examples, folder, rewrite):
    for example in examples:
        shutil.copytree(root / "tests/fixtures" / example, os.path.join(folder, example))
    environment = dict(os.environ, LC_ALL="C.UTF-8", PATH=os.pathsep.join(
        [os.path.abspath(bin_dir), os.path.dirname(sys.executable), os.environ["PATH"]]))
    run = []
    failed = False
    pages = [root / page for page in PAGES]
    for page, command, expected in ((page, *session) for page in pages for session in sessions(page)):
        if not command.startswith("smd-"):
            continue
        run.append(command)
        actual = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, timeout=60,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()
        # Trailing blanks, and a blank line before the next command, belong to the page.
        shown = [line.rstrip() for line in expected.rstrip("\n").split("\n")]
        printed = [line.rstrip() for line in actual.rstrip("\n").split("\n")]
        if shown != printed and rewrite:
            text = page.read_text(encoding="utf-8")
            page.write_text(text.replace(f"$ {command}\n{expected}", f"$ {command}\n" + "\n".join(printed) + "\n" +
                                         "\n" * (expected.endswith("\n\n"))), encoding="utf-8")
        elif shown != printed:
            failed = True
            print("$ " + command)
            print("\n".join(difflib.unified_diff(shown, printed, page.name, "printed", lineterm="")))
    named = [command for page in pages for command in in_sentences(page)]
    for command in named:
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, timeout=60, capture_output=True,
                              check=False)
        if done.returncode not in (0, 1) or done.stderr:
            failed = True
            print(f"$ {command}\nstatus {done.returncode}\n{done.stderr.decode()}")
    if not named:
        failed = True
        print("no command about an example is named in a sentence")
    demo = re.findall(r"^show (.*)$", (root / "scripts/demo.sh").read_text(encoding="utf-8"), re.MULTILINE)
    rest = iter(run)
    if not demo or not all(command in rest for command in demo):
        failed = True
        print("the pages do not show what scripts/demo.sh shows, in its order:", *demo, sep="\n")
    sys.exit(failed)


main()
