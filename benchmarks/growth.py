# SPDX-License-Identifier: Apache-2.0
"""How cost grows: one trial, and others that have four and sixteen times as much of one thing."""

import math

AXES = {'steps': (1000, 4000, 16000), 'tensors': (20, 80, 320), 'workers': (1, 4, 16)}
BASE = {'steps': 1000, 'tensors': 20, 'workers': 1}
QUICK = 10  # as many times fewer steps

TRIAL = '{}'
COMMANDS = {
    'smd-ls': ['smd-ls', TRIAL],
    'smd-ls -s last': ['smd-ls', '-s', 'last', TRIAL],
    'smd-tensor loss -s :': ['smd-tensor', '-s', ':', '-w', 'all', TRIAL, 'loss'],
    'smd-reduce': ['smd-reduce', '-w', 'all', '-r', 'min,max,mean,std', TRIAL],
    'smd-rule -r ExplodingTensor': ['smd-rule', '-k', '-r', 'ExplodingTensor', TRIAL],
}


def exponent(points, key):
    """Of the power that the last of the points grew by since the one before it; what each start costs weighs less there."""
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
