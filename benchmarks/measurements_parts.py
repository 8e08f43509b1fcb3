# SPDX-License-Identifier: Apache-2.0
"""The measurements of parts: kernels, rules, following, writing. Each function is a section of the page."""

import json
import os
import re
import shutil
import statistics
import subprocess

import following as live
from bench import PYTHON
from measurements import ranges


def kernels(bench):
    """Kernels, in memory"""
    # From the micro benchmark, which prints GB/s of ours, memcpy and a reading loop, measured in turns.
    numpy = json.loads(bench.output(bench.peer('six_numpy.py')))
    row = re.compile(r'^  (\w+) +([\d.]+) GB/s +\S+ of memcpy \(([\d.]+)\) +\S+ of reading \(([\d.]+)\)')
    of_halves = re.compile(r'^(\S+|least loop) of (\w+), 1 MiB: ([\d.]+) GB/s, \S+ of memcpy \(([\d.]+)\)')
    limits = {('bfloat16', False): (0.45, 0.35), ('float16', False): (0.38, 0.34),  # AVX-512, AVX2
              ('bfloat16', True): (0.38, 0.28), ('float16', True): (0.34, 0.28)}
    for target in ('', 'AVX2', 'SSE4'):
        lines = bench.output([bench.program('reduce_micro')] + ([target] if target else [])).splitlines()
        label = lines[0].split(': ')[1]
        if not target:
            best_label = label
        elif target == best_label:
            continue
        elif label != target:
            bench.skip(f'six reductions, {target}', 'this CPU has no such instructions')
            continue
        best = not target
        size = ''
        for line in lines:
            if found := of_halves.match(line):
                wide, narrow = limits[found[2], 'abs_mean' in found[1]]
                if found[1] == 'least loop':  # what conversions and additions allow on this machine
                    wide = narrow = None
                bench.speed(f'{found[1]} of {found[2]}, 1 MiB, {label} : memcpy', float(found[3]), float(found[4]), 'GB/s',
                            wide if label.startswith('AVX3') else narrow if label == 'AVX2' else None)
            if ' MiB: six' in line:
                size = line.split(' MiB')[0]
            found = row.match(line)
            if not found or (not best and size != '1'):
                continue
            dtype, (ours, copy, read) = found[1], map(float, found.groups()[1:])
            what = f'six of {dtype}, {size} MiB, {label}'
            if size == '1':
                bench.speed(f'{what} : memcpy', ours, copy, 'GB/s', 0.35 if best else None)
                if dtype in numpy and best:
                    bench.speed(f'{what} : NumPy', ours, numpy[dtype], 'GB/s', 5)
            else:
                bench.speed(f'{what} : a loop that only reads', ours, read, 'GB/s', 0.6)
    for size, speeds in json.loads(bench.output([bench.program('crc32c_micro')])).items():
        where = {'large': '64 MiB', 'cached': '1 MiB'}[size]
        bench.speed(f'CRC-32C, {where} : memcpy', speeds['crc32c_gb_s'], speeds['memcpy_gb_s'], 'GB/s', 0.5)


def rules(bench):
    """Rules"""
    trial = bench.trial('rules')
    evaluate = bench.program('bench_rules')
    listing = bench.output([evaluate, trial, 'all']).splitlines()
    read, there = map(int, re.search(r'bytes read (\d+) of (\d+)', listing[-1]).groups())
    bench.report('all rules at once, bytes read : the sum of the records', read, there, 'B', read / there, 1)
    names = [line.split()[0] for line in listing[:-1]]
    together, *single = bench.in_turns(
        [[evaluate, trial, 'all']] + [[evaluate, trial, f'all={name}'] for name in names], least=2)
    alone = {key: sum(one[key] for one in single) for key in ('best', 'median')}
    bench.ratio('all rules at once : one by one', together, alone, 1)
    for name, what, elements in (('rules', '4 KiB', 1 << 10), ('mebibytes', '1 MiB', 1 << 18)):
        trial = bench.trial(name)
        bare = bench.program('bench_bare')
        ours, index, values, numpy = bench.in_turns(
            [[evaluate, trial, 'VanishingGradient'], [bare, 'index', trial + '/index', bench.threads],
             [bare, 'ranges', trial, ranges(bench, trial, 'gradients'), bench.threads],
             bench.peer('rule_numpy.py', trial, str(elements))], least=2)
        both = {key: index[key] + values[key] for key in ('best', 'median')}
        what = f'VanishingGradient, gradients of {what}'
        bench.ratio(f'{what} : bare reading of index files and records; {bench.threads} threads', ours, both, 1.5)
        bench.times_as_fast(f'{what} : NumPy', ours, numpy)


