#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""round_trip.py --tools DIR... --trials DIR: reads the output of smd-tensor for recorded trials with NumPy and Python's
parsers, and compares it with the recorded results and with the bytes of -f raw, whose SHA-256 is recorded.

.npy and .npz: dtype, shape and bytes are equal. TSV, CSV, JSON: every number reads back as the same bits. One command
prints all values of a step; a value of each kind is printed alone too."""

import argparse
import csv
import hashlib
import io
import json
import math
import os
import struct
import subprocess
import sys
import urllib.parse

import numpy as np

# These trials have every element type, special values, strings, empty and 0-dimensional tensors.
TRIALS = ["dtypes", "special_floats", "strings", "names_odd", "names_empty", "large_tensors", "xgb_cancer",
          "mw4_complete_ended", "pt_two_workers", "shapes_mixed"]
QUANTISED = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32"}
JSON_SPECIAL = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}


def numpy_dtype(name):
    return np.dtype(QUANTISED.get(name, name))


def stored_bytes(name):
    return 2 if name == "bfloat16" else numpy_dtype(name).itemsize


def by_name(rows):
    """Rows of tensor, index and value as {tensor: [(index, value)]}."""
    found = {}
    for name, *cells in rows:
        found.setdefault(name, []).append(cells)
    return found


def unpack_strings(data):
    texts = []
    while data:
        size = int.from_bytes(data[:4], "little")
        texts.append(data[4:4 + size].decode())
        data = data[4 + size:]
    return texts


def same_bits(left, right):
    """Compares bit by bit; text does not distinguish kinds of NaN."""
    if left.dtype.kind not in "fc":
        return left.tobytes() == right.tobytes()
    left, right = (np.atleast_1d(array).view(np.zeros(0, array.dtype).real.dtype) for array in (left, right))
    return left.tobytes() == np.where(np.isnan(right) & np.isnan(left), left, right).astype(left.dtype).tobytes()


def from_text(text, dtype):
    if dtype.kind == "U":
        return text
    if dtype.kind == "b":
        return {"true": True, "false": False}[text]
    if dtype.kind in "iu":
        return int(text)
    if dtype.kind == "c":
        real, imaginary = split_complex(text)
        return complex_of(np.array([real, imaginary], np.zeros(0, dtype).real.dtype), dtype)
    return dtype.type(text)


def split_complex(text):
    assert text.endswith("j"), text
    for at in range(len(text) - 1, 0, -1):
        if text[at] in "+-" and text[at - 1] not in "eE":
            return text[:at], text[at:-1]
    raise ValueError(text)


def complex_of(parts, dtype):
    return np.ascontiguousarray(parts).view(dtype)[0]


def unescape(text):
    if "\\" not in text:
        return text
    result, at = "", 0
    while at < len(text):
        if text[at] == "\\":
            result += {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}[text[at + 1]]
            at += 1
        else:
            result += text[at]
        at += 1
    return result


def recorded_form(raw, value):
    """The digests of strings are of each after its length; -f raw writes a single one without."""
    single = value["dtype"] == "string" and math.prod(value["shape"]) == 1
    return struct.pack("<I", len(raw)) + raw if single else raw


class Check:
    def __init__(self, options):
        self.environment = {"PATH": os.pathsep.join([*map(os.path.abspath, options.tools), os.environ["PATH"]]),
                            "LC_ALL": "C.UTF-8"}
        self.trials = os.path.abspath(options.trials)
        self.failures = 0
        self.values = 0
        self.dtypes = set()
        self.kinds = set()  # type, number of axes, and whether there are no elements: of those met

    def check(self, what, truth):
        if not truth:
            self.failures += 1
            print(what)

    def run(self, *arguments):
        # An argument cannot contain NUL.
        names = arguments[-1].encode() if "\0" in arguments[-1] else b""
        if names:
            arguments = [*arguments[:-1], "-"]
        done = subprocess.run(["smd-tensor", *arguments], input=names, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env=self.environment)
        if done.returncode != 0:
            self.failures += 1
            print(f"{arguments}: status {done.returncode}\n{done.stderr.decode()}")
        return done.stdout

    def truth(self, value, raw):
        """Returns the saved array, from its recorded type and shape and its raw bytes, whose digest is checked."""
        assert hashlib.sha256(raw).hexdigest() == value["sha256"]
        if value["dtype"] == "string":
            return np.array(unpack_strings(raw), dtype=str).reshape(value["shape"])
        if value["dtype"] == "bfloat16":
            wide = np.frombuffer(raw, "<u2").astype("<u4") << 16
            return wide.view("<f4").reshape(value["shape"])
        return np.frombuffer(raw, numpy_dtype(value["dtype"])).reshape(value["shape"])

    def group(self, trial, step, worker, values):
        """All values of a step and worker, {name: value}, in each format by one command; some by one command each."""
        base = ["-s", str(step), "-w", worker, "--incomplete"]
        select = [*base, "-e", "", "--", trial]
        objects = json.loads(self.run("--json", *select))
        names = [row["tensor"] for row in objects]
        what = f"{os.path.basename(trial)}: step {step} {worker}"
        if sorted(names) != sorted(values):
            self.check(f"{what}: tensors {names!r}, expected {sorted(values)!r}", False)
            return
        raws = self.raws(trial, base, names, values)
        tsv, csv_rows = self.tsv(select), self.csv(select)
        with np.load(io.BytesIO(self.run("-f", "npz", *select)), allow_pickle=False) as npz:
            self.check(f"{what}: npz keys {npz.files!r}", [urllib.parse.unquote(key) for key in npz.files] == names)
            arrays = dict(zip(names, (npz[key] for key in npz.files)))
        for row in objects:
            name, value = row["tensor"], values[row["tensor"]]
            what = f"{os.path.basename(trial)}: {name!r} step {step} {worker}"
            raw = raws[name]
            if hashlib.sha256(raw).hexdigest() != value["sha256"]:
                self.check(f"{what}: raw", False)
                continue
            self.values += 1
            self.dtypes.add(value["dtype"])
            truth = self.truth(value, raw)
            kind = (value["dtype"], len(value["shape"]), math.prod(value["shape"]) == 0)
            if kind not in self.kinds:
                self.kinds.add(kind)
                alone = recorded_form(self.run("-f", "raw", *base, "--", trial, name), value)
                self.check(f"{what}: raw alone", alone == raw)
                npy = np.load(io.BytesIO(self.run("-f", "npy", *base, "--", trial, name)), allow_pickle=False)
                self.same(f"{what}: npy", npy, truth)
            self.same(f"{what}: npz", arrays[name], truth)
            texts = unpack_strings(raw) if value["dtype"] == "string" else None
            self.rows(f"{what}: tsv", tsv.get(name, []), truth, texts)
            self.rows(f"{what}: csv", csv_rows.get(name, []), truth, texts)
            self.json(f"{what}: json", row, value, truth, texts)

    def raws(self, trial, base, names, values):
        """The bytes of each value: strings, and what is hard to name, by one command each, the others one after another."""
        alone = [name for name in names if values[name]["dtype"] == "string"]
        if os.path.basename(trial).startswith("names_"):
            alone = names
        raws = {name: recorded_form(self.run("-f", "raw", *base, "--", trial, name), values[name]) for name in alone}
        others = [name for name in names if name not in raws]
        data = self.run("-f", "raw", *base, *(f"--name={name}" for name in others), "--", trial) if others else b""
        for name in others:
            size = math.prod(values[name]["shape"]) * stored_bytes(values[name]["dtype"])
            raws[name], data = data[:size], data[size:]
        self.check(f"{trial}: {len(data)} bytes of no value", not data)
        return raws

    def same(self, what, actual, expected):
        self.check(f"{what}: {actual.dtype} {actual.shape}, expected {expected.dtype} {expected.shape}",
                   actual.dtype == expected.dtype and actual.shape == expected.shape
                   and actual.tobytes() == expected.tobytes())

    def tsv(self, select):
        lines = self.run("--tsv", "--columns", "tensor,index,value", *select).decode().split("\n")
        self.check("tsv ends in a newline", lines.pop() == "")
        return by_name([unescape(cell) for cell in line.split("\t")] for line in lines[1:])

    def csv(self, select):
        text = self.run("--csv", "--columns", "tensor,index,value", *select).decode()
        return by_name(list(csv.reader(io.StringIO(text, newline="")))[1:])

    def rows(self, what, rows, truth, texts):
        indices = [",".join(map(str, index)) or "NA" for index in np.ndindex(truth.shape)]
        self.check(f"{what}: indices", [row[0] for row in rows] == indices)
        if texts is not None:
            self.check(what, [row[1] for row in rows] == texts)
            return
        numbers = np.array([from_text(row[1], truth.dtype) for row in rows], dtype=truth.dtype)
        self.check(what, same_bits(numbers, truth.reshape(-1)))

    def json(self, what, row, value, truth, texts):
        self.check(f"{what}: {row['dtype']} {row['shape']}",
                   (row["dtype"], row["shape"]) == (value["dtype"], value["shape"]))
        if texts is not None:
            self.check(what, (row["value"] if value["shape"] else [row["value"]]) == texts)
            return
        flat = list(flatten(row["value"]))
        if truth.dtype.kind == "c":
            pairs = np.array([JSON_SPECIAL.get(part, part) for part in flat], np.zeros(0, truth.dtype).real.dtype)
            numbers = pairs.view(truth.dtype)
        elif truth.dtype.kind == "f":
            numbers = np.array([truth.dtype.type(JSON_SPECIAL.get(part, part)) for part in flat], truth.dtype)
        else:
            numbers = np.array(flat, truth.dtype)
        self.check(what, same_bits(numbers, truth.reshape(-1)))
        if truth.dtype.kind != "c":
            self.check(f"{what}: nesting", np.shape(row["value"]) == truth.shape or truth.size == 0)

    def stacked(self):
        """Checks --stack, and npz of several steps and workers."""
        trial = os.path.join(self.trials, "mw4_complete_ended")
        with open(trial + ".expected.json", encoding="utf-8") as file:
            tensors = json.load(file)["tensors"]
        name, records = next((name, tensor["records"]) for name, tensor in tensors.items()
                             if len({record["worker"] for record in tensor["records"]}) == 4
                             and all("sha256" in record["value"] for record in tensor["records"]))
        expected = {}
        for record in records:
            raw = recorded_form(self.run("-f", "raw", "-s", str(record["global_step"]), "-w", record["worker"], trial,
                                         name), record["value"])
            expected[record["global_step"], record["worker"]] = self.truth(record["value"], raw)
        steps = sorted({step for step, _ in expected})
        with np.load(io.BytesIO(self.run("-f", "npz", "-s", ":", "-w", "all", trial, name))) as npz:
            keys = [f"{name}@{step}@{worker}" for step, worker in sorted(expected)]
            self.check(f"npz keys {npz.files}", npz.files == keys)
            for key, place in zip(keys, sorted(expected)):
                self.same(key, npz[key], expected[place])
        with np.load(io.BytesIO(self.run("-f", "npz", "-s", ":", trial, name))) as npz:
            self.check(f"npz keys {npz.files}", npz.files == [f"{name}@{step}" for step in steps])
        joined = np.stack([expected[step, "worker_0"] for step in steps])
        self.same("npy --stack", np.load(io.BytesIO(self.run("-f", "npy", "--stack", "-s", ":", trial, name))), joined)
        with np.load(io.BytesIO(self.run("-f", "npz", "--stack", "-s", ":", trial, name))) as npz:
            self.check(f"npz --stack keys {npz.files}", npz.files == [name, name + "@steps"])
            self.same("npz --stack", npz[name], joined)
            self.same("npz --stack steps", npz[name + "@steps"], np.array(steps, np.int64))


def flatten(value):
    if isinstance(value, list):
        for element in value:
            yield from flatten(element)
    else:
        yield value


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", action="append", default=[], metavar="DIR")
    parser.add_argument("--trials", required=True, metavar="DIR")
    options = parser.parse_args()
    check = Check(options)
    for trial in TRIALS:
        path = os.path.join(check.trials, trial)
        with open(path + ".expected.json", encoding="utf-8") as file:
            answers = json.load(file)
        groups, ends = {}, set()
        for name, tensor in answers["tensors"].items():
            places = []
            for record in tensor["records"]:
                value = record.get("written", record["value"])
                places.append((record["global_step"], record.get("worker_correct", record["worker"])))
                if "sha256" in value:
                    groups.setdefault(places[-1], {})[name] = value
            ends |= {places[0], places[-1]}
        # Of long series only the ends: other tests compare whole ones.
        for place in sorted(ends & set(groups)):
            check.group(path, *place, groups[place])
    missing = {"float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
               "bool", "complex64", "complex128", "string", "qint8", "quint8", "qint16"} - check.dtypes
    check.check(f"types never met: {missing}", not missing)
    check.check(f"{check.values} values are too few", check.values > 500)
    check.stacked()
    print(f"{check.values} values, {check.failures} differences")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
