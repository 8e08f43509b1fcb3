#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""module_test.py TESTS UNPACKED_FIXTURES [TEST...]: the module smd, against recorded answers and NumPy."""

import copy
import ctypes
import decimal
import hashlib
import json
import os
import pathlib
import pickle
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import typing
import unittest

import smd

IMPORTED = {"numpy", "smd._core"} & set(sys.modules)  # by importing smd
import numpy as np  # noqa: E402
from smd.compat.smdebug import Hook, ReductionConfig, SaveConfig  # noqa: E402

TESTS, UNPACKED = map(os.path.abspath, sys.argv[1:3])
RECORDED = os.path.join(UNPACKED, "recorded-trials")
FIXTURES = os.path.join(TESTS, "fixtures")
sys.path.insert(0, os.path.join(TESTS, "support"))
import element_types  # noqa: E402
from torch_file import Quantised, Storage, write_pt  # noqa: E402

SUFFIX = ".expected.json"
MODES = ("TRAIN", "EVAL", "PREDICT", "GLOBAL")
SPECIAL = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf, "nan": np.nan, "inf": np.inf, "-inf": -np.inf}


def number(value):
    return SPECIAL[value] if isinstance(value, str) else value


def element_bytes(array):
    """As the recorded answers hash them."""
    if array.dtype == object:
        return b"".join(struct.pack("<I", len(text.encode())) + text.encode() for text in array.reshape(-1))
    return array.tobytes()


def answers(folder):
    for file in sorted(os.listdir(folder)):
        if file.endswith(SUFFIX):
            with open(os.path.join(folder, file), encoding="utf-8") as text:
                yield os.path.join(folder, file[:-len(SUFFIX)]), json.load(text)


def copied(trial, into, steps):
    """Copies what a worker of `trial` has saved at the given steps so far, each index file last."""
    for folder in ("collections", "events", "index"):
        for place, _, files in sorted(os.walk(os.path.join(trial, folder))):
            for file in sorted(files):
                if folder == "collections" or int(file.split("_")[0]) in steps:
                    target = os.path.join(into, os.path.relpath(place, trial))
                    os.makedirs(target, exist_ok=True)
                    shutil.copy(os.path.join(place, file), target)


def saved(place, *steps, **how):
    """A trial of these steps of the mode train: each a mode step and values by name."""
    hook = Hook(place, save_config=SaveConfig(save_interval=1), **how)
    for step, (mode_step, values) in enumerate(steps):
        hook._set_step(step, "train", mode_step)
        for name, value in values.items():
            hook.save_tensor(name, np.array(value))
    hook.close()
    return smd.open(place)


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def place(self, name):
        return os.path.join(self.folder, name)

    def log(self, text, **options):
        with open(self.place("metrics.csv"), "w", encoding="utf-8") as file:
            file.write(text)
        return smd.open(self.place("metrics.csv"), **options)

    def check_table(self, table, **wanted):
        self.assertEqual(list(table), list(wanted))
        for name, column in wanted.items():
            np.testing.assert_array_equal(table[name], column, name)


class RecordedTrials(unittest.TestCase):
    """Every question that the answers hold, of every recorded trial."""

    def each(self, check):
        seen = 0
        for path, expected in answers(RECORDED):
            with self.subTest(os.path.basename(path)):
                if "ok" not in expected["open"]:
                    continue
                os.environ.update(expected["env"])
                try:
                    trial = smd.open(path)
                    check(trial, {**expected, **expected.get("correct", {})})
                finally:
                    for name in expected["env"]:
                        del os.environ[name]
                seen += 1
        self.assertGreater(seen, 35)

    def test_names_steps_and_modes(self):
        def check(trial, expected):
            self.assertEqual(trial.tensor_names(), expected["tensor_names"])
            self.assertEqual(list(trial), expected["tensor_names"])
            self.assertEqual(sorted(mode.name for mode in trial.modes()), sorted(expected["modes"]))
            self.assertEqual(trial.workers(), expected["workers"])
            for mode in MODES:
                steps = expected["steps"][mode]
                self.assertEqual(trial.steps(mode), steps["complete"], mode)
                self.assertEqual(trial.steps(mode.lower(), show_incomplete_steps=True), steps["all"], mode)
                for step, state in expected["step_state"][mode].items():
                    state = state["correct"] if isinstance(state, dict) else state
                    self.assertEqual(trial.has_passed_step(int(step), getattr(smd.Mode, mode)).name, state, step)
            for step, mode, mode_step in expected["step_map"]:
                self.assertEqual((trial.mode(step).name, trial.mode_step(step)), (mode, mode_step))
            for mode, pairs in expected["global_steps"].items():
                for mode_step, step in pairs:
                    self.assertEqual(trial.global_step(mode, mode_step), step)
            for name, collection in expected["collections"].items():
                self.assertEqual(trial.collection(name).include_regex, collection["include_regex"])
                self.assertEqual(trial.tensor_names(collection=name), collection["resolved"], name)

        self.each(check)

    def test_values_and_reductions(self):
        compared = 0

        def check(trial, expected):
            nonlocal compared
            for name, answer in expected["tensors"].items():
                for record in answer["records"]:
                    value = record.get("written", record["value"])
                    at = {"step_num": record["global_step"], "worker": record.get("worker_correct", record["worker"])}
                    if "sha256" in value:
                        array = trial[name].value(**at)
                        self.assertEqual(hashlib.sha256(element_bytes(array)).hexdigest(), value["sha256"], (name, at))
                        self.assertEqual(list(array.shape), value["shape"])
                        dtype = value["dtype"].lstrip("q") if value["dtype"] != "string" else "object"
                        self.assertEqual(str(array.dtype), dtype)
                        compared += 1
                    for key, stored in record.get("stored", {}).items():
                        if isinstance(stored, dict) and "value" in stored:
                            abs_, kind = key.startswith("abs_"), key[4:] if key.startswith("abs_") else key
                            got = trial[name].reduction_value(reduction_name=kind, abs=bool(abs_), **at)
                            np.testing.assert_array_equal(np.ravel(got), np.ravel(number(stored["value"])))
                            compared += 1

        self.each(check)
        self.assertGreater(compared, 1464)

    def test_the_last_value(self):
        """Without a step: of the last complete one that has a value, of the worker if one is given."""
        compared = 0

        def check(trial, expected):
            nonlocal compared
            for name, answer in expected["tensors"].items():
                wanted = {}  # by mode and worker; of one step the first worker by name counts
                for record in sorted(answer["records"], key=lambda one: one.get("worker_correct", one["worker"])):
                    value = record.get("written", record["value"])
                    for mode, step in ((record["mode"], record["mode_step"]), ("GLOBAL", record["global_step"])):
                        for worker in (None, record.get("worker_correct", record["worker"])):
                            if ("sha256" in value and step in expected["steps"][mode]["complete"] and
                                    step > wanted.get((mode, worker), (-1,))[0]):
                                wanted[mode, worker] = step, value["sha256"]
                for (mode, worker), (step, sha256) in wanted.items():
                    if (name, mode) != ("twice", "GLOBAL"):  # the answers lack a step that repeats a mode step
                        array = trial[name].value(mode=mode, worker=worker)
                        self.assertEqual(hashlib.sha256(element_bytes(array)).hexdigest(), sha256, (name, mode, worker))
                        compared += 1

        self.each(check)
        self.assertGreater(compared, 500)

    def test_columns(self):
        """values() and reduce() of every tensor, against value() and NumPy."""

        def check(trial, _):
            for name in trial:
                tensor = trial[name]
                single = {}
                for step in tensor.steps():
                    try:
                        single[step] = tensor.value(step)
                    except smd.TensorUnavailableForStep:
                        pass
                steps, values, times = tensor.values(wall_time=True)
                self.assertEqual(steps.tolist(), list(single), name)
                self.assertEqual((len(values), len(times)), (len(single), len(single)))
                for value, one in zip(values, single.values()):
                    self.assertEqual(np.shape(value), one.shape, name)
                    np.testing.assert_array_equal(value, one)
                if single and all(one.dtype.kind in "fiu" and one.size for one in single.values()):
                    table = tensor.reduce("max", "p50")
                    rows = [table["step"].tolist().index(step) for step in single]
                    for row, one in zip(rows, single.values()):
                        np.testing.assert_allclose(table["p50"][row], np.percentile(one.astype(float), 50), rtol=1e-12)

        self.each(check)


