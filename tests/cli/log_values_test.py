#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""log_values_test.py --tools DIR... --logs DIR [TEST...]: what smd-ls, smd-tensor and smd-reduce print of recorded
TensorBoard log directories, against the recorded answers, and histograms, pictures and text as users ask for them."""

import argparse
import csv
import hashlib
import io
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from recorded import ENVIRONMENT, SUFFIX, find_tools, number, rows, run

LOGS = ""


def same(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b))


def log(name):
    return os.path.join(LOGS, name)


def recorded():
    """Gives each recorded trial: a name for messages, its folder, its answers."""
    for file in sorted(os.listdir(LOGS)):
        if file.endswith(SUFFIX):
            with open(log(file), encoding="utf-8") as answers:
                trials = json.load(answers)["trials"]
            name = file[:-len(SUFFIX)]
            for place, trial in trials.items():
                if trial["steps"]:
                    yield f"{name}/{place}", os.path.normpath(os.path.join(log(name), place)), trial


def records(trial, kinds):
    """The records of some kinds of tensors: (step, tensor, worker) with what is recorded of it."""
    result = {}
    for name, tensor in trial["tensors"].items():
        if tensor["kind"] not in kinds:
            continue
        for worker, saved in tensor["workers"].items():
            for at, step in enumerate(saved["steps"]):
                one = {key: saved[key][at] for key in ("values", "sha256", "reductions") if key in saved}
                one["wall_time"] = saved["wall_times"][at]
                one["scale"] = saved["variance_scale"][at] if "variance_scale" in saved else 1
                one["tensor"] = tensor
                result[step, name, worker] = one
    return result


NUMBERS = ("scalar", "tensor", "text")
MEDIA = ("image", "audio")


def in_order(keys):
    return sorted(keys, key=lambda key: (key[0], key[1].encode(), key[2]))


class Recorded(unittest.TestCase):
    maxDiff = 2000

    def each(self, check):
        seen = 0
        for name, folder, trial in recorded():
            with self.subTest(name):
                seen += 1
                check(folder, trial, self.status(trial))
        self.assertGreater(seen, 30)

    @staticmethod
    def status(trial):
        return 4 if trial["problems"] else 0

    def test_names_steps_workers_and_collections(self):
        def check(folder, trial, status):
            listed = {row["tensor"]: row for row in rows("smd-ls", folder, "-l", status=status)}
            self.assertEqual(set(listed), set(trial["tensors"]))
            for name, tensor in trial["tensors"].items():
                row = listed[name]
                steps = sorted({step for worker in tensor["workers"].values() for step in worker["steps"]})
                self.assertEqual((row["steps"], row["first_step"], row["last_step"]),
                                 (len(steps), steps[0], steps[-1]), name)
                self.assertEqual(row["workers"], sorted(tensor["workers"]), name)
                self.assertEqual(sorted(row["collections"]), sorted(tensor["collections"]), name)
            steps = rows("smd-ls", folder, "--steps", status=status)
            self.assertEqual([row["step"] for row in steps], trial["steps"])
            workers = rows("smd-ls", folder, "--workers", status=status)
            self.assertEqual([row["worker"] for row in workers], trial["workers"])

        self.each(check)

    def test_values(self):
        def check(folder, trial, status):
            expected = records(trial, NUMBERS + MEDIA)
            got = {}
            order = []
            columns = "tensor,step,worker,wall_time,dtype,shape,value"
            command = ("smd-tensor", folder, "-e", "", "-s", ":", "-w", "all", "--columns", columns)
            for row in rows(*command, status=status) if expected else []:
                key = row["step"], row["tensor"], row["worker"]
                order.append(key)
                got[key] = row
            self.assertEqual(order, in_order(expected))
            for key, one in expected.items():
                self.compare(key, got[key], one)

        self.each(check)

    def compare(self, key, row, one):
        self.assertEqual(row["wall_time"], one["wall_time"], key)
        tensor = one["tensor"]
        if tensor["dtype"] != "varies":
            self.assertEqual(row["dtype"], tensor["dtype"], key)
        if tensor.get("shape") != "varies":
            self.assertEqual(row["shape"], tensor.get("shape", []), key)
        if "values" in one:
            self.compare_elements(row["value"], one["values"], row["dtype"], key)

    def compare_elements(self, got, expected, dtype, key):
        if isinstance(expected, list):
            self.assertIsInstance(got, list, key)
            self.assertEqual(len(got), len(expected), key)
            for a, b in zip(got, expected):
                self.compare_elements(a, b, dtype, key)
        elif dtype == "string" or dtype.startswith(("int", "uint", "bool")):
            self.assertEqual(got, expected, key)
        elif dtype == "bfloat16":  # shortest as a float32 in the answers
            bits = [struct.unpack("<I", struct.pack("<f", number(one)))[0] + 0x8000 >> 16 for one in (got, expected)]
            both_nan = all(isinstance(number(one), float) and math.isnan(number(one)) for one in (got, expected))
            self.assertTrue(both_nan or bits[0] == bits[1], (key, got, expected))
        else:
            in_type = {"float16": np.float16, "float32": np.float32, "complex64": np.float32}.get(dtype, np.float64)
            np.testing.assert_array_equal(in_type(number(got)), in_type(number(expected)), str(key))

    def test_csv_of_scalars(self):
        def check(folder, trial, status):
            for name, tensor in trial["tensors"].items():
                if tensor["kind"] != "scalar" or len(trial["tensors"]) > 100:
                    continue
                out, _ = run("smd-tensor", folder, f"--name={name}", "-s", ":", "-w", "all", "--csv", "--columns",
                             "step,wall_time,value", status=status)
                table = list(csv.reader(io.StringIO(out.decode())))
                self.assertEqual(table[0], ["step", "wall_time", "value"])
                got = [(int(step), float(time)) for step, time, _ in table[1:]]
                expected = sorted((step, time) for worker in tensor["workers"].values()
                                  for step, time in zip(worker["steps"], worker["wall_times"]))
                self.assertEqual(sorted(got), expected, name)

        self.each(check)

    def test_pictures_and_sounds(self):
        seen = []

        def check(folder, trial, status):
            for (step, name, worker), one in records(trial, MEDIA).items():
                command = ["smd-tensor", folder, name, "-s", str(step), "-w", worker, "-f", "raw"]
                many = one["tensor"]["shape"] != []
                for at, digest in enumerate(one["sha256"]):
                    out, errors = run(*command, *(["--slice", str(at)] if many else []), status=status)
                    self.assertEqual(hashlib.sha256(out).hexdigest(), digest, (name, step, errors))
                    seen.append(name)

        self.each(check)
        self.assertGreater(len(seen), 3)

    def test_reductions(self):
        kinds = ["min", "max", "sum", "mean", "l2", "variance", "std"]
        seen = []

        def check(folder, trial, status):
            expected = records(trial, ("histogram",))
            if not expected:
                return
            got = {(row["step"], row["tensor"], row["worker"]): row
                   for row in rows("smd-reduce", folder, "-c", "histograms", "-w", "all", "-r", ",".join(kinds),
                                   status=status)}
            self.assertEqual(set(got), set(expected))
            for key, one in expected.items():
                for kind in kinds:
                    value = got[key][kind]
                    right = one["reductions"].get(kind)
                    if right is None or value is None:
                        self.assertEqual(value, right, (key, kind))
                        continue
                    value, right = number(value), number(right)
                    if kind in ("min", "max", "sum") or not math.isfinite(right):
                        self.assertTrue(same(value, right), (key, kind, value, right))
                        continue
                    # Of a variance the rounding of the sums is left, one unit of the mean square and of the mean's.
                    unit = 4 * np.finfo(np.float64).eps
                    scale = one["scale"] or 1
                    tolerance = unit * (scale if kind in ("variance", "std") else 1)
                    self.assertLessEqual(abs(value - right), tolerance * abs(right), (key, kind, value, right))
                    seen.append(key)

        self.each(check)
        self.assertGreater(len(seen), 100)


class Histograms(unittest.TestCase):
    """Of keras_overfit and pt_histograms."""

    def test_saved_has_no_buckets_among_numbers(self):
        out, errors = run("smd-reduce", log("pt_histograms"), "-n", "fc1.bias", "-s", "0", "-r", "saved", "--tsv")
        self.assertEqual(errors, [])
        self.assertEqual(out.decode().split("\n")[0].split("\t")[6:],
                         ["min", "max", "mean", "std", "variance", "sum", "l2", "num"])

    def test_rows_are_the_saved_buckets(self):
        for name, tensor in (("pt_histograms", "fc1.bias"), ("keras_gradients", "train/dense/gradients")):
            row, = rows("smd-tensor", log(name), tensor, "-s", "0", "--hist")
            saved, = rows("smd-reduce", log(name), "-n", tensor, "-s", "0", "-r", "min,max")
            edges, counts = row["edges"], row["counts"]
            self.assertEqual(len(edges), len(counts) + 1)
            self.assertEqual(edges, sorted(edges))
            full = [at for at, count in enumerate(counts) if count]
            self.assertEqual((edges[full[0]], edges[full[-1] + 1]), (saved["min"], saved["max"]))
            out, _ = run("smd-tensor", log(name), tensor, "-s", "0", "--hist", "--csv", "--columns", "bin,lo,hi,count")
            table = list(csv.DictReader(io.StringIO(out.decode())))
            self.assertEqual([float(line["lo"]) for line in table], edges[:-1])
            self.assertEqual([float(line["hi"]) for line in table], edges[1:])
            self.assertEqual([float(line["count"]) for line in table], counts)
        # fc1.bias has 16 elements: sum / mean.
        row, = rows("smd-tensor", log("pt_histograms"), "fc1.bias", "-s", "0", "--hist")
        self.assertEqual(sum(row["counts"]), 16)

    def spread(self, edges, counts, onto):
        """Each bucket's count, by its share of the width."""
        result = np.zeros(len(onto) - 1)
        for left, right, count in zip(edges, edges[1:], counts):
            for at in range(len(result)):
                part = min(right, onto[at + 1]) - max(left, onto[at])
                result[at] += count * max(part, 0) / (right - left)
        return result

    def test_bins_share_the_buckets(self):
        saved, = rows("smd-tensor", log("pt_histograms"), "fc1.bias", "-s", "0", "--hist")
        for bins in ("5", "4:-1:1", "3:0:0.5"):
            spec = bins.split(":")
            low, high = map(float, spec[1:]) if len(spec) > 1 else (saved["edges"][0], saved["edges"][-1])
            edges = np.linspace(low, high, int(spec[0]) + 1)
            expected = self.spread(saved["edges"], saved["counts"], edges)
            for command in ("smd-tensor", "smd-reduce"):
                row, = rows(command, log("pt_histograms"), "-n", "fc1.bias", "-s", "0", "--hist", "--bins", bins)
                np.testing.assert_allclose(row["edges"], edges, rtol=1e-14)
                np.testing.assert_allclose(row["counts"], expected, rtol=1e-12, atol=1e-12)

    def test_pooled_steps_add_up(self):
        row, = rows("smd-reduce", log("pt_histograms"), "-n", "fc1.bias", "--by", "tensor", "--hist", "--bins", "7")
        self.assertAlmostEqual(sum(row["counts"]), 6 * 16, places=9)  # 6 steps of 16 elements
        parts = rows("smd-reduce", log("pt_histograms"), "-n", "fc1.bias", "--hist", "--bins", "7")
        np.testing.assert_allclose(np.sum([part["counts"] for part in parts], axis=0), row["counts"], rtol=1e-12)

    def test_constant(self):
        row, = rows("smd-tensor", log("pt_histograms"), "constant", "--hist", "--bins", "2")
        self.assertEqual((row["edges"], row["counts"]), ([2, 2.5, 3], [0, 50]))  # 50 times 2.5; 0.5 to each side

    def test_bars(self):
        out, _ = run("smd-tensor", log("pt_histograms"), "fc1.bias", "--hist", "-f", "table", "--bins", "3")
        lines = out.decode().splitlines()
        self.assertTrue(lines[0].startswith("fc1.bias  step 50  worker_0  ") and lines[0].endswith(" saved buckets"))
        self.assertEqual(len(lines), 4)
        out, _ = run("smd-tensor", log("pt_histograms"), "fc1.bias", "--hist", "-f", "table")
        row, = rows("smd-tensor", log("pt_histograms"), "fc1.bias", "--hist")
        self.assertEqual([int(line.split()[3]) for line in out.decode().splitlines()[1:]], row["counts"])

    def test_a_part_was_not_saved(self):
        _, errors = run("smd-tensor", log("pt_histograms"), "fc1.bias", "--hist", "--slice", "0", "--csv", status=2)
        self.assertEqual(errors, ["smd-tensor: Usage: --slice: 'fc1.bias': only the histogram of the whole was saved"])


