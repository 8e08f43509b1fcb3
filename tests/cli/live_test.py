#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands that follow a trial while a writer, driven by chance with fixed seeds, makes it: each complete step must be
shown exactly once, in order, with its true value, whatever happens, and the following must end.

    live_test.py --tools DIR... [--rounds N] [--steps N] [--seed S] [--renames N]
"""

import argparse
import array
import fcntl
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

import live_writer
from permissions import bound_by_permissions

ENDING = [signal.SIGHUP, signal.SIGINT, signal.SIGTERM]
HERE = os.path.dirname(os.path.abspath(__file__))
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored if these tests were started by nohup


class Failure(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Failure(text)


def wait_until(holds, text):
    """For events that come soon, or never."""
    deadline = time.monotonic() + 60
    while not holds():
        require(time.monotonic() < deadline, text)
        time.sleep(0.001)


class Bench:
    """A trial that is being written, and its followers."""

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
        """Steps that all workers wrote, or, after the end of the job, that some wrote."""
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
            # The first worker by name that wrote it: all steps shown are complete, except the last ones of a crash.
            right = {live_writer.value_of(int(step), worker) for worker in range(workers if "--crash" in options else 1)}
            require(command != "smd-tensor" or float(shown) in right, f"{what}: step {step} is shown as {shown}")


class Renames:
    """Index files of steps that saved only a shape, written but not yet in place. They are links to a few files,
    because writing so many takes longer than the test."""

    CONTENT = {"meta": {"mode": "GLOBAL", "mode_step": 0},
               "shape_payload": [{"tensorname": "value", "originalname": "value", "shape": [1]}]}

    def __init__(self, trial, count):
        self.names = [f"{trial}/index/{step // 1000:09d}/{step:012d}_worker_0.json" for step in range(count)]
        for step, name in enumerate(self.names):
            if step % 1000 == 0:
                os.makedirs(os.path.dirname(name))
                source = f"{trial}/source_{step}"
                with open(source, "w") as out:
                    json.dump(self.CONTENT, out)
            os.link(source, name + ".tmp")

    def make(self):
        for name in self.names:
            os.rename(name + ".tmp", name)


def follow_steps(bench, *options, prefix=()):
    return bench.follow(*prefix, "smd-ls", "--steps", "-F", "-H", "--columns", "step,complete", *options, bench.trial)


def peak_mib(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def check_end(bench, follower, what):
    bench.end()
    out, err = follower.communicate(timeout=300)
    require(follower.returncode == 0, f"{what}: status {follower.returncode}: {err}")
    check_rows(bench, out, what)
    return err


def renames_at_full_speed(tools, count, sanitized):
    with Bench(tools, 1, 1) as bench:
        renames = Renames(bench.trial, count)
        with tempfile.TemporaryFile("w+") as rows:  # a full pipe would stop the follower
            follower = subprocess.Popen(["smd-ls", "--steps", "-F", "-H", "--columns", "step", bench.trial], stdout=rows,
                                        env=bench.environment)
            renames.make()
            whole = sum(len(f"{step}\n") for step in range(count))
            deadline = time.monotonic() + 300
            while os.fstat(rows.fileno()).st_size < whole:
                require(time.monotonic() < deadline and follower.poll() is None, f"{count} renames: rows are missing")
                time.sleep(0.01)
            peak = peak_mib(follower.pid)
            bench.end()
            require(follower.wait(timeout=300) == 0, f"{count} renames: status {follower.returncode}")
            rows.seek(0)
            check_rows(bench, rows.read(), f"{count} renames")
            # 64 MiB, and about a kilobyte for each step that came in the meantime.
            require(sanitized or peak < 64 + count / 1024, f"{count} renames: {peak:.0f} MiB")


def inotify_refused(tools, limit, reason):
    """In a user namespace of its own, in which inotify instances or watches can be forbidden."""
    prefix = ("unshare", "-U", "-r", "sh", "-c", f'echo 0 >/proc/sys/user/{limit} && exec "$@"', "sh")
    if subprocess.run([*prefix, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print(f"{limit}: left out, user namespaces are unavailable")
        return
    with Bench(tools, 300, 1) as bench:
        follower = follow_steps(bench, "-v", "--interval", "0.02", prefix=prefix)
        bench.write(5).wait(timeout=300)
        err = check_end(bench, follower, limit)
        require(f"polling ({reason}" in err, f"{limit}: not said why it polls: {err}")


def queue_overflow(tools):
    """More events than the kernel queues while a follower is stopped. The follower must look again at once: its next
    regular look is in an hour."""
    with open("/proc/sys/fs/inotify/max_queued_events") as file:
        queued = int(file.read())
    if queued > 100_000:
        print(f"queue_overflow: left out, the kernel notes down {queued} events")
        return
    with Bench(tools, 1, 1) as bench:
        renames = Renames(bench.trial, queued + 1000)
        follower = follow_steps(bench, "-v", "--interval", "3600")
        require("followed by inotify" in follower.stderr.readline(), "queue_overflow: inotify is available")
        follower.send_signal(signal.SIGSTOP)
        renames.make()
        follower.send_signal(signal.SIGCONT)
        check_end(bench, follower, "queue_overflow")


def unreadable_while_followed(tools):
    bound = bound_by_permissions()
    if bound is None:
        print("unreadable_while_followed: left out, root's right to pass over permissions cannot be given up here")
        return
    with Bench(tools, 1, 1) as bench:
        live_writer.write_step(bench.trial, 0, 0)
        follower = follow_steps(bench, prefix=bound)
        line = follower.stdout.readline()
        require(line == "0\ttrue\n", "the step that is there is shown at once")
        os.chmod(f"{bench.trial}/index", 0)
        live_writer.put(f"{bench.trial}/training_job_end.ts", b"")  # makes it look now
        _, err = follower.communicate(timeout=60)
        os.chmod(f"{bench.trial}/index", 0o755)
        require(follower.returncode == 3 and "AccessDenied" in err and "index" in err,
                f"unreadable: status {follower.returncode}: {err}")


def moved_while_followed(tools):
    with Bench(tools, 1, 1) as bench:
        live_writer.write_step(bench.trial, 0, 0)
        follower = follow_steps(bench)
        require(follower.stdout.readline() == "0\ttrue\n", "the step that is there is shown at once")
        os.rename(bench.trial, bench.trial + ".moved")
        _, err = follower.communicate(timeout=60)
        shutil.rmtree(bench.trial + ".moved")
        require(follower.returncode == 3 and "moved away" in err, f"moved: status {follower.returncode}: {err}")


def typo_while_followed(tools):
    with Bench(tools, 1, 1) as bench:
        live_writer.write_step(bench.trial, 0, 0)
        follower = bench.follow("smd-tensor", "-F", bench.trial, "valeu")
        line = follower.stderr.readline()
        follower.terminate()
        follower.communicate(timeout=60)
        require("'valeu' was not saved so far; did you mean 'value'?" in line, f"a typing error is reported at once: {line!r}")


def refused_while_waited_for(tools):
    """A log that is refused comes into a folder that is waited for without a limit of time: a note says so. Then a good
    one comes."""
    with Bench(tools, 1, 1) as bench, tempfile.TemporaryDirectory(prefix="smd-live-") as folder:
        place = os.path.join(folder, "run")
        for name, text in (("bad", "1,2\n3,4\n"), ("good", "step,loss\n1,2\n")):
            os.mkdir(os.path.join(folder, name))
            with open(os.path.join(folder, name, "results.csv"), "w", encoding="ascii") as log:
                log.write(text)
        waiter = bench.follow("smd-wait", "-v", place)
        line = waiter.stderr.readline()
        require("does not exist yet" in line, f"the folder is waited for: {line!r}")
        os.rename(os.path.join(folder, "bad"), place)
        line = waiter.stderr.readline()
        require(line.startswith(f"smd-wait: note: {place}: results.csv: is not a metric log")
                and line.endswith("; waiting for another file\n"), f"a note says why: {line!r}")
        os.replace(os.path.join(folder, "good", "results.csv"), os.path.join(place, "results.csv"))
        _, err = waiter.communicate(timeout=60)
        require(waiter.returncode == 0, f"the good log is read: status {waiter.returncode}: {err}")


def waits_for_input(process):
    """Says if the process has read all that was written to it, and sleeps."""
    unread = array.array("i", [0])
    fcntl.ioctl(process.stdin.fileno(), termios.FIONREAD, unread)
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as status:
        return unread[0] == 0 and status.read().rsplit(")", 1)[1].split()[0] == "S"


def saver_interrupted(tools, number):
    """Complete steps are saved; no temporary file remains, and the end of the job is not recorded."""
    with Bench(tools, 1, 1) as bench:
        trial = os.path.join(bench.trial, "saved")
        saver = subprocess.Popen(["smd-save", trial, "--jsonl", "--end"], stdin=subprocess.PIPE, env=bench.environment)
        for step in (0, 1):
            for name in ("a", "b"):
                saver.stdin.write(json.dumps({"step": step, "tensor": name, "value": [step] * 20000}).encode() + b"\n")
        saver.stdin.write(b'{"step": 1, "tensor": "c", "val')
        saver.stdin.flush()
        wait_until(lambda: glob.glob(f"{trial}/events/000000000001/000000000001_worker_0.tfevents.*.tmp"),
                   "a step is written while it comes")
        wait_until(lambda: waits_for_input(saver), "what came is taken")
        saver.send_signal(number)
        require(saver.wait(timeout=60) == -number, f"signal {number}: status {saver.returncode} of smd-save")
        saver.stdin.close()
        left = [name for _, _, names in os.walk(trial) for name in names]
        require(not any(name.endswith(".tmp") for name in left), f"signal {number}: left behind: {left}")
        require("training_job_end.ts" not in left, f"signal {number}: the job is said to have ended")
        shown = subprocess.run(["smd-ls", trial, "--steps", "--columns", "step,tensors", "-H"], stdout=subprocess.PIPE,
                               text=True, env=bench.environment, check=True).stdout
        require(shown == "0\t2\n1\t2\n", f"signal {number}: saved is {shown!r}")


def saver_interrupted_at_the_end(tools):
    """One signal ends the writer and reaches the saver, which sees both at once: the input did not end by itself."""
    for number in ENDING * 10:
        with Bench(tools, 1, 1) as bench:
            trial = os.path.join(bench.trial, "saved")
            saver = subprocess.Popen(["smd-save", trial, "--jsonl", "--end"], stdin=subprocess.PIPE,
                                     stderr=subprocess.PIPE, env=bench.environment)
            saver.stdin.write(b'{"step": 0, "tensor": "a", "value": 1}\n{"step": 1, "tensor": "a", "value": 1}\n{"st')
            saver.stdin.flush()
            wait_until(lambda: os.path.exists(f"{trial}/index/000000000/000000000000_worker_0.json"),
                       "a step is saved when the next one comes")
            saver.send_signal(signal.SIGSTOP)
            os.waitpid(saver.pid, os.WUNTRACED)
            saver.send_signal(number)
            saver.stdin.close()
            saver.send_signal(signal.SIGCONT)
            err = saver.stderr.read()
            require(saver.wait(timeout=60) == -number and err == b"", f"signal {number}: {saver.returncode} {err}")
            left = [name for _, _, names in os.walk(trial) for name in names]
            require("training_job_end.ts" not in left, f"signal {number}: the job is said to have ended")


def step_of_a_log_is_saved_when_the_next_begins(tools):
    with Bench(tools, 1, 1) as bench:
        trial = os.path.join(bench.trial, "saved")
        saver = subprocess.Popen(["smd-save", trial, "--lines", r"step (?<step>\d+): loss (?<loss>\S+)"],
                                 stdin=subprocess.PIPE, env=bench.environment)
        for step in range(3):
            saver.stdin.write(b"step %d: loss 1\n" % step)
            saver.stdin.flush()
            if step > 0:
                wait_until(lambda: os.path.exists(f"{trial}/index/000000000/{step - 1:012}_worker_0.json"),
                           f"step {step - 1} is saved when the next one begins")
        saver.stdin.close()
        require(saver.wait(timeout=60) == 0, f"status {saver.returncode}")


def saver_interrupted_twice(tools):
    """The second signal ends it at once, although another process holds the trial's lock. No temporary file of a dozen
    workers remains."""
    for number in ENDING:
        with Bench(tools, 1, 1) as bench:
            trial = os.path.join(bench.trial, "saved")
            saver = subprocess.Popen(["smd-save", trial, "--jsonl", "--workers", "12"], stdin=subprocess.PIPE,
                                     env=bench.environment)
            for worker in range(12):
                for name in ("a", "b"):
                    saver.stdin.write(json.dumps({"step": 0, "tensor": name, "value": [0] * 20000,
                                                  "worker": f"worker_{worker}"}).encode() + b"\n")
            saver.stdin.flush()
            wait_until(lambda: len(glob.glob(f"{trial}/events/*/*.tmp")) == 12, "each worker's step is in the making")
            lock = os.open(trial, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)

            def taken():
                with open(f"/proc/{saver.pid}/status", encoding="ascii") as status:
                    return "ShdPnd:\t0000000000000000\n" in status.read()

            saver.send_signal(number)
            wait_until(taken, "the first signal is taken")
            require(saver.poll() is None, f"signal {number}: does not wait for the lock")
            saver.send_signal(number)
            require(saver.wait(timeout=60) == -number, f"signal {number}: status {saver.returncode} of smd-save")
            saver.stdin.close()
            os.close(lock)
            left = [name for _, _, names in os.walk(trial) for name in names]
            require(not any(name.endswith(".tmp") for name in left), f"signal {number}: left behind: {left}")


def saver_interrupted_at_any_moment(tools):
    chance = random.Random(3)
    lines = b"".join(json.dumps({"step": step, "tensor": name, "value": [step] * 3000}).encode() + b"\n"
                     for step in range(20) for name in "ab")
    for number in ENDING * 5:
        with Bench(tools, 1, 1) as bench:
            trial = os.path.join(bench.trial, "saved")
            saver = subprocess.Popen(["smd-save", trial, "--jsonl"], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                                     env=bench.environment)
            cut = chance.randrange(len(lines))
            saver.stdin.write(lines[:cut])
            saver.stdin.flush()
            time.sleep(chance.random() * 0.01)
            saver.send_signal(number)
            _, err = saver.communicate(timeout=60)
            require(saver.returncode == -number and err == b"", f"signal {number}: {saver.returncode} {err}")
            left = [name for _, _, names in os.walk(trial) for name in names]
            require(not any(name.endswith(".tmp") for name in left), f"signal {number}: left behind: {left}")
            if any(name.endswith("_collections.json") for name in left):
                check = subprocess.run(["smd-ls", trial, "--check"], stdout=subprocess.PIPE, env=bench.environment,
                                       check=False)
                require(check.returncode == 0, f"signal {number}: {check.stdout}")


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
        wait_until(lambda: any('step":1' in open(os.path.join(bench.trial, name)).read()
                               for name in os.listdir(bench.trial) if name.startswith(".out")),
                   "rows are flushed as steps complete")
        follower.send_signal(number)
        follower.communicate(timeout=60)
        require(follower.returncode == -number, f"signal {number}: status {follower.returncode}")
        require(open(place).read().count("\n") == 2, f"signal {number}: the file is whole and in its place")


def hangup_ignored(tools):
    """Starts the command as nohup does."""
    with Bench(tools, 1, 1) as bench:
        live_writer.write_step(bench.trial, 0, 0)
        usual = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        follower = bench.follow("smd-ls", "--steps", "-F", "-H", "--columns", "step", bench.trial)
        signal.signal(signal.SIGHUP, usual)
        require(follower.stdout.readline() == "0\n", "the step that is there is shown at once")
        follower.send_signal(signal.SIGHUP)
        live_writer.write_step(bench.trial, 1, 0)
        require(follower.stdout.readline() == "1\n", "it goes on")
        follower.terminate()
        follower.communicate(timeout=60)


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


def smoothed_over_what_is_not_selected(tools):
    """A step that came late and is not selected counts too. By hand: s = (s + x) / 2, divided by 1 - 0.5^n."""
    with Bench(tools, 1, 1) as bench:
        trial = os.path.join(bench.trial, "saved")

        def save(step, *more):
            subprocess.run(["smd-save", trial, "--step", str(step), *more], env=bench.environment, check=True)

        save(0, "loss=4")
        save(10, "loss=2")
        follower = bench.follow("smd-tensor", "-F", "-H", "-s", "10:", "--smooth", "0.5", "--columns", "step,value_smooth",
                                "--interval", "0.05", trial, "loss")
        rows = [follower.stdout.readline()]
        save(5, "loss=8")
        save(12, "loss=6", "--end")
        out, err = follower.communicate(timeout=60)
        rows = [tuple(map(float, row.split())) for row in rows + out.splitlines()]
        require([row[0] for row in rows] == [10, 12] and abs(rows[0][1] - 2 / 0.75) < 1e-12 and
                abs(rows[1][1] - 4.75 / 0.9375) < 1e-12, f"smoothed: {rows}, {err}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", action="append", required=True)
    parser.add_argument("--trials")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--renames", type=int, default=20000)
    parser.add_argument("--sanitized", action="store_true")
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
    attempt(renames_at_full_speed, args.renames, args.sanitized)
    attempt(inotify_refused, "max_inotify_instances", "no inotify instance")
    attempt(inotify_refused, "max_inotify_watches", "no inotify watch")
    attempt(queue_overflow)
    attempt(removed_while_followed)
    attempt(moved_while_followed)
    attempt(unreadable_while_followed)
    attempt(typo_while_followed)
    attempt(refused_while_waited_for)
    for number in ENDING:
        attempt(saver_interrupted, number)
        attempt(interrupted, number)
    attempt(step_of_a_log_is_saved_when_the_next_begins)
    attempt(saver_interrupted_at_the_end)
    attempt(saver_interrupted_at_any_moment)
    attempt(saver_interrupted_twice)
    attempt(hangup_ignored)
    attempt(reader_goes_away)
    attempt(event_file_missing)
    attempt(smoothed_over_what_is_not_selected)
    print(f"{failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
