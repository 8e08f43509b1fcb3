#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands on TensorBoard log directories: the recorded ones, against the answers that stand beside them, and some
that grow while they are followed.

    logs_test.py --tools DIR... --logs DIR [--rounds N] [--seed S]
"""

import argparse
import glob
import gzip
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from event_bytes import field, masked_crc, varint


class Failure(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Failure(text)


def record(event):
    length = struct.pack("<Q", len(event))
    return length + struct.pack("<I", masked_crc(length)) + event + struct.pack("<I", masked_crc(event))


def event(wall_time, step, content):
    return record(varint(1 << 3 | 1) + struct.pack("<d", wall_time) + varint(2 << 3) + varint(step) + content)


def scalar(wall_time, step, tag, value):
    return event(wall_time, step, field(5, field(1, field(1, tag.encode()) + varint(2 << 3 | 5) + struct.pack("<f", value))))


def version(wall_time):
    return event(wall_time, 0, field(3, b"brain.Event:2"))


def stop(wall_time, step):
    return event(wall_time, step, field(7, varint(1 << 3) + varint(2)))  # SessionLog, STOP


class Log:
    """One event file of a log directory, as a writer that flushes anywhere leaves it."""

    def __init__(self, folder, started, process, host="host-a"):
        os.makedirs(folder, exist_ok=True)
        self.path = f"{folder}/events.out.tfevents.{started}.{host}.{process}.0"
        self.append(version(started))

    def append(self, data):
        with open(self.path, "ab") as out:
            out.write(data)


class Commands:
    def __init__(self, tools):
        self.environment = dict(os.environ, PATH=os.pathsep.join(tools + [os.environ["PATH"]]), LC_ALL="C.UTF-8",
                                SMDEBUG_TRAINING_END_DELAY_REFRESH="0.2")

    def run(self, *command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def follow(self, *command):
        return Follower(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                         env=self.environment))


class Follower:
    """A command whose lines are taken as they come."""

    def __init__(self, process):
        self.process = process
        self.lines = []
        self.errors = []
        self.readers = [threading.Thread(target=self._take, args=pair, daemon=True)
                        for pair in ((process.stdout, self.lines), (process.stderr, self.errors))]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def _take(stream, lines):
        for line in stream:
            lines.append(line.rstrip("\n"))

    def wait_for_lines(self, count, what):
        deadline = time.monotonic() + 60
        while len(self.lines) < count:
            require(time.monotonic() < deadline and self.process.poll() is None,
                    f"{what}: {count} lines were to come: {self.lines} {self.errors}")
            time.sleep(0.002)

    def end(self, what, right=0):
        status = self.process.wait(timeout=120)
        for reader in self.readers:
            reader.join()
        require(status == right, f"{what}: status {status}: {self.errors}")
        return self.lines


# ---- recorded directories

def check_summary(commands, trial, answer, name):
    status, out, err = commands.run("smd-ls", "--summary", "--jsonl", trial)
    require(status == (4 if answer["problems"] else 0), f"{name}: status {status} of --summary: {err}")
    row = json.loads(out)
    steps = answer["steps"]
    right = {"layout": "tensorboard", "status": "unknown", "tensors": len(answer["tensors"]), "steps": len(steps),
             "first_step": steps[0] if steps else None, "last_step": steps[-1] if steps else None,
             "workers": answer["workers"], "superseded": len(answer["superseded"]), "hparams": answer["hparams"]}
    shown = {key: row[key] for key in right}
    require(shown == right, f"{name}: --summary has {shown}, right is {right}")
    require(row["age"] is not None and row["age"] >= 0, f"{name}: the age is {row['age']}")
    for problem in answer["problems"]:
        said = [line for line in err.splitlines() if problem["file"] in line and str(problem["offset"]) in line]
        require(said, f"{name}: {problem} was not said: {err}")


def check_superseded(commands, trial, answer, name):
    right = [[one[key] for key in ("tensor", "step", "worker", "wall_time", "value")]
             for one in answer["superseded"] if "value" in one]
    if not right:
        return
    _, out, _ = commands.run("smd-tensor", "--superseded", "-e", ".", "-s", ":", "-w", "all", "--jsonl", trial)
    shown = [[row[key] for key in ("tensor", "step", "worker", "wall_time", "value")]
             for row in map(json.loads, out.splitlines())]
    require(shown == right, f"{name}: --superseded shows {shown}, right is {right}")
    _, counting, err = commands.run("smd-tensor", "-e", ".", "-s", ":", "-w", "all", "--jsonl", trial)
    tensors = {one["tensor"] for one in answer["superseded"]}
    note = f"{len(answer['superseded'])} value{'s' * (len(answer['superseded']) > 1)} of {len(tensors)} tensor"
    require(f"note: {note}" in err, f"{name}: is not said: {note}: {err}")
    _, out, err = commands.run("smd-tensor", "--with-superseded", "-e", ".", "-s", ":", "-w", "all", "--jsonl", trial)
    require("superseded by" not in err, f"{name}: with --with-superseded: {err}")
    rows = [json.loads(line) for line in out.splitlines()]
    require(all(list(row)[-1] == "superseded" for row in rows), f"{name}: the last key is not superseded")
    shown = [[row[key] for key in ("tensor", "step", "worker", "wall_time", "value")] for row in rows if row["superseded"]]
    require(shown == right, f"{name}: --with-superseded shows {shown} superseded, right is {right}")
    shown = [[row[key] for key in ("tensor", "step", "worker", "value")] for row in rows if not row["superseded"]]
    right = [[row[key] for key in ("tensor", "step", "worker", "value")] for row in map(json.loads, counting.splitlines())]
    require(shown == right, f"{name}: --with-superseded shows {shown}, counting is {right}")


def check_compressed(commands, logs, name):
    """A directory whose files were compressed gives what it gives as it is, damage at the same places included."""
    folder = tempfile.mkdtemp(prefix="smd-logs-")
    try:
        packed = f"{folder}/{name}"
        shutil.copytree(f"{logs}/{name}", packed)
        for place, _, files in os.walk(packed):
            for file in files:
                if "tfevents" in file and not file.endswith(".txt"):  # text is left out, but compressed bytes are not
                    with open(f"{place}/{file}", "rb") as plain:
                        content = plain.read()
                    os.chmod(f"{place}/{file}", 0o644)
                    with open(f"{place}/{file}", "wb") as out:
                        out.write(gzip.compress(content) if len(content) % 2 or not content else zlib.compress(content))
        for command in (("smd-tensor", "-e", ".", "-s", ":", "-w", "all", "--jsonl"),
                        ("smd-reduce", "-r", "saved", "-w", "all", "--jsonl"), ("smd-ls", "--check", "--jsonl")):
            answers = []
            for place in (logs, folder):
                status, out, _ = commands.run(*command, f"{place}/{name}")
                answers.append((status, out.replace(f"{place}/", "").replace(" (in the inflated stream)", "")))
            require(answers[0] == answers[1], f"{name}: {command}: compressed {answers[1]}, plain {answers[0]}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_directory(commands, logs, name):
    with open(f"{logs}/{name}.expected.json") as file:
        answer = json.load(file)
    folder = f"{logs}/{name}"
    if answer["layout"] == "none":
        status, _, err = commands.run("smd-ls", folder)
        require(status == 3, f"{name}: is no trial, but the status is {status}: {err}")
        return
    status, out, err = commands.run("smd-ls", "--find", folder)
    found = [os.path.relpath(path, folder) for path in out.splitlines()]
    require(found == answer["find"], f"{name}: --find prints {found}, right is {answer['find']}: {err}")
    if answer["layout"] == "debugger":
        status, out, _ = commands.run("smd-ls", "--get", "layout", folder)
        require(out == "debugger\n", f"{name}: the layout is {out}")
        return
    if not answer["one"]:
        status, _, err = commands.run("smd-ls", folder)
        require(status == 3 and f"holds {len(answer['find'])} runs" in err, f"{name}: status {status}: {err}")
        listed = subprocess.run(["smd-ls", "-", "--summary", "--columns", "trial,tensors", "-H"], text=True,
                                input="".join(f"{folder}/{one}\n" for one in found), stdout=subprocess.PIPE,
                                env=commands.environment, check=True).stdout
        right = "".join(f"{folder}/{one}\t{len(answer['trials'][one]['tensors'])}\n" for one in found)
        require(listed == right, f"{name}: the summaries are {listed}, right is {right}")
    for place, trial in answer["trials"].items():
        path = folder if place == "." else f"{folder}/{place}"
        check_summary(commands, path, trial, f"{name}/{place}")
        check_superseded(commands, path, trial, f"{name}/{place}")
    if answer["one"]:
        check_compressed(commands, os.path.dirname(folder), name)


# ---- directories that grow

def follow_restart(commands, what, *command):
    """Values come, a record in two halves, and a second process goes back: each value is shown once, in order, and the
    restart is reported."""
    folder = tempfile.mkdtemp(prefix="smd-logs-")
    try:
        first = Log(folder, 1700000000, 100)
        for step in range(5):
            first.append(scalar(1700000000 + step, step, "train/loss", step / 4))
        follower = commands.follow(*command, folder)
        follower.wait_for_lines(5, what)
        for step in range(5, 10):
            data = scalar(1700000000 + step, step, "train/loss", step / 4)
            first.append(data[:20])
            time.sleep(0.02)
            first.append(data[20:])
        follower.wait_for_lines(10, what)
        second = Log(folder, 1700000100, 101)
        for step in range(7, 13):
            second.append(scalar(1700000100 + step, step, "train/loss", 100 + step / 4))
        follower.wait_for_lines(16, what)
        second.append(stop(1700000200, 13))
        lines = follower.end(what)
        right = [f"{step}\t{step / 4:g}" for step in range(10)] + [f"{step}\t{100 + step / 4:g}" for step in range(7, 13)]
        require(lines == right, f"{what}: {lines}, right is {right}")
        # 7, 8 and 9 of the first process.
        told = [line for line in follower.errors if "went back" in line]
        require(len(told) == 1 and told[0].endswith("went back to step 7: 3 values superseded"),
                f"{what}: of the restart is said {follower.errors}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def follow_torn(commands):
    """A record that a killed process left half is damage once the job has ended. The note on a restart counts only what
    is selected; another says that a late step moves the count of --every."""
    folder = tempfile.mkdtemp(prefix="smd-logs-")
    try:
        log = Log(folder, 1700000000, 100)
        for step in range(0, 8, 2):
            log.append(scalar(1700000000 + step, step, "a", step) + scalar(1700000000 + step, step, "b", step))
        log.append(scalar(1700000009, 8, "a", 8)[:20])
        narrowed = [commands.follow("smd-tensor", "-F", "-H", "--columns", "step", folder, "a", "-s", steps, *more)
                    for steps, more in (("4:", ()), (":", ("--every", "2")), ("8:", ()))]
        for follower, count in zip(narrowed, (2, 2, 0)):
            follower.wait_for_lines(count, "torn")
        second = Log(folder, 1700000100, 101)
        second.append(scalar(1700000100, 1, "a", 1) + scalar(1700000101, 9, "a", 9))
        narrowed[0].wait_for_lines(3, "torn")
        second.append(stop(1700000200, 9))
        for follower, note in zip(narrowed, ("went back to step 4: 2 values superseded",
                                             "went back to step 2: 3 values superseded", None)):
            follower.end("torn", 4)
            told = [line for line in follower.errors if "went back" in line]
            require(len(told) == bool(note) and (not note or told[0].endswith(note)), f"torn: {follower.errors}")
        require(any("--every counts" in line for line in narrowed[1].errors), f"torn: {narrowed[1].errors}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def follow_last(commands):
    """By default what was there last is shown, and then all that comes, also of a step that was there before, and of a
    job that goes back behind it."""
    folder = tempfile.mkdtemp(prefix="smd-logs-")
    try:
        log = Log(folder, 1700000000, 100)
        for step in range(5):
            log.append(scalar(1700000000 + step, step, "a", step))
        follower = commands.follow("smd-tensor", "-F", "-H", "--columns", "tensor,step,value", folder, "-e", "^[ab]$")
        follower.wait_for_lines(1, "last")
        log.append(scalar(1700000010, 4, "b", 40))
        follower.wait_for_lines(2, "last")
        log.append(scalar(1700000011, 5, "a", 5))
        follower.wait_for_lines(3, "last")
        log.append(scalar(1700000012, 2, "a", 22))
        follower.wait_for_lines(4, "last")
        log.append(stop(1700000013, 5))
        lines = follower.end("last")
        right = ["a\t4\t4", "b\t4\t40", "a\t5\t5", "a\t2\t22"]
        require(lines == right, f"last: {lines}, right is {right}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def follow_other_worker(commands):
    """The values of a second writer, which come later, are not shown as those of the first."""
    folder = tempfile.mkdtemp(prefix="smd-logs-")
    try:
        log = Log(folder, 1700000000, 100)
        follower = commands.follow("smd-tensor", "-F", "-H", "-s", ":", "--columns", "step,value", folder, "loss")
        for step in range(4):
            log.append(scalar(1700000000 + step, step, "loss", step))
            follower.wait_for_lines(step + 1, "other worker")
        other = Log(folder, 1700000001, 200, "host-b")
        for step in range(4):
            other.append(scalar(1700000001.5 + step, step, "loss", 50 + step))
        for step in range(4, 6):
            log.append(scalar(1700000000 + step, step, "loss", step))
            follower.wait_for_lines(step + 1, "other worker")
        other.append(stop(1700000013, 4))
        log.append(stop(1700000013, 6))
        lines = follower.end("other worker")
        require(lines == [f"{step}\t{step}" for step in range(6)], f"other worker: {lines}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def follow_beside(commands):
    """A run that comes beside the only one of a folder is not read by who follows that, and a warning says so."""
    folder = tempfile.mkdtemp(prefix="smd-logs-")
    try:
        log = Log(f"{folder}/run_train", 1700000000, 100)
        log.append(scalar(1700000000, 0, "loss", 1))
        follower = commands.follow("smd-tensor", "-F", "-H", "-s", ":", "--columns", "tensor,value", folder, "loss")
        follower.wait_for_lines(1, "beside")
        Log(f"{folder}/run_val", 1700000001, 101).append(scalar(1700000001, 0, "loss", 9))
        step = 0
        right = f"smd-tensor: warning: {folder}/run_train: another run has come beside it and is not read"
        while not any(line.startswith(right) for line in follower.errors):
            step += 1
            require(step < 600, f"beside: no warning: {follower.errors}")
            log.append(scalar(1700000000 + step, step, "loss", 1))
            time.sleep(0.1)
        log.append(stop(1700001000, step))
        lines = follower.end("beside")
        require(lines == ["loss\t1"] * (step + 1), f"beside: {lines}")
        require(len(follower.errors) == 2, f"beside: {follower.errors}")  # the note of which folder is read, and it
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def follow_every(commands):
    """A step that grows is the same step for --every: 0, 2 and 4 are kept, with both of their tensors."""
    folder = tempfile.mkdtemp(prefix="smd-logs-")
    try:
        log = Log(folder, 1700000000, 100)
        follower = commands.follow("smd-tensor", "-F", "-H", "-s", ":", "--every", "2", "--columns", "tensor,step", folder,
                                   "-e", "^[ab]$")
        kept = 0
        for step in range(6):
            for tag in "ab":
                log.append(scalar(1700000000 + step, step, tag, step))
                kept += step % 2 == 0
                follower.wait_for_lines(kept, "every")
        log.append(stop(1700000013, 6))
        lines = follower.end("every")
        right = [f"{tag}\t{step}" for step in (0, 2, 4) for tag in "ab"]
        require(lines == right, f"every: {lines}, right is {right}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def follow_chance(commands, seed):
    """Processes that flush anywhere and are killed half-way through a record; each begins anew somewhere before. Of
    what is shown each value stands once, in the order of writing, and all that counts in the end is there."""
    chance = random.Random(seed)
    folder = tempfile.mkdtemp(prefix="smd-logs-")
    what = f"seed {seed}"
    try:
        follower = commands.follow("smd-tensor", "-F", "-H", "-s", ":", "--columns", "step,value", folder, "loss")
        written = []  # (step, value), in order
        step = 0
        for process in range(4):
            log = Log(folder, 1700000000 + 1000 * process, 100 + process)
            step = chance.randrange(step + 1)
            pending = b""
            for count in range(chance.randrange(5, 60)):
                value = len(written)
                data = scalar(1700000000 + 1000 * process + count, step, "loss", value)
                written.append((step, value))
                step += 1
                pending += data
                if chance.random() < 0.3:
                    cut = chance.randrange(len(pending) + 1)
                    log.append(pending[:cut])
                    pending = pending[cut:]
                    time.sleep(chance.random() * 0.01)
            log.append(pending)
        log.append(stop(1700009999, step))
        shown = [tuple(map(int, line.split("\t"))) for line in follower.end(what)]
        positions = [written.index(one) for one in shown]
        require(positions == sorted(set(positions)), f"{what}: shown {shown}, written {written}")
        counts = [one for place, one in enumerate(written) if all(later[0] > one[0] for later in written[place + 1:])]
        missing = [one for one in counts if one not in shown]
        require(not missing, f"{what}: {missing} were not shown: {follower.errors}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def long_log(commands):
    """All numbers of a tag, so many that threads make their text: as they come one by one, and as Python writes them."""
    folder = tempfile.mkdtemp(prefix="smd-logs-")
    try:
        written = [(3 * i if i < 9000 else 10 * i, 1700000000.125 + i / 4, i + 0.5) for i in range(14000)]
        Log(folder, 1700000000, 100).append(b"".join(
            scalar(wall_time, step, "loss", value) + (scalar(wall_time, step, "x,y", -value) if step % 2 else b"")
            for step, wall_time, value in written))
        shapes = {
            ("--csv", "--columns", "step,wall_time,value"): ("step,wall_time,value\n", "{0},{1!r},{2!r}\n"),
            ("--csv", "-H"): ("", "loss,{0},GLOBAL,{0},worker_0,NA,{2!r}\n"),
            ("-f", "tsv", "--columns", "value,tensor,dtype"): ("value\ttensor\tdtype\n", "{2!r}\tloss\tfloat32\n"),
            ("--columns", "value"): ("", "{2!r}\n"),
            ("--csv", "-H", "--limit", "7000", "--columns", "step"): ("", "{0}\n"),
            ("-f", "jsonl", "--columns", "step,value"): ("", '{{"step":{0},"value":{2!r}}}\n'),
        }
        for options, (header, row) in shapes.items():
            rows = written[:7000] if "--limit" in options else written
            right = header + "".join(row.format(*one) for one in rows)
            for more in (("-j1",), ("-j2",), ("-j8",), ("-w", "worker_0")):
                command = ("smd-tensor", folder, "loss", "-s", ":", *options, *more)
                status, out, errors = commands.run(*command)
                require((status, out, errors) == (0, right, ""), f"{' '.join(command)}: {status}, {out[:200]}, {errors}")
        right = "".join(f'"x,y",{step},{-value!r}\n' for step, _, value in written if step % 2)
        status, out, errors = commands.run("smd-tensor", folder, "x,y", "-s", ":", "--csv", "-H", "--columns",
                                           "tensor,step,value")
        require((status, out, errors) == (0, right, ""), f"quoted name: {status}, {out[:200]}, {errors}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sick_histograms(commands):
    """Statistics of one whose buckets cannot be are no better than these: the value is left out, as damage."""
    def doubles(*numbers):
        return struct.pack(f"<{len(numbers)}d", *numbers)

    with tempfile.TemporaryDirectory() as folder:
        log = Log(folder, 1700000000, 77)
        sums = b"".join(varint(number << 3 | 1) + doubles(value) for number, value in enumerate((0, 2, 7, 9, 12), 1))
        for tag, limits, counts in (("sound", (1, 1.5, 2), (3, 3, 1)), ("falls", (3, 2, 1), (3, 3, 1)),
                                    ("owes", (1, 1.5, 2), (-3, 9, 1)), ("lacks", (1, 2), (3, 3, 1))):
            histogram = sums + field(6, doubles(*limits)) + field(7, doubles(*counts))
            log.append(event(1700000001, 5, field(5, field(1, field(1, tag.encode()) + field(5, histogram)))))
        status, out, err = commands.run("smd-ls", "-H", "--columns", "tensor", folder)
        require((status, out) == (4, "sound\n"), f"sick histograms: status {status}: {out} {err}")
        for told in ("'falls' is left out: the buckets of the histogram do not ascend",
                     "'owes' is left out: a bucket of the histogram has -3 elements",
                     "'lacks' is left out: histogram with 2 limits of 3 buckets"):
            require(told in err, f"sick histograms: {told} is not said: {err}")


def histogram_of_nothing(commands):
    """--check names it once, by its tag."""
    with tempfile.TemporaryDirectory() as folder:
        log = Log(folder, 1700000000, 77)
        for step in (1, 2):
            log.append(event(1700000001, step, field(5, field(1, field(1, b"idle") + field(5, b"")))))
        status, _, err = commands.run("smd-ls", "--check", "-H", folder)
        require((status, err) == (0, "smd-ls: note: 1 tensor has no elements: idle\n"),
                f"histogram of nothing: status {status}: {err}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", nargs="+", required=True)
    parser.add_argument("--logs", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    commands = Commands(options.tools)
    names = sorted(os.path.basename(path)[:-len(".expected.json")] for path in glob.glob(f"{options.logs}/*.expected.json"))
    require(names, f"{options.logs} holds no recorded directory")
    checks = [lambda name=name: check_directory(commands, options.logs, name) for name in names]
    checks += [lambda: follow_restart(commands, "smd-tensor", "smd-tensor", "-F", "-H", "-s", ":", "--columns",
                                      "step,value", "-n", "train/loss"),
               lambda: follow_restart(commands, "smd-reduce", "smd-reduce", "-F", "-H", "-r", "mean", "--columns",
                                      "step,mean"),
               lambda: follow_last(commands), lambda: follow_torn(commands),
               lambda: follow_every(commands),
               lambda: follow_other_worker(commands), lambda: follow_beside(commands),
               lambda: long_log(commands), lambda: sick_histograms(commands),
               lambda: histogram_of_nothing(commands)]
    checks += [lambda seed=seed: follow_chance(commands, seed) for seed in range(options.seed, options.seed + options.rounds)]
    failed = 0
    for check in checks:
        try:
            check()
        except Failure as failure:
            print(failure, file=sys.stderr)
            failed += 1
    print(f"{len(checks)} checks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
