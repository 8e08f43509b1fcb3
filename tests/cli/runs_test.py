#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""smd-runs against the recorded answers of log directories: last and best values, steps, and the runs themselves."""
import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

from permissions import bound_by_permissions

LEAST = {"loss", "error", "err", "wer", "perplexity"}
GREATEST = set("acc accuracy auc bleu dice f1 iou miou map precision recall r2 reward rouge score return psnr "
               "ssim".split())
NOT_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def number(value):
    return NOT_NUMBERS[value] if isinstance(value, str) else value


def least_is_best(name, tensor):
    words = [word for word in re.split("[^a-z0-9]+", name.lower()) if word]
    words += [word.rstrip("0123456789") for word in words]
    return "losses" in tensor.get("collections", []) or bool(LEAST & set(words)) or not GREATEST & set(words)


def expected_scalar(name, tensor):
    worker = min(tensor["workers"])
    steps = tensor["workers"][worker]["steps"]
    values = [number(value) for value in tensor["workers"][worker]["values"]]
    known = [(value, step) for value, step in zip(values, steps) if math.isfinite(value)]
    pick = min if least_is_best(name, tensor) else max
    best = pick((value for value, _ in known), default=None)
    step = min((step for value, step in known if value == best), default=None)
    return values[-1], best, step


def same(one, other):
    if one is None or other is None:
        return one is other
    one, other = number(one), number(other)
    return one == other or (math.isnan(one) and math.isnan(other))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", required=True)
    parser.add_argument("--logs", required=True)
    options = parser.parse_args()
    compared = 0
    for file in sorted(os.listdir(options.logs)):
        if not file.endswith(".expected.json"):
            continue
        with open(os.path.join(options.logs, file), encoding="utf-8") as answers:
            expected = json.load(answers)
        if expected["layout"] != "tensorboard":
            continue
        place = file[:-len(".expected.json")]
        done = subprocess.run([os.path.abspath(os.path.join(options.tools, "smd-runs")), place, "-e", "", "--jsonl"], cwd=options.logs,
                              capture_output=True, check=False)
        rows = {row["run"] if row["trial"] != place else ".": row
                for row in map(json.loads, done.stdout.splitlines())}
        assert sorted(rows) == sorted(expected["find"]), (place, rows, done.stderr)
        for run, trial in expected["trials"].items():
            for name, tensor in trial["tensors"].items():
                if tensor["kind"] != "scalar" or not all(
                        isinstance(value, (int, float, str)) for worker in tensor["workers"].values()
                        for value in worker["values"]):
                    continue
                last, best, step = expected_scalar(name, tensor)
                found = rows[run]["scalars"][name]
                assert same(found["last"], last), (place, run, name, found, last)
                assert same(found["best"], best) and found["step"] == step, (place, run, name, found, best, step)
                compared += 1
            assert rows[run]["steps"] == len(trial["steps"]), (place, run)
    assert compared > 2000, compared
    check_unreadable(options)


def check_unreadable(options):
    """A run without permission has a row that says so, and costs no other run."""
    prefix = bound_by_permissions()
    if prefix is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(options.logs, "sweep"), os.path.join(folder, "sweep"))
        run = os.path.join(folder, "sweep/exp1")
        os.chmod(os.path.join(run, os.listdir(run)[0]), 0)
        done = subprocess.run([*prefix, os.path.abspath(os.path.join(options.tools, "smd-runs")), "sweep", "--jsonl"],
                              cwd=folder, capture_output=True, check=False)
        rows = {row["run"]: row for row in map(json.loads, done.stdout.splitlines())}
        assert done.returncode == 3, (done.returncode, done.stderr)
        assert rows["exp1"]["status"] == "unreadable" and rows["exp1"]["steps"] is None, rows["exp1"]
        assert len(rows) == 6 and rows["exp2"]["scalars"]["loss"]["step"] == 5, rows


sys.exit(main())
