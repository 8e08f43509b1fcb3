# SPDX-License-Identifier: Apache-2.0
"""Measurements of following: how soon a step is noticed, what an idle follower costs, what each new step costs.

    following.py BIN [latency] [idle] [curve] [dead]     BIN: the folder of the commands
    following.py BIN logs FOLDER...                      FOLDER: log directories, as generate_logs makes them

`run.py` uses the functions; by itself it prints what it measured.
"""

import glob
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests')
sys.path[:0] = [os.path.join(TESTS, 'cli'), os.path.join(TESTS, 'support')]
import event_bytes  # noqa: E402
import live_writer  # noqa: E402


def cpu_seconds(pid):
    """CPU time of all living threads, in nanosecond resolution."""
    total = 0
    for path in glob.glob(f'/proc/{pid}/task/*/schedstat'):
        with open(path, encoding='ascii') as file:
            total += int(file.read().split()[0])
    return total / 1e9


class Running:
    """A trial of a running job, removed at the end."""

    def __init__(self, workers=1):
        self.workers = workers

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix='smd-following-')
        live_writer.write_collections(self.path, self.workers)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def step(self, number):
        for worker in range(self.workers):
            live_writer.write_step(self.path, number, worker)


def follow(tools, trial, *options):
    return subprocess.Popen([os.path.join(tools, 'smd-ls'), '--steps', '-F', '-H', '--columns', 'step', *options, trial],
                            stdout=subprocess.PIPE)


def latency(tools, steps=200, known=1000):
    """Seconds from the rename of a step's index file to the exit of an smd-wait that waits for it; sorted."""
    times = []
    with Running() as trial:
        for number in range(known):
            trial.step(number)
        for number in range(known, known + steps):
            waiter = subprocess.Popen([os.path.join(tools, 'smd-wait'), '-q', '-s', str(number), trial.path])
            time.sleep(0.1)  # until smd-wait waits
            trial.step(number)  # ends with the rename
            renamed = time.monotonic()
            waiter.wait()
            times.append(time.monotonic() - renamed)
            if waiter.returncode != 0:
                sys.exit(f'following.py: status {waiter.returncode} of smd-wait')
    return sorted(times)


def idle(tools, seconds=30, known=1000):
    """The share of a CPU that an idle follower uses."""
    with Running() as trial:
        for number in range(known):
            trial.step(number)
        follower = follow(tools, trial.path, '-s', 'last')
        follower.stdout.readline()
        time.sleep(6)  # until the follower skips unchanged folders
        before = cpu_seconds(follower.pid)
        time.sleep(seconds)
        used = cpu_seconds(follower.pid) - before
        follower.terminate()
        follower.wait()
    return used / seconds


def cost_of_each(follower, step, total, window):
    """(number of steps, seconds of the follower's CPU per new step) for each window of steps; ends the follower."""
    points = []
    before = cpu_seconds(follower.pid)
    for number in range(1, total + 1):
        step(number)
        if number % window == 0:
            now = cpu_seconds(follower.pid)
            points.append((number, (now - before) / window))
            before = now
    follower.terminate()
    follower.wait()
    return points


def curve(tools, total=20000, window=1000, workers=1):
    """cost_of_each while a trial grows, with each step noticed separately. A window fills one folder of index files,
    whose listing is most of the cost of a step."""
    with Running(workers) as trial:
        trial.step(0)
        follower = follow(tools, trial.path)
        follower.stdout.readline()

        def step(number):
            trial.step(number)
            follower.stdout.readline()

        return cost_of_each(follower, step, total, window)


def dead_worker(tools, total=6000, window=1000):
    """The same while one of two workers never writes, so that all steps wait for it: the cost depends on new steps, not
    on waiting ones."""
    with Running(2) as trial:
        live_writer.write_step(trial.path, 0, 0)
        follower = subprocess.Popen([os.path.join(tools, 'smd-ls'), '--steps', '-F', trial.path],
                                    stdout=subprocess.DEVNULL)
        time.sleep(1)

        def step(number):
            live_writer.write_step(trial.path, number, 0)
            time.sleep(0.003)  # until the step is noticed

        return cost_of_each(follower, step, total, window)


def scalar_record(step, value):
    """A record with a scalar of train/loss, as SummaryWriter makes it."""
    summary = event_bytes.field(1, event_bytes.field(1, b'train/loss') + b'\x15' + struct.pack('<f', value))
    event = b'\x09' + struct.pack('<d', 1.7e9 + step / 4) + b'\x10' + event_bytes.varint(step) + event_bytes.field(5, summary)
    return b''.join(part + struct.pack('<I', event_bytes.masked_crc(part)) for part in (struct.pack('<Q', len(event)), event))


def log_steps(tools, logs, steps=300):
    """Seconds of a follower's CPU for each value that is appended to a log directory; sorted."""
    with tempfile.TemporaryDirectory(prefix='smd-following-') as folder:
        run = os.path.join(folder, 'run')
        shutil.copytree(logs, run)
        path, = glob.glob(run + '/*tfevents*')
        command = [os.path.join(tools, 'smd-tensor'), run, 'train/loss', '-F', '-s', 'last', '-H', '--columns', 'step',
                   '--interval', '0.05']
        follower = subprocess.Popen(command, stdout=subprocess.PIPE)
        last = int(follower.stdout.readline())
        times = []
        with open(path, 'ab', buffering=0) as file:
            for step in range(last + 1, last + 1 + steps):
                before = cpu_seconds(follower.pid)
                file.write(scalar_record(step, 0.5))
                if int(follower.stdout.readline()) != step:
                    sys.exit(f'following.py: step {step} did not come')
                time.sleep(0.005)  # until the follower waits again
                times.append(cpu_seconds(follower.pid) - before)
        follower.terminate()
        follower.wait()
    return sorted(times)


def main():
    if sys.argv[2:3] == ['logs']:
        for logs in sys.argv[3:]:
            print(f'{logs}: {statistics.median(log_steps(sys.argv[1], logs)) * 1e6:.0f} us of CPU a new value')
        return
    tools, which = sys.argv[1], sys.argv[2:] or ['latency', 'idle', 'curve', 'dead']
    if 'latency' in which:
        times = latency(tools)
        print(f'rename to exit, {len(times)} steps: median {statistics.median(times) * 1e3:.2f} ms, '
              f'p99 {times[int(len(times) * 0.99) - 1] * 1e3:.2f} ms, most {times[-1] * 1e3:.2f} ms')
    if 'idle' in which:
        print(f'idle follower: {idle(tools) * 100:.4f} % of a CPU over 30 s')
    for name, measure in (('curve', curve), ('dead', dead_worker)):
        if name in which:
            for steps, seconds in measure(tools):
                print(f'{name}, {steps:6} steps: {seconds * 1e6:7.0f} us of CPU a new step')


if __name__ == '__main__':
    main()
