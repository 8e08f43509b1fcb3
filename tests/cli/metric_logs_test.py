#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands on W&B run files, CSV and JSON lines: the recorded ones, against the answers that stand beside them, some
that grow while they are followed, and logs of text that smd-save reads.

    metric_logs_test.py --tools DIR... --logs DIR
"""

import argparse
import concurrent.futures
import json
import math
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib


class Failure(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Failure(text)


class Commands:
    def __init__(self, tools):
        self.environment = dict(os.environ, PATH=os.pathsep.join(tools + [os.environ["PATH"]]), LC_ALL="C.UTF-8",
                                SMDEBUG_TRAINING_END_DELAY_REFRESH="0.2")

    def run(self, *command, text=None):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, check=False,
                              input=text if text is None else text.encode())
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def rows(self, *command):
        _, out, _ = self.run(*command, "--jsonl")
        return [json.loads(line) for line in out.splitlines()]


def number(value):
    """A number of an answer, or of a command's JSON; NaN equals itself here."""
    if isinstance(value, list):
        return [number(one) for one in value]
    value = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}.get(value, value) \
        if isinstance(value, str) else value
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def check_words(words, text, what):
    require(all(any(word in text for word in one.split("|")) for one in words), f"{what}: {words} are not said: {text}")


def check_line(words, text, what):
    require(any(all(word in line for word in words) for line in text.splitlines()), f"{what}: no line says {words}: {text}")


def check_summary(commands, trial, layout, answer, what):
    _, out, err = commands.run("smd-ls", "--summary", "--jsonl", "-v", trial)
    row = json.loads(out)
    right = {"layout": layout, "status": "ended" if answer["ended"] else "unknown", "workers": answer["workers"],
             "superseded": len(answer["superseded"]), "steps": len(answer["steps"]),
             "exit": answer["exit"] if answer["exit"] is not None else 0 if answer["ended"] else None}
    shown = {key: row[key] for key in right}
    require(shown == right, f"{what}: --summary has {shown}, right is {right}")
    for note in answer["notes"]:
        check_line(note["says"], err, what)
    for alert in answer["alerts"]:
        check_line(alert.values(), err, what)
    if answer["media"]:
        check_line([f"{answer['media']} value", "media"], err, what)
    told = [line.split("hyperparameter ", 1)[1] for line in err.splitlines() if "hyperparameter " in line]
    told = {name: json.loads(value) for name, value in (line.split(" = ", 1) for line in told)}
    require(told == answer["hyperparameters"], f"{what}: hyperparameters {told}, right is {answer['hyperparameters']}")
    return row["collections"]


def check_problems(commands, trial, answer, what):
    """Returns the names that are listed."""
    status, out, err = commands.run("smd-ls", "--jsonl", trial)
    status = 0 if status == 1 and not answer["steps"] else status
    damage = [line for line in err.splitlines() if "Damaged: " in line]
    require(status == (4 if answer["problems"] else 0), f"{what}: status {status}: {err}")
    require(len(damage) == len(answer["problems"]), f"{what}: {damage}, right is {answer['problems']}")
    for problem in answer["problems"]:
        check_line([problem["file"], f"byte {problem['offset']}:"], err, what)
    return sorted(json.loads(line)["tensor"] for line in out.splitlines())


def check_superseded(commands, trial, answer, what):
    keys = ("tensor", "step", "worker", "wall_time", "value")
    right = sorted([number(one[key]) if key != "tensor" else one[key] for key in keys] for one in answer["superseded"]
                   if "value" in one)
    if right:
        rows = commands.rows("smd-tensor", "--superseded", "-e", ".", "-s", ":", trial)
        shown = sorted([number(row[key]) if key != "tensor" else row[key] for key in keys] for row in rows)
        require(shown == right, f"{what}: --superseded shows {shown}, right is {right}")


