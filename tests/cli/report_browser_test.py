#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report_browser_test.py --tools DIR --trials DIR --logs DIR [--shots DIR]: the pages of smd-report in Chromium: nothing is
fetched, its console stays empty (an error of the script, or a violation of the page's policy, would stand there), and
without script the text is the same. Pictures at three widths, light and dark, are kept in --shots."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from browser import Browser, Tab, requests_of
from report_page import Page, compare_with_commands

ARGUMENTS = None
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TERM": "dumb"}
HOSTILE = "</script><img src=http://example.com/x onerror=alert(1)>"
CONTROL = "http://example.com/x.png"
WIDTHS = (380, 800, 1600)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def installed():
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        raise unittest.SkipTest("no Chromium: install the package chromium")
    return found


def rows(*command):
    done = subprocess.run([*command, "--jsonl"], env=ENVIRONMENT, check=False, stdout=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Pages(unittest.TestCase):
    expected = set()

    @classmethod
    def setUpClass(cls):
        program = installed()
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.browser = Browser(program, cls.folder)

    @classmethod
    def tearDownClass(cls):
        """The browser's own log of the network knows no more than its pages told."""
        cls.browser.close()
        requests = requests_of(cls.browser.log)
        assert requests == cls.expected, requests

    def path(self, name):
        return os.path.join(self.folder, name)

    def report(self, name, *trials):
        file = self.path(name + ".html")
        done = subprocess.run(["smd-report", *trials, "-o", file], env=ENVIRONMENT, check=False, stderr=subprocess.PIPE)
        self.assertIn(done.returncode, (0, 1, 4), done.stderr.decode())
        return file

    def save(self, name, tensors):
        trial = self.path(name)
        lines = "".join(json.dumps(one) + "\n" for one in tensors)
        subprocess.run(["smd-save", trial, "--jsonl", "--end"], env=ENVIRONMENT, check=True, input=lines.encode())
        return trial

    def open(self, file, **how):
        tab = Tab(self.browser, file, **how)
        self.addCleanup(tab.close)
        return tab

    def test_a_request_and_a_message_are_seen(self):
        """A page that loads something, and whose script fails: without this, empty lists would say nothing."""
        file = self.path("control.html")
        with open(file, "w", encoding="utf-8") as page:
            page.write(f'<!DOCTYPE html><p><img src="{CONTROL}"><script>nothing()</script>')
        self.expected.add(CONTROL)
        tab = self.open(file)
        self.assertEqual(tab.requests(), {CONTROL})
        self.assertIn("nothing is not defined", "".join(tab.messages()))

    def check(self, file):
        tab = self.open(file)
        self.assertEqual(tab.messages(), [])
        self.assertEqual(tab.requests(), set())
        with_script = tab.dom
        quiet = self.path("quiet.html")
        with open(file, encoding="utf-8", newline="") as page, open(quiet, "w", encoding="utf-8", newline="") as copy:
            copy.write(re.sub(r"script-src 'sha256-[^']*'", "script-src 'none'", page.read(), count=1))
        tab = self.open(quiet)
        self.assertIn("Content Security Policy", "".join(tab.messages()))
        self.assertEqual(tab.requests(), set())
        without = tab.dom
        self.assertNotIn('class="js"', without)
        body = {}
        for name, dom in (("with", with_script), ("without", without)):
            main = Page(dom).one("main")
            body[name] = re.sub(r"\s+", " ", main.text()).strip()
        self.assertGreater(len(body["with"]), 200)
        self.assertEqual(body["with"], body["without"])
        with open(file, encoding="utf-8", newline="") as page:
            self.assertEqual(re.sub(r"\s+", " ", Page(page.read()).one("main").text()).strip(), body["without"])
        self.assertIn('class="js"', with_script)  # the policy let the script run
        return with_script

    def shoot(self, name, file):
        """What is seen first at three widths, side by side, light and dark."""
        if ARGUMENTS.shots is None:
            return
        os.makedirs(ARGUMENTS.shots, exist_ok=True)
        frames = self.path(f"{name}.frames.html")
        with open(frames, "w", encoding="utf-8") as page:
            page.write('<!DOCTYPE html><body style="margin:0;display:flex">')
            for width in WIDTHS:
                page.write(f'<iframe src="{os.path.basename(file)}" style="border:0;flex:none;width:{width}px;height:1400px">'
                           "</iframe>")
        for look in ("light", "dark"):
            picture = self.open(frames, width=sum(WIDTHS), height=1400, look=look).picture()
            with open(os.path.join(ARGUMENTS.shots, f"{name}-{look}.png"), "wb") as shot:
                shot.write(picture)
            self.assertGreater(len(picture), 10_000)

    def test_recorded(self):
        for name, trial in (("digits", os.path.join(ARGUMENTS.trials, "pt_digits_train_eval")),
                            ("log", os.path.join(ARGUMENTS.logs, "sick")),
                            ("histograms", os.path.join(ARGUMENTS.logs, "pt_histograms"))):
            with self.subTest(trial=name):
                file = self.report(name, trial)
                dom = self.check(file)
                self.assertGreater(compare_with_commands(self, Page(dom), rows), 0)
                self.shoot(name, file)

    def test_several(self):
        file = self.report("several", os.path.join(ARGUMENTS.logs, "sick"), os.path.join(ARGUMENTS.logs, "healthy"))
        self.check(file)
        self.shoot("several", file)

    def test_hostile(self):
        """Names that try to load something or to run, in every place where a name can stand."""
        # No worker's name holds a slash: it is part of the names of files.
        saved = [{"step": step, "tensor": name, "value": value, "worker": worker, "collections": [collection, HOSTILE]}
                 for step in range(5) for worker in ("w1<img src=x onerror=alert(3)>", "w2]]><script>alert(2)")
                 for name, collection, value in (
                     (HOSTILE, "losses", 1.0 / (step + 1)), ("x\u202e" + HOSTILE, "weights", [1.0 + step] * 300),
                     ("n" * 10_000, "gradients", ["NaN"] * 300), ("javascript:alert(1)", "relu_activation", [0.0] * 300))]
        trial = self.save("a<b>'&\"", saved)
        file = self.report("hostile", trial, "--title", f"</title></style>{HOSTILE}\u202e", "-r", "ExplodingTensor", "-r",
                           "LossNotDecreasing")
        dom = Page(self.check(file))
        self.assertEqual([node.tag for node in dom.root.all() if node.tag in ("img", "b", "iframe")], [])
        self.assertEqual(len(list(dom.root.all("script"))), 1)
        self.shoot("hostile", file)


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", required=True)
    parser.add_argument("--trials", required=True)
    parser.add_argument("--logs", required=True)
    parser.add_argument("--shots")
    ARGUMENTS, others = parser.parse_known_args()
    ENVIRONMENT["PATH"] = os.path.abspath(ARGUMENTS.tools) + os.pathsep + os.environ["PATH"]
    os.environ["PATH"] = ENVIRONMENT["PATH"]
    unittest.main(argv=[sys.argv[0], *others])


if __name__ == "__main__":
    main()