class Logs(unittest.TestCase):
    def test_scalars(self):
        """Every scalar of every recorded log: steps, values, times."""
        compared = 0
        for path, expected in answers(os.path.join(FIXTURES, "tb-logs")):
            for place, answer in expected.get("trials", {}).items():
                scalars = {name: tensor for name, tensor in answer["tensors"].items()
                           if tensor["kind"] == "scalar" and len(tensor["workers"]) == 1}
                if not scalars:
                    continue
                trial = smd.open(os.path.join(path, place))
                table = trial.scalars(names=list(scalars), wall_time=True)
                for name, tensor in scalars.items():
                    worker, = tensor["workers"].values()
                    steps, values, times = trial[name].values(wall_time=True)
                    wanted = np.array([number(value) for value in worker["values"]])
                    self.assertEqual(steps.tolist(), worker["steps"], (path, name))
                    np.testing.assert_array_equal(values.astype(str), wanted.astype(values.dtype).astype(str))
                    self.assertEqual(times.tolist(), worker["wall_times"])
                    mine = table["tensor"] == name
                    self.assertEqual(table["step"][mine].tolist(), worker["steps"])
                    self.assertEqual(table["wall_time"][mine].tolist(), worker["wall_times"])
                    compared += len(wanted)
        self.assertGreater(compared, 3000)

    def test_wide(self):
        log = smd.open(os.path.join(FIXTURES, "tb-logs", "sick"))
        table = log.scalars("loss", wide=True)
        self.assertEqual(list(table), ["step", "train/loss", "val/loss"])
        for name in ("train/loss", "val/loss"):
            steps, values = log[name].values()
            full = np.full(len(table["step"]), np.nan)
            full[np.isin(table["step"], steps)] = values
            np.testing.assert_array_equal(table[name].astype(float), full)

    def test_names_that_are_not_utf8(self):
        name = b"loss\xff".decode("utf-8", "surrogateescape")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "metrics.csv"), "wb") as file:
                file.write(b"step,loss\xff\n0,1.5\n")
            trial = smd.open(folder)
            self.assertEqual(list(trial), [name])
            self.assertEqual(trial[name].value(0), 1.5)


class Tables(InFolder):
    def test_wide_values_are_at_their_steps(self):
        """In the mode train x is saved three times and there are three steps, but x lacks step 1."""
        trial = saved(self.place("run"), (0, {"x": 5.0, "y": 0.0}), (0, {"x": 6.0}), (1, {"y": 1.0}), (2, {"x": 7.0}))
        self.check_table(trial.scalars(wide=True, mode="train"), step=[0, 1, 2], x=[5, np.nan, 7], y=[0, 1, np.nan])
        self.check_table(trial.scalars(wide=True), step=[0, 1, 2, 3], x=[5, 6, np.nan, 7], y=[0, np.nan, 1, np.nan])

    def test_superseded_values(self):
        log = self.log("step,a,b\n0,0,10\n1,1,11\n1,1.5,\n2,,12\n", superseded="included")
        steps, values = log["a"].values()
        self.assertEqual((steps.tolist(), values.tolist()), ([0, 1, 1], [0, 1, 1.5]))
        self.check_table(log.scalars(wide=True), step=[0, 1, 2], a=[0, 1.5, np.nan], b=[10, 11, 12])
        self.check_table(log.scalars("a", wide=True), step=[0, 1], a=[0, 1.5])

    def test_the_first_of_several_global_steps_counts(self):
        """The mode steps are 0, 0, 4, 3. "late" is saved only at the second, which does not count."""
        one, many = np.arange(4.0), np.arange(8.0).reshape(4, 2)
        trial = saved(self.place("run"), *((step, {"one": one[i], "many": many[i], **({"late": 1.0} if i == 1 else {})})
                                           for i, step in enumerate((0, 0, 4, 3))))
        counted = [0, 3, 2]
        for name, all_values in (("one", one), ("many", many)):
            tensor = trial[name]
            self.assertEqual(tensor.steps("train"), [0, 3, 4])
            for worker in (None, "worker_0"):
                steps, values, times = tensor.values("train", worker, wall_time=True)
                self.assertEqual((steps.tolist(), len(times)), ([0, 3, 4], 3))
                np.testing.assert_array_equal(values, all_values[counted])
                table = tensor.reduce("max", mode="train", worker=worker)
                self.check_table(table, step=[0, 3, 4], max=all_values[counted].reshape(3, -1).max(1))
            np.testing.assert_array_equal(tensor.value(mode="train"), all_values[2])
            steps, values = tensor.values()
            self.assertEqual(steps.tolist(), [0, 1, 2, 3])
            np.testing.assert_array_equal(values, all_values)
        self.assertEqual([len(array) for array in trial["late"].values("train")], [0, 0])
        self.check_table(trial.scalars(mode="train"), step=[0, 3, 4], value=one[counted], tensor=["one"] * 3)

    def test_numbers_with_axes_keep_them(self):
        trial = saved(self.place("run"), *((step, {"bias": [float(step)], "deep": [[[step]]]}) for step in range(3)))
        np.testing.assert_array_equal(trial["bias"].values()[1], [[0.0], [1.0], [2.0]])
        np.testing.assert_array_equal(trial["deep"].values()[1], [[[[0]]], [[[1]]], [[[2]]]])
        self.check_table(trial.scalars("bias", wide=True), step=[0, 1, 2], bias=[0, 1, 2])
        trial = saved(self.place("changed"), (0, {"x": 1.0}), (1, {"x": [2.0]}), (2, {"x": 3.0}))
        self.assertEqual([(value.shape, value.item()) for value in trial["x"].values()[1]], [((), 1), ((1,), 2), ((), 3)])
        self.check_table(trial.scalars(wide=True), step=[0, 1, 2], x=[1, 2, 3])

    def test_numbers_of_several_types(self):
        """2**53 + 1 is the smallest positive integer that float64 does not hold."""
        large = 2**53 + 1
        trial = saved(self.place("run"), (0, {"n": large, "small": 3}), (1, {"n": np.float32(0.5), "small": 0.5}))
        values = trial["n"].values()[1]
        self.assertEqual([(int(one), one.dtype) for one in values], [(large, np.int64), (0, np.float32)])
        values = trial["small"].values()[1]
        self.assertEqual((values.tolist(), values.dtype), ([3.0, 0.5], np.float64))

    def test_complex_numbers(self):
        """They have no order and no signs; their moduli, 5 and 13, do."""
        trial = saved(self.place("run"), (0, {"c": [3 + 4j, 5 - 12j], "one": 1j}))
        for name in ("min", "max", "median", "p50", "prod", "mean", "negative", "posinf"):
            self.assertRaises(smd.InvalidArgument, trial["c"].reduce, name)
        self.check_table(trial["c"].reduce("abs_min", "abs_max"), step=[0], abs_min=[5], abs_max=[13])
        self.assertEqual(trial["one"].values()[1].tolist(), [1j])
        self.assertEqual(list(trial.scalars(wide=True)), ["step"])

    def test_two_columns_of_one_name(self):
        log = self.log("epoch,step,loss,loss/wall_time\n0,10,1.5,3\n1,20,0.5,4\n", step_name="epoch")
        with self.assertRaisesRegex(smd.InvalidArgument, "'step'") as caught:
            log.scalars(wide=True)
        self.assertEqual(caught.exception.tag, "Usage")
        losses = {"loss": [1.5, 0.5], "loss/wall_time": [3, 4]}
        self.check_table(log.scalars(wide=True, exclude="^step$"), step=[0, 1], **losses)
        with self.assertRaisesRegex(smd.InvalidArgument, "'loss/wall_time'"):
            log.scalars(wide=True, exclude="^step$", wall_time=True)
        self.assertEqual(log.scalars("^step$")["value"].tolist(), [10, 20])


