#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands that follow a trial while a writer, driven by chance with fixed seeds, makes it: each complete step must be
shown exactly once, in order, with its true value, whatever happens, and the following must end.

    live_test.py --tools DIR... [--rounds N] [--steps N] [--seed S]
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import live_writer

HERE = os.path.dirname(os.path.abspath(__file__))


class Failure(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Failure(text)


class Bench:
    """A trial in the making, and what follows it."""

    def __init__(self, tools, steps, workers):
        self.environment = dict(os.environ, PATH=os.pathsep.join(tools + [os.environ["PATH"]]), LC_ALL="C.UTF-8",
                                SMDEBUG_TRAINING_END_DELAY_REFRESH="0.2")
        self.trial = tempfile.mkdtemp(prefix="smd-live-")
        self.steps = steps
        self.workers = workers
        live_writer.write_collections(self.trial, workers)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.trial, ignore_errors=True)

    def follow(self, *command, **changes):
        return subprocess.Popen(list(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=dict(self.environment, **changes))

    def write(self, seed, *options):
        return subprocess.Popen([sys.executable, os.path.join(HERE, "live_writer.py"), self.trial, "--steps",
                                 str(self.steps), "--workers", str(self.workers), "--seed", str(seed), *options])

    def end(self):
        live_writer.put(f"{self.trial}/training_job_end.ts", b"")

    def complete(self):
        """Steps that all workers wrote, and, the job being over, those that some did."""
        found = set()
        for folder in os.listdir(f"{self.trial}/index"):
            for leaf in os.listdir(f"{self.trial}/index/{folder}"):
                if leaf.endswith(".json"):
                    found.add(int(leaf.split("_")[0]))
        return sorted(found)


def check_rows(bench, out, what):
    rows = [line.split("\t") for line in out.splitlines()]
    steps = [int(row[0]) for row in rows]
    require(steps == bench.complete(),
            f"{what}: {len(steps)} steps shown, {len(bench.complete())} there; first difference at "
            f"{next((a for a, b in zip(steps, bench.complete()) if a != b), 'the end')}")
    return rows


def follow_once(tools, seed, steps, workers, *options, command="smd-tensor", extra=(), **changes):
    what = f"seed {seed}, {workers} workers, {' '.join(options)} {' '.join(extra)} {changes}"
    with Bench(tools, steps, workers) as bench:
        if command == "smd-tensor":
            follower = bench.follow("smd-tensor", "-F", "-H", "-s", ":", "--columns", "step,value", *extra, bench.trial,
                                    "value", **changes)
        else:
            follower = bench.follow("smd-ls", "--steps", "-F", "-H", "--columns", "step,complete", *extra, bench.trial,
                                    **changes)
        writer = bench.write(seed, *options)
        writer.wait(timeout=300)
        if "--crash" in options:
            require(writer.returncode == -signal.SIGKILL, f"{what}: the writer was to be killed")
            bench.end()
        out, err = follower.communicate(timeout=120)
        require(follower.returncode == 0, f"{what}: status {follower.returncode}: {err}")
        for step, shown in check_rows(bench, out, what):
            # The first worker by name that wrote it: all steps shown are complete, but for the last ones of a crash.
            right = {live_writer.value_of(int(step), worker) for worker in range(workers if "--crash" in options else 1)}
            require(command != "smd-tensor" or float(shown) in right, f"{what}: step {step} is shown as {shown}")


def removed_while_followed(tools):
    with Bench(tools, 1, 1) as bench:
        live_writer.write_step(bench.trial, 0, 0)
        follower = bench.follow("smd-ls", "--steps", "-F", "-H", "--columns", "step,complete", bench.trial)
        require(follower.stdout.readline() == "0\ttrue\n", "the step that is there is shown at once")
        shutil.rmtree(bench.trial)
        _, err = follower.communicate(timeout=60)
        require(follower.returncode == 3 and "NotFound" in err, f"removed: status {follower.returncode}: {err}")


def interrupted(tools, number):
    with Bench(tools, 1, 1) as bench:
        live_writer.write_step(bench.trial, 0, 0)
        place = os.path.join(bench.trial, "out.json")
        follower = bench.follow("smd-tensor", "-F", "-f", "jsonl", "-o", place, "-v", bench.trial, "value")
        while "followed by" not in follower.stderr.readline():
            pass
        live_writer.write_step(bench.trial, 1, 0)
        deadline = time.monotonic() + 60
        while not any(os.path.getsize(os.path.join(bench.trial, name)) > 0 and "step\":1" in open(
                os.path.join(bench.trial, name)).read() for name in os.listdir(bench.trial) if name.startswith(".out")):
            require(time.monotonic() < deadline, "rows are flushed as steps complete")
            time.sleep(0.01)
        follower.send_signal(number)
        follower.communicate(timeout=60)
        require(follower.returncode == -number, f"signal {number}: status {follower.returncode}")
        require(open(place).read().count("\n") == 2, f"signal {number}: the file is whole and in its place")


def reader_goes_away(tools):
    with Bench(tools, 1, 1) as bench:
        live_writer.write_step(bench.trial, 0, 0)
        follower = bench.follow("smd-ls", "--steps", "-F", "-H", bench.trial)
        follower.stdout.readline()
        follower.stdout.close()
        require(follower.wait(timeout=60) == -signal.SIGPIPE, f"no reader: status {follower.returncode}")
        follower.stderr.close()


def event_file_missing(tools):
    with Bench(tools, 2, 1) as bench:
        live_writer.write_step(bench.trial, 0, 0)
        live_writer.write_step(bench.trial, 1, 0)
        shutil.rmtree(f"{bench.trial}/events/000000000001")
        follower = bench.follow("smd-tensor", "-F", "-H", "-s", ":", "--columns", "step,value", "--interval", "0.05",
                                "--idle", "2", bench.trial, "value", SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT="3")
        out, err = follower.communicate(timeout=60)
        require(out == "0\t0\n" and "TensorUnavailableForStep" in err, f"missing event file: {out}{err}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", action="append", required=True)
    parser.add_argument("--trials")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    failures = 0

    def attempt(test, *arguments, **options):
        nonlocal failures
        try:
            test(args.tools, *arguments, **options)
        except (Failure, subprocess.TimeoutExpired) as failure:
            failures += 1
            print(f"{test.__name__}: {failure}")

    for seed in range(args.seed, args.seed + args.rounds):
        attempt(follow_once, seed, args.steps, 1)
        attempt(follow_once, seed, args.steps, 3)
        attempt(follow_once, seed, args.steps, 2, "--shuffle")
        attempt(follow_once, seed, args.steps, 1, "--crash")
        attempt(follow_once, seed, args.steps, 3, "--crash", "--shuffle", command="smd-ls")
        attempt(follow_once, seed, args.steps, 2, "--remake", command="smd-ls")
        attempt(follow_once, seed, args.steps * 5, 1, "--pause", "0", command="smd-ls")
        attempt(follow_once, seed, args.steps, 2, extra=("--interval", "0.001"))
    attempt(removed_while_followed)
    attempt(interrupted, signal.SIGINT)
    attempt(interrupted, signal.SIGTERM)
    attempt(reader_goes_away)
    attempt(event_file_missing)
    print(f"{failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
