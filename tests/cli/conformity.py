#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""conformity.py --tools DIR... --trials DIR: what the commands print of every recorded trial, against the recorded
answers. Values are turned back from JSON text into bytes, whose SHA-256 must be the recorded one: nothing is lost on
the way through text."""

import argparse
import hashlib
import json
import math
import os
import struct
import subprocess
import sys

SUFFIX = ".expected.json"
PACK = {
    "float16": "e", "float32": "f", "float64": "d", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B",
    "uint16": "H", "uint32": "I", "uint64": "Q", "bool": "?", "qint8": "b", "quint8": "B", "qint16": "h",
    "quint16": "H", "qint32": "i", "complex64": "ff", "complex128": "dd",
}
NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def flat(value):
    if isinstance(value, list):
        for element in value:
            yield from flat(element)
    else:
        yield value


def nested_shape(value, depth):
    """Returns the sizes of `depth` levels of lists, which must be equal in each level."""
    shape = []
    level = [value]
    for _ in range(depth):
        sizes = {len(element) for element in level}
        if len(sizes) > 1:
            raise ValueError("ragged")
        shape.append(sizes.pop() if sizes else 0)
        level = [inner for element in level for inner in element]
    return shape


def to_bytes(dtype, value):
    """Returns the elements as in the event file, and whether one is NaN, whose bits text does not contain."""
    if dtype == "string":
        texts = [text.encode() for text in flat(value)]
        return b"".join(struct.pack("<I", len(text)) + text for text in texts), False
    numbers = [NON_FINITE.get(number, number) if isinstance(number, str) else number for number in flat(value)]
    nan = any(isinstance(number, float) and math.isnan(number) for number in numbers)
    code = PACK[dtype]
    return struct.pack("<" + code * (len(numbers) // len(code)), *numbers), nan


class Check:
    def __init__(self, options):
        self.path = os.pathsep.join([*map(os.path.abspath, options.tools), os.environ["PATH"]])
        self.trials = os.path.abspath(options.trials)
        self.failures = 0
        self.values = 0

    def equal(self, what, actual, expected):
        if actual != expected:
            self.failures += 1
            print(f"{what}:\n  expected {expected!r}\n  actual   {actual!r}"[:2000])

    def run(self, environment, *command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env={"PATH": self.path, "LC_ALL": "C.UTF-8", **environment})
        if done.returncode not in (0, 1):
            self.failures += 1
            print(f"{' '.join(command)}: status {done.returncode}\n{done.stderr.decode()}")
        return done.stdout

    def rows(self, environment, *command):
        return [json.loads(line) for line in self.run(environment, *command).splitlines()]

    def trial(self, name):
        with open(os.path.join(self.trials, name + SUFFIX), encoding="utf-8") as file:
            answers = json.load(file)
        if "ok" not in answers["open"]:
            return  # its values: the unit tests
        environment = answers["env"]
        trial = os.path.join(self.trials, name)

        names = self.rows(environment, "smd-ls", "--jsonl", "--incomplete", trial)
        self.equal(f"{name}: names", [row["tensor"] for row in names], answers["tensor_names"])

        steps = self.rows(environment, "smd-ls", "--steps", "--incomplete", "--jsonl", trial)
        self.equal(f"{name}: steps", [[row["step"], row["mode"].upper(), row["mode_step"]] for row in steps],
                   answers["step_map"])
        self.equal(f"{name}: complete steps", [row["step"] for row in steps if row["complete"]],
                   answers["steps"]["GLOBAL"]["complete"])
        complete = self.rows(environment, "smd-ls", "--steps", "--jsonl", trial)
        self.equal(f"{name}: steps without --incomplete", [row["step"] for row in complete],
                   answers["steps"]["GLOBAL"]["complete"])

        collections = self.rows(environment, "smd-ls", "--collections", "--jsonl", trial)
        self.equal(f"{name}: collections",
                   {row["collection"]: (row["tensors"], row["tensors_saved"], row["regex"]) for row in collections},
                   {key: (len(answer["tensor_names"]), len(answer["resolved"]), answer["include_regex"])
                    for key, answer in answers["collections"].items()})
        self.check_values(name, trial, answers)

    def check_values(self, name, trial, answers):
        expected = {}
        for tensor, answer in answers["tensors"].items():
            for record in answer["records"]:
                value = record.get("written", record["value"])
                worker = record.get("worker_correct", record["worker"])
                if "sha256" in value:
                    expected[record["global_step"], tensor, worker] = (value, record["mode"], record["mode_step"])
        if name == "repeats":
            # Step 3 has a mode step that step 0 had before; the reference gives its value for step 0's.
            again = answers["tensors"]["twice"]["records"][0]["value"]
            expected[3, "twice", "worker_0"] = (again, "TRAIN", 0)
        rows = self.rows(answers["env"], "smd-tensor", "-s", ":", "-w", "all", "--incomplete", "--jsonl", trial)
        keys = [(row["step"], row["tensor"], row["worker"]) for row in rows]
        self.equal(f"{name}: values", keys, sorted(expected, key=lambda key: (key[0], key[1].encode(), key[2])))
        for key, row in zip(keys, rows):
            if key in expected:
                self.check_value(f"{name}: {key}", row, *expected[key])

    def check_value(self, what, row, value, mode, mode_step):
        self.values += 1
        self.equal(what, [row["mode"].upper(), row["mode_step"], row["dtype"], row["shape"]],
                   [mode, mode_step, value["dtype"], value["shape"]])
        depth = len(value["shape"]) + (1 if row["dtype"].startswith("complex") else 0)
        sizes = value["shape"][:value["shape"].index(0) + 1] if 0 in value["shape"] else value["shape"]
        self.equal(f"{what}: nesting", nested_shape(row["value"], depth)[:len(sizes)], sizes)
        data, nan = to_bytes(row["dtype"], row["value"])
        if nan:
            data = data[:len(data) // max(1, math.prod(value["shape"])) * len(value["head"])]
            texts = [{"nan": math.nan, "inf": math.inf, "-inf": -math.inf}.get(number, number)
                     if isinstance(number, str) else number for number in flat(value["head"])]
            self.equal(what, data, struct.pack("<" + PACK[row["dtype"]] * len(value["head"]), *texts))
        else:
            self.equal(what, hashlib.sha256(data).hexdigest(), value["sha256"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", action="append", default=[], metavar="DIR")
    parser.add_argument("--trials", required=True, metavar="DIR")
    options = parser.parse_args()
    check = Check(options)
    names = sorted(file[:-len(SUFFIX)] for file in os.listdir(check.trials) if file.endswith(SUFFIX))
    check.equal("trials", len(names), 41)
    for name in names:
        check.trial(name)
    check.equal("number of values", check.values, 1464)  # as many as the recorded answers hold
    print(f"{check.values} values compared, {check.failures} differences")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
