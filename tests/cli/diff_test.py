#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""diff_test.py --tools DIR... --cases DIR --trials DIR --checkpoints DIR [TEST...]: smd-diff on all recorded cases,
against answers that NumPy gave in extended precision, and what must hold of any two trials."""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from checkpoints_test import prepare

PLACES = {}
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TERM": "dumb"}
SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf, "NaN": math.nan, "Infinity": math.inf,
           "-Infinity": -math.inf}
NUMBERS = ("max_abs", "max_rel", "mean_abs", "rmse", "l2_a", "l2_b", "l2_diff", "rel_l2", "cosine")
COMPARED = ("equal", "differs", "dtype")
FORMS = ("shape_a", "shape_b", "dtype_a", "dtype_b")
KEYS = ("tensor", "step", "step_b", "worker", "state", "size", "differing", *NUMBERS, "first", *FORMS)
# Names of element types in safetensors files.
DTYPES = {"F16": "float16", "F32": "float32", "F64": "float64", "BF16": "bfloat16", "I8": "int8", "I32": "int32",
          "I64": "int64", "U64": "uint64", "BOOL": "bool", "C64": "complex64", "F8_E4M3": "float8_e4m3fn",
          "F8_E5M2": "float8_e5m2"}


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, env=ENVIRONMENT,
                          timeout=300)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def operand(path):
    """A path of the cases, as it lies here."""
    if path.startswith("../checkpoints/"):
        return os.path.join(PLACES["checkpoints"], path[len("../checkpoints/"):])
    if path.startswith("../rule-trials/"):
        return os.path.join(PLACES["trials"], "rules", path[len("../rule-trials/"):])
    if path.startswith("../trials/"):
        return os.path.join(PLACES["trials"], path[len("../trials/"):])
    return os.path.join(PLACES["cases"], path)


def command_of(case, *more):
    return ["smd-diff", *case["args"], *more, *(operand(case[key]) for key in ("a", "b") if case[key] is not None)]


def same_number(got, wanted, alternatives):
    got = SPECIAL.get(got, got) if isinstance(got, str) else got
    for right in [wanted, *alternatives]:
        right = SPECIAL.get(right, right) if isinstance(right, str) else right
        if right == "any" or (right in (None, "none") and got is None):
            return True
        if isinstance(right, (int, float)) and isinstance(got, (int, float)):
            if got == right or (math.isnan(got) and math.isnan(right)) or \
                    (math.isfinite(right) and abs(got - right) <= 1e-9 * abs(right)):
                return True
    return False


class Cases(unittest.TestCase):
    def check_row(self, got, wanted):
        other = wanted.get("or", {})
        for key, value in wanted.items():
            if key in ("or",):
                continue
            if key in NUMBERS:
                self.assertTrue(same_number(got[key], value, other.get(key, [])), f"{key}: {got[key]}, not {value}: {got}")
            elif "any" not in other.get(key, []):
                self.assertEqual(got[key], value, f"{key} of {got}")
        if wanted["state"] not in COMPARED:
            self.assertTrue(all(got[key] is None for key in ("size", "differing", "first", *NUMBERS)), got)

    def check(self, case):
        expected = case["expected"]
        status, out, err = run(*command_of(case, "--jsonl"))
        self.assertEqual(status, expected["status"], err)
        self.assertNotIn("terminate called", err)
        rows = [json.loads(line) for line in out.splitlines()]
        if "-q" in case["args"]:
            self.assertEqual((out, err), (b"", ""))
        elif "summary" in expected:
            self.assertEqual(len(rows), 1)
            self.assertEqual({key: rows[0][key] for key in expected["summary"]}, expected["summary"])
        elif "rows" in expected:
            self.assertEqual([row.get("tensor") for row in rows], [row.get("tensor") for row in expected["rows"]])
            for got, wanted in zip(rows, expected["rows"]):
                if "--by" not in case["args"]:
                    self.assertEqual([key for key in got if key != "trial"], list(KEYS))
                self.check_row(got, wanted)
        if expected["status"] not in (0, 1):
            self.assertNotEqual(err, "")
        for jobs in ("1", "3"):
            self.assertEqual(run(*command_of(case, "--jsonl", "-j", jobs))[:2], (status, out))

    def test_recorded(self):
        with open(os.path.join(PLACES["cases"], "cases.json"), encoding="utf-8") as file:
            cases = json.load(file)["cases"]
        self.assertGreaterEqual(len(cases), 70)
        for case in cases:
            with self.subTest(case["id"]):
                self.check(case)


class Forms(unittest.TestCase):
    """Shapes and element types, against the headers of the two files."""

    @staticmethod
    def header(name):
        with open(os.path.join(PLACES["cases"], name, "model.safetensors"), "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        return {tensor: (of["shape"], DTYPES[of["dtype"]]) for tensor, of in header.items() if tensor != "__metadata__"}

    def run_pair(self, *options):
        return run("smd-diff", operand("kinds_a"), operand("kinds_b"), *options)[1].decode()

    def test_rows(self):
        a, b = self.header("kinds_a"), self.header("kinds_b")
        rows = [json.loads(line) for line in self.run_pair("--all", "--jsonl").splitlines()]
        self.assertEqual({row["tensor"] for row in rows}, {*a, *b})
        for row in rows:
            of_a, of_b = (side.get(row["tensor"], (None, None)) for side in (a, b))
            self.assertEqual([row[key] for key in FORMS], [of_a[0], of_b[0], of_a[1], of_b[1]], row["tensor"])
        # Pooled rows have no one shape.
        self.assertNotIn("shape_a", self.run_pair("--by", "step", "--tsv"))

    def test_a_table_says_why(self):
        """Only where shapes or element types are what differs."""
        table = self.run_pair("-f", "table", "-x", "left|right|same|nan|inf|eight").splitlines()
        self.assertEqual(table[0].split(), ["tensor", "step", "state", "differing", "max_abs", "rel_l2", "cosine", *FORMS])
        rows = {line.split()[0]: line.split() for line in table[1:]}
        self.assertEqual(rows["shape.turned"][-4:], ["2x3", "3x2", "NA", "NA"])
        self.assertEqual(rows["type.equal"][-4:], ["NA", "NA", "float32", "bfloat16"])
        self.assertEqual(rows["type.differs"][-4:], ["NA"] * 4)
        self.assertEqual(self.run_pair("-f", "table", "-n", "edge").splitlines()[0].split()[-1], "cosine")

    def test_summary(self):
        with open(os.path.join(PLACES["cases"], "cases.json"), encoding="utf-8") as file:
            recorded = next(case for case in json.load(file)["cases"] if case["id"] == "pair/all")
        states = [row["state"] for row in recorded["expected"]["rows"]]
        summary = json.loads(self.run_pair("--summary", "--jsonl"))
        self.assertEqual({key: summary[key] for key in ("tensors", "equal", "differing", "only_a", "only_b", "dtype", "shape")},
                         {"tensors": len(states), "differing": sum(states.count(state) for state in ("differs", "dtype", "shape")),
                          **{state: states.count(state) for state in ("equal", "only_a", "only_b", "dtype", "shape")}})


class AnyTrials(unittest.TestCase):
    """Of all recorded trials that are sound."""

    def trials(self):
        for folder in (PLACES["trials"], os.path.join(PLACES["trials"], "rules")):
            for name in sorted(os.listdir(folder)):
                if os.path.isdir(os.path.join(folder, name, "collections")):
                    yield os.path.join(folder, name)

    def rows(self, *arguments):
        status, out, err = run("smd-diff", "--jsonl", "--incomplete", *arguments)
        self.assertIn(status, (0, 1), err)
        return [json.loads(line) for line in out.splitlines()]

    def test_a_trial_equals_itself(self):
        compared = 0
        for trial in self.trials():
            with self.subTest(trial):
                status, out, err = run("smd-diff", "--incomplete", "-w", "all", "-H", trial, trial)
                if "NoMoreData" in err or "StepNotYetAvailable" in err:
                    continue  # without any step
                self.assertEqual((status, out), (0, b""), err)
                compared += 1
        self.assertGreater(compared, 40)

    def test_swapped(self):
        rules = os.path.join(PLACES["trials"], "rules")
        turned = {"only_a": "only_b", "only_b": "only_a"}
        for a, b in (("pt-twin-a", "pt-twin-c"), ("pt-healthy", "pt-exploding"), ("pt-overfit", "pt-padding")):
            with self.subTest(a + " " + b):
                there = self.rows("--all", os.path.join(rules, a), os.path.join(rules, b))
                back = self.rows("--all", os.path.join(rules, b), os.path.join(rules, a))
                self.assertGreater(len(there), 5)
                self.assertEqual(len(there), len(back))
                for row, other in zip(there, back):
                    self.assertEqual(other["state"], turned.get(row["state"], row["state"]))
                    for key, swapped in (("step", "step_b"), ("l2_a", "l2_b"), ("size", "size"), ("max_abs", "max_abs"),
                                         ("differing", "differing"), ("mean_abs", "mean_abs"), ("rmse", "rmse"),
                                         ("l2_diff", "l2_diff"), ("cosine", "cosine"), ("first", "first"),
                                         ("tensor", "tensor")):
                        self.assertEqual(row[key], other[swapped], key)

    def test_pooled(self):
        """l2 of a pool is the root of the sum of squares; its size the sum of sizes."""
        rules = os.path.join(PLACES["trials"], "rules")
        a, b = os.path.join(rules, "pt-twin-a"), os.path.join(rules, "pt-twin-c")
        rows = [row for row in self.rows("--all", a, b) if row["state"] in COMPARED]
        pools = {row["step"]: row for row in self.rows("--by", "step", a, b)}
        self.assertGreater(len(pools), 1)
        for step, pool in pools.items():
            members = [row for row in rows if row["step"] == step]
            self.assertEqual(pool["size"], sum(row["size"] for row in members))
            self.assertEqual(pool["max_abs"], max(row["max_abs"] for row in members))
            for key in ("l2_a", "l2_b", "l2_diff"):
                root = math.sqrt(math.fsum(row[key] ** 2 for row in members))
                self.assertLessEqual(abs(pool[key] - root), 1e-12 * root)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", action="append", required=True)
    for place in ("cases", "trials", "checkpoints"):
        parser.add_argument("--" + place, required=True)
    parser.add_argument("rest", nargs="*")
    options = parser.parse_args()
    ENVIRONMENT["PATH"] = os.pathsep.join([*options.tools, os.environ["PATH"]])
    with tempfile.TemporaryDirectory() as work:
        for place in ("cases", "checkpoints"):
            PLACES[place] = os.path.join(work, place)
            if os.path.isdir(getattr(options, place)):
                shutil.copytree(getattr(options, place), PLACES[place], symlinks=True)
                prepare(PLACES[place])
        PLACES["trials"] = options.trials
        return 0 if unittest.main(argv=[sys.argv[0], *options.rest], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
