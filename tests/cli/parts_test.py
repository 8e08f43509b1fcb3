#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""parts_test.py --tools DIR... --trials DIR: smd-rule in parts (--shard) merged (--merge) against the whole, in every
format; what is wrong with parts; and trials that are visited side by side against the same one after the other."""

import argparse
import functools
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TRIALS = ''
ENVIRONMENT = {'LC_ALL': 'C.UTF-8', 'TERM': 'dumb', 'TZ': 'UTC'}
FORMATS = ('text', 'tsv', 'csv', 'json', 'jsonl', 'junit', 'tap', 'github', 'sagemaker')
RULES = ('-r', 'VanishingGradient', '-r', 'ExplodingTensor', '-r', 'AllZero', '-p',
         'AllZero.collection_names=gradients')
PART_KEYS = ['record', 'part', 'parts', 'trials', 'several', 'whole', 'records', 'status']


def run(*command, status=None, folder=None, stdin=None, environment=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, cwd=folder, input=stdin,
                          env={**ENVIRONMENT, **(environment or {})}, timeout=300)
    if status is not None and done.returncode != status:
        raise AssertionError(f'{command}: {done.returncode}, not {status}: {done.stderr.decode()}')
    return done


def trials():
    """Trials for rules, sound and not: their statuses are 0, 1 and 5, and 3 for the third, which is none."""
    folder = os.path.join(TRIALS, 'rules')
    names = sorted(name for name in os.listdir(folder)
                   if name != 'configs' and os.path.isdir(os.path.join(folder, name)))
    found = [os.path.join(folder, name) for name in names]
    found.insert(2, os.path.join(TRIALS, 'none-of-that-name'))
    return found


def trial(name):
    return os.path.join(TRIALS, 'rules', name)


@functools.cache
def whole(*words):
    """What a command prints of all trials at once."""
    return run('smd-rule', *trials(), *words)


@functools.cache
def written_parts(count, options, given):
    """What so many parts write, and their statuses."""
    contents = []
    statuses = []
    with tempfile.TemporaryDirectory() as folder:
        for i in range(1, count + 1):
            done = run('smd-rule', *given, *options, '--shard', f'{i}/{count}', '--jsonl', '-o', 'part', folder=folder)
            statuses.append(done.returncode)
            with open(os.path.join(folder, 'part'), 'rb') as file:
                contents.append(file.read())
    return contents, statuses


def timeless(text):
    """Without what a clock tells: elapsed seconds, and when and where a JUnit report was made."""
    text = re.sub(rb'"elapsed":[-0-9.e+]+', b'"elapsed":0', text)
    return re.sub(rb' (time|timestamp)="[^"]*"', rb' \1=""', text)


def without_elapsed(text, form):
    """The same also of rows, where the column has no name beside it."""
    if form != 'tsv':
        return timeless(text)
    lines = [line.split(b'\t') for line in text.split(b'\n')]
    column = lines[0].index(b'elapsed')
    return [line[:column] + line[column + 1:] for line in lines]


class Parts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def parts(self, count, *options, given=None, prefix='part'):
        """The files of so many parts, and their statuses."""
        contents, statuses = written_parts(count, options, tuple(given or trials()))
        files = [f'{prefix}-{i}.jsonl' for i in range(1, count + 1)]
        for name, content in zip(files, contents):
            with open(os.path.join(self.folder, name), 'wb') as file:
                file.write(content)
        return files, statuses

    def merge(self, *words, **more):
        return run('smd-rule', '--merge', *words, folder=self.folder, **more)

    def test_merged_parts_are_the_whole_in_every_format(self):
        self.assertGreater(len(trials()), 8)
        for more, count in (((), 1), ((), 3), (('-k',), 3), ((), len(trials()) + 2)):
            files, statuses = self.parts(count, *RULES, *more)
            self.assertIn(3, statuses)  # one path is not a trial; elsewhere a rule triggers
            self.assertEqual(1 in statuses, count > 1)
            for form in FORMATS:
                with self.subTest(form=form, more=more, count=count):
                    right = whole(*RULES, *more, '-f', form)
                    merged = self.merge(*files, '-f', form)
                    self.assertEqual(merged.returncode, right.returncode)
                    if form == 'csv':
                        continue  # elapsed has no name beside it; tsv has the same cells
                    self.assertEqual(without_elapsed(merged.stdout, form), without_elapsed(right.stdout, form))
                    self.assertEqual(merged.stderr, b'')

    def test_csv_of_what_no_clock_tells(self):
        files, _ = self.parts(3, *RULES)
        columns = ('-f', 'csv', '--columns', 'trial,rule,status,step,tensor,value,threshold,message,params,pairs')
        self.assertEqual(self.merge(*files, *columns).stdout, whole(*RULES, *columns).stdout)

    def test_the_order_of_files_does_not_count(self):
        files, _ = self.parts(3, *RULES)
        merged = self.merge(*files, '-f', 'json').stdout
        self.assertEqual(self.merge(*reversed(files), '-f', 'json').stdout, merged)
        with open(os.path.join(self.folder, 'all.jsonl'), 'wb') as file:  # cat part-3 part-1 part-2
            for name in (files[2], files[0], files[1]):
                with open(os.path.join(self.folder, name), 'rb') as part:
                    file.write(part.read())
        self.assertEqual(self.merge('all.jsonl', '-f', 'json').stdout, merged)

    def test_parts_follow_the_trials_and_end_with_their_own_line(self):
        files, statuses = self.parts(3, *RULES)
        names = []
        wholes = set()
        for number, (file, status) in enumerate(zip(files, statuses), 1):
            with open(os.path.join(self.folder, file), encoding='utf-8') as lines:
                records = [json.loads(line) for line in lines]
            last = records.pop()
            self.assertEqual(list(last), PART_KEYS)
            self.assertEqual([last[key] for key in PART_KEYS[:5]], ['part', number, 3, len(trials()), True])
            self.assertEqual(last['records'], len(records))
            self.assertEqual(last['status'], status)
            wholes.add(last['whole'])
            names += [name for name, _ in itertools.groupby(record['trial'] for record in records)]
        self.assertEqual(len(wholes), 1)
        self.assertEqual(names, trials())

    def test_lists_and_schedulers(self):
        listed = '\n'.join(trials()).encode()
        second = run('smd-rule', *trials(), *RULES, '--shard', '2/3', '--jsonl').stdout
        for environment, shard in (({}, '2/3'),
                                   ({'SLURM_ARRAY_TASK_ID': '2', 'SLURM_ARRAY_TASK_COUNT': '3'}, 'auto'),
                                   ({'AWS_BATCH_JOB_ARRAY_INDEX': '1'}, 'auto/3'),
                                   ({'PARALLEL_SEQ': '2'}, 'auto/3')):
            done = run('smd-rule', '-', *RULES, '--shard', shard, '--jsonl', stdin=listed, environment=environment)
            self.assertEqual(timeless(done.stdout), timeless(second))

    def test_a_scheduler_that_takes_success_only(self):
        given = (trial('pt-healthy'), trial('pt-exploding'))
        run('smd-rule', *given, *RULES, status=1)
        files, statuses = self.parts(2, *RULES, '--exit-zero', given=given)
        self.assertEqual(statuses, [0, 0])
        self.merge(*files, status=1)
        self.merge(*files, '--exit-zero', status=0)

    def test_results_of_no_part_come_as_they_are_given(self):
        names = ['pt-healthy', 'pt-exploding', 'class-edge']
        for name in names:
            run('smd-rule', trial(name), *RULES, '--jsonl', '-o', name, folder=self.folder)
        right = run('smd-rule', *map(trial, names), *RULES, '-f', 'text', status=1)
        merged = self.merge(*names, '-f', 'text', status=1)
        self.assertEqual(merged.stdout, right.stdout)
        self.merge('class-edge', '--columns', 'trial', status=5)
        rows = self.merge(*reversed(names), '--columns', 'trial,status', '-H').stdout.decode().splitlines()
        backwards = [row.split()[0] for row in rows]
        self.assertEqual([name for name, _ in itertools.groupby(backwards)], [trial(name) for name in reversed(names)])

    def test_a_part_that_is_not_there(self):
        files, _ = self.parts(4, *RULES)
        done = self.merge(files[0], files[3], '-f', 'tap', status=3)
        each = len(trials()) / 4
        between = sum(1 for i in range(len(trials())) if each <= i < 3 * each)
        self.assertRegex(done.stderr.decode(), r'^smd-rule: NotFound: no results of parts 2, 3 of 4: nothing is known of '
                                               r'\d+ trials\n$')
        self.assertLessEqual(abs(int(re.search(r'of (\d+) trials', done.stderr.decode())[1]) - between), 2)
        self.assertIn(b'TAP version 13', done.stdout)
        self.merge(*files[:3], 'none.jsonl', status=3)

    def test_a_part_that_was_cut_off(self):
        files, _ = self.parts(3, *RULES)
        with open(os.path.join(self.folder, files[1]), 'r+b') as file:
            lines = file.read().splitlines(True)
            file.truncate(sum(map(len, lines[:-1])))
        done = self.merge(*files, '-f', 'text', status=3)  # 3 before 4: it is not there either
        self.assertIn(f'smd-rule: Damaged: {files[1]}: no line says of which part', done.stderr.decode())
        self.assertIn('no results of part 2 of 3', done.stderr.decode())
        self.assertEqual(len(done.stderr.splitlines()), 2)
        written_parts.cache_clear()
        again, _ = self.parts(3, *RULES, prefix='again')
        done = self.merge(*files, again[1], '-f', 'json', status=3)  # one path is not a trial
        self.assertEqual(timeless(done.stdout), timeless(whole(*RULES, '-f', 'json').stdout))

    def test_lines_of_others_are_one_message(self):
        files, _ = self.parts(2, *RULES)
        path = os.path.join(self.folder, files[0])
        with open(path, 'rb') as file:
            lines = file.read().splitlines(True)
        for foreign in (b'\xff\x00 not JSON\n', b'{"trial":"x","min":1}\n', b'[' * 100000 + b'\n', b'7\n',
                        b'{"record":"result"}\n', b'{"record":"part","part":0,"parts":2}\n', lines[0][:-10] + b'\n',
                        lines[0].replace(b'"NoIssuesFound"', b'"Fine"').replace(b'"IssuesFound"', b'"Bad"')
                        .replace(b'"NotEvaluated"', b'"None"')):
            with self.subTest(foreign[:30]):
                with open(path, 'wb') as file:
                    file.writelines([lines[0], foreign, foreign] + lines[1:])
                done = self.merge(*files, '-f', 'json')
                self.assertEqual(done.returncode, 3)  # one path is not a trial; 3 before 4
                self.assertEqual(done.stderr.decode(),
                                 f'smd-rule: Damaged: {files[0]}: line 2 (byte {len(lines[0])}) and 1 more: no whole '
                                 'record of smd-rule: --merge takes what --jsonl wrote, without --columns\n')
                self.assertEqual(timeless(done.stdout), timeless(whole(*RULES, '-f', 'json').stdout))

    def test_lines_that_were_lost(self):
        files, _ = self.parts(2, *RULES, given=(trial('pt-healthy'), trial('pt-exploding')))
        path = os.path.join(self.folder, files[0])
        with open(path, 'rb') as file:
            lines = file.read().splitlines(True)
        with open(path, 'wb') as file:
            file.writelines(lines[1:])
        done = self.merge(*files, status=4)
        self.assertEqual(done.stderr.decode(), f'smd-rule: Damaged: {files[0]}: part 1 of 2 had 3 records, of which 2 '
                                               'are there\n')

    def test_parts_that_do_not_go_together(self):
        files, _ = self.parts(3, *RULES)
        others, _ = self.parts(2, *RULES, prefix='two')
        rules, _ = self.parts(3, '-r', 'AllZero', '-p', 'collection_names=gradients', prefix='rules')
        fewer, _ = self.parts(3, *RULES, given=trials()[:-1], prefix='fewer')
        for words, text in (((*files, files[1]), 'part 2 of 3 is given twice: in part-2.jsonl and in part-2.jsonl'),
                            ((files[0], others[1]), 'two-2.jsonl: part 2 of 2, but part-1.jsonl is part 1 of 3'),
                            ((files[0], rules[1]),
                             'rules-2.jsonl: a part of other trials, or by other rules, than part-1.jsonl'),
                            ((files[0], fewer[1]),
                             'fewer-2.jsonl: a part of other trials, or by other rules, than part-1.jsonl')):
            with self.subTest(words):
                done = self.merge(*words, '-f', 'text', status=2)
                self.assertEqual(done.stderr.decode().splitlines()[0], f'smd-rule: Usage: {text}')
                self.assertEqual(done.stdout, b'')

    def test_usage(self):
        files, _ = self.parts(2, *RULES)
        for words in (('--shard', '1/2'), ('-r', 'AllZero'), ('-k',), ('-s', '3'), ('-F',), ('--explain',), ('--list',),
                      ('--on-trigger', 'true'), ('--findings',)):
            with self.subTest(words):
                self.merge(*files, *words, status=2)
        for words in (('--sort', 'rule'), ('--limit', '1'), ('-F',), ('--explain',), ('--check-config',)):
            with self.subTest(words):
                run('smd-rule', *trials(), *RULES, '--shard', '1/2', *words, status=2)
        self.merge(status=2)
        self.merge('.', status=3)
        os.mkfifo(os.path.join(self.folder, 'pipe'))
        with subprocess.Popen(['sh', '-c', 'echo >pipe'], cwd=self.folder):
            self.merge('pipe', status=3)

    def test_nothing_to_merge(self):
        with open(os.path.join(self.folder, 'empty.jsonl'), 'wb'):
            pass
        done = self.merge('empty.jsonl', '-f', 'json', status=5)
        self.assertEqual(done.stdout, b'[]\n')
        self.assertEqual(done.stderr, b'smd-rule: warning: there is no result in what is given\n')

    def test_sorted_and_limited_when_merged(self):
        files, _ = self.parts(3, *RULES)
        words = ('--sort', 'status,-trial', '--limit', '7', '--columns', 'status,trial,rule')
        self.assertEqual(self.merge(*files, *words).stdout, whole(*RULES, *words).stdout)


class SideBySide(unittest.TestCase):
    """What is printed and said does not depend on the number of threads."""

    def compare(self, *command):
        alone = run(*command, '-j', '1')
        for jobs in ('2', '16'):
            with self.subTest(command=command[0], jobs=jobs):
                several = run(*command, '-j', jobs)
                self.assertEqual(several.returncode, alone.returncode)
                self.assertEqual(timeless(several.stdout), timeless(alone.stdout))
                self.assertEqual(several.stderr, alone.stderr)
        return alone

    def test_rule(self):
        for more in (('-f', 'json'), ('-f', 'json', '-k'), ('-f', 'junit'), ('-f', 'text')):
            done = self.compare('smd-rule', *trials() * 2, *RULES, *more)
            self.assertEqual(done.returncode, 3)
            self.assertIn(b'none-of-that-name', done.stderr)

    def test_summary(self):
        columns = 'trial,layout,status,tensors,collections,workers,modes,steps,last_step,bytes'  # age changes
        for more in (('--json',), ('--tsv',), ('-f', 'table'), ('--limit', '7'), ('--sort', 'steps', '--limit', '9')):
            self.compare('smd-ls', '--summary', *trials() * 2, '--columns', columns, *more)

    def test_views(self):
        for view in ('--steps', '--modes', '--workers', '--collections', '--locations', '-l', '--tree'):
            self.compare('smd-ls', view, *trials())

    def test_reduce(self):
        for more in (('--tsv',), ('--jsonl',), ('-f', 'table'), ('--by', 'step'), ('--limit', '11'),
                     ('--sort', '-mean', '--limit', '20')):
            self.compare('smd-reduce', *trials(), '-c', 'gradients', '-r', 'mean,l2', *more)

    def test_a_trial_of_many_rows_waits_for_its_turn(self):
        large = max(trials()[3:], key=lambda name: len(run('smd-ls', '--locations', name).stdout))
        self.compare('smd-ls', '--locations', *(trials()[:2] + [large]) * 4)

    def test_an_error_ends_it_where_it_would_alone(self):
        self.assertEqual(self.compare('smd-ls', '-e', '(', *trials()).returncode, 2)

    def test_a_list_that_comes_slowly(self):
        names = trials()[:2] + trials()[3:8]
        process = subprocess.Popen(['smd-ls', '--summary', '--get', 'steps', '-j', '4', '-'], env=ENVIRONMENT,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for name in names:
            process.stdin.write(name.encode() + b'\n')
            process.stdin.flush()
        output, _ = process.communicate(timeout=60)
        self.assertEqual(output, run('smd-ls', '--summary', '--get', 'steps', '-j', '1', *names).stdout)
        # The first is shown before there is a second: nobody waits for a list to end.
        process = subprocess.Popen(['smd-rule', '-r', 'AllZero', '-p', 'collection_names=gradients', '--jsonl', '-j', '4',
                                    '-'], env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(names[0].encode() + b'\n')
        process.stdin.flush()
        self.assertEqual(json.loads(process.stdout.readline())['trial'], names[0])
        process.stdin.close()
        process.stdout.close()
        process.wait(timeout=60)


def main():
    global TRIALS  # pylint: disable=global-statement
    parser = argparse.ArgumentParser()
    parser.add_argument('--tools', nargs='+', required=True)
    parser.add_argument('--trials', required=True)
    arguments = parser.parse_args()
    TRIALS = os.path.abspath(arguments.trials)
    ENVIRONMENT['PATH'] = os.pathsep.join(list(map(os.path.abspath, arguments.tools)) + [os.environ['PATH']])
    os.environ['PATH'] = ENVIRONMENT['PATH']
    unittest.main(argv=[sys.argv[0], '-v'])


main()