class Facts(unittest.TestCase):
    def test_hyperparameters(self):
        place = os.path.join(FIXTURES, "metric-logs", "wb_config")
        with open(place + SUFFIX, encoding="utf-8") as file:
            self.assertEqual(smd.open(place).hyperparameters, json.load(file)["trials"]["."]["hyperparameters"])
        self.assertEqual(smd.open(os.path.join(FIXTURES, "good-pytorch-digits")).hyperparameters, {})


class AsItStands(InFolder):
    """What is at rest is read as the commands read it; what grows, or is waited for, as a follower reads it."""
    TAIL = "step,loss\n0,1\n1,nan"  # without a line end

    def grow(self, text):
        with open(self.place("metrics.csv"), "a", encoding="utf-8") as file:
            file.write(text)

    def test_a_log_at_rest(self):
        log = self.log(self.TAIL)
        self.assertEqual((log.steps(), log.ended), ([0, 1], False))
        np.testing.assert_array_equal(log["loss"].values()[1], [1, np.nan])
        result = smd.rules.run(log, "ExplodingTensor")
        self.assertEqual((result.status, result.findings[0].step), ("IssuesFound", 1))
        log = self.log(self.TAIL, as_it_stands=True)
        self.assertEqual((log.steps(), log.ended), ([0, 1], True))
        self.grow("\n2,3\n")
        self.assertEqual((log.steps(), log.ended), ([0, 1], True))
        for options in ({"as_it_stands": False}, {"timeout": 1}):
            log = self.log(self.TAIL, **options)
            self.assertEqual((log.steps(), log.ended), ([0], False), options)

    def test_a_log_that_grows(self):
        log, fixed = self.log(self.TAIL), smd.open(self.place("metrics.csv"), auto_refresh=False)
        self.grow("\n2,3")
        self.assertEqual((log.steps(), log.ended), ([0, 1], False))
        self.grow("\n3")
        self.assertEqual(log.steps(), [0, 1, 2])
        self.assertEqual(fixed.steps(), [0, 1])
        fixed.refresh()
        self.assertEqual(fixed.steps(), [0, 1, 2])

    def test_a_log_that_is_waited_for(self):
        log = self.log(self.TAIL)
        self.assertEqual(list(log.follow(idle=0.01)), [0])
        self.assertEqual(log.steps(), [0])
        log = self.log(self.TAIL)
        self.assertEqual(log.wait_for_steps([1], timeout=0), "timed_out")
        self.grow("\n")
        self.assertEqual(log.wait_for_steps([1]), "reached")

    def test_steps_are_held_back_until_they_are_whole(self):
        for whole_before, held in ((1, True), (2**63 - 1, True), (None, False)):
            begun = time.monotonic()
            follower = self.log("step,loss\n0,1\n").follow(timeout=1, whole_before=whole_before)
            self.assertEqual((next(follower), time.monotonic() - begun >= 1), (0, held), whole_before)

    def test_a_step_that_grows_comes_again(self):
        log = self.log("step,loss,accuracy\n0,1,\n")
        follower = log.follow(idle=9)
        self.assertEqual(next(follower), 0)
        self.grow("0,,0.5\n")
        self.assertEqual(next(follower), 0)
        self.assertEqual(log["accuracy"].value(0), 0.5)

    def test_a_run_that_has_ended(self):
        place = os.path.join(FIXTURES, "metric-logs", "wb_global_step_gap")
        with open(place + SUFFIX, encoding="utf-8") as file:
            steps = json.load(file)["trials"]["."]["steps"]
        for how in (None, True):
            run = smd.open(place, as_it_stands=how)
            self.assertEqual((run.steps(), list(run.follow()), run.ended), (steps, steps, True), how)


