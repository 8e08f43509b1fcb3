#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole-command benchmarks: each figure is a ratio against something measured in the same run, in turns with it.

Builds nothing: `cmake --build DIR --target benchmarks` first. Installs the commands in the --work folder, makes its
trials there once (about 10 GiB), and uses them again. Prints one line a figure; exits with 1 if a limit was missed.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys

import following

MIB = 1024  # in KiB, as the system counts peak memory

TRIALS = {
    'small': ['--steps', '20', '--tensors', '20'],
    'long': ['--steps', '20000', '--tensors', '50'],
    'distinct': ['--steps', '20000', '--tensors', '50', '--distinct'],
    'big': ['--steps', '1', '--big', str(1 << 30)],
    'huge': ['--steps', '1', '--big', str((1 << 31) - (1 << 16))],  # a record holds no more than 2 GiB
    'mebibytes': ['--steps', '100', '--tensors', '41', '--elements', str(1 << 18)],
    'workers': ['--steps', '500', '--workers', '8', '--tensors', '101', '--elements', '64'],
    'rules': ['--steps', '1000', '--tensors', '100', '--elements', '1024'],
    'big_crc': ['--steps', '1', '--big', str(1 << 30), '--crc'],
}


class Bench:
    def __init__(self, options):
        self.options = options
        self.build = os.path.abspath(options.build)
        self.threads = str(len(os.sched_getaffinity(0)))
        self.results = []
        self.made = set()
        self.installed = os.path.join(os.path.abspath(options.work), 'installed')
        for component in ('library', 'tools'):
            subprocess.run(['cmake', '--install', self.build, '--component', component, '--prefix', self.installed],
                           stdout=subprocess.DEVNULL, check=True)

    # --- what there is to run -----------------------------------------------------------------------------------

    def tool(self, name):
        """A command as it is installed: in the build tree it looks for libraries in more places."""
        return os.path.join(self.installed, 'bin', name)

    def program(self, name):
        return os.path.join(self.build, 'benchmarks', name)

    def trial(self, name):
        """The folder of a generated trial; made if it is not there yet."""
        path = os.path.join(os.path.abspath(self.options.work), name)
        if name not in self.made and not os.path.exists(path):
            os.makedirs(self.options.work, exist_ok=True)
            partly = path + '.partly'
            subprocess.run(['rm', '-rf', partly], check=True)
            subprocess.run([self.program('generate_trial'), *TRIALS[name], partly], check=True)
            os.rename(partly, path)
        self.made.add(name)
        return path

    # --- measuring ----------------------------------------------------------------------------------------------

    def in_turns(self, commands, rounds, cold=False):
        """For each command: best and median seconds and the peak memory in KiB."""
        arguments = [self.program('bench_stopwatch')]
        if cold:
            arguments.append('--cold')
        arguments.append(str(rounds))
        for i, command in enumerate(commands):
            arguments += (['--'] if i else []) + command
        answer = subprocess.run(arguments, stdout=subprocess.PIPE, check=True)
        measured = []
        for command, runs in zip(commands, json.loads(answer.stdout)):
            failed = [run[2] for run in runs if run[2] != 0]
            if failed:
                sys.exit(f'run.py: status {failed[0]} of {" ".join(command)}')
            seconds = [run[0] for run in runs]
            measured.append({'best': min(seconds), 'median': statistics.median(seconds),
                             'peak_kib': max(run[1] for run in runs)})
        return measured

    def wanted(self, name):
        return re.search(self.options.only, name) is not None

    def ratio(self, name, ours, peer, limit=None):
        """Ours against the peer's, by their best runs. A limit of None is for information."""
        ratio = ours['best'] / peer['best']
        self.report(name, f'{ours["best"] * 1e3:10.2f} ms {peer["best"] * 1e3:10.2f} ms', ratio, limit,
                    {'ours': ours, 'peer': peer, 'ratio_of_medians': ours['median'] / peer['median']})

    def peak(self, name, ours, limit_mib):
        mib = ours['peak_kib'] / MIB
        self.report(name, f'{mib:10.1f} MiB {"":13}', mib, limit_mib, {})

    def at_least(self, name, value, peer, unit, limit):
        self.report(name, f'{value:10.2f} {unit} {peer:8.2f} {unit}', value / peer, limit, {}, larger_is_better=True)

    def report(self, name, figures, value, limit, more, larger_is_better=False):
        verdict = ''
        if limit is not None:
            good = value >= limit if larger_is_better else value <= limit
            verdict = f'{">=" if larger_is_better else "<="} {limit:<6g} {"ok" if good else "MISSED"}'
        print(f'{name:44} {figures} {value:9.2f}  {verdict}'.rstrip(), flush=True)
        self.results.append({'name': name, 'value': value, 'limit': limit, 'larger_is_better': larger_is_better,
                             'ok': 'MISSED' not in verdict, **more})

    # --- the figures --------------------------------------------------------------------------------------------

    def start_up(self):
        trial = self.trial('small')
        ours, version, empty = self.in_turns(
            [[self.tool('smd-ls'), trial], [self.tool('smd-ls'), '--version'], [self.program('bench_empty')]],
            20 * self.options.rounds)
        self.ratio('smd-ls, 20 steps x 20 tensors : empty program', ours, empty, 4)
        self.ratio('smd-ls --version : empty program', version, empty)

    def names(self):
        for name, limit in (('long', 1.5), ('distinct', 3)):
            trial = self.trial(name)
            ours, bare = self.in_turns(
                [[self.tool('smd-ls'), trial],
                 [self.program('bench_bare'), 'index', trial + '/index', self.threads]], self.options.rounds)
            self.ratio(f'smd-ls, {name} : bare reading, {self.threads} threads', ours, bare, limit)
            self.peak(f'smd-ls, {name}, peak memory', ours, 32)

    def cold_names(self):
        if not os.access('/proc/sys/vm/drop_caches', os.W_OK):
            print('names, cold: left out, emptying the page cache wants root')
            return
        for name in ('long', 'distinct'):
            trial = self.trial(name)
            ours, bare = self.in_turns(
                [[self.tool('smd-ls'), trial], [self.program('bench_bare'), 'index', trial + '/index', '1']],
                max(3, self.options.rounds // 4), cold=True)
            self.ratio(f'smd-ls, {name}, cold : bare reading, 1 thread', ours, bare, 0.25)

    def last_step(self):
        trial = self.trial('long')
        ours, bare = self.in_turns(
            [[self.tool('smd-ls'), '-s', 'last', trial], [self.program('bench_bare'), 'names', trial + '/index']],
            2 * self.options.rounds)
        self.ratio('smd-ls -s last, long : bare listing', ours, bare, 2)

    def history(self):
        trial = self.trial('long')
        events = [self.program('bench_bare'), 'events', trial + '/events', self.threads, '0', '80', '20000']
        best = {'ours': None, 'peer': None}
        for _ in range(max(2, self.options.rounds // 3)):
            for who, key, command in (('ours', 'values_s', [self.program('bench_history'), trial, 'loss']),
                                      ('peer', 'seconds', events + ['5'])):
                answer = subprocess.run(command, stdout=subprocess.PIPE, check=True)
                seconds = json.loads(answer.stdout)[key]
                best[who] = seconds if best[who] is None else min(seconds, best[who])
        ours, bare = ({'best': best[who], 'median': best[who]} for who in ('ours', 'peer'))
        self.ratio('values of a scalar, opened trial : bare events', ours, bare, 1.5)
        command = [self.tool('smd-tensor'), trial, 'loss', '-s', ':', '--columns', 'step,value']
        index = [self.program('bench_bare'), 'index', trial + '/index', self.threads]
        ours, index, bare = self.in_turns([command, index, events + ['1']], self.options.rounds)
        both = {key: index[key] + bare[key] for key in ('best', 'median')}
        self.ratio('smd-tensor -s : : bare index and events', ours, both, 1.5)
        self.ratio('smd-tensor -s : : bare events alone', ours, bare)

    def big_tensor(self):
        for name, limit in (('big', 1.3), ('big_crc', None)):
            trial = self.trial(name)
            file = trial + '/events/000000000000/000000000000_worker_0.tfevents'
            raw = [self.tool('smd-tensor'), trial, 'big', '-f', 'raw']
            rounds = max(3, self.options.rounds // 2)
            self.in_turns([['cat', file]], 1)
            ours, cat = self.in_turns([raw, ['cat', file]], rounds)
            self.ratio(f'smd-tensor -f raw, {name} : cat', ours, cat, limit)
            self.peak(f'smd-tensor -f raw, {name}, peak memory', ours, 64)
            pipe = ['sh', '-c', '"$@" | cat', 'sh']
            ours, cat = self.in_turns([pipe + raw, pipe + ['cat', file]], rounds)
            self.ratio(f'smd-tensor -f raw, {name}, pipe : cat, pipe', ours, cat, limit)

    def ranges(self, trial):
        """A list of where the values of all tensors but the loss lie."""
        path = trial + '.ranges'
        if not os.path.exists(path):
            rows = subprocess.run([self.tool('smd-ls'), trial, '--locations', '-H', '-x', '^loss$', '--columns',
                                   'file,offset,length'], stdout=subprocess.PIPE, check=True).stdout
            with open(path, 'wb') as file:
                file.write(b''.join(sorted(rows.splitlines(keepends=True), key=lambda row: (
                    row.split(b'\t')[0], int(row.split(b'\t')[1])))))
        return path

    def reduce(self):
        six = ['-x', '^loss$', '-r', 'min,max,mean,std,l2,abs_mean']
        for name, limit in (('mebibytes', 1.4), ('workers', 1.5)):
            trial = self.trial(name)
            ranges = self.ranges(trial)
            rounds = max(3, self.options.rounds // 3)
            ours = [self.tool('smd-reduce'), trial, '-w', 'all'] + six
            bare = [self.program('bench_bare'), 'ranges', trial, ranges]
            two, peer, one = self.in_turns([ours, bare + [self.threads], ours + ['-j', '1']], rounds)
            self.ratio(f'smd-reduce, {name} : bare preads, {self.threads} threads', two, peer, limit)
            self.ratio(f'smd-reduce, {name}, 1 thread : {self.threads} threads', one, two)
            self.peak(f'smd-reduce, {name}, peak memory', two, None)
        trial = self.trial('mebibytes')
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'peers', 'reduce_numpy.py')
        ours, numpy = self.in_turns([[self.tool('smd-reduce'), trial] + six,
                                     ['/usr/bin/python3', script, trial, self.ranges(trial), str(1 << 18)]], 3)
        self.at_least('NumPy script : smd-reduce, mebibytes', numpy['best'], ours['best'], 's', 8)
        few, all_twenty = self.in_turns(
            [[self.tool('smd-reduce'), trial, '-s', '0:20', '-r', which]
             for which in ('min,max,mean,std', 'all')], 3)
        self.ratio('smd-reduce -r all : -r min,max,mean,std', all_twenty, few, 2.5)
        small, big = self.in_turns([[self.tool('smd-reduce'), self.trial(name)] for name in ('small', 'huge')], 3)
        self.peak('smd-reduce, 20 steps of small tensors, peak memory', small, None)
        self.peak('smd-reduce, tensor of 2 GiB, peak memory', big, 64)

    def rules(self):
        trial = self.trial('rules')
        bench = self.program('bench_rules')
        listing = subprocess.run([bench, trial, 'all'], stdout=subprocess.PIPE, text=True,
                                 check=True).stdout.splitlines()
        read, there = re.search(r'bytes read (\d+) of (\d+)', listing[-1]).groups()
        self.report('all rules, bytes read : sum of record lengths', f'{read:>13} {there:>13}',
                    int(read) / int(there), 1, {})
        names = [line.split()[0] for line in listing[:-1]]
        rounds = max(3, self.options.rounds // 5)
        together, *single = self.in_turns([[bench, trial, 'all']] + [[bench, trial, f'all={name}'] for name in names],
                                          rounds)
        alone = {'best': sum(one['best'] for one in single), 'median': sum(one['median'] for one in single)}
        self.ratio('all rules at once : one by one', together, alone, 1)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'peers', 'rule_numpy.py')
        for name, elements in (('rules', 1 << 10), ('mebibytes', 1 << 18)):
            ours, numpy = self.in_turns([[bench, self.trial(name), 'VanishingGradient'],
                                         ['/usr/bin/python3', script, self.trial(name), str(elements)]], rounds)
            self.at_least(f'NumPy script : VanishingGradient, {name}', numpy['best'], ours['best'], 's', 20)

    def kernels(self):
        """By the micro benchmark, which prints GB/s: ours, memcpy's, a reading loop's, measured by turns."""
        numpy = json.loads(subprocess.run(
            ['/usr/bin/python3', os.path.join(os.path.dirname(os.path.abspath(__file__)), 'peers', 'six_numpy.py')],
            stdout=subprocess.PIPE, check=True).stdout)
        row = re.compile(r'^  (\w+) +([\d.]+) GB/s +\S+ of memcpy \(([\d.]+)\) +\S+ of reading \(([\d.]+)\)')
        for target in ('', 'AVX2', 'SSE4'):
            answer = subprocess.run([self.program('reduce_micro')] + ([target] if target else []),
                                    stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
            size, best = '', not target
            label = answer[0].split(': ')[1]
            if target and label != target:
                continue  # not on this machine
            for line in answer:
                if ' MiB: six' in line:
                    size = line.split(' MiB')[0]
                found = row.match(line)
                if not found:
                    continue
                dtype, (ours, copy, read) = found[1], map(float, found.groups()[1:])
                if size == '1':
                    self.at_least(f'{label}, {dtype}, 1 MiB : memcpy', ours, copy, 'GB/s', 0.35 if best else None)
                    if dtype in numpy:
                        self.at_least(f'{label}, {dtype}, 1 MiB : NumPy', ours, numpy[dtype], 'GB/s',
                                      5 if best else None)
                else:
                    self.at_least(f'{label}, {dtype}, {size} MiB : reading', ours, read, 'GB/s', 0.6 if best else None)

    def hook(self):
        """Saving: what it adds to a training loop, and how fast it writes."""
        folder = os.path.join(os.path.abspath(self.options.work), 'hook')
        commands = {'none': ['train', '0'], '10': ['train', '10'], '200': ['train', '200'],
                    'write': ['write', '512'], 'bare': ['bare', '512'], 'reduced': ['write', '512']}
        best = {}
        for _ in range(max(3, self.options.rounds // 2)):
            for key, arguments in commands.items():
                more = ['min,max,mean,std,l2,abs_mean'] if key == 'reduced' else []
                answer = subprocess.run([self.program('bench_hook'), *arguments, folder, *more],
                                        stdout=subprocess.PIPE, check=True)
                seconds = json.loads(answer.stdout)['seconds']
                best[key] = min(seconds, best.get(key, seconds))
        figures = {key: {'best': value, 'median': value} for key, value in best.items()}
        self.ratio('training, all saved each 10 steps : no hook', figures['10'], figures['none'], 1.05)
        self.ratio('training, all saved each 200 steps : no hook', figures['200'], figures['none'], 1.01)
        self.ratio('hook, 512 tensors of 1 MiB : bare writes', figures['write'], figures['bare'])
        self.ratio('the same with six reductions : bare writes', figures['reduced'], figures['bare'])

    def checksum(self):
        answer = subprocess.run([self.program('crc32c_micro')], stdout=subprocess.PIPE, check=True)
        for size, speeds in json.loads(answer.stdout).items():
            self.at_least(f'crc32c : memcpy, {size} buffer', speeds['crc32c_gb_s'], speeds['memcpy_gb_s'], 'GB/s', 0.5)

    def at_most(self, name, ours, limit, unit):
        """A figure against a limit of its own."""
        self.report(name, f'{ours:10.4f} {unit} {limit:10.4f} {unit}', ours / limit, 1, {'ours': ours, 'unit': unit})

    def following(self):
        tools = os.path.join(self.installed, 'bin')
        times = following.latency(tools)
        self.at_most('rename : smd-wait is gone, median', statistics.median(times) * 1e3, 5, 'ms')
        self.at_most('rename : smd-wait is gone, 99th percentile', times[int(len(times) * 0.99) - 1] * 1e3, 20, 'ms')
        self.at_most('CPU of an idle follower, 30 s', following.idle(tools) * 100, 0.1, '%')
        points = [seconds * 1e6 for _, seconds in following.curve(tools)]
        third = len(points) // 3
        early, late = statistics.median(points[:third]), statistics.median(points[-third:])
        self.report('CPU a new step, last third of 20,000 : first third', f'{late:10.0f} us {early:10.0f} us',
                    late / early, 1.25, {'early': early, 'late': late})


FIGURES = ('start_up', 'names', 'cold_names', 'last_step', 'history', 'big_tensor', 'reduce', 'rules', 'kernels', 'hook',
           'checksum',
           'following')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', required=True, metavar='DIR', help='build folder with the benchmarks in it')
    parser.add_argument('--work', required=True, metavar='DIR', help='folder for generated trials, kept')
    parser.add_argument('--rounds', type=int, default=15, metavar='N', help='turns of the longer commands (15)')
    parser.add_argument('--only', default='', metavar='RE', help=f'only some of: {" ".join(FIGURES)}')
    parser.add_argument('--json', metavar='FILE', help='write all that was measured there')
    options = parser.parse_args()
    bench = Bench(options)
    for name in FIGURES:
        if bench.wanted(name):
            getattr(bench, name)()
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as file:
            json.dump(bench.results, file, indent=1)
    return 0 if all(result['ok'] for result in bench.results) else 1


if __name__ == '__main__':
    sys.exit(main())
