# SPDX-License-Identifier: Apache-2.0
"""A fleet: many tiny trials in one command, against bare reading of the same files."""

import os
import shutil

from bench import Skipped

TRIALS = 10_000
QUICK_TRIALS = 200


def folder_of(bench, count):
    """A folder with that many copies of a trial of two steps."""
    fleet = os.path.join(bench.work, f'fleet-{count}')
    if not os.path.exists(fleet):
        if os.statvfs(bench.work).f_favail < 20 * count:
            raise Skipped(f'the file system of {bench.work} has too few inodes left')
        one = bench.trial('tiny')
        partly = fleet + '.partly'
        shutil.rmtree(partly, ignore_errors=True)
        for i in range(count):
            shutil.copytree(one, os.path.join(partly, f'{i:06}'))
        os.rename(partly, fleet)
    return fleet


def list_of(bench, fleet):
    path = fleet + '.txt'
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines(f'{os.path.join(fleet, name)}\n' for name in sorted(os.listdir(fleet)))
    return path


def fleet(bench):
    """A fleet of trials"""
    count = QUICK_TRIALS if bench.options.quick else TRIALS
    folder = folder_of(bench, count)
    few = folder_of(bench, count // 10)
    what = f'{count:,} trials'

    def over(path, words):
        command = ' '.join([bench.tool(words[0]), '-', *words[1:]])
        return ['sh', '-c', f'exec {command} <"$1"', 'sh', list_of(bench, path)]

    for words, parts in ((['smd-ls', '--summary'], ['collections', 'index']),
                         (['smd-reduce', '-s', 'last', '-r', 'mean'], ['collections', 'index', 'events']),
                         (['smd-rule', '-r', 'ExplodingTensor'], ['collections', 'index', 'events'])):
        ours, less, bare = bench.in_turns(
            [over(folder, words), over(few, words),
             [bench.program('bench_bare'), 'trees', folder, bench.threads, *parts]], least=3)
        name = ' '.join(words)
        bench.ratio(f'{name}, {what} : list, open, read, close; {bench.threads} threads', ours, bare, 1.5)
        bench.report(f'{name}, {what}, peak memory : that of {count // 10:,}', ours['peak_kib'] / 1024,
                     less['peak_kib'] / 1024, 'MiB', ours['peak_kib'] / less['peak_kib'], 1.1)