class ElementTypes(unittest.TestCase):
    def check(self, dtype, small=np.float32):
        trial = smd.open(os.path.join(UNPACKED, "element-types", dtype))
        for name, made in element_types.tensors_of(dtype, 0).items():
            array = trial[name].value(0)
            self.assertEqual(array.shape, made.shape)
            if dtype == "string":
                self.assertEqual(array.reshape(-1).tolist(), list(made.numbers))
            elif small is np.float32:
                np.testing.assert_array_equal(array.reshape(-1), np.asarray(made.numbers).reshape(-1))
                if dtype == "bfloat16" or dtype.startswith("float8"):
                    self.assertEqual(array.dtype, np.float32)
                else:
                    self.assertEqual(array.dtype, np.dtype(dtype.lstrip("q")))
            else:
                self.assertEqual((array.dtype, array.tobytes()), (np.dtype(small), made.bytes))

    def test_every_type(self):
        self.assertNotIn("ml_dtypes", sys.modules)
        for dtype in element_types.TYPES:
            with self.subTest(dtype):
                self.check(dtype)

    def test_ml_dtypes(self):
        """If the package is there, its types are used, whose bits are those of the file."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "ml_dtypes.py"), "w", encoding="utf-8") as file:
                file.write("import numpy\nbfloat16 = numpy.uint16\nfloat8_e5m2 = numpy.uint8\n")
            sys.path.insert(0, folder)
            try:
                self.check("bfloat16", np.uint16)
                self.check("float8_e5m2", np.uint8)
                self.check("float8_e4m3fn")  # this one lacks it
            finally:
                sys.path.remove(folder)
                sys.modules.pop("ml_dtypes", None)

    def test_arrays_are_their_own(self):
        path = os.path.join(UNPACKED, "element-types", "float64")
        trial = smd.open(path)
        made = element_types.tensors_of("float64", 0)["labels"].numbers
        array, again = trial["labels"].value(0), trial["labels"].value(0)
        del trial
        array[:] = 0
        np.testing.assert_array_equal(again, made)
        self.assertTrue(again.flags.c_contiguous)


class Errors(unittest.TestCase):
    def setUp(self):
        self.trial = smd.open(os.path.join(RECORDED, "pt_digits_train_eval"))

    def raised(self, kind, call, **facts):
        with self.assertRaises(kind) as caught:
            call()
        error = caught.exception
        self.assertIs(type(error), kind)
        self.assertIsInstance(error, smd.Error)
        for name, value in facts.items():
            self.assertEqual(getattr(error, name), value, name)
        return error

    def test_classes_and_facts(self):
        gradient = self.trial.tensor_names(collection="gradients")[0]
        self.raised(smd.TensorUnavailable, lambda: self.trial[gradient[:-1]], tensor=gradient[:-1],
                    tag="TensorUnavailable")
        self.assertIn(gradient, self.raised(smd.TensorUnavailable, lambda: self.trial[gradient + "s"]).nearest)
        self.raised(smd.StepUnavailable, lambda: self.trial[gradient].value(1), step=1, mode=smd.Mode.GLOBAL)
        self.raised(smd.NoMoreData, lambda: self.trial[gradient].value(10**6, "train"), step=10**6,
                    mode=smd.Mode.TRAIN, last_step=25)
        self.assertTrue(issubclass(smd.NoMoreData, smd.StepUnavailable))
        evaluation = self.trial.global_step("eval", 0)
        self.raised(smd.TensorUnavailableForStep, lambda: self.trial[gradient].value(evaluation), tensor=gradient,
                    step=evaluation, missing=None)
        self.raised(smd.InvalidWorker, lambda: self.trial[gradient].value(0, worker="x"), worker="x")
        self.raised(smd.InvalidArgument, lambda: self.trial.tensor_names("("), tag="Usage")
        self.assertEqual((smd.InvalidArgument("").tag, smd.MatchLimit("").tag), ("Usage", "Usage"))
        self.assertEqual(smd.RuleEvaluationConditionMet("R", 1).tag, "RuleEvaluationConditionMet")
        self.raised(smd.InvalidArgument, lambda: self.trial.steps("training"))
        self.raised(smd.InvalidArgument, lambda: smd.open(RECORDED, superseded="never"))
        for options in ({"newest": -1}, {"jobs": "many"}, {"newest": 1, "oldest": 1}, {"newest": 1, "range_steps": (0, 9)}):
            self.raised(smd.InvalidArgument, lambda: smd.open(RECORDED, **options), tag="Usage")
        with self.assertRaisesRegex(TypeError, "no option 'ranges'"):
            smd.open(RECORDED, ranges=1)
        error = self.raised(smd.ReadError, lambda: smd.open("/no/such/place"), tag="NotFound")
        self.assertEqual(error.problem.kind, "NotFound")
        self.raised(smd.MissingCollectionFiles, lambda: smd.open(RECORDED), ended=True)
        running = smd.open(os.path.join(RECORDED, "running_single"))
        self.raised(smd.StepNotYetAvailable, lambda: running[list(running)[0]].value(10**6), step=10**6)

    def test_made_by_hand(self):
        """As the reference's; and between processes."""
        train = smd.Mode.TRAIN
        for error, text, facts in (
                (smd.StepUnavailable(3, train), "TRAIN step 3 was not saved", {"step": 3, "mode": train}),
                (smd.NoMoreData(3, smd.Mode.GLOBAL, 2), "step 3 will not come", {"step": 3, "last_step": 2}),
                (smd.StepNotYetAvailable(3, train), "TRAIN step 3 is not there yet", {"step": 3, "mode": train}),
                (smd.TensorUnavailable("x"), "'x' was not saved", {"tname": "x", "nearest": []}),
                (smd.TensorUnavailableForStep("x", 3), "'x' was not saved at step 3",
                 {"tname": "x", "step": 3, "mode": smd.Mode.GLOBAL, "has_reductions": False, "missing": None}),
                (smd.TensorUnavailableForStep(tname="x", step=3, mode=train, has_reductions=True), "TRAIN step 3",
                 {"mode": train, "has_reductions": True}),
                (smd.InvalidCollectionConfiguration("c"), "collection 'c'", {"c_name": "c", "tag": "Usage"}),
                (smd.InvalidWorker("w"), "worker 'w'", {"worker": "w", "workers": []}),
                (smd.IndexReaderException("bad"), "bad", {"message": "bad"}),
                (smd.RuleEvaluationConditionMet("R", 3, end_of_rule=True), "rule R at step 3", {"end_of_rule": True})):
            for one in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
                self.assertIs(type(one), type(error))
                self.assertIn(text, str(one))
                self.assertEqual({name: getattr(one, name) for name in facts}, facts)
        gradient = self.trial[self.trial.tensor_names(collection="gradients")[0]]
        error = self.raised(smd.NoMoreData, lambda: gradient.value(10**6), last_step=38)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), vars(again)), (str(error), vars(error)))
        problem = smd.Problem(kind="Damaged", file="a", offset=3, text="bad")
        for again in (copy.copy(problem), pickle.loads(pickle.dumps(problem))):
            self.assertEqual(again, problem)
        self.assertNotEqual(smd.Problem(kind="Damaged", file="a", offset=4, text="bad"), problem)

    def test_modes_are_an_enumeration(self):
        self.assertEqual([mode.name for mode in smd.Mode], ["TRAIN", "EVAL", "PREDICT", "GLOBAL"])
        self.assertEqual((len(smd.Mode), smd.Mode["TRAIN"], smd.Mode(4)), (4, smd.Mode.TRAIN, smd.Mode.GLOBAL))
        self.assertEqual([state.value for state in smd.StepState], [0, 1, 2])
        self.assertIs(self.trial.mode(0), smd.Mode.TRAIN)
        self.assertIs(self.trial.has_passed_step(0), smd.StepState.AVAILABLE)
        self.assertIs(pickle.loads(pickle.dumps(smd.Mode.EVAL)), smd.Mode.EVAL)
        self.assertRaises(ValueError, smd.Mode, 9)
        self.raised(smd.InvalidArgument, lambda: self.trial.steps(9))

    def test_values_of_other_types(self):
        tensor = self.trial[self.trial.tensor_names(collection="gradients")[0]]
        for call, text in ((lambda: tensor.value(0.0), "0.0 is no step"), (lambda: tensor.value("0"), "'0' is no step"),
                           (lambda: tensor.value(2**70), f"{2**70} is no step"),
                           (lambda: self.trial[0], "0 is no text"), (lambda: tensor.value(0, worker=1), "1 is no text"),
                           (lambda: self.trial.tensor_names(b"l"), "108 is no text"),
                           (lambda: self.trial.wait_for_steps("5"), "'5' is no step"),
                           (lambda: tensor.prev_steps(5, -1), "not -1"), (lambda: tensor.prev_steps(5, 1.5), "not 1.5"),
                           (lambda: self.trial.wait_for_steps([0], timeout="5"), "'5' is no number"),
                           (lambda: self.trial.follow(idle=[]), "[] is no number"),
                           (lambda: smd.refreshing(False, "run"), "'run' is no trial"),
                           (lambda: smd.diff(self.trial, self.trial, rtol="x"), "'x' is no number")):
            error = self.raised(smd.InvalidArgument, call)
            self.assertIn(text, str(error))
            self.assertNotIn("smd._core", str(error))

    def test_workers(self):
        """A worker that saved nothing of the tensor raises; one without values in the mode returns none."""
        with tempfile.TemporaryDirectory() as folder:
            trial = saved(folder, (0, {"loss": 1.0, "many": [1, 2]}))
            for ask in (lambda: trial["loss"].values(worker="x"), lambda: trial["many"].values(worker="x"),
                        lambda: trial["loss"].value(worker="x"),
                        lambda: trial["loss"].reduce("mean", worker="x"), lambda: trial.scalars(worker="x"),
                        lambda: trial.scalars(worker="x", wide=True), lambda: trial.scalars("none", worker="x")):
                self.raised(smd.InvalidWorker, ask, worker="x", workers=["worker_0"])
            self.assertEqual(len(trial.scalars("many", worker="worker_0")["step"]), 0)
            self.assertEqual(len(trial["loss"].values("eval", worker="worker_0")[0]), 0)
            self.raised(smd.TensorUnavailableForStep, lambda: trial["loss"].value(mode="eval", worker="worker_0"))

    def test_damage(self):
        trial = smd.open(os.path.join(FIXTURES, "bad-flipped-bit"))
        with self.assertRaises(smd.ReadError) as caught:
            for name in trial:
                trial[name].values()
        self.assertEqual(caught.exception.problem.kind, "Damaged")
        self.assertTrue(caught.exception.problem.file.startswith("events/"))


    def test_files_that_are_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            saved(folder, (0, {"one": 1.0, "many": [1, 2]}))
            shutil.rmtree(os.path.join(folder, "events"))
            trial = smd.open(folder)
            for name in trial:
                for ask in (trial[name].values, lambda: trial[name].reduce("mean"), lambda: trial.scalars(names=name)):
                    error = self.raised(smd.ReadError, ask, tag="Absent")
                    self.assertTrue(error.problem.file.startswith("events/"))

    @unittest.skipIf(int(np.__version__.split(".")[0]) > 1, "NumPy 2 takes 64 axes")
    def test_more_axes_than_numpy_takes(self):
        trial = smd.open(os.path.join(RECORDED, "broken", "tensor_forty_dims"))
        tensor = trial["a"]
        step, = (step for step in tensor.steps() if len(tensor.shape(step)) == 40)
        for ask in (lambda: tensor.value(step), tensor.values):
            self.assertIn("dimensions", str(self.raised(smd.InvalidArgument, ask)))


