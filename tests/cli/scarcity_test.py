#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command under every limit that a system sets: memory, stack, threads, descriptors, the size of files. Each ends
by itself: either with the answer that it gives without the limit, or with a message and status 3. What it prints all the
same is part of that answer, and nothing sound is called damaged.

    scarcity_test.py --tools DIR... --trials FOLDER [--fine] [TEST...]

--fine tries ten times as many limits, which takes some minutes.
"""

import argparse
import collections
import concurrent.futures
import functools
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from limits import under

KIB, MIB = 1 << 10, 1 << 20
OPTIONS = argparse.Namespace(trials="", fine=False)
environment = {k: v for k, v in os.environ.items() if k == "LD_LIBRARY_PATH"}

TRIALS = ["pt_digits_train_eval", "tf_mirrored", "xgb_cancer", "dtypes", "large_tensors", "names_odd", "mw4_complete_ended",
          "strings", "repeats", "special_floats"]
READERS = [
    ["smd-ls", "--json"],
    ["smd-ls", "-l"],
    ["smd-tensor", "-s", ":", "--stat", "--csv"],
    ["smd-tensor", "-s", ":", "--jsonl"],
    ["smd-reduce", "-s", ":", "-r", "min,mean,median", "--csv"],
    ["smd-diff", "-s", ":", "--steps-b", ":", "--all", "--csv"],
    ["smd-rule", "-r", "ExplodingTensor", "--csv", "--columns", "rule,status,message,tensors_matched,steps_evaluated"],
    ["smd-wait", "--step", "0", "--timeout", "5"],
]
# Messages of a loader without enough memory for the program: no code of ours ran.
NOT_LOADED = ("error while loading shared libraries", "cannot apply additional memory protection",
              "Inconsistency detected by ld.so", "cannot create TLS data structures", "cannot allocate TLS")

Answer = collections.namedtuple("Answer", "status stdout stderr")


def run(command, limit=(), stdin=b"", before=(), **more):
    """Runs a command; limits are pairs of a kind and one number or (soft, hard)."""
    try:
        done = subprocess.run([*under(*limit), *before, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment, input=stdin, timeout=240, check=False, **more)
    except (OSError, subprocess.SubprocessError) as error:  # the kernel could not start it
        return Answer(127, b"", f"{NOT_LOADED[0]}: {error}")
    if done.returncode == 126 and done.stderr.startswith(b"prlimit: "):
        return Answer(127, b"", f"{NOT_LOADED[0]}: {done.stderr.decode()}")
    return Answer(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


@functools.cache
def without_limits(*command):
    return run(command)


class Scarcity(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="smd-scarcity-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.pool = concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1)
        self.addCleanup(self.pool.shutdown)

    def difference(self, command, plain, got):
        """Returns None, or what is wrong with the result under a limit."""
        if got.status == 127 and any(text in got.stderr for text in NOT_LOADED):
            return None
        if got.status == plain.status:
            if got.stdout != plain.stdout:
                return "another answer, with the same status"
            return None
        if got.status < 0:
            return f"killed by signal {-got.status}"
        if got.status != 3:
            return f"status {got.status}, not 3"
        if not got.stderr.startswith("smd-"):
            return "status 3 without a message"
        for word in ("terminate called", "what():", "std::", "fault of this program"):
            if word in got.stderr:
                return "the text of an exception"
        if "Damaged" in got.stderr and "Damaged" not in plain.stderr:
            return "want is called damage"
        if command[0] not in ("smd-tensor", "smd-reduce"):
            return None  # rows of what was read; status 3 says that they are incomplete
        rows = {row.rstrip(b",") for row in plain.stdout.splitlines()}
        for row in got.stdout.splitlines():
            if row.rstrip(b",") not in rows:
                return "a row that is not part of the answer"
        return None

    def sweep(self, commands, limits, **more):
        """Runs each command under each limit, (text, pairs for setrlimit)."""
        wrong = collections.Counter()
        first = {}
        answered = 0

        def one(command, plain, limit):
            got = run(command, limit[1], **more)
            return command, limit[0], got, self.difference(command, plain, got)

        jobs = []
        for command in commands:
            plain = without_limits(*command)
            self.assertGreaterEqual(plain.status, 0, (command, plain.stderr))
            jobs += [self.pool.submit(one, command, plain, limit) for limit in limits]
        for job in jobs:
            command, limit, got, trouble = job.result()
            answered += got.status == 0
            if trouble:
                key = (command[0], trouble)
                wrong[key] += 1
                first.setdefault(key, (" ".join(command), limit, got.stderr[-300:]))
        self.assertGreater(answered, 0)  # otherwise nothing was tested
        report = "\n".join(f"{number} x {key[0]}: {key[1]}; first: {first[key]}" for key, number in wrong.most_common())
        self.assertEqual(report, "")

    def commands(self, trials=None, readers=None):
        return [[*reader, os.path.join(OPTIONS.trials, trial)] for trial in trials or TRIALS for reader in readers or READERS]

    def test_addresses(self):
        fine = [*range(10 * MIB, 64 * MIB, MIB // 2), *range(64 * MIB, 160 * MIB, 4 * MIB), *range(160 * MIB, 601 * MIB, 40 * MIB)]
        coarse = [18, 22, 26, 30, 36, 60, 200]
        limits = [(f"RLIMIT_AS {much // KIB} KiB", [(resource.RLIMIT_AS, much)])
                  for much in (fine if OPTIONS.fine else (mib * MIB for mib in coarse))]
        self.sweep(self.commands(None if OPTIONS.fine else TRIALS[:5]), limits)
        if not OPTIONS.fine:
            self.sweep(self.commands(TRIALS[5:], READERS[:5:2]), limits[1::3])

    def test_barely_loaded(self):
        """From the least memory with which the loader succeeds: there not even an exception can be allocated."""
        tools = sorted(name for folder in OPTIONS.tools for name in os.listdir(folder) if name.startswith("smd-"))
        self.assertTrue(tools)
        for tool in tools:
            none, enough = 4 * MIB, 64 * MIB
            while enough - none > 32 * KIB:
                middle = (none + enough) // 2 // KIB * KIB
                if run([tool, "--version"], [(resource.RLIMIT_AS, middle)]).status == 127:
                    none = middle
                else:
                    enough = middle
            limits = [(f"RLIMIT_AS {much // KIB} KiB", [(resource.RLIMIT_AS, much)])
                      for much in range(none, none + 2 * MIB, (8 if OPTIONS.fine else 64) * KIB)]
            self.sweep([[tool, "--version"]], [*limits, ("RLIMIT_AS 64 MiB", [(resource.RLIMIT_AS, 64 * MIB)])])

    def test_stack(self):
        fine = [*range(64, 256, 8), *range(256, 1024, 64), 2048, 8192]
        limits = [(f"RLIMIT_STACK {kib} KiB", [(resource.RLIMIT_STACK, kib * KIB)])
                  for kib in (fine if OPTIONS.fine else (64, 96, 256, 1024))]
        limits.append(("soft RLIMIT_STACK 64 KiB", [(resource.RLIMIT_STACK, (64 * KIB, 8 * MIB))]))
        self.sweep(self.commands(None if OPTIONS.fine else ["dtypes", TRIALS[0]]), limits)

    def test_descriptors(self):
        limits = [(f"RLIMIT_NOFILE {number}", [(resource.RLIMIT_NOFILE, number)])
                  for number in (range(3, 40) if OPTIONS.fine else (3, 4, 5, 6, 7, 8, 10, 16))]
        self.sweep(self.commands(None if OPTIONS.fine else TRIALS[:2]), limits)

    def test_no_threads(self):
        if os.geteuid() != 0:
            self.sweep([[*reader, "-j4"] for reader in self.commands(TRIALS[:2], READERS[:5])],
                       [("RLIMIT_NPROC 0", [(resource.RLIMIT_NPROC, 0)])])
            return
        if shutil.which("strace") is None:  # the limit does not bind root
            self.skipTest("there is no strace")
        self.sweep(self.commands(TRIALS[:2]), [("no threads", [])],
                   before=["strace", "-qq", "-o", os.devnull, "-f", "--seccomp-bpf", "-e", "trace=clone,clone3", "-e",
                           "inject=clone,clone3:error=EAGAIN"])

    def test_large_documents(self):
        """Valid collections of 2 MB and a valid index file of 1.5 MB, with memory for a part of them."""
        trial = os.path.join(self.folder, "large")
        names = [f"layer{number:05d}/kernel/of/some/depth" for number in range(20_000)]
        for name, document in (
                ("collections/000000000/worker_0_collections.json",
                 {"collections": {f"c{i}": {"name": f"c{i}", "tensor_names": names[i::2], "include_regex": []} for i in range(2)} | {
                     "all": {"name": "all", "tensor_names": names, "include_regex": []}}, "_meta": {"num_workers": 1}}),
                ("index/000000000/000000000000_worker_0.json",
                 {"meta": {"mode": "GLOBAL", "mode_step": 0, "event_file_name": "events/000000000000/000000000000_worker_0.tfevents"},
                  "tensor_payload": [{"tensorname": name, "start_idx": i * 50, "length": 50} for i, name in enumerate(names)],
                  "shape_payload": []})):
            os.makedirs(os.path.dirname(os.path.join(trial, name)))
            with open(os.path.join(trial, name), "w", encoding="utf-8") as file:
                json.dump(document, file)
        limits = [(f"RLIMIT_AS {much // KIB} KiB", [(resource.RLIMIT_AS, much)])
                  for much in [*range(16 * MIB, 80 * MIB, MIB if OPTIONS.fine else 5 * MIB), 300 * MIB]]
        self.sweep([["smd-ls", "-q", trial], ["smd-ls", "--collections", trial], ["smd-wait", "--step", "0", "--timeout", "1", trial]],
                   limits)

    def test_configurations(self):
        """Makes a configuration of rules, and input for smd-rule."""
        config = os.path.join(self.folder, "rules.json")
        with open(config, "w", encoding="utf-8") as file:
            entry = '{"RuleConfigurationName":"a%d","RuleParameters":{"rule_to_invoke":"ExplodingTensor"}}'
            file.write("[" + ",".join(entry % number for number in range(200)) + "]")
        limits = [(f"RLIMIT_AS {much // KIB} KiB", [(resource.RLIMIT_AS, much)])
                  for much in range(16 * MIB, 48 * MIB, MIB // 2 if OPTIONS.fine else 4 * MIB)]
        self.sweep([["smd-rule", "--check-config", "-C", config], ["smd-rule", "--hook-config", "-C", config]],
                   [*limits, ("RLIMIT_AS 200 MiB", [(resource.RLIMIT_AS, 200 * MIB)])])

    def saved(self, name, command, limit, stdin=b""):
        """Returns the files after saving into a new trial under a limit."""
        trial = os.path.join(self.folder, name)
        got = run([command[0], trial, *command[1:]], limit, stdin)
        left = [file for _, _, files in os.walk(trial) for file in files if ".tmp" in file]
        check = run(["smd-ls", "--check", trial])
        locations = run(["smd-ls", "--locations", "-s", ":", trial]) if got.status == 0 else None
        shutil.rmtree(trial, ignore_errors=True)
        return got, left, check, locations

    def test_saving(self):
        """With status 0 everything is saved completely; otherwise the trial is valid or absent, without temporary
        files."""
        array = os.path.join(self.folder, "x.npy")
        head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (20000,), }"
        with open(array, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head) + 1) + head + b"\n" + bytes(160_000))
        lines = b"".join(b'{"step": %d, "tensor": "t", "value": [[1, 2.5], [3, NaN]]}\n' % step for step in range(20))
        commands = [(["smd-save", "--step", "1", f"x=@{array}", "y=2", "-c", "losses"], b""), (["smd-save", "--jsonl"], lines)]
        limits = [(f"RLIMIT_AS {much // KIB} KiB", [(resource.RLIMIT_AS, much)])
                  for much in range(16 * MIB, 64 * MIB, MIB // 2 if OPTIONS.fine else 4 * MIB)]
        limits += [(f"RLIMIT_FSIZE {size}", [(resource.RLIMIT_FSIZE, size)])
                   for size in ((0, 1, 100, 500, 1000, 4096, 65_536, 200_000) if OPTIONS.fine else (0, 100, 1000, 200_000))]
        limits += [(f"RLIMIT_NOFILE {number}", [(resource.RLIMIT_NOFILE, number)])
                   for number in (range(3, 24) if OPTIONS.fine else (4, 6, 8, 16))]
        limits += [(f"RLIMIT_STACK {kib} KiB", [(resource.RLIMIT_STACK, kib * KIB)]) for kib in (128, 256, 1024)]
        for index, (command, stdin) in enumerate(commands):
            plain = self.saved("plain", command, (), stdin)
            self.assertEqual((plain[0].status, plain[2].status), (0, 0), plain)
            for name, limit in limits:
                with self.subTest(limit=name, command=index):
                    got, left, check, locations = self.saved("trial", command, limit, stdin)
                    self.assertIsNone(self.difference(command, plain[0], got), got)
                    if got.status == 127:
                        continue
                    self.assertEqual(left, [])
                    self.assertIn(check.status, (0, 3), check)  # 3: there is no trial
                    if got.status == 0:
                        self.assertEqual((check.status, locations.stdout), (0, plain[3].stdout))

    def test_output_files(self):
        """-o: complete or unchanged, and no other file."""
        trial = os.path.join(OPTIONS.trials, TRIALS[0])
        out = os.path.join(self.folder, "out")
        whole = run(["smd-ls", "--locations", "-s", ":", trial]).stdout
        for size in (0, 1, 1000, 4096, 10 * MIB):
            with self.subTest(size):
                with open(out, "w", encoding="utf-8") as file:
                    file.write("old")
                got = run(["smd-ls", "--locations", "-s", ":", "-o", out, trial], [(resource.RLIMIT_FSIZE, size)])
                with open(out, "rb") as file:
                    content = file.read()
                self.assertEqual(os.listdir(self.folder), ["out"])
                if got.status == 0:
                    self.assertEqual(content, whole)
                else:
                    self.assertEqual((got.status, content), (3, b"old"), got)
                    self.assertIn("WriteError", got.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", action="append", default=[])
    parser.add_argument("--trials", default="")
    parser.add_argument("--fine", action="store_true")
    _, names = parser.parse_known_args(namespace=OPTIONS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    path = os.pathsep.join([*(os.path.abspath(tool) for tool in OPTIONS.tools), os.environ["PATH"]])
    environment.update({"PATH": path, "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "TERM": "dumb"})
    unittest.main(argv=[sys.argv[0], *names], verbosity=2)


if __name__ == "__main__":
    main()
