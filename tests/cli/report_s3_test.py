#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report_s3_test.py --tools DIR... --trials DIR: the pages of trials at s3://, served by tests/support/s3_server.py, are
those of the same trials on disk; no byte of a value is asked for twice; following. Nothing leaves this machine."""

import os
import re
import shutil
import time

from s3_case import HERE, OPTIONS, Case, main

FIXTURES = os.path.join(HERE, "..", "fixtures")
REFRESH = '<meta http-equiv="refresh" content="1">'


def event_ranges(entries):
    """The places of event files that were asked for: (object, first byte, byte after the last)."""
    for entry in entries:
        target = entry["target"].split("?")[0]
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", entry["headers"].get("range", ""))
        if entry["method"] == "GET" and "/events/" in target:
            yield (target, int(span[1]), int(span[2]) + 1) if span else (target, 0, 1 << 62)


class Pages(Case):
    def page(self, trial, *options, status=(0, 1)):
        file = os.path.join(self.folder, "page.html")
        done = self.run_command("smd-report", trial, *options, "-o", file)
        self.assertIn(done.returncode, status, done.stderr)
        with open(file, encoding="utf-8", newline="") as page:
            return page.read().replace(trial, "TRIAL")

    def compare(self, bucket, name):
        here = self.page(os.path.join(self.root, bucket, name))
        self.server.log()
        self.assertEqual(self.page(f"s3://{bucket}/{name}"), here)
        self.assertGreater(len(here), 10_000)

    def test_recorded_trial(self):
        self.compare("recorded", "pt_digits_train_eval")
        ranges = sorted(event_ranges(self.server.log()))
        self.assertGreater(len(ranges), 1)
        for (name, _, end), (following, begin, _) in zip(ranges, ranges[1:]):
            self.assertFalse(name == following and begin < end, f"{name}: bytes {begin} to {end} twice")

    def test_log_directory(self):
        os.symlink(os.path.join(FIXTURES, "tb-logs"), os.path.join(self.root, "logs"))
        self.compare("logs", "sick")

    def test_checkpoints(self):
        shutil.copytree(os.path.join(FIXTURES, "checkpoints", "rule_frozen"), os.path.join(self.root, "models", "frozen"))
        an_hour_ago = time.time() - 3600
        for folder, _, files in os.walk(os.path.join(self.root, "models")):
            for file in files:
                os.utime(os.path.join(folder, file), (an_hour_ago, an_hour_ago))
        self.compare("models", "frozen")

    def test_no_access(self):
        file = os.path.join(self.folder, "none.html")
        done = self.run_command("smd-report", "s3://recorded/none", "-o", file)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"NotFound", done.stderr)
        self.assertFalse(os.path.exists(file))

    def test_following(self):
        """Whole pages that reload themselves, until the end marker is there."""
        source = os.path.join(OPTIONS.trials, "pt_digits_train_eval")
        names = sorted(os.path.relpath(os.path.join(folder, name), source)
                       for folder, _, files in os.walk(source) for name in files)
        end = "training_job_end.ts"
        for name in sorted(names, key=lambda one: one.startswith("index/")):
            if name != end:
                self.put(os.path.join(source, name), os.path.join("live", "trial", name))
        file = os.path.join(self.folder, "live.html")
        options = ("-r", "LossNotDecreasing")
        follower = self.start_command("smd-report", "s3://live/trial", "-F", "--interval", "0.05", "--timeout", "100", *options,
                                      "-o", file)
        deadline = time.monotonic() + 100
        while not os.path.exists(file):
            self.assertIsNone(follower.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        with open(file, encoding="utf-8", newline="") as page:
            self.assertIn(REFRESH, page.read())
        self.put(os.path.join(source, end), os.path.join("live", "trial", end))
        _, err = follower.communicate(timeout=100)
        self.assertIn(follower.returncode, (0, 1), err)
        with open(file, encoding="utf-8", newline="") as page:
            last = page.read()
        self.assertNotIn(REFRESH, last)
        self.assertEqual(last.replace("s3://live/trial", "TRIAL"), self.page(source, *options))


if __name__ == "__main__":
    main(__doc__)
