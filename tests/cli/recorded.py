# SPDX-License-Identifier: Apache-2.0
"""What the tests of recorded log directories and checkpoint folders share: running commands, and the recorded answers."""

import json
import math
import os
import subprocess

ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TERM": "dumb"}
SUFFIX = ".expected.json"
NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf, "NaN": math.nan, "Infinity": math.inf,
              "-Infinity": -math.inf}


def find_tools(folders):
    ENVIRONMENT["PATH"] = os.pathsep.join([*map(os.path.abspath, folders), os.environ["PATH"]])


def run(*command, status=0):
    """Returns standard output as bytes, and the lines on standard error. `status`: one, or those that are right."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, env=ENVIRONMENT)
    if done.returncode not in (status if isinstance(status, tuple) else (status,)):
        raise AssertionError(f"{' '.join(command)}: {done.returncode}, not {status}: {done.stderr.decode()}")
    return done.stdout, done.stderr.decode().splitlines()


def rows(*command, status=0):
    return [json.loads(line) for line in run(*command, "--jsonl", status=status)[0].splitlines()]


def number(value):
    """A number of an answer, or of a row in JSON; any other text as it is."""
    return NON_FINITE.get(value, value) if isinstance(value, str) else value
