# SPDX-License-Identifier: Apache-2.0
"""Pages of smd-report: in turns with smd-reduce of the same statistics and smd-rule with the same rules, which read the
trial once each; size of the page, and the time until Chromium paints it."""

import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile

STATISTICS = 'l2,mean,min,max,zero_fraction,count,nan,inf'


def both(a, b):
    """The time that two commands take one after the other."""
    return {key: a[key] + b[key] for key in ('best', 'median')}


def evaluated_rules(page):
    """The rules on a page, by the command lines behind them."""
    with open(page, encoding='utf-8') as file:
        return sorted(set(re.findall(r'smd-rule [^<]* -r (\w+)[^<]* -k --findings', file.read())))


def first_paint(chromium, page):
    """Seconds from the start of the navigation to the first contentful paint, by the browser's own trace; None if the
    trace does not say."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, 'trace.json')
        subprocess.run([chromium, '--headless', '--no-sandbox', '--disable-gpu', '--window-size=1600,1200',
                        f'--user-data-dir={folder}/profile', '--trace-startup=loading,blink.user_timing',
                        f'--trace-startup-file={trace}', '--trace-startup-format=json', '--trace-startup-duration=0',
                        '--screenshot=' + folder + '/shot.png', 'file://' + os.path.abspath(page)],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        with open(trace, encoding='utf-8') as file:
            events = json.load(file)['traceEvents']
    paints = [event for event in events if event['name'] == 'firstContentfulPaint']
    starts = [event for event in events if event['name'] == 'navigationStart']
    for paint in paints:
        before = [start['ts'] for start in starts if start['pid'] == paint['pid'] and start['ts'] <= paint['ts']]
        if before:
            return (paint['ts'] - max(before)) / 1e6
    return None


def reports(bench):
    """Pages"""
    for name, what in (('long', '20,000 steps x 50 tensors'), ('wide', '200 steps x 2,000 tensors')):
        trial = bench.trial(name)
        page = os.path.join(bench.work, f'{name}.html')
        # A page is written even if a rule triggers, with status 1.
        subprocess.run([bench.tool('smd-report'), trial, '-o', page], stderr=subprocess.DEVNULL, check=False)
        rules = evaluated_rules(page)
        report, reduce, rule = bench.in_turns(
            [[bench.tool('smd-report'), trial, '-o', page],
             [bench.tool('smd-reduce'), trial, '-r', STATISTICS, '-f', 'tsv'],
             [bench.tool('smd-rule'), trial, *(word for one in rules for word in ('-r', one)), '-k', '-f', 'text']],
            least=3, statuses=frozenset({0, 1}))
        bench.ratio(f'smd-report, {what} : smd-reduce and smd-rule of the same', report, both(reduce, rule), 1.3)
        bench.peak(f'smd-report, {what}: peak memory', report, 64)
        bench.at_most(f'smd-report, {what}: size of the page', os.path.getsize(page) / 1e6, 'MB', 2)
        chromium = shutil.which('chromium')
        paints = [first_paint(chromium, page) for _ in range(3)] if chromium else [None]
        if None in paints:
            bench.skip(f'first paint, {what}', 'no Chromium that traces')
        else:
            bench.at_most(f'smd-report, {what}: first paint in Chromium', statistics.median(paints), 's', 1)
