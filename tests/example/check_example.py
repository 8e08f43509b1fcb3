#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the example, healthy and sick, and checks its trials with the commands.

check_example.py trial|rule PROGRAM FOLDER_OF_COMMANDS HOOK_JSON
"""

import json
import os
import subprocess
import sys
import tempfile

what, program, commands, configuration = sys.argv[1:]


def run(*command, status=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != status:
        sys.exit(f'status {done.returncode}, not {status}, of {" ".join(command)}\n{done.stdout}{done.stderr}')
    return done.stdout


def tool(name, *arguments, status=0):
    return run(os.path.join(commands, name), *arguments, status=status)


def rows(text):
    return [json.loads(line) for line in text.splitlines()]


def check(truth, text):
    if not truth:
        sys.exit(f'not so: {text}')


def losses(trial):
    return [row['value'] for row in rows(tool('smd-tensor', trial, 'BCELoss_output_0', '-s', 'all', '--jsonl'))]


with tempfile.TemporaryDirectory() as folder:
    healthy, sick, configured = (os.path.join(folder, name) for name in ('healthy', 'sick', 'configured'))
    run(program, healthy)
    run(program, sick, 'sick')
    if what == 'trial':
        tool('smd-ls', healthy, '--check')
        tool('smd-ls', sick, '--check')
        names = tool('smd-ls', healthy).split()
        check(names == ['BCELoss_output_0', 'Logistic_fc.bias', 'Logistic_fc.weight', 'gradient/Logistic_fc.bias',
                        'gradient/Logistic_fc.weight'], names)
        check(tool('smd-ls', healthy, '--steps', '--columns', 'step').split() == [str(s) for s in range(0, 400, 10)],
              'each tenth of 400 steps is saved')
        good, bad = losses(healthy), losses(sick)
        # With weights of zero both classes are equally likely: the loss is log 2.
        check(abs(good[0] - 0.693147) < 1e-5 and good[0] == bad[0], good[0])
        check(all(later <= before for before, later in zip(good, good[1:])), 'a healthy loss falls')
        check(good[-1] < 0.5 and bad[-1] > 1, (good[-1], bad[-1]))
        norms = rows(tool('smd-reduce', sick, '-n', 'Logistic_fc.weight', '-r', 'l2', '--jsonl'))
        check(max(row['l2'] for row in norms) > 100, 'sick weights are large')
        run(program, configured, 'healthy', '400', configuration)
        steps = {row['tensor']: row['steps'] for row in rows(tool('smd-ls', configured, '--jsonl'))}
        # hook.json: weights and losses each 20th step below 200; gradients each 10th, reductions only.
        check(steps == {'BCELoss_output_0': 10, 'Logistic_fc.weight': 10, 'gradient/Logistic_fc.bias': 20,
                        'gradient/Logistic_fc.weight': 20}, steps)
        saved = {row['tensor']: row['saved'] for row in rows(tool('smd-ls', configured, '--jsonl'))}
        check(saved['Logistic_fc.weight'] == ['value'], saved)
        check(sorted(saved['gradient/Logistic_fc.weight']) == ['abs_mean', 'l2', 'max', 'min'], saved)
    else:
        # 200 steps: later a healthy loss falls so slowly that the rule triggers.
        for trial, health in ((healthy + '-200', 'healthy'), (sick + '-200', 'sick')):
            run(program, trial, health, '200')
            result = rows(tool('smd-rule', trial, '-r', 'LossNotDecreasing', '--jsonl', status=int(health == 'sick')))[-1]
            check(result['status'] == ('IssuesFound' if health == 'sick' else 'NoIssuesFound'), result)
            check(result['tensors_matched'] == 1, result)
