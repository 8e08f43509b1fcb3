#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""many_runs.py --tools DIR [--runs N]: smd-runs on N runs (10,000) of a log of TensorBoard, on as many as a busy team keeps
(705), and on S3 (60, the tests' server), beside `smd-ls --summary` of the same runs. Ratios of medians of three turns, one
command after the other, and the memory that each further run costs. Nothing leaves this machine."""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(HERE, '..', 'tests', 'support', 's3_server.py')
MODEL = os.path.join(HERE, '..', 'tests', 'fixtures', 'tb-logs', 'hf_healthy')
TURNS = 3


def make_runs(folder, count):
    for i in range(count):
        shutil.copytree(MODEL, os.path.join(folder, f'group-{i // 100:03}', f'run-{i:05}'))


def turn(command, lines=b''):
    """Seconds, seconds of the processor, and the most memory in KiB."""
    with tempfile.TemporaryFile() as given:
        given.write(lines)
        given.seek(0)
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={'PATH': os.environ['PATH'], 'AWS_EC2_METADATA_DISABLED': 'true'})
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f'{" ".join(command[:4])}: status {process.returncode}')
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def compare(what, tools, place, options=()):
    """Prints the ratios, and returns the memory of smd-runs in KiB."""
    paths = subprocess.run([os.path.join(tools, 'smd-ls'), '--find', place, *options], stdout=subprocess.PIPE, check=True,
                           env={'PATH': os.environ['PATH'], 'AWS_EC2_METADATA_DISABLED': 'true'}).stdout
    runs, summaries = [], []
    for _ in range(TURNS):
        runs.append(turn([os.path.join(tools, 'smd-runs'), place, '-f', 'tsv', *options]))
        summaries.append(turn([os.path.join(tools, 'smd-ls'), '--summary', '-f', 'tsv', *options, '-'], paths))
    wall, processor = (statistics.median(one[i] for one in runs) / statistics.median(one[i] for one in summaries)
                       for i in (0, 1))
    print(f'{what}: {len(paths.splitlines()):,} runs in {statistics.median(one[0] for one in runs):.2f} s; of smd-ls '
          f'--summary {wall:.2f} of the time, {processor:.2f} of the processor time (limit 1.4); '
          f'{max(one[2] for one in runs) / 1024:.1f} MiB', flush=True)
    return max(one[2] for one in runs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tools', required=True)
    parser.add_argument('--runs', type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        def place(name, count):
            path = os.path.join(folder, name)
            make_runs(path, count)
            return path

        compare('a team', options.tools, place('team', 705))
        few = options.runs // 10
        less = compare('some', options.tools, place('few', few))
        more = compare('many', options.tools, place('many', options.runs))
        print(f'each further run: {(more - less) / (options.runs - few):.2f} KiB (limit 4)')
        root = os.path.join(folder, 's3')
        make_runs(os.path.join(root, 'bucket', 'runs'), 60)
        server = subprocess.Popen([sys.executable, '-B', SERVER, root, '--anonymous', '--frozen'], stdout=subprocess.PIPE)
        try:
            port = int(server.stdout.readline())
            compare('S3', options.tools, 's3://bucket/runs',
                    ['--endpoint-url', f'http://127.0.0.1:{port}', '--no-sign-request'])
        finally:
            server.kill()
            server.wait()
            server.stdout.close()


if __name__ == '__main__':
    main()
