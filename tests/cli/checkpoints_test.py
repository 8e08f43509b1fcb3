#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""checkpoints_test.py --tools DIR... --checkpoints DIR... [TEST...]: what smd-ls, smd-tensor, smd-reduce and smd-rule print
of recorded checkpoint folders, against the recorded answers, and of some that are made here."""

import argparse
import functools
import hashlib
import io
import json
import math
import os
import pickle
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import urllib.parse
import zipfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from torch_file import (FLOAT32, LAYOUT, REBUILD, REBUILD_SPARSE, REBUILD_TYPE, BytesStorageMetadata, Called,
                        ChunkStorageMetadata, Described, Metadata, MetadataIndex, Pickler, Quantised, Repeated, Storage,
                        StorageInfo, Tensor, TensorStorageMetadata, of_torch, write_pt)
from permissions import bound_by_permissions
from recorded import ENVIRONMENT, SUFFIX, find_tools, number, rows, run

CHECKPOINTS = ""  # of safetensors
FOLDERS = []
HOUR = 3600


def place(*parts):
    return os.path.join(CHECKPOINTS, *parts)


def prepare(folder):
    """Makes what a copy cannot hold, and every file old: one that ends too soon counts as not yet written while young."""
    for name in sorted(os.listdir(folder)):
        if not name.endswith(SUFFIX):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as answers:
            for thing in json.load(answers)["prepare"]:
                path = os.path.join(folder, thing.get("fifo") or thing["link"])
                if "fifo" in thing:
                    os.mkfifo(path)
                    continue
                if os.path.lexists(path):
                    os.remove(path)  # a text that says where the link leads
                os.symlink(thing["to"], path)
    then = time.time() - HOUR
    for root, _, files in os.walk(folder):
        for file in files:
            path = os.path.join(root, file)
            if os.path.isfile(path):
                os.utime(path, (then, then))


@functools.cache
def answers():
    """Of each recorded folder its name, the operand and its answers, in which `status` becomes all that are right."""
    found = []
    for folder in FOLDERS:
        for file in sorted(os.listdir(folder)):
            if not file.endswith(SUFFIX):
                continue
            with open(os.path.join(folder, file), encoding="utf-8") as text:
                right = json.load(text)
            right["check_status"] = right.get("check_status", right["status"])
            right["status"] = (right["status"], *right.get("status_also", ()))
            found.append((file[:-len(SUFFIX)], os.path.join(folder, right["operand"]), right))
    return found


def may_be_listed(name, right):
    """Whether a tensor may be listed of which nothing is to be read."""
    return (any(name == one["name"] for key in ("refused", "either", "no_verify") for one in right.get(key, ())) or
            (right.get("free") and re.search(right["free"], name) is not None))


def is_listed_alone(right):
    """Whether all that is listed is to be read."""
    return not (right.get("free") or any(right.get(key) for key in ("either", "no_verify")) or
                ("globals" in right and right["refused"]))


def one_nan(array):
    """The array with every NaN the quiet positive one, of complex numbers part by part."""
    if array.dtype.kind == "c":
        parts = array.view(array.real.dtype).copy()
        parts[np.isnan(parts)] = np.nan
        return parts
    if array.dtype.kind == "f":
        array = array.copy()
        array[np.isnan(array)] = np.nan
    return array


def half_unit(dtype, number):
    """Half of what the last bit of a number of this type counts for: the fewest digits that tell it apart are as near."""
    bits, least = {"float32": (24, -149), "float16": (11, -24), "bfloat16": (8, -133), "float8_e4m3fn": (4, -9),
                   "float8_e5m2": (3, -16), "float8_e8m0fnu": (1, -127)}.get(dtype, (None, None))
    return 0 if bits is None else max(2.0 ** (math.frexp(number)[1] - bits), 2.0 ** least) / 2


def rows_of(*command, wanted=lambda right: True):
    """By operand, the rows of a command: of all recorded folders that have no fault at once, of the others one by one."""
    chosen = [(operand, right["status"]) for _, operand, right in answers() if wanted(right)]
    sound = [operand for operand, status in chosen if status == (0,)]
    given = {operand: rows(*command, operand, status=status) for operand, status in chosen if status != (0,)}
    given |= {operand: [] for operand in sound}
    for row in rows(*command, *sound):
        given[row["trial"]].append(row)
    return given


def values_of(right):
    for name, tensor in right["tensors"].items():
        for value in tensor["values"]:
            yield name, tensor, value


class Recorded(unittest.TestCase):
    maxDiff = 2000

    def each(self, check):
        seen = 0
        for name, operand, right in answers():
            with self.subTest(name):
                seen += 1
                check(operand, right)
        self.assertGreater(seen, 30)

    def test_summary_and_steps(self):
        summary, all_steps, all_workers = (rows_of("smd-ls", view) for view in ("--summary", "--steps", "--workers"))

        def check(operand, right):
            row, = summary[operand]
            self.assertEqual((row["layout"], row["status"]), ("checkpoints", "unknown"))
            if is_listed_alone(right):
                self.assertEqual(row["tensors"], len(right["tensors"]))
            steps = [row["step"] for row in all_steps[operand]]
            self.assertEqual([step for step in steps if step not in right["steps_maybe"]], right["steps"])
            self.assertEqual([row["worker"] for row in all_workers[operand]], ["worker_0"])

        self.each(check)

    def test_tensors(self):
        all_tensors, all_collections = rows_of("smd-ls", "-l"), rows_of("smd-ls", "--collections")

        def check(operand, right):
            listed = {row["tensor"]: row for row in all_tensors[operand]}
            self.assertEqual({name for name in listed if not may_be_listed(name, right)},
                             {name for name in right["tensors"] if not may_be_listed(name, right)})
            for name, tensor in right["tensors"].items():
                row = listed[name]
                if may_be_listed(name, right):
                    continue
                self.assertEqual((row["steps"], row["first_step"], row["last_step"]),
                                 (len(tensor["steps"]), tensor["steps"][0], tensor["steps"][-1]), name)
                for key in ("dtype", "shape"):
                    kinds = {json.dumps(value[key]) for value in tensor["values"]}
                    last = tensor["values"][-1][key]
                    self.assertEqual(row[key], last if len(kinds) == 1 else "varies", name)
                if "globals" not in right:  # strides may leave elements out, or repeat them
                    self.assertEqual(row["bytes"], sum(value["bytes"] for value in tensor["values"]), name)
                self.assertEqual(set(row["collections"]),
                                 {one for one, names in right["collections"].items() if name in names}, name)
            if is_listed_alone(right):
                self.assertEqual({row["collection"] for row in all_collections[operand]}, set(right["collections"]))

        self.each(check)

    def test_tree(self):
        """What each level holds is the sum over the names that begin with it."""
        def held(tensors):
            weights = [tensor for tensor in tensors if not tensor["scalar"]]
            return {"tensors": len(tensors),
                    "parameters": sum(math.prod(one["values"][-1]["shape"]) for one in weights) if weights else None,
                    "bytes": sum(value["bytes"] for one in tensors for value in one["values"])}

        trees = {options: rows_of("smd-ls", "--tree", *options, wanted=lambda right: "globals" not in right)
                 for options in ((), ("--depth", "1"), ("--depth", "2"), ("--by", "dtype"))}

        def check(operand, right):
            tensors = right["tensors"]
            if "globals" in right:
                return  # as above
            for depth in (None, 1, 2):
                listed = trees[() if depth is None else ("--depth", str(depth))][operand]
                for row in listed:
                    path = row["path"]
                    names = [name for name in tensors if name == path or (path[-1:] in "./" and name.startswith(path))]
                    self.assertEqual({key: row[key] for key in ("tensors", "parameters", "bytes")},
                                     held([tensors[name] for name in names]), path)
                    self.assertTrue(depth is None or len(re.findall("[^./]*[./]|[^./]+$", path)) <= depth, path)
                if depth is None:
                    self.assertLessEqual(set(tensors), {row["path"] for row in listed})
                else:  # each name is below one of the deepest levels
                    paths = {row["path"] for row in listed}
                    deepest = [row for row in listed if not any(path != row["path"] and path.startswith(row["path"])
                                                                and row["path"][-1:] in "./" for path in paths)]
                    self.assertEqual(sum(row["tensors"] for row in deepest), len(tensors))
            types = {}
            for tensor in tensors.values():
                kinds = {value["dtype"] for value in tensor["values"]}
                types.setdefault(kinds.pop() if len(kinds) == 1 else "varies", []).append(tensor)
            grouped = trees["--by", "dtype"][operand]
            self.assertEqual({row["dtype"]: {key: row[key] for key in ("tensors", "parameters", "bytes")} for row in grouped},
                             {dtype: held(of) for dtype, of in types.items()})

        self.each(check)

    def test_elements(self):
        """All values of a folder as arrays of NumPy, by one process; of each type one alone as bytes, and one as an array."""
        def same_array(array, value, name):
            self.assertEqual(list(array.shape), value["shape"], name)
            self.assertEqual(hashlib.sha256(one_nan(array.reshape(-1)).tobytes()).hexdigest(), value["sha256"], name)

        def check(operand, right):
            together = run("smd-tensor", operand, "-e", "", "-s", ":", "-f", "npz", status=(0, 1, *right["status"]))[0]
            arrays = np.load(io.BytesIO(together)) if together else {}
            by_key = {urllib.parse.unquote(key): key for key in arrays}
            met = 0
            by_type = {}

            def alone(name, value, form, status):
                return run("smd-tensor", operand, f"--name={name}", "-s", str(value["step"]), "-f", form, status=status)

            for name, _, value in values_of(right):
                if value.get("listed_only"):
                    out, errors = alone(name, value, "raw", (1, *right["status"]))
                    self.assertEqual(out, b"")
                    self.assertIn(value["dtype"], "".join(errors))
                    continue
                key = f"{name}@{value['step']}"  # where there are several steps
                array = arrays[by_key[key if key in by_key else name]]
                same_array(array, value, name)
                if value["dtype"] == array.dtype.name:
                    self.assertEqual(hashlib.sha256(array.tobytes()).hexdigest(), value["raw_sha256"], name)
                met += 1
                by_type.setdefault(value["dtype"], []).append((name, value))
            for values in by_type.values():
                name, value = values[0]
                raw, _ = alone(name, value, "raw", right["status"])
                self.assertEqual(hashlib.sha256(raw).hexdigest(), value["raw_sha256"], name)
                name, value = values[:2][-1]
                same_array(np.load(io.BytesIO(alone(name, value, "npy", right["status"])[0])), value, name)
            if is_listed_alone(right):
                self.assertEqual(met, len(by_key))

        self.each(check)

    def test_elements_as_text(self):
        def check(operand, right):
            if len(right["tensors"]) > 20:
                return
            short = {name: tensor for name, tensor in right["tensors"].items()
                     if not any(value.get("listed_only") or value["bytes"] > 10000 for value in tensor["values"])}
            given = rows("smd-tensor", operand, "-s", ":", *(f"--name={name}" for name in short),
                         status=right["status"]) if short else []
            by_key = {(row["tensor"], row["step"]): row for row in given}
            self.assertEqual(len(by_key), len(given))
            for name, _, value in values_of(right | {"tensors": short}):
                row = by_key[name, value["step"]]
                if value["dtype"].startswith("complex"):
                    continue
                self.assertEqual((row["dtype"], row["shape"]), (value["dtype"], value["shape"]), name)
                flat = [number(one) for one in np.array(row["value"], dtype=object).reshape(-1)]
                floats = value["dtype"].startswith(("float", "bfloat"))
                finite = [one for one in flat if not floats or math.isfinite(one)]
                self.assertEqual(len(flat) - len(finite), value["nan"] + value["inf"] if floats else 0, name)
                self.assertEqual(sum(one == 0 for one in flat), value["zero"], name)
                if finite and not value["nan"]:
                    # bfloat16 is written with the digits that tell it apart
                    self.assertAlmostEqual(max(flat), number(value["max"]), delta=abs(number(value["max"])) * 2 ** -8)

        self.each(check)

    def test_statistics(self):
        exact = ("min", "max", "nan", "inf", "zero")
        close = ("mean", "std", "l2", "abs_mean")
        seen = []
        reduced = rows_of("smd-reduce", "-e", "", "-s", ":", "-r", ",".join(exact + close))

        def check(operand, right):
            got = {(row["tensor"], row["step"]): row for row in reduced[operand]}
            read = [(name, value) for name, _, value in values_of(right) if not value.get("listed_only")]
            self.assertEqual({key for key in got if not may_be_listed(key[0], right)},
                             {(name, value["step"]) for name, value in read if not may_be_listed(name, right)})
            for name, value in read:
                row = got[name, value["step"]]
                for kind in exact + close:
                    if value[kind] is None or value["dtype"].startswith("complex"):
                        continue  # of no elements; in the answers each part of a complex number counts
                    result, right_one = number(row[kind]), number(value[kind])
                    if math.isnan(right_one) or math.isinf(right_one):
                        self.assertTrue(result == right_one or (math.isnan(result) and math.isnan(right_one)),
                                        (name, kind, result, right_one))
                    elif kind in exact or math.prod(value["shape"]) == 1:
                        # With the digits that tell the number apart in the type of the elements.
                        self.assertLessEqual(abs(result - right_one), half_unit(value["dtype"], right_one),
                                             (name, kind, result, right_one))
                    else:
                        scale = max(abs(right_one), abs(number(value["abs_mean"])) if kind == "mean" else 0)
                        self.assertLessEqual(abs(result - right_one), 1e-13 * scale, (name, kind, result, right_one))
                    seen.append(name)

        self.each(check)
        self.assertGreater(len(seen), 1000)

    def test_problems(self):
        def check(operand, right):
            out, errors = run("smd-ls", "--check", "--jsonl", operand,
                              status=(right["check_status"], *(right["status"] if len(right["status"]) > 1 else ())))
            told = [(row["file"], row["offset"], row["problem"]) for row in map(json.loads, out.splitlines())]
            if "globals" in right:
                self.check_torch(told, errors, right)
                return
            for problem in right["problems"]:
                def fits(row, problem=problem):
                    file, offset, _ = row
                    low, high = problem.get("header", (1, 0))
                    return file == problem["file"] and (problem["offset"] is None or offset in problem["offsets"] or
                                                        offset == problem["offset"] or low <= (offset or 0) <= high)
                found = next((row for row in told if fits(row)), None)
                self.assertIsNotNone(found, (problem, told))
                told.remove(found)
            self.assertEqual(told, [])

        self.each(check)

    def check_torch(self, told, errors, right):
        """Several rows of a file may be told as one, and one fault by several rows."""
        named = {one["name"]: one for one in right["globals"]}
        calls = [row for row in told if "would be called by an unsafe load" in row[2]]
        self.assertEqual({(row[0], row[2].split(": ")[-1]) for row in calls},
                         {(one["file"], one["name"]) for one in right["globals"] if one["severity"] == "danger"})
        for file, offset, text in calls:
            one, = (one for one in right["globals"] if (one["file"], one["name"]) == (file, text.split(": ")[-1]))
            low, high = one["at"]
            self.assertTrue(low <= offset <= high or low <= offset - one["pickle"] <= high, (offset, one))
        for name, one in named.items():
            if one["severity"] == "note":
                self.assertTrue(any(line.endswith(": " + name) and one["file"] in line for line in errors), (name, errors))
        for part in right["parts"]:
            self.assertTrue(any(part["name"] in line and "part of a larger" in line for line in errors), errors)
        faults = [row for row in told if row not in calls]
        if len(right["status"]) == 1:
            self.assertEqual({row[0] for row in faults}, {problem["file"] for problem in right["problems"]})
        for problem in right["problems"]:
            low, high = problem.get("header", (1, 0))
            of_file = [row for row in faults if row[0] == problem["file"]]
            self.assertTrue(problem["offset"] is None or any(
                at in (problem["offset"], *problem["offsets"]) or low <= (at or 0) <= high or
                low <= (at or 0) - 64 <= high for _, at, _ in of_file), (problem, of_file))
            for name in problem.get("tensors", ()):
                self.assertTrue(any(name in text for _, _, text in of_file), (name, of_file))

    def test_a_wrong_checksum_is_passed_over_on_request(self):
        seen = []

        def check(operand, right):
            for value in right.get("no_verify", ()):
                command = ("smd-tensor", operand, f"--name={value['name']}", "-s", str(value["step"]), "-f", "raw")
                out, errors = run(*command, status=4)
                self.assertEqual(out, b"")
                self.assertIn(value["name"], "".join(errors))
                raw, _ = run(*command, "--no-verify", status=right["status"])
                self.assertEqual(hashlib.sha256(raw).hexdigest(), value["raw_sha256"])
                seen.append(value)

        self.each(check)
        self.assertEqual(len(seen), 1)

    def test_what_may_be_given_out_is_right(self):
        def check(operand, right):
            for value in right.get("either", ()):
                out, errors = run("smd-tensor", operand, f"--name={value['name']}", "-s", str(value["step"]), "-f", "raw",
                                  status=(1, 4))
                self.assertTrue(hashlib.sha256(out).hexdigest() == value["raw_sha256"] or not out, errors)

        self.each(check)

    def test_nothing_runs(self):
        """The recorded files would make a file RAN… in the current folder."""
        for folder in FOLDERS:
            for root, _, files in os.walk(folder):
                self.assertEqual([file for file in files if file.startswith("RAN")], [], root)
        self.assertEqual([file for file in os.listdir(".") if file.startswith("RAN")], [])

    def test_no_system_call_does_harm(self):
        """No file that would run programs makes a command start one, make a socket, or touch any file but to read it."""
        harmless = {"access", "faccessat", "faccessat2", "stat", "lstat", "newfstatat", "statx", "statfs", "readlink",
                    "readlinkat", "getcwd", "clone", "clone3", "exit", "exit_group", "wait4", "arch_prctl"}
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            if shutil.which("strace") is None or subprocess.run(("strace", "-o", log, "true"), check=False,
                                                                stderr=subprocess.DEVNULL).returncode != 0:
                self.skipTest("strace cannot trace here")
            seen = 0
            for recorded in FOLDERS[1:]:
                for name in ("malicious", "malicious_alone"):
                    for file in sorted(os.listdir(os.path.join(recorded, name))):
                        for command in (("smd-ls", "--check"), ("smd-ls", "-l"), ("smd-reduce", "-e", ""), ("smd-tensor",)):
                            subprocess.run(("strace", "-f", "--seccomp-bpf", "-qq", "-o", log, "-e",
                                            "trace=%process,%network,%file", *command, os.path.join(recorded, name, file)),
                                           check=False, cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                            with open(log, encoding="utf-8", errors="replace") as lines:
                                calls = [match for match in (re.match(r"\d+ +(\w+)\((.*)", line) for line in lines) if match]
                            self.assertEqual(calls[0][1], "execve")
                            for call in calls[1:]:
                                reads = call[1] in ("open", "openat", "openat2") and "O_RDONLY" in call[2]
                                self.assertTrue(reads or call[1] in harmless, (file, command, call[0]))
                                self.assertNotRegex(call[2], "O_WRONLY|O_RDWR|O_CREAT")
                            seen += len(calls)
            self.assertEqual(os.listdir(folder), ["log"])
            self.assertGreater(seen, 100 if FOLDERS[1:] else -1)

    def test_what_is_left_out_is_told(self):
        def check(operand, right):
            _, errors = run("smd-ls", operand, status=right["status"])
            notes = [line for line in errors if " is left out: " in line]
            self.assertEqual(len(notes), len(right["notes"]), notes)
            for note in right["notes"]:
                self.assertTrue(any(f"'{note['name']}' is left out" in line for line in notes), (note, notes))

        self.each(check)

    def test_what_is_damaged_is_refused(self):
        seen = []

        def check(operand, right):
            for one in right["refused"]:
                out, errors = run("smd-tensor", operand, f"--name={one['name']}", "-s", str(one["step"]), "-f", "raw",
                                  status=(1, 4))
                self.assertEqual(out, b"", errors)
                self.assertNotEqual(errors, [])
                seen.append(one)

        self.each(check)
        self.assertGreater(len(seen), 10)

    def test_rules(self):
        cases = []
        for folder in FOLDERS:
            with open(os.path.join(folder, "rules.json"), encoding="utf-8") as text:
                cases += [(folder, case) for case in json.load(text)["cases"]]
        for folder, case in cases:
            with self.subTest(case["id"]):
                command = ["smd-rule", os.path.join(folder, case["trial"]), "-r", case["rule"], "-k"]
                command += [f"-p{name}={text}" for name, text in case["params"].items()]
                command += ["--other", os.path.join(folder, case["other_trial"])] if "other_trial" in case else []
                right = case["expected"]
                status = 2 if "error" in right else 1 if right["fired"] else 0 if right["evaluated_steps"] else 5
                *findings, result = rows(*command, status=status)
                self.assertEqual(result["record"], "result")
                if "error" in right:
                    self.assertEqual((result["kind"], result["parameter"]),
                                     (right["error"]["kind"], right["error"]["parameter"]))
                    continue
                self.assertEqual(len(findings), len(right["fired"]))
                for row, expected in zip(findings, right["fired"]):
                    for key in ("step", "mode", "tensor", "worker", "check"):
                        self.assertEqual(row[key], expected[key], (row, expected))
                    for key in ("value", "threshold"):
                        self.assertTrue(math.isclose(number(row[key]), number(expected[key]), rel_tol=1e-6),
                                        (row, expected))
                self.assertEqual((result["step"], result["steps_evaluated"]), (right["first"], right["evaluated_steps"]))


def safetensors(tensors, size=None):
    """The bytes of a file with float32 tensors: {name: values}."""
    header, data = {}, b""
    for name, values in tensors.items():
        part = np.asarray(values, "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": [len(values)], "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    return (struct.pack("<Q", len(text)) + text + data)[:size]


def pickled(value, kind=Pickler):
    out = io.BytesIO()
    kind(out, protocol=2).dump(value)
    return out.getvalue()


def zipped(data, *storages):
    """What torch.save writes of this pickle and the bytes of storages 0, 1, …"""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("archive/data.pkl", data)
        for key, storage in enumerate(storages):
            archive.writestr(f"archive/data/{key}", storage)
    return out.getvalue()


def float_tensor(key, count):
    return Tensor(Storage("float32", str(key), 4 * count), (count,), (1,))


class StreamPickler(Pickler):
    def persistent_id(self, obj):
        names = super().persistent_id(obj)
        return names and (*names, None)


def stream(tensors, storages):
    """What torch.save writes with _use_new_zipfile_serialization=False."""
    facts = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    keys = [str(key) for key in range(len(storages))]
    return b"".join([*map(pickled, (0x1950a86a20f9469cfc6c, 1001, facts)), pickled(tensors, StreamPickler), pickled(keys),
                     *(struct.pack("<q", len(of) // 4) + of for of in storages)])


REBUILD_META = of_torch("torch._utils", "_rebuild_meta_tensor_no_storage", False)
REBUILD_PARAMETER = of_torch("torch._utils", "_rebuild_parameter", False)
MODULE = of_torch("torch.nn.modules.container", "Sequential", True, Described)
PACKED = of_torch("torch", "ScriptObject", True, Described)
PACKED.__getstate__ = lambda self: (self.parts, "__torch__.torch.classes.quantized.LinearPackedParamsBase")
CONVOLUTION = of_torch("torch.ao.nn.quantized.modules.conv", "Conv2d", True, Described)
CONVOLUTION.__getstate__ = lambda self: self.parts


def module(**attributes):
    return MODULE(**{"_parameters": {}, "_buffers": {}, "_modules": {}, **attributes})


CALLS = b"cposix\nsystem\n(Vtouch RAN\ntR."


class Made(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, path, content, age=HOUR):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(content)
        os.utime(path, (time.time() - age,) * 2)
        return path

    def test_a_young_short_file_is_not_yet_there(self):
        content = safetensors({"a": [1, 2], "b": [3]})
        path = self.write("run/step_3/model.safetensors", content[:-1], age=5)
        self.write("run/step_2/model.safetensors", content)
        run_folder = os.path.join(self.folder, "run")
        header = self.write("header/model.safetensors", content[:20], age=5)
        _, errors = run("smd-ls", os.path.dirname(header), status=1)
        self.assertTrue("StepNotYetAvailable" in errors[0] and "model.safetensors: byte" in errors[0], errors)
        _, errors = run("smd-ls", "-v", run_folder)
        self.assertTrue(any("step_3/model.safetensors" in line for line in errors), errors)
        _, errors = run("smd-ls", run_folder)
        self.assertEqual(len([line for line in errors if "'step_3' is not complete yet" in line]), 1, errors)
        os.utime(path, (time.time() - 120,) * 2)
        _, errors = run("smd-ls", run_folder, status=4)
        self.assertTrue(any("Damaged" in line and "step_3/model.safetensors" in line for line in errors), errors)
        os.utime(path)
        self.write("run/step_4/model.safetensors", content)  # so nobody writes to the one before any more
        _, errors = run("smd-ls", run_folder, status=4)
        self.assertTrue(any("Damaged" in line and "step_3/model.safetensors" in line for line in errors), errors)
        row, = rows("smd-ls", "--check", run_folder, status=4)
        self.assertIn("not copied, to its end", row["problem"])

    def test_sets_beside_their_own_shards(self):
        self.write("run/model.safetensors", safetensors({"a": [1]}))
        self.write("run/model-00001-of-00001.safetensors", safetensors({"a": [2]}))
        names = [row["tensor"] for row in rows("smd-ls", os.path.join(self.folder, "run"))]
        self.assertEqual(names, ["a", "model/a"])

    def test_an_index_belongs_to_the_shards_that_it_names(self):
        """Whichever set has more of them, also where the sets are checkpoints by their own names."""
        def archive(tensors):
            return zipped(pickled({name: float_tensor(key, 1) for key, name in enumerate(tensors)}),
                          *(np.float32(values).tobytes() for values in tensors.values()))

        for stem, ending, content in (("model", "safetensors", safetensors), ("pytorch_model", "bin", archive),
                                      ("model_5", "safetensors", safetensors), ("model-best", "safetensors", safetensors)):
            for right, old in ((2, 3), (3, 2)):
                folder = os.path.join(self.folder, f"{stem}{right}")
                for shards, value in ((right, 1), (old, 2)):
                    for shard in range(1, shards + 1):
                        self.write(f"{folder}/{stem}-{shard:05}-of-{shards:05}.{ending}", content({f"w{shard}": [value]}))
                named = {f"w{shard}": f"{stem}-{shard:05}-of-{right:05}.{ending}" for shard in range(1, right + 1)}
                self.write(f"{folder}/{stem}.{ending}.index.json", json.dumps({"weight_map": named}).encode())
                expected = {name: [1] for name in named}
                if stem in ("model", "pytorch_model"):
                    expected |= {f"{stem}/w{shard}": [2] for shard in range(1, old + 1)}
                given = {row["tensor"]: row["value"] for row in rows("smd-tensor", folder)}
                self.assertEqual(given, expected, folder)
        os.remove(os.path.join(self.folder, "model2/model-00001-of-00003.safetensors"))
        _, errors = run("smd-ls", os.path.join(self.folder, "model2"), status=4)
        self.assertEqual(len(errors), 1, errors)
        self.assertIn("model-00001-of-00003.safetensors: is not there: the checkpoint is partial", errors[0])

    def test_two_checkpoints_of_one_step(self):
        for name, value in (("epoch=1-step=10", 1), ("epoch=1-step=10-v1", 2), ("epoch=1-step=10-v2", 3)):
            self.write(f"run/{name}/model.safetensors", safetensors({"a": [value]}))
        row, = rows("smd-tensor", os.path.join(self.folder, "run"), "a", "-s", "10")
        self.assertEqual(row["value"], [3])
        _, errors = run("smd-ls", os.path.join(self.folder, "run"))
        self.assertEqual(len([line for line in errors if "is left out" in line]), 2)

    def test_components_of_a_step(self):
        self.write("run/checkpoint-5/unet/diffusion_pytorch_model.safetensors", safetensors({"a": [1]}))
        self.write("run/checkpoint-5/optimizer.safetensors", safetensors({"a": [2]}))
        names = [row["tensor"] for row in rows("smd-ls", os.path.join(self.folder, "run"))]
        self.assertEqual(names, ["a", "unet/a"])

    def test_components_that_have_the_step_in_their_names(self):
        """As DeepSpeed's in a Trainer's checkpoints: a series needs one name at all steps."""
        for step in (500, 1000, 1500):
            self.write(f"run/checkpoint-{step}/model.safetensors", safetensors({"a": [step]}))
            for name in ("mp_rank_00_model_states", "zero_optim_states"):
                self.write(f"run/checkpoint-{step}/global_step{step}/{name}.pt",
                           zipped(pickled({"weight": float_tensor(0, 1)}), bytes(4)))
        folder = os.path.join(self.folder, "run")
        names = ["a", "global_step/mp_rank_00_model_states/weight", "global_step/zero_optim_states/weight"]
        self.assertEqual([row["tensor"] for row in rows("smd-ls", folder)], names)
        self.assertEqual(run("smd-ls", folder)[1], [])
        result = rows("smd-rule", folder, "-r", "UnchangedTensor", "-p", "tensor_regex=mp_rank", status=1)[-1]
        self.assertEqual(result["tensor"], names[1])
        # What is of another step is not mixed with it, and numbers of models tell them apart.
        for path in ("checkpoint-1500/global_step1000", "checkpoint-1500/model_1500", "checkpoint-1500/1500"):
            self.write(f"run/{path}/model.safetensors", safetensors({"b": [1]}))
        self.assertEqual([row["tensor"] for row in rows("smd-ls", folder)],
                         ["1500/b", "a", *names[1:], "global_step1000/b", "model_1500/b"])
        _, errors = run("smd-ls", folder)
        self.assertEqual([line.rpartition(": ")[2] for line in errors], ["checkpoint-1500/global_step1000"])

    def test_folders_in_checkpoints_that_are_not_read(self):
        """They lie too deep, or may be runs of their own: a note names them."""
        for path in ("deep/checkpoint-1", "deep/checkpoint-1/unet/lora", "digits/1000", "digits/1000/unet", "label/best",
                     "label/best/unet", "pipe/unet", "pipe/unet/lora", "whole/checkpoint-5", "whole/checkpoint-5/unet",
                     "whole/2024/run"):
            self.write(f"{path}/model.safetensors", safetensors({"a": [1]}))
        self.write("pipe/model_index.json", b"{}")
        for name, left in (("deep", "checkpoint-1/unet/lora"), ("deep/checkpoint-1", "unet/lora"), ("digits", "1000/unet"),
                           ("label", "best/unet"), ("pipe", "unet/lora"), ("whole", None)):
            _, errors = run("smd-ls", os.path.join(self.folder, name))
            notes = [line.rpartition(": ")[2] for line in errors if "folders in checkpoints are not read" in line]
            self.assertEqual(notes, [f"{left}; name one to read it"] if left else [], errors)

    def test_what_lies_in_folders_that_are_not_read(self):
        """Their files are not opened, and who may not list them misses nothing."""
        self.write("run/best/model.safetensors", safetensors({"a": [1]}))
        for name in ("pytorch_model.bin", "model.safetensors", "optimizer.pt"):
            self.write(f"run/best/unet/{name}", b"no tensors")
        self.write("run/best/data/values.bin", b"no tensors")
        closed = os.path.dirname(self.write("run/best/closed/model.safetensors", b""))
        os.chmod(closed, 0)
        self.addCleanup(os.chmod, closed, 0o755)
        for options in ((), ("--check",)):
            _, errors = run(*(bound_by_permissions() or ()), "smd-ls", *options, os.path.join(self.folder, "run"))
            told = [line for line in errors if "no checksum" not in line]
            self.assertEqual(len(told), 1, errors)
            self.assertIn("best/unet", told[0])
        for number in range(17):
            self.write(f"run/best/more{number}/model.safetensors", safetensors({"a": [1]}))
        _, errors = run("smd-ls", os.path.join(self.folder, "run"))
        self.assertEqual(errors, [])

    def test_what_macos_keeps_beside_a_file(self):
        beside = b"\0\5\26\7\0\2\0\0Mac OS X        " + bytes(4000)
        for name, content in (("step_1.safetensors", safetensors({"a": [1]})),
                              ("step_1.pt", zipped(pickled({"a": float_tensor(0, 1)}), bytes(4)))):
            folder = os.path.dirname(self.write(f"{name}/run/{name}", content))
            self.write(f"{name}/run/._{name}", beside)
            self.write(f"{name}/run/._step_1.distcp", beside)
            for options in ((), ("--check",)):
                out, errors = run("smd-ls", *options, folder)
                self.assertEqual([line for line in errors if "no checksum" not in line], [])
            self.assertEqual([row["tensor"] for row in rows("smd-ls", folder)], ["a"])

    def test_files_that_end_in_tar(self):
        """That is only their name; an archive of tar is told, and is not read."""
        self.write("run/checkpoint-1/model.pth.tar", zipped(pickled({"w": float_tensor(0, 1)}), np.float32(np.nan).tobytes()))
        self.write("run/checkpoint-2/model.safetensors", safetensors({"w": [1]}))
        result, = rows("smd-rule", os.path.join(self.folder, "run"), "-r", "ExplodingTensor", status=1)
        self.assertEqual((result["step"], result["tensor"]), (1, "w"))
        content = io.BytesIO()
        tarfile.open(fileobj=content, mode="w").close()
        header = tarfile.TarInfo("model/w").tobuf()
        for name in ("model.pt.tar", "model.pth.tar", "model.pt"):
            path = self.write(f"archives/{name}", header + content.getvalue())
            for operand, status in ((path, 3), (os.path.dirname(path), 4)):
                _, errors = run("smd-ls", operand, status=status)
                self.assertTrue(any(f"{name}:" in line and "is a tar archive: unpack it" in line for line in errors), errors)
            os.remove(path)

    def test_one_tensor_in_two_shards(self):
        for shard in (1, 2):
            self.write(f"run/model-0000{shard}-of-00002.safetensors", safetensors({"a": [shard]}))
        told, = rows("smd-ls", "--check", os.path.join(self.folder, "run"), status=4)
        self.assertEqual(told["file"], "model-00002-of-00002.safetensors")

    def test_a_tensor_behind_three_gigabytes(self):
        sizes = {"large": 3 << 30, "small": 8}
        offsets = {"large": [0, sizes["large"]], "small": [sizes["large"], sum(sizes.values())]}
        header = json.dumps({"large": {"dtype": "U8", "shape": [sizes["large"]], "data_offsets": offsets["large"]},
                             "small": {"dtype": "F32", "shape": [2], "data_offsets": offsets["small"]}}).encode()
        path = self.write("run/model.safetensors", struct.pack("<Q", len(header)) + header)
        with open(path, "r+b") as file:  # a hole: takes no room on the disk
            file.truncate(8 + len(header) + sum(sizes.values()))
            file.seek(8 + len(header) + sizes["large"])
            file.write(np.array([1.5, -2], "<f4").tobytes())
        folder = os.path.dirname(path)
        self.assertEqual([row["bytes"] for row in rows("smd-ls", "-l", folder)], [3 << 30, 8])
        row, = rows("smd-tensor", folder, "small")
        self.assertEqual(row["value"], [1.5, -2])
        row, = rows("smd-tensor", folder, "large", "--slice", str((3 << 30) - 1))
        self.assertEqual(row["value"], 0)

    def test_checkpoints_come_while_they_are_followed(self):
        content = safetensors({"a": [1]})
        self.write("run/checkpoint-5/model.safetensors", content)
        folder = os.path.join(self.folder, "run")
        with subprocess.Popen(("smd-ls", "--steps", "-F", "--idle", "60", "--columns", "step", folder), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as follower:
            self.assertEqual(follower.stdout.readline(), "5\n")
            half = self.write("run/checkpoint-10/model.safetensors", content[:-1], age=0)
            self.write("new/model.safetensors", content)
            os.rename(os.path.join(self.folder, "new"), os.path.join(folder, "checkpoint-15"))
            self.assertEqual(follower.stdout.readline(), "15\n")
            with open(half, "ab") as file:
                file.write(content[-1:])
            self.assertEqual(follower.stdout.readline(), "10\n")
            shutil.rmtree(os.path.join(folder, "checkpoint-5"))  # rotated away
            self.write("run/checkpoint-20/model.safetensors", content)
            self.assertEqual(follower.stdout.readline(), "20\n")
            follower.terminate()
            self.assertNotIn("Damaged", follower.stderr.read())

    def test_a_checkpoint_of_torch_distributed_is_removed_while_it_is_followed(self):
        """Its .metadata goes first: then it is not one that was never written to its end."""
        part = zipped(pickled(float_tensor(0, 2)), bytes(8))
        place_of = StorageInfo(relative_path="__0_0.distcp", offset=0, length=len(part))
        chunk = ChunkStorageMetadata(offsets=(0,), sizes=(2,))
        tensor = TensorStorageMetadata(properties={"dtype": FLOAT32}, size=(2,), chunks=[chunk])
        metadata = self.write("run/step_10/.metadata", pickled(Metadata(
            state_dict_metadata={"w": tensor}, storage_data={MetadataIndex(fqn="w", offset=(0,)): place_of})))
        self.write("run/step_10/__0_0.distcp", part)
        with subprocess.Popen(("smd-ls", "--steps", "-F", "--idle", "60", "--columns", "step", os.path.join(self.folder, "run")),
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as follower:
            self.assertEqual(follower.stdout.readline(), "10\n")
            os.remove(metadata)
            for step in (20, 30):
                self.write("new/model.safetensors", safetensors({"w": [1]}))
                os.rename(os.path.join(self.folder, "new"), os.path.join(self.folder, f"run/step_{step}"))
                self.assertEqual(follower.stdout.readline(), f"{step}\n")
            follower.terminate()
            self.assertNotIn("Damaged", follower.stderr.read())

    def test_a_trainer_state_that_cannot_be_used_is_reported(self):
        self.write("run/checkpoint-5/model.safetensors", safetensors({"a": [1]}))
        folder = os.path.join(self.folder, "run")
        state = os.path.join(folder, "checkpoint-5/trainer_state.json")
        whole = b'{"global_step":5,"log_history":[{"loss":1,"step":5}]}'
        for content in (b"", b"\xef\xbb\xbf" + whole, whole[:-1].replace(b'"global_step":5,', b""), b"[1]", b"\0" * 40):
            self.write("run/checkpoint-5/trainer_state.json", content)
            told, = rows("smd-ls", "--check", folder, status=4)
            self.assertEqual(told["file"], "checkpoint-5/trainer_state.json", content)
            run("smd-tensor", folder, "a", status=4)
        for make in (lambda: os.mkfifo(state), lambda: os.symlink("nowhere", state)):
            os.remove(state)
            make()
            told, = rows("smd-ls", "--check", folder, status=4)
            self.assertEqual(told["file"], "checkpoint-5/trainer_state.json")
        os.remove(state)
        self.write("run/checkpoint-5/trainer_state.json", whole.replace(b'"global_step":5,', b""))
        _, errors = run("smd-ls", folder)
        self.assertTrue(any("global_step" in line for line in errors), errors)
        self.write("run/checkpoint-5/trainer_state.json", whole[:-1], age=5)  # it may still be written
        for later in (False, True):
            if later:  # a step after it is complete: nobody writes to it any more
                self.write("run/checkpoint-6/model.safetensors", safetensors({"a": [1]}))
                self.write("run/checkpoint-6/trainer_state.json", whole.replace(b"5", b"6"))
            out, errors = run("smd-ls", "-n", "a", folder, status=4 if later else 0)
            self.assertEqual((out, len(errors)), (b"a\n", 1))
            self.assertIn("Damaged" if later else "trainer_state.json' is not complete yet: its log is left out", errors[0])

    def test_entries_of_a_log_without_a_whole_step_are_said(self):
        entries = [{"loss": 2, "step": 10}, {"loss": 3}, {"loss": 4, "step": 15.5}, {"loss": 1, "step": 20}]
        self.write("run/trainer_state.json", json.dumps({"global_step": 20, "log_history": entries}).encode())
        _, errors = run("smd-ls", os.path.join(self.folder, "run"))
        self.assertEqual([line for line in errors if "which are left out: 2" in line], errors)
        self.assertEqual(len(errors), 1)

    def test_values_of_a_log_that_are_no_number_are_said(self):
        for name, values, count in (("texts", ["none"] * 3, 3), ("nulls", [2, None, None], 2)):
            entries = [{"loss": value, "learning_rate": 1, "step": step} for step, value in enumerate(values)]
            self.write(f"{name}/trainer_state.json", json.dumps({"global_step": 3, "log_history": entries}).encode())
            _, errors = run("smd-ls", os.path.join(self.folder, name))
            self.assertEqual([line for line in errors if f"not numeric and left out: {count}" in line], errors)
            self.assertEqual(len(errors), 1)

    def test_a_row_of_a_checkpoint_that_grows_is_shown_again_as_a_whole(self):
        folder = os.path.join(self.folder, "run")
        log = json.dumps({"global_step": 5, "log_history": [{"loss": 12, "step": 5}]}).encode()
        steps = ("smd-ls", "--steps", "--columns")
        for command, first, grown, last in (
                ((*steps, "step,tensors,bytes"), "5\t1\t8\n", ["5\t2\t16\n"], "10\t1\t4\n"),
                ((*steps, "step,tensors", "-n", "a"), "5\t1\n", [], "10\t1\n"),
                (("smd-reduce", "--by", "step", "-r", "count,sum", "--columns", "step,count,sum"),
                 "5\t2\t7\n", ["5\t3\t19\n"], "10\t1\t1\n")):
            with self.subTest(command=command):
                self.write("run/checkpoint-5/model.safetensors", safetensors({"a": [3, 4]}))
                with subprocess.Popen((*command, "-F", "--idle", "60", "--interval", "0.2", "-H", folder), text=True,
                                      stdout=subprocess.PIPE, env=ENVIRONMENT) as follower:
                    lines = [follower.stdout.readline()]
                    os.rename(self.write("new/log", log), os.path.join(folder, "checkpoint-5/trainer_state.json"))
                    lines += [follower.stdout.readline() for _ in grown]
                    self.write("new/model.safetensors", safetensors({"a": [1]}))
                    os.rename(os.path.join(self.folder, "new"), os.path.join(folder, "checkpoint-10"))
                    lines.append(follower.stdout.readline())
                    follower.terminate()
                    lines += follower.stdout.readlines()
                self.assertEqual(lines, [first, *grown, last])
                shutil.rmtree(folder)

    def test_a_log_that_each_checkpoint_repeats_is_followed_once(self):
        def save(step):
            log = [{"loss": 1 / at, "step": at} for at in range(5, step + 1, 5)]
            self.write(f"new/{step}/model.safetensors", safetensors({"a": [step]}))
            self.write(f"new/{step}/trainer_state.json", json.dumps({"global_step": step, "log_history": log}).encode())
            os.rename(os.path.join(self.folder, f"new/{step}"), os.path.join(folder, f"checkpoint-{step}"))

        folder = os.path.join(self.folder, "run")
        os.mkdir(folder)
        save(10)
        with subprocess.Popen(("smd-ls", "--steps", "-F", "--idle", "60", "--columns", "step,tensors", "-H", folder),
                              text=True, stdout=subprocess.PIPE, env=ENVIRONMENT) as follower:
            lines = [follower.stdout.readline() for _ in range(2)]
            for step in (20, 30):
                save(step)
                lines += [follower.stdout.readline() for _ in range(2)]
            follower.terminate()
            lines += follower.stdout.readlines()
        self.assertEqual(lines, [f"{step}\t{1 if step % 10 else 2}\n" for step in range(5, 31, 5)])

    def test_types_that_are_not_read_are_unread(self):
        out, errors = run("smd-rule", place("small_floats"), "-r", "AllZero", "-ptensor_regex=packed|plain", "--jsonl", status=4)
        self.assertEqual(len([line for line in errors if "are listed, and not read" in line]), 4, errors)
        result, = map(json.loads, out.splitlines())
        self.assertEqual((result["status"], result["kind"], result["records_unread"]), ("Error", "unread", 4))
        self.assertIn("1 of 1 step evaluated; 4 records could not be read: ", result["message"])
        self.assertIn("elements of type F4 are listed, and not read", result["message"])
        # Only their times are asked for.
        out, errors = run("smd-rule", place("small_floats"), "-r", "StalledTrainingRule", "--jsonl", status=5)
        self.assertEqual((json.loads(out)["records_unread"], errors), (0, []))
        # What another rule could not read does not count.
        out, errors = run("smd-rule", place("small_floats"), "-r", "StalledTrainingRule,AllZero", "-pAllZero.tensor_regex=.",
                          "--jsonl", status=(4, 5))
        results = {result["rule"]: result for result in map(json.loads, out.splitlines())}
        self.assertEqual((results["AllZero"]["kind"], results["AllZero"]["records_unread"]), ("unread", 4))
        stalled = results["StalledTrainingRule"]
        self.assertEqual((stalled["status"], stalled["records_unread"]), ("NotEvaluated", 0))
        for command, status in ((("smd-tensor", "-n", "plain.weight", "-n", "packed.F4"), 0),
                                (("smd-tensor", "-n", "packed.F4"), 1),
                                (("smd-reduce", "-n", "plain.weight", "-n", "packed.F4"), 0),
                                (("smd-reduce", "-n", "packed.F4"), 1)):
            _, errors = run(command[0], place("small_floats"), *command[1:], status=status)
            self.assertEqual(len(errors), 1, errors)
        out, errors = run("smd-ls", "--check", place("small_floats"))
        self.assertEqual((out, [line.partition(": ")[2] for line in errors]), (b"", [
            *(f"note: 1 tensor has elements of type {name}, which are listed, and not read: packed.{name}"
              for name in ("F4", "F6_E2M3", "F6_E3M2", "NF4_FUTURE")),
            "note: checkpoints have no checksum, so nothing tells whether elements were changed"]))

    def test_a_type_that_only_the_library_names_so_is_unread(self):
        """What safetensors calls F32. It is no shape alone: the file has bytes for it."""
        def write(name, value):
            header = json.dumps({"a": {"dtype": "float32", "shape": [2], "data_offsets": [0, 8]}}).encode()
            return self.write(name, struct.pack("<Q", len(header)) + header + np.float32([value] * 2).tobytes())

        path, other = write("one.safetensors", 1), write("two.safetensors", 2)
        for options in ((), ("-s", "0")):
            row, = rows("smd-ls", "-l", path, *options)
            self.assertEqual((row["saved"], row["shape"], row["dtype"], row["bytes"]), (["value"], [2], "float32", 8))
        row, = rows("smd-diff", path, other, status=4)
        self.assertEqual((row["tensor"], row["state"]), ("a", "unread"))
        out, _ = run("smd-rule", path, "-r", "ExplodingTensor", "--jsonl", status=4)
        result = json.loads(out)
        self.assertEqual((result["status"], result["kind"], result["records_unread"]), ("Error", "unread", 1))

    def test_of_a_tensor_without_storage_only_the_shape_is_there(self):
        def write(name, size, value=None):
            tensor = value or Called(REBUILD_META, FLOAT32, size, (size[1], 1), False)
            return self.write(name, zipped(pickled({"w": float_tensor(0, 2), "m": tensor}), np.float32([1, 2]).tobytes(),
                                           np.zeros(12, np.float32).tobytes()))

        path, other = write("shape.pt", (3, 4)), write("other.pt", (4, 3))
        stored = Tensor(Storage("float32", "1", 48), (3, 4), (4, 1))
        valued = write("value.pt", None, stored)
        for options in ((), ("-s", "0")):
            row, = rows("smd-ls", "-l", path, "-n", "m", *options)
            self.assertEqual((row["saved"], row["shape"], row["dtype"], row["bytes"]), (["shape"], [3, 4], "float32", 0))
        self.assertEqual(rows("smd-diff", path, path), [])
        row, = rows("smd-diff", path, other, status=1)
        self.assertEqual((row["tensor"], row["state"], row["shape_a"], row["shape_b"]), ("m", "shape", [3, 4], [4, 3]))
        row, = rows("smd-diff", path, valued, status=1)
        self.assertEqual((row["tensor"], row["state"]), ("m", "only_b"))
        row, = rows("smd-diff", valued, path, status=1)
        self.assertEqual((row["tensor"], row["state"]), ("m", "only_a"))
        for command in ("smd-tensor", "smd-reduce"):
            out, errors = run(command, path, "-n", "m", status=1)
            self.assertEqual((out, len(errors)), (b"", 1), errors)
            self.assertIn("'m' at step 0: ", errors[0])
            self.assertIn("only type and shape are in the file", errors[0])
        out, _ = run("smd-rule", path, "-r", "ExplodingTensor", "--jsonl")
        self.assertEqual((json.loads(out)["status"], json.loads(out)["warnings"]),
                         ("NoIssuesFound", ["1 of 2 tensors has no elements and was skipped: m"]))
        for step, value in ((10, None), (20, stored), (30, None)):
            write(f"run/checkpoint-{step}/pytorch_model.bin", (3, 4), value)
        out, _ = run("smd-rule", os.path.join(self.folder, "run"), "-r", "ExplodingTensor", "--jsonl")
        self.assertEqual((json.loads(out)["status"], json.loads(out)["warnings"]),
                         ("NoIssuesFound", ["1 of 2 tensors has no elements at some steps and was skipped: m"]))

    def test_tensors_without_elements_are_named(self):
        tensors = {f"layers.{at}.weight": [] if at % 3 else [1.5, 2.5] for at in range(6)}
        path = self.write("zero/model.safetensors", safetensors(tensors))
        text = "layers.1.weight, layers.2.weight, layers.4.weight and 1 more"
        _, errors = run("smd-ls", "--check", path)
        self.assertIn(f"smd-ls: note: 4 tensors have no elements: {text}", errors)
        out, errors = run("smd-rule", path, "-r", "ExplodingTensor", "--jsonl")
        warning = f"4 of 6 tensors have no elements and were skipped: {text}"
        self.assertEqual((json.loads(out)["status"], json.loads(out)["warnings"]), ("NoIssuesFound", [warning]))
        self.assertIn(warning, errors[0])
        out, _ = run("smd-rule", path, "-r", "ExplodingTensor", "-p", "tensor_regex=layers.[1245]", "--jsonl", status=5)
        self.assertEqual((json.loads(out)["status"], json.loads(out)["message"]), (
            "NotEvaluated", "nothing was evaluated: " + warning.replace("4 of 6", "4 of 4")))

    def test_hostile_headers(self):
        deep = b"[" * 10_000_000
        many = json.dumps({f"t{at}": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
                           for at in range(250_001)}).encode()
        far = json.dumps({"a": {"dtype": "F32", "shape": [2 ** 62, 4], "data_offsets": [2 ** 64 - 8, 8]}}).encode()
        for name, content in (("length", struct.pack("<Q", 2 ** 64 - 1) + b"{}"),
                              ("deep", struct.pack("<Q", len(deep)) + deep),
                              ("many", struct.pack("<Q", len(many)) + many),
                              ("far", struct.pack("<Q", len(far)) + far)):
            path = self.write(f"{name}/model.safetensors", content)
            for operand in (path, os.path.dirname(path)):
                _, errors = run("smd-ls", operand, status=4)
                self.assertTrue(any("Damaged" in line and "byte " in line for line in errors), errors)

    def test_what_is_found_and_recognised(self):
        content = safetensors({"a": [1]})
        for path in ("one/checkpoint-5/model.safetensors", "one/checkpoint-10/model.safetensors", "two/model.safetensors",
                     "pipe/unet/model.safetensors"):
            self.write(path, content)
        self.write("pipe/model_index.json", b"{}")
        found = [row["trial"] for row in rows("smd-ls", "--find", self.folder)]
        self.assertEqual(found, [os.path.join(self.folder, name) for name in ("one", "pipe", "two")])

    def test_a_file_that_is_not_there(self):
        _, errors = run("smd-ls", os.path.join(self.folder, "model.safetensors"), status=3)
        self.assertIn("NotFound", errors[0])

    def test_short_tensors_that_are_read_together_are_verified(self):
        """Contiguous ones, and a part that is transposed: no command shows what a flipped bit made."""
        stored = {"plain": np.arange(100, dtype=np.float32), "across": np.arange(8192, dtype=np.float32),
                  "last": np.float32([3, 4])}
        shapes = {"plain": ((100,), (1,)), "across": ((512, 4), (1, 2048)), "last": ((2,), (1,))}
        contents = list(stored.values())
        path = os.path.join(self.folder, "short.pt")
        write_pt(path, {name: Tensor(Storage("float32", str(i), stored[name].nbytes), *shapes[name])
                        for i, name in enumerate(stored)}, lambda i: contents[i].tobytes())
        with open(path, "rb") as file:
            whole = file.read()
        for name in ("plain", "across"):
            with open(path, "wb") as file:
                at = whole.index(stored[name].tobytes()) + 9
                file.write(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            others = set(stored) - {name}
            for command in (("smd-tensor", path, *stored), ("smd-reduce", "-r", "min,max", path), ("smd-tensor", "--hist", path)):
                self.assertEqual({row["tensor"] for row in rows(*command, status=4)}, others, command)

    def test_a_large_tensor_is_verified_while_it_is_read(self):
        """Its checksum is known to be wrong when its last element was read, in whatever part by whatever thread, of whichever
        of the tensors that share it."""
        large = np.random.default_rng(5).standard_normal((2200, 2000), np.float32)
        values = {"large": large, "small": np.float32([3, 4]), "tied": large}
        whole, flipped = os.path.join(self.folder, "whole.pt"), os.path.join(self.folder, "flipped.pt")
        for path in (whole, flipped):
            write_pt(path, {name: Tensor(Storage("float32", str(int(name == "small")), of.nbytes), of.shape,
                                         (of.size // len(of), 1)[-of.ndim:])
                            for name, of in values.items()}, lambda i: (large, values["small"])[i].tobytes())
        with open(whole, "rb") as file:
            begin = file.read().index(large.tobytes())
        statistics = {name: (of.min(), of.max()) for name, of in values.items()}

        def reduced(*options, status=0):
            return {row["tensor"]: (np.float32(row["min"]), np.float32(row["max"]))
                    for row in rows("smd-reduce", "-r", "min,max", *options, status=status)}

        for jobs in ("-j1", "-j4"):
            self.assertEqual(reduced(jobs, whole), statistics)
            self.assertEqual({row["state"] for row in rows("smd-diff", jobs, "--all", whole, whole)}, {"equal"})
        for at in (begin + 3, begin + 9_000_003, begin + large.nbytes - 1):
            with open(flipped, "r+b") as file:
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ 1]))
            for jobs in ("-j1", "-j4"):
                self.assertEqual(reduced(jobs, flipped, status=4), {"small": statistics["small"]})
                self.assertEqual(len(rows("smd-reduce", "--by", "tensor,row", "-n", "large", jobs, flipped, status=4)), 0)
                bars = rows("smd-reduce", "--hist", "--bins", "4", jobs, flipped, status=4)
                self.assertEqual({row["tensor"] for row in bars}, {"small"})
                for pair in ((whole, flipped), (flipped, whole), (flipped, flipped)):
                    out, errors = run("smd-diff", jobs, "--all", "--jsonl", *pair, status=4)
                    states = {row["tensor"]: row["state"] for row in map(json.loads, out.splitlines())}
                    self.assertEqual(states, {"large": "unread", "small": "equal", "tied": "unread"})
                    self.assertIn("data/0: its checksum is wrong", errors[0])
                _, errors = run("smd-diff", "-q", jobs, whole, flipped, status=4)
                self.assertIn("data/0: its checksum is wrong", errors[0])
                self.assertEqual(set(reduced(jobs, "--no-verify", flipped)), set(values))
                told, _ = run("smd-ls", "--check", jobs, flipped, status=4)
                self.assertEqual(told.count(b"data/0: its checksum is wrong"), 2, told)
            with open(flipped, "r+b") as file:
                file.seek(at)
                file.write(bytes([byte]))

    def test_a_transposed_tensor_is_verified_before_it_is_shown(self):
        """By one thread and by several, each of which sees parts of the bytes."""
        stored = np.random.default_rng(6).standard_normal((700, 1001), np.float32)
        path = os.path.join(self.folder, "across.pt")
        write_pt(path, {"across": Tensor(Storage("float32", "0", stored.nbytes), (1001, 700), (1, 1001))},
                 lambda _: stored.tobytes())
        with open(path, "rb") as file:
            whole = file.read()
        begin = whole.index(stored.tobytes())
        for jobs in ("-j1", "-j2", "-j5"):
            shown, _ = run("smd-tensor", "-f", "raw", jobs, path, "across")
            self.assertEqual(shown, stored.T.tobytes())
        for at in (begin, begin + 262_144, begin + stored.nbytes - 1):
            with open(path, "wb") as file:
                file.write(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            for jobs in ("-j1", "-j2", "-j5"):
                shown, errors = run("smd-tensor", "-f", "raw", jobs, path, "across", status=4)
                self.assertEqual(shown, b"")
                self.assertIn("data/0: its checksum is wrong", errors[0])

    def test_check_looks_into_every_file_of_a_folder(self):
        """One that is left out is loaded by somebody too."""
        sound = zipped(pickled({"w": float_tensor(0, 2)}), np.float32([1, 2]).tobytes())
        evil = zipped(CALLS)
        for folder, files in (("both", {"model.safetensors": safetensors({"a": [1]}), "pytorch_model.bin": evil}),
                              ("label", {"ckpt_10.pt": sound, "best.pt": evil}), ("twin", {"ckpt_10.pt": sound, "ckpt_10.pth": evil}),
                              ("beside", {"ckpt_10.pt": sound, "rng_state_0.pth": evil}), ("plain", {"ckpt_10.pt": CALLS}),
                              ("protocol", {"ckpt_10.pt": b"\x80\2" + CALLS})):
            for name, content in files.items():
                self.write(f"{folder}/{name}", content)
            told = rows("smd-ls", "--check", os.path.join(self.folder, folder), status=4)
            calls = [row["file"] for row in told if row["problem"] == "would be called by an unsafe load: posix.system"]
            self.assertEqual(calls, [] if folder == "plain" else [list(files)[-1]], told)
        flipped = bytearray(sound)
        flipped[sound.index(np.float32([1, 2]).tobytes())] ^= 1
        for name, content, age in (("cut", sound[:-30], HOUR), ("flipped", flipped, HOUR), ("empty", b"", HOUR), ("young", sound[:-30], 5)):
            self.write(f"{name}/ckpt_10.pt", sound)
            self.write(f"{name}/best.pt", content, age)
            row, = rows("smd-ls", "--check", os.path.join(self.folder, name), status=4)
            self.assertEqual(row["file"], "best.pt")
            self.assertIn({"flipped": "checksum", "empty": "empty"}.get(name, "truncated"), row["problem"])

    def test_a_young_archive_that_is_cut(self):
        """Its step is not there yet; named itself, it is Damaged, its tensors are named, and their values refused."""
        first, second = (zipped(pickled({"step": step, "w": float_tensor(0, 500)}), bytes(2000)) for step in (1, 2))
        for age in (5, HOUR):
            self.write("run/ckpt_1.pt", first)
            half = self.write("run/ckpt_2.pt", second[:1000], age)
            folder = os.path.dirname(half)
            young = age < HOUR
            steps = [row["step"] for row in rows("smd-ls", "--steps", folder, status=0 if young else 4)]
            self.assertEqual(steps, [1] if young else [1, 2])
            result = rows("smd-rule", folder, "-r", "ExplodingTensor", status=0 if young else 4)[-1]
            self.assertEqual((result["status"], result["steps_evaluated"]), ("NoIssuesFound", 1) if young else ("Error", 2))
            self.assertEqual({row["tensor"] for row in rows("smd-ls", half, status=4)}, {"step", "w"})
            row, = (row for row in rows("smd-ls", "-l", half, status=4) if row["tensor"] == "w")
            self.assertEqual((row["dtype"], row["shape"], row["bytes"]), ("float32", [500], 2000))
            for options in ((), ("--no-verify",)):
                out, errors = run("smd-tensor", *options, half, "w", status=(1, 4))
                self.assertIn("truncated", "".join(errors))

    def test_a_stream_that_is_cut(self):
        """Whole storages' tensors come; those of others are no faults of their own."""
        content = stream({name: float_tensor(key, 2) for key, name in enumerate("abc")},
                         [np.float32([key, 1]).tobytes() for key in range(3)])
        path = self.write("run/ckpt_1.pt", content[:-10])
        row, = rows("smd-ls", "--check", path, status=4)
        self.assertIn("truncated", row["problem"])
        self.assertEqual({row["tensor"]: row["value"] for row in rows("smd-tensor", path, "a", "b", status=4)},
                         {"a": [0, 1], "b": [1, 1]})
        os.utime(path)
        out, errors = run("smd-ls", "--steps", "-v", os.path.dirname(path), status=1)
        self.assertNotIn("Damaged", "".join(errors))
        self.write("run/ckpt_1.pt", content)
        self.assertEqual(len(rows("smd-ls", path)), 3)

    def test_an_empty_file_and_a_text(self):
        """Named themselves, they are told for what they are; an empty one is not yet written while it is young."""
        for name, content, what in (("a.pt", b"", "is empty"), ("b.safetensors", b"", "b.safetensors: byte 0"), ("c.pt", b"import torch\n", "is text")):
            _, errors = run("smd-ls", self.write(f"{name}.d/{name}", content), status=4)
            self.assertTrue(any("Damaged" in line and what in line for line in errors), errors)
        self.write("run/ckpt_1.pt", zipped(pickled({"w": float_tensor(0, 2)}), bytes(8)))
        self.write("run/ckpt_2.pt", b"", age=5)
        self.assertEqual([row["step"] for row in rows("smd-ls", "--steps", os.path.join(self.folder, "run"))], [1])

    def test_arrays_of_types_that_are_not_read(self):
        arrays = {"time": np.zeros(3, "datetime64[s]"), "pair": np.zeros((2, 1), [("x", "<f4"), ("y", "<i4")]),
                  "long": np.zeros(2, np.longdouble), "pairs": np.zeros(4, np.clongdouble), "text": np.array(["a"])}
        types = {"time": "datetime64", "pair": "void", "long": arrays["long"].dtype.name, "pairs": arrays["pairs"].dtype.name}
        path = self.write("arrays.pt", zipped(pickled(arrays)))
        listed = {row["tensor"]: (row["dtype"], row["shape"]) for row in rows("smd-ls", "-l", path)}
        self.assertEqual(listed, {name: (types[name], list(arrays[name].shape)) for name in types})
        result = rows("smd-rule", path, "-r", "ExplodingTensor", status=4)[-1]
        self.assertEqual((result["status"], result["kind"]), ("Error", "unread"))

    def test_an_archive_has_checksums(self):
        path = self.write("array.pt", zipped(pickled({"array": np.arange(3.0)})))
        _, errors = run("smd-ls", "--check", path)
        self.assertEqual(errors, [])

    def test_integers_of_another_scale_are_other_numbers(self):
        """The same integers, and others, which are not compared."""
        def write(name, *how, scales=(1, 1), integers=b"\1\2", size=2):
            tensor = Quantised(Storage("qint8", "0", 2), (size,), (1,), "scheme", *how)
            return self.write(name, zipped(pickled({"w": tensor}), integers, struct.pack("<2d", *scales), bytes(16)))

        by_axis = *(Tensor(Storage(dtype, key, 16), (2,), (1,)) for dtype, key in (("float64", "1"), ("int64", "2"))), 0
        a, axis = write("a.pt", 0.5, 0), write("axis.pt", *by_axis)
        plain = self.write("plain.pt", zipped(pickled({"w": Tensor(Storage("int8", "0", 2), (2,), (1,))}), b"\1\2"))
        self.assertIn("tensor 'w': scale 0.5, zero point 0", "".join(run("smd-ls", "-v", a)[1]))
        moved, short = write("moved.pt", 0.25, 0, integers=b"\1\5"), write("short.pt", 0.25, 0, size=1)
        for one, same, *others in ((a, write("same.pt", 0.5, 0), write("scale.pt", 0.25, 0), write("zero.pt", 0.5, 3), plain,
                                    moved),
                                   (axis, write("again.pt", *by_axis), write("scales.pt", *by_axis, scales=(1, 2)))):
            run("smd-diff", one, same)
            run("smd-rule", one, "-r", "SimilarAcrossRuns", "--other", same)
            for other in others:
                result = rows("smd-rule", one, "-r", "SimilarAcrossRuns", "--other", other, status=1)[-1]
                self.assertEqual((result["check"], result["value"]), ("meaning", 2))
                row, = rows("smd-diff", "--ignore-dtype", one, other, status=1)
                self.assertEqual((row["state"], row["differing"], row["max_abs"]), ("differs", None, None))
                table = run("smd-diff", "-f", "table", one, other, status=1)[0].decode()
                self.assertTrue(all(row[key] in table for key in ("dtype_a", "dtype_b")) and "scale" in table, table)
                self.assertNotEqual(row["dtype_a"], row["dtype_b"])
                self.assertEqual(rows("smd-diff", "--summary", one, other, status=1)[0]["differing"], 1)
        changed = write("changed.pt", 0.5, 0, integers=b"\1\5")  # of one scale: the integers are compared
        row, = rows("smd-diff", a, changed, status=1)
        self.assertEqual((row["differing"], row["max_abs"]), (1, 3))
        result = rows("smd-rule", a, "-r", "SimilarAcrossRuns", "--other", changed, status=1)[-1]
        self.assertEqual((result["check"], result["value"]), ("value", 1))
        for other, size in ((short, None), (write("first.pt", 0.5, 0, size=1), 1)):
            row, = rows("smd-diff", "--common", a, other, status=1)
            self.assertEqual((row["state"], row["size"]), ("shape", size))

    def test_pools_leave_out_integers_of_two_scales(self):
        a, b = (self.write(name, zipped(pickled({
            "q": Quantised(Storage("qint8", "0", 2), (2,), (1,), "scheme", scale, 0),
            "v": Tensor(Storage("int8", "1", 2), (2,), (1,))}), *integers))
            for name, scale, *integers in (("a.pt", 0.5, b"\1\2", b"\3\4"), ("b.pt", 0.25, b"\1\5", b"\3\6")))
        row, = rows("smd-diff", "--by", "step", a, b, status=1)
        self.assertEqual((row["state"], row["size"], row["differing"], row["max_abs"], row["l2_a"]), ("differs", 2, 1, 2, 5))
        self.assertIn("1 pair is not in the pooled rows", "".join(run("smd-diff", "--by", "step", a, b, status=1)[1]))
        row, = rows("smd-diff", "--by", "step", "-n", "q", a, b, status=1)
        self.assertEqual((row["state"], row["size"]), ("differs", None))

    def test_the_same_integers_of_another_scale_are_a_change(self):
        for step, scale in enumerate((0.5, 0.25, 0.25, 0.25)):
            tensor = Quantised(Storage("qint8", "0", 2), (2,), (1,), "scheme", scale, 0)
            self.write(f"run/ckpt_{step}.pt", zipped(pickled({"l.weight": tensor}), b"\1\2"))
        folder = os.path.join(self.folder, "run")
        result = rows("smd-rule", folder, "-r", "UnchangedTensor", "-p", "tensor_regex=weight", status=1)[-1]
        self.assertEqual((result["step"], result["value"]), (3, 0))

    def test_integers_of_quantised_tensors_are_not_taken_for_numbers(self):
        """By zero point 3, the integers 3 stand for zeros, and 0 for other numbers."""
        def quantised(key, *how):
            return Quantised(Storage("qint8", key, 2), (2,), (1,), "scheme", *how)

        by_axis = *(Tensor(Storage(dtype, key, 16), (2,), (1,)) for dtype, key in (("float64", "2"), ("int64", "3"))), 0
        tensors = {"axis.weight": quantised("0", *by_axis), "low.weight": quantised("0", 0.1, 3),
                   "zero.weight": quantised("1", 0.1, 3), "plain.weight": Tensor(Storage("int8", "0", 2), (2,), (1,))}
        content = zipped(pickled(tensors), b"\0\0", b"\3\3", struct.pack("<2d", 1, 1), bytes(16))
        folder = os.path.dirname([self.write(f"run/ckpt_{step}.pt", content) for step in (1, 2)][0])
        weights = "tensor_regex=weight"
        for rule, *parameters in (("AllZero", weights), ("WeightUpdateRatio",), ("TensorVariance", weights, "min_threshold=1"),
                                  ("Threshold", weights, "reduction=max", "operator=<", "threshold=1")):
            out, _ = run("smd-rule", folder, "-r", rule, "-k", "--jsonl", *(f"-p{one}" for one in parameters), status=1)
            *findings, result = map(json.loads, out.splitlines())
            self.assertEqual({one["tensor"] for one in findings}, {"plain.weight"})
            told = "3 of 4 tensors are quantised and were skipped: axis.weight, low.weight, zero.weight"
            self.assertEqual(result["warnings"], [told])
        result, = rows("smd-rule", folder, "-r", "AllZero", "-p", "tensor_regex=zero", status=5)
        self.assertEqual(result["message"], "nothing was evaluated: 1 of 1 tensor is quantised and was skipped: zero.weight")

    def test_damage_of_a_step_that_is_not_asked_for(self):
        content = safetensors({"a": [1, 2], "b": [3]})
        for step, end in ((1, None), (2, -4)):
            self.write(f"run/checkpoint-{step}/model.safetensors", content[:end])
        for step, status in ((1, "NoIssuesFound"), (2, "Error")):
            result, = rows("smd-rule", os.path.join(self.folder, "run"), "-r", "ExplodingTensor", "-s", str(step), status=4)
            self.assertEqual(result["status"], status)

    def test_the_same_elements_of_another_dense_size_are_another_tensor(self):
        indices, values = Tensor(Storage("int64", "0", 32), (2, 2), (2, 1)), Tensor(Storage("float32", "1", 8), (2,), (1,))
        edges, columns = (Tensor(Storage("int64", "0", 32), (count,), (1,)) for count in (3, 2))
        elements = struct.pack("<4q", 0, 1, 1, 0), np.float32([1, 2]).tobytes()
        for layout, parts in (("coo", (indices, values)), ("csr", (edges, columns, values))):
            small, same, large = (self.write(f"{layout}-{name}.pt", zipped(pickled({"w": Called(
                REBUILD_SPARSE, Called(LAYOUT, f"torch.sparse_{layout}"), (*parts, size))}), *elements))
                for name, size in (("small", (2, 2)), ("same", (2, 2)), ("large", (2, 3))))
            run("smd-diff", small, same)
            moved = self.write(f"{layout}-moved.pt", zipped(pickled({"w": Called(
                REBUILD_SPARSE, Called(LAYOUT, f"torch.sparse_{layout}"), (*parts, (2, 3)))}),
                struct.pack("<4q", 0, 1, 2, 0), elements[1]))
            self.assertEqual([(row["state"], row["differing"]) for row in rows("smd-diff", small, moved, status=1)],
                             [("differs", None)])
            row, = rows("smd-diff", small, large, status=1)
            first = "w.indices" if layout == "coo" else "w.crow_indices"
            self.assertEqual((row["tensor"], row["state"]), (first, "differs"))
            self.assertEqual((row["dtype_a"], row["dtype_b"]), ("int64, dense size [2, 2]", "int64, dense size [2, 3]"))
            self.assertIn(f"tensor '{first}': dense size [2, 3]", "".join(run("smd-ls", "-v", large)[1]))
            weight = Called(REBUILD_SPARSE, Called(LAYOUT, f"torch.sparse_{layout}"), (*parts, (2, 2)))
            path = self.write("weight.pt", zipped(pickled({"l.weight": weight}), *elements))
            self.assertEqual([row["tensor"] for row in rows("smd-ls", "-c", "weights", path)], ["l.weight.values"])

    def test_a_scale_that_is_no_number(self):
        for scale in (math.nan, math.inf):
            tensor = Quantised(Storage("qint8", "0", 2), (2,), (1,), "scheme", scale, 0)
            path = self.write("a.pt", zipped(pickled({"w": tensor}), b"\1\2"))
            _, errors = run("smd-rule", path, "-r", "ExplodingTensor", status=5)
            told = f"tensor 'w': by its scale {scale} none of its integers stands for a number"
            self.assertEqual(len([line for line in errors if "warning" in line and told in line]), 1, errors)
            parts = (Tensor(Storage(dtype, key, 16), (2,), (1,)) for dtype, key in (("float64", "1"), ("int64", "2")))
            channels = Quantised(Storage("qint8", "0", 2), (2,), (1,), "scheme", *parts, 0)
            path = self.write("b.pt", zipped(pickled({"w": channels}), b"\1\2", struct.pack("<2d", 1, scale), bytes(16)))
            row, = rows("smd-ls", "--check", path, status=4)
            self.assertIn("tensor 'w': the scale of a channel is not finite", row["problem"])

    def test_quantised_layers_of_a_module(self):
        """Their tensors are in attributes of other names, which are not looked at where a module has tensors of its own."""
        def write(name, scale):
            weight = Quantised(Storage("qint8", "0", 2), (2,), (1,), "scheme", scale, 0)
            packed = module(_packed_params=PACKED(parts=(weight, float_tensor(1, 1))))
            convolution = CONVOLUTION(parts=(1, 2, (3, 3), (1, 1), (0, 0), (1, 1), False, (0, 0), 1, "zeros", weight,
                                             float_tensor(1, 1), 0.5, 0, False))
            whole = module(_modules={"fc": module(_modules={"_packed_params": packed}), "conv": convolution},
                           cache=float_tensor(2, 1), typed=Storage("float32", "3", 4))
            return self.write(name, zipped(pickled(whole), b"\1\2", *[np.float32(np.nan).tobytes()] * 3))

        one, other = write("one.pt", 0.5), write("other.pt", 0.25)
        self.assertEqual({row["tensor"] for row in rows("smd-ls", one)},
                         {*(f"fc._packed_params._packed_params.{at}" for at in (0, 1)), "conv.weight", "conv.bias"})
        run("smd-diff", one, other, status=1)
        _, errors = run("smd-ls", one)
        self.assertEqual([line for line in errors if "1 storage is of no listed tensor, and not read: 3" in line], errors)
        self.assertEqual(len(errors), 1)

    def test_keys_that_are_no_texts(self):
        """The order of keys does not matter: names have what Python writes, where that is the same in every file."""
        keys = {("enc", 0): "('enc', 0)", (("it's",), (), None): r"(('it\'s',), (), None)", None: "None", True: "True",
                FLOAT32: "torch.float32", b"weight": "weight", (b"bias", 1.5): "('bias', 1.5)", 1 + 2j: "builtins.complex(1, 2)",
                np.int64(7): "7", -5: "-5"}
        tensors = {key: float_tensor(at, 1) for at, key in enumerate(keys)}
        values = [np.float32(at).tobytes() for at in range(len(keys))]
        path = self.write("keys.pt", zipped(pickled(tensors), *values))
        turned = self.write("turned.pt", zipped(pickled(dict(reversed(tensors.items()))), *values))
        self.assertEqual({row["tensor"]: row["value"] for row in rows("smd-tensor", path)},
                         {name: [at] for at, name in enumerate(keys.values())})
        self.assertEqual(run("smd-ls", path)[1], [])
        run("smd-diff", path, turned)
        others = {"b": float_tensor(0, 1), frozenset([1]): float_tensor(1, 1), frozenset([2]): 3, 2 ** 70: float_tensor(2, 1)}
        path = self.write("others.pt", zipped(pickled(others), *values[:3]))
        self.assertEqual([row["tensor"] for row in rows("smd-ls", path)], ["<1>", "<3>", "b"])
        _, errors = run("smd-ls", path)
        self.assertEqual([line for line in errors if "by their position" in line], errors)
        self.assertEqual(len(errors), 1)
        path = self.write("none.pt", zipped(pickled({"b": float_tensor(0, 1), frozenset([1]): {"c": 3}}), values[0]))
        self.assertEqual(run("smd-ls", path)[1], [])

    def test_a_key_of_very_many_parts(self):
        """A small file can have 2^40, and any depth."""
        tensor = pickled(float_tensor(0, 1))[2:-1]
        for key in (b")" + b"2\x86" * 40, b")" + b"\x85" * 300):  # pairs of the same; tuples of one item
            path = self.write("a.pt", zipped(b"\x80\2}(" + key + tensor + b"u.", bytes(4)))
            self.assertEqual([row["tensor"] for row in rows("smd-ls", path)], ["<0>"])

    def test_empty_keys(self):
        for tensors, name in (({"": {"w": float_tensor(0, 1)}}, ".w"), ({"": float_tensor(0, 1)}, ""),
                              ({"w": {"": float_tensor(0, 1)}}, "w."), (float_tensor(0, 1), "tensor")):
            path = self.write("a.pt", zipped(pickled(tensors), bytes(4)))
            self.assertEqual([row["tensor"] for row in rows("smd-ls", path)], [name])

    def test_one_fault_of_an_archive_is_told_once(self):
        content = bytearray(zipped(pickled({"w": float_tensor(0, 2)}), bytes(8)))
        content[content.index(b"archive/data/0") - 30 + 14] ^= 1  # of the local header, its checksum
        row, = rows("smd-ls", "--check", self.write("local.pt", content), status=4)
        self.assertTrue("'w'" in row["problem"] and "data/0: its local header" in row["problem"], row)
        content = bytearray(zipped(pickled({"w": float_tensor(0, 2)}), bytes(8)))
        content[content.rindex(b"archive/data/0") - 46 + 24] ^= 1  # of the directory, its size
        told = rows("smd-ls", "--check", self.write("size.pt", content), status=4)
        self.assertIn("two sizes", told[0]["problem"])
        many = Tensor(Storage("float32", "0", 8), (1,) * 65, (1,) * 65)
        row, = rows("smd-ls", "--check", self.write("many.pt", zipped(pickled({"w": many}), bytes(8))), status=4)
        self.assertIn("more than 64", row["problem"])

    def test_a_damaged_bin_of_a_model(self):
        """Its name tells what it was to be; that of a tokenizer does not."""
        sound = zipped(pickled({"w": float_tensor(0, 2)}), bytes(8))
        self.write("run/step_1/pytorch_model.bin", sound)
        for name in ("pytorch_model.bin", "adapter_model.bin", "custom-00002-of-00002.bin", "tokenizer.bin"):
            path = self.write(f"run/step_2/{name}", b"\xaf" + sound[1:])
            known = name != "tokenizer.bin"
            told = rows("smd-ls", "--check", os.path.join(self.folder, "run"), status=4 if known else 0)
            self.assertEqual(f"step_2/{name}" in [row["file"] for row in told], known, told)
            os.remove(path)
        index = {"weight_map": {"w": "pytorch_model-00001-of-00002.bin", "v": "pytorch_model-00002-of-00002.bin"}}
        self.write("shards/pytorch_model.bin.index.json", json.dumps(index).encode())
        self.write("shards/pytorch_model-00001-of-00002.bin", sound)
        path = self.write("shards/pytorch_model-00002-of-00002.bin", b"\xaf" + sound[1:])
        row, = rows("smd-ls", "--check", os.path.dirname(path), status=4)
        self.assertIn("is neither a file of PyTorch", row["problem"])

    def test_a_number_with_the_name_of_a_tensor(self):
        path = self.write("step.pt", zipped(pickled({"state_dict": {"step": float_tensor(0, 2)}, "step": 3}), bytes(8)))
        _, errors = run("smd-ls", path)
        self.assertTrue(any("number 'step' is left out" in line for line in errors), errors)

    def test_numbers_that_are_tensors(self):
        """A loss counts also if it was saved without .item(): as a tensor, or a parameter; not within a model."""
        def one(key, dtype="float64", shape=()):
            return Tensor(Storage(dtype, str(key), 8), shape, (1,) * len(shape))

        for step in range(1, 41):
            values = {"model": {"loss_weight": one(0), "score.bias": one(0, shape=(1,))}, "train_loss": one(1),
                      "val_loss": Called(REBUILD_PARAMETER, one(1, shape=(1,)), True, {}), "acc": one(2, "int64"),
                      "loss_fn.weight": one(0, shape=(1,)), "bce_loss.pos_weight": one(0),
                      "all_losses": one(1, "float32", (2,)), "best": {"loss": one(0)}, "bias": one(0)}
            self.write(f"run/step_{step}.pt", zipped(pickled(values), struct.pack("<d", 1), struct.pack("<d", 1.1**step),
                                                     struct.pack("<q", step)))
        path = os.path.join(self.folder, "run")
        for collection, names in (("losses", {"train_loss", "val_loss"}), ("scalars", {"acc"}),
                                  ("weights", {"loss_weight"}), ("biases", {"score.bias"})):
            self.assertEqual({row["tensor"] for row in rows("smd-ls", "-c", collection, path)}, names, collection)
        self.assertEqual([row["value"] for row in rows("smd-tensor", path, "acc", "-s", "3,40")], [3, 40])
        *found, _ = rows("smd-rule", path, "-r", "LossNotDecreasing", "-k", status=1)
        self.assertEqual({row["tensor"] for row in found}, {"train_loss", "val_loss"})
        weights = {"loss_weight": one(0), "score.bias": one(0, shape=(1,))}
        path = self.write("bare.pt", zipped(pickled(weights), bytes(8)))
        self.assertEqual({row["tensor"] for row in rows("smd-ls", "-c", "weights", "-c", "biases", path)}, set(weights))

    def test_numbers_beyond_64_bits(self):
        """They are rounded, as Python's float rounds them. As a key, one stands in a name by its position."""
        numbers = {"loss": 10**30, "score": 2**63, "acc": -2**64 - 2**11 - 1, "best_metric": 2**62}
        path = self.write("huge.pt", zipped(pickled({**numbers, "w": {2**64: float_tensor(0, 1)}}), bytes(4)))
        given = {row["tensor"]: row["value"] for row in rows("smd-tensor", path)}
        self.assertEqual(given, {**{name: float(value) for name, value in numbers.items()}, "w.<0>": [0]})

    def test_a_tensor_that_repeats_an_element_to_more_than_a_limit(self):
        huge = Tensor(Storage("float32", "0", 4), (2**35,), (0,))
        path = self.write("repeated.pt", zipped(pickled({"x": huge}), bytes(4)))
        _, errors = run("smd-ls", path, status=4)
        self.assertTrue(any("repeat elements to more than 64 GiB (expanded_bytes)" in line for line in errors), errors)

    def test_two_tensors_with_one_name(self):
        first, second = float_tensor(0, 1), float_tensor(1, 1)
        for values, name in (({"state_dict": {"ema.w": first}, "ema": {"w": second}}, "ema.w"),
                             ({"a.b": first, "a": {"b": second}}, "a.b"), ({1: first, "1": second}, "1")):
            path = self.write("twice.pt", zipped(pickled(values), *(np.float32(x).tobytes() for x in (1, np.nan))))
            _, errors = run("smd-ls", "--check", path)
            told = f"another tensor has the name '{name}': this one is '{name}#2'"
            self.assertEqual([line for line in errors if told in line], errors)
            result, = rows("smd-rule", path, "-r", "ExplodingTensor", status=1)
            self.assertEqual(result["tensor"], f"{name}#2")

    def test_a_file_in_a_value(self):
        """Nothing reads it."""
        inner = {"w": float_tensor(0, 1)}
        for content in (zipped(pickled(inner), bytes(4)), stream(inner, [bytes(4)])):
            for protocol in (2, 4):
                out = io.BytesIO()
                Pickler(out, protocol=protocol).dump({"b": io.BytesIO(content), "ok": float_tensor(0, 1)})
                _, errors = run("smd-ls", self.write("file.pt", zipped(out.getvalue(), bytes(4))))
                self.assertEqual([line for line in errors if "1 value begins as an archive or a file of PyTorch" in line], errors)
                self.assertEqual(len(errors), 1)

    def test_constants_of_a_frozen_module(self):
        """They are all that it has."""
        content = io.BytesIO(zipped(pickled({"training": False})))
        with zipfile.ZipFile(content, "a") as archive:
            archive.writestr("archive/constants.pkl", pickled((float_tensor(0, 2), float_tensor(1, 1))))
            archive.writestr("archive/constants/0", np.float32([1, np.nan]).tobytes())
            archive.writestr("archive/constants/1", np.float32([5]).tobytes())
        path = self.write("frozen.pt", content.getvalue())
        self.assertEqual({row["tensor"]: row["value"] for row in rows("smd-tensor", path, "constants.1")}, {"constants.1": [5]})
        result, = rows("smd-rule", path, "-r", "ExplodingTensor", status=1)
        self.assertEqual(result["tensor"], "constants.0")

    def test_values_that_hide_behind_others(self):
        """A wrapper that is none hides no tensor; the attributes of one are its own; a storage of no tensor is named."""
        one, two, alone = float_tensor(0, 2), float_tensor(1, 2), Storage("float32", "2", 8)
        values = {"local": {"_local_tensor": None, "w": one},
                  "type": Called(REBUILD_TYPE, REBUILD, Tensor, one.parts, {"scale": two}),
                  "masked": np.ma.masked_array([1.0, np.nan], [0, 0]), "alone": alone,
                  "record": np.rec.array([(1.0, 2)], dtype=[("x", "f8"), ("y", "f8")])}
        path = self.write("hidden.pt", zipped(pickled(values), *[np.float32([1, np.nan]).tobytes()] * 3))
        names = {row["tensor"] for row in rows("smd-ls", path)}
        self.assertEqual(names, {"local.w", "type", "type.scale", "masked", "record"})
        self.assertTrue(math.isnan(number(rows("smd-tensor", path, "masked")[0]["value"][1])))
        self.assertIn("tensor 'masked': of a masked array", "".join(run("smd-ls", "-v", path)[1]))
        _, errors = run("smd-ls", path)
        self.assertEqual([line for line in errors if "1 storage is of no listed tensor, and not read: 2" in line], errors)

    def test_an_array_with_very_many_names(self):
        """Its bytes are not copied for each: that would take longer than the test may."""
        for protocol in (2, 3):
            array = pickle.dumps(np.zeros(16_000_000, "u1"), protocol)[2:-1]
            path = self.write("array.pt", zipped(b"\x80\3](" + array + b"q\xff" + b"h\xff" * 100_000 + b"e."))
            run("smd-ls", "-l", path, status=(0, 4))

    def test_what_a_distributed_checkpoint_describes(self):
        """Each part that it stores is one of a tensor; parts that only a hostile file can have take no time."""
        part = zipped(pickled(float_tensor(0, 2)), bytes(8))
        stored = {MetadataIndex(fqn="w", offset=(0,)): StorageInfo(relative_path="__0_0.distcp", offset=0, length=len(part)),
                  MetadataIndex(fqn="b"): StorageInfo(relative_path="__0_0.distcp", offset=0, length=len(part))}
        chunks = [ChunkStorageMetadata(offsets=(0,), sizes=(2,))]
        tensor = TensorStorageMetadata(properties={"dtype": FLOAT32}, size=(2,), chunks=chunks)
        no_bytes = BytesStorageMetadata()
        many = [ChunkStorageMetadata(offsets=(at,), sizes=(3000 - 2 * at,)) for at in range(1500)]
        bad = TensorStorageMetadata(properties={"dtype": FLOAT32}, size=(3000,), chunks=many)
        places = {MetadataIndex(fqn="w", offset=(at,)): next(iter(stored.values())) for at in range(1500)}
        for name, places, described, told in (
                ("whole", stored, {"w": tensor, "b": no_bytes}, None), ("none", stored, None, "no state_dict_metadata"),
                ("lost", stored, {"b": no_bytes}, "tensor 'w': storage_data"),
                ("bare", stored, {"w": StorageInfo(), "b": no_bytes}, "tensor 'w'"),
                ("many", places, Repeated(("w", bad), 20_000), "tensor 'w': its chunks")):
            state = {"state_dict_metadata": described} if described else {}
            self.write(f"{name}/.metadata", pickled(Metadata(storage_data=places, **state)))
            folder = os.path.dirname(self.write(f"{name}/__0_0.distcp", part))
            found = rows("smd-ls", "--check", folder, status=4 if told else 0)
            self.assertEqual([told in row["problem"] for row in found], [True] if told else [], found)

    def test_check_says_once_that_there_is_no_checksum(self):
        for name in ("one", "two"):
            self.write(f"{name}/model.safetensors", safetensors({"a": [1]}))
        out, errors = run("smd-ls", "--check", *(os.path.join(self.folder, name) for name in ("one", "two")))
        self.assertEqual(len([line for line in errors if "no checksum" in line]), 1, errors)


def main():
    global CHECKPOINTS, FOLDERS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", action="append", default=[], metavar="DIR")
    parser.add_argument("--checkpoints", action="append", required=True, metavar="DIR")
    options, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        FOLDERS = [os.path.join(folder, os.path.basename(recorded)) for recorded in options.checkpoints]
        for recorded, copy in zip(options.checkpoints, FOLDERS):
            shutil.copytree(recorded, copy, symlinks=True)
            prepare(copy)
        CHECKPOINTS = FOLDERS[0]
        find_tools(options.tools)
        unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
