#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cookbook_test.py ROOT BIN_DIR EXAMPLE...: on the examples that the packages install, prepared as the page says, compares
every command of docs/cookbook.md with NumPy's results for the same files, or with the description of the trials
(tests/fixtures/README.md). Programs at the end of a pipe that may not be installed are stubs that record their input."""
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

# Always stubs: no network access, and no waiting for a person.
STUBS = ("aws", "curl", "mail", "fzf", "feedgnuplot")
NEEDED = ("gnuplot", "jq", "mlr")

Recipe = collections.namedtuple("Recipe", "question command prose")
Outcome = collections.namedtuple("Outcome", "status output errors stubs folder")


def recipes(document):
    """Returns question and command of each recipe. Each question has exactly one command."""
    found = []
    for section in re.split(r"^### ", document, flags=re.MULTILINE)[1:]:
        question = section.split("\n", 1)[0]
        blocks = re.findall(r"^```sh\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
        assert len(blocks) == 1, f"{question}: {len(blocks)} commands"
        prose = re.sub(r"^```.*?^```$", "", section, flags=re.DOTALL | re.MULTILINE)
        found.append(Recipe(question, blocks[0], [" ".join(span.split()) for span in re.findall(r"`(smd-\w+\s[^`]+)`", prose)]))
    return found


def on_another(recipe, trial):
    """Returns the recipe with another trial."""
    return recipe._replace(command=re.sub(r"^(smd-\w+) \w+", rf"\1 {trial}", recipe.command), prose=[])


def other_programs(document):
    """Returns for each program of the page's table the recipes that need it."""
    rows = re.findall(r"^\| `(\w+)`([^|]*)\|[^|]*\| ([\d, ]+) \|$", document, re.MULTILINE)
    assert rows, "no table of other programs"
    return {program + (" " + words[-1] if (words := more.split()) and words[0] == "with" else ""):
            {int(number) for number in recipes.split(",")} for program, more, recipes in rows}


def needed_programs(cookbook):
    """Returns for each program that is not on every Debian the recipes whose commands call it."""
    calls = {"python3 NumPy": r"\bnumpy\b", "python3 pandas": r"\bpandas\b",
             **{name: rf"(?:^|[|'(]|xargs [^|]*)\s*{name} " for name in (*STUBS, *NEEDED)}}
    return {name: {int(recipe.question.split(".")[0]) for recipe in cookbook
                   if re.search(call, recipe.command, re.MULTILINE)} for name, call in calls.items()}


def prepare(root, folder, preparation, examples):
    for example in examples:
        shutil.copytree(root / "tests/fixtures" / example, os.path.join(folder, "examples", example))
    script = re.sub(r"^examples=.*$", "examples=examples", preparation, flags=re.MULTILINE)
    subprocess.run(["sh", "-ec", script], cwd=folder, check=True)
    shutil.copytree(os.path.join(folder, "run"), os.path.join(folder, "out/job-1/debug-output"))
    os.mkdir(os.path.join(folder, "stubs"))
    for name in STUBS:
        shutil.copy(root / "tests/docs/cookbook_stub.py", os.path.join(folder, "stubs", name))
        os.chmod(os.path.join(folder, "stubs", name), 0o755)
    shutil.copy(root / "tests/docs/cookbook_pandas.py", os.path.join(folder, "stubs", "pandas.py"))


def files_of(folder):
    """Returns the size and time of each file."""
    return {path: (os.stat(path).st_size, os.stat(path).st_mtime_ns)
            for path in (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)}


def tidied(folder, names):
    """Removes what a recipe wrote beside these names, and returns what is left."""
    for name in set(os.listdir(folder)) - set(names):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.remove(path)
    return files_of(folder)


def run(recipe, folder, bin_dir, on=None):
    environment = {"PATH": os.pathsep.join([os.path.join(folder, "stubs"), bin_dir, "/usr/bin", "/bin"]),
                   "PYTHONPATH": os.path.join(folder, "stubs"), "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8",
                   "HOME": folder, "STUB_LOG": os.path.join(folder, "log"), "GNUTERM": "dumb", "J": "job-1",
                   "TOPIC": "arn:aws:sns:eu-west-1:1:t", "WEBHOOK": "https://chat.example.com/hook"}
    done = subprocess.run(["bash", "-c", recipe.command], cwd=folder, env=environment, timeout=120, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    log = pathlib.Path(folder, "log")
    stubs = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
    cookbook_answers.check(recipe.question,
                           Outcome(done.returncode, done.stdout, done.stderr, stubs, pathlib.Path(folder)), on)
    for command in recipe.prose:
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, timeout=120, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")
        drawn = re.search(r"-o (\S+)", command)
        assert done.returncode in (0, 1) and not re.search(r"^smd-\w+: [A-Z]\w+:", done.stderr, re.MULTILINE), \
            f"{command}: {done.returncode}: {done.stderr}"
        assert not drawn or os.path.getsize(os.path.join(folder, drawn[1])) > 0, command


def main():
    root, bin_dir, examples = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2]), sys.argv[3:]
    missing = [name for name in NEEDED if not shutil.which(name, path="/usr/bin:/bin")]
    if missing:
        print("skipped: not installed:", *missing)
        sys.exit(77)
    failed = False
    document = (root / "docs/cookbook.md").read_text(encoding="utf-8")
    cookbook = recipes(document)
    assert len(cookbook) == 38, len(cookbook)
    numbers = [int(recipe.question.split(".")[0]) for recipe in cookbook]
    assert numbers == list(range(1, len(cookbook) + 1)), numbers
    table, needed = other_programs(document), needed_programs(cookbook)
    assert table == needed, f"the table of other programs: {table}, and the commands: {needed}"
    preparation = re.search(r"^```sh\n(examples=.*?)^```$", document, re.DOTALL | re.MULTILINE).group(1)
    others = [(on_another(cookbook[number - 1], on), on) for number, on in cookbook_answers.ANSWERS if on]
    with tempfile.TemporaryDirectory(prefix="smd-cookbook-") as folder:
        prepare(root, folder, preparation, examples)
        names, prepared = os.listdir(folder), files_of(folder)
        for recipe, on in [*((recipe, None) for recipe in cookbook), *others]:
            try:
                run(recipe, folder, bin_dir, on)
            except Exception as error:  # the other recipes are tried too
                failed = True
                print(f"{recipe.question}\n{recipe.command}{type(error).__name__}: {error}\n")
            if tidied(folder, names) != prepared:
                print(f"{recipe.question}\n{recipe.command}changed the trials\n")
                sys.exit(1)
    sys.exit(failed)


if __name__ == "__main__":
    main()
