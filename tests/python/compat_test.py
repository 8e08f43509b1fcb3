#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compat_test.py TESTS UNPACKED_FIXTURES [TEST...]: smd.compat.smdebug, against the reference's recorded answers."""

import fcntl
import glob
import hashlib
import importlib.util
import json
import logging
import os
import pathlib
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import types
import unittest
import unittest.mock

import smd
from smd.compat import install

TESTS, UNPACKED = map(os.path.abspath, sys.argv[1:3])
assert install()
import numpy as np  # noqa: E402
import smdebug.pytorch as framework  # noqa: E402
from smdebug.analysis.utils import no_refresh, refresh  # noqa: E402
from smdebug.core.modes import ModeKeys  # noqa: E402
from smdebug.core.tensor import StepState  # noqa: E402
from smdebug.exceptions import *  # noqa: E402,F403
from smdebug.rules import Rule, invoke_rule  # noqa: E402
from smdebug.rules.rule_invoker import invoke_rule as again  # noqa: E402
from smdebug.trials import create_trial  # noqa: E402

RECORDED = os.path.join(UNPACKED, "recorded-trials")
DIGITS = os.path.join(TESTS, "fixtures", "good-pytorch-digits")
sys.path.insert(0, os.path.join(TESTS, "python", "rules"))
import documented  # noqa: E402


def answers(name):
    with open(os.path.join(RECORDED, name + ".expected.json"), encoding="utf-8") as file:
        return json.load(file)


class Reading(unittest.TestCase):
    def test_methods_of_the_documentation(self):
        for name in ("pt_digits_train_eval", "pt_two_workers", "pt_reductions_and_raw", "intervals"):
            with self.subTest(name):
                trial, expected = create_trial(os.path.join(RECORDED, name), name="mine"), answers(name)
                self.assertEqual((trial.name, trial.workers()), ("mine", expected["workers"]))
                self.assertEqual(trial.tensor_names(), expected["tensor_names"])
                self.assertEqual(trial.tensors(regex="."), expected["tensor_names"])
                for key, collection in expected["collections"].items():
                    for given in (key, trial.collection(key)):
                        self.assertEqual(trial.tensor_names(collection=given), collection["resolved"], key)
                self.assertEqual(trial.steps(mode=ModeKeys.TRAIN), expected["steps"]["TRAIN"]["complete"])
                self.assertEqual(trial.has_passed_step(-1), StepState.UNAVAILABLE)
                for step, mode, mode_step in expected["step_map"]:
                    self.assertEqual((trial.mode(global_step=step), trial.mode_step(global_step=step)),
                                     (ModeKeys.__members__[mode], mode_step))
                for tname, answer in expected["tensors"].items():
                    self.check_tensor(trial.tensor(tname), answer)

    def check_tensor(self, tensor, answer):
        self.assertEqual(tensor.steps(), answer["steps"]["GLOBAL"].get("complete_correct",
                                                                       answer["steps"]["GLOBAL"]["complete"]))
        for record in answer["records"]:
            at, mode, worker = record["mode_step"], ModeKeys.__members__[record["mode"]], record["worker"]
            self.assertIn(worker, tensor.workers(at, mode))
            if "sha256" in record["value"]:
                array = tensor.value(step_num=at, mode=mode, worker=worker)
                self.assertEqual(hashlib.sha256(array.tobytes()).hexdigest(), record["value"]["sha256"])
                self.assertEqual(list(tensor.shape(at, mode, worker)), record["value"]["shape"])
                values = tensor.values(mode=mode, worker=worker)
                self.assertEqual((values[at].tobytes(), values[at].shape), (array.tobytes(), array.shape))
                if array.size:
                    np.testing.assert_allclose(tensor.reduction_value(at, "mean", mode, worker, abs=True),
                                               np.abs(array.astype(float)).mean(), rtol=1e-6)
            stored = {key for key, value in record.get("stored", {}).items() if "value" in value}
            got = {("abs_" if abs else "") + key for key, abs in tensor.reduction_values(at, mode, worker)}
            self.assertEqual(got, stored)

    def test_prev_steps_and_ranges(self):
        trial = create_trial(DIGITS, range_steps=(5, 30))
        steps = [5, 10, 14, 19, 21, 26]  # of 0 to 38, as saved
        self.assertEqual(trial.steps(), steps)
        tensor = trial.tensor(trial.tensor_names(collection="losses")[0])
        self.assertEqual(tensor.prev_steps(20, 2), [14, 19])
        self.assertEqual(tensor.prev_steps(20, None), [5, 10, 14, 19])
        with no_refresh([trial]), refresh(trial):
            self.assertEqual(trial.steps(), steps)

    def test_shapes_of_a_worker(self):
        """worker_1 lacks the complete step 4; steps from 7 on are not complete."""
        tensor = create_trial(os.path.join(RECORDED, "mw3_incomplete_running")).tensor("loss")
        self.assertEqual(tensor.shapes(), {step: () for step in (0, 1, 2, 3, 4, 6)})
        self.assertEqual(tensor.shapes(worker="worker_1"), {step: () for step in (0, 1, 2, 3, 6)})

    def test_exceptions(self):
        trial = create_trial(DIGITS)
        with self.assertRaises(TensorUnavailable) as caught:  # noqa: F405
            trial.tensor("none")
        self.assertEqual(caught.exception.tname, "none")
        tensor = trial.tensor("DigitNet_fc.weight")
        self.assertRaises(StepUnavailable, tensor.value, 1)  # noqa: F405
        self.assertRaises(NoMoreData, trial.wait_for_steps, [1000])  # noqa: F405
        gradient = trial.tensor(trial.tensor_names(collection="gradients")[0])
        for kind, read in ((TensorUnavailableForStep, gradient.value),  # noqa: F405
                           (ShapeUnavailableForStep, gradient.shape)):  # noqa: F405
            with self.assertRaises(kind) as caught:
                read(14)
            self.assertEqual((caught.exception.tname, caught.exception.step), (gradient.name, 14))
        error = InsufficientInformationForRuleInvocation("R", "threshold is missing")  # noqa: F405
        self.assertEqual((str(error), error.rule_name, error.message), (
            "Insufficient information to invoke rule R: threshold is missing", "R", "threshold is missing"))
        again = pickle.loads(pickle.dumps(error))  # as between processes
        self.assertEqual((type(again), str(again), vars(again)), (type(error), str(error), vars(error)))
        self.assertRaises(MissingCollectionFiles, create_trial, RECORDED)  # noqa: F405
        self.assertEqual(str(RuleEvaluationConditionMet("R", 3)),  # noqa: F405
                         "Evaluation of the rule R at step 3 resulted in the condition being met")


    def test_exceptions_of_rules(self):
        """A rule may raise them as the reference makes them."""
        def invoke(error, **how):
            class Raises(Rule):
                def invoke_at_step(self, step):
                    raise error

            invoke_rule(Raises(create_trial(DIGITS)), **how)

        invoke(StepUnavailable(0, ModeKeys.GLOBAL))  # noqa: F405
        invoke(TensorUnavailable("x"))  # noqa: F405
        invoke(TensorUnavailableForStep(tname="x", step=0, mode=ModeKeys.TRAIN, has_reductions=True))  # noqa: F405
        self.assertRaises(NoMoreData, invoke, NoMoreData(0, ModeKeys.GLOBAL, 0))  # noqa: F405
        self.assertRaises(StepNotYetAvailable, invoke, StepNotYetAvailable(0, ModeKeys.GLOBAL))  # noqa: F405
        self.assertRaises(InvalidWorker, invoke, InvalidWorker("worker_9"))  # noqa: F405

    def test_modes(self):
        self.assertEqual([mode.name for mode in ModeKeys], ["TRAIN", "EVAL", "PREDICT", "GLOBAL"])
        self.assertEqual((ModeKeys["EVAL"], framework.modes(3)), (ModeKeys.EVAL, ModeKeys.PREDICT))
        self.assertRaises(ValueError, ModeKeys, 0)

    def test_everything_is_documented(self):
        from smd.compat import smdebug
        for name, thing in vars(smdebug).items():
            if isinstance(thing, type) and thing.__module__ == smdebug.__name__ and not name.startswith("_"):
                for part, one in [("", thing), *vars(thing).items()]:
                    if callable(one) and not part.startswith("_"):
                        self.assertTrue(one.__doc__, f"{name}.{part}")
        for name in ("mode", "step", "mode_step"):
            self.assertTrue(getattr(framework.Hook, name).__doc__, name)