def check_histogram(commands, trial, name, answer, what):
    right = answer["workers"]["worker_0"]
    rows = commands.rows("smd-reduce", "-n", name, "-r", "min,max", "-s", ":", trial)
    shown = [(row["step"], row["min"], row["max"]) for row in rows]
    edges = [(step, one.get("min"), one.get("max")) for step, one in zip(right["steps"], right["reductions"])]
    require(shown == edges, f"{what}: {name}: {shown}, right is {edges}")
    shown = [(row["step"], [list(one) for one in zip(row["edges"], row["edges"][1:], row["counts"])])
             for row in commands.rows("smd-tensor", trial, name, "-s", ":", "--hist")]
    buckets = list(zip(right["steps"], right["buckets"]))
    require(shown == buckets, f"{what}: {name}: {shown}, right is {buckets}")


def check_values(name, rows, answer, what):
    right = answer["workers"]["worker_0"]
    shown = [row["step"] for row in rows]
    require(shown == right["steps"], f"{what}: {name}: steps {shown}, right is {right['steps']}")
    shown = [number(row["value"]) for row in rows]
    require(shown == number(right["values"]), f"{what}: {name}: {shown}, right is {right['values']}")
    shown = [number(row["wall_time"]) for row in rows]
    times = right.get("wall_times", [None] * len(rows))
    require(shown == times, f"{what}: {name}: wall times {shown}, right is {times}")
    require(all(row["dtype"] == answer["dtype"] for row in rows), f"{what}: {name}: the type is {rows[0]['dtype']}")
    if answer.get("shape", "varies") != "varies":
        require(all(row["shape"] == answer["shape"] for row in rows), f"{what}: {name}: {rows[0]['shape']}")


def check_tensors(commands, trial, tensors, what):
    named = [name for name, answer in tensors.items() if answer["kind"] != "histogram"]
    rows = {name: [] for name in named}
    if named:
        for row in commands.rows("smd-tensor", "-s", ":", *(f"--name={name}" for name in named), "--columns",
                                 "tensor,step,wall_time,dtype,shape,value", trial):
            rows[row["tensor"]].append(row)
    for name, answer in tensors.items():
        if answer["kind"] == "histogram":
            check_histogram(commands, trial, name, answer, what)
        else:
            check_values(name, rows[name], answer, what)


def check_collections(commands, trial, collections, tensors, what):
    """What a list says of each tensor, and what is chosen by a collection: the last of each trial, and the machine's."""
    members = {row["tensor"]: row["collections"] for row in commands.rows("smd-ls", "-l", "-e", "", trial)}
    right = {name: one["collections"] for name, one in tensors.items()}
    shown = {name: sorted(of) for name, of in members.items()}
    require(shown == right, f"{what}: collections {shown}, right is {right}")
    require(set(collections) >= {one for of in right.values() for one in of}, f"{what}: --summary has {collections}")
    for collection in {*[one for one in collections if one != "system"][-1:], *({"system"} & set(collections))}:
        shown = sorted(row["tensor"] for row in commands.rows("smd-ls", "-c", collection, trial))
        chosen = sorted(name for name, of in right.items() if collection in of)
        require(shown == chosen, f"{what}: {collection} has {shown}, right is {chosen}")


def check_trial(commands, trial, layout, answer, what):
    collections = check_summary(commands, trial, layout, answer, what)
    names = check_problems(commands, trial, answer, what)
    check_superseded(commands, trial, answer, what)
    steps = [row["step"] for row in commands.rows("smd-ls", "--steps", trial)]
    require(steps == answer["steps"], f"{what}: steps {steps}, right is {answer['steps']}")
    right = sorted(name for name, one in answer["tensors"].items() if one["collections"] != ["system"])
    require(names == right, f"{what}: tensors {names}, right is {right}")
    system = {name for name, one in answer["tensors"].items() if one["collections"] == ["system"]}
    for asked, reads in (((), set()), (("-p", "ExplodingTensor.tensor_regex=^system/"), system)) if system else ():
        rows = commands.rows("smd-rule", "--explain", "-r", "ExplodingTensor,StalledTrainingRule", *asked, trial)
        shown = {row["tensor"] for row in rows} & system
        require(shown == reads, f"{what}: rules {asked} read {shown} of the machine, right is {reads}")
    check_collections(commands, trial, collections, answer["tensors"], what)
    check_tensors(commands, trial, answer["tensors"], what)
    for step_name, right in answer.get("step_names", {}).items():
        for name, steps in right["tensors"].items():
            rows = commands.rows("smd-tensor", "--step-name", step_name, "-s", ":", trial, name)
            shown = [row["step"] for row in rows]
            require(shown == steps, f"{what}: --step-name {step_name}: {name} {shown}, right is {steps}")


