#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole-command benchmarks: each measurement is a ratio against something measured in the same run, in turns with it.

Builds nothing: run `cmake --build DIR --target benchmarks` first. Installs the commands in the --work folder, generates
the trials there once (about 12 GiB), and reuses them. Prints one line per measurement; exits with 1 if a limit is missed.
"""

import argparse
import json
import os
import sys
import time

import differences
import fleet
import measurements
import measurements_parts
import metric_logs
import growth
import machine
import page
import reports
from bench import Bench, Skipped, wanted

# In the order of the page. --only uses the function's name; the title is the first line of its docstring.
MEASUREMENTS = (*measurements.MEASUREMENTS, metric_logs.metric_logs, differences.differences, differences.checkpoints,
                differences.pytorch, differences.half_floats, *measurements_parts.MEASUREMENTS, reports.reports, fleet.fleet, measurements.s3)


def title(measurement):
    return measurement.__doc__


def parse():
    names = ' '.join([measurement.__name__ for measurement in MEASUREMENTS] + ['growth', 'bulk'])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', required=True, metavar='DIR', help='build folder with the benchmarks in it')
    parser.add_argument('--work', required=True, metavar='DIR', help='folder for generated trials; they are kept')
    parser.add_argument('--seconds', type=float, metavar='S', help='time for the turns of each measurement (6; quick: 1)')
    parser.add_argument('--only', default='', metavar='RE', help=f'only some of: {names}')
    parser.add_argument('--quick', action='store_true', help='small trials and few turns: to check that it works')
    parser.add_argument('--json', metavar='FILE', help='write all measurements to FILE')
    parser.add_argument('--page', metavar='FILE', help='write the page to FILE; only for a whole run')
    parser.add_argument('--partial', action='store_true', help='allow --page for a run with --only or --quick')
    options = parser.parse_args()
    if options.page and (options.only or options.quick) and not options.partial:
        parser.error('--page is for a whole run, without --only and --quick; --partial permits it, and the page says so')
    if options.seconds is None:
        options.seconds = 1 if options.quick else 6
    return options


def measure(bench):
    start, load = time.monotonic(), machine.load()
    for measurement in MEASUREMENTS:
        if not wanted(bench.options, measurement.__name__):
            continue
        bench.section = title(measurement)
        try:
            measurement(bench)
        except Skipped as reason:
            bench.skip(bench.section, str(reason))
    rows = growth.measure(bench) if wanted(bench.options, 'growth') else []
    bulk = growth.measure_bulk(bench) if wanted(bench.options, 'bulk') else []
    options = bench.options
    why = [f'only {options.only}'] * bool(options.only) + ['small trials and few turns'] * options.quick
    described = machine.describe(bench.build, bench.work)
    described['Run'] = (f'{(time.monotonic() - start) / 60:.0f} minutes; load {load:.1f} before, {machine.load():.1f} at the '
                        'end')
    return {'complete': not why, 'why_incomplete': ', '.join(why), 'seconds': options.seconds, 'machine': described,
            'sections': [title(measurement) for measurement in MEASUREMENTS], 'measurements': bench.results,
            'skipped': bench.skipped, 'growth': rows, 'bulk': bulk}


def write(path, text):
    """Writes a file completely or not at all."""
    with open(path + '.partly', 'w', encoding='utf-8') as file:
        file.write(text)
    os.rename(path + '.partly', path)


def main():
    options = parse()
    result = measure(Bench(options))
    if options.json:
        write(options.json, json.dumps(result, indent=1) + '\n')
    if options.page:
        write(options.page, page.render(result))
    return 0 if all(measurement['ok'] for measurement in result['measurements']) else 1


if __name__ == '__main__':
    sys.exit(main())