def writing(bench):
    """Writing"""
    quick = bench.options.quick
    folder = os.path.join(bench.work, 'hook')
    # Half a second per loop. Limits of a hundredth require many turns, whatever --seconds says.
    loops = bench.ways_in_turns([bench.program('bench_hook'), 'train', '2' if quick else '30', folder])
    without = loops['without']
    for interval, limit in (('10', 1.05), ('200', 1.01)):
        what = f'a training loop, all saved each {interval} steps'
        with_hook = loops['each ' + interval]
        bench.ratio_within_turns(f'{what} : without a hook', with_hook, without, limit)
        bench.ratio_within_turns(f'{what}, processor time of all threads : without a hook', with_hook['cpu'], without['cpu'])
    bench.ratio_within_turns('the same loop without a hook : itself', loops['without, again'], without)
    count = '64' if quick else '256'
    ways = bench.ways_in_turns([bench.program('bench_hook'), 'write', '2' if quick else '15', folder, count])
    bench.ratio(f'hook, {count} tensors of 1 MiB : bare writes', ways['hook'], ways['bare'])
    bench.ratio('hook, the same and six reductions of each : bare writes', ways['beside'], ways['bare'])
    bench.ratio('hook, six reductions of each, not the tensors : bare writes of the tensors', ways['instead'], ways['bare'])
    save(bench)


def save(bench):
    """A large array saved by smd-save; each run first removes the trial of the last one."""
    size = 1 << (24 if bench.options.quick else 28)
    array = os.path.join(bench.work, f'array-{size}.npy')
    if not os.path.exists(array):
        subprocess.run([PYTHON, '-c', 'import sys, numpy; numpy.save(sys.argv[1], numpy.arange(int(sys.argv[2]) // 4, '
                        'dtype=numpy.float32))', array, str(size)], check=True)
    to = os.path.join(bench.work, 'saved')
    fresh = ['sh', '-c', 'to=$1; shift; rm -rf "$to"; exec "$@"', 'sh', to]
    saved, copied = bench.in_turns([fresh + [bench.tool('smd-save'), to, '--step', '0', f'a=@{array}'],
                                    fresh + ['cp', array, to]], least=3)
    shutil.rmtree(to, ignore_errors=True)
    if os.path.exists(to):
        os.remove(to)
    bench.ratio(f'smd-save of a .npy of {size >> 20} MiB : cp', saved, copied, 3)
    bench.peak(f'smd-save of a .npy of {size >> 20} MiB: peak memory', saved, 32)


def following(bench):
    """Following"""
    tools = os.path.join(bench.installed, 'bin')
    quick = bench.options.quick
    times = live.latency(tools, steps=20 if quick else 200)
    bench.at_most('from the rename of a step to the exit of smd-wait, median', statistics.median(times) * 1e3, 'ms', 5)
    worst = times[max(0, int(len(times) * 0.99) - 1)]
    bench.at_most('from the rename of a step to the exit of smd-wait, 99 %', worst * 1e3, 'ms', 20)
    bench.at_most('CPU of an idle follower', live.idle(tools, seconds=5 if quick else 30) * 100, '%', 0.1)
    for what, curve, total in (('CPU a new step, last third of {}', live.curve, 3000 if quick else 20000),
                               ('CPU a new step, last third of {} that wait for a dead worker', live.dead_worker,
                                3000 if quick else 6000)):
        points = [seconds * 1e6 for _, seconds in curve(tools, total=total)]
        third = len(points) // 3
        early, late = statistics.median(points[:third]), statistics.median(points[-third:])
        bench.report(what.format(total) + ' : first third', late, early, 'us', late / early, 1.25)


def following_logs(bench):
    """Following a log directory"""
    tools = os.path.join(bench.installed, 'bin')
    # In turns, so that other load on the machine affects both.
    times = {'logs_one': [], 'logs_short': []}
    for _ in range(3):
        for name, found in times.items():
            found += live.log_steps(tools, bench.logs(name), 30 if bench.options.quick else 300)
    late, early = (statistics.median(times[name]) * 1e6 for name in ('logs_one', 'logs_short'))
    bench.report('CPU a new value, after a million : after a thousand', late, early, 'us', late / early, 1.25)


MEASUREMENTS = (kernels, rules, writing, following_logs, following)  # following is last because it removes thousands of files, see hook.cpp
