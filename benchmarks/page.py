#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page.py RESULT.json: prints the page of a run, docs/performance.md, from what run.py --json wrote; measures nothing."""

import json
import sys

HEAD = """# Performance

Every figure here is a ratio against a peer or a physical limit that was measured in the same run. One command measures
all of them again and writes this page, in about twenty minutes and 12 GiB of disk:

```sh
cmake --preset release -DSMD_BUILD_BENCHMARKS=ON && cmake --build build/release --target benchmarks
benchmarks/run.py --build build/release --work FOLDER --json result.json --page docs/performance.md
```

`benchmarks/page.py result.json` makes the page anew from what was measured. What each figure means, how it is taken, and
what limits those that miss their limit is in [benchmarks/README.md](../benchmarks/README.md).
"""

METHOD = """## Method

- Ours and the peer take turns (A B A B …), so that what else the machine does hits both; the best of all turns counts.
  Turns go on for {seconds:g} seconds a figure. Training loops: 30 turns, and the median of the ratio within each.
- A command's time is that of its process, from its start until it is gone, with standard output to `/dev/null`; its
  memory is the peak that the kernel counted. Commands are measured as installed.
- Peers do by hand what no reader can avoid, with as many threads, and parse nothing (bare reading), or are what people
  use instead: NumPy, jq, Python's json, cat.
- A limit is what we hold ourselves to; a figure without one is for orientation. *times as fast* is the peer's time by
  ours: more is better. Everywhere else less is.
"""


def number(value):
    """Three digits, no exponent."""
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


def value_of(figure):
    """Two decimals, or three where two would look as if the limit were met."""
    value, limit = figure['value'], figure['limit']
    looks_met = limit is not None and not figure['ok'] and round(value, 2) == limit
    return f'{value:.3f}' if looks_met else f'{value:.2f}'


def row(figure):
    what, _, peer = figure['name'].partition(' : ')
    relation = ''
    if figure['larger_is_better']:
        relation = ' of its speed' if figure['unit'].endswith('/s') else ' times as fast'
    value = '' if figure['peer'] is None else value_of(figure) + relation
    limit, met = '', ''
    if figure['limit'] is not None:
        bound = quantity(figure['limit'], figure['unit']) if figure['peer'] is None else number(figure['limit'])
        limit = ('at least ' if figure['larger_is_better'] else 'at most ') + bound
        met = 'yes' if figure['ok'] else '**no**'
    cells = [what, peer, quantity(figure['ours'], figure['unit']), quantity(figure['peer'], figure['unit']), value, limit, met]
    return '| ' + ' | '.join(cells) + ' |\n'


def section(title, figures, skipped):
    text = f'\n## {title}\n\n'
    if figures:
        text += '| What | Against | Ours | Theirs | Ratio | Limit | Met |\n|---|---|---|---|---|---|---|\n'
        text += ''.join(row(figure) for figure in figures)
    if figures and skipped:
        text += '\n'
    return text + ''.join(f"- Not measured: {one['name'].replace(' : ', ', against ')}: {one['reason']}.\n" for one in skipped)


def verdict(result):
    held = [figure for figure in result['figures'] if figure['limit'] is not None]
    missed = [figure for figure in held if not figure['ok']]
    text = f'\nOf {len(held)} limits, {len(held) - len(missed)} are met'
    if not missed:
        return text + '.\n'
    text += ', and these are not:\n\n'
    for figure in missed:
        bound = 'at least' if figure['larger_is_better'] else 'at most'
        what = figure['name'].replace(' : ', ', against ')
        unit = '' if figure['peer'] is not None else ' ' + figure['unit']
        text += f"- {figure['section']}: {what}: {value_of(figure)}{unit}, {bound} {number(figure['limit'])} wanted\n"
    return text


def growth(rows):
    if not rows:
        return ''
    text = ('\n## How cost grows\n\nOne trial, and others with four and sixteen times as many steps, tensors or workers; all '
            'else the same. The last columns\nare the power by which cost grew from the second to the third: 1 is in '
            'proportion, 0 not at all.\n')
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
    text = ('\n## Very many of one thing\n\nInput that has n of one thing, sound or damaged, and nothing else; made by '
            '`benchmarks/bulk_trials.py`. Times are\nprocessor times, of all threads. The last columns are the powers as '
            'above, from the second size to the third; what took\ntoo long at a size was not tried at a larger one.\n')
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
        text += f"\n**Not a whole run: {result['why_incomplete']}. Its figures are not comparable.**\n"
    text += verdict(result) + '\n## Machine\n\n| | |\n|---|---|\n'
    text += ''.join(f'| {name} | {value} |\n' for name, value in result['machine'].items())
    text += '\n' + METHOD.format(seconds=result['seconds'])
    for title in result['sections']:
        figures = [figure for figure in result['figures'] if figure['section'] == title]
        skipped = [one for one in result['skipped'] if one['section'] == title]
        if figures or skipped:
            text += section(title, figures, skipped)
    return text + growth(result['growth']) + bulk(result.get('bulk', []))


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: page.py RESULT.json')
    with open(sys.argv[1], encoding='utf-8') as file:
        sys.stdout.write(render(json.load(file)))


if __name__ == '__main__':
    main()
