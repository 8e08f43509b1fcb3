# SPDX-License-Identifier: Apache-2.0
"""How cost grows: one trial, and others with four and sixteen times as much of one thing; and input with very many of
one thing, valid or damaged."""

import math
import os
import subprocess

import bulk_trials

AXES = {'steps': (1000, 4000, 16000), 'tensors': (20, 80, 320), 'workers': (1, 4, 16)}
BASE = {'steps': 1000, 'tensors': 20, 'workers': 1}
QUICK = 10  # fewer steps by this factor

TRIAL = '{}'
COMMANDS = {
    'smd-ls': ['smd-ls', TRIAL],
    'smd-ls -s last': ['smd-ls', '-s', 'last', TRIAL],
    'smd-tensor loss -s :': ['smd-tensor', '-s', ':', '-w', 'all', TRIAL, 'loss'],
    'smd-reduce': ['smd-reduce', '-w', 'all', '-r', 'min,max,mean,std', TRIAL],
    'smd-rule -r ExplodingTensor': ['smd-rule', '-k', '-r', 'ExplodingTensor', TRIAL],
}


# The list of `bulk_trials`; other modules may add scenarios.
BULK_SIZES = (1000, 10_000, 100_000)
BULK_ROUNDS = 2
BULK_MOST_SECONDS = 120  # a command that takes longer is not measured at larger sizes


def exponent(points, key):
    """The exponent of growth between the last two points, where start-up costs matter least."""
    *_, (size, before), (last_size, last) = points
    return math.log(last[key] / before[key]) / math.log(last_size / size)


def measure(bench):
    rows = []
    for axis, sizes in AXES.items():
        trials = {}
        for size in sizes:
            options = {**BASE, axis: size}
            if bench.options.quick:
                options['steps'] //= QUICK
            name = 'grow-' + '-'.join(str(value) for value in options.values())
            trials[options[axis]] = bench.generated(name, options)
        for name, words in COMMANDS.items():
            measured = bench.in_turns([[bench.tool(words[0])] + [trial if word == TRIAL else word for word in words[1:]]
                                       for trial in trials.values()], least=3)
            points = [(size, {'ms': one['best'] * 1e3, 'mib': one['peak_kib'] / 1024})
                      for size, one in zip(trials, measured)]
            rows.append({'axis': axis, 'command': name, 'points': points, 'time_exponent': exponent(points, 'ms'),
                         'memory_exponent': exponent(points, 'mib')})
            print(f'{name:30} ' + '  '.join(f'{size} {axis}: {point["ms"]:.1f} ms, {point["mib"]:.1f} MiB'
                                            for size, point in points)
                  + f'  ~ n^{rows[-1]["time_exponent"]:.2f}', flush=True)
    return rows


def bulk_folder(bench, scenario, size):
    """The folder of a scenario's input; created if it does not exist."""
    path = os.path.join(bench.work, f'bulk-{scenario.name}-{size}')
    if not os.path.exists(path):
        partly = path + '.partly'
        subprocess.run(['rm', '-rf', partly], check=True)
        scenario.make(partly, size)
        os.rename(partly, path)
    return path


def bulk_command(bench, words, folder):
    """The command line with the folder inserted, using the installed tools."""
    words = [word.replace(TRIAL, folder) for word in words]
    return [bench.tool(words[0]), *words[1:]] if words[0].startswith('smd-') else words


def measure_bulk(bench):
    rows = []
    tools = os.path.dirname(bench.tool('smd-ls'))
    os.environ['PATH'] = tools + os.pathsep + os.environ['PATH']  # for commands in shell scripts
    sizes = [size // QUICK for size in BULK_SIZES] if bench.options.quick else BULK_SIZES
    for scenario in bulk_trials.SCENARIOS:
        folders = [bulk_folder(bench, scenario, size) for size in sizes]
        for words in scenario.commands:
            points = []
            for size, folder in zip(sizes, folders):
                runs, = bench.stopwatch([bulk_command(bench, words, folder)], BULK_ROUNDS, False, scenario.statuses)
                points.append((size, {'ms': min(run[3] for run in runs) * 1e3,
                                      'mib': max(run[1] for run in runs) / 1024}))
                if min(run[0] for run in runs) > BULK_MOST_SECONDS:
                    break
            name = scenario.title(words)
            grew = len(points) > 1
            rows.append({'what': scenario.what, 'command': name, 'sizes': sizes, 'points': points,
                         'time_exponent': exponent(points, 'ms') if grew else None,
                         'memory_exponent': exponent(points, 'mib') if grew else None})
            print(f'{scenario.name}: {name:30} ' + '  '.join(f'{size}: {point["ms"]:.1f} ms, {point["mib"]:.1f} MiB'
                                                            for size, point in points)
                  + (f'  ~ n^{rows[-1]["time_exponent"]:.2f}' if grew else ''), flush=True)
    return rows