class Rules(unittest.TestCase):
    """The documentation's forms; the steps are those of tests/example/check_custom_rules.py, read with NumPy."""

    def met_at(self, rule, **how):
        with self.assertLogs("smdebug", logging.DEBUG) as logs:
            invoke_rule(rule, **how)
        return [int(line.split("at step ")[1].split()[0]) for line in logs.output if "resulted in" in line]

    def test_invoke_rule(self):
        trial = create_trial(DIGITS)
        self.assertIs(again, invoke_rule)
        self.assertEqual(self.met_at(documented.VanishingGradientRule(trial)), [])
        self.assertEqual(self.met_at(documented.VanishingGradientRule(trial, threshold="0.015")), [0, 31])
        self.assertEqual(self.met_at(documented.VanishingGradientRule(trial, "0.015"), start_step=1, end_step=31), [])
        self.assertEqual(self.met_at(documented.CustomGradientRule(trial, "0.013", "0.12")), [0, 10])
        with self.assertRaises(RuleEvaluationConditionMet) as met:  # noqa: F405
            invoke_rule(documented.VanishingGradientRule(trial, "0.015"), start_step=1, raise_eval_cond=True)
        self.assertEqual((met.exception.step, met.exception.rule_name), (31, "VanishingGradientRule"))
        with self.assertRaises(NoMoreData):  # noqa: F405
            invoke_rule(documented.VanishingGradientRule(trial), end_step=1000)
        self.assertRaises(TypeError, Rule, trial)  # it has no invoke_at_step

    def test_two_trials(self):
        trial, other = create_trial(DIGITS), create_trial(DIGITS)
        self.assertEqual(self.met_at(documented.LossAboveOtherRule(trial, [other], "0.5"))[:2], [0, 5])
        self.assertEqual(self.met_at(documented.LossAboveOtherRule(trial, [other], "1")), [])

    def test_a_rule_ends_itself(self):
        class Ends(Rule):
            def invoke_at_step(self, step):
                if step == 10:
                    raise RuleEvaluationConditionMet("Ends", step, end_of_rule=True)  # noqa: F405
                return step > 10

        self.assertEqual(self.met_at(Ends(create_trial(DIGITS)), end_step=1000), [10])

    def test_files_that_cannot_be_read_are_logged(self):
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "run")
            shutil.copytree(DIGITS, place)
            shutil.rmtree(os.path.join(place, "events", "000000000010"))
            damaged = glob.glob(os.path.join(place, "index", "*", "000000000005_*.json"))[0]
            with open(damaged, "w", encoding="utf-8") as file:
                file.write("{")
            with self.assertLogs("smdebug", logging.WARNING) as logs:
                invoke_rule(documented.VanishingGradientRule(create_trial(place)))
        self.assertEqual(len(logs.output), 2, logs.output)
        self.assertIn(os.path.basename(damaged), logs.output[0])
        self.assertIn("VanishingGradientRule skips step 10", logs.output[1])
        self.assertIn("the event file is missing", logs.output[1])

    def test_steps_are_invoked_once_they_are_whole(self):
        """A log has a step's values in several lines; ten seconds after the last of them the rule is invoked."""
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "metrics.jsonl")

            def write(*lines):
                with open(log, "a", encoding="utf-8") as file:
                    file.writelines(json.dumps(line) + "\n" for line in lines)

            class Seen(Rule):
                seen = []

                def invoke_at_step(self, step):
                    self.seen.append((step, float(self.base_trial.tensor("eval").value(step))))
                    return True

            write({"step": 0, "loss": 1}, {"step": 1, "loss": 3}, {"step": 2, "loss": 5})
            late = threading.Timer(0.5, write, [{"step": 0, "eval": 2}, {"step": 1, "eval": 4}])
            late.start()
            met = self.met_at(Seen(create_trial(log)), end_step=2)
            late.join()
            self.assertEqual(met, [0, 1])
            self.assertEqual(Seen.seen, [(0, 2), (1, 4)])

    def test_a_step_that_comes_again_is_invoked_once(self):
        class Seen(Rule):
            seen = []

            def invoke_at_step(self, step):
                self.seen.append(step)

        trial = create_trial(DIGITS)
        with unittest.mock.patch.object(trial, "follow", return_value=iter([0, 5, 0, 5, 10])):
            invoke_rule(Seen(trial))
        self.assertEqual(Seen.seen, [0, 5, 10])


