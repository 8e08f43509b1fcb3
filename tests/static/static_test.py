#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""static_test.py --tools DIR --static FILE --trials DIR --fixtures DIR: in a root folder that holds nothing but the static
program and what was recorded of jobs, each command prints what the commands of DIR print, with the same status; also on an
older kernel. Exits with 77 if the system allows no other root folder."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TERM": "dumb", "PATH": "/bin"}
COMMANDS = ("smd-ls", "smd-tensor", "smd-reduce", "smd-rule", "smd-wait", "smd-diff", "smd-report", "smd-runs", "smd-save")
FAMILIES = ("tb-logs", "checkpoints", "metric-logs", "pytorch", "small-logs", "loss-curves", "trials", "trials/broken",
            "trials/rules")
BY_NAME = ("good-pytorch-digits", "good-pytorch-exploding", "good-pytorch-two-workers", "good-running", "bad-flipped-bit")
CALLS_SINCE_5 = "openat2,clone3,faccessat2,close_range"
arguments = None
root = None
enter = None


def places():
    """Everything recorded, as paths below the root."""
    found = list(BY_NAME)
    for family in FAMILIES:
        found += [f"{family}/{entry.name}" for entry in (root / family).iterdir()
                  if not entry.name.endswith((".expected.json", ".md", "cases.json")) and f"{family}/{entry.name}" not in FAMILIES]
    return sorted(found)


def finish(command, stdin, cwd):
    done = subprocess.run(command, input=stdin.encode(), capture_output=True, check=False, env=ENVIRONMENT, cwd=cwd,
                          timeout=300)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def static(name, *options, stdin="", before=()):
    path = dict(ENVIRONMENT, PATH=os.environ["PATH"])
    done = subprocess.run([*before, *enter, "/bin/" + name, *options], input=stdin.encode(), capture_output=True,
                          check=False, env=path, timeout=300)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def shared(name, *options, stdin=""):
    return finish([os.path.join(arguments.tools, name), *options], stdin, root)


class Static(unittest.TestCase):
    maxDiff = 4000

    def same(self, *command, statuses, **more):
        answer = static(*command, **more)
        self.assertEqual(answer, shared(*command, **{key: value for key, value in more.items() if key != "before"}))
        self.assertIn(answer[0], statuses)
        return answer[1]

    def test_everything_recorded(self):
        listed = "".join(place + "\n" for place in places())
        some = "".join(place + "\n" for place in places()[::4])
        # Some of it is damaged, or no trial at all.
        self.assertIn("train/loss", self.same("smd-ls", "-", "-l", "--jsonl", stdin=listed, statuses=(3,)))
        self.same("smd-ls", "-", "--check", "--jsonl", stdin=some, statuses=(3,))
        self.same("smd-reduce", "-", "-s", "last", "-r", "l2,nan,min,max,p50", "--jsonl", stdin=listed, statuses=(3,))
        self.same("smd-tensor", "-", "-e", ".", "-s", "last", "--stat", "--jsonl", stdin=some, statuses=(2, 3))
        self.assertIn("IssuesFound", self.same(
            "smd-rule", "-", "-r", "ExplodingTensor,VanishingGradient,Overfit,DeadRelu", "--columns",
            "trial,rule,status,step,tensor,value,message", "--jsonl", stdin=listed, statuses=(3,)))

    def test_each_command(self):
        self.same("smd-tensor", "tb-logs/sick", "-c", "losses", "-s", "all", "--spark", statuses=(0,))
        self.same("smd-diff", "checkpoints/rule_blowup", "-s", "1000,2000", statuses=(1,))
        self.same("smd-report", "tb-logs/keras_overfit", "-f", "md", statuses=(0, 1))
        self.same("smd-runs", "tb-logs/sweep", "--json", "--columns", "run,steps,status", statuses=(0,))
        self.same("smd-wait", "good-pytorch-digits", "-s", "38", "--timeout", "0", "--json", statuses=(0,))
        self.assertEqual(static("smd-save", "saved", "--step", "3", "loss=0.5", "-c", "losses", "--end")[0], 0)
        self.assertIn("0.5", self.same("smd-tensor", "saved", "loss", "--json", statuses=(0,)))
        for name in COMMANDS:
            self.same(name, "--help", statuses=(0,))

    def test_an_old_kernel(self):
        """As Linux 4.18, which RHEL 8 has."""
        if shutil.which("strace") is None:
            self.skipTest("no strace")
        self.same("smd-ls", "-", "-l", "--jsonl", stdin="".join(place + "\n" for place in places()[::4]), statuses=(3,),
                  before=("strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", f"trace={CALLS_SINCE_5}", "-e",
                          f"inject={CALLS_SINCE_5}:error=ENOSYS"))

    def test_what_it_cannot_do(self):
        for command in (("smd-ls", "s3://bucket/job"), ("smd-runs", "s3://bucket/job"), ("smd-ls", "--find", "s3://bucket/job"),
                        ("smd-wait", "s3://bucket/job"), ("smd-save", "s3://bucket/job", "--step", "1", "loss=1"),
                        ("smd-report", "s3://bucket/job", "-f", "md"), ("smd-diff", "s3://bucket/job", "tb-logs/sick")):
            status, out, messages = static(*command)
            self.assertEqual((status, out), (2, ""), command)
            self.assertIn("without S3", messages)
        status, out, messages = static("smd-rule", "tb-logs/sick", "-r", "Overfit", "--plugin", "rules.so")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("the static program", messages)
        for name in COMMANDS:
            self.assertEqual(static(name, "--version")[1].splitlines()[1], "features: none")

    def test_another_name(self):
        os.link(root / "bin/smd-ls", root / "bin/smd")
        status, out, messages = static("smd", "tb-logs/sick")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("smd-ls smd-tensor", messages)
        self.assertEqual(static("smd", "smd-ls", "tb-logs/sick"), shared("smd-ls", "tb-logs/sick"))


def main():
    global arguments, root, enter
    parser = argparse.ArgumentParser()
    for name in ("--tools", "--static", "--trials", "--fixtures"):
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()
    arguments.tools = os.path.abspath(arguments.tools)
    with tempfile.TemporaryDirectory(prefix="smd-static-") as folder:
        root = pathlib.Path(folder)
        (root / "bin").mkdir()
        shutil.copy(arguments.static, root / "bin/smd-ls")
        for name in COMMANDS[1:]:
            os.link(root / "bin/smd-ls", root / "bin" / name)
        for family in (*FAMILIES[:6], *BY_NAME):
            shutil.copytree(os.path.join(arguments.fixtures, family), root / family, symlinks=True)
        shutil.copytree(arguments.trials, root / "trials", symlinks=True)
        enter = ["chroot", folder] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "chroot", folder]
        if subprocess.run([*enter, "/bin/smd-ls", "--version"], capture_output=True, check=False).returncode != 0 and \
                subprocess.run([*enter[:-2], "true"], capture_output=True, check=False).returncode != 0:
            print("skipped: the system allows no other root folder")
            sys.exit(77)
        outcome = unittest.main(argv=sys.argv[:1], exit=False)
    sys.exit(not outcome.result.wasSuccessful())


main()
