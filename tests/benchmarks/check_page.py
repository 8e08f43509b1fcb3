# SPDX-License-Identifier: Apache-2.0
"""check_page.py SOURCES: checks the page of results written by hand, runs that must not write a page, and the committed page."""

import os
import subprocess
import sys
import tempfile

SOURCES = sys.argv[1]
BENCHMARKS = os.path.join(SOURCES, 'benchmarks')
sys.dont_write_bytecode = True
sys.path.insert(0, BENCHMARKS)
import page  # noqa: E402


def measurement(**more):
    return {'section': 'Start-up', 'name': 'smd-ls : empty C program', 'ours': 1.5, 'peer': 0.5, 'unit': 'ms', 'value': 3.0,
            'limit': 4, 'larger_is_better': False, 'ok': True, **more}


def result(**more):
    return {'complete': True, 'why_incomplete': '', 'seconds': 6, 'machine': {'CPU': 'one'}, 'sections': ['Start-up', 'S3'],
            'measurements': [measurement()], 'skipped': [], 'growth': [], **more}


def check_rows():
    for given, row in (
            ({}, '| smd-ls | empty C program | 1.5 ms | 0.5 ms | 3.00 | at most 4 | yes |'),
            ({'limit': 2, 'ok': False}, '| smd-ls | empty C program | 1.5 ms | 0.5 ms | 3.00 | at most 2 | **no** |'),
            ({'limit': None}, '| smd-ls | empty C program | 1.5 ms | 0.5 ms | 3.00 |  |  |'),
            ({'peer': 12345.6, 'value': 8230.4, 'larger_is_better': True},
             '| smd-ls | empty C program | 1.5 ms | 12.3 s | 8230.40 times as fast | at least 4 | yes |'),
            ({'name': 'crc : memcpy', 'unit': 'GB/s', 'larger_is_better': True, 'limit': 0.5},
             '| crc | memcpy | 1.5 GB/s | 0.5 GB/s | 3.00 of its speed | at least 0.5 | yes |'),
            ({'name': 'smd-ls: peak memory', 'ours': 9.94, 'value': 9.94, 'peer': None, 'unit': 'MiB', 'limit': 32},
             '| smd-ls: peak memory |  | 9.94 MiB |  |  | at most 32 MiB | yes |')):
        text = page.render(result(measurements=[measurement(**given)]))
        assert row + '\n' in text, (row, text)


def check_whole():
    text = page.render(result())
    assert 'Of 1 limits, 1 are met.\n' in text and 'Not a whole run' not in text and '## S3' not in text, text
    text = page.render(result(measurements=[measurement(limit=2, ok=False)]))
    assert '0 are met, and these are not:\n\n- Start-up: smd-ls, against empty C program: 3.00, at most 2 wanted\n' in text, text
    text = page.render(result(complete=False, why_incomplete='only start_up'))
    assert '**Not a whole run: only start_up.' in text, text
    text = page.render(result(skipped=[{'section': 'S3', 'name': 'S3', 'reason': 'no curl'}]))
    assert '## S3\n\n- Not measured: S3: no curl.\n' in text, text
    # From 10 to 160 with 16 times as much: exponent 1; constant memory: 0.
    rows = [{'axis': 'steps', 'command': 'smd-ls', 'time_exponent': 1.0, 'memory_exponent': 0.0,
             'points': [(1000, {'ms': 10.0, 'mib': 5.0}), (16000, {'ms': 160.0, 'mib': 5.0})]}]
    text = page.render(result(growth=rows))
    assert ('| Command | 1,000 steps | 16,000 steps | Time | Memory |\n|---|---|---|---|---|\n'
            '| `smd-ls` | 10 ms, 5 MiB | 160 ms, 5 MiB | n^1.00 | n^0.00 |\n') in text, text
    # The second took too long to be tried at the third size: its exponent is that of the smaller sizes.
    rows = [{'what': 'tensors', 'command': 'smd-ls', 'sizes': [10, 100, 1000], 'time_exponent': 1.0, 'memory_exponent': 0.0,
             'points': [(10, {'ms': 1.0, 'mib': 5.0}), (100, {'ms': 10.0, 'mib': 5.0}), (1000, {'ms': 100.0, 'mib': 5.0})]},
            {'what': 'links', 'command': 'smd-ls', 'sizes': [10, 100, 1000], 'time_exponent': 2.0, 'memory_exponent': 0.0,
             'points': [(10, {'ms': 2000.0, 'mib': 5.0}), (100, {'ms': 200000.0, 'mib': 5.0})]}]
    text = page.render(result(bulk=rows))
    assert ('| n | Command | n = 10 | n = 100 | n = 1,000 | Time | Memory |\n|---|---|---|---|---|---|---|\n'
            '| tensors | `smd-ls` | 1 ms, 5 MiB | 10 ms, 5 MiB | 100 ms, 5 MiB | n^1.00 | n^0.00 |\n'
            '| links | `smd-ls` | 2 s, 5 MiB | 200 s, 5 MiB |  | n^2.00 | n^0.00 |\n') in text, text


def check_refusals():
    with tempfile.TemporaryDirectory() as folder:
        to = os.path.join(folder, 'page.md')
        for option in (['--quick'], ['--only', 'start_up']):
            done = subprocess.run([sys.executable, '-B', os.path.join(BENCHMARKS, 'run.py'), '--build', folder, '--work', folder,
                                   '--page', to, *option], stderr=subprocess.PIPE, text=True)
            assert done.returncode == 2 and '--page is for a whole run' in done.stderr, done
        assert os.listdir(folder) == []


def check_committed():
    path = os.path.join(SOURCES, 'docs', 'performance.md')
    with open(path, encoding='utf-8') as file:
        text = file.read()
    assert text.startswith(page.HEAD), 'docs/performance.md is out of date: run benchmarks/page.py'
    assert 'Not a whole run' not in text, 'docs/performance.md is not from a whole run'


check_rows()
check_whole()
check_refusals()
check_committed()
