#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that run.py detects differences, and rewrites expected output only on request."""

import os
import subprocess
import sys
import tempfile
import unittest

RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run.py")


class Runner(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, **files):
        if "cmd" in files:
            files["cmd"] = "# What it is for.\n" + files["cmd"]
        for name, content in files.items():
            with open(os.path.join(self.folder.name, name.replace("_", ".")), "w", encoding="utf-8") as file:
                file.write(content)

    def read(self, name):
        with open(os.path.join(self.folder.name, name), encoding="utf-8") as file:
            return file.read()

    def passes(self, *options):
        done = subprocess.run(
            [sys.executable, RUNNER, "--trials", "/nonexistent", *options, self.folder.name],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertIn(done.returncode, (0, 1), done.stdout)
        return done.returncode == 0

    def test_purpose(self):
        self.write(cmd="true\n")
        self.assertTrue(self.passes())
        with open(os.path.join(self.folder.name, "cmd"), "w", encoding="utf-8") as file:
            file.write("true\n")
        self.assertFalse(self.passes())

    def test_status(self):
        self.write(cmd="exit 4\n")
        self.assertFalse(self.passes())
        self.write(exit="4\n")
        self.assertTrue(self.passes())

    def test_streams_are_exact(self):
        self.write(cmd="echo a; echo b >&2\n", stdout="a\n")
        self.assertFalse(self.passes())
        self.write(stderr="b\n")
        self.assertTrue(self.passes())
        self.write(stdout="a")
        self.assertFalse(self.passes())

    def test_globs(self):
        self.write(cmd="printf 'a 1\\nb\\nc\\n'\n", stdout_glob="a *\n...\nc\n")
        self.assertTrue(self.passes())
        for pattern in ("a *\nc\n", "a *\nb\n", "a *\n...\nd\n", "...\nb\n", "", "a ?\nb\nc\n", "a *\nb\nc\nd\n"):
            with self.subTest(pattern):
                self.write(stdout_glob=pattern)
                self.assertFalse(self.passes())
        self.write(stdout_glob="a *\n...\n...\nb\n...\nc\n...\n")
        self.assertTrue(self.passes())

    def test_hang(self):
        self.write(cmd="sleep 100 & sleep 100\n")
        self.assertFalse(self.passes("--timeout", "0.2"))

    def test_memory_limit(self):
        self.write(cmd="memory_limit 1000000; ulimit -v\n", stdout="1000000\n")
        self.assertTrue(self.passes())
        self.assertFalse(self.passes("--sanitized"))

    def test_rewrite(self):
        self.write(cmd="echo new; echo x >&2; exit 2\n", stdout="old\n", stderr_glob="y*\n")
        self.assertFalse(self.passes("--rewrite"))
        self.assertEqual(self.read("stdout"), "new\n")
        self.assertEqual(self.read("exit"), "2\n")
        self.assertEqual(self.read("stderr.glob"), "y*\n")
        self.write(stderr_glob="x\n")
        self.assertTrue(self.passes())


if __name__ == "__main__":
    unittest.main()
