#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fuzzes every target until each has used this many minutes of CPU time, several at once, minimises each corpus, and
writes the table of executions.

    run_all.py CPU_MINUTES [FOLDER] [--target NAME]... [--jobs N] [--page docs/faults.md]

Targets take turns of a few minutes: an interrupted run leaves all of them about equally far, and the next call with the
same FOLDER goes on from there. A new FOLDER starts the count anew; copy FOLDER/corpus to keep what was learned. Status 1
if anything was found: its inputs are in FOLDER/found/TARGET."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TURN = 5 * 60
# A target that fails this often in one call is broken and would never use up its minutes.
MOST_FAILURES = 20
BEGIN, END = "<!-- executions -->\n", "<!-- end of executions -->\n"


class Totals:
    """The totals of one target's runs in runs.tsv."""

    def __init__(self):
        self.seconds = self.executions = self.features = self.findings = 0

    def add(self, seconds, executions, _coverage, features, _corpus, status):
        self.seconds += int(seconds)
        self.executions += int(executions)
        self.features = max(self.features, int(features))
        self.findings += status != "0"


def totals(folder):
    result = collections.defaultdict(Totals)
    runs = folder / "runs.tsv"
    if runs.exists():
        for line in runs.read_text(encoding="utf-8").splitlines()[1:]:
            target, *fields = line.split("\t")
            result[target].add(*fields)
    return result


def turn(target, seconds, folder):
    """One run of a target; run.sh adds its line to runs.tsv."""
    done = subprocess.run(["sh", HERE / "run.sh", target, str(seconds / 60), folder], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
    return done.returncode == 0


def minimise(target, build, folder):
    """Reduces the corpus to the fewest inputs with the same coverage; returns their number."""
    corpus, small = folder / "corpus" / target, folder / "corpus" / (target + ".small")
    shutil.rmtree(small, ignore_errors=True)
    small.mkdir(parents=True)
    done = subprocess.run([build / "tests/fuzz" / ("fuzz_" + target), "-merge=1", "-close_fd_mask=3", "-timeout=30",
                           "-rss_limit_mb=2048", small, corpus],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if done.returncode == 0 and any(small.iterdir()):
        shutil.rmtree(corpus)
        small.rename(corpus)
    else:
        shutil.rmtree(small)
    return len(list(corpus.iterdir()))


def table(targets, folder, kept):
    lines = ["| Target | CPU minutes | Executions | Features reached | Inputs kept | Found |", "|---|---|---|---|---|---|"]
    sums = totals(folder)
    for target in targets:
        of = sums[target]
        lines.append(f"| `{target}` | {of.seconds / 60:.0f} | {of.executions:,} | {of.features:,} | {kept[target]:,} | "
                     f"{of.findings} |")
    return "\n".join(lines) + "\n"


def write_page(page, text):
    """Writes the table between the page's two marks."""
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    text = "\nRuns of the targets, all by `tests/fuzz/run_all.py`:\n\n" + text + "\n"
    page.write_text(before + BEGIN + text + END + rest.split(END)[1], encoding="utf-8")


def main():
    build = pathlib.Path(os.environ.get("SMD_FUZZ_BUILD", HERE.parents[1] / "build/fuzz")).resolve()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("minutes", type=float)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=build / "fuzz")
    parser.add_argument("--target", action="append")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--page", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.folder.resolve()
    built = sorted(path.name.removeprefix("fuzz_") for path in (build / "tests/fuzz").glob("fuzz_*") if os.access(path, os.X_OK))
    targets = options.target or built
    if not targets:
        sys.exit(f"run_all.py: nothing in {build}; first: cmake --preset fuzz && cmake --build --preset fuzz")

    failures = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        while True:
            sums = totals(folder)
            left = {target: options.minutes * 60 - sums[target].seconds for target in targets}
            due = [target for target in targets if left[target] >= 1 and failures[target] < MOST_FAILURES]
            if not due:
                break
            sound = pool.map(lambda target: turn(target, min(left[target], TURN), folder), due)
            failures.update(target for target, well in zip(due, sound) if not well)
        kept = dict(zip(targets, pool.map(lambda target: minimise(target, build, folder), targets)))
    text = table(targets, folder, kept)
    sys.stdout.write(text)
    if options.page:
        write_page(options.page, text)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
