#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""element_types_test.py --tools DIR... --made DIR: the commands on trials of every element type, in values of 0, 1, 5
and 1000 elements, against NumPy (tests/support/element_types.py, which made DIR). Some run under valgrind too, if it is
there: elements lie in memory of exactly their size."""

import argparse
import csv
import functools
import io
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "cli")]
import element_types  # noqa: E402
from report_page import Page, table_rows  # noqa: E402

TYPES = element_types.TYPES
tensors_of = functools.cache(element_types.tensors_of)
EMPTY = ["g0/grad", "tanh0/weight", "x0/special"]
SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def number(value):
    return SPECIAL[value] if isinstance(value, str) else math.nan if value is None else value


def close(got, wanted):
    """NumPy rounds each of its sums."""
    if isinstance(wanted, list):
        return isinstance(got, list) and all(map(close, got, wanted))
    got, wanted = number(got), number(wanted)
    return got == wanted or (math.isnan(got) and math.isnan(wanted)) or math.isclose(got, wanted, rel_tol=1e-12)


def nearest(dtype, values):
    """Numbers are printed as short as they read back in their own type."""
    values = np.atleast_1d(np.array(values, float))
    if dtype == "bfloat16":
        bits = values.astype("<f4").view("<u4").astype(np.int64)
        bits += 0x7FFF + (bits >> 16 & 1)
        rounded = (bits >> 16 << 16).astype("<u4").view("<f4").astype(float)
        return np.where(np.isfinite(values), rounded, values)
    return values.astype(dtype).astype(float) if dtype in ("float16", "float32") else values


class Commands(unittest.TestCase):
    maxDiff = None

    def run_tool(self, *arguments, statuses=(0,), text=True, before=()):
        done = subprocess.run([*before, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, cwd=MADE,
                              env=ENVIRONMENT)
        self.assertIn(done.returncode, statuses, (arguments, done.stderr.decode()))
        return (done.stdout.decode() if text else done.stdout), done.stderr.decode()

    def lines(self, *arguments, **how):
        return [json.loads(line) for line in self.run_tool(*arguments, "--jsonl", **how)[0].splitlines()]

    def lines_by_type(self, *arguments, types=TYPES):
        """Of a command on the trials of several types the rows of each."""
        rows = {dtype: [] for dtype in types}
        for row in self.lines(*arguments[:1], *types, *arguments[1:]):
            rows[row["trial"]].append(row)
        return rows

    def check_numbers(self, got, wanted, what, dtype="float64"):
        """min, max, the median, and mean and sum of one element have the text of the elements' type."""
        for name, value in wanted.items():
            own = name in ("min", "max", "median") or (name in ("mean", "sum") and "1/" in what[1])
            own = own and got[name] is not None and not isinstance(value, list)  # of a complex number there are two parts
            number_got = float(nearest(dtype, number(got[name]))[0]) if own else got[name]
            self.assertTrue(close(number_got, value), (what, name, got[name], value))

    def test_statistics(self):
        names = ",".join(EXPECTED["types"]["float32"]["statistics"]["x5/special"])
        self.assertEqual(self.lines("smd-reduce", "string", "-s", "0", "-r", names, statuses=(1,)), [])
        numeric = [dtype for dtype in TYPES if dtype != "string"]
        for dtype, rows in self.lines_by_type("smd-reduce", "-s", "0", "-r", names, types=numeric).items():
            wanted = EXPECTED["types"][dtype]["statistics"]
            self.assertEqual(sorted(row["tensor"] for row in rows), sorted(wanted))
            for row in rows:
                self.check_numbers(row, wanted[row["tensor"]], (dtype, row["tensor"]), dtype)

    def test_values(self):
        """npz, JSON, tsv and --stat."""
        all_rows = self.lines_by_type("smd-tensor", "-e", ".", "-s", "0")
        all_statistics = self.lines_by_type("smd-tensor", "-e", ".", "-s", "0", "--stat")
        text, _ = self.run_tool("smd-tensor", *TYPES, "-e", ".", "-s", "0", "-f", "tsv")
        all_cells = {dtype: {} for dtype in TYPES}
        for row in csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE):
            all_cells[row["trial"]].setdefault(row["tensor"], []).append(row["value"])
        for dtype in TYPES:
            arrays = tensors_of(dtype, 0)
            complex_numbers = element_types.kind_of(dtype) == "c"
            loaded = np.load(io.BytesIO(self.run_tool("smd-tensor", dtype, "-e", ".", "-s", "0", "-f", "npz", text=False)[0]))
            rows, stats = ({row["tensor"]: row for row in of[dtype]} for of in (all_rows, all_statistics))
            cells = all_cells[dtype]
            for name, array in arrays.items():
                what = (dtype, name)
                numbers = np.array(array.numbers, str if dtype == "string" else None).reshape(array.shape)
                self.assertTrue(np.array_equal(loaded[name], numbers, equal_nan=dtype != "string"), what)
                row = rows[name]
                self.assertEqual((row["dtype"], tuple(row["shape"])), (dtype, array.shape), what)
                flat = np.array(row["value"], dtype=object).reshape(-1).tolist()
                if complex_numbers:
                    flat = [complex(*map(number, flat[at:at + 2])) for at in range(0, len(flat), 2)]
                elif dtype != "string":
                    flat = nearest(dtype, [number(value) for value in flat])
                self.assertTrue(np.array_equal(np.array(flat, numbers.dtype), numbers.reshape(-1),
                                               equal_nan=dtype != "string"), what)
                texts = cells.get(name, [])
                if dtype == "string":
                    self.assertEqual(texts, list(array.numbers), what)
                elif not complex_numbers:
                    read = [{"true": 1, "false": 0}.get(value, value) for value in texts]
                    self.assertTrue(np.array_equal(nearest(dtype, read), numbers.reshape(-1), equal_nan=True), what)
                if dtype != "string":
                    wanted = dict(EXPECTED["types"][dtype]["statistics"][name])
                    for key in ("min", "max"):
                        got = float(nearest(dtype, number(stats[name].pop(key)))[0])
                        self.assertTrue(close(got, wanted[key]), (what, key, got))
                    self.check_numbers(stats[name], {key: wanted[key] for key in ("mean", "std", "nan", "inf", "zero")},
                                       what)

    def test_differences(self):
        for dtype in TYPES:
            for key, operands, status in (("between_steps", (dtype, "-s", "0,1"), (1,)),
                                          ("between_trials", (dtype, "other/" + dtype, "-s", "0"), (1,))):
                wanted = EXPECTED["types"][dtype][key]
                rows = self.lines("smd-diff", *operands, "--all", statuses=status)
                self.assertEqual(sorted(row["tensor"] for row in rows), sorted(wanted))
                for row in rows:
                    right = dict(wanted[row["tensor"]])
                    first = right.pop("first")
                    what = (dtype, key, row["tensor"])
                    self.check_numbers(row, right, what)
                    if first is not None:
                        shape = tensors_of(dtype, 0)[row["tensor"]].shape
                        first = [int(at) for at in np.unravel_index(int(first), shape)]
                    self.assertEqual(row["first"] or None, first or None, what)

    def test_rules(self):
        rules = [{"RuleConfigurationName": name, "RuleParameters": {"rule_to_invoke": name, **parameters}}
                 for name, parameters in EXPECTED["rules"].items() if name != "SimilarAcrossRuns"]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(rules, file)
            file.flush()
            records = self.lines("smd-rule", *TYPES, "-C", file.name, "-k", statuses=(1,))
        for dtype in TYPES:
            records += self.lines("smd-rule", dtype, "-r", "SimilarAcrossRuns", "--other", "other/" + dtype, "-k",
                                  "-p", "tensor_regex=" + EXPECTED["rules"]["SimilarAcrossRuns"]["tensor_regex"],
                                  statuses=(0, 1, 5))
        for dtype in TYPES:
            of_type = [record for record in records if record["trial"] == dtype]
            for rule, wanted in EXPECTED["types"][dtype]["findings"].items():
                found = [record for record in of_type if record["rule"] == rule]
                result = found.pop()
                self.assertEqual((result["record"], result["records_unread"]), ("result", 0))
                key = lambda finding: (finding[0], finding[1] or "", finding[2])  # noqa: E731
                got = sorted(([row["step"], row["tensor"], row["check"], row["value"]] for row in found), key=key)
                wanted = sorted(wanted, key=key)
                self.assertEqual([finding[:3] for finding in got], [finding[:3] for finding in wanted], (dtype, rule))
                for one, right in zip(got, wanted):
                    self.assertTrue(close(one[3], right[3]), (dtype, rule, one, right))
                self.check_skipped(dtype, rule, result)

    def check_skipped(self, dtype, rule, result):
        """What a rule cannot look at is named."""
        numeric = element_types.kind_of(dtype) in "fiub"
        if rule in ("DeadRelu", "AllZero", "TensorVariance", "NLPSequenceRatio") and numeric:
            self.assertEqual(result["warnings"], ["1 of 4 tensors has no elements and was skipped: tanh0/weight"])
        elif rule in ("DeadRelu", "AllZero", "TensorVariance", "NLPSequenceRatio"):
            self.assertEqual(result["status"], "NotEvaluated")
            kind = "text" if dtype == "string" else "complex"
            self.assertIn(f"tensors are {kind} and were skipped", result["message"])

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            for dtype in TYPES:
                path = os.path.join(folder, dtype + ".html")
                self.run_tool("smd-report", dtype, "-o", path, statuses=(0, 1))
                with open(path, encoding="utf-8") as file:
                    page = Page(file.read())
                rows = {row["tensor"]: row for table in page.root.all("table") for row in table_rows(table)
                        if "last l2" in row}
                if element_types.kind_of(dtype) in "cs":
                    self.assertEqual(rows, {})
                    continue
                last = tensors_of(dtype, element_types.STEPS[-1])
                for size in element_types.SIZES[1:]:
                    name = f"tanh{size}/weight"
                    numbers = last[name].numbers
                    for column, wanted in (("elements", size), ("last mean", numbers.mean()),
                                           ("last l2", np.linalg.norm(numbers)),
                                           ("last share of zeros", (numbers == 0).mean())):
                        shown = float(rows[name][column].replace("\u2212", "-"))  # six digits
                        self.assertTrue(close(shown, wanted) or math.isclose(shown, wanted, rel_tol=5.1e-6),
                                        (dtype, name, column, rows[name], wanted))

    def test_what_has_no_elements_is_told(self):
        for dtype in ("float32", "float8_e5m2", "string"):
            rows, errors = self.run_tool("smd-ls", "--check", "-H", dtype)
            self.assertEqual(rows, "")
            self.assertIn("note: 3 tensors have no elements: g0/grad, tanh0/weight, x0/special", errors)

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_valgrind(self):
        valgrind = ["valgrind", "-q", "--error-exitcode=99"]
        with tempfile.TemporaryDirectory() as folder:
            rules = [{"RuleConfigurationName": name, "RuleParameters": {"rule_to_invoke": name, **parameters}}
                     for name, parameters in EXPECTED["rules"].items() if name != "SimilarAcrossRuns"]
            configuration = os.path.join(folder, "rules.json")
            with open(configuration, "w", encoding="utf-8") as file:
                json.dump(rules, file)
            some = ["float8_e4m3fn", "bfloat16", "quint8"]
            for arguments, statuses in (
                    (["smd-rule", *some, "-C", configuration, "-k", "-j", "1"], (1,)),
                    (["smd-report", "float8_e5m2", "-o", os.path.join(folder, "page.html"), "-j", "1"], (0, 1)),
                    (["smd-diff", "float8_e4m3fn", "other/float8_e4m3fn", "-s", "0", "-j", "1"], (1,)),
                    (["smd-tensor", "float8_e4m3fn", "-e", ".", "-s", "0", "-f", "npz"], (0,)),
                    (["smd-reduce", *some, "-s", "0", "-r", "all,p25,rms", "-j", "1"], (0,))):
                self.run_tool(*arguments, statuses=statuses, text=False, before=valgrind)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", nargs="+", required=True)
    parser.add_argument("--made", required=True)
    options, rest = parser.parse_known_args()
    MADE = os.path.abspath(options.made)
    ENVIRONMENT = {"PATH": os.pathsep.join([*map(os.path.abspath, options.tools), os.environ["PATH"]]),
                   "LC_ALL": "C.UTF-8"}
    with open(os.path.join(MADE, "expected.json"), encoding="utf-8") as expected:
        EXPECTED = json.load(expected)
    unittest.main(argv=[sys.argv[0], *rest])
