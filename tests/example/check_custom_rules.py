#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the documentation's custom rules on a PyTorch job's trial, and one on two trials.

check_custom_rules.py CUSTOM_RULES LOGISTIC_REGRESSION FOLDER_OF_COMMANDS FOLDER_OF_FIXTURES
"""

import json
import os
import subprocess
import sys
import tempfile

rules, training, commands, fixtures = sys.argv[1:]
digits = os.path.join(fixtures, 'good-pytorch-digits')


def run(*command, status=0, **environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, 'SMDEBUG_LOG_LEVEL': 'info', **environment})
    if done.returncode != status:
        sys.exit(f'status {done.returncode}, not {status}, of {" ".join(command)}\n{done.stdout}{done.stderr}')
    return done


def check(truth, text):
    if not truth:
        sys.exit(f'not so: {text}')


def met_at(*arguments, summary, status=1):
    done = run(rules, *arguments, status=status)
    lines = done.stdout.splitlines()
    check(lines[-1] == summary, done.stdout)
    steps = [int(line.split()[1].rstrip(':')) for line in lines[:-1]]
    name = summary.split(':')[0]
    logged = [f'smd: info: Evaluation of the rule {name} at step {step} resulted in the condition being met'
              for step in steps]
    check(done.stderr.splitlines() == logged, done.stderr)
    return steps


# Mean absolute gradients of the trial by step (the relevant ones, read with NumPy):
#   0: fc.weight 0.01285, fc.bias 0.07612     5: 0.01736, 0.11842    10: 0.01567, 0.12341
#  21: fc.weight 0.01627, fc.bias 0.11750    26: 0.01519, 0.10036    31: 0.01477, 0.10549
# The steps 14, 19 and 38 are evaluation steps and have no gradients.
evaluated = '6 steps evaluated, 3 skipped'
check(met_at('vanishing', digits, summary=f'VanishingGradientRule: NoIssuesFound, {evaluated}', status=0) == [],
      'no gradient vanishes')
check(met_at('vanishing', digits, '0.015', summary=f'VanishingGradientRule: IssuesFound, {evaluated}') == [0, 31],
      'fc.weight is below 0.015')
check(met_at('gradient', digits, summary=f'CustomGradientRule: NoIssuesFound, {evaluated}', status=0) == [],
      'no gradient is above 10')
check(met_at('gradient', digits, '0.013', '0.12', summary=f'CustomGradientRule: IssuesFound, {evaluated}') == [0, 10],
      'fc.weight is below 0.013, fc.bias above 0.12')
quiet = run(rules, 'vanishing', digits, '0.015', status=1, SMDEBUG_LOG_LEVEL='warning')
check(quiet.stderr == '', quiet.stderr)
told = run(rules, 'vanishing', digits, SMDEBUG_LOG_LEVEL='debug')
check(len(told.stderr.splitlines()) == 3 and 'skips step 14: TensorUnavailableForStep' in told.stderr, told.stderr)
run(rules, 'gradient', status=2)

with tempfile.TemporaryDirectory() as folder:
    healthy, sick = os.path.join(folder, 'healthy'), os.path.join(folder, 'sick')
    run(training, healthy, 'healthy', '200')
    run(training, sick, 'sick', '200')

    def losses(trial):
        done = run(os.path.join(commands, 'smd-tensor'), trial, 'BCELoss_output_0', '-s', 'all', '--jsonl')
        return {row['step']: row['value'] for row in map(json.loads, done.stdout.splitlines())}

    good, bad = losses(healthy), losses(sick)
    above = [step for step in bad if bad[step] > 2 * good[step]]
    check(len(bad) == 20 and 0 < len(above) < 20, above)
    summary = 'LossAboveOtherRule: IssuesFound, 20 steps evaluated, 0 skipped'
    check(met_at('loss', sick, healthy, summary=summary) == above, above)
