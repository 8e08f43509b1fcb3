# SPDX-License-Identifier: Apache-2.0
"""The contents of the trials for the cookbook's commands, read without the library."""
import functools
import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))
from trial_reader import read_step  # noqa: E402

LOSS = "CrossEntropyLoss_output_0"
PARAMETERS = [f"DigitNet_{layer}.{kind}" for layer in ("conv", "fc") for kind in ("bias", "weight")]
GRADIENTS = ["gradient/" + name for name in PARAMETERS]
DIGITS, EXPLODING, TWO = "good-pytorch-digits", "good-pytorch-exploding", "good-pytorch-two-workers"


@functools.lru_cache(None)
def trial(name, worker="worker_0"):
    """Returns for each step the mode and the values, in the order saved."""
    folder = os.path.join(HERE, "../fixtures", name)
    files = sorted(os.listdir(os.path.join(folder, "index/000000000")))
    steps = [int(file[:12]) for file in files if file.endswith(f"_{worker}.json")]
    read = {step: read_step(folder, step, worker, False) for step in steps}
    return {step: (index["meta"]["mode"], values) for step, (index, values) in read.items()}


def series(tensor, mode=None, name=DIGITS, worker="worker_0"):
    return {step: values[tensor] for step, (its_mode, values) in trial(name, worker).items()
            if tensor in values and mode in (None, its_mode)}


def l2(*arrays):
    return float(np.sqrt(sum((array.astype(float) ** 2).sum() for array in arrays)))


def first_not_finite():
    """Returns step and tensor of the first value that is not finite, in the order of the files."""
    return next((step, tensor) for step, (_, values) in trial(EXPLODING).items()
                for tensor, value in values.items() if not np.isfinite(value).all())


def log_directory(name):
    """Returns the expected answers of a recorded log directory that is one trial (tests/fixtures/tb-logs/README.md)."""
    with open(os.path.join(HERE, "../fixtures/tb-logs", name + ".expected.json"), encoding="utf-8") as file:
        return json.load(file)["trials"]["."]


def log_directories():
    """Returns the expected answers of each run of the log directories that are installed, by path."""
    runs = {f"logs/{name}": log_directory(name) for name in ("keras_overfit", "sick")}
    with open(os.path.join(HERE, "../fixtures/tb-logs/sweep.expected.json"), encoding="utf-8") as file:
        return {**runs, **{f"logs/sweep/{run}": answers for run, answers in json.load(file)["trials"].items()}}


def log_results(name, rule):
    """Returns whether a rule with its defaults triggers on a recorded log directory."""
    with open(os.path.join(HERE, "../fixtures/tb-logs/cases.json"), encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    case, = (case for case in cases if case["trial"] == name and case["rule"] == rule and not case["params"]
             and "start" not in case)
    return bool(case["expected"]["fired"])
