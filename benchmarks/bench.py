# SPDX-License-Identifier: Apache-2.0
"""Makes measurements: programs, trials, turns, and the list of results."""

import json
import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = '/usr/bin/python3'  # the one that finds Debian's python3-numpy
MIB = 1 << 20

# For each trial: the generator's options, and other values of some of them for --quick.
TRIALS = {
    'tiny': ({'steps': 2, 'tensors': 3}, {}),
    'small': ({'steps': 20, 'tensors': 20}, {}),
    'long': ({'steps': 20000, 'tensors': 50}, {'steps': 2000}),
    'wide': ({'steps': 200, 'tensors': 2000, 'elements': 64}, {'steps': 20}),
    'distinct': ({'steps': 20000, 'tensors': 50, 'distinct': True}, {'steps': 2000}),
    'big': ({'steps': 1, 'big': 1 << 30}, {'big': 1 << 26}),
    # A record holds no more than 2 GiB: a tensor of 4 GiB has two workers.
    'huge_pair': ({'steps': 1, 'workers': 2, 'big': (1 << 31) - (1 << 16)}, {'big': 1 << 27}),
    'mebibytes': ({'steps': 100, 'tensors': 41, 'elements': 1 << 18}, {'steps': 10}),
    'workers': ({'steps': 500, 'workers': 8, 'tensors': 101, 'elements': 64}, {'steps': 50}),
    'rules': ({'steps': 1000, 'tensors': 100, 'elements': 1024}, {'steps': 100}),
    'big_crc': ({'steps': 1, 'big': 1 << 30, 'crc': True}, {'big': 1 << 26}),
}
# The same for log directories.
LOGS = {
    'logs_ten': ({'tags': 10, 'steps': 100_000}, {'steps': 1000}),
    'logs_one': ({'tags': 1, 'steps': 1_000_000}, {'steps': 10_000}),
    'logs_short': ({'tags': 1, 'steps': 1000}, {}),
    'logs_many': ({'runs': 300, 'tags': 10, 'steps': 10_000}, {'steps': 100}),
}


class Skipped(Exception):
    """A measurement that is not possible here, and why."""


