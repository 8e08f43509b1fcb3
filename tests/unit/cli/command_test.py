#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the sample command as a process: output read back by others' parsers, messages, statuses, signals.

    python3 command_test.py SAMPLE
"""
import csv
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy as np

SAMPLE = sys.argv.pop(1)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored if these tests were started by nohup
ENVIRONMENT = {'PATH': os.environ['PATH'], 'LC_ALL': 'C.UTF-8'}
for name in ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'TSAN_OPTIONS', 'LD_LIBRARY_PATH'):
    if name in os.environ:
        ENVIRONMENT[name] = os.environ[name]


def run(*arguments, **more):
    environment = dict(ENVIRONMENT, **more.pop('env', {}))
    return subprocess.run([SAMPLE, *arguments], capture_output=True, env=environment, **more)


def untsv(text):
    out, escaped = '', False
    for c in text:
        if escaped:
            out += {'t': '\t', 'n': '\n', 'r': '\r', '\\': '\\'}[c]
            escaped = False
        elif c == '\\':
            escaped = True
        else:
            out += c
    return out


PARTS = ['a', '\t', '\n', '\r', '\\', '"', "'", ',', ' ', ';', '=', '\x01', '\x7f', '\xe9', '\U0001f600', 'n', '/', '']
STRINGS = [a + b for a in PARTS for b in PARTS]


class RoundTrip(unittest.TestCase):
    def rows(self, form, what):
        done = run('--' + form, what)
        self.assertEqual((done.returncode, done.stderr), (0, b''))
        text = done.stdout.decode()
        if form == 'json':
            return json.loads(text, parse_constant=self.fail)
        if form == 'jsonl':
            return [json.loads(line, parse_constant=self.fail) for line in text.split('\n')[:-1]]
        if form == 'csv':
            return list(csv.DictReader(io.StringIO(text, newline='')))
        lines = [[untsv(cell) for cell in line.split('\t')] for line in text.split('\n')[:-1]]
        return [dict(zip(lines[0], line)) for line in lines[1:]]

    def test_strings(self):
        for form in ('tsv', 'csv', 'json', 'jsonl'):
            with self.subTest(form):
                self.assertEqual([row['text'] for row in self.rows(form, 'strings')], STRINGS)

    def test_floats(self):
        words = {'NaN': 'nan', 'Infinity': 'inf', '-Infinity': '-inf'}
        for form in ('tsv', 'csv', 'json'):
            with self.subTest(form):
                rows = self.rows(form, 'floats')
                self.assertEqual(len(rows), 20000)
                for row in rows:
                    for kind, bits, uint, size in (('f64', 'bits64', np.uint64, 64), ('f32', 'bits32', np.uint32, 32)):
                        text = row[kind]
                        value = getattr(np, 'float%d' % size)(words.get(text, text))
                        wanted = uint(int(row[bits]))
                        if not np.isnan(wanted.view(value.dtype)):
                            self.assertEqual(value.view(uint), wanted, row)
                        else:
                            self.assertTrue(np.isnan(value), row)
                    self.assertEqual(int(row['i64']), int(np.uint64(int(row['bits64'])).view(np.int64)))

    def test_halves(self):
        def digits(text):
            return len(text.lower().split('e')[0].lstrip('-').replace('.', '').strip('0')) or 1

        def nearest_bfloat16(text):
            bits = int(np.float32(text).view(np.uint32))
            return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF

        rows = self.rows('tsv', 'halves')
        self.assertEqual(len(rows), 65536)
        for row in rows:
            bits = int(row['bits'])
            half = np.uint16(bits).view(np.float16)
            if np.isfinite(half):
                self.assertEqual(np.float16(row['f16']).view(np.uint16), bits)
                # NumPy finds the fewest digits too; whole numbers are rather written out (528, not 5.3e+02).
                if half != np.trunc(half):
                    shortest = np.format_float_scientific(half, unique=True)
                    self.assertLessEqual(digits(row['f16']), digits(shortest), row)
            else:
                self.assertEqual(row['f16'], str(half), row)
            brain = np.uint32(bits << 16).view(np.float32)
            if np.isfinite(brain):
                self.assertEqual(nearest_bfloat16(row['bf16']), bits, row)
                if brain != np.trunc(brain) and digits(row['bf16']) > 1:
                    fewer = '%.*e' % (digits(row['bf16']) - 2, brain)
                    self.assertNotEqual(nearest_bfloat16(fewer), bits, row)
            else:
                self.assertEqual(row['bf16'], str(brain), row)


class Operands(unittest.TestCase):
    def test_from_standard_input(self):
        done = run('echo', 'a', '-', input=b'b c\n\nd\xff\n-x')
        self.assertEqual((done.returncode, done.stdout), (0, b'a\nb c\nd\xff\n-x\n'))
        done = run('-0', 'echo', '-', input=b'b\nc\0\0d')
        self.assertEqual((done.returncode, done.stdout), (0, b'b\nc\0d\0'))
        self.assertEqual(run('echo', '-', 'a', input=b'').returncode, 2)
        closed = subprocess.run(['sh', '-c', '"$0" echo - <&-', SAMPLE], stderr=subprocess.PIPE, env=ENVIRONMENT)
        self.assertEqual(closed.returncode, 3)


class Messages(unittest.TestCase):
    def test_repeats_are_counted_and_escaped(self):
        done = run('repeat')
        line = b'smd-sample: warning: the same \\x1b[31m again'
        self.assertEqual(done.stderr, 3 * (line + b'\n') + b'smd-sample: warning: another\n' + line +
                         b' (7 more times)\n')
        self.assertEqual((done.returncode, done.stdout), (0, b''))

    def test_levels(self):
        self.assertEqual(run('-q', 'repeat').stderr, b'')
        self.assertIn(b'smd-sample: info: an info\n', run('-v', 'repeat').stderr)
        self.assertNotIn(b'a detail', run('-v', 'repeat').stderr)
        self.assertIn(b'smd-sample: debug: a detail\n', run('-vv', 'repeat').stderr)
        self.assertIn(b'a detail', run('repeat', env={'SMDEBUG_LOG_LEVEL': 'DEBUG'}).stderr)
        self.assertEqual(run('repeat', env={'SMDEBUG_LOG_LEVEL': 'error'}).stderr, b'')
        self.assertIn(b'another', run('-v', 'repeat', env={'SMDEBUG_LOG_LEVEL': 'error'}).stderr)

    def test_values_of_variables_that_are_no_good(self):
        window, level = 'SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW', 'SMDEBUG_LOG_LEVEL'
        for value in ('abc', '-1', '1.5', ' 7', '7 ', '99999999999999999999'):
            done = run('echo', env={window: value})
            self.assertEqual((done.returncode, done.stderr.decode()),
                             (0, f"smd-sample: warning: {window}: '{value}' is not a whole number from 0; 1000, the "
                                 'default, is used\n'))
        self.assertEqual(run('echo', env={level: 'foo'}).stderr,
                         b"smd-sample: warning: SMDEBUG_LOG_LEVEL: 'foo' is not debug, info, warning, error or off; "
                         b'warning, the default, is used\n')
        for name, value in ((window, '0'), (window, '7'), (window, ''), (level, 'Critical'), (level, ''),
                            ('SMDEBUG_TRAINING_END_DELAY_REFRESH', 'not read by this command')):
            self.assertEqual(run('echo', env={name: value}).stderr, b'')

    def test_log_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'log')
            done = run('repeat', env={'SMDEBUG_LOG_PATH': path})
            with open(path, 'rb') as log:
                self.assertEqual(log.read(), done.stderr)

    def test_color(self):
        self.assertIn(b'\x1b[33mwarning\x1b[0m', run('--color=always', 'repeat').stderr)
        self.assertNotIn(b'\x1b', run('repeat').stderr)
        self.assertIn(b'\x1b[1m', run('--color=always', '-f', 'table', 'strings').stdout)


class Statuses(unittest.TestCase):
    def check(self, arguments, status, message, **more):
        done = run(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (status, message))
        self.assertEqual(done.stdout, b'')

    def test_exceptions(self):
        self.check(['oops'], 1, b"smd-sample: TensorUnavailable: 'los' was not saved\n")
        self.check(['memory'], 3, b'smd-sample: ReadError: not enough memory\n')
        self.check(['-q', 'memory'], 3, b'smd-sample: ReadError: not enough memory\n')
        done = run('logic')
        self.assertEqual(done.returncode, 3)
        self.assertNotIn(b'secret', done.stderr)
        self.assertEqual(run('missing').returncode, 4)

    def test_usage(self):
        self.check(['--bogus'], 2, b"smd-sample: Usage: unknown option '--bogus'\nTry 'smd-sample --help'.\n")
        self.check([], 2, b"smd-sample: Usage: missing operand TRIAL\nTry 'smd-sample --help'.\n")

    def test_help_and_version(self):
        done = run('--help')
        self.assertEqual((done.returncode, done.stderr), (0, b''))
        self.assertTrue(done.stdout.startswith(b'Usage: smd-sample '))
        done = run('--version')
        self.assertEqual((done.returncode, done.stderr), (0, b''))
        self.assertRegex(done.stdout, rb'^smd-sample \(libsmd\) \d+\.\d+\.\d+\nfeatures: ')

    def test_output_that_cannot_be_written(self):
        with open('/dev/full', 'wb') as full:
            for arguments in (['strings'], ['--help'], ['--version']):
                done = subprocess.run([SAMPLE, *arguments], stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT)
                self.assertEqual(done.returncode, 3)
                self.assertIn(b'No space left on device', done.stderr)
        closed = subprocess.run(['sh', '-c', '"$0" strings >&-', SAMPLE], stderr=subprocess.PIPE, env=ENVIRONMENT)
        self.assertEqual(closed.returncode, 3)
        quiet = subprocess.run(['sh', '-c', '"$0" -q strings >&-', SAMPLE], stderr=subprocess.PIPE, env=ENVIRONMENT)
        self.assertEqual((quiet.returncode, quiet.stderr), (0, b''))

    def test_reader_that_goes_away(self):
        for ignored in (False, True):
            # Gone before the command starts: what a pipe holds could all be written before a reader goes later.
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([SAMPLE, 'halves'], stdout=writer, stderr=subprocess.PIPE, env=ENVIRONMENT,
                                  restore_signals=not ignored)
            os.close(writer)
            self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b''))


class Signals(unittest.TestCase):
    def test_temporaries_go_and_the_signal_kills(self):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, 'out')
                child = subprocess.Popen([SAMPLE, 'hold', '-o', path], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                                         env=ENVIRONMENT)
                self.assertEqual(child.stderr.readline(), b'smd-sample: warning: ready\n')
                self.assertEqual(len(os.listdir(folder)), 1)
                self.assertFalse(os.path.exists(path))
                child.send_signal(number)
                self.assertEqual(child.wait(), -number)
                self.assertEqual(os.listdir(folder), [])
                child.stdin.close()
                child.stderr.close()

    def test_without_a_signal_the_file_is_there(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'out')
            done = run('hold', '-o', path, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(os.listdir(folder), ['out'])
            with open(path, 'rb') as out:
                self.assertEqual(out.read(), b'begun')


if __name__ == '__main__':
    unittest.main()
