#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""growth_s3.py --tools DIR: how the cost of listings on S3 grows. One trial with 10^3, 10^4 and 10^5 keys more that do not
belong in it, below index/, below collections/ or in its root, served by the tests' server. Processor time and memory are
those of smd-ls alone, without the server. Nothing leaves this machine."""

import argparse
import math
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(HERE, '..', 'tests', 'support', 's3_server.py')
MODEL = os.path.join(HERE, '..', 'tests', 'fixtures', 'good-pytorch-digits')
SIZES = (1_000, 10_000, 100_000)
PLACES = {'one folder of index/': lambda i: f'index/000000000/stray-{i:07}',
          'many folders of index/': lambda i: f'index/{i // 1000:09}/stray-{i:07}',
          'collections/': lambda i: f'collections/000000000/stray-{i:07}',
          'the root': lambda i: f'stray-{i:07}'}


def make_trial(root, place, keys):
    trial = os.path.join(root, 'bucket', 'trial')
    shutil.rmtree(trial, ignore_errors=True)
    shutil.copytree(MODEL, trial)
    for i in range(keys):
        path = os.path.join(trial, PLACES[place](i))
        if i % 1000 == 0:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))


def measure(tool, root, command):
    """Seconds of processor time and MiB of smd-ls on the current content of the folder."""
    server = subprocess.Popen([sys.executable, '-B', SERVER, root, '--anonymous', '--frozen'], stdout=subprocess.PIPE)
    try:
        port = int(server.stdout.readline())
        process = subprocess.Popen([tool, *command, '--endpoint-url', f'http://127.0.0.1:{port}', '--no-sign-request',
                                    's3://bucket/trial'], stdout=subprocess.DEVNULL,
                                   env={'PATH': os.environ['PATH'], 'AWS_EC2_METADATA_DISABLED': 'true'})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        if os.waitstatus_to_exitcode(status) not in (0, 4):  # 4: --check lists files that do not belong
            raise SystemExit(f'smd-ls {" ".join(command)}: status {status}')
        return {'s': usage.ru_utime + usage.ru_stime, 'mib': usage.ru_maxrss / 1024}
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def power(points, key):
    *_, (size, before), (last_size, last) = points
    return math.log(last[key] / before[key]) / math.log(last_size / size)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--tools', required=True, metavar='DIR', help='folder of smd-ls')
    parser.add_argument('--sizes', type=lambda text: [int(n) for n in text.split(',')], default=SIZES)
    options = parser.parse_args()
    tool = os.path.join(os.path.abspath(options.tools), 'smd-ls')
    with tempfile.TemporaryDirectory() as root:
        for place in PLACES:
            rows = {('--steps',): [], ('--check',): []}
            for keys in options.sizes:
                make_trial(root, place, keys)
                for command, points in rows.items():
                    points.append((keys, measure(tool, root, command)))
            for command, points in rows.items():
                print(f'{place}, smd-ls {" ".join(command)}: '
                      + ', '.join(f'{keys} keys {point["s"]:.2f} s {point["mib"]:.0f} MiB' for keys, point in points)
                      + f'; time ~ n^{power(points, "s"):.2f}, memory ~ n^{power(points, "mib"):.2f}', flush=True)


if __name__ == '__main__':
    main()
