#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile input must not cost more than it is worth: time, memory and status of every command.

    hostile_test.py --tools DIR [--moments N] [--within SECONDS] [TEST...]
"""

import argparse
import glob
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import generate
from limits import under

MIB = 1 << 20
OPTIONS = argparse.Namespace(moments=36, within=1.0)


def run(*command, mib=0, timeout=60, stdin=b"", cwd=None):
    """Runs a command, with this many MiB of address space if not 0."""
    limits = [(resource.RLIMIT_AS, mib * MIB)] if mib else []
    return subprocess.run([*under(*limits), *command], capture_output=True, timeout=timeout, check=False, input=stdin,
                          cwd=cwd)


def peak(*command, timeout=120):
    """Runs a command; returns its status and the MiB of memory that it took."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + timeout
    while True:
        done, status, usage = os.wait4(child.pid, os.WNOHANG)
        if done:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode, usage.ru_maxrss / 1024
        if time.monotonic() > deadline:
            child.kill()
            raise AssertionError(f"{command} did not end within {timeout} s")
        time.sleep(0.01)


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="smd-hostile-")

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def files(self):
        return sorted(os.path.relpath(os.path.join(at, name), self.folder)
                      for at, _, names in os.walk(self.folder) for name in names)

    def assert_ends_by(self, number, delay, command):
        """Sends a signal after a delay: the command must die of it at once, and leave nothing."""
        before = self.files()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.folder)
        time.sleep(delay)
        child.send_signal(number)
        sent = time.monotonic()
        try:
            _, errors = child.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            self.fail(f"{command}: did not end within 20 s of signal {number} after {delay:.3f} s")
        took = time.monotonic() - sent
        self.assertIn(child.returncode, (-number, 0, 1, 4), f"{command}: {errors.decode()}")
        self.assertLess(took, OPTIONS.within, f"{command}: signal {number} after {delay:.3f} s")
        if child.returncode == -number:
            left = [name for name in self.files() if name not in before]
            self.assertFalse([name for name in left if ".smd-" in name or name.endswith(".tmp")],
                             f"{command}: left behind after {delay:.3f} s")


class Times(InFolder):
    """How long a command takes to stop: nothing else should run meanwhile."""

    def test_signals_within_one_step(self):
        """In the middle of a tensor, of opening, of drawing, of an archive's array, of a copy."""
        huge = generate.huge_tensor(self.path("huge"))
        many = generate.large_tensors(self.path("many"))
        state = generate.trainer_state(self.path("state"), 300_000)
        names = generate.many_names(self.path("names"), 30_000)
        record = generate.endless_record(self.path("record"))
        generate.array(self.path("x.npy"), 450 * MIB)
        generate.step_with_hole(self.path("hole"), 1 << 40)
        commands = [
            ["smd-rule", huge, "-r", "AllZero", "-p", "tensor_regex=a"],
            ["smd-rule", many, "-r", "AllZero", "-p", "tensor_regex=t"],
            ["smd-rule", huge, "-F", "-r", "AllZero", "-p", "tensor_regex=a"],
            ["smd-rule", state, "-r", "LossNotDecreasing"],
            ["smd-report", huge, "-o", "o.html"],
            ["smd-report", names, "-o", "o.html"],
            ["smd-report", state, "-o", "o.html"],
            ["smd-reduce", huge, "-o", "o.tsv"],
            ["smd-reduce", huge, "-F"],
            ["smd-tensor", huge, "a", "-f", "raw", "-o", "o.raw"],
            ["smd-diff", huge, many],
            ["smd-ls", "-q", state],
            ["smd-ls", "--steps", "-F", state],
            ["smd-ls", "-q", record],
            ["smd-rule", record, "-r", "LossNotDecreasing"],
            ["smd-save", "saved", "--step", "1", "x=@x.npy"],
            ["smd-save", "reduced", "--step", "1", "--reduce", "min,median", "x=@x.npy"],
            ["smd-save", "hole", "--step", "5", "y=1", "--append"],
        ]
        chosen = random.Random(4)
        for moment in range(OPTIONS.moments):
            number = chosen.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
            self.assert_ends_by(number, chosen.uniform(0.02, 0.4), commands[moment % len(commands)])
            for place in ("saved", "reduced"):
                shutil.rmtree(self.path(place), ignore_errors=True)

    def test_deadlines_within_one_step(self):
        huge = generate.huge_tensor(self.path("huge"))
        state = generate.trainer_state(self.path("state"), 100_000)
        for command in (["smd-reduce", huge, "-F"],
                        ["smd-rule", huge, "-F", "-r", "AllZero", "-p", "tensor_regex=a"],
                        ["smd-report", huge, "-F", "-o", self.path("o.html")],
                        ["smd-ls", "--steps", "-q", "-F", state]):
            with self.subTest(command=command):
                started = time.monotonic()
                done = run(*command, "--timeout", "0.4s")
                self.assertEqual(done.returncode, 124, done.stderr.decode())
                self.assertLess(time.monotonic() - started, 0.4 + 1 + OPTIONS.within)


