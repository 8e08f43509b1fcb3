#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rule_test.py TESTS [TEST...]: smd-rule --python, with rules in the documentation's forms and rules that go wrong."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from smd.compat.smdebug import Hook

TESTS = os.path.abspath(sys.argv[1])
DIGITS = os.path.join(TESTS, "fixtures", "good-pytorch-digits")
RULES = os.path.join(TESTS, "python", "rules")
DOCUMENTED, TROUBLED = (os.path.join(RULES, name + ".py") for name in ("documented", "troubled"))
COMMAND = os.path.abspath(os.path.join(os.environ["SMD_BIN"], "smd-rule"))
# Mean absolute gradients of the trial by step (the relevant ones, read with NumPy):
#   0: fc.weight 0.01285, fc.bias 0.07612     5: 0.01736, 0.11842    10: 0.01567, 0.12341
#  21: fc.weight 0.01627, fc.bias 0.11750    26: 0.01519, 0.10036    31: 0.01477, 0.10549
# The steps 14, 19 and 38 are evaluation steps and have no gradients.
BELOW_0015 = [0, 31]


class Python(unittest.TestCase):
    maxDiff = None

    def run_rule(self, *arguments, status, **environment):
        done = subprocess.run([COMMAND, *arguments, "--python-command", sys.executable], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, env={**os.environ, **environment})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def records(self, *arguments, status, **environment):
        out, err = self.run_rule(*arguments, "--jsonl", status=status, **environment)
        return [json.loads(line) for line in out.splitlines()], err

    def test_documented_rules(self):
        records, _ = self.records(DIGITS, "--python", DOCUMENTED + ":VanishingGradientRule", "-p", "threshold=0.015", "-k",
                                  status=1)
        result = records.pop()
        self.assertEqual([record["step"] for record in records], BELOW_0015)
        for record in records:
            self.assertEqual([record[key] for key in ("tensor", "worker", "value", "threshold")], [None] * 4)
            self.assertEqual(record["message"], "VanishingGradientRule: the condition is met")
        self.assertEqual((result["status"], result["steps_evaluated"], result["steps_skipped"], result["findings"]),
                         ("IssuesFound", 6, 3, 2))
        self.assertEqual(result["params"], {"threshold": "0.015"})

    def test_beside_built_in_rules_and_with_parameters_by_class(self):
        records, _ = self.records(DIGITS, "--python", DOCUMENTED, "-r", "VanishingGradient",
                                  "-p", "CustomGradientRule.max_threshold=0.12", "--other", DIGITS, status=1)
        self.assertEqual([(record["rule"], record["status"], record["step"]) for record in records],
                         [("VanishingGradient", "NoIssuesFound", None), ("CustomGradientRule", "IssuesFound", 10),
                          ("LossAboveOtherRule", "NoIssuesFound", None),
                          ("VanishingGradientRule", "NoIssuesFound", None)])

    def test_two_trials(self):
        with tempfile.TemporaryDirectory() as folder:
            mine, theirs = [1.0, 5.0, 1.0, 9.0, 7.0], [1.0, 2.0, 3.0, 4.0]  # above twice theirs at 1 and 3
            for name, losses in (("mine", mine), ("theirs", theirs)):
                with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8") as file:
                    file.write("step,loss\n" + "".join(f"{step},{loss}\n" for step, loss in enumerate(losses)))
            records, _ = self.records(os.path.join(folder, "mine.csv"), "--python", DOCUMENTED + ":LossAboveOtherRule",
                                      "--other", os.path.join(folder, "theirs.csv"), "-k", status=1)
            result = records.pop()
            self.assertEqual([record["step"] for record in records], [1, 3])
            self.assertEqual((result["steps_evaluated"], result["steps_skipped"]), (4, 1))  # they have no step 4

    def test_configuration(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "job.json")
            parameters = {"rule_to_invoke": "VanishingGradientRule", "source_s3_uri": "s3://bucket/documented.py",
                          "threshold": "0.015"}
            with open(path, "w", encoding="utf-8") as file:
                json.dump([{"RuleConfigurationName": "mine", "RuleParameters": parameters}], file)
            records, err = self.records(DIGITS, "-C", path, status=5)
            self.assertEqual(records[0]["kind"], "custom_rule")
            self.assertIn("is not evaluated here", err)
            records, err = self.records(DIGITS, "-C", path, "--python", DOCUMENTED + ":VanishingGradientRule", status=1)
            self.assertEqual([(record["rule"], record["step"]) for record in records], [("mine", 0)])
            self.assertEqual(err, "")
            records, err = self.records(DIGITS, "-C", path, "--python", DOCUMENTED + ":VanishingGradientRule", status=3,
                                        PYTHONPATH="")
            self.assertEqual([(record["rule"], record["kind"]) for record in records], [("mine", "exception")])
            self.assertIn("has no module smd", err)

    def test_exceptions_are_results(self):
        records, err = self.records(DIGITS, "--python", TROUBLED + ":Raises", "-v", status=4)
        self.assertEqual([(record["status"], record["kind"], record["message"], record["steps_evaluated"])
                          for record in records],
                         [("Error", "exception", "ValueError: no such number (troubled.py, line 13)", 2)])
        self.assertIn('raise ValueError("no such number")', err)  # the traceback
        records, err = self.records(DIGITS, "--python", TROUBLED + ":NeedsNumber", "-p", "number=x", status=4)
        self.assertTrue(records[0]["message"].startswith("ValueError: invalid literal for int()"), records)

    def test_a_message_with_bytes_costs_no_other_rule(self):
        with tempfile.TemporaryDirectory() as folder:
            rule = os.path.join(folder, "bytes_rule.py")
            with open(rule, "w", encoding="utf-8") as file:
                file.write("from smdebug.rules import Rule\n"
                           "class Bytes(Rule):\n"
                           "    def invoke_at_step(self, step):\n"
                           "        raise ValueError('caf\\udce9')\n"
                           "class Calm(Rule):\n"
                           "    def invoke_at_step(self, step):\n"
                           "        return False\n")
            records, _ = self.records(DIGITS, "--python", rule, status=4)
            self.assertEqual([(record["rule"], record["status"]) for record in records],
                             [("Bytes", "Error"), ("Calm", "NoIssuesFound")])
            self.assertIn("ValueError: caf\\udce9", records[0]["message"])

    def test_a_missing_file_is_damage(self):
        """The rule asks for the gradients of step 10, whose event file is missing; 3 steps have no gradients."""
        with tempfile.TemporaryDirectory() as folder:
            trial = os.path.join(folder, "trial")
            shutil.copytree(DIGITS, trial)
            shutil.rmtree(os.path.join(trial, "events", "000000000010"))
            for follow in ((), ("-F",)):
                records, err = self.records(trial, "--python", DOCUMENTED + ":VanishingGradientRule", *follow, status=4)
                self.assertEqual([[record[key] for key in ("status", "kind", "steps_evaluated", "steps_skipped",
                                                           "records_unread")] for record in records],
                                 [["Error", "unread", 5, 4, 1]])
                self.assertIn("the event file is missing", err)

    def test_a_rule_ends_itself(self):
        records, _ = self.records(DIGITS, "--python", TROUBLED + ":Ends", "-k", status=1)
        result = records.pop()
        self.assertEqual([record["step"] for record in records], [10])
        self.assertEqual((result["status"], result["steps_evaluated"]), ("IssuesFound", 3))  # 0, 5 and 10

    def test_what_a_rule_prints_and_says(self):
        records, err = self.records(DIGITS, "--python", TROUBLED + ":Says", status=1)
        self.assertEqual([(record["step"], record["message"]) for record in records], [(21, "twenty-one it is")])
        self.assertEqual(err.splitlines(), [f"looking at {step}" for step in (0, 5, 10, 14, 19, 21)])

    def test_a_crash_or_a_hang_costs_the_rule(self):
        records, _ = self.records(DIGITS, "--python", TROUBLED + ":Dies", "-r", "Overfit", status=4)
        self.assertEqual([(record["rule"], record["status"]) for record in records],
                         [("Overfit", "NoIssuesFound"), ("Dies", "Error")])
        self.assertEqual(records[1]["message"], "the Python process was ended by a signal: Aborted")
        records, _ = self.records(DIGITS, "--python", TROUBLED + ":Hangs", "--trigger-timeout", "0.5s", status=4)
        self.assertIn("gave no answer within", records[0]["message"])

    def test_a_signal_ends_a_rule_that_hangs(self):
        with subprocess.Popen([COMMAND, DIGITS, "--python", TROUBLED + ":Hangs", "--jsonl", "--python-command",
                               sys.executable], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            process = int(child.stderr.readline())
            child.send_signal(signal.SIGTERM)
            self.assertEqual(json.loads(child.stdout.read())["status"], "InProgress")
            self.assertEqual(child.wait(), -signal.SIGTERM)
            self.assertRaises(ProcessLookupError, os.kill, process, 0)

    def test_usage(self):
        for arguments, told in (
                (("--python", TROUBLED + ":NeedsNumber"), "parameter number must be given"),
                (("--python", TROUBLED + ":NeedsNumber", "-p", "nomber=1"), "did you mean number?"),
                (("--python", TROUBLED + ":NeedNumber"), "did you mean 'NeedsNumber'?"),
                (("--python", "/no/such.py"), "No such file"), (("--python", RULES), "is a directory")):
            self.assertIn(told, self.run_rule(DIGITS, *arguments, status=2)[1])

    def test_without_python_or_the_module(self):
        done = subprocess.run([COMMAND, DIGITS, "--python", TROUBLED + ":Says", "-r", "Overfit", "--jsonl",
                               "--python-command", "/no/such/python"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("install the packages python3 and python3-smd", done.stderr)
        self.assertEqual([json.loads(line)["status"] for line in done.stdout.splitlines()], ["NoIssuesFound", "Error"])
        _, err = self.records(DIGITS, "--python", TROUBLED + ":Says", status=3, PYTHONPATH="")
        self.assertIn("has no module smd", err)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "wrong.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("class Rule(:\n")
            records, _ = self.records(DIGITS, "--python", path, status=4)
            self.assertIn("SyntaxError: invalid syntax (wrong.py, line 1)", records[0]["message"])

    def test_the_current_folder_brings_no_modules(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "json.py"), "w", encoding="utf-8") as file:
                file.write("raise SystemExit('the wrong module')\n")
            done = subprocess.run([COMMAND, DIGITS, "--python", DOCUMENTED + ":VanishingGradientRule",
                                   "--python-command", sys.executable], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, check=False, cwd=folder)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_each_file_finds_the_modules_beside_it(self):
        """Also those that it imports late; and files with the name of a module, or without the extension of one."""
        with tempfile.TemporaryDirectory() as folder:
            arguments = []
            for number, name in enumerate(("rule.py", "rule.py", "random.py", "noext")):
                beside = os.path.join(folder, str(number))
                os.makedirs(os.path.join(beside, "late"))
                for file, text in (("helper.py", f"NUMBER = {number}\n"),
                                   (os.path.join("late", "more.py"), f"NUMBER = {number}\n"), (name, (
                        "from dataclasses import dataclass\nimport helper\nfrom smdebug.rules import Rule\n"
                        "@dataclass\nclass Facts:\n    number: 'int' = helper.NUMBER\n"
                        f"class Own{number}(Rule):\n    def invoke_at_step(self, step):\n"
                        "        from late.more import NUMBER\n        import helper as again\n"
                        f"        return (Facts().number, NUMBER, again.NUMBER) != ({number},) * 3\n"))):
                    with open(os.path.join(beside, file), "w", encoding="utf-8") as made:
                        made.write(text)
                arguments += ["--python", os.path.join(beside, name)]
            records, _ = self.records(DIGITS, *arguments, status=0)
            self.assertEqual([(record["rule"], record["status"]) for record in records],
                             [(f"Own{number}", "NoIssuesFound") for number in range(4)])

    def follow(self, tensor, rows, more):
        """Follows a log of these rows, to which one more comes once each of its steps was evaluated."""
        with tempfile.TemporaryDirectory() as folder:
            metrics = os.path.join(folder, "metrics.jsonl")
            rule = os.path.join(folder, "large.py")
            with open(rule, "w", encoding="utf-8") as file:
                file.write("from smdebug.rules import Rule\nclass Large(Rule):\n  def invoke_at_step(self, step):\n"
                           f"    print('at', step)\n    return self.base_trial.tensor('{tensor}').value(step) > 5\n")
            with open(metrics, "w", encoding="utf-8") as file:
                file.writelines(rows)
            with subprocess.Popen([COMMAND, folder, "--python", rule, "-F", "--jsonl", "--interval", "0.05s",
                                   "--python-command", sys.executable], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as child:
                for step in range(len(rows)):
                    self.assertEqual(child.stderr.readline(), f"at {step}\n")
                with open(metrics, "a", encoding="utf-8") as file:
                    file.write(more)
                result = json.loads(child.stdout.read())
                self.assertEqual((result["status"], result["step"], child.wait()), ("IssuesFound", 1, 1))

    def test_follow(self):
        self.follow("loss", ['{"step": 0, "loss": 1.0}\n'], '{"step": 1, "loss": 7.0}\n')

    def test_a_step_that_grows_is_evaluated_again(self):
        self.follow("eval", ['{"step": 0, "eval": 1.0}\n', '{"step": 1, "loss": 1.0}\n'], '{"step": 1, "eval": 7.0}\n')

    def test_a_later_step_of_another_trial_is_waited_for(self):
        """The rule compares with the step after; the other trial saves step 2 once the rule has asked for it."""
        with tempfile.TemporaryDirectory() as folder:
            rule, mine, theirs = (os.path.join(folder, name) for name in ("ahead.py", "mine", "theirs"))
            with open(rule, "w", encoding="utf-8") as file:
                file.write("from smdebug.rules import Rule\nclass Ahead(Rule):\n"
                           "  def __init__(self, base_trial, other_trials):\n"
                           "    super().__init__(base_trial, other_trials=other_trials)\n"
                           "  def invoke_at_step(self, step):\n    print('at', step)\n"
                           "    value = self.base_trial.tensor('scalar/w').value(step)\n"
                           "    return value != self.other_trials[0].tensor('scalar/w').value(step + 1)\n")
            hooks = [Hook(place) for place in (mine, theirs)]
            for value in (1, 2):
                for hook, added in zip(hooks, (0, -1)):  # theirs: 0, 1, 2
                    hook.save_scalar("w", value + added)
                    hook.flush()
            hooks[0].close()
            with subprocess.Popen([COMMAND, mine, "--other", theirs, "--python", rule, "-F", "--jsonl", "--interval",
                                   "0.05s", "--python-command", sys.executable], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as child:
                self.assertEqual([child.stderr.readline() for _ in range(2)], ["at 0\n", "at 1\n"])
                hooks[1].save_scalar("w", 2)
                hooks[1].close()
                result = json.loads(child.stdout.read())
                self.assertEqual([result[key] for key in ("status", "steps_evaluated", "steps_skipped")],
                                 ["NoIssuesFound", 2, 0])

    def test_shards_merge(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = (DIGITS, DIGITS, "--python", DOCUMENTED + ":VanishingGradientRule", "-p", "threshold=0.015", "-k")
            whole, _ = self.run_rule(*arguments, "-f", "tsv", "--columns", "rule,step,value,threshold,message", status=1)
            parts = [os.path.join(folder, str(i)) for i in (1, 2)]
            for i, part in enumerate(parts):
                self.run_rule(*arguments, "--shard", f"{i + 1}/2", "--jsonl", "-o", part, status=1)
            merged, _ = self.run_rule("--merge", *parts, "-f", "tsv", "--columns", "rule,step,value,threshold,message",
                                      status=1)
            self.assertEqual(merged, whole)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
