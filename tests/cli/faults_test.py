#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands on machines that fail: no descriptors, no memory, no room, no permission, files that go away, signals at any
moment, system calls that fail one after the other. An answer is whole and right, or the status says that it is not.

    faults_test.py --tools DIR... --trials FOLDER [TEST...]
"""

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from permissions import bound_by_permissions

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))
from limits import under  # noqa: E402

DIGITS = os.path.join(HERE, "..", "fixtures", "good-pytorch-digits")
MIB = 1 << 20
environment = {}
trials = ""
sanitized = False
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored if these tests were started by nohup

READERS = [
    ["smd-ls", "--json"],
    ["smd-ls", "--locations"],
    ["smd-tensor", "-s", ":", "-e", "bias", "--jsonl"],
    ["smd-reduce", "-s", ":", "-r", "min,mean,median", "--csv"],
]


def run(command, *operands, limit=(), **more):
    """Runs a command; limits are pairs: what, and how much or (soft, hard)."""
    more.setdefault("stdout", subprocess.PIPE)
    done = subprocess.run([*under(*limit), *command, *operands], stderr=subprocess.PIPE, env=environment,
                          stdin=subprocess.DEVNULL, timeout=240, check=False, **more)
    done.stderr = done.stderr.decode()
    return done


class Faults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="smd-faults-")
        self.trial = os.path.join(self.folder, "trial")
        shutil.copytree(DIGITS, self.trial)

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def event_files(self):
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(self.trial, "events"))
                      for name in names)

    def check_readable(self, done):
        """Checks that the command ended without a signal or the text of an exception."""
        self.assertIn(done.returncode, (0, 1, 3, 4), done.stderr)
        for word in ("terminate called", "what():", "std::", "Sanitizer", "fault of this program"):
            self.assertNotIn(word, done.stderr)

    def test_sixteen_descriptors(self):
        for command in READERS:
            plain = run(command, self.trial)
            short = run(command, self.trial, limit=[(resource.RLIMIT_NOFILE, 16)])
            self.assertEqual(plain.returncode, 0)
            self.assertEqual((plain.returncode, plain.stdout, plain.stderr),
                             (short.returncode, short.stdout, short.stderr))

    def test_a_thousand_trials_stay_open(self):
        """Neither the stack nor the usual number of descriptors bounds how many trials are seen together."""
        with open(os.path.join(self.folder, "a.csv"), "w", encoding="utf-8") as log:
            log.write("step,loss\n1,2.5\n2,1.5\n")
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        limits = [(resource.RLIMIT_STACK, (MIB, 8 * MIB)), (resource.RLIMIT_NOFILE, (100, hard))]
        for command, status, first, last in (
                (["smd-reduce", "--across", "--by", "tensor", "-r", "count,mean"], 0,
                 "trials\ttensor\tsource\tcount\tmean", "1000\tloss\tcomputed\t2000\t2"),
                (["smd-reduce", "--hist", "--bins", "2", "--columns", "trial,step,lo,hi,count"], 0,
                 "trial\tstep\tlo\thi\tcount", "a.csv\t2\t2\t2.5\t0"),
                (["smd-tensor", "--matrix"], 2, "", "")):
            with self.subTest(command):
                done = run(command, *["a.csv"] * 1000, cwd=self.folder, limit=limits)
                lines = done.stdout.decode().splitlines() or [""]
                self.assertEqual((done.returncode, lines[0], lines[-1]), (status, first, last), done.stderr)

    def test_find_says_what_it_could_not_enter(self):
        bound = bound_by_permissions()
        if bound is None:
            self.skipTest("root's right to pass over permissions cannot be given up here")
        place = os.path.join(self.folder, "place")
        shutil.copytree(self.trial, os.path.join(place, "good"))
        for i in range(5):
            os.makedirs(os.path.join(place, f"closed{i}", "run"))
            os.chmod(os.path.join(place, f"closed{i}"), 0)
        os.makedirs(os.path.join(place, "names-only", "run"))
        os.chmod(os.path.join(place, "names-only"), 0o400)  # may be listed, but not entered
        done = run([*bound, "smd-ls", "--find"], place)
        for name in os.listdir(place):
            os.chmod(os.path.join(place, name), 0o700)
        self.assertEqual((done.returncode, done.stdout), (3, os.path.join(place, "good").encode() + b"\n"), done.stderr)
        lines = done.stderr.splitlines()
        advice = "; see who owns it with ls -l"
        self.assertEqual(lines[:3], [f"smd-ls: AccessDenied: {place}/closed{i}: permission denied{advice}"
                                     for i in range(3)])
        self.assertEqual(lines[3:], [f"smd-ls: AccessDenied: {place}: 3 more below it: permission denied{advice}"])

    def test_little_memory(self):
        """512 MiB of address space are enough to report any wrong length or shape."""
        if sanitized:
            self.skipTest("sanitizers reserve addresses by the terabyte")
        broken = os.path.join(trials, "broken")
        for name in sorted(os.listdir(broken)):
            path = os.path.join(broken, name)
            if not os.path.isdir(path) or name.startswith("_"):
                continue
            with self.subTest(name):
                plain = run(["smd-ls", "-j2", "--check"], path)
                short = run(["smd-ls", "-j2", "--check"], path, limit=[(resource.RLIMIT_AS, 512 * MIB)])
                self.assertNotIn("memory", short.stderr)
                self.assertEqual((plain.returncode, plain.stdout), (short.returncode, short.stdout))
                self.check_readable(short)

    def test_no_memory(self):
        """Too little to start: a status and one line, not a part of the output."""
        if sanitized:
            self.skipTest("sanitizers reserve addresses by the terabyte")
        whole = run(READERS[2], self.trial).stdout
        failed = 0
        for size in range(8, 200, 8):
            done = run([*READERS[2], "-j1"], self.trial, limit=[(resource.RLIMIT_AS, size * MIB)])
            if done.returncode == 127 or "shared object" in done.stderr:
                continue  # the loader itself ran out of memory
            self.check_readable(done)
            if done.returncode == 0:
                self.assertEqual(done.stdout, whole)
                break
            self.assertEqual(done.returncode, 3, done.stderr)
            failed += 1
        else:
            self.fail("200 MiB are not enough")

    def test_standard_output_full_or_closed(self):
        for command in READERS:
            with open("/dev/full", "wb") as full:
                done = run(command, self.trial, stdout=full)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("WriteError", done.stderr)
        done = run(["sh", "-c", 'smd-ls "$0" >&-', self.trial])
        self.assertEqual(done.returncode, 3, done.stderr)
        reading, writing = os.pipe()
        os.close(reading)
        done = run(["smd-tensor", "-s", ":", "--jsonl"], self.trial, stdout=writing)
        os.close(writing)
        self.assertIn(done.returncode, (-signal.SIGPIPE, 141))
        self.assertEqual(done.stderr, "")

    def test_no_room_for_the_output_file(self):
        """A file may grow to 4 KiB only, as if the disk were full then: the old one stays, no temporary does. SIGXFSZ,
        which the system sends, is not what ends the command."""
        target = os.path.join(self.folder, "out")
        with open(target, "w", encoding="utf-8") as file:
            file.write("old")
        for command in (["smd-tensor", "-s", ":", "--jsonl"], ["smd-tensor", "-s", ":", "-f", "npz"]):
            done = run(command, self.trial, "-o", target, limit=[(resource.RLIMIT_FSIZE, 4096)])
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("WriteError", done.stderr)
            self.assertEqual(sorted(os.listdir(self.folder)), ["out", "trial"])
            with open(target, encoding="utf-8") as file:
                self.assertEqual(file.read(), "old")

    def test_no_room_for_a_hook(self):
        """The error names the file, its temporary file is removed, earlier files are complete, and the job is not over."""
        saved = os.path.join(self.folder, "saved")
        numbers = "[" + ",".join("0.5" for _ in range(4000)) + "]"
        small = os.path.join(self.folder, "small.jsonl")
        with open(small, "w", encoding="utf-8") as file:
            file.write('{"tensor": "a", "step": 0, "value": [1, 2]}\n{"tensor": "a", "step": 1, "value": %s}\n' % numbers)
        with open(small, "rb") as lines:
            done = subprocess.run([*under((resource.RLIMIT_FSIZE, 16384)), "smd-save", saved, "--jsonl", "--end"],
                                  stdin=lines, capture_output=True, env=environment, timeout=60, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"000000000001", done.stderr)
        self.assertIn(b"the end marker is left out: a failure ends the saving", done.stderr)
        left = [name for _, _, names in os.walk(saved) for name in names]
        self.assertEqual([name for name in left if name.endswith((".tmp", "~"))], [])
        self.assertIn("000000000000_worker_0.tfevents", left)
        self.assertNotIn("training_job_end.ts", left)

    def test_unreadable(self):
        """An unreadable file affects nothing else: status 3, and everything else is printed."""
        bound = bound_by_permissions()
        if bound is None:
            self.skipTest("root's right to pass over permissions cannot be given up here")
        spoiled = self.event_files()[1]
        os.chmod(spoiled, 0)
        done = run([*bound, "smd-tensor", "-s", ":", "-e", "bias", "--jsonl"], self.trial)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("AccessDenied", done.stderr)
        self.assertIn(os.path.basename(spoiled), done.stderr)
        self.assertGreater(len(done.stdout.splitlines()), 1)
        for name in ("log.csv", "run-x.wandb", "model.pt"):  # what cannot be read is not "no log"
            alone = os.path.join(self.folder, name)
            with open(alone, "w", encoding="utf-8") as file:
                file.write("step,loss\n1,2\n")
            os.chmod(alone, 0)
            done = run([*bound, "smd-ls"], alone)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(f"AccessDenied: {alone}: permission denied", done.stderr)
        os.chmod(self.trial, 0)
        done = run([*bound, "smd-ls"], self.trial)
        os.chmod(self.trial, 0o755)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("AccessDenied", done.stderr)

    def test_unreadable_index(self):
        """Unreadable files are not reported as absent; status 3."""
        bound = bound_by_permissions()
        if bound is None:
            self.skipTest("root's right to pass over permissions cannot be given up here")
        index = os.path.join(self.trial, "index", "000000000")
        files = [os.path.join(index, name) for name in os.listdir(index)]
        commands = (["smd-ls"], ["smd-ls", "--steps", "-s", "99"], ["smd-ls", "-n", "none"], ["smd-reduce", "-m", "eval"],
                    ["smd-ls", "--steps", "-F", "-m", "eval", "-s", "99"], ["smd-wait", "--count", "99"], ["smd-wait", "-m", "eval", "-s", "99"],
                    ["smd-rule", "-r", "AllZero", "-p", "tensor_regex=."])
        for denied in ([index], files, files[-1:]):
            modes = {path: os.stat(path).st_mode & 0o777 for path in denied}
            for path in denied:
                os.chmod(path, 0)
            for command in commands:
                with self.subTest(command=command, denied=len(denied)):
                    done = run([*bound, *command], self.trial)
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertIn("AccessDenied", done.stderr)
                    for line in (done.stdout.decode() + done.stderr).splitlines():
                        if any(claim in line for claim in ("NoMoreData", "not saved", "was saved", "never came")):
                            self.assertIn("as far as it can be read", line)
            for path in denied:
                os.chmod(path, modes[path])

    def test_files_that_go_away(self):
        """Event files are removed, truncated and restored while they are read: never a signal, never a wrong row."""
        whole = set(run(READERS[2], self.trial).stdout.splitlines())
        contents = {}
        for path in self.event_files():
            with open(path, "rb") as file:
                contents[path] = file.read()
        stop = threading.Event()
        chance = random.Random(1)

        def spoil():
            while not stop.is_set():
                path = chance.choice(list(contents))
                what = chance.randrange(3)
                if what == 0 and os.path.exists(path):
                    os.remove(path)
                elif what == 1:
                    with open(path, "wb") as file:
                        file.write(contents[path][:chance.randrange(len(contents[path]))])
                else:
                    with open(path, "wb") as file:
                        file.write(contents[path])

        thread = threading.Thread(target=spoil)
        thread.start()
        try:
            for _ in range(30):
                done = run(READERS[2], self.trial)
                self.check_readable(done)
                self.assertEqual([row for row in done.stdout.splitlines() if row not in whole], [])
                if len(done.stdout.splitlines()) < len(whole):
                    self.assertNotEqual(done.returncode, 0)
        finally:
            stop.set()
            thread.join()

    def test_signals_at_any_moment(self):
        """A command that a signal ends leaves no temporary file, and its output file is old or new, never partial."""
        target = os.path.join(self.folder, "out")
        command = ["smd-tensor", self.trial, "-s", ":", "--jsonl", "-o", target]
        self.assertEqual(run(command).returncode, 0)
        with open(target, "rb") as file:
            new = file.read()
        chance = random.Random(2)
        statuses = set()
        for number in [signal.SIGHUP, signal.SIGINT, signal.SIGTERM] * 35:
            with open(target, "wb") as file:
                file.write(b"old")
            child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            timer = threading.Timer(chance.random() * 0.05, child.send_signal, [number])
            timer.start()
            status = child.wait(timeout=60)
            timer.cancel()
            timer.join()
            statuses.add(status)
            self.assertIn(status, (0, -number))
            self.assertEqual(sorted(os.listdir(self.folder)), ["out", "trial"])
            with open(target, "rb") as file:
                content = file.read()
            self.assertIn(content, (b"old", new))
            if status == 0:
                self.assertEqual(content, new)
        self.assertNotEqual(statuses, {0}, "no signal came in time")

    def test_interrupted_calls(self):
        """Stopped and continued repeatedly: the output is the same."""
        whole = run(READERS[2], self.trial)
        for _ in range(3):
            child = subprocess.Popen([*READERS[2], self.trial], env=environment, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE)
            done = threading.Event()

            def disturb(pid=child.pid, over=done):
                while not over.wait(0.001):
                    os.kill(pid, signal.SIGSTOP)
                    os.kill(pid, signal.SIGCONT)

            thread = threading.Thread(target=disturb)
            thread.start()
            # Not with communicate(): the child must not be reaped while signals are still sent to it.
            out = child.stdout.read()
            done.set()
            thread.join()
            err = child.stderr.read().decode()
            self.assertEqual((child.wait(timeout=60), out, err), (0, whole.stdout, whole.stderr))
            child.stdout.close()
            child.stderr.close()

    def test_no_trial_never_waits(self):
        os.mkdir(os.path.join(self.folder, "empty"))
        for path in ("nowhere", "empty"):
            for command in READERS:
                self.assertEqual(run(command, os.path.join(self.folder, path)).returncode, 3)

    def test_failing_calls(self):
        """The n-th call fails, for all n: status 3 and the file's name, or the complete output."""
        if sanitized or shutil.which("strace") is None:
            self.skipTest("needs strace, and no sanitizer")
        log = os.path.join(self.folder, "trace")
        if run(["strace", "-f", "-o", log, "true"]).returncode != 0:
            self.skipTest("strace may not trace here")
        command = ["smd-tensor", "-j1", "-s", ":", "-e", "conv.bias", "--jsonl", self.trial]
        whole = run(command)
        for call, error in (("openat2", "EIO"), ("getdents64", "EIO"), ("getdents64", "ENOMEM"), ("pread64", "EIO")):
            failed = 0
            for n in range(1, 400):
                done = run(["strace", "-f", "--seccomp-bpf", "-o", log, f"-etrace={call}",
                            f"-einject={call}:error={error}:when={n}"], *command)
                with open(log, encoding="utf-8", errors="replace") as file:
                    injected = "(INJECTED)" in file.read()
                if not injected:
                    break
                if done.returncode == 127:  # the loader's own call
                    continue
                with self.subTest(call=call, n=n):
                    self.check_readable(done)
                    if done.returncode == 0:
                        self.assertEqual(done.stdout, whole.stdout)
                    else:
                        self.assertEqual(done.returncode, 3, done.stderr)
                        self.assertTrue(done.stderr)
                        failed += 1
            self.assertGreater(failed, 0, call)


def main():
    global trials, sanitized
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", action="append", default=[])
    parser.add_argument("--trials", required=True)
    parser.add_argument("--sanitized", action="store_true")
    options, rest = parser.parse_known_args()
    trials, sanitized = options.trials, options.sanitized
    environment.update(os.environ, PATH=os.pathsep.join(options.tools + [os.environ["PATH"]]), LC_ALL="C.UTF-8")
    os.environ["PATH"] = environment["PATH"]
    unittest.main(argv=[sys.argv[0], *rest])


main()
