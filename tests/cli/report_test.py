#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report_test.py --tools DIR --trials DIR --logs DIR --checkpoints DIR: the page of smd-report is well-formed, loads nothing, holds names as
text, and shows the numbers that smd-reduce prints and the results that smd-rule prints."""

import argparse
import base64
import json
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from logs_test import Log, scalar
from report_page import six, Page, check_page, compare_with_commands, figures, number, table_rows

TRIALS = ""
LOGS = ""
CHECKPOINTS = ""
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TERM": "dumb"}
HOSTILE = ["</script><img src=x onerror=alert(1)>", "</title><b>", "</style>", "]]>", "\"quotes' & <b>&amp;",
           "ab\u202ecd\u200f", "a\x01\x1b[31m\x7f", "n" * 10000, "重み/größe", "<!--", "%s%n{}", "--", "-n", "\ufffe",
           "$(touch /tmp/x)`id`", "javascript:alert(1)"]


def run(*command, status=0, stdin=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, env=ENVIRONMENT,
                          input=stdin)
    statuses = status if isinstance(status, tuple) else (status,)
    if done.returncode not in statuses:
        raise AssertionError(f"{' '.join(command)[:400]}: {done.returncode}, not {status}: {done.stderr.decode()}")
    return done.stdout, done.stderr.decode()


def rows(*command, status=(0, 1)):
    return [json.loads(line) for line in run(*command, "--jsonl", status=status)[0].splitlines()]


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def save(self, name, tensors, options=()):
        trial = self.path(name)
        lines = "".join(json.dumps(one) + "\n" for one in tensors)
        run("smd-save", trial, "--jsonl", "--end", *options, stdin=lines.encode())
        return trial

    def html(self, *arguments, status=(0, 1)):
        file = self.path("page.html")
        out, _ = run("smd-report", *arguments, "-o", file, status=status)
        self.assertEqual(out, b"")
        with open(file, encoding="utf-8", newline="") as page:
            return page.read()

    def page(self, *arguments, status=(0, 1)):
        return check_page(Page(self.html(*arguments, status=status)))

    def check_curve(self, row, values):
        """The row of a table behind a figure, and the (step, value) pairs that it is of."""
        finite = [(step, value) for step, value in values if math.isfinite(value)]
        self.assertEqual(int(row["points"]), len(values))
        step = next(name for name in row if name.startswith("first ") and name != "first")[len("first "):]
        for what, (at, value) in (("first", values[0]), ("last", values[-1])):
            self.assertEqual(int(row[f"{what} {step}"]), at)
            self.assertTrue(float(row[what]) == six(value) or (math.isnan(value) and row[what] == "nan"), (row, value))
        if finite:
            self.assertEqual(float(row["least"]), six(min(value for _, value in finite)))
            self.assertEqual(float(row["greatest"]), six(max(value for _, value in finite)))

    def check_commands(self, page):
        return compare_with_commands(self, page, rows)

    def test_losses_are_those_of_reduce(self):
        """Training beside validation: a curve for each mode, with smd-reduce's numbers; the command prints them."""
        trial = os.path.join(TRIALS, "pt_digits_train_eval")
        page = self.page(trial)
        losses = {row["tensor"] for row in rows("smd-reduce", trial, "-c", "losses", "-r", "mean")}
        self.assertTrue(losses)
        shown = {title: (table, commands) for title, table, commands, _ in figures(page)}
        for loss in losses:
            table, commands = shown[loss]
            expected = rows("smd-reduce", trial, "-n", loss, "-r", "mean")
            modes = {row["mode"] for row in expected}
            self.assertEqual({row["curve"] for row in table}, {mode.lower() for mode in modes})
            for row in table:
                self.check_curve(row, [(one["step"], number(one["mean"])) for one in expected
                                       if one["mode"].lower() == row["curve"]])
            self.assertEqual(rows(*shlex.split(commands[0])), expected)

    def test_norms_are_those_of_reduce(self):
        trial = os.path.join(TRIALS, "pt_digits_train_eval")
        page = self.page(trial)
        for title, collection in (("Gradients", "gradients"), ("Weights", "weights")):
            expected = {}
            for row in rows("smd-reduce", trial, "-c", collection, "-r", "l2"):
                expected.setdefault((row["tensor"], row["mode"].lower()), []).append((row["step"], number(row["l2"])))
            (table,) = [table for name, table, _, _ in figures(page) if name == title]
            several = len({mode for _, mode in expected}) > 1
            self.assertEqual({row["curve"] for row in table},
                             {f"{tensor}, {mode}" if several else tensor for tensor, mode in expected})
            for (tensor, mode), values in expected.items():
                (row,) = [row for row in table if row["curve"] == (f"{tensor}, {mode}" if several else tensor)]
                self.check_curve(row, values)

    def test_tensors_table(self):
        trial = os.path.join(TRIALS, "pt_digits_train_eval")
        table = table_rows(next(self.page(trial).by_id("tensors").all("table")))
        expected = {}
        for row in rows("smd-reduce", trial, "-r", "min,max,mean,l2"):
            expected.setdefault(row["tensor"], []).append(row)
        self.assertEqual({row["tensor"] for row in table}, set(expected))
        for row in table:
            of = expected[row["tensor"]]
            self.assertEqual(int(row["steps"]), len(of))
            self.assertEqual(int(row["first step"]), of[0]["step"])
            self.assertEqual(int(row["last step"]), of[-1]["step"])
            self.assertEqual(float(row["least"]), six(min(number(one["min"]) for one in of)))
            self.assertEqual(float(row["greatest"]), six(max(number(one["max"]) for one in of)))
            self.assertEqual(float(row["last mean"]), six(number(of[-1]["mean"])))
            self.assertEqual(float(row["last l2"]), six(number(of[-1]["l2"])))

    def test_rules_are_those_of_smd_rule(self):
        """Results and findings; a mark in the figure links to the rule, and the finding back to the figure."""
        trial = self.save("bad", [{"step": step, "tensor": name, "value": [value] * 200, "collections": ["gradients"]}
                                  for step, value in enumerate([1.0, 2.0, "NaN", 3.0, "Infinity", 1.0])
                                  for name in ("gradient/a", "gradient/b")])
        page = self.page(trial, "-r", "ExplodingTensor", status=1)
        records = [json.loads(line) for line in
                   run("smd-rule", trial, "-r", "ExplodingTensor", "-k", "--jsonl", status=1)[0].splitlines()]
        findings = [record for record in records if record["record"] == "finding"]
        section = page.by_id("rule-1-1")
        table = table_rows(next(section.all("table")))
        self.assertEqual(len(table), min(len(findings), 20))
        for row, finding in zip(table, findings):
            self.assertTrue(row["step"].split()[0] == str(finding["step"]), row)
            self.assertEqual(row["tensor"], finding["tensor"])
            self.assertEqual(row["message"], finding["message"])
        self.assertIn("1 of 1 rule found something grave", page.by_id("health").text())
        links = {link.attributes["href"] for link in section.all("a")}
        self.assertTrue(links)
        for link in links:
            marked = page.by_id(link[1:])
            self.assertIn("#rule-1-1", {back.attributes["href"] for back in marked.all("a")})

    def test_healthy(self):
        falling = [{"step": step, "tensor": "loss", "value": 2.0 / (step + 1), "collections": ["losses"]}
                   for step in range(30)]
        page = self.page(self.save("good", falling), "-r", "LossNotDecreasing", status=0)
        self.assertIn("No sign of trouble", page.by_id("health").text())

    def test_update_ratio(self):
        """|w - w before| / |w before|, by hand: from (3, 4) to (3, 0) 4 / 5, and then nothing changes."""
        padding = [0.0] * 200  # scalars have no ratio
        saved = [{"step": step, "tensor": "w", "value": [*value, *padding], "collections": ["weights"]}
                 for step, value in enumerate([(3, 4), (3, 0), (3, 0)])]
        table = {title: table for title, table, _, _ in figures(self.page(self.save("w", saved)))}["Update to weight ratio"]
        self.assertEqual([(row["first"], row["last"]) for row in table], [("0.8", "0")])
        # Of weights that are not finite there is none.
        saved += [{"step": 3 + i, "tensor": "w", "value": [value, 1, *padding], "collections": ["weights"]}
                  for i, value in enumerate(["NaN", "NaN", 5])]
        table = {title: table for title, table, _, _ in figures(self.page(self.save("v", saved)))}["Update to weight ratio"]
        self.assertEqual([(row["points"], row["not finite"]) for row in table], [("5", "3 NaN")])

    def test_not_finite_and_gaps(self):
        values = [1, 2, "NaN", "Infinity", 5, 6]
        saved = [{"step": 10 * i if i < 5 else 500, "tensor": "loss", "value": value, "collections": ["losses"]}
                 for i, value in enumerate(values)]
        page = self.page(self.save("loss", saved))
        (row,) = next(table for title, table, _, _ in figures(page) if title == "loss")
        self.assertEqual((row["points"], row["not finite"], row["gaps"]), ("6", "1 NaN, 1 inf", "1"))
        self.assertIn("NaN or infinities are in 1 tensor, first in loss at step 20", page.by_id("health").text())

    def test_hostile_names(self):
        """In names of tensors, collections, workers, trials, titles: text, and never markup."""
        saved = [{"step": step, "tensor": name, "value": [float(step), 1.5, *[0.0] * 200], "worker": "w<b>&\"'",
                  "collections": ["weights", "<i>c"]} for step in range(3) for name in HOSTILE]
        saved += [{"step": step, "tensor": name + "s", "value": math.exp(-step), "worker": "w<b>&\"'",
                   "collections": ["losses"]} for step in range(3) for name in HOSTILE]
        saved.sort(key=lambda one: one["step"])
        trial = self.save("a<b>'&", saved)
        page = self.page(trial, "--title", "</title><script>alert(1)</script>\u202e")
        self.assertEqual(page.one("title").text() if len(list(page.root.all("title"))) == 1 else
                         next(page.one("head").all("title")).text(), "</title><script>alert(1)</script>\\u{202e}")
        text = page.root.text()
        for name in HOSTILE[:5]:
            self.assertIn(name, text)
        self.assertNotIn("\u202e", text)
        table = table_rows(next(page.by_id("tensors").all("table")))
        self.assertEqual(len(table), 2 * len(HOSTILE))
        for command in (code.text() for code in page.by_id("tensors").parent.all("code")):
            self.assertNotIn("\n", command)
        commands = [command for title, _, commands, _ in figures(page) if title == HOSTILE[0] + "s"
                    for command in commands]
        self.assertEqual(shlex.split(commands[0])[3], HOSTILE[0] + "s")

    def test_several_trials(self):
        one = self.save("one", [{"step": step, "tensor": "loss", "value": 1 / (step + 1), "collections": ["losses"]}
                                for step in range(9)])
        two = self.save("two", [{"step": step, "tensor": "loss", "value": 2 / (step + 1), "collections": ["losses"]}
                                for step in range(7)])
        page = self.page(one, two)
        _, table, _, figure = next(one for one in figures(page) if one[0] == "loss")
        self.assertEqual([row["curve"] for row in table], ["one", "two"])
        self.assertEqual([row["points"] for row in table], ["9", "7"])
        self.assertEqual(self.check_commands(page), 4)  # linear and logarithmic
        curves = [path.attributes["class"].split() for path in figure.all("path", "curve")]
        self.assertEqual({word for words in curves for word in words} & {"c0", "c1"}, {"c0", "c1"})
        # First a table: the best of each loss and its step, and the last.
        (runs,) = page.by_id("runs").all("table")
        self.assertEqual(table_rows(runs), [
            {"trial": "one", "last step": "8", "loss: best": "0.111111 at 8", "last": "0.111111", "rules that triggered": ""},
            {"trial": "two", "last step": "6", "loss: best": "0.285714 at 6", "last": "0.285714", "rules that triggered": ""}])
        self.assertLess(list(page.root.all()).index(page.by_id("runs")), list(page.root.all()).index(figure))
        # One that cannot be read costs only itself.
        page = self.page(one, self.path("none"), status=3)
        self.assertIn("Not read", page.by_id("health").text())

    def test_layouts_laid_over_one_another(self):
        """A debugger trial, a log directory and checkpoints in one page: each trial has its own curves and headline."""
        trials = (os.path.join(TRIALS, "pt_digits_train_eval"), os.path.join(LOGS, "sick"),
                  os.path.join(CHECKPOINTS, "rule_overfit"))
        page = self.page(*trials, "-r", "LossNotDecreasing", status=(0, 1))
        self.assertGreater(self.check_commands(page), 5)
        folder = os.path.commonpath(trials) + "/"
        labels = {trial[len(folder):] for trial in trials}
        for label in labels:
            self.assertIn(label, page.by_id("runs").text() + page.by_id("health").text())
        self.assertEqual({row["trial"] for row in table_rows(next(page.by_id("tensors").all("table")))}, labels)

    def test_workers(self):
        """A colour for each worker, dashes for the modes."""
        saved = [{"step": step, "mode": mode, "mode_step": step, "worker": worker, "tensor": "loss",
                  "value": 1.0 + step, "collections": ["losses"]}
                 for step, mode in enumerate(["TRAIN", "EVAL"] * 4) for worker in ("w0", "w1")]
        page = self.page(self.save("workers", saved))
        _, table, _, figure = next(one for one in figures(page) if one[0] == "loss by worker")
        self.assertEqual({row["curve"] for row in table}, {f"{worker}, {mode}" for worker in ("w0", "w1")
                                                           for mode in ("train", "eval")})
        looks = {next(group.all("title")).text(): set(next(path for path in group.all("path")
                                                           if path.attributes["class"].startswith("curve"))
                                                      .attributes["class"].split()[1:])
                 for group in figure.all("g") if next(group.all("title"), None) is not None and
                 any(path.attributes["class"].startswith("curve") for path in group.all("path"))}
        self.assertEqual(looks["w0, train"], {"c0"})
        self.assertEqual(looks["w0, eval"], {"c0", "dashed"})
        self.assertEqual(looks["w1, train"], {"c1"})
        self.assertEqual(looks["w1, eval"], {"c1", "dashed"})
        self.assertGreaterEqual(self.check_commands(page), 6)

    def test_first_chart(self):
        """The loss with most values comes first, whatever its name."""
        page = self.page(os.path.join(LOGS, "keras_overfit"))
        counts = {title: sum(int(row["points"]) for row in table) for title, table, _, _ in figures(page) if "loss" in title}
        self.assertEqual(next(figures(page))[0], max(counts, key=counts.get), counts)
        self.assertIs(next(page.by_id("losses").all("figure")), next(page.root.all("figure")))

    def test_short_numbers(self):
        """Six digits everywhere: the commands print all."""
        page = self.page(os.path.join(LOGS, "keras_overfit"), "-r", "Overfit", status=1)
        for cell in [page.by_id("health"), *page.root.all("td")]:
            for digits in re.findall(r"[\d.]+", cell.text()):
                self.assertLessEqual(len(digits.replace(".", "").lstrip("0")), 6, cell.text())

    def test_grave_apart_from_worth_a_look(self):
        """Sentences: the numbers are those of the recorded log, by smd-tensor."""
        health = self.page(os.path.join(LOGS, "sick"), status=1).by_id("health").text()
        self.assertIn("2 of 7 rules found something grave, 3 more something worth a look", health)
        self.assertIn("block.0.weight.grad is vanishingly small, from step 15 on", health)
        values = [row["value"] for row in rows("smd-tensor", os.path.join(LOGS, "sick"), "-n", "val/loss", "-s", ":")]
        rise = 100 * (values[-1] / min(values) - 1)
        self.assertIn(f"val/loss was least at step {values.index(min(values))} ({min(values):.3g}) and has risen by {rise:.0f} % "
                      "since", health)
        grave, look = health.index("VanishingGradient"), health.index("Worth a look")
        self.assertLess(grave, look)
        self.assertGreater(health.index("Overfit"), look)

    def csv(self, name, lines):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
        return self.path(name)

    def test_overtraining_names_the_loss_that_stands_still(self):
        log = self.csv("log.csv", ["step,train/loss,val/loss", *(f"{step},0.5,{3 - step / 10}" for step in range(20))])
        health = self.page(log, status=1).by_id("health").text()
        self.assertIn("train/loss no longer gets better by delta or more, from step 5 on (train 5)", health)

    def test_of_equal_least_losses_the_first(self):
        for values, said in (((2, .5, .5, .5, 1, .5), "loss was least at step 1 (0.5), and is again 0.5 at step 5"),
                             ((2, 1, .5), "loss fell from 2 at step 0 to its least, 0.5 at step 2"),
                             ((2, 1, 0, 0), "loss was least at step 1 (1) and is 0 at step 3"),
                             ((2, 2, 2), "loss is 2 at step 2, as at the start")):
            log = self.csv("log.csv", ["step,loss", *(f"{step},{value}" for step, value in enumerate(values))])
            self.assertIn(said, self.page(log).by_id("health").text())

    def test_results_in_brief_are_those_of_smd_rule(self):
        trial = os.path.join(LOGS, "sick")
        (brief,) = json.loads(run("smd-report", trial, "-f", "json", status=1)[0])
        for result in brief["results"]:
            (right,) = [row for row in rows("smd-rule", trial, "-r", result["rule"], "-k", status=(0, 1, 5))
                        if row["record"] == "result"]
            self.assertEqual(result, {key: right[key] for key in right if key not in ("record", "trial", "elapsed")})

    def test_a_spike_does_not_flatten_a_curve(self):
        saved = [{"step": step, "tensor": "loss", "value": 1e6 if step == 50 else 2 - step / 100, "collections": ["losses"]}
                 for step in range(100)]
        figure = next(self.page(self.save("spike", saved)).root.all("figure"))
        low, high = map(float, figure.attributes["data-axes"].split()[2:4])
        self.assertTrue(low < 1.01 and 2 <= high < 2.5, (low, high))
        self.assertIn("above the range shown, up to 1e+06", figure.text())

    def test_a_nan_does_not_empty_a_distribution(self):
        saved = [{"step": step, "tensor": "w", "value": ["NaN" if step == 1 and i == 0 else i / 100 for i in range(200)],
                  "collections": ["weights"]} for step in range(3)]
        (figure,) = self.page(self.save("w", saved)).by_id("distributions").all("figure")
        medians = next(row for row in table_rows(next(figure.all("table"))) if row["curve"] == "p50")
        self.assertEqual((medians["points"], medians["not finite"]), ("3", ""))
        self.assertIn("NaN left out: 1 element of all steps", figure.text())

    def test_steps_that_were_not_read(self):
        """They are gaps, also in percentiles, and the weights after them are compared with nothing."""
        def saved(steps):  # twice the weights of the step before: what changed is all of them
            return [{"step": step, "tensor": name, "value": [2.0 ** step] * 200, "collections": ["weights"]}
                    for step in range(8) for name in ("v", "w") if name == "v" or step in steps]

        unread = self.save("unread", saved(range(8)))
        os.remove(os.path.join(unread, "events", "000000000003", "000000000003_worker_0.tfevents"))
        unsaved = self.save("unsaved", saved([0, 1, 2, 4, 5, 6, 7]))
        # Compared with step 2, which was saved last before, step 4 has changed by 12 from 4.
        for trial, status, ratios in ((unread, 4, ("5", "1", "1")), (unsaved, (0, 1), ("6", "3", "1"))):
            shown = {title: table for title, table, _, _ in figures(self.page(trial, status=status))}
            (ratio,) = [row for row in shown["Update to weight ratio"] if row["curve"] == "w"]
            self.assertEqual((ratio["points"], ratio["greatest"], ratio["gaps"]), ratios)
            self.assertEqual({(row["points"], row["gaps"]) for row in shown["w"]}, {("7", "1")})

    def test_a_step_of_one_worker_that_was_not_read(self):
        saved = [{"step": step, "tensor": "loss", "value": 1.0, "worker": worker, "collections": ["losses"]}
                 for step in (0, 1, 3, 7, 15, 31, 63) for worker in ("w0", "w1")]
        trial = self.save("workers", saved)
        os.remove(os.path.join(trial, "events", "000000000007", "000000000007_w1.tfevents"))
        (table,) = [table for title, table, _, _ in figures(self.page(trial, status=4)) if title == "loss by worker"]
        self.assertEqual([(row["curve"], row["points"], row["gaps"]) for row in table],
                         [("w0", "7", ""), ("w1", "6", "1")])

    def test_nan_of_all_workers_is_counted(self):
        """Once in the table of tensors; the percentiles are those of the first worker, and leave none out."""
        saved = [{"step": step, "tensor": "w", "worker": worker,
                  "value": [*(["NaN", "NaN", "-Infinity"] if (step, worker) == (1, "w1") else [1, 2, 3]), *range(200)]}
                 for step in range(3) for worker in ("w0", "w1")]
        page = self.page(self.save("w", saved))
        (row,) = table_rows(next(page.by_id("tensors").all("table")))
        self.assertEqual((row["NaN"], row["inf"], row["elements"]), ("2", "1", "203"))
        self.assertNotIn("NaN left out", page.by_id("distributions").text())

    def test_pictures_and_text_that_were_logged(self):
        """The first and last of each tag, as smd-tensor extracts them."""
        log = os.path.join(LOGS, "pt_media")
        section = self.page(log, status=(0, 1)).by_id("media")
        shown = [base64.b64decode(image.attributes["src"].split(",")[1]) for image in section.all("img")]
        folder = self.path("pictures")
        run("smd-tensor", log, "-n", "samples/grid", "-s", ":", "-f", "raw", "-o", folder + "/")
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                self.assertIn(file.read(), shown)
        self.assertIn("first **bold** line\n\nsecond: ü中😀", section.text())
        self.assertIn("notes/text_summary, step 3", section.text())

    def test_a_single_point_is_no_picture_to_begin_with(self):
        page = self.page(self.save("one", [{"step": 0, "tensor": "loss", "value": 1.0, "collections": ["losses"]}]))
        self.assertIsNone(page.by_id("losses"))
        self.assertIn("loss was 1 at step 0", page.by_id("health").text())

    def test_checkpoints(self):
        """Weights over checkpoints, losses of the Trainer's log, and what the rules say, as recorded."""
        compared = 0
        for name in ("rule_blowup", "rule_frozen", "rule_overfit", "trainer_run", "sharded"):
            with self.subTest(folder=name):
                compared += self.check_commands(self.page(os.path.join(CHECKPOINTS, name), status=(0, 1, 4)))
        self.assertGreater(compared, 20)
        with open(os.path.join(CHECKPOINTS, "rules.json"), encoding="utf-8") as file:
            cases = {case["id"]: case for case in json.load(file)["cases"]}
        for case in (cases["explode/blowup"], cases["overfit/trainer"], cases["update/default"]):
            page = self.page(os.path.join(CHECKPOINTS, case["trial"]), "-r", case["rule"], status=1)
            table = table_rows(next(page.by_id("rule-1-1").all("table")))
            for row, found in zip(table, case["expected"]["fired"], strict=True):
                self.assertEqual((row["step"], row["tensor"]), (str(found["step"]), found["tensor"]))
                self.assertAlmostEqual(float(row["value"]), found["value"], delta=5e-6 * abs(found["value"]))
        # |w - w before| / |w before|, as the rule has it at the step where it is too large.
        page = self.page(os.path.join(CHECKPOINTS, "rule_frozen"))
        table = next(table for title, table, _, _ in figures(page) if title == "Update to weight ratio")
        before = rows("smd-diff", os.path.join(CHECKPOINTS, "rule_frozen"), "-s", "30,40", "-n", "free.weight")
        (free,) = [row for row in table if row["curve"] == "free.weight"]
        self.assertEqual(float(free["greatest"]), six(before[0]["rel_l2"]))

    def test_log_directories(self):
        compared = 0
        for name in ("sick", "pt_scalars", "keras_overfit", "ranks_two", "restart_plain", "hf_zeros"):
            with self.subTest(folder=name):
                compared += self.check_commands(self.page(os.path.join(LOGS, name), status=(0, 1, 4)))
        self.assertGreater(compared, 10)

    def log_headline(self, **series):
        """Of a log directory of a series of each name: its first step, the distance of two, and the step it goes to.
        A `__` of a name is a slash."""
        folder = self.path("log")
        shutil.rmtree(folder, ignore_errors=True)
        values = sorted((step, name.replace("__", "/")) for name, steps in series.items() for step in range(*steps))
        Log(folder, 1700000000, 1).append(b"".join(scalar(1700000001 + i, step, tag, 1e4 / (step + 100))
                                                   for i, (step, tag) in enumerate(values)))
        return next(line for line in run("smd-report", folder, "-f", "md")[0].decode().splitlines() if line[:2] == "**")

    def test_a_loss_that_ends_early_in_a_log_directory(self):
        """It is distinguished from one that counts epochs while others count batches."""
        ends = "**Not sure: loss has no value after step 1950; the run goes on to step 9950**"
        healthy = "**No sign of trouble"
        self.assertEqual(self.log_headline(loss=(0, 2000, 50), lr=(0, 10000, 50)), ends)
        self.assertEqual(self.log_headline(loss=(0, 2000, 50), val__loss=(0, 2000, 500), lr=(0, 10000, 50)), ends)
        self.assertIn(healthy, self.log_headline(loss=(0, 40, 1), lr=(0, 200, 1)))
        self.assertIn(healthy, self.log_headline(loss=(0, 40, 1), lr=(0, 10000, 50)))
        self.assertIn(healthy, self.log_headline(loss=(50, 2050, 50), lr=(0, 10000, 50)))
        self.assertIn(healthy, self.log_headline(train__loss=(0, 5000, 50), val__loss=(0, 5000, 500), lr=(0, 5000, 50)))
        # Epochs and batches may be as far apart as one another, and a stage may begin anew at 0.
        self.assertIn(healthy, self.log_headline(train__loss=(0, 5000, 50), val__loss=(0, 500, 50), lr=(0, 5000, 50)))
        self.assertIn(healthy, self.log_headline(pretrain__loss=(0, 2000, 50), tune__loss=(0, 9000, 50),
                                                 lr=(0, 9000, 50)))
        # A loss that ends among others of its own unit is seen beside one of another unit.
        self.assertIn("val/loss has no value after step 19", self.log_headline(
            train__loss=(0, 5000, 50), val__loss=(0, 20, 1), val__accuracy=(0, 60, 1), lr=(0, 5000, 50)))

    def test_same_bytes(self):
        trial = os.path.join(TRIALS, "pt_digits_train_eval")
        self.assertEqual(self.html(trial, "-j", "1"), self.html(trial, "-j", "4"))

    def test_selection(self):
        trial = os.path.join(TRIALS, "pt_digits_train_eval")
        names = [row["tensor"] for row in rows("smd-ls", trial)]
        page = self.page(trial, "-n", names[0], "-s", "0:3")
        table = table_rows(next(page.by_id("tensors").all("table")))
        self.assertLessEqual({row["tensor"] for row in table}, {names[0]})
        self.assertTrue(all(int(row["last step"]) < 3 for row in table))
        page = self.page(trial, "-x", re.escape(names[0]))
        self.assertNotIn(names[0], {row["tensor"] for row in table_rows(next(page.by_id("tensors").all("table")))})

    def test_refused(self):
        """What is wrong leaves the file as it was."""
        trial = self.save("x", [{"step": 0, "tensor": "x", "value": 1}])
        file = self.path("old.html")
        with open(file, "w", encoding="utf-8") as old:
            old.write("old")
        for status, wrong, command in (
                (2, "-o FILE is missing", (trial,)),
                (2, "standard output", (trial, "-o", "-")),
                (2, "NoSuchRule", (trial, "-r", "NoSuchRule", "-o", file)),
                (2, "--param", (trial, "-p", "threshold=1", "-o", file)),
                (2, "--incomplete", (trial, "--incomplete", "-o", file)),
                (3, "NotFound", (self.path("none"), "-o", file)),
                (3, "no such", (trial, "-o", self.path("no/such/page.html")))):
            with self.subTest(command=" ".join(command)):
                _, messages = run("smd-report", *command, status=status)
                self.assertIn(wrong.lower(), messages.lower())
                with open(file, encoding="utf-8") as old:
                    self.assertEqual(old.read(), "old")

    def test_follow(self):
        """The last page of a job that has ended is that of one look, but for rules that go by the clock."""
        trial = self.save("loss", [{"step": step, "tensor": "loss", "value": 1 / (step + 1), "collections": ["losses"]}
                                   for step in range(9)])
        once = self.html(trial, "-r", "LossNotDecreasing")
        self.assertEqual(self.html(trial, "-r", "LossNotDecreasing", "-F", "--timeout", "60"), once)
        self.assertNotIn("http-equiv=\"refresh\"", once)


    def test_live(self):
        """A job that goes on: each page is whole and reloads itself until the job has ended, in any order of writes."""
        trial, file = self.path("live"), self.path("live.html")
        seen, done = [], threading.Event()

        def read_on():
            while not done.is_set():
                if os.path.exists(file):
                    with open(file, encoding="utf-8", newline="") as page:
                        text = page.read()
                    if not seen or seen[-1] != text:
                        seen.append(text)
                done.wait(0.005)

        def save(step, *options):
            line = {"step": step, "tensor": "loss", "value": 1 / (step + 1), "collections": ["losses"]}
            run("smd-save", trial, "--jsonl", *options, stdin=json.dumps(line).encode())

        def last_step(text):
            section = Page(text).by_id("tensors")
            return section and int(table_rows(next(section.all("table")))[0]["last step"])

        def until(reached):
            deadline = time.monotonic() + 120
            while not (seen and reached(seen[-1])):
                self.assertIsNone(follower.poll(), "it ended too early")
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)

        reader = threading.Thread(target=read_on)
        with subprocess.Popen(["smd-report", trial, "-F", "--interval", "0.05", "-r", "LossNotDecreasing", "-o", file],
                              env={**ENVIRONMENT, "SMDEBUG_TRAINING_END_DELAY_REFRESH": "0"},
                              stderr=subprocess.PIPE) as follower:
            reader.start()
            try:
                for step in range(4):  # the trial is not there before the first
                    save(step)
                    until(lambda text, step=step: last_step(text) == step)
                save(4, "--end")
                self.assertEqual(follower.wait(120), 0, follower.stderr.read())
            finally:
                follower.kill()
                done.set()
                reader.join()
        self.assertGreaterEqual(len(seen), 4)
        for text in seen:
            self.assertTrue(text.endswith("</html>\n"))
        for text in seen[:-1]:
            self.assertIn('<meta http-equiv="refresh" content="1">', text)
            check_page(Page(text))
        with open(file, encoding="utf-8", newline="") as page:
            last = page.read()
        self.assertEqual(last, self.html(trial, "-r", "LossNotDecreasing"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["live", "live.html", "page.html"])  # no temporary is left

    def test_stopped(self):
        """A signal while following: the last whole page stays, and no temporary."""
        trial, file = self.path("open"), self.path("open.html")
        run("smd-save", trial, "--jsonl", stdin=b'{"step": 0, "tensor": "loss", "value": 1, "collections": ["losses"]}')
        with subprocess.Popen(["smd-report", trial, "-F", "--interval", "0.05", "-o", file], env=ENVIRONMENT,
                              stderr=subprocess.PIPE) as follower:
            deadline = time.monotonic() + 120
            while not os.path.exists(file):
                self.assertIsNone(follower.poll())
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            follower.send_signal(signal.SIGTERM)
            follower.wait(120)
        self.assertEqual(follower.returncode, -signal.SIGTERM)
        with open(file, encoding="utf-8", newline="") as page:
            check_page(Page(page.read()))
        self.assertEqual(sorted(os.listdir(self.folder)), ["open", "open.html"])


def main():
    global TRIALS, LOGS, CHECKPOINTS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", required=True)
    parser.add_argument("--trials", required=True)
    parser.add_argument("--logs", required=True)
    parser.add_argument("--checkpoints", required=True)
    known, others = parser.parse_known_args()
    TRIALS, LOGS, CHECKPOINTS = known.trials, known.logs, known.checkpoints
    ENVIRONMENT["PATH"] = os.path.abspath(known.tools) + os.pathsep + os.environ["PATH"]
    os.environ["PATH"] = ENVIRONMENT["PATH"]
    unittest.main(argv=[sys.argv[0], *others])


if __name__ == "__main__":
    main()
