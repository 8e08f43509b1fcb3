#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""action_test.py ROOT BIN_DIR VERSION: the shell step of action.yml prints annotations, writes the digest and its outputs,
and fails if it should. Recipes in packaging name VERSION."""
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(sys.argv[1]).resolve()
BIN_DIR = os.path.abspath(sys.argv[2])
VERSION = sys.argv[3]


class Action(unittest.TestCase):
    def run_step(self, run, rules, fail):
        text = (ROOT / "action.yml").read_text(encoding="utf-8")
        script = textwrap.dedent(text.partition("      run: |\n")[2])
        with tempfile.TemporaryDirectory() as folder:
            files = {name: os.path.join(folder, name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH")}
            done = subprocess.run(["sh", "-e", "-c", script], cwd=ROOT / "tests/fixtures", capture_output=True, text=True, check=False,
                                  env={"PATH": BIN_DIR + ":/usr/bin:/bin", "RUNNER_TEMP": folder, "LC_ALL": "C.UTF-8",
                                       "RUN": run, "RULES": rules, "ARCHIVE": "", "FAIL": fail, **files})
            outputs = dict(line.split("=", 1) for line in pathlib.Path(files["GITHUB_OUTPUT"]).read_text().splitlines())
            return done, outputs, pathlib.Path(outputs["digest"]).read_text(), pathlib.Path(files["GITHUB_STEP_SUMMARY"]).read_text()

    def test_a_sick_run(self):
        done, outputs, digest, summary = self.run_step("tb-logs/sick", "Overfit,VanishingGradient", "true")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("::error title=Overfit::", done.stdout)
        self.assertIn("| Overfit | 24 |", digest)
        self.assertEqual(summary, digest)
        self.assertEqual(outputs["status"], "1")

    def test_a_sick_run_that_may_pass(self):
        done, outputs, _, _ = self.run_step("tb-logs/sick tb-logs/healthy", "Overfit", "false")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(outputs["status"], "1")

    def test_no_run(self):
        done, outputs, _, _ = self.run_step("nowhere", "Overfit", "false")
        self.assertEqual((done.returncode, outputs["status"]), (3, "3"))

    def test_the_version(self):
        for recipe in ("Containerfile", "conda/meta.yaml"):
            self.assertIn(VERSION, (ROOT / "packaging" / recipe).read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
