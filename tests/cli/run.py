#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs golden tests of the commands. See README.md beside this file for what a case is."""

import argparse
import difflib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

# `run COMMAND ARG...` writes a transcript: the command on both streams, then on stdout its status.
# `memory_limit KIB` bounds the address space of what follows, unless the commands need it without bounds.
PRELUDE = r"""
run() {
  printf '$ %s\n' "$*"
  printf '$ %s\n' "$*" >&2
  run_status=0
  "$@" || run_status=$?
  printf '= %d\n' "$run_status"
}
memory_limit() {
  [ -n "$SANITIZED" ] || ulimit -v "$1"
}
"""

# Variables of the caller's environment that a case sees: what sanitizers and coverage need, nothing else.
PASSED_ON = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS", "LLVM_PROFILE_FILE", "LD_LIBRARY_PATH")


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def glob_line(pattern):
    """Matches a line in which `*` matches any text; nothing else is special."""
    return re.compile(b".*".join(re.escape(part) for part in pattern.split(b"*")), re.DOTALL)


def glob_matches(expected, actual):
    """Matches lines in order; a line `...` matches any number of lines."""
    patterns = [None if line == b"..." else glob_line(line) for line in expected.splitlines()]
    lines = actual.splitlines()
    # reachable: the numbers of patterns that can have matched the lines so far.
    def close(states):
        result = set()
        for state in sorted(states):
            result.add(state)
            while state < len(patterns) and patterns[state] is None:
                state += 1
                result.add(state)
        return result

    reachable = close({0})
    for line in lines:
        following = set()
        for state in reachable:
            if state == len(patterns):
                continue
            if patterns[state] is None:
                following.add(state)
            elif patterns[state].fullmatch(line):
                following.add(state + 1)
        reachable = close(following)
    return len(patterns) in reachable


class Case:
    def __init__(self, folder, options):
        self.folder = os.path.abspath(folder)
        self.options = options
        self.name = "/".join(self.folder.split(os.sep)[-2:])

    def environment(self, work):
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        environment.update(
            PATH=os.pathsep.join([*map(os.path.abspath, self.options.tools), "/usr/local/bin", "/usr/bin", "/bin"]),
            LC_ALL="C.UTF-8", TZ="UTC", TERM="dumb", HOME=work, TMPDIR=work,
            TRIALS=os.path.abspath(self.options.trials), FIXTURES=os.path.abspath(self.options.fixtures),
            CASE=self.folder, SANITIZED="yes" if self.options.sanitized else "")
        return environment

    def run(self):
        """Returns (status, stdout, stderr); status None if it took too long."""
        # Resolved: what the commands print must be what is replaced below.
        work = os.path.realpath(tempfile.mkdtemp(prefix="smd-cli-"))
        try:
            script = read(os.path.join(self.folder, "cmd"))
            stdin = os.path.join(self.folder, "stdin")
            with open(stdin if os.path.exists(stdin) else os.devnull, "rb") as source:
                environment = self.environment(work)
                process = subprocess.Popen(
                    ["/bin/sh", "-c", PRELUDE + script.decode()], cwd=work, env=environment, stdin=source,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
                try:
                    out, err = process.communicate(timeout=self.options.timeout)
                    status = process.returncode
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    out, err = process.communicate()
                    status = None
            for name in ("TRIALS", "FIXTURES", "CASE", "HOME"):
                out, err = (text.replace(environment[name].encode(), b"$" + name.encode()) for text in (out, err))
            return status, out, err
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def check(self):
        """Returns the list of differences; empty if there are none."""
        if not re.match(rb"# \S", read(os.path.join(self.folder, "cmd"))):
            return ["cmd does not open with a comment that says what the case is for"]
        status, out, err = self.run()
        if status is None:
            return [f"took more than {self.options.timeout} s"]
        differences = []
        expected_status = int(read(os.path.join(self.folder, "exit")) or b"0")
        if status != expected_status:
            differences.append(f"exit status {status}, expected {expected_status}")
            if self.options.rewrite:
                self.write("exit", b"" if status == 0 else b"%d\n" % status)
        for name, actual in (("stdout", out), ("stderr", err)):
            differences += self.compare(name, actual)
        return differences

    def compare(self, name, actual):
        path = os.path.join(self.folder, name)
        pattern = read(path + ".glob")
        if pattern is not None:
            if read(path) is not None:
                return [f"both {name} and {name}.glob are there"]
            # A pattern is written by hand: rewriting would lose what it means to leave open.
            return [] if glob_matches(pattern, actual) else [self.diff(name + ".glob", pattern, actual)]
        expected = read(path) or b""
        if expected == actual:
            return []
        if self.options.rewrite:
            self.write(name, actual)
        return [self.diff(name, expected, actual)]

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        if content:
            with open(path, "wb") as file:
                file.write(content)
        elif os.path.exists(path):
            os.remove(path)

    @staticmethod
    def diff(name, expected, actual):
        def lines(text):
            return [line.decode("utf-8", "backslashreplace") for line in text.split(b"\n")]

        return "\n".join(difflib.unified_diff(lines(expected), lines(actual), f"expected {name}", f"actual {name}",
                                              lineterm=""))


def find_cases(folders):
    for folder in folders:
        found = sorted(parent for parent, _, files in os.walk(folder) if "cmd" in files)
        if not found:
            sys.exit(f"run.py: no case in {folder}")
        yield from found


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="+", help="case folders, or folders of cases")
    parser.add_argument("--tools", action="append", default=[], metavar="DIR", help="folder of commands; repeatable")
    parser.add_argument("--trials", required=True, metavar="DIR", help="the unpacked recorded trials: $TRIALS")
    parser.add_argument("--fixtures", default=os.path.join(here, os.pardir, "fixtures"), metavar="DIR")
    parser.add_argument("--timeout", type=float, default=30, metavar="SECONDS", help="for each case (default 30)")
    parser.add_argument("--sanitized", action="store_true", help="the commands need memory without bounds, as with sanitizers")
    parser.add_argument("--rewrite", action="store_true", help="write what came out as what is expected; review it")
    options = parser.parse_args()
    options.fixtures = os.path.realpath(options.fixtures)

    failed = 0
    count = 0
    for folder in find_cases(options.cases):
        case = Case(folder, options)
        differences = case.check()
        count += 1
        if differences:
            failed += 1
            print(f"FAILED {case.name}")
            print("\n".join(differences), flush=True)
    print(f"{count} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
