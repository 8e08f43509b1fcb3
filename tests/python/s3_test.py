#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""s3_test.py TESTS UNPACKED_FIXTURES [TEST...]: the module smd on trials at s3://, served by tests/support/s3_server.py.
Nothing leaves this machine."""

import os
import signal
import sys
import unittest
from unittest import mock

import numpy as np
import smd

TESTS, UNPACKED = map(os.path.abspath, sys.argv[1:3])
sys.path.insert(0, os.path.join(TESTS, "cli"))
from s3_case import OPTIONS, SECRET, Case  # noqa: E402

OPTIONS.trials = os.path.join(UNPACKED, "recorded-trials")
NAME = "pt_digits_train_eval"


class S3(Case):
    def setUp(self):
        super().setUp()
        keys = mock.patch.dict(os.environ, self.environment())
        keys.start()
        self.addCleanup(keys.stop)

    def test_the_same_as_from_disk(self):
        here = smd.open(os.path.join(OPTIONS.trials, NAME))
        del os.environ["AWS_ENDPOINT_URL"]
        there = smd.open("s3://recorded/" + NAME, endpoint_url=self.server.url)
        self.assertEqual((there.remote, there.path, list(there)), (True, "s3://recorded/" + NAME, list(here)))
        for name in here:
            (steps, values), (steps_here, values_here) = there[name].values(), here[name].values()
            self.assertEqual(steps.tolist(), steps_here.tolist())
            for value, value_here in zip(values, values_here):
                np.testing.assert_array_equal(value, value_here)

    def test_errors(self):
        for path, secret, kind in (("none", SECRET, "NotFound"), (NAME, "wrong", "AccessDenied")):
            with mock.patch.dict(os.environ, AWS_SECRET_ACCESS_KEY=secret), self.assertRaises(smd.ReadError) as caught:
                smd.open("s3://recorded/" + path)
            self.assertEqual(caught.exception.problem.kind, kind)

    def test_keyboard_interrupt(self):
        """Ends a request that the server never answers."""
        self.server.faults({"act": "hang", "times": -1})
        program = "import smd\ntry:\n    smd.open('s3://recorded/x')\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
        child = self.start_command(sys.executable, "-c", program, PYTHONPATH=os.environ["PYTHONPATH"])
        self.until(child, lambda entries: any(entry["act"] == "hang" for entry in entries))
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.communicate(timeout=100)[0], b"interrupted\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
