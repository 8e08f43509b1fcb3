#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reduce_test.py --tools DIR... --trials DIR: smd-reduce against NumPy on the values that smd-tensor prints, shards in
processes of their own against the whole, and the same output for any number of threads."""

import argparse
import contextlib
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

TRIALS = ''
ENVIRONMENT = {'LC_ALL': 'C.UTF-8', 'TERM': 'dumb'}
REAL = 'pt_digits_train_eval'
SAVED = 'pt_reductions_and_raw'
WORKERS = 'pt_two_workers'
NON_FINITE = {'NaN': math.nan, 'Infinity': math.inf, '-Infinity': -math.inf}


def run_and_hear(*arguments, status=0, environment=None):
    """Returns standard output, and the lines on standard error."""
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env={**ENVIRONMENT, **(environment or {})})
    if done.returncode != status:
        raise AssertionError(f'{" ".join(arguments)}: {done.returncode}, not {status}: {done.stderr.decode()}')
    return done.stdout, done.stderr.decode().splitlines()


def run(*arguments, **more):
    return run_and_hear(*arguments, **more)[0]


def reduce(trial, *options, **more):
    return run('smd-reduce', os.path.join(TRIALS, trial), *options, **more)


def rows(trial, *options, **more):
    return json.loads(reduce(trial, '--json', *options, **more))


def number(value):
    return NON_FINITE.get(value, value) if isinstance(value, str) else value


def values(trial, *options):
    """Returns rows of smd-tensor, with arrays in their own type."""
    result = json.loads(run('smd-tensor', os.path.join(TRIALS, trial), '-s', ':', '--json', *options))
    for row in result:
        flat = [number(one) for one in np.asarray(row['value'], dtype=object).ravel()]
        row['array'] = np.array(flat, dtype=np.float64 if row['dtype'].startswith('b') else row['dtype'])
    return result


def numpy_figures(array, ddof=0):
    x = array.astype(np.float64)
    return {'min': x.min(), 'max': x.max(), 'median': np.median(x), 'mean': x.mean(), 'std': x.std(ddof=ddof),
            'variance': x.var(ddof=ddof), 'sum': x.sum(), 'l1': np.abs(x).sum(), 'l2': np.sqrt((x * x).sum()),
            'abs_mean': np.abs(x).mean(), 'abs_std': np.abs(x).std(ddof=ddof), 'count': x.size,
            'finite': np.isfinite(x).sum(), 'zero': (x == 0).sum(), 'negative': (x < 0).sum(),
            'p99.9': np.percentile(x, 99.9), 'rms': np.sqrt((x * x).mean()), 'zero_fraction': (x == 0).mean()}


def same_in_some_type(text, exact):
    """Whether a number of JSON is the shortest text of the exact one in the type of some element."""
    if not isinstance(exact, float) or text == exact:
        return text == exact
    bfloat16 = np.array((np.float32(text).view(np.uint32) + 0x8000) & 0xFFFF0000, dtype=np.uint32).view(np.float32)
    with np.errstate(over='ignore'):
        return exact in (np.float32(text), np.float16(text), bfloat16)


NAMES = ('min,max,median,mean,std,variance,sum,l1,l2,abs_mean,abs_std,count,finite,zero,negative,p99.9,rms,'
         'zero_fraction')
EXACT = ('min', 'max', 'count', 'finite', 'zero', 'negative')


@contextlib.contextmanager
def saved(arrays):
    """A trial with these arrays at step 0."""
    with tempfile.TemporaryDirectory() as folder:
        trial = os.path.join(folder, 'trial')
        for name, array in arrays.items():
            np.save(os.path.join(folder, f'{name}.npy'), array)
        run('smd-save', trial, '--step', '0', '--end',
            *(f'{name}=@{os.path.join(folder, name)}.npy' for name in arrays))
        yield trial


class Reductions(unittest.TestCase):
    def compare(self, row, array, ddof=0):
        scale = max(np.abs(array.astype(np.float64)).sum(), 1e-300)
        for name, expected in numpy_figures(array, ddof).items():
            if name in EXACT or (array.size == 1 and name in ('mean', 'sum', 'median')):
                self.assertEqual(array.dtype.type(row[name]), expected, (row, name))
            elif name == 'median' and array.dtype.type(row[name]) == expected:
                pass
            else:
                bound = 1e-12 * (scale if name == 'sum' else scale / array.size if name == 'mean' else abs(expected))
                self.assertLessEqual(abs(row[name] - expected), bound + 1e-15, (row, name))

    def test_every_value_is_numpys(self):
        expected = values(REAL)
        found = rows(REAL, '-r', NAMES)
        self.assertEqual([(r['step'], r['tensor'], r['worker']) for r in found],
                         [(r['step'], r['tensor'], r['worker']) for r in expected])
        for row, value in zip(found, expected):
            self.compare(row, value['array'])
            self.assertEqual(row['source'], 'computed')

    def test_ddof(self):
        for row, value in zip(rows(REAL, '-r', NAMES, '--ddof', '1', '-e', 'weight$'), values(REAL, '-e', 'weight$')):
            self.compare(row, value['array'], 1)

    def test_pooling_is_of_one_array(self):
        all_values = values(WORKERS, '-w', 'all', '-c', 'weights')
        self.assertGreater(len({row['worker'] for row in all_values}), 1)
        for by in (['tensor'], ['step'], ['worker'], ['tensor', 'step'], ['step', 'worker'], []):
            found = rows(WORKERS, '-w', 'all', '-c', 'weights', '--by', ','.join(by), '-r', NAMES, '--source',
                         'computed')
            groups = {}
            for value in all_values:
                groups.setdefault(tuple(value[key] for key in by), []).append(value['array'])
            self.assertEqual(len(found), len(groups))
            for row in found:
                self.assertFalse({'tensor', 'step', 'worker'} - set(by) & set(row) - set(by) & set(row))
                self.compare(row, np.concatenate(groups[tuple(row[key] for key in by)]))

    def test_slice(self):
        for row, value in zip(rows(REAL, '-r', 'sum,count', '--slice', '::2', '-e', 'bias$'),
                              values(REAL, '-e', 'bias$')):
            self.assertEqual(row['count'], value['array'][::2].size)
            self.assertAlmostEqual(row['sum'], value['array'][::2].astype(np.float64).sum(), delta=1e-12)

    def test_slices_of_a_large_value(self):
        """A tensor whose elements are read block by block."""
        array = np.arange(4000 * 500, dtype=np.float64).reshape(4000, 500) - 1e6
        with tempfile.TemporaryDirectory() as folder:
            file, trial = os.path.join(folder, 'x.npy'), os.path.join(folder, 'trial')
            np.save(file, array)
            run('smd-save', trial, '--step', '0', f'x=@{file}', '--end')
            for text in ('::-3', '::3', '-7:10:-1', '1000::-2,17', '3,::-1', '...,490:', ':,::-90', '-1:5',
                         '5::-9,-2:-9:-3', '3999:3998', '2:9:-1', '-1,-1'):
                part = eval(f'array[{text}]')  # pylint: disable=eval-used
                row = json.loads(run('smd-reduce', trial, '--json', '-r', 'count,min,max,sum', f'--slice={text}'))[0]
                self.assertEqual((row['count'], row['sum']), (part.size, part.sum()), text)
                if part.size:
                    self.assertEqual((row['min'], row['max']), (part.min(), part.max()), text)

    def test_histogram(self):
        all_values = values(REAL, '-e', 'weight$')
        everything = np.concatenate([row['array'] for row in all_values]).astype(np.float64)
        found = rows(REAL, '-e', 'weight$', '--hist', '--bins', '7')
        for row, value in zip(found, all_values):
            counts, edges = np.histogram(value['array'].astype(np.float64), 7, (everything.min(), everything.max()))
            self.assertEqual(row['counts'], counts.tolist())
            np.testing.assert_allclose(row['edges'], edges, rtol=1e-14, atol=1e-16)
        whole = rows(REAL, '-e', 'weight$', '--hist', '--bins', '5:-1:1', '--by', '')
        self.assertEqual(whole[0]['counts'], np.histogram(everything, 5, (-1, 1))[0].tolist())

    def test_nan(self):
        for row, value in zip(rows('special_floats', '-e', 'float(32|64)', '-r', 'min,max,count,nan', '--nan', 'omit'),
                              values('special_floats', '-e', 'float(32|64)')):
            x = value['array'].astype(np.float64)
            self.assertEqual(row['nan'], np.isnan(x).sum())
            self.assertEqual(row['count'], x.size)
            rest = x[~np.isnan(x)]
            if rest.size:
                own = value['array'].dtype.type
                self.assertEqual((own(number(row['min'])), own(number(row['max']))), (rest.min(), rest.max()), row)
        for row, value in zip(rows('special_floats', '-e', 'float(32|64)', '-r', 'min'),
                              values('special_floats', '-e', 'float(32|64)')):
            if value['array'].size:
                x = value['array'].astype(np.float64)
                self.assertEqual(math.isnan(number(row['min'])), bool(np.isnan(x).any()))

    def test_threads_do_not_show(self):
        for options in ((), ('--by', 'tensor', '-r', 'std,l2,prod,abs_std'), ('--hist',), ('--pivot', '-r', 'l2')):
            outputs = {reduce(REAL, '--jsonl', '-j', str(jobs), *options) for jobs in (1, 2, 5)}
            self.assertEqual(len(outputs), 1, options)


class OwnPrecision(unittest.TestCase):
    def test_what_equals_an_element_has_its_type(self):
        chance = np.random.default_rng(5)
        arrays = {name: (chance.standard_normal(7) * 3).astype(name) for name in ('float16', 'float32', 'float64')}
        arrays.update({f'{name}_one': array[:1] for name, array in arrays.items()})
        arrays['int64'] = np.array([3, -5, 2**60 + 1])
        arrays['tenth'] = np.array(0.1, dtype=np.float32)
        with saved(arrays) as trial:
            found = {row[0]: row[1:] for row in
                     (line.split('\t') for line in
                      run('smd-reduce', trial, '-r', 'min,max,median,mean,sum,l2', '--tsv', '-H', '--columns',
                          'tensor,min,max,median,mean,sum,l2').decode().splitlines())}
        self.assertEqual(found['tenth'][:5], ['0.1'] * 5)
        self.assertEqual(float(found['tenth'][5]), float(np.float32(0.1)))
        self.assertEqual(found['int64'][:3], ['-5', str(2**60 + 1), '3'])
        for name, array in arrays.items():
            for text, expected in zip(found[name], (array.min(), array.max(), np.sort(array.ravel())[array.size // 2])):
                self.assertEqual(text, str(expected), name)  # NumPy too writes the shortest that reads back equal
            if array.size == 1:
                self.assertEqual(found[name][3:5], [str(array.ravel()[0])] * 2, name)
            elif name != 'int64':
                self.assertAlmostEqual(float(found[name][3]), array.astype(np.float64).mean(), delta=1e-15)

    def test_pooled_extremes_too_if_all_have_one_type(self):
        with saved({'a': np.array([0.1, 0.7], dtype=np.float32), 'b': np.array([0.3], dtype=np.float32)}) as trial:
            self.assertEqual(run('smd-reduce', trial, '--by', 'step', '-r', 'min,max', '--columns', 'min,max', '-H'),
                             b'0.1\t0.7\n')
        with saved({'a': np.array([0.1, 0.7], dtype=np.float32), 'b': np.array([0.3])}) as trial:
            self.assertEqual(run('smd-reduce', trial, '--by', 'step', '-r', 'min', '--columns', 'min'),
                             b'0.10000000149011612\n')


class Rows(unittest.TestCase):
    def compare(self, found, arrays, by):
        groups = {}
        for key, array in arrays:
            for i, row in enumerate(array.reshape(array.shape[0], -1)):
                groups.setdefault((*key, i), []).append(row)
        self.assertEqual([tuple(row[one] for one in (*by, 'row')) for row in found], sorted(groups))
        for row in found:
            x = np.concatenate(groups[tuple(row[one] for one in (*by, 'row'))]).astype(np.float64)
            self.assertEqual(row['count'], x.size)
            self.assertEqual(row['zero_fraction'], (x == 0).mean())
            for name, expected in (('l2', np.sqrt((x * x).sum())), ('rms', np.sqrt((x * x).mean()))):
                self.assertLessEqual(abs(row[name] - expected), 4 * math.ulp(expected))
            self.assertTrue(same_in_some_type(row['min'], x.min()))
            self.assertTrue(same_in_some_type(row['median'], np.median(x)))

    def test_rows_of_values_and_pooled(self):
        for trial, more in ((REAL, []), (WORKERS, ['-w', 'all'])):
            all_values = [row for row in values(trial, '-e', 'weight', *more) if len(row['shape']) > 1]
            self.assertGreater(len(all_values), 4)
            for by in (['step', 'tensor', 'worker'], ['tensor'], ['step', 'tensor']):
                found = rows(trial, '-e', 'weight', '--by', ','.join([*by, 'row']), '-r',
                             'zero_fraction,l2,rms,count,min,median', *more)
                self.compare(found, [(tuple(row[key] for key in by), row['array'].reshape(row['shape']))
                                     for row in all_values], by)

    def test_dead_rows_are_found_in_a_large_table(self):
        table = np.random.default_rng(2).standard_normal((3000, 300)).astype(np.float32)
        table[[17, 2999]] = 0
        with saved({'emb': table, 'bias': np.ones(3, dtype=np.float32)}) as trial:
            out, heard = run_and_hear('smd-reduce', trial, '--by', 'tensor,row', '-r', 'l2', '--where', 'l2 = 0',
                                      '--columns', 'row')
            self.assertEqual(out.split(), [b'17', b'2999'])
            self.assertEqual(heard, ["smd-reduce: warning: fewer than two axes, so no rows: 'bias'"])
            out = json.loads(run('smd-reduce', trial, '-n', 'emb', '--by', 'tensor,row', '-r', 'l2', '--sort', '-l2',
                                 '--limit', '2', '--json'))
            norms = np.sqrt((table.astype(np.float64) ** 2).sum(axis=1))
            self.assertEqual([row['row'] for row in out], np.argsort(-norms)[:2].tolist())
            run('smd-reduce', trial, '-n', 'bias', '--by', 'tensor,row', status=1)
        with saved({'none': np.zeros((0, 4)), 'empty': np.zeros((2, 0))}) as trial:
            found = json.loads(run('smd-reduce', trial, '--by', 'tensor,row', '-r', 'count', '--json'))
            self.assertEqual([(row['tensor'], row['row'], row['count']) for row in found],
                             [('empty', 0, 0), ('empty', 1, 0)])


class Across(unittest.TestCase):
    def test_mean_and_deviation_over_seeds(self):
        chance = np.random.default_rng(3)
        losses = chance.random((3, 5)).astype(np.float32)
        with tempfile.TemporaryDirectory() as folder:
            trials = [os.path.join(folder, f'seed{i}') for i in range(3)]
            for trial, series in zip(trials, losses):
                lines = [{'step': step, 'tensor': 'loss', 'value': float(x), 'dtype': 'float32'}
                         for step, x in enumerate(series) if trial != trials[2] or step < 4]
                subprocess.run(['smd-save', trial, '--jsonl', '--end'], input='\n'.join(map(json.dumps, lines)).encode(),
                               check=True, env={'PATH': os.environ['PATH'], **ENVIRONMENT})
            options = [*trials, '--across', '-r', 'mean,std,min,count', '--ddof', '1']
            found = json.loads(run('smd-reduce', *options, '--json'))
            self.assertEqual([list(row)[0] for row in found], ['trials'] * 5)
            for step, row in enumerate(found):
                x = losses[:3 if step < 4 else 2, step].astype(np.float64)
                self.assertEqual((row['trials'], row['count'], row['step']), (x.size, x.size, step))
                self.assertLessEqual(abs(row['mean'] - x.mean()), math.ulp(x.mean()))
                self.assertLessEqual(abs(row['std'] - x.std(ddof=1)), 1e-15)
                self.assertEqual(np.float32(row['min']), x.min())
            pivot = json.loads(run('smd-reduce', *trials, '--across', '-r', 'mean', '--pivot', '--json'))
            self.assertEqual([(row['trials'], row['loss']) for row in pivot],
                             [(row['trials'], row['mean']) for row in found])
            whole = json.loads(run('smd-reduce', *trials, '--across', '--by', 'tensor', '-r', 'count', '--json'))
            self.assertEqual([(row['trials'], row['count']) for row in whole], [(3, 14)])
            out, heard = run_and_hear('smd-reduce', trials[0], os.path.join(folder, 'absent'), '--across', '-r', 'count',
                                      '-s', '0', '--columns', 'trials,count', '-H', status=3)
            self.assertEqual(out, b'1\t1\n')
            self.assertIn('NotFound', heard[0])

    def test_saved_statistics_only_where_exact(self):
        trials = [os.path.join(TRIALS, SAVED)] * 2
        one = rows(SAVED, '-c', 'weights', '--source', 'saved', '-r', 'min,l2,std')
        out, heard = run_and_hear('smd-reduce', *trials, '--across', '-c', 'weights', '--source', 'saved', '-r',
                                  'min,l2,std', '--json')
        for pooled, single in zip(json.loads(out), one, strict=True):
            self.assertEqual((pooled['trials'], pooled['min'], pooled['std']), (2, single['min'], None))
            expected = float(np.float32(single['l2'])) * math.sqrt(2)
            self.assertLessEqual(abs(pooled['l2'] - expected), 2 * math.ulp(expected))
        self.assertIn('no std of', heard[0])


class SeriesColumns(unittest.TestCase):
    @staticmethod
    def smoothed(series, weight):
        """As TensorBoard's smoothing does it."""
        last, count, result = 0.0, 0, []
        for x in series:
            if math.isfinite(x):
                last = weight * last + (1 - weight) * x
                count += 1
                x = last / (1 - weight**count)
            result.append(x)
        return result

    def test_smooth(self):
        series = [1.5, 2.5, math.nan, -1.0, math.inf, 4.0, 4.25]
        text = {math.inf: 'Infinity'}
        lines = [json.dumps({'step': step, 'tensor': name, 'value': 'NaN' if math.isnan(x) else text.get(x, x),
                             'dtype': 'float64'}) for step, x in enumerate(series) for name in ('a', 'b')]
        with tempfile.TemporaryDirectory() as folder:
            trial = os.path.join(folder, 'trial')
            subprocess.run(['smd-save', trial, '--jsonl', '--end'], input='\n'.join(lines).encode(), check=True,
                           env={'PATH': os.environ['PATH'], **ENVIRONMENT})
            expected = self.smoothed(series, 0.6)
            for options, steps in (([], range(7)), (['-s', '-2:'], (5, 6)), (['--every', '3'], (0, 3, 6)),
                                   (['-s', '4'], (4,)), (['--limit', '1', '-s', '6'], (6,))):
                found = json.loads(run('smd-reduce', trial, '-n', 'a', '-r', 'mean,l1', '--smooth', '0.6', '--json',
                                       *options))
                self.assertEqual([row['step'] for row in found], list(steps))
                for row in found:
                    np.testing.assert_allclose(number(row['mean_smooth']), expected[row['step']], rtol=1e-15)
                    self.assertEqual(list(row)[-4:], ['mean', 'mean_smooth', 'l1', 'l1_smooth'])
            both = [trial, '--smooth', '0.6', '--jsonl', '-r', 'mean', '-s', '3:']
            self.assertEqual(run('smd-reduce', *both, trial), run('smd-reduce', *both) * 2)

    def test_times(self):
        columns = 'tensor,step,wall_time,time,elapsed'
        expected = run('smd-tensor', os.path.join(TRIALS, REAL), '-n', 'CrossEntropyLoss_output_0', '-s', '3:', '--tsv',
                       '--columns', columns)
        self.assertEqual(reduce(REAL, '-n', 'CrossEntropyLoss_output_0', '-s', '3:', '--tsv', '--columns', columns),
                         expected)
        self.assertGreater(len(expected.splitlines()), 3)
        pooled = rows(REAL, '--by', 'step', '-r', 'count', '--columns', 'step,time,wall_time,elapsed')
        self.assertEqual({(row['time'], row['wall_time'], row['elapsed']) for row in pooled}, {(None, None, None)})
        saved_ones = rows(SAVED, '-c', 'weights', '--source', 'saved', '-r', 'min', '--columns', 'wall_time,elapsed')
        self.assertTrue(all(row['wall_time'] > 1e9 and row['elapsed'] >= 0 for row in saved_ones))


