#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page.py RESULT.json: prints the page of a run, docs/performance.md, from the output of run.py --json."""

import json
import sys

HEAD = """# Performance

Every value here is a ratio to a peer or to a physical limit, measured in the same run. One command repeats all
measurements and writes this page, in about twenty minutes and with 12 GiB of disk:

```sh
cmake --preset release -DSMD_BUILD_BENCHMARKS=ON && cmake --build build/release --target benchmarks
benchmarks/run.py --build build/release --work FOLDER --json result.json --page docs/performance.md
```

`benchmarks/page.py result.json` writes the page again from the results of a run. [benchmarks/README.md](../benchmarks/README.md)
says what each measurement means, how it is made, and what bounds those that miss theirs.
"""

METHOD = """## Method

- Ours and the peer take turns (A B A B …), so that other load on the machine affects both; the best of all turns
  counts. Turns continue for {seconds:g} seconds for each measurement. Training loops: 30 turns, and the median of the ratio
  within each.
- A command's time is that of its process, from start to end, with standard output to `/dev/null`; its memory is the peak
  that the kernel counted. Commands are measured as installed.
- Peers either do by hand what no reader can avoid, with as many threads and without parsing (bare reading), or are what
  people use instead: NumPy, jq, Python's json, cat.
- Limits are our targets; measurements without one are for information. *times as fast* is the peer's time divided by
  ours: more is better. Everywhere else less is.
"""


def number(value):
    """Three significant digits, no exponent."""
    if value == int(value) and abs(value) < 1e15:
        return f'{int(value):,}'
    return f'{value:,.0f}' if abs(value) >= 100 else f'{value:.3g}' if abs(value) >= 1e-3 else f'{value:.1g}'


def quantity(value, unit):
    if value is None:
        return ''
    for scale, larger in (('ms', 's'), ('us', 'ms')):
        if unit == scale and value >= 1000:
            return quantity(value / 1000, larger)
    return f'{number(value)} {unit}'


def value_of(entry):
    """Two decimals, or three if a missed limit would look met with two."""
    value, limit = entry['value'], entry['limit']
    looks_met = limit is not None and not entry['ok'] and round(value, 2) == limit
    return f'{value:.3f}' if looks_met else f'{value:.2f}'


def row(entry):
    what, _, peer = entry['name'].partition(' : ')
    relation = ''
    if entry['larger_is_better']:
        relation = ' of its speed' if entry['unit'].endswith('/s') else ' times as fast'
    value = '' if entry['peer'] is None else value_of(entry) + relation
    limit, met = '', ''
    if entry['limit'] is not None:
        bound = quantity(entry['limit'], entry['unit']) if entry['peer'] is None else number(entry['limit'])
        limit = ('at least ' if entry['larger_is_better'] else 'at most ') + bound
        met = 'yes' if entry['ok'] else '**no**'
    cells = [what, peer, quantity(entry['ours'], entry['unit']), quantity(entry['peer'], entry['unit']), value, limit,
             met]
    return '| ' + ' | '.join(cells) + ' |\n'


def section(title, measurements, skipped):
    text = f'\n## {title}\n\n'
    if measurements:
        text += '| What | Against | Ours | Theirs | Ratio | Limit | Met |\n|---|---|---|---|---|---|---|\n'
        text += ''.join(row(entry) for entry in measurements)
    if measurements and skipped:
        text += '\n'
    return text + ''.join(f"- Not measured: {one['name'].replace(' : ', ', against ')}: {one['reason']}.\n" for one in skipped)


def limits_met(result):
    held = [entry for entry in result['measurements'] if entry['limit'] is not None]
    missed = [entry for entry in held if not entry['ok']]
    text = f'\nOf {len(held)} limits, {len(held) - len(missed)} are met'
    if not missed:
        return text + '.\n'
    text += ', and these are not:\n\n'
    for entry in missed:
        bound = 'at least' if entry['larger_is_better'] else 'at most'
        what = entry['name'].replace(' : ', ', against ')
        unit = '' if entry['peer'] is not None else ' ' + entry['unit']
        text += f"- {entry['section']}: {what}: {value_of(entry)}{unit}, {bound} {number(entry['limit'])} wanted\n"
    return text


def growth(rows):
    if not rows:
        return ''
    text = ('\n## How cost grows\n\nOne trial, and others with four and sixteen times as many steps, tensors or workers; all '
            'else the same. The last columns\nare the exponent of growth from the second to the third: 1 is '
            'proportional, 0 constant.\n')
    for axis in dict.fromkeys(row['axis'] for row in rows):
        mine = [row for row in rows if row['axis'] == axis]
        sizes = [size for size, _ in mine[0]['points']]
        heads = [f'{size:,} {axis if size > 1 else axis[:-1]}' for size in sizes]
        text += f'\n| Command | {" | ".join(heads)} | Time | Memory |\n'
        text += '|---|' + '---|' * (len(sizes) + 2) + '\n'
        for row_ in mine:
            cells = [f"{quantity(point['ms'], 'ms')}, {number(point['mib'])} MiB" for _, point in row_['points']]
            text += (f"| `{row_['command']}` | {' | '.join(cells)} | n^{row_['time_exponent']:.2f} | "
                     f"n^{row_['memory_exponent']:.2f} |\n")
    return text


def power(exponent):
    return '' if exponent is None else f'n^{exponent:.2f}'


def bulk(rows):
    if not rows:
        return ''
    text = ('\n## Very many of one thing\n\nInput with n of one thing, valid or damaged, and little else; made by '
            '`benchmarks/bulk_trials.py`. Times are\nprocessor times of all threads. The last columns are the exponents '
            'as above, from the second size to the third. A\ncommand that took too long at a size was not tried at a '
            'larger one.\n')
    sizes = rows[0]['sizes']
    text += f'\n| n | Command | {" | ".join(f"n = {size:,}" for size in sizes)} | Time | Memory |\n'
    text += '|---|---|' + '---|' * (len(sizes) + 2) + '\n'
    for row_ in rows:
        cells = [f"{quantity(point['ms'], 'ms')}, {number(point['mib'])} MiB" for _, point in row_['points']]
        cells += [''] * (len(sizes) - len(cells))
        text += (f"| {row_['what']} | `{row_['command']}` | {' | '.join(cells)} | {power(row_['time_exponent'])} | "
                 f"{power(row_['memory_exponent'])} |\n")
    return text


def render(result):
    text = HEAD
    if not result['complete']:
        text += f"\n**Not a whole run: {result['why_incomplete']}. Its results are not comparable.**\n"
    text += limits_met(result) + '\n## Machine\n\n| | |\n|---|---|\n'
    text += ''.join(f'| {name} | {value} |\n' for name, value in result['machine'].items())
    text += '\n' + METHOD.format(seconds=result['seconds'])
    for title in result['sections']:
        measurements = [measurement for measurement in result['measurements'] if measurement['section'] == title]
        skipped = [one for one in result['skipped'] if one['section'] == title]
        if measurements or skipped:
            text += section(title, measurements, skipped)
    return text + growth(result['growth']) + bulk(result.get('bulk', []))


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: page.py RESULT.json')
    with open(sys.argv[1], encoding='utf-8') as file:
        sys.stdout.write(render(json.load(file)))


if __name__ == '__main__':
    main()
