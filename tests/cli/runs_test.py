#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""smd-runs against the recorded answers of log directories: last and best values, steps, and the runs themselves."""
import argparse
import json
import math
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from permissions import bound_by_permissions

# Of the logs' scalars, those of which the greatest value is the best.
GREATEST = {"1700000003.25/hparam/accuracy", "accuracy", "train/epoch_accuracy", "validation/epoch_accuracy"}
NOT_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def number(value):
    return NOT_NUMBERS[value] if isinstance(value, str) else value


def expected_scalar(name, tensor):
    by_step = {}  # the value of the first worker by name
    for _, saved in sorted(tensor["workers"].items()):
        for step, value in zip(saved["steps"], saved["values"]):
            by_step.setdefault(step, number(value))
    known = [(value, step) for step, value in by_step.items() if math.isfinite(value)]
    pick = max if name in GREATEST else min
    if "losses" in tensor.get("collections", []) and pick is min:  # 0 may stand for NaN
        doubtful = min((step for step, value in by_step.items() if not -math.inf < value <= 0), default=math.inf)
        sound = [(value, step) for value, step in known if value != 0 or step < doubtful]
        if sound != known or not any(by_step.values()):
            known = sound if min(sound, default=(0, 0))[0] else []
    best = pick((value for value, _ in known), default=None)
    step = min((step for value, step in known if value == best), default=None)
    return by_step[max(by_step)], best, step


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
    check_resumed(options)
    check_half_written(options)


def check_half_written(options):
    """Half a line and half a record of logs that grow are awaited: no value is made of them, and no damage."""
    tool = os.path.abspath(os.path.join(options.tools, "smd-runs"))
    exp1 = os.path.join(options.logs, "sweep/exp1")
    events = os.path.join(exp1, *os.listdir(exp1))
    with open(events, "rb") as source:
        whole = {"table/metrics.csv": b"step,loss\n1,0.5\n2,0.45\n3,0.4\n",
                 "events/" + os.path.basename(events): source.read()}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in whole.items():
            os.mkdir(os.path.dirname(os.path.join(folder, name)))
            with open(os.path.join(folder, name), "wb") as log:
                log.write(text[:-2])
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(tool, [tool, folder, "-F", "--interval", "0.05", "--timeout", "60", "--columns",
                             "run,steps,loss"],
                      dict(os.environ, TERM="xterm", NO_COLOR="1"))
        shown = read_until(terminal, rb"(?s)events +5 .*table +2 +0.45")
        for name, text in whole.items():
            with open(os.path.join(folder, name), "ab") as log:
                log.write(text[-2:])
        shown += read_until(terminal, rb"(?s)events +6 .*table +3 +0.4\D")
        os.kill(pid, signal.SIGINT)
        os.waitpid(pid, 0)
        os.close(terminal)
        assert re.search(rb"(?s)events +6 .*table +3 +0.4\D", shown), shown
        assert b"Damaged" not in shown and b"exactly 0" not in shown, shown


def check_resumed(options):
    """A run is read again once times or sizes of its files change, also one that had ended, and not before."""
    runs = os.path.join(options.logs, "../metric-logs/wb_resumed/wandb")
    tool = os.path.abspath(os.path.join(options.tools, "smd-runs"))
    with tempfile.TemporaryDirectory() as folder:
        logs = {}
        for run in "resumed", "shrunk":
            copy = shutil.copytree(os.path.join(runs, "run-20251009_091500-rsm0a1b2"),
                                   os.path.join(folder, run, "run-20251009_091500-rsm0a1b2"))
            logs[run] = os.path.join(copy, "run-rsm0a1b2.wandb")
        copy = shutil.copytree(os.path.join(options.logs, "sweep/exp1"), os.path.join(folder, "other"))
        logs["other"] = os.path.join(copy, *os.listdir(copy))
        for log in logs.values():  # an hour old: a young file may be half written, and is read again
            os.utime(log, (time.time() - 3600, time.time() - 3600))
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(tool, [tool, folder, "-F", "--interval", "0.05", "--timeout", "60", "--columns",
                             "run,status,steps"],
                      dict(os.environ, TERM="xterm", NO_COLOR="1"))
        shown = read_until(terminal, rb"(?s)(resumed +ended.*){4}")
        assert re.search(rb"other +unknown +6\D", shown), shown
        os.kill(pid, signal.SIGSTOP)  # logs lose their end, and no time shows it, but the size of one does
        os.waitpid(pid, os.WUNTRACED)
        for run, log in logs.items():
            before = os.stat(log)
            os.truncate(log, before.st_size // 2)
            if run != "shrunk":
                os.truncate(log, before.st_size)
            os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns))
        os.kill(pid, signal.SIGCONT)
        unchanged = read_until(terminal, rb"(?s)(resumed +[a-z].*){4}")
        assert not re.search(rb"resumed +unknown", unchanged), unchanged
        assert re.search(rb"shrunk +unknown", unchanged), unchanged
        assert set(re.findall(rb"other +unknown +(\d+)", unchanged)) == {b"6"}, unchanged
        os.utime(logs["other"])
        shown += read_until(terminal, rb"other +unknown +[0-5]\D")
        shutil.copytree(os.path.join(runs, "run-20251009_081500-rsm0a1b2"),
                        os.path.join(folder, "resumed/run-20251009_101500-rsm0a1b2"))
        shown += read_until(terminal, rb"resumed +unknown")
        os.kill(pid, signal.SIGINT)
        os.waitpid(pid, 0)
        os.close(terminal)
        assert re.search(rb"resumed +unknown", shown), shown
        assert re.search(rb"other +unknown +[0-5]\D", shown), shown


def read_until(terminal, pattern):
    shown = b""
    while not re.search(pattern, shown):
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # it has ended
            break
    return shown


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