def check_log(commands, logs, name):
    with open(f"{logs}/{name}.expected.json", encoding="utf-8") as file:
        answer = json.load(file)
    place = f"{logs}/{name}"
    if os.path.isdir(place):
        _, out, err = commands.run("smd-ls", "--find", place)
        found = [os.path.relpath(path, place) for path in out.splitlines()]
        require(found == answer["find"], f"{name}: --find prints {found}, right is {answer['find']}: {err}")
    if "refused" in answer:
        status, _, err = commands.run("smd-ls", place)
        require(status == 3, f"{name}: is to be refused: status {status}: {err}")
        check_words(answer["says"], err, name)
    if not answer["one"]:
        status, _, err = commands.run("smd-ls", place)
        require(status == 3 and f"holds {len(answer['find'])} runs" in err, f"{name}: status {status}: {err}")
    if answer["layout"] not in ("none", "wandb", "metrics"):
        _, out, err = commands.run("smd-ls", "--get", "layout", place)
        require(out == answer["layout"] + "\n", f"{name}: the layout is {out}")
        check_words(answer["left_out"], err, name)
        for layout, tensors in answer["other_layouts"].items():
            _, out, err = commands.run("smd-ls", "--layout", layout, place)
            require(out.split() == tensors, f"{name}: as {layout}: {out}{err}")
    for folder, trial in answer["trials"].items():
        path = place if folder == "." else f"{place}/{folder}"
        check_trial(commands, path, answer["layout"], trial, f"{name}/{folder}")