class Messages(unittest.TestCase):
    def test_value_of_a_histogram(self):
        for step in ("last", "0"):
            _, errors = run("smd-tensor", log("pt_histograms"), "fc1.bias", "-s", step, "--csv", status=1)
            self.assertEqual(len(errors), 1)
            self.assertIn("no value was saved, only reductions", errors[0])
            self.assertTrue(errors[0].endswith("try smd-reduce -r saved, or --hist for the histogram"), errors)

    def test_statistics_that_need_elements(self):
        for kind in ("median", "p90", "abs_mean"):
            out, errors = run("smd-reduce", log("pt_histograms"), "-n", "fc1.bias", "-s", "0", "-r", kind, "--tsv")
            self.assertTrue(out.decode().splitlines()[1].endswith("\tNA"))
            self.assertEqual(len(errors), 1)
            self.assertIn(f"no {kind} of 'fc1.bias'", errors[0])
            self.assertIn("buckets give only bounds of it", errors[0])

    def test_pictures(self):
        _, errors = run("smd-tensor", log("pt_media"), "samples/grid", "-f", "npy", "-o", os.devnull, status=2)
        self.assertEqual(errors, ["smd-tensor: Usage: -f npy: 'samples/grid' at step 4: bytes that are not text, as pictures "
                                  "are, have no place in NumPy's arrays of text; -f raw -o DIR/ writes each string to "
                                  "a file", "Try 'smd-tensor --help'."])
        out, errors = run("smd-tensor", log("pt_media"), "samples/grid", "-f", "table")
        self.assertEqual(errors, [])
        self.assertIn("bytes", out.decode())
        self.assertNotIn("\ufffd", out.decode())
        self.assertLess(len(out), 200)
        for view in ("--heatmap", "--stat", "--hist"):
            done = subprocess.run(["smd-tensor", log("pt_media"), "samples/grid", view], env=ENVIRONMENT, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertNotIn(b"\x89PNG", done.stdout)
            self.assertIn(done.returncode, (0, 1, 2), done.stderr)

    def test_text_as_it_is(self):
        out, _ = run("smd-tensor", log("pt_media"), "notes/text_summary", "-s", "0", "-f", "raw")
        self.assertEqual(out.decode(), "first **bold** line\n\nsecond: \u00fc\u4e2d\U0001f600")


def main():
    global LOGS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", action="append", default=[], metavar="DIR")
    parser.add_argument("--logs", required=True, metavar="DIR")
    options, rest = parser.parse_known_args()
    # A copy: nothing else may stand beside a log directory, and it may be read-only.
    with tempfile.TemporaryDirectory() as folder:
        LOGS = os.path.join(folder, "tb-logs")
        shutil.copytree(options.logs, LOGS)
        find_tools(options.tools)
        unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