class Saving(unittest.TestCase):
    def test_hook(self):
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "run")
            config = framework.SaveConfig({framework.modes.TRAIN: framework.SaveConfigMode(save_interval=2)})
            hook = framework.Hook(place, save_config=config, collections=[
                framework.Collection("large", include_regex="big", reduction_config=framework.ReductionConfig(
                    reductions=["max"], abs_norms=["l1"]))], include_regex="small")
            big = np.arange(-3, 4, dtype=np.float32).reshape(1, 7)
            for step in range(4):
                hook.set_mode(framework.modes.TRAIN)
                hook.save_tensor("small", np.array(step, np.int16).T)
                hook.save_tensor("big", big * step)
                hook.save_scalar("loss", 1 / (1 + step))
                hook.next_step()
            hook.close()
            trial = create_trial(place)
            self.assertEqual((trial.modes(), trial.steps(), trial.ended), ([ModeKeys.TRAIN], [0, 1, 2, 3], True))
            self.assertEqual(trial.tensor("small").steps(), [0, 2])
            value = trial.tensor("small").value(2)
            self.assertEqual((value, value.dtype, value.shape), (2, np.int16, ()))
            reduced = {key: float(one) for key, one in trial.tensor("big").reduction_values(2).items()}
            self.assertEqual(reduced, {("max", False): 6.0, ("l1", True): 24.0})  # 2 * 3; 2 * (3+2+1+1+2+3)
            self.assertEqual(trial.tensor("scalar/loss").value(3), 0.25)

    def test_steps_of_modes(self):
        every = framework.SaveConfigMode(save_interval=2)
        for config in (every, {ModeKeys.TRAIN: every}, {"TRAIN": every}, {"train": {"save_interval": 2}},
                       framework.SaveConfig({"Train": every})):
            with tempfile.TemporaryDirectory() as folder:
                hook = framework.Hook(folder, save_config=config)
                hook.set_mode(ModeKeys.TRAIN)
                for _ in range(4):
                    hook.save_tensor("x", np.ones(1))
                    hook.next_step()
                hook.close()
                self.assertEqual(create_trial(folder).steps(), [0, 2], config)
            self.assertEqual(framework.Collection("x", save_config=config).save_config.get_save_config(ModeKeys.TRAIN),
                             every)
        for wrong in ({1: every}, {"bogus": every}, {None: every}, {ModeKeys.TRAIN: 2}):
            for make in (framework.SaveConfig, framework.SaveConfig.parse):
                self.assertRaisesRegex(ValueError, "must be of type ModeKey,SaveConfigMode", make, wrong)
        self.assertRaises(TypeError, framework.SaveConfig.parse, 2)

    def test_modes_that_a_collection_does_not_name_are_saved_as_by_the_hook(self):
        def given(place, hook_config, of_collection):
            return framework.Hook(place, save_config=hook_config, collections=[framework.Collection(
                "mine", include_regex="x", save_config=of_collection)])

        def changed(place, hook_config, of_collection):
            hook = framework.Hook(place, save_config=hook_config, include_regex="y")
            hook.get_collection("mine").include("x")
            hook.get_collection("mine").save_config = of_collection
            return hook

        for make in given, changed:
            with tempfile.TemporaryDirectory() as folder:
                hook = make(folder, framework.SaveConfig(save_interval=3),
                            {ModeKeys.TRAIN: framework.SaveConfigMode(save_interval=2)})
                for mode in ModeKeys.TRAIN, ModeKeys.EVAL:
                    hook.set_mode(mode)
                    for _ in range(7):
                        hook.save_tensor("x", np.ones(1))
                        hook.next_step()
                hook.close()
                tensor = create_trial(folder).tensor("x")
                self.assertEqual([tensor.steps(mode) for mode in (ModeKeys.TRAIN, ModeKeys.EVAL)],
                                 [[0, 2, 4, 6], [0, 3, 6]])
        partial = framework.SaveConfig({ModeKeys.TRAIN: framework.SaveConfigMode()})
        self.assertRaisesRegex(ValueError, "the hook's configuration counts",
                               partial.should_save_step, ModeKeys.EVAL, 0)

    def test_patterns_of_re(self):
        with tempfile.TemporaryDirectory() as folder:
            hook = framework.Hook(folder, include_regex=[re.compile("^SMALL", re.IGNORECASE)])
            hook.get_collection("mine").include(re.compile("large$"))
            self.assertEqual([hook.save_tensor(name, 1.0) for name in ("small", "the small", "large", "larger")],
                             [True, False, True, False])
            hook.close()
            trial = create_trial(folder)
            self.assertEqual(trial.collection("mine").include_regex, ["large$"])
            self.assertEqual(trial.tensor_names(regex=re.compile("LARGE", re.IGNORECASE)), ["large"])

    def test_what_a_collection_refuses_at_once(self):
        collection = framework.Collection("mine")
        wrong = {"reductions": "min"}
        for refused in (lambda: setattr(collection, "reduction_config", wrong),
                        lambda: framework.Collection("x", reduction_config=wrong),
                        lambda: framework.Hook("/nowhere", reduction_config=wrong)):
            self.assertRaisesRegex(TypeError, "is a ReductionConfig, not", refused)
        self.assertRaisesRegex(TypeError, "cannot be parsed", setattr, collection, "save_config", 3)
        self.assertRaisesRegex(TypeError, "as an integer", framework.SaveConfigMode, save_steps=[1.5])
        self.assertRaisesRegex(smd.InvalidArgument, "for bytes", collection.include, re.compile(b"x"))
        self.assertEqual(collection, framework.Collection("mine"))
        self.assertEqual(framework.SaveConfigMode(save_steps=np.array([1, 2])).save_steps, [1, 2])
        self.assertEqual(framework.ReductionConfig("mean"), framework.ReductionConfig(["mean"]))

    def test_lists_as_a_configuration_file_has_them(self):
        for given in (["3", "12"], "3, 12", (3, 12), iter([3, np.int64(12)]), np.array([3, 12])):
            self.assertEqual(framework.SaveConfigMode(save_steps=given).save_steps, [3, 12])
        for given in ("min, max", ("min", "max"), iter(["min", "max"]), np.array(["min", "max"])):
            config = framework.ReductionConfig(abs_reductions=given)
            self.assertEqual(config.parameters()["reductions"], "abs_min,abs_max")
        nothing = framework.ReductionConfig()
        for given in ("", (), None, False, np.array([])):
            self.assertEqual(framework.ReductionConfig(given, given, given, given), nothing)
            self.assertEqual(framework.SaveConfigMode(save_steps=given), framework.SaveConfigMode())
        for given in (False, None, {}):
            self.assertEqual(framework.Collection("x", reduction_config=given, save_config=given),
                             framework.Collection("x"))

    def test_a_collection_is_saved_by_its_own_steps_alone(self):
        for of_hook in ({"save_interval": 1, "end_step": 3}, {"save_steps": [7], "start_step": 5}):
            of_collection = framework.SaveConfig(save_interval=4)
            wanted = [step for step in range(10) if of_collection.should_save_step(ModeKeys.GLOBAL, step)]
            self.assertEqual(wanted, [0, 4, 8])
            for added in (False, True):
                with tempfile.TemporaryDirectory() as folder:
                    collection = framework.Collection("mine", include_regex="x", save_config=of_collection)
                    hook = framework.Hook(folder, save_config=framework.SaveConfig(**of_hook), include_regex="y",
                                          collections=[] if added else [collection])
                    if added:
                        hook.add_collection(collection)
                    for _ in range(10):
                        hook.save_tensor("x", np.ones(1))
                        hook.next_step()
                    hook.close()
                    self.assertEqual(create_trial(folder).tensor("x").steps(), wanted, (of_hook, added))
                    with open(glob.glob(os.path.join(folder, "collections", "*", "*"))[0], encoding="utf-8") as file:
                        saved = json.load(file)["collections"]["mine"]["save_config"]["EVAL"]
                    self.assertEqual(saved, {"save_interval": 4, "save_steps": [], "start_step": 0, "end_step": None})

    def test_collections_can_be_read_and_changed(self):
        with tempfile.TemporaryDirectory() as folder:
            place, file = os.path.join(folder, "run"), os.path.join(folder, "hook.json")
            parameters = {"include_regex": "relu", "reductions": "abs_max,l2_norm", "predict.end_step": 0}
            with open(file, "w", encoding="utf-8") as text:
                json.dump({"LocalPath": place, "HookParameters": {"save_interval": 1}, "CollectionConfigurations": [
                    {"CollectionName": "acts", "CollectionParameters": parameters}]}, text)
            hook = framework.Hook.create_from_json_file(file)
            every, never = framework.SaveConfigMode(save_interval=1), framework.SaveConfigMode(save_interval=1)
            never.end_step = 0
            acts = hook.get_collection("acts")
            self.assertEqual(acts, framework.Collection(
                "acts", include_regex="relu",
                reduction_config=framework.ReductionConfig(abs_reductions=["max"], norms=["l2"]),
                save_config=framework.SaveConfig({mode: never if mode == ModeKeys.PREDICT else every
                                                  for mode in ModeKeys.__members__.values()})))
            losses = hook.get_collection("losses")
            self.assertEqual(losses.include_regex, ["[Ll]oss_(?!input).*output"])  # the reference's
            self.assertTrue(losses.reduction_config.save_raw_tensor)
            self.assertEqual(hook.get_collection("mine"), framework.Collection("mine"))
            self.assertLessEqual({"all", "default", "weights", "biases", "gradients", "losses", "acts"},
                                 hook.get_collections().keys())
            for collection, more in ((acts, "tanh"), (losses, "^aux")):
                collection.include(more)
                hook.add_collection(collection)
            self.assertEqual(hook.get_collection("acts").include_regex, ["relu", "tanh"])
            names = ["relu_0", "tanh_0", "CrossEntropyLoss_output_0", "aux_head"]
            for mode, saved in ((ModeKeys.PREDICT, [False, False, True, True]), (ModeKeys.TRAIN, [True] * 4)):
                hook.set_mode(mode)
                self.assertEqual([hook.save_tensor(name, np.ones(1)) for name in names], saved, mode)
                hook.next_step()
            hook.close()
            trial = create_trial(place)
            self.assertEqual(set(trial.tensor("tanh_0").reduction_values(1)), {("max", True), ("l2", False)})
            self.assertEqual(trial.collection("losses").include_regex, ["[Ll]oss_(?!input).*output", "^aux"])

    def test_changes_of_a_collection_count_until_something_is_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            hook = framework.Hook(folder, include_regex="small", save_config=framework.SaveConfig(save_interval=1))
            hook.get_collection("default").include("medium")
            hook.get_collection("mine").include("large")
            hook.get_collection("unchanged")
            self.assertEqual([hook.save_tensor(name, 1.0) for name in ("small", "medium", "large", "none")],
                             [True, True, True, False])
            hook.get_collection("default").include("none")
            self.assertFalse(hook.save_tensor("none", 1.0))
            hook.close()
            self.assertEqual(create_trial(folder).tensor_names(collection="mine"), ["large"])

    def test_a_collection_without_members(self):
        with tempfile.TemporaryDirectory() as folder:
            hook = framework.Hook(folder, include_collections=["mine"])
            for name, call in (("other", lambda: hook.add_collection(framework.Collection("other"))),
                               ("mine", lambda: hook.save_tensor("x", 1.0))):
                with self.assertRaises(InvalidCollectionConfiguration) as caught:  # noqa: F405
                    call()
                self.assertEqual(caught.exception.c_name, name)
                self.assertIn("has neither patterns", str(caught.exception))
            hook.close()

    def test_a_collection_that_is_given_joins_the_built_in_one(self):
        with tempfile.TemporaryDirectory() as folder:
            given = framework.Collection("losses", include_regex="^mine")
            hook = framework.Hook(folder, collections=[given], include_regex="small")
            self.assertEqual(hook.get_collection("losses").include_regex, ["[Ll]oss_(?!input).*output", "^mine"])
            self.assertEqual(hook.get_collection("default").include_regex, ["small"])
            hook.close()

    def test_a_forked_child_does_not_save(self):
        with tempfile.TemporaryDirectory() as folder:
            hook = framework.Hook(folder)
            hook.save_tensor("mine", np.ones(1))
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                refused = 0
                for call in (lambda: hook.save_tensor("theirs", np.ones(1)), hook.next_step, hook.flush, hook.close):
                    try:
                        call()
                    except smd.InvalidArgument:
                        refused += 1
                os._exit(refused)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 4)
            hook.close()
            self.assertEqual(create_trial(folder).tensor_names(), ["mine"])

    def test_threads_share_a_hook(self):
        with tempfile.TemporaryDirectory() as folder:
            hook = framework.Hook(folder)

            def save(thread):
                for i in range(500):
                    hook.save_tensor(f"x{thread}_{i}", np.full(1000, float(i)))
                    self.assertEqual(hook.step, 0)

            threads = [threading.Thread(target=save, args=(number,)) for number in range(4)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            hook.close()
            trial = create_trial(folder)
            self.assertEqual(len(trial), 2000)
            for thread in range(4):
                for i in range(0, 500, 99):
                    self.assertTrue((trial.tensor(f"x{thread}_{i}").value(0) == i).all())

    def run_program(self, folder, text):
        """Returns what a program, which makes a `hook` of the folder first, writes to standard error."""
        begin = "import sys, numpy as np\nfrom smd.compat.smdebug import Hook\nhook = Hook(sys.argv[1])\n"
        done = subprocess.run([sys.executable, "-c", begin + text, folder], stderr=subprocess.PIPE, text=True,
                              timeout=60, check=True)
        return done.stderr

    def test_the_end_of_the_program_closes_hooks(self):
        """Also those that something still has, such as a daemon thread, after what the program does at its end."""
        held = ("import atexit, os, threading, time\n"
                "second = Hook(sys.argv[1] + '/second')\n"
                "second.save_tensor('x', 2.0)\n"
                "if os.fork() == 0:\n    sys.exit()\n"  # which closes none of its parent's hooks
                "os.wait()\n"
                "def watch(hook):\n    while True:\n        hook.step\n        time.sleep(0.05)\n"
                "threading.Thread(target=watch, args=(hook,), daemon=True).start()\n"
                "atexit.register(lambda: hook.save_tensor('last', 3.0))\n"
                "hook.save_tensor('x', np.ones(1000000))\n")
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_program(folder, held), "")
            trial = create_trial(folder)
            self.assertEqual((trial.ended, trial.tensor_names()), (True, ["last", "x"]))
            self.assertTrue(create_trial(os.path.join(folder, "second")).ended)

    def test_the_end_of_a_process_of_multiprocessing_closes_its_hooks(self):
        """Whether it ends with atexit, as one of `spawn` does, or without; also when its function fails."""
        begin = ("import multiprocessing, sys\nfrom smd.compat.smdebug import Hook\n"
                 "def save(folder, fails):\n"
                 "    global hook\n    hook = Hook(folder)\n    hook.save_tensor('x', 1.0)\n    1 / (not fails)\n"
                 "def nested(folder, fails):\n"
                 "    save(folder, fails)\n    start('fork', save, folder + '/inner')\n"
                 "def start(way, work, folder, fails=False):\n"
                 "    one = multiprocessing.get_context(way).Process(target=work, args=(folder, fails))\n"
                 "    one.start()\n    one.join()\n"
                 "if __name__ == '__main__':\n"
                 "    of_parent = Hook(sys.argv[1] + '/parent')\n    of_parent.save_tensor('x', 1.0)\n"
                 "    for way in 'fork', 'forkserver', 'spawn':\n"
                 "        start(way, nested, f'{sys.argv[1]}/{way}')\n"
                 "        start(way, save, f'{sys.argv[1]}/{way}/fails', True)\n"
                 "    of_parent.next_step()\n    of_parent.save_tensor('x', 2.0)\n")
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.py")
            with open(script, "w", encoding="utf-8") as file:
                file.write(begin)
            done = subprocess.run([sys.executable, script, folder], stderr=subprocess.PIPE, text=True, timeout=60,
                                  check=True)
            self.assertEqual((done.stderr.count("Error"), done.stderr.count("ZeroDivisionError")), (3, 3), done.stderr)
            for way in "fork", "forkserver", "spawn":
                for name in way, way + "/inner", way + "/fails":
                    trial = create_trial(os.path.join(folder, name))
                    self.assertEqual((trial.ended, trial.tensor_names(), trial.steps()), (True, ["x"], [0]), name)

    def test_daemon_threads_do_not_abort_the_process(self):
        """They are in the library, or about to return from it, when the interpreter ends."""
        threads = ("import threading, smd\nhook.save_tensor('x', 1.0)\nhook.flush()\ntrial = smd.open(sys.argv[1])\n"
                   "def run(call):\n    while True:\n        try:\n            call()\n"
                   "        except smd.Error:\n            return\n"  # the job ends before the threads
                   "for call in (lambda: hook.step, trial.steps, lambda: trial['x'].value(0),\n"
                   "             lambda: trial.wait_for_steps([9], timeout=9)):\n"
                   "    threading.Thread(target=run, args=(call,), daemon=True).start()\n")
        for _ in range(5):
            with tempfile.TemporaryDirectory() as folder:
                self.assertEqual(self.run_program(folder, threads), "")

    def test_a_failure_that_no_call_has_raised_is_shown(self):
        fails = ("import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
                 "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
                 "hook.save_tensor('x', np.zeros(100000))\n")
        caught = ("try:\n    hook.flush()\nexcept Exception as error:\n"
                  "    print(type(error), error.problem.kind, file=sys.stderr)\n")
        with tempfile.TemporaryDirectory() as folder:
            for name, then, shown in (("end", "", "Exception ignored in atexit callback: <function _end_hooks"),
                                      ("del", "del hook\n", "Exception ignored in: 'smd.compat.smdebug.Hook'\n"),
                                      ("caught", caught, "<class 'smd.WriteError'> WriteError\n")):
                said = self.run_program(os.path.join(folder, name), fails + then)
                self.assertTrue(said.startswith(shown), said)
                self.assertEqual(said.count("cannot be written"), int(name != "caught"), said)
                self.assertFalse(os.path.exists(os.path.join(folder, name, "training_job_end.ts")))

    def test_keyboard_interrupt_ends_the_wait_for_another_process(self):
        with tempfile.TemporaryDirectory() as folder:
            hook = framework.Hook(folder)
            hook.save_tensor("x", 1.0)
            other = os.open(folder, os.O_RDONLY)
            fcntl.flock(other, fcntl.LOCK_EX)
            timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            self.assertRaises(KeyboardInterrupt, hook.close)
            timer.join()
            os.close(other)
            self.assertRaisesRegex(smd.WriteError, "stopped while another process held", hook.close)

    def test_keyboard_interrupt_while_a_hook_is_collected_is_shown(self):
        waits = ("import fcntl, os, signal, threading\nhook.save_tensor('x', 1.0)\n"
                 "other = os.open(sys.argv[1], os.O_RDONLY)\nfcntl.flock(other, fcntl.LOCK_EX)\n"
                 "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\ndel hook\n")
        with tempfile.TemporaryDirectory() as folder:
            said = self.run_program(folder, waits)
            self.assertRegex(said, r"^Exception ignored in: 'smd.compat.smdebug.Hook'\n(.*\n)*KeyboardInterrupt[: ]*$")

    def test_what_cannot_be_saved(self):
        """Masked elements have values that count for nothing; without any, a masked array is an array."""
        with tempfile.TemporaryDirectory() as folder:
            hook = framework.Hook(folder)
            masked = np.ma.masked_array([1.0, -999.0], [False, True])
            self.assertRaisesRegex(smd.InvalidArgument, r"'x' has masked elements: .*filled\(\)", hook.save_tensor, "x", masked)
            hook.save_tensor("x", masked.filled(0))
            hook.save_tensor("y", np.ma.masked_array([1.0, 2.0]))
            hook.close()
            trial = create_trial(folder)
            self.assertEqual({name: trial.tensor(name).value(0).tolist() for name in trial}, {"x": [1, 0], "y": [1, 2]})

    def test_texts(self):
        with tempfile.TemporaryDirectory() as folder:
            hook = framework.Hook(folder)
            for name, value in (("one", "cat"), ("list", ["cat", "Grüße", ""]), ("none", np.array([], str)),
                                ("nul", "a\0\0"), ("nuls", [["a\0", "b"], ("\0", "")]), ("numpy", np.str_("a\0")),
                                ("objects", np.array(["a", "bc"], object)), ("table", np.array([["a", "b"], ["c", "d"]]))):
                self.assertTrue(hook.save_tensor(name, value))
            hook.close()
            trial = create_trial(folder)
            values = {name: trial.tensor(name).value(0) for name in trial}
            self.assertEqual({name: value.tolist() for name, value in values.items()}, {
                "one": ["cat"], "list": ["cat", "Grüße", ""], "none": [], "objects": ["a", "bc"], "nul": ["a\0\0"],
                "nuls": [["a\0", "b"], ["\0", ""]], "numpy": ["a\0"], "table": [["a", "b"], ["c", "d"]]})

    def test_names_that_cannot_be_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            hook = framework.Hook(folder)
            for name, why in (("\ud800", "UTF-8"), ("\udcff", "UTF-8"), (b"x", "text"),
                              ("smdebug/reductions/mean", "a reduction of another tensor"),
                              ("of/smdebug/reductions/mean/x", "a reduction of another tensor; choose another name")):
                self.assertRaisesRegex(smd.InvalidArgument, why, hook.save_tensor, name, np.ones(1))
            self.assertRaisesRegex(smd.InvalidArgument, "UTF-8", hook.save_scalar, "\ud800", 1)
            hook.close()

    def test_a_reduction_that_the_program_computed(self):
        with tempfile.TemporaryDirectory() as folder:
            hook = framework.Hook(folder, reduction_config=framework.ReductionConfig(["max"]))  # of other tensors
            self.assertTrue(hook.save_tensor("smdebug/reductions/abs_mean/w", 2.5))
            hook.close()
            trial = create_trial(folder)
            self.assertEqual(trial.tensor_names(), ["w"])
            self.assertEqual({key: float(value) for key, value in trial.tensor("w").reduction_values(0).items()},
                             {("mean", True): 2.5})

    def workers_of(self, modules, top=(), **parameters):
        """Returns what a hook writes of workers in a program that has imported these modules, also if it is made of a
        file with these parameters."""
        both = []
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(sys.modules, modules):
            file = os.path.join(folder, "hook.json")
            place = os.path.join(folder, "file")
            with open(file, "w", encoding="utf-8") as out:
                json.dump({"LocalPath": place, "HookParameters": {"save_all": True, **parameters}, **dict(top)}, out)
            for place, hook in ((place, framework.Hook.create_from_json_file(pathlib.Path(file))),
                                (os.path.join(folder, "hook"), framework.Hook(os.path.join(folder, "hook")))):
                hook.save_tensor("x", 1.0)
                hook.close()
                trial = create_trial(place)
                both.append((trial.workers(), trial.num_workers))
        return both

    def test_workers_of_distributed_jobs(self):
        """As the reference names them, but without importing anything."""
        def fails():
            raise ValueError("not initialised")

        torch = types.SimpleNamespace(is_initialized=lambda: True, get_rank=lambda: 2, get_world_size=lambda: 3)
        horovod = types.SimpleNamespace(rank=lambda: 1, size=lambda: 4)
        idle = types.SimpleNamespace(is_initialized=lambda: False, get_rank=fails, get_world_size=fails)
        for modules, worker, count in (
                ({"torch.distributed": torch, "horovod.torch": horovod}, "worker_2", 3),
                ({"torch.distributed": idle, "horovod.torch": horovod}, "worker_1", 4),
                ({"torch.distributed": types.SimpleNamespace(is_available=lambda: False),
                  "horovod.tensorflow": types.SimpleNamespace(rank=fails, size=fails),
                  "smdistributed.dataparallel.torch.distributed": torch}, "worker_2", 3),
                ({"torch.distributed": idle}, "worker_0", 1)):
            self.assertEqual(self.workers_of(modules), 2 * [([worker], count)])
        named = self.workers_of({"torch.distributed": torch}, worker="mine", num_workers=2)
        self.assertEqual(named, [(["mine"], 2), (["worker_2"], 3)])
        self.assertEqual(self.workers_of({"torch.distributed": torch}, num_workers=2)[0], (["worker_2"], 2))
        self.assertEqual(self.workers_of({"torch.distributed": torch}, worker="mine")[0], (["mine"], 1))
        for top, parameters, wanted in (  # what is written counts, also if it is what counts without it
                ({}, {"worker": "worker_0"}, ("worker_0", 1)),
                ({"worker": "worker_0"}, {"num_workers": 2}, ("worker_0", 2)),
                ({}, {"num_workers": "1"}, ("worker_2", 1)),
                ({"num_workers": 1}, {"worker": None}, ("worker_2", 1)),
                ({}, {"worker": None, "num_workers": None}, ("worker_2", 3))):
            with self.subTest(top=top, parameters=parameters):
                worker, count = wanted
                self.assertEqual(self.workers_of({"torch.distributed": torch}, top, **parameters)[0], ([worker], count))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_processes_of_pytorch(self):
        """As torchrun starts them."""
        script = ("import os, sys, torch.distributed as dist\nimport smd.compat.smdebug\n"
                  "dist.init_process_group('gloo', init_method='file://' + sys.argv[1] + '/meet',\n"
                  "                        rank=int(os.environ['RANK']), world_size=int(os.environ['WORLD_SIZE']))\n"
                  "every = smd.compat.smdebug.SaveConfig(save_interval=1)\n"
                  "hook = smd.compat.smdebug.Hook(sys.argv[1] + '/run', save_config=every)\n"
                  "for step in range(3):\n"
                  "    hook.save_tensor('rank', dist.get_rank())\n    hook.next_step()\n"
                  "hook.flush()\ndist.barrier()\nhook.close()\n")
        with tempfile.TemporaryDirectory() as folder:
            started = [subprocess.Popen([sys.executable, "-c", script, folder], stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"}) for rank in range(2)]
            said = [one.communicate(timeout=120)[1] for one in started]
            self.assertEqual([one.returncode for one in started], [0, 0], said)
            trial = create_trial(os.path.join(folder, "run"))
            self.assertEqual((trial.workers(), trial.num_workers), (["worker_0", "worker_1"], 2))
            self.assertEqual(trial.steps(), [0, 1, 2])
            self.assertEqual([trial.tensor("rank").value(2, worker=worker) for worker in trial.workers()], [0, 1])

    def test_processes_that_are_one_worker_are_told_so(self):
        with tempfile.TemporaryDirectory() as folder:
            hook, other = framework.Hook(folder), framework.Hook(folder)
            hook.save_tensor("x", 1.0)
            hook.flush()
            self.assertRaisesRegex(smd.StepAlreadySaved, "step 0 of worker 'worker_0' has been saved before.*"
                                   "each needs a `worker` of its own", other.save_tensor, "x", 1.0)
            other.close()
            hook.close()
            self.assertRaisesRegex(smd.InvalidArgument, "another folder or as another worker", framework.Hook, folder)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_tensors_of_pytorch(self):
        """Types that NumPy lacks, and views whose elements PyTorch changes only when they are read."""
        import torch
        half = torch.tensor([[1.5, -2], [3, 0.1]], dtype=torch.bfloat16)
        complex_ = torch.tensor([1 + 2j, 3 - 4j])
        with tempfile.TemporaryDirectory() as folder:
            hook = framework.Hook(folder)
            for name, value in (("half", half.t()), ("single", half[0, 0]), ("conj", complex_.conj()),
                                ("negative", complex_.conj().imag), ("trained", torch.nn.Parameter(torch.ones(2)))):
                hook.save_tensor(name, value)
            hook.close()
            trial = create_trial(folder)
            values = {name: trial.tensor(name).value(0) for name in trial}
            self.assertEqual(values["half"].tolist(), [[1.5, 3], [-2, 0.10009765625]])  # 205 / 2**11, nearest to 0.1
            self.assertEqual((values["single"].tolist(), values["single"].shape), (1.5, ()))
            self.assertEqual(values["conj"].tolist(), [1 - 2j, 3 + 4j])
            self.assertEqual(values["negative"].tolist(), [-2, 4])
            self.assertEqual(values["trained"].tolist(), [1, 1])
            with open(glob.glob(os.path.join(folder, "events", "*", "*"))[0], "rb") as file:
                self.assertIn(np.array([0x3fc0, 0x4040, 0xc000, 0x3dcd], "<u2").tobytes(), file.read())

    def test_what_cannot_be_saved(self):
        self.assertRaisesRegex(smd.InvalidArgument, "out_dir", framework.Hook)
        with tempfile.TemporaryDirectory() as folder:
            hook = framework.Hook(folder)
            for value in (np.array([None]), 2**70, {"a": 1}, object(), [1.5, "a"], [True, "a"], [b"a", "b"],
                          [["a"], [1]]):
                with self.assertRaisesRegex(smd.InvalidArgument, "elements of type object cannot be saved"):
                    hook.save_tensor("x", value)
            hook.save_tensor("x", 1.0)
            self.assertRaises(smd.InvalidArgument, hook.set_mode, 9)
            self.assertIs(hook.mode, ModeKeys.GLOBAL)
            hook.next_step()
            hook.close()
            self.assertEqual(create_trial(folder).tensor_names(), ["x"])

    def test_values_and_what_is_not_here(self):
        self.assertEqual(framework.SaveConfig(save_interval=5), framework.SaveConfig(save_interval="5"))
        self.assertNotEqual(framework.SaveConfig(save_interval=5), framework.SaveConfig(save_interval=6))
        steps = [step for step in range(12) if framework.SaveConfig(save_interval=5, save_steps=[3], end_step=10)
                 .should_save_step(framework.modes.EVAL, step)]
        self.assertEqual(steps, [0, 3, 5])
        self.assertEqual(framework.SaveConfig.parse(None), framework.SaveConfig())
        with tempfile.TemporaryDirectory() as folder:
            hook = framework.Hook(folder)
            self.assertRaises(NotImplementedError, hook.register_module, object())
            self.assertRaises(NotImplementedError, hook.get_collection("mine").add_module_tensors, object())
            hook.close()
        from smdebug import tensorflow
        for make in tensorflow.KerasHook, tensorflow.SessionHook.create_from_json_file:
            self.assertRaises(NotImplementedError, make)
        self.assertEqual((framework.CollectionKeys.LOSSES, tensorflow.CollectionKeys.SM_METRICS),
                         ("losses", "sm_metrics"))


class Running(unittest.TestCase):
    def test_script(self):
        """A program that imports smdebug runs with it, and finds what lies beside it."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("script.py", "import sys, beside, smdebug\nfrom smdebug.trials import create_trial\n"
                                             "print(__name__, sys.argv[1:], beside.one, create_trial(sys.argv[1]).name)\n"),
                               ("beside.py", "one = 1\n")):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            command = [sys.executable, "-m", "smd.compat", os.path.join(folder, "script.py"), DIGITS, "--force"]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            self.assertEqual(done.stdout, f"__main__ {[DIGITS, '--force']} 1 good-pytorch-digits\n")
            os.mkdir(os.path.join(folder, "smdebug"))
            with open(os.path.join(folder, "smdebug", "__init__.py"), "w", encoding="utf-8") as file:
                file.write("raise SystemExit('the real one')\n")
            environment = {**os.environ, "PYTHONPATH": folder + os.pathsep + os.environ["PYTHONPATH"]}
            done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, env=environment)
            self.assertEqual(done.stderr, "the real one\n")
            command[3:3] = ["--force"]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environment)

    def test_what_counts_as_the_real_one(self):
        """The package beside the script, but no other folder of that name."""
        with tempfile.TemporaryDirectory() as folder:
            beside, elsewhere = (os.path.join(folder, name) for name in ("beside", "elsewhere"))
            script = os.path.join(beside, "script.py")
            for place in (beside, elsewhere):
                os.makedirs(os.path.join(place, "smdebug"))
            with open(script, "w", encoding="utf-8") as file:
                file.write("import smdebug\nprint(smdebug.__file__)\n")
            command = [sys.executable, "-m", "smd.compat", script]
            for real in (sys.modules["smdebug"].__file__, os.path.join(beside, "smdebug", "__init__.py")):
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=elsewhere)
                self.assertEqual(done.stdout, real + "\n")
                with open(os.path.join(beside, "smdebug", "__init__.py"), "w", encoding="utf-8"):
                    pass

    def test_processes_of_multiprocessing(self):
        """They find smdebug too; with spawn they get nothing but sys.path of the process that starts them."""
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.py")
            with open(script, "w", encoding="utf-8") as file:
                file.write("import multiprocessing\n"
                           "def name():\n    import smdebug.pytorch\n    return smdebug.pytorch.Hook.__module__\n"
                           "if __name__ == '__main__':\n    for way in ('spawn', 'fork'):\n"
                           "        with multiprocessing.get_context(way).Pool(1) as pool:\n"
                           "            print(pool.apply(name))\n")
            for force in ([], ["--force"]):
                done = subprocess.run([sys.executable, "-m", "smd.compat", *force, script], stdout=subprocess.PIPE,
                                      text=True, check=True)
                self.assertEqual(done.stdout, "smd.compat.smdebug\n" * 2)

    def test_help_and_usage(self):
        for words, status, shown in ((["--help"], 0, 0), ([], 2, 1), (["--forc", "x.py"], 2, 1)):
            done = subprocess.run([sys.executable, "-m", "smd.compat", *words], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, status)
            self.assertIn("usage: python3 -m smd.compat", (done.stdout, done.stderr)[shown])
            if not words:
                self.assertTrue(done.stderr.endswith("the following arguments are required: SCRIPT\n"), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
