#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""smd-save by many processes at the same time: what exits 0 is there and whole.

    together_test.py --tools DIR... [--rounds N] [TEST...]
"""

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

environment = {}
rounds = 8
AT_ONCE = 6


def start(*command):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=environment, text=True)


def run(*command):
    """Returns status, standard output, standard error."""
    process = start(*command)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


class Together(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="smd-together-")
        self.trial = os.path.join(self.folder, "trial")

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def each_round(self):
        for number in range(rounds):
            self.trial = os.path.join(self.folder, str(number))
            yield number

    def save_at_once(self, *lines):
        """Returns statuses and messages of one smd-save for each line."""
        processes = [start("smd-save", self.trial, *line) for line in lines]
        return [(process.communicate(timeout=120)[1], process.returncode) for process in processes]

    def check_sound(self):
        status, out, err = run("smd-ls", "--check", self.trial)
        self.assertEqual((status, err), (0, ""), out)
        left = [name for _, _, names in os.walk(self.trial) for name in names if name.endswith(".tmp")]
        self.assertEqual(left, [])

    def values(self):
        status, out, err = run("smd-tensor", "-s", ":", "--jsonl", self.trial)
        self.assertEqual((status, err), (0, ""))
        return {(row["tensor"], row["step"]): row["value"] for row in map(json.loads, out.splitlines())}

    def collections(self):
        status, out, err = run("smd-ls", "--collections", "--json", self.trial)
        self.assertEqual((status, err), (0, ""))
        return {row["collection"]: row["tensors"] for row in json.loads(out)}

    def test_workers_that_end_together(self):
        for _ in self.each_round():
            done = self.save_at_once(*(["-w", f"worker_{i}", "--workers", "4", "--step", "0", "loss=0.5", "--end"]
                                       for i in range(4)))
            for message, status in done:
                self.assertEqual(status, 0, message)
                # A worker that starts after another has ended gets a warning; there are no other messages.
                self.assertRegex(message, r"\A(smd-save: warning: \S+: the job is marked as over: .*\n)?\Z")
            self.assertTrue(os.path.exists(os.path.join(self.trial, "training_job_end.ts")))
            self.check_sound()

    def test_different_steps_of_one_worker(self):
        for _ in self.each_round():
            done = self.save_at_once(*(["--step", str(i), f"t{i}={i}", "-c", f"c{i}"] for i in range(AT_ONCE)))
            self.assertEqual(done, [("", 0)] * AT_ONCE)
            self.assertEqual(self.values(), {(f"t{i}", i): i for i in range(AT_ONCE)})
            collections = self.collections()
            for i in range(AT_ONCE):
                self.assertEqual(collections.get(f"c{i}"), 1)
            self.check_sound()

    def test_append_at_one_step(self):
        for _ in self.each_round():
            done = self.save_at_once(*(["--step", "3", "--append", f"t{i}={i}"] for i in range(AT_ONCE)))
            self.assertEqual(done, [("", 0)] * AT_ONCE)
            self.assertEqual(self.values(), {(f"t{i}", 3): i for i in range(AT_ONCE)})
            self.check_sound()

    def test_one_step_once(self):
        """One process saves it; the others are refused, and nothing of theirs is saved."""
        for _ in self.each_round():
            done = self.save_at_once(*(["--step", "3", f"t{i}={i}", "-c", f"c{i}"] for i in range(AT_ONCE)))
            won = [i for i, (_, status) in enumerate(done) if status == 0]
            self.assertEqual(len(won), 1, done)
            for message, status in done:
                self.assertIn(status, (0, 1))
                if status == 1:
                    self.assertIn("StepAlreadySaved", message)
                    self.assertIn("--append joins it", message)
            self.assertEqual(self.values(), {(f"t{won[0]}", 3): won[0]})
            self.assertEqual([name for name in self.collections() if name.startswith("c")], [f"c{won[0]}"])
            self.check_sound()

    def files(self):
        return sorted(os.path.relpath(os.path.join(folder, name), self.trial)
                      for folder, _, names in os.walk(self.trial) for name in names)

    def hold_lock(self):
        folder = os.open(self.trial, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        return folder

    def test_lock_timeout(self):
        self.assertEqual(run("smd-save", self.trial, "--init")[0], 0)
        before = self.files()
        held = self.hold_lock()
        status, _, err = run("smd-save", self.trial, "--step", "1", "x=1", "--lock-timeout", "0.01")
        self.assertEqual(status, 3)
        self.assertEqual(err, f"smd-save: WriteError: {self.trial}: cannot be written: another process has held the "
                              "trial's lock for longer than 0.01 s\n")
        self.assertEqual(self.files(), before)
        self.assertEqual(run("smd-save", self.trial, "--end", "--lock-timeout", "0")[0], 0)  # needs no lock
        os.close(held)
        self.assertEqual(run("smd-save", self.trial, "--step", "1", "x=1", "--lock-timeout", "0")[0], 0)
        self.check_sound()

    def test_waits_for_the_lock(self):
        self.assertEqual(run("smd-save", self.trial, "--init")[0], 0)
        held = self.hold_lock()
        waiting = start("smd-save", self.trial, "--step", "1", "x=1")
        while not any(name.endswith(".tmp") for name in self.files()):  # everything that can be written without the
                                                                        # lock
            self.assertIsNone(waiting.poll())
        self.assertFalse([name for name in self.files() if name.endswith((".tfevents", "worker_0.json"))])
        os.close(held)
        self.assertEqual((waiting.communicate(timeout=120)[1], waiting.returncode), ("", 0))
        self.assertEqual(self.values(), {("x", 1): 1})

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_no_locks(self):
        """No locks at all: nothing is saved without --no-lock; folders that cannot be locked: a file is locked."""
        everywhere = ["-e", "inject=flock:error=ENOLCK"]
        on_folder = ["-P", self.trial, "-e", "inject=flock:error=EBADF"]

        def save(inject, *line):
            return run("strace", "-f", "-qq", "-o", "/dev/null", *inject, "smd-save", self.trial, "--step", "1", *line)

        status, _, err = save(everywhere, "x=1")
        self.assertEqual(status, 3)
        self.assertIn("cannot be locked (No locks available)", err)
        self.assertIn("--no-lock", err)
        self.assertEqual(os.listdir(self.trial), [])
        self.assertEqual(save(on_folder, "x=1")[0], 0)  # like NFS, which locks only files
        self.assertIn("lock.smd", os.listdir(self.trial))
        self.check_sound()
        self.assertEqual(save(everywhere, "--append", "y=2")[0], 3)
        self.assertEqual(save(everywhere, "--append", "--no-lock", "y=2")[0], 0)
        self.assertEqual(self.values(), {("x", 1): 1, ("y", 1): 2})


def main():
    global rounds
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", action="append", required=True)
    parser.add_argument("--rounds", type=int, default=rounds)
    arguments, rest = parser.parse_known_args()
    rounds = arguments.rounds
    environment.update(os.environ, PATH=os.pathsep.join([*arguments.tools, os.environ["PATH"]]), LC_ALL="C.UTF-8")
    os.environ["PATH"] = environment["PATH"]
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