class Hostile(InFolder):
    def test_a_slice_reads_its_range(self):
        huge = generate.huge_tensor(self.path("huge"))
        done = run("smd-tensor", huge, "a", "--slice", "5:7", "--csv", "-H", "--columns", "index,value", timeout=10)
        self.assertEqual((done.returncode, done.stdout), (0, b"0,0\n1,0\n"), done.stderr.decode())

    def test_only_named_records_are_appended_to(self):
        event = generate.step_with_hole(self.path("hole"), 1 << 40)
        done = run("smd-save", self.path("hole"), "--step", "5", "y=2", "--append", timeout=20)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertLess(os.path.getsize(event), MIB)
        done = run("smd-tensor", self.path("hole"), "x", "y", "--csv", "-H", "--columns", "tensor,value")
        self.assertEqual(done.stdout, b"x,1\ny,2\n", done.stderr.decode())

    def test_a_large_record_takes_little_memory(self):
        """A damaged record of 2 GiB, and a sound one of 2 MiB whose value nobody asks for."""
        record = generate.endless_record(self.path("record"))
        image = generate.large_image(self.path("image"), 2 * MIB)
        for command in (["smd-ls", "-q"], ["smd-ls", "--summary"], ["smd-reduce"],
                        ["smd-rule", "-r", "LossNotDecreasing"], ["smd-report", "-o", self.path("o.html")]):
            with self.subTest(command=command):
                status, mib = peak(command[0], record, *command[1:])
                self.assertEqual(status, 4)
                self.assertLess(mib, 128)
                status, small = peak(command[0], image, *command[1:])
                self.assertIn(status, (0, 5))
                self.assertLess(small, 128)
        done = run("smd-tensor", image, "-n", "loss", "-s", "all", "--csv", "-H", "--columns", "step,value")
        self.assertEqual(done.stdout, b"1,0.5\n3,0.25\n", done.stderr.decode())
        done = run("smd-tensor", image, "picture", "-f", "raw")
        self.assertEqual(done.stdout, bytes(2 * MIB), done.stderr.decode())

    def test_many_names_and_entries_take_little_memory(self):
        """Three times as many names take less than 512 MiB."""
        names = generate.many_names(self.path("names"), 100_000)
        state = generate.trainer_state(self.path("state"), 300_000)
        for command, most in ((["smd-report", names, "-o", self.path("o.html")], 256),
                              (["smd-diff", names, names], 170), (["smd-ls", "-q", names], 128),
                              (["smd-ls", "-q", state], 128)):
            with self.subTest(command=command):
                status, mib = peak(*command, timeout=240)
                self.assertEqual(status, 0)
                self.assertLess(mib, most)

    def test_endless_lines(self):
        for command in (["smd-rule", "--merge", "/dev/zero"], ["smd-reduce", "--merge", "/dev/zero"],
                        ["smd-rule", "-C", "/dev/zero", "."]):
            with self.subTest(command=command):
                done = run(*command, mib=2048)
                self.assertEqual(done.returncode, 2, done.stderr.decode())
        with open("/dev/zero", "rb") as zeros:
            done = subprocess.run(["smd-ls", "-"], stdin=zeros, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2, done.stderr.decode())
        self.assertIn(b"longer than the limit (json_bytes)", done.stderr)

    def test_rules_from_a_pipe(self):
        """A file of options may be a pipe, and a signal ends the wait for its writer."""
        pipe = self.path("rules")
        os.mkfifo(pipe)
        huge = generate.huge_tensor(self.path("huge"), 1)
        self.assert_ends_by(signal.SIGTERM, 0.3, ["smd-rule", huge, "-C", pipe])
        reader = subprocess.Popen(["smd-rule", huge, "-C", pipe, "--csv", "-H", "--columns", "rule,status"],
                                  stdout=subprocess.PIPE)
        with open(pipe, "w", encoding="utf-8") as writer:
            writer.write('[{"RuleConfigurationName": "z", "RuleParameters": '
                         '{"rule_to_invoke": "AllZero", "tensor_regex": "a"}}]')
        self.assertEqual(reader.communicate(timeout=30)[0], b"z,IssuesFound\n")

    def test_links_out_and_around(self):
        log = generate.log_directory(self.path("runs/a"), generate.scalar(1, "loss", 0.5))
        for name, target in (("root", "/"), ("up", ".."), ("self", "."), ("proc", "/proc"), ("sys", "/sys")):
            os.symlink(target, os.path.join(log, name))
        other = generate.log_directory(self.path("elsewhere"), generate.scalar(2, "loss", 0.25))
        os.symlink(other, os.path.join(log, "twin"))
        os.symlink("/proc/self/environ", os.path.join(log, "events.out.tfevents.1700000001.host.2.0"))
        done = run("smd-ls", log, timeout=30)
        self.assertEqual((done.returncode, done.stdout), (0, b"loss\ntwin/loss\n"), done.stderr.decode())
        done = run("smd-ls", "--find", self.path("runs"), timeout=60)
        self.assertEqual(done.stdout.decode().split(), [log], done.stderr.decode())

    def test_a_search_from_the_root_ends(self):
        done = run("smd-ls", "--find", "/", timeout=120)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr.decode())

    def test_output_onto_input(self):
        log = generate.log_directory(self.path("log"), generate.scalar(1, "loss", 0.5))
        generate.huge_tensor(self.path("ck"), 4)
        run("smd-save", self.path("trial"), "--step", "1", "x=1")
        os.symlink(os.path.join(log, generate.EVENT_FILE), self.path("link"))
        inputs = [(log, os.path.join(log, generate.EVENT_FILE)), (log, self.path("link")),
                  (self.path("ck"), self.path("ck/checkpoint-1/model.safetensors")),
                  (self.path("ck/checkpoint-1/model.safetensors"), self.path("ck/checkpoint-1/model.safetensors")),
                  *((self.path("trial"), name) for name in glob.glob(self.path("trial/*/*/*")))]
        self.assertEqual(len(inputs), 7)
        for trial, place in inputs:
            with open(place, "rb") as file:
                before = file.read()
            for command in (["smd-ls"], ["smd-reduce"], ["smd-report"], ["smd-tensor", "--stat", "-e", "."],
                            ["smd-rule", "-r", "ExplodingTensor"]):
                with self.subTest(command=command, place=place):
                    done = run(*command, trial, "-o", place)
                    self.assertEqual(done.returncode, 2, done.stderr.decode())
                    with open(place, "rb") as file:
                        self.assertEqual(file.read(), before)
        self.assertEqual([name for name in self.files() if ".smd-" in name], [])
        # A file beside them is replaced as ever.
        for _ in range(2):
            done = run("smd-ls", log, "-o", os.path.join(log, "names.txt"))
            self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_output_through_links(self):
        log = generate.log_directory(self.path("log"), generate.scalar(1, "loss", 0.5))
        shared = self.path("shared")
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        for target in ("there", "none"):
            link, place = os.path.join(shared, "to-" + target), self.path(target)
            if target == "there":
                generate.write(place, b"old")
            os.symlink(place, link)
            if os.geteuid() == 0:
                os.lchown(link, 65534, 65534)
                done = run("smd-ls", log, "-o", link)
                self.assertEqual(done.returncode, 3, done.stderr.decode())
                self.assertEqual(os.path.exists(place), target == "there")
                os.lchown(link, 0, 0)
            done = run("smd-ls", log, "-o", link)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            self.assertTrue(os.path.islink(link))
            with open(place, "rb") as file:
                self.assertEqual(file.read(), b"loss\n")

    def test_temporaries_of_killed_commands(self):
        huge = generate.huge_tensor(self.path("huge"))
        log = generate.log_directory(self.path("log"), generate.scalar(1, "loss", 0.5))
        command = ["smd-tensor", huge, "a", "-f", "raw", "-o", self.path("o.raw")]

        def started():
            known = set(glob.glob(self.path(".o.raw.smd-*")))
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while set(glob.glob(self.path(".o.raw.smd-*"))) <= known and child.poll() is None:
                time.sleep(0.005)
            return child

        killed = started()
        killed.kill()
        killed.wait()
        left = glob.glob(self.path(".o.raw.smd-*"))
        self.assertEqual(len(left), 1)
        alive = started()
        try:
            kept = glob.glob(self.path(".o.raw.smd-*"))
            self.assertEqual(len(kept), 1)
            self.assertNotEqual(kept, left)
            self.assertEqual(run("smd-ls", log, "-o", self.path("names")).returncode, 0)
            self.assertEqual(glob.glob(self.path(".o.raw.smd-*")), kept)
        finally:
            alive.kill()
            alive.wait()

    def test_exact_differences(self):
        """2^53 + 1 as an integer, 2^53 as float64 and float32."""
        numbers = {"I64": (2**53 + 1).to_bytes(8, "little"), "F64": b"\0\0\0\0\0\0\x40\x43", "F32": b"\0\0\0\x5a"}
        for dtype, elements in numbers.items():
            place = generate.safetensors(self.path(f"{dtype}/model.safetensors"), {"w": (dtype, [1], len(elements))})
            with open(place, "r+b") as file:
                file.seek(-len(elements), os.SEEK_END)
                file.write(elements)
        for dtype in ("F64", "F32"):
            for pair in ((self.path("I64"), self.path(dtype)), (self.path(dtype), self.path("I64"))):
                done = run("smd-diff", *pair, "--csv", "-H", "--columns", "state,differing,max_abs")
                self.assertEqual((done.returncode, done.stdout), (1, b"differs,1,1\n"), done.stderr.decode())

    def test_times_at_the_edges(self):
        """Files written before 1970 and after what the system's clock shows, with nanoseconds in 64 bits."""
        folder = generate.huge_tensor(self.path("ck"), 1)
        place = f"{folder}/checkpoint-1/model.safetensors"
        for seconds in (-1, -2_000_000_000, 9_223_372_036, 9_223_372_037, 13_000_000_000):
            try:
                os.utime(place, (seconds, seconds))
            except OSError:
                continue
            if int(os.stat(place).st_mtime) != seconds:
                continue  # the file system does not keep it
            with self.subTest(seconds=seconds):
                done = run("smd-tensor", folder, "a", "--csv", "-H", "--columns", "wall_time")
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                self.assertEqual(float(done.stdout), min(seconds, 9_223_372_035))
                age = run("smd-ls", folder, "--summary", "--get", "age")
                self.assertEqual(age.returncode, 0, age.stderr.decode())
                self.assertGreaterEqual(int(age.stdout), 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", required=True)
    parser.add_argument("--moments", type=int, default=OPTIONS.moments, help="signals that are sent")
    parser.add_argument("--within", type=float, default=OPTIONS.within,
                        help="seconds in which a signal ends a command, on a machine that does other work too")
    options, rest = parser.parse_known_args()
    vars(OPTIONS).update(vars(options))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ["PATH"] = os.path.abspath(options.tools) + os.pathsep + os.environ["PATH"]
    os.environ["LC_ALL"] = "C.UTF-8"
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