class LongTrials(unittest.TestCase):
    """More values than are read at once: steps that share one step's event file."""

    def test_more_values_than_one_chunk_holds(self):
        source = os.path.join(TRIALS, REAL)
        index = os.path.join('index', '000000000')
        with open(os.path.join(source, index, '000000000000_worker_0.json'), encoding='utf-8') as file:
            first = json.load(file)
        steps = 9000 // len(first['tensor_payload'])
        self.assertGreater(steps * len(first['tensor_payload']), 8192)
        names = 'min,max,sum,count,l2'
        expected = {row['tensor']: row for row in rows(REAL, '-s', '0', '-r', names)}
        with tempfile.TemporaryDirectory() as trial:
            for folder in ('collections', 'events'):
                shutil.copytree(os.path.join(source, folder), os.path.join(trial, folder))
            os.makedirs(os.path.join(trial, index))
            for step in range(steps):
                first['meta']['mode_step'] = step
                with open(os.path.join(trial, index, f'{step:012}_worker_0.json'), 'w', encoding='utf-8') as file:
                    json.dump(first, file)
            open(os.path.join(trial, 'training_job_end.ts'), 'wb').close()
            outputs = {run('smd-reduce', trial, '--jsonl', '-r', names, '-j', jobs) for jobs in ('1', '3')}
            self.assertEqual(len(outputs), 1)
            found = [json.loads(line) for line in outputs.pop().splitlines()]
            self.assertEqual([(row['step'], row['tensor']) for row in found],
                             [(step, name) for step in range(steps) for name in sorted(expected)])
            for row in found:
                for name in names.split(','):
                    self.assertEqual(row[name], expected[row['tensor']][name], row)
            for one in expected.values():
                if one['count'] == 1:  # then the sum is in the element's type
                    one['sum'] = float(np.float32(one['sum']))
            pooled = json.loads(run('smd-reduce', trial, '--json', '-r', names, '--by', 'tensor'))
            self.assertEqual([row['tensor'] for row in pooled], sorted(expected))
            for row in pooled:
                one = expected[row['tensor']]
                self.assertEqual((row['min'], row['max'], row['count']),
                                 (one['min'], one['max'], steps * one['count']))
                self.assertLessEqual(abs(row['l2'] - one['l2'] * math.sqrt(steps)), 1e-13 * row['l2'])
                self.assertLessEqual(abs(row['sum'] - one['sum'] * steps), 2e-16 * steps * abs(one['sum']))
            by_step = json.loads(run('smd-reduce', trial, '--json', '-r', 'count', '--by', 'step'))
            self.assertEqual([(row['step'], row['count']) for row in by_step],
                             [(step, sum(row['count'] for row in expected.values())) for step in range(steps)])


