#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""slurm_test.py --tools DIR... --trials DIR --recipe FILE --run OnSlurm|InParallel: the scripts of FILE (docs/scale.md),
and what can go wrong with them, on a real Slurm; or the same parts by GNU parallel. Slurm needs root; the cluster is one
node on the loopback, stopped at the end."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from slurm_cluster import Cluster, why_not

TRIALS = ''
RECIPE = ''
ENVIRONMENT = {'LC_ALL': 'C.UTF-8', 'TERM': 'dumb', 'TZ': 'UTC'}
RULES = '[{"RuleConfigurationName": "exploding", "RuleParameters": {"rule_to_invoke": "ExplodingTensor"}}]'


def run(*command, folder, status=0, stdin=None, environment=None):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, input=stdin,
                          env={**ENVIRONMENT, **(environment or {})}, timeout=300)
    if done.returncode != status:
        raise AssertionError(f'{command}: {done.returncode}, not {status}: {done.stderr.decode()}')
    return done.stdout


def timeless(junit):
    return re.sub(rb' (time|timestamp|hostname)="[^"]*"', b'', junit)


def recipe():
    """The scripts in the section about Slurm, by the name that their first comment gives."""
    with open(RECIPE, encoding='utf-8') as file:
        section = re.search(r'^### Slurm\n(.*?)^##', file.read(), re.DOTALL | re.MULTILINE)[1]
    scripts = {}
    for block in re.findall(r'^```sh\n(.*?)^```$', section, re.DOTALL | re.MULTILINE):
        name = re.match(r'(?:#!/bin/sh\n)?# ([a-z]+\.sh)', block)
        if name:
            scripts[name[1]] = block if block.startswith('#!') else '#!/bin/sh\n' + block
    return scripts


class OnSlurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # A limit of a job is a minute at least: this one runs beside all others.
        cls.cluster = Cluster(ENVIRONMENT)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.limited = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.limited)
        cls.limited_job = cls.cluster.submit(
            '#!/bin/sh\n' + cls.stuck_member('1/2'), '--time=0:01', folder=cls.limited)

    @staticmethod
    def stuck_member(shard):
        """A member that has written its first results, and does not come to its end."""
        return (f'smd-rule "{trial("pt-exploding")}" "{trial("pt-healthy")}" -r ExplodingTensor --shard {shard} --jsonl '
                "-o part.jsonl --on-trigger 'touch started; sleep 600' --trigger-timeout 1h\n")

    def no_half_file(self, folder):
        """Nothing of the first member is left, or all: if its action is killed first, it may come to its end."""
        left = [name for name in os.listdir(folder) if 'part.jsonl' in name]
        if left:
            self.assertEqual(left, ['part.jsonl'])
            names = [trial('pt-exploding'), trial('pt-healthy'), '-r', 'ExplodingTensor']
            run('smd-rule', *names, '--shard', '2/2', '--exit-zero', '--jsonl', '-o', 'second.jsonl', folder=folder)
            self.assertEqual(run('smd-rule', '--merge', 'part.jsonl', 'second.jsonl', '-f', 'text', folder=folder, status=1),
                             run('smd-rule', *names, '-f', 'text', folder=folder, status=1))

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def output(self, name):
        with open(os.path.join(self.folder, name), 'rb') as file:
            return file.read()

    def write(self, name, text):
        with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as file:
            file.write(text)

    def all_completed(self, states):
        self.assertEqual(set(states.values()), {'COMPLETED'}, self.logs() + self.cluster.logs())

    def logs(self):
        return ''.join(f'{name}: {self.output(name).decode()}' for name in sorted(os.listdir(self.folder))
                       if name.startswith('slurm-'))

    def test_the_recipe(self):
        scripts = recipe()
        self.assertEqual(sorted(scripts), ['evaluate.sh', 'merge.sh', 'submit.sh'])
        for name, text in scripts.items():
            self.write(name, text)
        self.write('rules.json', RULES)
        names = [trial(name) for name in ('pt-healthy', 'pt-exploding', 'pt-dead-relu', 'grad-workers', 'loss-modes')]
        self.write('trials.txt', '\n'.join(names) + '\n')
        environment = {**self.cluster.environment, 'TRIAL': trial('pt-healthy')}
        last = run('sh', 'submit.sh', folder=self.folder, environment=environment).decode().split()[-1]
        self.all_completed(self.cluster.finish(last))
        self.assertEqual(self.output('reductions.tsv'),
                         run('smd-reduce', trial('pt-healthy'), '-w', 'all', '-r', 'min,max,l2', '--tsv',
                             folder=self.folder))
        whole = run('smd-rule', *names, '-C', 'rules.json', '-f', 'junit', folder=self.folder, status=1)
        self.assertEqual(timeless(self.output('results.xml')), timeless(whole))

    def test_members_of_a_batch_script_with_several_tasks(self):
        # The script runs once, though SLURM_NTASKS is 2.
        job = self.cluster.submit(
            f'#!/bin/sh\nsmd-reduce "{trial("pt-healthy")}" -r mean --shard auto --jsonl '
            '-o part-$SLURM_ARRAY_TASK_ID.jsonl\n', '--array=0-4', '-n2', folder=self.folder)
        self.all_completed(self.cluster.finish(job))
        files = [f'part-{i}.jsonl' for i in range(5)]
        self.assertEqual(run('smd-reduce', '--merge', '--strict', *files, '--tsv', folder=self.folder),
                         run('smd-reduce', trial('pt-healthy'), '-r', 'mean', '--tsv', folder=self.folder))
        # One given twice is refused.
        run('smd-reduce', '--merge', *files, files[2], folder=self.folder, status=2)

    def test_tasks_of_a_step(self):
        names = [trial(name) for name in ('pt-healthy', 'pt-exploding', 'pt-dead-relu', 'grad-workers', 'loss-modes')]
        self.write('trials.txt', '\n'.join(names) + '\n')
        job = self.cluster.submit(
            '#!/bin/sh\nsrun -n4 sh -c \'smd-rule - -r ExplodingTensor --exit-zero --shard auto --jsonl '
            '-o part-$SLURM_PROCID.jsonl <trials.txt\'\n', '-n4', folder=self.folder)
        self.all_completed(self.cluster.finish(job))
        whole = run('smd-rule', *names, '-r', 'ExplodingTensor', '-f', 'text', folder=self.folder, status=1)
        files = [f'part-{i}.jsonl' for i in range(4)]
        merged = run('smd-rule', '--merge', *files, '-f', 'text', folder=self.folder, status=1)
        self.assertEqual(merged, whole)

    def test_a_member_that_is_killed_and_requeued(self):
        script = ('#!/bin/sh\nif [ -z "$SLURM_RESTART_COUNT" ] && [ "$SLURM_ARRAY_TASK_ID" = 1 ]; then\n'
                  + self.stuck_member('auto') +
                  f'else\nsmd-rule "{trial("pt-exploding")}" "{trial("pt-healthy")}" -r ExplodingTensor --shard auto '
                  '--exit-zero --jsonl -o part-$SLURM_ARRAY_TASK_ID.jsonl\nfi\n')
        job = self.cluster.submit(script, '--array=1-2', '--requeue', folder=self.folder)
        self.cluster.wait_for('the first finding', lambda: os.path.exists(os.path.join(self.folder, 'started')))
        self.cluster.command('scontrol', 'requeue', job + '_1')
        self.cluster.wait_for('the requeued member', lambda: self.cluster.states(job).get(1) == 'PENDING')
        self.no_half_file(self.folder)
        # By itself it would start minutes later. Slurm refuses a start in the second in which the first run was ended.
        self.cluster.command('scontrol', 'update', f'JobId={job}_1', 'StartTime=now+5')
        self.all_completed(self.cluster.finish(job))
        whole = run('smd-rule', trial('pt-exploding'), trial('pt-healthy'), '-r', 'ExplodingTensor', '-f', 'text',
                    folder=self.folder, status=1)
        merged = run('smd-rule', '--merge', 'part-1.jsonl', 'part-2.jsonl', '-f', 'text', folder=self.folder, status=1)
        self.assertEqual(merged, whole)

    def test_what_depends_on_members_that_fail_does_not_run(self):
        job = self.cluster.submit(f'#!/bin/sh\nsmd-rule "{trial("pt-exploding")}" -r ExplodingTensor\n', '--array=1-2',
                                  folder=self.folder)
        after = self.cluster.submit('#!/bin/sh\ntouch merged\n', f'--dependency=afterok:{job}', folder=self.folder)
        self.assertEqual(set(self.cluster.finish(job).values()), {'FAILED'})  # why the recipe has --exit-zero
        self.assertEqual(self.cluster.states(after), {None: 'PENDING'})
        self.cluster.command('scancel', after)

    def test_zz_a_limit_of_time_leaves_no_half_file(self):
        self.assertEqual(self.cluster.finish(self.limited_job), {None: 'TIMEOUT'})
        self.assertTrue(os.path.exists(os.path.join(self.limited, 'started')))
        self.no_half_file(self.limited)