class Bench:
    def __init__(self, options):
        self.options = options
        self.build = os.path.abspath(options.build)
        self.work = os.path.abspath(options.work)
        self.threads = str(len(os.sched_getaffinity(0)))
        self.section = ''
        self.results = []
        self.skipped = []
        self.installed = os.path.join(self.work, 'installed')
        subprocess.run(['cmake', '--install', self.build, '--prefix', self.installed], stdout=subprocess.DEVNULL, check=True)

    # --- programs and trials -----------------------------------------------------------------------------------

    def tool(self, name):
        """A command as installed: in the build tree it searches for libraries in more places."""
        return os.path.join(self.installed, 'bin', name)

    def program(self, name):
        return os.path.join(self.build, 'benchmarks', name)

    def peer(self, script, *arguments):
        """The command line of a peer in Python."""
        return [PYTHON, os.path.join(HERE, 'peers', script), *arguments]

    def generated(self, name, options, generator='generate_trial'):
        """The folder of a trial; created if it does not exist."""
        path = os.path.join(self.work, name)
        if not os.path.exists(path):
            os.makedirs(self.work, exist_ok=True)
            partly = path + '.partly'
            subprocess.run(['rm', '-rf', partly], check=True)
            words = [word for key, value in options.items()
                     for word in (['--' + key] if value is True else ['--' + key, str(value)])]
            subprocess.run([self.program(generator), *words, partly], check=True)
            os.rename(partly, path)
        return path

    def trial(self, name):
        full, quick = TRIALS[name]
        return self.generated('quick-' + name, {**full, **quick}) if self.options.quick else self.generated(name, full)

    def logs(self, name):
        """The folder of a log directory."""
        full, quick = LOGS[name]
        options, name = ({**full, **quick}, 'quick-' + name) if self.options.quick else (full, name)
        return self.generated(name, options, 'generate_logs')

    def option_of(self, name, option):
        """The options with which a trial was generated."""
        full, quick = TRIALS[name]
        return {**full, **quick}[option] if self.options.quick else full[option]

    def output(self, command, stderr=None):
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, text=True, check=True).stdout

    # --- measuring ----------------------------------------------------------------------------------------------

    def stopwatch(self, commands, rounds, cold, statuses=frozenset({0})):
        words = [self.program('bench_stopwatch')] + (['--cold'] if cold else []) + [str(rounds)]
        for i, command in enumerate(commands):
            words += (['--'] if i else []) + command
        # Commands that are expected to fail print thousands of messages.
        answer = json.loads(self.output(words, stderr=None if statuses == {0} else subprocess.DEVNULL))
        for command, runs in zip(commands, answer):
            failed = [run[2] for run in runs if run[2] not in statuses]
            if failed:
                sys.exit(f'run.py: status {failed[0]} of {" ".join(command)}')
        return answer

    def rounds(self, seconds, least):
        """The number of rounds of this length for which there is time."""
        return max(least, min(200, int(self.options.seconds / seconds)))

    def in_turns(self, commands, least=5, cold=False, statuses=frozenset({0})):
        """For each command: best and median seconds and the peak memory in KiB. A first round warms up and determines
        the number of rounds."""
        first = self.stopwatch(commands, 1, cold, statuses)
        rounds = self.rounds(sum(runs[0][0] for runs in first), least)
        measured = []
        for runs in self.stopwatch(commands, rounds, cold, statuses):
            seconds = [run[0] for run in runs]
            measured.append({'best': min(seconds), 'median': statistics.median(seconds),
                             'peak_kib': max(run[1] for run in runs), 'rounds': rounds})
        return measured

    def in_turns_by_themselves(self, commands, key, least=3):
        """The same for programs that print their time as JSON."""
        seconds = [[] for _ in commands]
        rounds = least + 1
        done = 0
        while done < rounds:
            for times, command in zip(seconds, commands):
                times.append(json.loads(self.output(command))[key(command) if callable(key) else key])
            if done == 0:
                rounds = 1 + self.rounds(sum(times[0] for times in seconds), least)
            done += 1
        return [{'best': min(times[1:]), 'median': statistics.median(times[1:]), 'rounds': rounds - 1}
                for times in seconds]

    def ways_in_turns(self, command):
        """For a program that takes the turns itself and prints the runs of each variant, as bench_hook does: for each
        variant seconds and, under `cpu`, processor time of all its threads."""
        measured = {}
        for way, runs in json.loads(self.output(command)).items():
            clocks = [list(clock) for clock in zip(*runs)]
            wall, cpu = ({'best': min(times), 'median': statistics.median(times), 'turns': times, 'rounds': len(times)}
                         for times in clocks[:2])
            measured[way] = {**wall, 'cpu': cpu}
        return measured

    # --- results ------------------------------------------------------------------------------------------------

    def report(self, name, ours, peer, unit, value, limit=None, larger_is_better=False, **more):
        """Adds a measurement: ours, the peer's or the bound (or None), both in `unit`, and the value that has the limit.
        With limit None it is for information."""
        ok = limit is None or (value >= limit if larger_is_better else value <= limit)
        self.results.append({'section': self.section, 'name': name, 'ours': ours, 'peer': peer, 'unit': unit,
                             'value': value, 'limit': limit, 'larger_is_better': larger_is_better, 'ok': ok, **more})
        peer_text = f'{peer:12.4g} {unit}' if peer is not None else ''
        outcome = '' if limit is None else f'{">=" if larger_is_better else "<="} {limit:<6g} {"ok" if ok else "MISSED"}'
        print(f'{name:56} {ours:10.4g} {unit:4} {peer_text:17} {value:9.3g}  {outcome}'.rstrip(), flush=True)

    def skip(self, name, reason):
        self.skipped.append({'section': self.section, 'name': name, 'reason': reason})
        print(f'{name}: left out, {reason}', flush=True)

    def ratio(self, name, ours, peer, limit=None, by='best'):
        """The ratio of the best runs, or of the medians."""
        self.report(name, ours[by] * 1e3, peer[by] * 1e3, 'ms', ours[by] / peer[by], limit,
                    ratio_of_medians=ours['median'] / peer['median'], rounds=ours.get('rounds'))

    def ratio_within_turns(self, name, ours, peer, limit=None):
        """The median of the ratios within each turn: resolves hundredths, which the best runs do not."""
        ratios = [a / b for a, b in zip(ours['turns'], peer['turns'])]
        self.report(name, ours['median'] * 1e3, peer['median'] * 1e3, 'ms', statistics.median(ratios), limit,
                    ratio_of_best=ours['best'] / peer['best'], rounds=ours['rounds'])

    def times_as_fast(self, name, ours, peer, limit=None, by='best'):
        """The peer's time divided by ours: for peers that do more than necessary."""
        self.report(name, ours[by] * 1e3, peer[by] * 1e3, 'ms', peer[by] / ours[by], limit,
                    larger_is_better=True, ratio_of_medians=peer['median'] / ours['median'], rounds=ours.get('rounds'))

    def speed(self, name, ours, peer, unit, limit=None):
        """The ratio of speeds."""
        self.report(name, ours, peer, unit, ours / peer, limit, larger_is_better=True)

    def peak(self, name, ours, limit_mib=None):
        mib = ours['peak_kib'] / 1024
        self.report(name, mib, None, 'MiB', mib, limit_mib)

    def at_most(self, name, ours, unit, limit):
        """A measurement with an absolute limit."""
        self.report(name, ours, None, unit, ours, limit)


def wanted(options, name):
    return re.search(options.only, name) is not None