class Shards(unittest.TestCase):
    def shards(self, folder, count, *options):
        """Writes files with processes that run at the same time."""
        files = [os.path.join(folder, f'{i}.jsonl') for i in range(1, count + 1)]
        processes = [subprocess.Popen(['smd-reduce', *options, '--jsonl', '--shard', f'{i}/{count}', '-o', file],
                                      env={'PATH': os.environ['PATH'], **ENVIRONMENT})
                     for i, file in enumerate(files, 1)]
        self.assertEqual([process.wait() for process in processes], [0] * count)
        return files

    def test_rows_of_steps_merge_to_the_same_numbers(self):
        both = [os.path.join(TRIALS, REAL), os.path.join(TRIALS, SAVED), os.path.join(TRIALS, 'dtypes'),
                os.path.join(TRIALS, 'special_floats')]
        options = ['-r', 'min,max,mean,std,variance,sum,prod,l1,l2,count']
        with tempfile.TemporaryDirectory() as folder:
            for by in ([], ['--by', 'step,tensor'], ['--by', 'step', '-x', 'complex']):
                merged = set()
                for count in (1, 3, 50):  # more than there are steps
                    files = self.shards(folder, count, *both, *options, *by)
                    merged.add(run('smd-reduce', '--merge', *files, '--jsonl'))
                self.assertEqual(len(merged), 1, by)
                whole = json.loads(run('smd-reduce', *both, *options, *by, '--json'))
                for ours, expected in zip(map(json.loads, merged.pop().splitlines()), whole, strict=True):
                    self.assertEqual(list(ours), list(expected))
                    for key, value in expected.items():
                        self.assertTrue(same_in_some_type(value, ours[key]), (key, value, ours[key]))

    def test_pooled_rows_merge_exactly_where_promised(self):
        trial = os.path.join(TRIALS, REAL)
        names = 'min,max,count,zero,negative,finite,mean,sum,std,variance,l1,l2,rms,abs_std,prod'
        with tempfile.TemporaryDirectory() as folder:
            for by in ('tensor', 'worker', ''):
                options = [trial, '-r', names, '--by', by]
                files = self.shards(folder, 3, *options)
                merged = json.loads(run('smd-reduce', '--merge', *files, '--json'))
                whole = json.loads(run('smd-reduce', *options, '--json'))
                self.assertEqual(len(merged), len(whole))
                for ours, expected in zip(merged, whole):
                    self.assertEqual(list(ours), list(expected))
                    for key, value in expected.items():
                        if isinstance(value, float) and key not in EXACT:
                            self.assertLessEqual(abs(ours[key] - value), 2 * math.ulp(value), (key, ours, expected))
                        else:
                            self.assertTrue(same_in_some_type(value, ours[key]), key)

    def test_exact_files(self):
        trial = os.path.join(TRIALS, REAL)
        with tempfile.TemporaryDirectory() as folder:
            options = [trial, '-r', 'min,max,count,zero', '--by', 'tensor']
            files = self.shards(folder, 4, *options)
            merged = json.loads(run('smd-reduce', '--merge', *files, '--json'))
            for ours, expected in zip(merged, json.loads(run('smd-reduce', *options, '--json')), strict=True):
                self.assertTrue(all(same_in_some_type(value, ours[key]) for key, value in expected.items()), ours)

    def test_saved_figures_are_pooled_across_shards(self):
        trial = os.path.join(TRIALS, SAVED)
        names = ('min', 'max', 'l1', 'l2')
        options = [trial, '-c', 'weights', '--source', 'saved', '-r', ','.join(names)]
        # The text of a saved reduction, and of the extremes of several, is the shortest of its float32.
        def exact(row):
            return {key: float(np.float32(value)) if key in names else value for key, value in row.items()}
        single = [exact(row) for row in json.loads(run('smd-reduce', *options, '--json'))]
        self.assertGreater(len({row['step'] for row in single}), 2)
        with tempfile.TemporaryDirectory() as folder:
            for by in ('tensor', ''):
                groups = {}
                for row in single:
                    groups.setdefault(row['tensor'] if by else None, []).append(row)
                files = self.shards(folder, 3, *options, '--by', by)
                merged = json.loads(run('smd-reduce', '--merge', *files, '--json'))
                whole = json.loads(run('smd-reduce', *options, '--by', by, '--json'))
                for found in (merged, whole):
                    self.assertEqual(len(found), len(groups))
                    for row in found:
                        parts = groups[row.get('tensor')]
                        self.assertEqual(row['source'], 'saved')
                        self.assertEqual(exact(row)['min'], min(part['min'] for part in parts))
                        self.assertEqual(exact(row)['max'], max(part['max'] for part in parts))
                        l1 = math.fsum(part['l1'] for part in parts)
                        l2 = math.sqrt(math.fsum(part['l2'] ** 2 for part in parts))
                        self.assertLessEqual(abs(row['l1'] - l1), 2 * math.ulp(l1))
                        self.assertLessEqual(abs(row['l2'] - l2), 4 * math.ulp(l2))

    def save(self, folder, lines):
        trial = os.path.join(folder, 'trial')
        subprocess.run(['smd-save', trial, '--jsonl', '--end'], input='\n'.join(map(json.dumps, lines)).encode(),
                       check=True, env={'PATH': os.environ['PATH'], **ENVIRONMENT})
        return trial

    def test_a_saved_figure_that_cannot_be_pooled_is_computed(self):
        lines = []
        for step in range(3):
            lines += [{'step': step, 'tensor': 'x', 'value': [step, 5]},
                      {'step': step, 'tensor': 'smdebug/reductions/std/x', 'value': 2.5}]
        with tempfile.TemporaryDirectory() as folder:
            options = [self.save(folder, lines), '--by', 'tensor', '-r', 'std']
            files = self.shards(folder, 3, *options)
            merged = json.loads(run('smd-reduce', '--merge', *files, '--json', '--strict'))[0]
            expected = np.std([0, 5, 1, 5, 2, 5])
            self.assertLessEqual(abs(merged['std'] - expected), 2 * math.ulp(expected))
            self.assertEqual(merged['source'], 'computed')
            # A single row has nothing to be pooled with.
            self.assertEqual(json.loads(run('smd-reduce', '--merge', files[0], '--json'))[0]['std'], 2.5)
            saved = self.shards(folder, 3, *options, '--source', 'saved')
            lines = run_and_hear('smd-reduce', '--merge', '--strict', *saved, status=1)[1]
            self.assertEqual(lines, ["smd-reduce: TensorUnavailableForStep: no std of 'x', though shards have it: to pool "
                                     'a statistic, all that is pooled must have it, or its values'])

    def test_what_some_steps_saved_merges_to_the_whole(self):
        chance = random.Random(7)
        for _ in range(8):
            lines = []
            for step in range(6):
                for tensor in 'ab':
                    for worker in ('worker_0', 'worker_1'):
                        at = {'step': step, 'worker': worker}
                        value = [chance.randint(-9, 9) for _ in range(chance.randint(0, 3))]
                        forms = [{**at, 'tensor': tensor, 'value': value, 'dtype': 'int64'}]
                        forms += [{**at, 'tensor': f'smdebug/reductions/{name}/{tensor}',
                                   'value': chance.choice([chance.randint(-9, 9), chance.randint(-99, 99) / 8])}
                                  for name in ('min', 'sum', 'std')]
                        lines += [form for form in forms if chance.random() < 0.9] or forms[:1]
            with tempfile.TemporaryDirectory() as folder:
                trial = self.save(folder, lines)
                for by in ('tensor', 'worker', '', 'tensor,worker', 'step'):
                    for more in ([], ['--source', 'saved'], ['-x', '^b'], ['--source', 'computed']):
                        options = [trial, '-w', 'all', '-r', 'min,sum,std,mean', '--by', by, *more]
                        merged = json.loads(run('smd-reduce', '--merge', *self.shards(folder, 3, *options), '--json'))
                        for ours, expected in zip(merged, rows(trial, *options[1:]), strict=True):
                            self.assertEqual(list(ours), list(expected))
                            for key, value in expected.items():
                                if isinstance(value, float):
                                    self.assertLessEqual(abs(ours[key] - value), 2 * math.ulp(value), (options, key))
                                else:
                                    self.assertEqual(ours[key], value, (options, key, expected))

    def test_what_cannot_be_merged(self):
        trial = os.path.join(TRIALS, REAL)
        with tempfile.TemporaryDirectory() as folder:
            run('smd-reduce', '--merge', *self.shards(folder, 2, trial, '-r', 'median'), status=2)
            run('smd-reduce', '--merge', *self.shards(folder, 2, trial, '-r', 'p99'), status=2)
            first = self.shards(folder, 1, trial, '-r', 'mean')[0]
            other = os.path.join(folder, 'other.jsonl')
            run('smd-reduce', trial, '-r', 'max', '--shard', '1/1', '--jsonl', '-o', other)
            run('smd-reduce', '--merge', first, other, status=2)
            run('smd-reduce', '--merge', first, first, status=2)  # a shard twice
            run('smd-reduce', trial, '--jsonl', '-o', other)
            run('smd-reduce', '--merge', other, status=2)  # not a shard
            run('smd-reduce', '--merge', os.path.join(folder, 'absent'), status=3)

    def refused(self, *files):
        lines = run_and_hear('smd-reduce', '--merge', *files, status=2)[1]
        self.assertEqual(lines[-1], "Try 'smd-reduce --help'.")
        return lines[-2]

    def test_parts_of_another_whole(self):
        """Pooled rows do not show by themselves whether they include the same elements."""
        steps = int(run('smd-ls', os.path.join(TRIALS, REAL), '--summary', '--get', 'steps'))
        options = [os.path.join(TRIALS, REAL), '-r', 'count', '--by', '']
        with tempfile.TemporaryDirectory() as folder:
            first, second = self.shards(folder, 2, *options)
            for twice in ((first, second, first), (second, second)):
                self.assertIn('has this row already', self.refused(*twice))
            both = os.path.join(folder, 'both')
            with open(both, 'wb') as out:
                for file in (first, second, first):
                    with open(file, 'rb') as part:
                        out.write(part.read())
            self.assertIn(f'{both}: line 5: part 1 of 2 has this row already', self.refused(both))
            another = os.path.join(folder, 'another')
            run('smd-reduce', *options, '--shard', '2/3', '--jsonl', '-o', another)
            self.assertIn('a part of 3, the first is one of 2', self.refused(first, another))
            run('smd-reduce', *options, '-s', ':-1', '--shard', '2/2', '--jsonl', '-o', another)
            self.assertIn(f'a part of {steps - 1} steps', self.refused(first, another))

    def test_parts_that_are_not_there(self):
        options = [os.path.join(TRIALS, REAL), '-r', 'count', '--by', '']
        steps = int(run('smd-ls', os.path.join(TRIALS, REAL), '--summary', '--get', 'steps'))
        with tempfile.TemporaryDirectory() as folder:
            files = self.shards(folder, steps + 2, *options)  # the last two have nothing to do
            self.assertEqual(run_and_hear('smd-reduce', '--merge', *files)[1], [])
            self.assertEqual(run_and_hear('smd-reduce', '--merge', *files[:steps])[1], [])
            self.assertEqual(run('smd-reduce', '--merge', *reversed(files)), run('smd-reduce', '--merge', *files))
            lines = run_and_hear('smd-reduce', '--merge', *files[1:2], *files[3:steps])[1]
            self.assertEqual(lines, [f"smd-reduce: warning: '{options[0]}': there is no row from parts 1, 3 of {steps + 2}; "
                                     'statistics cover only the other parts'])
            run('smd-reduce', '--merge', '--strict', *files[1:], status=1)
            run('smd-reduce', '--merge', '--strict', *files)

    def test_places_of_schedulers(self):
        options = ('--jsonl', '-r', 'mean,count')
        second = reduce(REAL, *options, '--shard', '2/3')
        self.assertNotEqual(second, reduce(REAL, *options, '--shard', '1/3'))
        # The environments of Slurm 22.05, AWS Batch and GNU parallel. A batch script of several tasks runs once itself.
        batch = {'SLURM_PROCID': '0', 'SLURM_NTASKS': '4'}
        step = {'SLURM_NTASKS': '3', 'SLURM_STEP_NUM_TASKS': '3'}
        of_three = {'SLURM_ARRAY_TASK_COUNT': '3', 'SLURM_ARRAY_TASK_MIN': '1', 'SLURM_ARRAY_TASK_STEP': '1'}
        for environment, shard in (({'SLURM_PROCID': '1', **step}, 'auto'),
                                   ({'SLURM_PROCID': '1', **step, **of_three, 'SLURM_ARRAY_TASK_ID': '3'}, 'auto'),
                                   ({**batch, **of_three, 'SLURM_ARRAY_TASK_ID': '2'}, 'auto'),
                                   ({**batch, **of_three, 'SLURM_ARRAY_TASK_ID': '2'}, 'auto/3'),
                                   ({**of_three, 'SLURM_ARRAY_TASK_ID': '5', 'SLURM_ARRAY_TASK_STEP': '4'}, 'auto'),
                                   ({'SLURM_ARRAY_TASK_ID': '2', 'SLURM_ARRAY_TASK_COUNT': '3'}, 'auto'),
                                   ({'SLURM_ARRAY_TASK_ID': '1', 'SLURM_ARRAY_TASK_COUNT': '3',
                                     'SLURM_ARRAY_TASK_MIN': '0', 'SLURM_PROCID': '0', 'SLURM_NTASKS': '1'}, 'auto'),
                                   ({'AWS_BATCH_JOB_ARRAY_INDEX': '1'}, 'auto/3'),
                                   ({'AWS_BATCH_JOB_ARRAY_INDEX': '1', 'AWS_BATCH_JOB_ARRAY_SIZE': '3'}, 'auto'),
                                   ({**batch, 'PARALLEL_SEQ': '2'}, 'auto/3')):
            self.assertEqual(reduce(REAL, *options, '--shard', shard, environment=environment), second, environment)
        reduce(REAL, '--shard', 'auto', status=2)
        self.assertEqual(reduce(REAL, *options, '--shard', 'auto', environment=batch),
                         reduce(REAL, *options, '--shard', '1/1'))
        for environment, shard in (({'AWS_BATCH_JOB_ARRAY_INDEX': '1'}, 'auto'),
                                   ({'SLURM_PROCID': '3', **step}, 'auto'),
                                   ({'SLURM_PROCID': '1', **step}, 'auto/4'),
                                   ({'PARALLEL_SEQ': '2'}, 'auto'),
                                   ({'PARALLEL_SEQ': '4'}, 'auto/3'),
                                   (batch, 'auto/4'),
                                   # Run again by itself: it is the second of how many?
                                   ({'SLURM_ARRAY_TASK_ID': '2', 'SLURM_ARRAY_TASK_COUNT': '1',
                                     'SLURM_ARRAY_TASK_MIN': '2'}, 'auto'),
                                   ({**of_three, 'SLURM_ARRAY_TASK_ID': '2', 'SLURM_ARRAY_TASK_COUNT': '1'}, 'auto/3')):
            reduce(REAL, '--shard', shard, status=2, environment=environment)


def main():
    global TRIALS
    parser = argparse.ArgumentParser()
    parser.add_argument('--tools', action='append', required=True)
    parser.add_argument('--trials', required=True)
    options = parser.parse_args()
    TRIALS = options.trials
    os.environ['PATH'] = os.pathsep.join(options.tools + [os.environ['PATH']])
    ENVIRONMENT['PATH'] = os.environ['PATH']
    unittest.main(argv=[sys.argv[0]])


if __name__ == '__main__':
    main()
