# SPDX-License-Identifier: Apache-2.0
"""Describes the machine and the build of a run."""

import os
import platform
import re
import subprocess
import time

from bench import HERE, PYTHON


def first_line(command):
    try:
        answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ''
    return answer.strip().split('\n')[0]


def value_of(path, pattern, otherwise='unknown'):
    try:
        with open(path, encoding='utf-8') as file:
            found = re.search(pattern, file.read(), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else otherwise


def vectors():
    """The widest vectors that reductions use."""
    flags = value_of('/proc/cpuinfo', r'^flags.*: (.*)$', '').split()
    return 'AVX-512' if 'avx512dq' in flags else 'AVX2' if 'avx2' in flags else 'less than AVX2'


def describe(build, work):
    """By name, in the order of the page."""
    cache = os.path.join(build, 'CMakeCache.txt')
    kind = value_of(cache, r'^CMAKE_BUILD_TYPE:\w+=(.*)$')
    flags = value_of(cache, rf'^CMAKE_CXX_FLAGS_{kind.upper()}:\w+=(.*)$', '')
    compiler = first_line([value_of(cache, r'^CMAKE_CXX_COMPILER:\w+=(.*)$'), '--version'])
    memory = int(value_of('/proc/meminfo', r'^MemTotal: *(\d+) kB', '0')) / (1 << 20)
    commit = first_line(['git', '-C', HERE, 'describe', '--always', '--dirty'])
    return {
        'Date': time.strftime('%Y-%m-%d'),
        'Sources': commit or 'unknown',
        'CPU': f"{value_of('/proc/cpuinfo', r'^model name.*: (.*)$')}, {vectors()}, "
               f'{len(os.sched_getaffinity(0))} of them used',
        'Memory': f'{memory:.1f} GiB',
        'System': f"{value_of('/etc/os-release', r'^PRETTY_NAME=.(.*).$')}, Linux {platform.release()}",
        'Files on': first_line(['stat', '-f', '-c', '%T', work]),
        'Build': f'{kind} ({flags}), {compiler}',
        'Peers': '; '.join(filter(None, [
            first_line([PYTHON, '--version']),
            'NumPy ' + (first_line([PYTHON, '-c', 'import numpy; print(numpy.__version__)']) or 'missing'),
            first_line(['jq', '--version']) or 'no jq', first_line(['cat', '--version'])])),
    }


def load():
    return os.getloadavg()[0]