class InParallel(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def test_jobs_of_gnu_parallel(self):
        program = shutil.which('parallel')
        if program is None or b'GNU parallel' not in subprocess.run([program, '--version'], stdout=subprocess.PIPE,
                                                                    check=False).stdout:
            self.skipTest('not installed: GNU parallel')
        names = [trial(name) for name in ('pt-healthy', 'pt-exploding', 'pt-dead-relu')]
        with open(os.path.join(self.folder, 'trials.txt'), 'w', encoding='utf-8') as file:
            file.write('\n'.join(names) + '\n')
        command = ('smd-rule - -r ExplodingTensor --exit-zero --shard auto/4 --jsonl -o part-{}.jsonl <trials.txt')
        run(program, '--will-cite', '-j2', command, folder=self.folder, stdin=b'1\n2\n3\n4\n',
            environment={'HOME': self.folder})
        whole = run('smd-rule', *names, '-r', 'ExplodingTensor', '-f', 'tap', folder=self.folder, status=1)
        merged = run('smd-rule', '--merge', *(f'part-{i}.jsonl' for i in range(1, 5)), '-f', 'tap', folder=self.folder,
                     status=1)
        elapsed = rb'"elapsed":[-0-9.e+]+'
        self.assertEqual(re.sub(elapsed, b'', merged), re.sub(elapsed, b'', whole))


def trial(name):
    return os.path.join(TRIALS, 'rules', name)


def main():
    global TRIALS, RECIPE  # pylint: disable=global-statement
    parser = argparse.ArgumentParser()
    parser.add_argument('--tools', nargs='+', required=True)
    parser.add_argument('--trials', required=True)
    parser.add_argument('--recipe', required=True)
    parser.add_argument('--run', choices=('OnSlurm', 'InParallel'), required=True)
    arguments = parser.parse_args()
    TRIALS = os.path.abspath(arguments.trials)
    RECIPE = os.path.abspath(arguments.recipe)
    ENVIRONMENT['PATH'] = os.pathsep.join(list(map(os.path.abspath, arguments.tools)) + [os.environ['PATH']])
    os.environ['PATH'] = ENVIRONMENT['PATH']
    reason = why_not() if arguments.run == 'OnSlurm' else None
    if reason:
        print(f'skipped: {reason}')
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], '-v', arguments.run])


if __name__ == '__main__':
    main()