class Waiting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = os.path.join(folder.name, "trial")
        self.source = os.path.join(RECORDED, "running_single")
        self.steps = smd.open(self.source).steps()
        copied(self.source, self.place, self.steps[:2])

    def end(self):
        with open(os.path.join(self.place, "training_job_end.ts"), "w", encoding="utf-8"):
            pass

    def test_refresh(self):
        fixed = smd.open(self.place, auto_refresh=False)
        trial = smd.open(self.place)
        with trial.no_refresh():
            copied(self.source, self.place, self.steps[:3])
            self.assertEqual(trial.steps(), self.steps[:2])
        self.assertEqual(trial.steps(), self.steps[:3])
        self.assertEqual(fixed.steps(), self.steps[:2])
        fixed.refresh()
        self.assertEqual(fixed.steps(), self.steps[:3])

    def test_another_thread_runs_while_one_waits(self):
        trial = smd.open(self.place)
        came = []
        follower = trial.follow(interval=0.01)
        first = [next(follower), next(follower)]
        thread = threading.Thread(target=lambda: came.extend(follower))
        thread.start()
        copied(self.source, self.place, self.steps)  # hangs if the waiting thread keeps the lock
        self.end()
        thread.join()
        self.assertEqual(first + came, self.steps)
        self.assertEqual(follower.outcome, "ended")

    def test_one_thread_at_a_time_waits_for_a_step(self):
        follower = smd.open(self.place).follow(interval=0.01, after=self.steps[1])
        came, refused = [], []

        def advance():
            try:
                came.append(next(follower))
            except ValueError as error:
                refused.append(str(error))

        threads = [threading.Thread(target=advance) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(3000):
            if refused:
                break
            time.sleep(0.01)
        copied(self.source, self.place, self.steps)
        self.end()
        for thread in threads:
            thread.join()
        self.assertIn("already executing", refused[0])
        self.assertEqual(came + list(follower), self.steps[2:])

    def test_waiting_ends(self):
        trial = smd.open(self.place)
        self.assertEqual(trial.wait_for_steps(self.steps[:2]), "reached")
        self.assertEqual(trial.wait_for_steps([self.steps[-1]], timeout=0), "timed_out")
        follower = trial.follow(idle=0.01)
        self.assertEqual(list(follower), self.steps[:2])
        self.assertEqual(follower.outcome, "idle")

    def test_keyboard_interrupt(self):
        """It ends the wait; another loop goes on with the steps that come."""
        program = ("import smd, sys\n"
                   "steps = smd.open(sys.argv[1]).follow(interval=0.01)\n"
                   "for _ in range(2):\n"
                   "    try:\n"
                   "        for step in steps: print(step, flush=True)\n"
                   "    except KeyboardInterrupt: print('interrupted', flush=True)\n"
                   "print(steps.outcome)\n")
        with subprocess.Popen([sys.executable, "-c", program, self.place], stdout=subprocess.PIPE, text=True) as child:
            self.assertEqual([int(child.stdout.readline()), int(child.stdout.readline())], self.steps[:2])
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.stdout.readline(), "interrupted\n")
            copied(self.source, self.place, self.steps[2:])
            self.end()
            self.assertEqual(child.stdout.read().split(), [*map(str, self.steps[2:]), "ended"])

    def test_readers_in_many_threads(self):
        trial = smd.open(os.path.join(RECORDED, "pt_digits_train_eval"))
        wanted = {name: [value.tobytes() for value in trial[name].values()[1]] for name in trial}
        wrong = []

        def read():
            for name, values in wanted.items():
                if [value.tobytes() for value in trial[name].values()[1]] != values:
                    wrong.append(name)

        threads = [threading.Thread(target=read) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_the_first_arrays_in_several_threads(self):
        """One thread imports NumPy; the others do not keep Python's lock while they wait for it."""
        program = ("import smd, sys\n"
                   "from concurrent.futures import ThreadPoolExecutor\n"
                   "tensor = smd.open(sys.argv[1])['DigitNet_fc.weight']\n"
                   "assert 'numpy' not in sys.modules\n"
                   "with ThreadPoolExecutor(4) as pool:\n"
                   "    print(len(list(pool.map(lambda i: eval(sys.argv[2]).sum(), range(8)))))\n")
        for array in ("tensor.value(0)", "tensor.reduce('l2')['l2']"):
            done = subprocess.run([sys.executable, "-c", program, os.path.join(FIXTURES, "good-pytorch-digits"), array],
                                  stdout=subprocess.PIPE, text=True, check=True, timeout=60)
            self.assertEqual(done.stdout, "8\n")


class Memory(unittest.TestCase):
    def test_a_large_array_is_not_copied(self):
        """A value of 1 GiB: the process grows by no more than 64 MiB beside it."""
        program = ("import resource, sys, numpy, smd\n"
                   "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
                   "array = smd.open(sys.argv[1])['big'].value()\n"
                   "print(array.nbytes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n")
        size = 1 << 30
        with tempfile.TemporaryDirectory() as folder:
            header = json.dumps({"big": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
            with open(os.path.join(folder, "model.safetensors"), "wb") as file:
                file.write(struct.pack("<Q", len(header)) + header)
                file.seek(size - 1, os.SEEK_CUR)
                file.write(b"\0")
            done = subprocess.run([sys.executable, "-c", program, folder], stdout=subprocess.PIPE, text=True, check=True)
        got, grown = map(int, done.stdout.split())
        self.assertEqual(got, size)
        self.assertLess(grown, (size + (64 << 20)) // 1024)


class ArrowSchema(ctypes.Structure):
    pass


ArrowSchema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                        ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                        ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
                        ("dictionary", ctypes.POINTER(ArrowSchema)), ("release", ctypes.c_void_p),
                        ("private_data", ctypes.c_void_p)]


class ArrowArray(ctypes.Structure):
    pass


ArrowArray._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                       ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                       ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                       ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
                       ("dictionary", ctypes.POINTER(ArrowArray)), ("release", ctypes.c_void_p),
                       ("private_data", ctypes.c_void_p)]


class ArrowStream(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")]


class Arrow(unittest.TestCase):
    """Reads the stream as its specification says, without a library."""

    def test_stream(self):
        table = smd.open(os.path.join(FIXTURES, "tb-logs", "sick")).scalars("loss", wall_time=True)
        pointer = ctypes.PyDLL(None).PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        capsule = table.__arrow_c_stream__()
        address = pointer(capsule, b"arrow_array_stream")
        stream = ArrowStream.from_address(address)
        call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        schema, batch, end = ArrowSchema(), ArrowArray(), ArrowArray()
        self.assertEqual(call(stream.get_schema)(address, ctypes.addressof(schema)), 0)
        self.assertEqual(call(stream.get_next)(address, ctypes.addressof(batch)), 0)
        self.assertEqual(call(stream.get_next)(address, ctypes.addressof(end)), 0)
        self.assertIsNone(end.release)
        rows = len(table["step"])
        wanted = {name: array.copy() for name, array in table.items()}
        shared = table["step"].ctypes.data
        release(stream.release)(address)
        del table, capsule  # what was taken stays
        self.assertEqual((schema.format, schema.n_children, batch.n_children, batch.length), (b"+s", 4, 4, rows))
        for i in range(4):
            field, column = schema.children[i].contents, batch.children[i].contents
            array = wanted[field.name.decode()]
            self.assertEqual(column.length, rows)
            if array.dtype == object:
                self.assertEqual(field.format, b"U")
                ends = (ctypes.c_int64 * (rows + 1)).from_address(column.buffers[1])
                texts = [ctypes.string_at(column.buffers[2] + a, b - a).decode() for a, b in zip(ends, ends[1:])]
                self.assertEqual(texts, array.tolist())
            else:
                self.assertEqual(field.format, {"i8": b"l", "f8": b"g", "f4": b"f"}[array.dtype.str[1:]])
                self.assertEqual(ctypes.string_at(column.buffers[1], array.nbytes), array.tobytes())
        self.assertEqual(batch.children[0].contents.buffers[1], shared)  # not copied
        release(schema.release)(ctypes.addressof(schema))
        release(batch.release)(ctypes.addressof(batch))

    def test_the_end_of_the_interpreter(self):
        """What is left then is released, though the module is no longer there."""
        program = ("import sys, smd\n"
                   "class Cycle: pass\n"
                   "table, cycle = smd.open(sys.argv[1]).scalars(), Cycle()\n"
                   "cycle.itself, cycle.kept, sys.kept = cycle, table.__arrow_c_stream__(), table.__arrow_c_stream__()\n")
        done = subprocess.run([sys.executable, "-c", program, os.path.join(FIXTURES, "tb-logs", "sick")],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Rules(unittest.TestCase):
    def test_recorded_cases(self):
        """Every built-in rule on the recorded trials for rules."""
        folder = os.path.join(RECORDED, "rules")
        with open(os.path.join(folder, "cases.json"), encoding="utf-8") as file:
            cases = [case for case in json.load(file)["cases"] if "rule" in case and
                     not {"start", "end", "now"} & set(case) and "fired" in case["expected"]]
        trials = {}
        for case in cases:
            with self.subTest(case["id"]):
                names = [case["trial"]] + ([case["other_trial"]] if "other_trial" in case else [])
                for name in names:
                    if name not in trials:
                        trials[name] = smd.open(os.path.join(folder, name))
                run = [trials[name] for name in names]
                expected = case["expected"]
                result = smd.rules.run(run[0], case["rule"], *run[1:], keep_going=True, **case["params"])
                fired = [(f["step"], f["tensor"], f["worker"], f["check"]) for f in expected["fired"]]
                self.assertEqual([(f.step, f.tensor, f.worker, f.check) for f in result.findings], fired)
                for finding, wanted in zip(result.findings, expected["fired"]):
                    np.testing.assert_allclose(finding.value, number(wanted["value"]), rtol=1e-6)
                self.assertEqual(result.steps_evaluated, expected["evaluated_steps"])
        self.assertGreater(len(cases), 140)

    def test_parameters_and_errors(self):
        trial = smd.open(os.path.join(FIXTURES, "tb-logs", "sick"))
        result = smd.rules.run(trial, "LossNotDecreasing", tensor_regex=["loss"], use_losses_collection=False, num_steps=2)
        self.assertEqual((result.params["tensor_regex"], result.params["use_losses_collection"]), ("loss", "False"))
        self.assertIn("Overfit", smd.rules.names())
        killed = smd.open(os.path.join(FIXTURES, "metric-logs", "wb_killed"))  # long ago, and no record says so
        self.assertEqual(smd.rules.run(killed, "StalledTrainingRule").status, "NoIssuesFound")
        with self.assertRaises(smd.ConfigurationError) as caught:
            smd.rules.run(trial, "Overfitt")
        self.assertEqual((caught.exception.kind, caught.exception.nearest), ("unknown_rule", "Overfit"))
        with self.assertRaisesRegex(smd.ConfigurationError, r"no rule 'Nope'; smd-rules\(7\) lists all of them"):
            smd.rules.run(trial, "Nope")
        for given, wanted in ((smd.Mode.TRAIN, "TRAIN"), ([smd.Mode.TRAIN], "TRAIN"), ("train", "TRAIN")):
            self.assertEqual(smd.rules.run(trial, "LossNotDecreasing", mode=given).params["mode"], wanted)
        for given in ({"loss", "acc"}, frozenset(["loss", "acc"]), (name for name in ("acc", "loss")),
                      np.array(["acc", "loss"]), {"acc": 1, "loss": 2}.keys()):
            result = smd.rules.run(trial, "ExplodingTensor", tensor_regex=given)
            self.assertEqual(result.params["tensor_regex"], "acc,loss")
        result = smd.rules.run(trial, "ExplodingTensor", tensor_regex=[re.compile("LOSS", re.IGNORECASE), "acc"])
        self.assertEqual(result.params["tensor_regex"], "(?i)LOSS,acc")
        result = smd.rules.run(trial, "CheckInputImages", regex=re.compile("^w{1,2}$"))  # one pattern, not a list
        self.assertEqual(result.params["regex"], "^w{1,2}$")
        for rule, name in (("ExplodingTensor", "tensor_regex"), ("Overfit", "patience")):  # None is not given
            self.assertEqual(smd.rules.run(trial, rule, **{name: None}).params, smd.rules.run(trial, rule).params)
        for value in ({"acc": 1}, b"acc", object(), re.compile(b"acc"), [None]):
            with self.assertRaisesRegex(smd.ConfigurationError, "neither a text|for bytes, not for text"):
                smd.rules.run(trial, "ExplodingTensor", tensor_regex=value)
        for value in (re.compile(" loss"), [re.compile("")]):
            with self.assertRaisesRegex(smd.ConfigurationError, "lists have no blanks at the ends"):
                smd.rules.run(trial, "ExplodingTensor", tensor_regex=value)
        for value in (["loss", "w{1,2}"], [["loss", "acc"]], re.compile("^w{1,2}$"), [re.compile("a,b")]):  # not two
            with self.assertRaisesRegex(smd.ConfigurationError, "has a comma") as caught:
                smd.rules.run(trial, "ExplodingTensor", tensor_regex=value)
            self.assertEqual((caught.exception.kind, caught.exception.parameter, caught.exception.tag),
                             ("bad_value", "tensor_regex", "Usage"))

    def test_another_trial(self):
        """Given as a trial or by its path; the files say where they differ."""
        folder = os.path.join(RECORDED, "rules")
        trial, other = (smd.open(os.path.join(folder, name)) for name in ("runs-base", "runs-other"))
        expected = smd.rules.run(trial, "SimilarAcrossRuns", other)
        self.assertEqual(expected.status, "IssuesFound")
        for given in ({"other_trial": other}, {"other_trial": other.path}, {"other_trial_0": other},
                      {"other_trial": pathlib.Path(other.path)}, {"other_trial_0": pathlib.Path(other.path)}):
            result = smd.rules.run(trial, "SimilarAcrossRuns", **given)
            self.assertEqual((result.status, result.message), (expected.status, expected.message))
            self.assertEqual(result.params["other_trial"], other.path)
        result = smd.rules.run(trial.path, "SimilarAcrossRuns", other.path)
        self.assertEqual((result.status, result.message), (expected.status, expected.message))
        for rule, others, given in (("SimilarAcrossRuns", [trial, other], {}), ("Overfit", [other], {}),
                                    ("SimilarAcrossRuns", [trial], {"other_trial": other}),
                                    ("SimilarAcrossRuns", [], {"other_trial": trial, "other_trial_0": other})):
            with self.assertRaisesRegex(smd.ConfigurationError, rule + " compares with . other trial") as caught:
                smd.rules.run(trial, rule, *others, **given)
            self.assertEqual((caught.exception.kind, caught.exception.parameter), ("bad_trial", "other_trial"))
        for given in ({}, {"other_trial": ""}):
            with self.assertRaises(smd.ConfigurationError) as caught:
                smd.rules.run(trial, "SimilarAcrossRuns", **given)
            self.assertEqual((caught.exception.kind, caught.exception.parameter), ("missing_parameter", "other_trial"))


class Others(unittest.TestCase):
    def test_what_takes_time_is_not_imported_before_it_is_needed(self):
        self.assertEqual(IMPORTED, set())
        self.assertIn("Trial", dir(smd))
        with self.assertRaises(AttributeError):
            smd.nothing

    def test_objects_without_a_value(self):
        """`__new__` alone makes them."""
        log = smd.open(os.path.join(FIXTURES, "tb-logs", "sick"))
        trial, tensor = smd.Trial.__new__(smd.Trial), smd.Tensor.__new__(smd.Tensor)
        for use in (trial.steps, trial.refresh, lambda: trial.name, lambda: trial["loss"], lambda: smd.diff(log, trial),
                    trial.no_refresh().__enter__, trial.follow, tensor.steps, tensor.value, lambda: tensor.name,
                    Hook.__new__(Hook).close):
            self.assertRaises((TypeError, AttributeError, smd.InvalidArgument), use)

    def test_find(self):
        logs = os.path.join(FIXTURES, "small-logs")
        found = smd.find(logs)
        self.assertEqual(found, [os.path.join(logs, name) for name in sorted(os.listdir(logs))])

    def test_diff(self):
        types = os.path.join(UNPACKED, "element-types")
        with open(os.path.join(types, "expected.json"), encoding="utf-8") as file:
            expected = json.load(file)["types"]["float32"]["between_trials"]
        rows = smd.diff(smd.open(os.path.join(types, "float32")), smd.open(os.path.join(types, "other", "float32")))
        of_step = {row.tensor: row for row in rows if row.step == 0}
        self.assertEqual(set(of_step), set(expected))
        for name, wanted in expected.items():
            for fact, value in wanted.items():
                got = getattr(of_step[name], fact)
                if value is None or got is None:
                    self.assertEqual(got, value, (name, fact))
                else:
                    np.testing.assert_allclose(got, number(value), rtol=1e-12)

    def test_diff_states(self):
        """What cannot be compared has no numbers, and is never taken for equal."""
        with tempfile.TemporaryDirectory() as folder:
            for name, values in (("a", {"same": [1, 2], "other": [1, 2], "type": [1, 2], "shape": [1, 2], "mine": [1]}),
                                 ("b", {"same": [1, 2], "other": [1, 5], "type": [1, 2], "shape": [1], "theirs": [1]})):
                dtypes = {key: np.float64 if (name, key) == ("b", "type") else np.float32 for key in values}
                hook = Hook(os.path.join(folder, name))
                for key, value in values.items():
                    hook.save_tensor(key, np.array(value, dtypes[key]))
                hook.close()
            rows = smd.diff(smd.open(os.path.join(folder, "a")), smd.open(os.path.join(folder, "b")))
        self.assertEqual([(row.tensor, row.state, row.differing, row.max_abs) for row in rows],
                         [("mine", "only_a", None, None), ("other", "differs", 1, 3.0), ("same", "equal", 0, 0.0),
                          ("shape", "shape", None, None), ("theirs", "only_b", None, None), ("type", "dtype", 0, 0.0)])

    def test_types_of_facts(self):
        """Each attribute of what functions return has a type, and is of it."""
        with tempfile.TemporaryDirectory() as folder:
            a, b = (saved(os.path.join(folder, name), (0, {"w": np.array(value)}))
                    for name, value in (("a", [0.0, 0.0]), ("b", [0.0, 5.0])))
            found = smd.diff(a, b) + smd.diff(a, saved(os.path.join(folder, "c"), (0, {"v": 1.0})))
            result = smd.rules.run(a, "AllZero", tensor_regex="w")
            with self.assertRaises(smd.ReadError) as absent:
                smd.open(os.path.join(folder, "d"))
            records = [*found, result, *result.findings, a.collection("losses"), absent.exception.problem]
        self.assertEqual({type(one) for one in records},
                         {one for one in smd.Record.__subclasses__() if one.__module__ in ("smd", "smd.rules")})
        for one in records:
            hints = typing.get_type_hints(type(one))
            self.assertEqual(set(vars(one)), set(hints), type(one))
            for name, value in vars(one).items():
                origin = typing.get_origin(hints[name])
                self.assertIsInstance(value, origin if origin in (list, dict) else hints[name], (type(one), name))

    def test_diff_of_single_steps(self):
        """Two trials of one step each are compared whatever the numbers; with more steps, equal numbers are."""
        with tempfile.TemporaryDirectory() as folder:
            def checkpoint(step, value):
                write_pt(os.path.join(folder, f"step_{step}.pt"), {"w": Quantised(
                    Storage("qint8", "0", 1), (1,), (1,), "scheme", 1.0, 0)}, lambda _: bytes([value]))
                return os.path.join(folder, f"step_{step}.pt")

            a, b, both = checkpoint(3, 1), checkpoint(5, 2), smd.open(folder)
            self.assertEqual([(row.step, row.state, row.differing) for row in smd.diff(a, b)], [(3, "differs", 1)])
            self.assertEqual([(row.step, row.state) for row in smd.diff(a, both)], [(3, "equal"), (5, "only_b")])

    def test_diff_of_what_has_no_values(self):
        """Reductions are compared by name, then shapes; between a value and a reduction there is nothing to compare."""
        with tempfile.TemporaryDirectory() as folder:
            def trial(name, values, **how):
                return saved(os.path.join(folder, name), (0, values), reduction_config=ReductionConfig(**how))

            values, others = {"x": [1.0, 2.0], "y": [[1.0]]}, {"x": [1.0, 5.0], "y": [1.0]}
            a = trial("a", values, reductions=["min", "max"])
            for b, wanted in (
                    (trial("same", values, reductions=["min", "max"]), ["equal reductions 2 0 0.0"] * 2),
                    (trial("other", others, reductions=["min", "max"]),
                     ["differs reductions 2 1 3.0", "equal reductions 2 0 0.0"]),
                    (trial("more", values, reductions=["min", "max", "mean"]), ["differs reductions 3 1 0.0"] * 2),
                    (trial("none", values, reductions=["l1"]), ["differs reductions 3 3 None"] * 2),
                    (trial("values", values, save_raw_tensor=True), ["only_b None None None None"] * 2),
                    (trial("shapes", values, save_shape=True), ["only_a None None None None"] * 2)):
                self.assertEqual([f"{row.state} {row.compared} {row.size} {row.differing} {row.max_abs}"
                                  for row in smd.diff(a, b)], wanted, b)
            rows = smd.diff(smd.open(os.path.join(folder, "shapes")), trial("other_shapes", others, save_shape=True))
            self.assertEqual([(row.state, row.compared, row.size) for row in rows],
                             [("equal", "shape", None), ("shape", "shape", None)])

    def test_diff_of_quantised_tensors(self):
        """Integers of another scale are other numbers, and are not compared."""
        with tempfile.TemporaryDirectory() as folder:
            def trial(name, scale, integers=b"\1\2"):
                path = os.path.join(folder, name + ".pt")
                write_pt(path, {"w": Quantised(Storage("qint8", "0", 2), (2,), (1,), "scheme", scale, 0)}, lambda _: integers)
                return smd.open(path)

            a = trial("a", 0.5)
            self.assertEqual([(row.state, row.differing) for row in smd.diff(a, trial("same", 0.5))], [("equal", 0)])
            for other in (trial("other", 0.25), trial("moved", 0.25, b"\1\5")):
                self.assertEqual([(row.state, row.differing, row.max_abs) for row in smd.diff(a, other)],
                                 [("differs", None, None)])
            changed, = smd.diff(a, trial("changed", 0.5, b"\1\5"))
            self.assertEqual((changed.differing, changed.max_abs), (1, 3))

    def test_an_empty_list_selects_nothing(self):
        log = smd.open(os.path.join(FIXTURES, "tb-logs", "sick"))
        everything = log.tensor_names()
        self.assertIn("train/loss", everything)
        for selector in ("regex", "names", "collection"):
            for empty in ([], (), iter([])):
                self.assertEqual(log.tensor_names(**{selector: empty}), [])
            self.assertEqual(log.tensor_names(**{selector: None}), everything)
        self.assertEqual(log.tensor_names(regex=[], names="train/loss"), ["train/loss"])
        self.assertEqual(log.tensor_names(exclude=[]), everything)
        self.assertEqual(len(log.scalars(names=[])["value"]), 0)
        self.assertEqual(smd.diff(log, log, []), [])

    def test_steps_are_integers(self):
        log = smd.open(os.path.join(FIXTURES, "tb-logs", "sick"))
        step = log["train/loss"].steps()[0]
        for good in (np.int64(step), np.array(step), np.uint8(step)):
            self.assertEqual(log["train/loss"].value(good), log["train/loss"].value(step))
        for wrong in (np.float32(step), np.float16(step), np.float64(step), float(step), decimal.Decimal(step), str(step)):
            with self.assertRaises(smd.InvalidArgument):
                log["train/loss"].value(wrong)
            with self.assertRaises(smd.InvalidArgument):
                smd.open(log.path, range_steps=(wrong, None))

    def test_diff_refuses_tolerances(self):
        log = smd.open(os.path.join(FIXTURES, "tb-logs", "sick"))
        for wrong in (np.nan, np.inf, -1):
            for tolerance in ("rtol", "atol"):
                with self.assertRaises(smd.InvalidArgument):
                    smd.diff(log, log, "loss", **{tolerance: wrong})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
