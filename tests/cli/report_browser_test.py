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

from report_page import Page, compare_with_commands

ARGUMENTS = None
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TERM": "dumb"}
HOSTILE = "</script><img src=http://example.com/x onerror=alert(1)>"
WIDTHS = (380, 800, 1600)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def browser():
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        raise unittest.SkipTest("no Chromium: install the package chromium")
    return found


def rows(*command):
    done = subprocess.run([*command, "--jsonl"], env=ENVIRONMENT, check=False, stdout=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.chromium = browser()
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)

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

    def open(self, file, *options):
        """What the browser prints, with its messages. Names are resolved to nothing: there is no network to reach."""
        profile = tempfile.mkdtemp(dir=self.folder)
        done = subprocess.run(
            [self.chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", f"--user-data-dir={profile}", *options,
             "file://" + file], env={**os.environ, "HOME": profile}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
            timeout=180)
        self.assertEqual(done.returncode, 0, done.stderr.decode()[-2000:])
        return done.stdout.decode(), done.stderr.decode()

    def requests(self, log):
        """The URLs that the page's process asked for, by the browser's own log."""
        with open(log, encoding="utf-8") as file:
            text = file.read()
        try:
            events = json.loads(text)["events"]
        except json.JSONDecodeError:  # the browser ended before it closed the list
            events = json.loads(text.rstrip().rstrip(",") + "]}")["events"]
        found = [event.get("params", {}) for event in events]
        # What the browser asks for of its own accord is of no origin.
        return {one["url"] for one in found if one.get("initiator", "not an origin") != "not an origin" and
                re.match(r"(https?|wss?|ftp):", one.get("url", ""))}

    def test_a_request_is_seen(self):
        """A page that loads something: without this, an empty log would say nothing."""
        file, log = self.path("control.html"), self.path("control.json")
        with open(file, "w", encoding="utf-8") as page:
            page.write('<!DOCTYPE html><p><img src="http://example.com/x.png">')
        self.open(file, "--dump-dom", f"--log-net-log={log}")
        self.assertEqual(self.requests(log), {"http://example.com/x.png"})

    def check(self, file):
        log = self.path("net.json")
        with_script, messages = self.open(file, "--dump-dom", f"--log-net-log={log}")
        self.assertEqual([line for line in messages.splitlines() if ":CONSOLE" in line], [])
        self.assertEqual(self.requests(log), set())
        # --dump-dom itself needs scripts, so that it is the policy that forbids the page's own.
        quiet = self.path("quiet.html")
        with open(file, encoding="utf-8", newline="") as page, open(quiet, "w", encoding="utf-8", newline="") as copy:
            copy.write(re.sub(r"script-src 'sha256-[^']*'", "script-src 'none'", page.read(), count=1))
        without, messages = self.open(quiet, "--dump-dom")
        self.assertIn("Content Security Policy", messages)
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
        """What is seen first at three widths, side by side; in frames, since no window is narrower than 500 pixels."""
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
            dark = ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if look == "dark" else []
            shot = os.path.join(ARGUMENTS.shots, f"{name}-{look}.png")
            self.open(frames, f"--screenshot={shot}", f"--window-size={sum(WIDTHS)},1400", "--hide-scrollbars", *dark)
            self.assertGreater(os.path.getsize(shot), 10_000)

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