def check_growing(commands, logs, case):
    """Each row comes out once while the file grows."""
    folder = tempfile.mkdtemp(prefix="smd-metrics-")
    try:
        path = f"{folder}/{case['file']}"
        log = b""
        if "log" in case:
            with open(f"{logs}/{case['log']}", "rb") as file:
                log = file.read()
        command = ["smd-tensor", "-F", "-s", ":", "-e", ".", "--idle", "3s", "--jsonl", folder]
        follower = None
        out = open(f"{folder}.out", "w+", encoding="utf-8")
        for stage in case["stages"]:
            if "replace" in stage:
                with open(path + ".new", "w", encoding="utf-8") as file:
                    file.write(stage["replace"])
                os.replace(path + ".new", path)
            else:
                with open(path, "ab") as file:
                    file.write(log[file.tell():stage["part"]] if "part" in stage else stage["append"].encode())
            if follower is None:
                follower = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, env=commands.environment)
            time.sleep(0.3)
        status = follower.wait(timeout=60)
        out.seek(0)
        rows = sorted([row["step"], row["tensor"], number(row["value"])] for row in map(json.loads, out))
        out.close()
        right = sorted([step, tensor, number(value)] for step, tensor, value in case["rows"])
        require(rows == right, f"{case['id']}: {rows}, right is {right}: {follower.stderr.read().decode()}")
        require((status == 0) == case["ends"] or not case["ends"], f"{case['id']}: status {status}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.remove(f"{folder}.out")


JUDGED = [
    {"id": "validation after training", "stages": ["step,loss,val\n0,4,\n1,3,\n", "1,,nan\n", "2,2,\n", "2,,9\n"]},
    {"id": "validation later", "stages": ["step,loss,val_loss\n0,3,\n1,2,\n2,1,\n", "3,1,1.7\n", "4,1,1.7\n"]},
    {"id": "second header", "stages": ["step,loss\n0,4\n1,3\n2,2\n", "step,loss\n0,4\n1,nan\n"]},
    {"id": "goes back", "stages": ["step,loss\n0,4\n1,3\n2,2\n3,1\n", "1,nan\n", "2,nan\n3,inf\n", "4,1\n"]},
    {"id": "other numbers", "stages": ["step,loss,val\n0,1,2\n1,1,3\n2,1,1\n", "1,2,8\n", "2,1,1\n"]},  # 2, then 3 at step 1
    {"id": "superseded", "stages": ["step,loss,val\n0,4,4\n1,nan,4\n", "2,nan,4\n", "1,3,3\n2,2,nan\n", "3,1,1\n"]},
]


# The means of --smooth 0.5 at some steps, by hand: s = (s + x) / 2, divided by 1 - 0.5^n.
SMOOTHED = [
    {"id": "smooth: goes back", "means": {0: 4, 1: 20 / 3, 3: 44 / 7, 4: 4},
     "stages": ["step,loss\n0,4\n1,3\n2,2\n3,1\n", "step,loss\n1,8\n", "3,6\n4,2\n"]},
    {"id": "smooth: goes back between steps", "means": {0: 4, 1: 16 / 3, 3: 20 / 7},
     "stages": ["step,loss\n0,4\n2,2\n", "1,6\n", "3,1\n"]},
    {"id": "smooth: value again", "means": {0: 4, 1: 20 / 3, 2: 4},
     "stages": ["step,loss\n0,4\n1,3\n", "1,8\n", "2,2\n"]},
    {"id": "smooth: another column stays", "means": {0: 4, 1: 20 / 3, 3: 44 / 7},
     "stages": ["step,loss,val\n0,4,9\n1,3,9\n2,2,9\n3,1,9\n", "1,8,\n", "3,6,\n"]},
]


def followed_and_whole(commands, stages, *command, replaced=False):
    """The rows of a command that follows a file, which grows, and of one that reads it afterwards; and what it said.
    `replaced`: each time by another file."""
    folder = tempfile.mkdtemp(prefix="smd-metrics-")
    try:
        command = [*command, f"{folder}/log.csv", "--jsonl"]
        follower = None
        for i, stage in enumerate(stages):
            with open(f"{folder}/{'new' if replaced else 'log.csv'}", "a", encoding="utf-8") as file:
                file.write("".join(stages[:i + 1]) if replaced else stage)
            if replaced:
                os.rename(f"{folder}/new", f"{folder}/log.csv")
            follower = follower or subprocess.Popen(command + ["-F", "--idle", "2s"], stdout=subprocess.PIPE,
                                                    stderr=subprocess.PIPE, env=commands.environment)
            time.sleep(0.5)
        out, err = follower.communicate(timeout=60)
        return [json.loads(line) for line in out.splitlines()], commands.rows(*command[:-1]), err
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_whole_steps(commands, _, case):
    """A row that shows a whole step comes once, when another step has come or the following ends."""
    stages = ["step,loss,val\n0,4,9\n", "1,3,\n", "1,,8\n2,2,\n", "2,,7\n"]
    for replaced in (False, True):
        shown, right, err = followed_and_whole(commands, stages, *case["command"], replaced=replaced)
        require(shown == right, f"{case['id']}: replaced: {replaced}: {shown}, right is {right}: {err}")


def check_smoothed(commands, _, case):
    """Means are over values that are not superseded, in the order of steps, however they come."""
    for name, command in (("value_smooth", ["smd-tensor", "-s", ":"]), ("mean_smooth", ["smd-reduce", "-r", "mean"]),
                          ("mean_smooth", ["smd-reduce", "-r", "mean", "--by", "step"])):
        shown, whole, err = followed_and_whole(commands, case["stages"], *command, "-n", "loss", "--smooth", "0.5")
        for rows in (shown, whole):
            means = {row["step"]: row[name] for row in rows}  # those shown last
            require(all(abs(means[step] - right) < 1e-12 for step, right in case["means"].items()),
                    f"{command[0]}: {means}, right is {case['means']}: {err}")


def check_late_column(commands, _, case):
    """The columns of --pivot are those of the first row, and of names. A warning names what comes later."""
    stages = ["step,loss,val\n0,4,\n1,3,\n2,2,\n", "3,1,7\n", "4,1,8\n"]
    shown, right, err = followed_and_whole(commands, stages, "smd-tensor", "-s", ":", "--pivot", *case["names"])
    if case["left_out"]:
        right = [{key: value for key, value in row.items() if key != "val"} for row in right]
    require(shown == right, f"{case['id']}: {shown}, right is {right}: {err}")
    require(err.count(b"'val'; with -n") == case["left_out"], f"{case['id']}: it said {err}")


def check_judged(commands, _, case):
    """Rules that follow a file judge as afterwards, and print each finding once. A note says if some no longer hold."""
    followed, right, err = followed_and_whole(commands, case["stages"], "smd-rule", "-r", "ExplodingTensor,Overfit", "-k")

    def of(rows, record):
        keys = ("rule", "tensor", "step", "value", "findings", "steps_evaluated", "steps_skipped")
        return [tuple(row.get(key) for key in keys) for row in rows if row["record"] == record]

    require(of(followed, "result") == of(right, "result"), f"{case['id']}: {followed}, right is {right}: {err}")
    shown = of(followed, "finding")
    require(len(set(shown)) == len(shown) and set(of(right, "finding")) <= set(shown),
            f"{case['id']}: found {shown}, right is {of(right, 'finding')}")
    require((b"no longer hold" in err) == (len(shown) > len(of(right, "finding"))),
            f"{case['id']}: found {shown}, right is {of(right, 'finding')}; it said {err}")


def check_without_step(commands, logs, case):
    """Records without the chosen step are a row of --check."""
    rows = commands.rows("smd-ls", "--check", "--step-name", "epoch", f"{logs}/{case['id']}")
    right = ["9 records have no whole number in 'epoch'; the step before is used"]
    require([row["problem"] for row in rows] == right, rows)


def field(number, content):
    """A field of a protobuf message: a number, or text or bytes, below 128 (bytes)."""
    if isinstance(content, int):
        return bytes([number << 3, content])
    content = content.encode() if isinstance(content, str) else content
    return bytes([number << 3 | 2, len(content)]) + content


def item(number, name, value):
    return field(number, field(1, name) + b"\x82\x01" + bytes([len(str(value))]) + str(value).encode())


def chunk(record):
    return struct.pack("<IHB", zlib.crc32(b"\x01" + record), len(record), 1) + record


def logged(step):
    """A record of W&B's: every 10 seconds a step."""
    return chunk(field(2, item(1, "_step", step) + item(1, "_timestamp", 10 * step) + item(1, "loss", 9 - step)))


def measured(seconds, cpu):
    return chunk(field(7, field(2, field(1, seconds)) + item(3, "cpu", cpu)))


def check_kept_back(commands, _, case):
    """Metrics of the machine after the newest step of a run without an end: a wait sees them at once, and a follower
    gives the last ones when it gives up. They are no new step."""
    folder = tempfile.mkdtemp(prefix="smd-metrics-")
    try:
        path = f"{folder}/run-abc.wandb"
        with open(path, "wb") as file:
            file.write(b":W&B\xe1\xbe\0")
            file.writelines(logged(step) + measured(10 * step + 5, 50 + step) for step in (0, 1, 2))
        for asked, right in ((["-n", "system/cpu", "-s", "2"], 0), (["--until", "system/cpu >= 52"], 0),
                             (["--until", "system/cpu > 52"], 124), (["-n", "system/gpu", "-s", "2"], 1)):
            status, _, err = commands.run("smd-wait", folder, *asked, "--timeout", "0")
            require(status == right, f"{case['id']}: smd-wait {asked}: status {status}, right is {right}: {err}")
        rules = ["smd-rule", "--jsonl", "-k", "-r", "ExplodingTensor", "-p", "ExplodingTensor.tensor_regex=^system/",
                 folder]
        tensors = ["smd-tensor", "--jsonl", "-n", "system/cpu", "-s", ":", folder]
        follow = [(rules, ["--idle", "4s"]), (tensors, ["--idle", "4s"]), (tensors, ["--timeout", "4s"]), (tensors, [])]
        followers = [subprocess.Popen(command + ["-F"] + until, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      bufsize=0, env=commands.environment) for command, until in follow]
        begun = [b""] * 3 + [followers[-1].stdout.readline() + followers[-1].stdout.readline()]
        with open(path, "ab") as file:
            file.write(measured(26, 60) + measured(27, 61))
        followers[-1].send_signal(signal.SIGTERM)
        for (command, until), follower, first, status in zip(follow, followers, begun, (124, 124, 124, -signal.SIGTERM)):
            out, err = follower.communicate(timeout=60)
            what = f"{case['id']}: {command[0]} -F {until}"
            require(follower.returncode == status, f"{what}: status {follower.returncode}: {err}")
            rows = [json.loads(line) for line in (first + out).splitlines()]
            if command is tensors:
                rows = [(row["step"], row["value"]) for row in rows]
                require(rows == [(0, 50), (1, 51), (2, 61)], f"{what}: {rows}: {err}")
            else:
                evaluated = [row["steps_evaluated"] for row in rows if row["record"] == "result"]
                require(evaluated == [3], f"{what}: {evaluated} steps are evaluated: {rows}: {err}")
            require(b"superseded" not in err, f"{what}: {err}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_lines(commands, logs, case):
    folder = tempfile.mkdtemp(prefix="smd-metrics-")
    try:
        with open(f"{logs}/{case['input']}", encoding="utf-8") as file:
            text = file.read()
        status, out, err = commands.run("smd-save", f"{folder}/run", "--lines", case["pattern"], "--tee", "-v", text=text)
        require(status == case["status"], f"{case['id']}: status {status}: {err}")
        require(out == text, f"{case['id']}: --tee passes on {out}")
        check_line([f"{case['passed_by']} line"], err, case["id"])
        if case["rows"]:
            rows = commands.rows("smd-tensor", f"{folder}/run", "-e", ".", "-s", ":")
            shown = sorted((row["step"], row["tensor"], number(row["value"])) for row in rows)
            right = sorted((row["step"], row["tensor"], number(row["value"])) for row in case["rows"])
            require(shown == right, f"{case['id']}: {shown}, right is {right}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", nargs="+", required=True)
    parser.add_argument("--logs", required=True)
    arguments = parser.parse_args()
    commands = Commands(arguments.tools)
    logs = arguments.logs
    cases = {}
    for file in ("live.json", "lines.json"):
        with open(f"{logs}/{file}", encoding="utf-8") as text:
            cases[file] = json.load(text)["cases"]
    waiting = [(check_growing, case) for case in cases["live.json"]]
    waiting += [(check_judged, case) for case in JUDGED]
    waiting += [(check_smoothed, case) for case in SMOOTHED]
    waiting += [(check_late_column, {"id": "named column", "names": ["-n", "loss", "-n", "val"], "left_out": 0}),
                (check_late_column, {"id": "late column", "names": ["-e", "."], "left_out": 1}),
                (check_kept_back, {"id": "kept back"})]
    waiting += [(check_whole_steps, {"id": command[0], "command": command}) for command in
                (["smd-tensor", "-s", ":", "-e", ".", "--pivot"], ["smd-ls", "--steps"],
                 ["smd-reduce", "-s", ":", "-e", ".", "-r", "mean,count", "--by", "step"])]
    checks = [(check_log, name[:-len(".expected.json")]) for name in sorted(os.listdir(logs))
              if name.endswith(".expected.json")]
    checks += [(check_lines, case) for case in cases["lines.json"]]
    checks += [(check_without_step, {"id": "wb_global_step_gap"})]

    def failure_of(check, what):
        try:
            check(commands, logs, what)
        except (Failure, KeyError, ValueError, subprocess.TimeoutExpired) as failure:
            return f"{what if isinstance(what, str) else what['id']}: {type(failure).__name__}: {failure}"
        return None

    # Those that follow a growing file mostly wait: they do so side by side, and while the others run.
    with concurrent.futures.ThreadPoolExecutor(max_workers=6) as pool:
        later = [pool.submit(failure_of, *check) for check in waiting]
        failures = [failure_of(*check) for check in checks] + [one.result() for one in later]
    checks += waiting
    failed = 0
    for failure in failures:
        if failure is not None:
            failed += 1
            print(failure)
    print(f"{len(checks) - failed} of {len(checks)} logs are right")
    return 1 if failed or len(checks) < 80 else 0


if __name__ == "__main__":
    sys.exit(main())
