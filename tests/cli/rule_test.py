#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rule_test.py --tools DIR... --trials DIR: smd-rule against the recorded results (cases.json), its reports against
the programs that read them, and what it does when it is interrupted or follows a job."""

import argparse
import csv
import io
import json
import math
import os
import platform
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../support'))
from event_bytes import field, masked_crc, varint  # noqa: E402

TRIALS = ''
THROWING_RULE = ''
HERE = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENT = {'LC_ALL': 'C.UTF-8', 'TERM': 'dumb', 'TZ': 'UTC'}
NON_FINITE = {'NaN': math.nan, 'Infinity': math.inf, '-Infinity': -math.inf}
ODD_NAME = '100% a:b,c\nd\re # x'
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored if these tests were started by nohup


def rule(*arguments, status=None, **more):
    done = subprocess.run(('smd-rule',) + arguments, **{'stdout': subprocess.PIPE, **more}, stderr=subprocess.PIPE,
                          check=False, env=ENVIRONMENT, timeout=120)
    if status is not None and done.returncode != status:
        raise AssertionError(f'{arguments}: {done.returncode}, not {status}: {done.stderr.decode()}')
    return done


def trial(name):
    return os.path.join(TRIALS, 'rules', name)


def number(value):
    return NON_FINITE.get(value, value) if isinstance(value, str) else value


def same(found, expected):
    found, expected = number(found), number(expected)
    return found == expected or (math.isnan(found) and math.isnan(expected)) or (
        abs(found - expected) <= 1e-6 * abs(expected))


class RecordedResults(unittest.TestCase):
    """Compares with the conventions of docs/rules.md."""

    @classmethod
    def setUpClass(cls):
        with open(trial('cases.json'), encoding='utf-8') as file:
            cls.cases = json.load(file)['cases']

    def command(self, case):
        words = [trial(case['trial'])]
        if 'config' in case:
            words += ['-C', trial(case['config'])]
        else:
            words += ['-r', case['rule']] + [f'-p{name}={text}' for name, text in case['params'].items()]
        if 'other_trial' in case:
            words += ['--other', trial(case['other_trial'])]
        if 'start' in case or 'end' in case:
            words += ['-s', f'{case.get("start", 0)}:{case.get("end", "")}']
        if 'now' in case:
            words += ['--now', str(case['now'])]
        return words

    def compare_finding(self, found, expected):
        for key in ('step', 'mode', 'tensor', 'worker', 'check'):
            self.assertEqual(found[key], expected[key], (found, expected))
        for key in ('value', 'threshold'):
            self.assertTrue(same(found[key], expected[key]), (found, expected))
        self.assertTrue(found['message'])

    def compare(self, records, expected):
        """Checks the records of one rule; returns the status for this rule alone."""
        result = records[-1]
        self.assertEqual(result['record'], 'result')
        self.assertEqual(result['rule'], expected.get('name', expected['rule']))
        self.assertEqual(result['rule_to_invoke'], expected['rule'])
        if 'error' in expected:
            kind = expected['error']['kind']
            self.assertEqual(result['kind'], kind)
            if kind != 'custom_rule':
                self.assertEqual(result['parameter'], expected['error']['parameter'])
            self.assertEqual(result['status'], 'NotEvaluated' if kind == 'custom_rule' else 'Error')
            return 5 if kind == 'custom_rule' else 3 if kind == 'bad_trial' else 2
        self.assertIsNone(result['kind'])
        findings = records[:-1]
        self.assertEqual(len(findings), len(expected['fired']))
        self.assertEqual(result['findings'], len(findings))
        for found, wanted in zip(findings, expected['fired']):
            self.assertEqual(found['record'], 'finding')
            self.compare_finding(found, wanted)
        self.assertEqual(result['step'], expected['first'])
        self.assertEqual(result['steps_evaluated'], expected['evaluated_steps'])
        if findings:
            self.compare_finding(result, expected['fired'][0])
        status = 'IssuesFound' if findings else 'NoIssuesFound' if expected['evaluated_steps'] else 'NotEvaluated'
        self.assertEqual(result['status'], status)
        return {'IssuesFound': 1, 'NoIssuesFound': 0, 'NotEvaluated': 5}[status]

    def test_every_case(self):
        self.assertGreater(len(self.cases), 150)
        for case in self.cases:
            with self.subTest(case['id']):
                done = rule(*self.command(case), '-k', '--json')
                records = json.loads(done.stdout)
                expected = case['expected'].get('rules', [case['expected']])
                statuses = []
                for one in expected:
                    name = one.get('name', one['rule'])
                    statuses.append(self.compare([r for r in records if r['rule'] == name], one))
                order = [2, 3, 4, 1, 5, 0]
                self.assertEqual(done.returncode, min(statuses, key=order.index), done.stderr)

    def test_first_step_ends_a_rule(self):
        fired = [case for case in self.cases if 'rule' in case and case['expected'].get('fired')]
        for case in fired:
            with self.subTest(case['id']):
                result, = json.loads(rule(*self.command(case), '--json', status=1).stdout)
                expected = case['expected']['fired']
                self.compare_finding(result, expected[0])
                # Findings at the end of the trial all count as simultaneous.
                at_first = [one for one in expected if one['step'] == expected[0]['step']]
                self.assertGreaterEqual(result['findings'], len(at_first))

    def test_rules_together_give_the_results_of_each_alone(self):
        alone = {}
        wanted = [case for case in self.cases if case['trial'] == 'pt-healthy' and 'rule' in case
                  and not case['params'] and set(case) == {'id', 'trial', 'rule', 'params', 'why', 'expected'}
                  and 'error' not in case['expected']]
        self.assertGreater(len(wanted), 3)
        options = []
        for case in wanted:
            options += ['-r', case['rule']]
            alone[case['rule']] = case['expected']
        records = json.loads(rule(trial('pt-healthy'), *options, '-k', '--json').stdout)
        for name, expected in alone.items():
            self.compare([record for record in records if record['rule'] == name], expected)


class Unread(unittest.TestCase):
    """A rule that could not read what it needs is never healthy."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='smd-rule-')
        self.addCleanup(shutil.rmtree, self.folder)

    def spoil(self, case, change, ended):
        place = os.path.join(self.folder, case['trial'])
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(trial(case['trial']), place)
        if not ended and os.path.exists(os.path.join(place, 'training_job_end.ts')):
            os.remove(os.path.join(place, 'training_job_end.ts'))
        for folder, _, files in os.walk(os.path.join(place, 'events')):
            for name in files:
                change(os.path.join(folder, name))
        return place

    def test_every_rule(self):
        with open(trial('cases.json'), encoding='utf-8') as file:
            cases = json.load(file)['cases']
        by_rule = {}
        for case in cases:
            if 'rule' in case and not {'start', 'end', 'now'} & set(case) and case['expected'].get('evaluated_steps'):
                by_rule.setdefault(case['expected']['rule'], case)
        self.assertEqual(len(by_rule), 20)
        for name, case in by_rule.items():
            for change in (os.remove, lambda path: os.truncate(path, 20)):
                for ended in (True, False):
                    with self.subTest(case['id'], ended=ended):
                        place = self.spoil(case, change, ended)
                        words = ['-r', name, *(f'-p{key}={text}' for key, text in case['params'].items())]
                        if 'other_trial' in case:
                            words += ['--other', trial(case['other_trial'])]
                        done = rule(place, *words, '--json', status=4)
                        result, = json.loads(done.stdout)
                        self.assertEqual((result['status'], result['kind']), ('Error', 'unread'))
                        self.assertGreater(result['records_unread'], 0)
                        self.assertRegex(result['message'],
                                         r'^0 of \d+ steps? evaluated; \d+ records? could not be read: events/')


def sample(*more):
    """Results of every status, with difficult names."""
    return (trial('pt-vanishing'), trial('no:such,trial'), os.path.join(TRIALS, 'names_odd'), '-C', more[0], *more[1:])


class Reports(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='smd-rule-')
        self.addCleanup(shutil.rmtree, self.folder)
        self.config = os.path.join(self.folder, 'rules.json')
        rules = [('vanishing', 'VanishingGradient', {}), (ODD_NAME, 'ExplodingTensor', {}),
                 ('every', 'TensorVariance', {'tensor_regex': '.', 'min_threshold': '1e300'}),
                 ('nothing', 'AllZero', {'tensor_regex': 'no such tensor'}),
                 ('mine', 'MyRule', {'source_s3_uri': 's3://bucket/mine.py'}),
                 ('wrong <&">', 'VanishingGradient', {'treshold': '1'})]
        with open(self.config, 'w', encoding='utf-8') as file:
            json.dump([{'RuleConfigurationName': name, 'RuleParameters': {'rule_to_invoke': invoked, **parameters}}
                       for name, invoked, parameters in rules], file)
        self.records = json.loads(rule(*sample(self.config, '--json')).stdout)
        self.assertEqual(len(self.records), 18)
        self.assertEqual({record['status'] for record in self.records},
                         {'IssuesFound', 'NoIssuesFound', 'NotEvaluated', 'Error'})

    def report(self, form):
        path = os.path.join(self.folder, form)
        done = rule(*sample(self.config, '-q', '--report', f'{form}={path}'), status=2)
        self.assertEqual(done.stdout, b'')
        with open(path, 'rb') as file:
            return file.read()

    def test_junit_of_any_text(self):
        """Names may contain any bytes; a report is still XML, and shows what XML cannot represent."""
        odd = ['\uffff', '\ufffe', '\x01', '\x1f', '\x7f', '\ud800', '\U0001ffff', '\u0085', ']]>', '\\u{FFFF}', '\U0010ffff']
        with open(os.path.join(self.folder, 'odd.json'), 'w', encoding='ascii') as file:
            json.dump([{'RuleConfigurationName': f'n{i}{text}', 'RuleParameters': {
                'rule_to_invoke': 'AllZero', 'tensor_regex': f'no-such-{text}' if text != '\ud800' else 'none'}}
                for i, text in enumerate(odd) if text != '\ud800'], file)
        names = []
        done = rule(trial('pt-healthy'), '-C', os.path.join(self.folder, 'odd.json'), '-f', 'junit')
        for case in ElementTree.fromstring(done.stdout).iter('testcase'):  # expat refuses invalid XML
            names.append(case.get('name'))
        self.assertEqual(names, ['n0\\u{ffff}', 'n1\\u{fffe}', 'n2\\x01', 'n3\\x1f', 'n4\\x7f', 'n6\U0001ffff',
                                 'n7\\u{85}', 'n8]]>', 'n9\\u{FFFF}', 'n10\U0010ffff'])
        # A lone surrogate has no UTF-8 form: as bytes, in the trial's name.
        place = os.path.join(os.fsencode(self.folder), b'half\xed\xa0\x80 \xef\xbf\xbf')
        shutil.copytree(os.fsencode(trial('pt-healthy')), place)
        done = rule(place, '-r', 'VanishingGradient', '-f', 'junit')
        suite = ElementTree.fromstring(done.stdout).find('testsuite')
        self.assertTrue(suite.get('name').endswith('/half\\xed\\xa0\\x80 \\u{ffff}'), suite.get('name'))

    def test_junit_is_valid(self):
        text = self.report('junit')
        subprocess.run(['xmllint', '--noout', '--schema', os.path.join(HERE, 'rule', 'junit.xsd'), '-'], input=text,
                       check=True, stderr=subprocess.DEVNULL)
        suites = ElementTree.fromstring(text).findall('testsuite')
        self.assertEqual(len(suites), 3)
        found = []
        for suite in suites:
            kinds = {'failure': 0, 'error': 0, 'skipped': 0}
            for case in suite.findall('testcase'):
                child = case[0].tag if len(case) else None
                if child:
                    kinds[child] += 1
                found.append((suite.get('name'), case.get('classname'), child))
            self.assertEqual([suite.get(key) for key in ('tests', 'failures', 'errors', 'skipped')],
                             ['6', *(str(kinds[kind]) for kind in ('failure', 'error', 'skipped'))])
        children = {'IssuesFound': 'failure', 'Error': 'error', 'NotEvaluated': 'skipped', 'NoIssuesFound': None}
        self.assertEqual(found, [(record['trial'], record['rule_to_invoke'], children[record['status']])
                                 for record in self.records])

    def test_schema_refuses_what_it_should(self):
        text = self.report('junit')
        for wrong in (text.replace(b'<testcase ', b'<testcase wrong="" ', 1), text.replace(b' time="', b' tim="', 1)):
            done = subprocess.run(['xmllint', '--noout', '--schema', os.path.join(HERE, 'rule', 'junit.xsd'), '-'],
                                  input=wrong, check=False, stderr=subprocess.DEVNULL)
            self.assertNotEqual(done.returncode, 0)

    def test_tap_passes_prove(self):
        path = os.path.join(self.folder, 'tap')
        text = self.report('tap').decode()
        done = subprocess.run(['prove', '--exec', 'cat', '-v', path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
        self.assertNotIn(b'Parse errors', done.stdout)
        self.assertNotIn(b'No plan found', done.stdout)
        self.assertEqual(done.returncode, 1)  # tests failed
        bad = [record for record in self.records if record['status'] in ('IssuesFound', 'Error')]
        self.assertIn(f'Failed {len(bad)}/18 subtests'.encode(), done.stdout)
        skipped = sum(record['status'] == 'NotEvaluated' for record in self.records)
        self.assertEqual(text.count('# SKIP'), skipped)
        self.assertTrue(text.startswith('TAP version 13\n'))
        # A healthy one passes completely.
        healthy = os.path.join(self.folder, 'healthy')
        rule(trial('pt-healthy'), '-r', 'VanishingGradient', '-q', '--report', f'tap={healthy}', status=0)
        subprocess.run(['prove', '-q', '--exec', 'cat', healthy], stdout=subprocess.DEVNULL, check=True)

    def test_github_reads_back(self):
        lines = self.report('github').decode().splitlines()

        def decoded(text, property_too):
            codes = {'%25': '%', '%0D': '\r', '%0A': '\n', **({'%3A': ':', '%2C': ','} if property_too else {})}
            return re.sub('%(25|0D|0A|3A|2C)', lambda m: codes.get(m.group(), m.group()), text)

        expected = []
        for record in self.records:
            if record['status'] != 'NoIssuesFound':
                expected.append(('warning' if record['status'] == 'NotEvaluated' else 'error', record,
                                 record['message']))
            expected += [('warning', record, warning) for warning in record['warnings']]
        self.assertEqual(len(lines), len(expected))
        for line, (kind, record, message) in zip(lines, expected):
            # As the runner parses it: ::COMMAND PROPERTY=VALUE,...::MESSAGE
            command, properties, text = re.fullmatch('::(error|warning) ([^:]*)::(.*)', line).groups()
            self.assertEqual(command, kind)
            (key, title), = (one.split('=', 1) for one in properties.split(','))
            self.assertEqual(key, 'title')
            self.assertEqual(decoded(title, True), record['rule'])
            text = decoded(text, False)
            self.assertTrue(text.startswith(record['trial'] + ': '))
            self.assertIn(message, text)

    def test_sagemaker_statuses(self):
        statuses = json.loads(self.report('sagemaker'))['DebugRuleEvaluationStatuses']
        self.assertEqual([one['RuleConfigurationName'] for one in statuses],
                         [record['rule'] for record in self.records])
        for one, record in zip(statuses, self.records):
            if record['status'] == 'NotEvaluated':
                self.assertEqual(one['RuleEvaluationStatus'], 'Error')
                self.assertTrue(one['StatusDetails'].startswith('InsufficientInformationForRuleInvocation: '))
            else:
                self.assertEqual(one['RuleEvaluationStatus'], record['status'])
            if record['status'] == 'IssuesFound':
                self.assertEqual(one['StatusDetails'],
                                 f'RuleEvaluationConditionMet: Evaluation of the rule {record["rule_to_invoke"]} at '
                                 f'step {record["step"]} resulted in the condition being met')

    def test_rows_hold_the_same(self):
        rows = list(csv.DictReader(io.StringIO(self.report('csv').decode(), newline='')))
        lines = [json.loads(line) for line in self.report('jsonl').splitlines()]
        self.assertEqual(len(rows), len(lines))
        for row, record, line in zip(rows, self.records, lines):
            for key in ('record', 'trial', 'rule', 'rule_to_invoke', 'status', 'tensor', 'message', 'kind'):
                self.assertEqual(row[key], 'NA' if record[key] is None else record[key])
                self.assertEqual(line[key], record[key])
            self.assertEqual(row['step'], 'NA' if record['step'] is None else str(record['step']))

    def test_a_report_that_cannot_be_written_is_told_first(self):
        done = rule(trial('pt-healthy'), '-r', 'VanishingGradient', '--report', 'junit=/no/such/folder/x', status=3)
        self.assertEqual(done.stdout, b'')
        self.assertIn(b'WriteError', done.stderr)

    def test_a_reader_that_goes_away(self):
        report = f'junit={os.path.join(self.folder, "late")}'
        # Closed before the command starts: otherwise all output might fit the pipe's buffer first.
        reader, writer = os.pipe()
        os.close(reader)
        done = rule(trial('pt-vanishing'), '-r', 'VanishingGradient', '-k', '--jsonl', '--report', report, stdout=writer)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b''))
        self.assertEqual(os.listdir(self.folder), ['rules.json'])

    def test_the_present_as_text(self):
        options = (trial('stalled-open'), '-r', 'StalledTrainingRule', '--json', '--columns', 'status,step,value',
                   '--now')
        seconds = rule(*options, '1600001920').stdout  # date -ud @1600001920
        self.assertEqual(json.loads(seconds), [{'status': 'IssuesFound', 'step': 20, 'value': 1800}])
        for text in ('2020-09-13T12:58:40Z', '2020-09-13t14:58:40.000+02:00'):
            self.assertEqual(rule(*options, text).stdout, seconds)


class Steps(unittest.TestCase):
    def test_they_win_over_parameters(self):
        """With -s A:B, open ranges, single steps, strides and steps of a mode, start_step and end_step are ignored."""
        with tempfile.TemporaryDirectory() as folder:
            lines = ''.join(json.dumps({'step': step, 'mode': 'train', 'mode_step': step, 'tensor': 'x', 'value': 0}) + '\n'
                            for step in range(6))
            subprocess.run(('smd-save', folder, '--jsonl', '--end', '-q'), input=lines.encode(), env=ENVIRONMENT,
                           check=True)
            bounds = ('-p', 'start_step=2', '-p', 'end_step=4')
            for words, steps in [((), [2, 3]), (('-m', 'train'), [2, 3]), (('-s', '1:5'), [1, 2, 3, 4]),
                                 (('-s', ':3'), [0, 1, 2]), (('-s', '3:'), [3, 4, 5]), (('-s', ':'), [0, 1, 2, 3, 4, 5]),
                                 (('-s', '5'), [5]), (('-s', 'last'), [5]), (('-s', '-2:'), [4, 5]),
                                 (('-s', '0:6:2'), [0, 2, 4]), (('-m', 'train', '-s', '0:2'), [0, 1])]:
                done = rule(folder, '-r', 'AllZero', '-p', 'tensor_regex=x', *bounds, '-k', '--jsonl', *words, status=1)
                records = [json.loads(line) for line in done.stdout.splitlines()]
                self.assertEqual([one['step'] for one in records if one['record'] == 'finding'], steps, words)


class ThrowingRules(unittest.TestCase):
    """The status is that of a rule in Python that raised."""

    def test_no_result_and_the_others_continue(self):
        place = trial('pt-healthy')
        first = int(subprocess.run(['smd-ls', place, '--summary', '--get', 'first_step'], check=True, env=ENVIRONMENT,
                                   stdout=subprocess.PIPE).stdout)
        for later in (0, 1):  # at the first step, and after one that was evaluated
            done = rule(place, '--plugin', THROWING_RULE, '-r', 'ThrowingRule', '-r', 'ExplodingTensor', '-p',
                        f'ThrowingRule.at={first + later}', '--jsonl', status=4)
            thrown, other = (json.loads(line) for line in done.stdout.splitlines())
            self.assertEqual((thrown['status'], thrown['steps_evaluated'], thrown['findings']), ('Error', later, 0))
            self.assertIn('out of luck', thrown['message'])
            self.assertEqual(other['status'], 'NoIssuesFound')
            self.assertEqual(done.stderr.decode(), 'smd-rule: warning: ThrowingRule: the rule failed: out of luck\n')

    def test_one_that_triggers_beside_it(self):
        done = rule(trial('pt-vanishing'), '--plugin', THROWING_RULE, '-r', 'ThrowingRule', '-r', 'VanishingGradient',
                    '--jsonl', status=4)
        self.assertEqual([json.loads(line)['status'] for line in done.stdout.splitlines()], ['Error', 'IssuesFound'])


class Plugins(unittest.TestCase):
    def test_only_regular_files(self):
        """A FIFO without a writer and a device do not block the loader."""
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, 'fifo')
            os.mkfifo(fifo)
            link = os.path.join(folder, 'link')
            os.symlink(fifo, link)
            for place, why in ((fifo, b'is no regular file'), (link, b'is no regular file'),
                               ('/dev/zero', b'is no regular file'), (folder, b'is a directory')):
                done = rule(trial('pt-healthy'), '--plugin', place, '-r', 'ExplodingTensor', status=2)
                self.assertTrue(done.stderr.startswith(b'smd-rule: Usage: plug-in ' + place.encode() + b': ' + why),
                                done.stderr)
                self.assertEqual(done.stdout, b'')


    def test_damaged_plug_ins(self):
        """Each instruction of the plug-in is an invalid one: it ends a child when it is loaded, not the command."""
        with open(THROWING_RULE, 'rb') as file:
            content = bytearray(file.read())
        invalid = b'\x0f\x0b' if platform.machine() == 'x86_64' else b'\0\0'
        table, = struct.unpack_from('<Q', content, 32)
        size, count = struct.unpack_from('<HH', content, 54)
        for at in range(table, table + size * count, size):
            kind, flags, offset, _, _, length = struct.unpack_from('<IIQQQQ', content, at)
            if kind == 1 and flags & 1:  # PT_LOAD, PF_X
                content[offset:offset + length] = invalid * (length // 2) + b'\0' * (length % 2)
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, 'damaged.so')
            with open(place, 'wb') as file:
                file.write(content)
            done = rule(trial('pt-healthy'), '--plugin', place, '-r', 'ExplodingTensor', status=2)
            self.assertIn(b'ends the program when it is loaded', done.stderr)


class Triggers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='smd-rule-')
        self.addCleanup(shutil.rmtree, self.folder)

    def run_with(self, command, *more, status=1):
        return rule(trial('pt-vanishing'), '-r', 'vanishing_gradient', '--on-trigger', command, '--jsonl', *more,
                    status=status, cwd=self.folder)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding='utf-8') as file:
            return file.read()

    def test_the_finding_is_given(self):
        command = 'cat >>record; printf "%s|" "$SMD_RULE" "$SMD_RULE_TRIAL" "$SMD_RULE_STEP" "$SMD_RULE_MODE" ' \
                  '"$SMD_RULE_TENSOR" "$SMD_RULE_WORKER" "$SMD_RULE_VALUE" "$SMD_RULE_MESSAGE" >>environment; echo out'
        done = self.run_with(command)
        result, = (json.loads(line) for line in done.stdout.splitlines())
        self.assertEqual(done.stderr, b'out\n')
        record = json.loads(self.read('record'))
        self.assertEqual(record['record'], 'finding')
        for key in ('trial', 'rule', 'step', 'mode', 'mode_step', 'tensor', 'worker', 'check', 'value', 'message'):
            self.assertEqual(record[key], result[key])
        keys = ('rule', 'trial', 'step', 'mode', 'tensor', 'worker', 'value', 'message')
        self.assertEqual(self.read('environment').split('|')[:-1], [str(result[key]) for key in keys])

    def test_once_a_step(self):
        done = self.run_with('cat >>record', '-k')
        steps = [json.loads(line)['step'] for line in self.read('record').splitlines()]
        findings = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(steps, sorted({record['step'] for record in findings if record['record'] == 'finding'}))
        self.assertGreater(len(steps), 1)

    def test_the_command_may_ignore_its_input_and_its_failure_is_a_warning(self):
        self.assertEqual(self.run_with('true').stderr, b'')
        self.assertEqual(self.run_with('exit 3').stderr,
                         b'smd-rule: warning: --on-trigger: the command failed with status 3\n')
        self.assertIn(b'ended by signal 9', self.run_with('kill -9 $$').stderr)

    def test_a_command_that_hangs(self):
        """It is ended together with its child processes: here a process whose own child ignores SIGTERM."""
        stubborn = 'echo $$ >pid; trap "" TERM; sleep 1000 & sleep 1000'
        for command, how in (('echo $$ >pid; sleep 1000', b'SIGTERM'), (stubborn, b'SIGKILL, after SIGTERM'),
                             ('echo $$ >pid; (trap "" TERM; sleep 1000)', b'SIGKILL, after SIGTERM')):
            done = self.run_with(command, '--trigger-timeout', '0.3s')
            self.assertEqual(done.stderr, b'smd-rule: warning: --on-trigger: the command took longer than 0.3s '
                                          b'(--trigger-timeout) and was ended by ' + how + b'\n')
            self.assertEqual([json.loads(line)['status'] for line in done.stdout.splitlines()], ['IssuesFound'])
            self.check_group_is_gone()

    def check_group_is_gone(self):
        """A killed process may still wait until its new parent reaps it."""
        group = int(self.read('pid'))
        for entry in os.listdir('/proc'):
            try:
                with open(f'/proc/{entry}/stat', encoding='latin-1') as file:
                    state, _, its_group = file.read().rpartition(')')[2].split()[:3]
            except (OSError, ValueError):
                continue
            self.assertFalse(int(its_group) == group and state != 'Z', f'process {entry} goes on')

    def test_what_ended_in_time_may_leave_a_child(self):
        done = self.run_with('sleep 1000 >/dev/null 2>&1 & echo $! >pid', '--trigger-timeout', '30')
        self.assertEqual(done.stderr, b'')
        os.kill(int(self.read('pid')), signal.SIGKILL)  # the process exists

    def test_signals_do_not_wait_for_the_command(self):
        for follow in ((), ('-F',)):
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
                process = subprocess.Popen(
                    ['smd-rule', trial('pt-vanishing'), *follow, '-r', 'VanishingGradient', '--jsonl', '--on-trigger',
                     'echo $$ >new; mv new pid; sleep 1000'], cwd=self.folder, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
                while not os.path.exists(os.path.join(self.folder, 'pid')) and process.poll() is None:
                    pass
                process.send_signal(number)
                out, err = process.communicate(timeout=120)
                self.assertEqual(process.returncode, -number, err)
                self.assertEqual(err, b'smd-rule: warning: --on-trigger: the command was still running when smd-rule '
                                      b'had to end, and was ended by SIGTERM\n')
                self.assertEqual([json.loads(line)['status'] for line in out.splitlines()], ['IssuesFound'])
                self.check_group_is_gone()
                os.remove(os.path.join(self.folder, 'pid'))

    def test_a_deadline_does_not_wait_for_the_command(self):
        done = self.run_with('echo $$ >pid; sleep 1000', '-F', '--timeout', '1')
        self.assertIn(b'the command was still running when smd-rule had to end, and was ended by SIGTERM\n', done.stderr)
        self.check_group_is_gone()

    def test_trigger_timeout_is_checked(self):
        for words, text in ((('--trigger-timeout', '1'), b'--trigger-timeout needs --on-trigger'),
                            (('--trigger-timeout', '0', '--on-trigger', 'true'), b"'0' leaves the command no time"),
                            (('--trigger-timeout', 'x', '--on-trigger', 'true'), b"'x' is not a duration")):
            self.assertIn(text, rule(trial('pt-vanishing'), '-r', 'VanishingGradient', *words, status=2).stderr)

    def test_names_are_never_code(self):
        config = os.path.join(self.folder, 'rules.json')
        with open(config, 'w', encoding='utf-8') as file:
            json.dump({'RuleConfigurationName': '$(touch bad)`touch bad`;touch bad #',
                       'RuleParameters': {'rule_to_invoke': 'VanishingGradient'}}, file)
        rule(trial('pt-vanishing'), '-C', config, '--on-trigger', 'echo "$SMD_RULE" >name', '-q', status=1,
             cwd=self.folder)
        self.assertFalse(os.path.exists(os.path.join(self.folder, 'bad')))
        self.assertEqual(self.read('name'), '$(touch bad)`touch bad`;touch bad #\n')

    def test_stopping_needs_a_command(self):
        options = ('-r', 'StalledTrainingRule', '-p', 'stop_training_on_fire=True')
        self.assertIn(b'give --on-trigger', rule(trial('stalled'), *options).stderr)
        self.assertNotIn(b'give --on-trigger', rule(trial('stalled'), *options, '--on-trigger', 'true').stderr)

    def test_a_file_alone_stops_no_job(self):
        config = os.path.join(self.folder, 'rules.json')
        with open(config, 'w', encoding='utf-8') as file:
            json.dump({'RuleConfigurationName': 'stalled', 'RuleParameters': {
                'rule_to_invoke': 'StalledTrainingRule', 'stop_training_on_fire': 'True',
                'training_job_name_prefix': 'job'}}, file)
        done = rule(trial('stalled-open'), '-C', config, '--json', status=1)
        self.assertIn(b'give --on-trigger', done.stderr)
        result, = json.loads(done.stdout)
        self.assertEqual(result['params']['stop_training_on_fire'], 'False')
        said = 'StopTraining was asked for, of jobs named job..., and was not performed: '
        self.assertEqual(result['warnings'], [said + 'a file of rules alone stops no job'])
        self.assertIn(f'smd-rule: warning: stalled: {said}'.encode(), done.stderr)
        # The beginning is the same if training went on; nothing if the rule did not trigger.
        options = ('-p', 'stop_training_on_fire=True', '-p', 'training_job_name_prefix=job')
        done = rule(trial('stalled'), '-r', 'StalledTrainingRule', *options, status=1)
        self.assertIn(f'smd-rule: warning: StalledTrainingRule: {said}'.encode(), done.stderr)
        done = rule(trial('stalled'), '-C', config, '-p', 'threshold=9000000000', '--json', status=0)
        self.assertEqual(json.loads(done.stdout)[0]['warnings'], [])
        # The command line takes precedence.
        done = rule(trial('stalled'), '-C', config, *options, '--json', status=1)
        self.assertEqual(json.loads(done.stdout)[0]['warnings'], [said + 'training went on'])


class RunningJob:
    """A job that writes the steps of a recorded trial one after another."""

    def __init__(self, source, place):
        self.source = source
        self.place = place
        # As young as the rest: nobody waits for a trial that is at rest.
        shutil.copytree(os.path.join(source, 'collections'), os.path.join(place, 'collections'),
                        copy_function=shutil.copy)
        found = {}
        for part in ('events', 'index'):
            for folder, _, files in os.walk(os.path.join(source, part)):
                for name in files:
                    path = os.path.relpath(os.path.join(folder, name), source)
                    found.setdefault(int(name.split('_')[0]), []).append(path)
        # Index files last, as the hook writes them.
        self.steps = [(step, sorted(paths, key=lambda path: path.startswith('index')))
                      for step, paths in sorted(found.items())]

    def write(self, paths):
        for path in paths:
            target = os.path.join(self.place, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(os.path.join(self.source, path), target + '.part')
            os.rename(target + '.part', target)

    def end(self):
        shutil.copy(os.path.join(self.source, 'training_job_end.ts'), self.place)


class Following(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='smd-rule-')
        self.addCleanup(shutil.rmtree, self.folder)

    def job(self, name):
        place = os.path.join(self.folder, name)
        os.makedirs(place)
        return RunningJob(trial(name), place)

    def start(self, *arguments):
        process = subprocess.Popen(('smd-rule',) + arguments + ('-F', '--interval', '0.05s'),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**ENVIRONMENT, 'SMDEBUG_TRAINING_END_DELAY_REFRESH': '0'})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        return process

    def test_results_equal_those_of_the_ended_job(self):
        with open(trial('cases.json'), encoding='utf-8') as file:
            cases = json.load(file)['cases']
        followed = {}
        for case in cases:
            plain = not {'config', 'start', 'end', 'now', 'other_trial'} & set(case)
            # When following, that rule uses the clock instead of the times of records.
            if plain and case['expected'].get('fired') and 'stalled' not in case['trial']:
                followed.setdefault(case['rule'], case)
        self.assertGreater(len(followed), 15)
        for name, case in followed.items():
            with self.subTest(case['id']):
                shutil.rmtree(os.path.join(self.folder, case['trial']), ignore_errors=True)
                job = self.job(case['trial'])
                options = ['-r', name, *(f'-p{key}={text}' for key, text in case['params'].items()), '-k', '--jsonl']
                process = self.start(job.place, *options)
                for _, paths in job.steps:
                    job.write(paths)
                job.end()
                out, err = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 1, err)
                live = [json.loads(line) for line in out.splitlines()]
                after = [json.loads(line) for line in rule(job.source, *options).stdout.splitlines()]
                for record in live + after:
                    record.pop('elapsed', None)
                    record.pop('trial')
                self.assertEqual(live, after)

    def test_event_files_are_waited_for(self):
        """An index file before its event file: without the latter the rule does not report that it found nothing."""
        job = self.job('pt-healthy')
        process = self.start(job.place, '-r', 'VanishingGradient', '--jsonl')
        for _, paths in job.steps:
            job.write(reversed(paths))
        job.end()
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(json.loads(out)['status'], 'NoIssuesFound')
        for path in job.steps[0][1]:
            if path.startswith('events'):
                os.remove(os.path.join(job.place, path))
        out, err = self.start(job.place, '-r', 'VanishingGradient', '--jsonl').communicate(timeout=120)
        result = json.loads(out)
        self.assertEqual((result['status'], result['kind']), ('Error', 'unread'), err)

    def test_event_files_of_the_other_trial_are_waited_for(self):
        """While the job is running they may still come, and later steps are not evaluated; after that they are
        missing."""
        base, other = self.job('runs-base'), self.job('runs-other')
        *before, (_, paths) = [one for one in other.steps if one[0] <= 4]
        for step, some in base.steps:
            if step <= 4:
                base.write(some)
        base.end()
        for _, some in before:
            other.write(some)
        late = [path for path in paths if path.startswith('events')]
        other.write(path for path in paths if path not in late)
        options = ('-r', 'SimilarAcrossRuns', '-k', '--jsonl')

        def follow(status, *more, meanwhile=()):
            process = self.start(base.place, '--other', other.place, *options, *more)
            other.write(meanwhile)
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, status, err)
            *findings, result = (json.loads(line) for line in out.splitlines())
            return [one['step'] for one in findings], result['records_unread']

        # Tensor a differs at 2 and 4, as in the recorded case.
        self.assertEqual(follow(124, '--timeout', '1s'), ([2], 0))
        self.assertEqual(follow(1, meanwhile=late), ([2, 4], 0))
        for path in late:
            os.remove(os.path.join(other.place, path))
        other.end()
        self.assertEqual(follow(4), ([2], 1))

    def test_steps_of_the_other_trial_are_waited_for(self):
        """Also if this job has ended before. Tensor a differs at 2, 4 and 5, as in the recorded case."""
        for begun in (0, 2):
            with self.subTest(steps=begun):
                base, other = self.job('runs-base'), self.job('runs-other')
                for _, paths in base.steps:
                    base.write(paths)
                base.end()
                for _, paths in other.steps[:begun]:
                    other.write(paths)
                process = self.start(base.place, '--other', other.place, '-r', 'SimilarAcrossRuns', '-k', '--jsonl')
                has = f'has reached step {other.steps[begun - 1][0]}' if begun else 'has no step yet'
                self.assertEqual(process.stderr.readline().decode(),
                                 f'smd-rule: note: {base.place}: waiting for the other trial: {other.place} {has}\n')
                for _, paths in other.steps[begun:]:
                    other.write(paths)
                other.end()
                out, err = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 1, err)
                *findings, _ = (json.loads(line) for line in out.splitlines())
                self.assertEqual([one['step'] for one in findings], [2, 4, 5])
                shutil.rmtree(base.place)
                shutil.rmtree(other.place)

    def test_the_other_trial_is_waited_for(self):
        """It is not there yet; then it is there as a whole."""
        base, other = self.job('runs-base'), self.job('runs-other')
        place = other.place
        other.place = os.path.join(self.folder, 'hidden')
        os.rename(place, other.place)
        for job in (base, other):
            for _, paths in job.steps:
                job.write(paths)
            job.end()
        process = self.start(base.place, '--other', place, '-r', 'SimilarAcrossRuns', '-k', '--jsonl')
        self.assertIn(f'smd-rule: note: {place}: does not exist yet; waiting for it',
                      process.stderr.readline().decode())
        os.rename(other.place, place)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, err)
        *findings, _ = (json.loads(line) for line in out.splitlines())
        self.assertEqual([one['step'] for one in findings], [2, 4, 5])
        for one in findings:
            self.assertTrue(one['message'].endswith(f', compared with {place}'), one)

    def test_both_jobs_are_running(self):
        """The other one is slower."""
        base, other = self.job('runs-base'), self.job('runs-other')
        process = self.start(base.place, '--other', other.place, '-r', 'SimilarAcrossRuns', '-k', '--jsonl')
        for job in (base, other):
            for _, paths in job.steps:
                job.write(paths)
                time.sleep(0.1)
        base.end()
        other.end()
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, err)
        *findings, _ = (json.loads(line) for line in out.splitlines())
        self.assertEqual([one['step'] for one in findings], [2, 4, 5])

    def test_a_second_worker_comes(self):
        """From then on messages name the worker. What was found before is neither reported again nor withdrawn."""
        def write(host, values):
            with open(os.path.join(self.folder, f'events.out.tfevents.1700000001.{host}.1.0'), 'ab') as file:
                for step, value in enumerate(values):
                    event = (b'\x09' + struct.pack('<d', 1.7e9 + step) + b'\x10' + varint(step) +
                             field(5, field(1, field(1, b'z') + b'\x15' + struct.pack('<f', value))))
                    length = struct.pack('<Q', len(event))
                    file.write(length + struct.pack('<I', masked_crc(length)) + event +
                               struct.pack('<I', masked_crc(event)))

        def finding():
            line = json.loads(process.stdout.readline())
            return line['step'], line['worker'], line['message']

        write('hostA', (0, 0, 0, 1))
        process = self.start(self.folder, '-r', 'AllZero', '-p', 'tensor_regex=.', '-k', '--jsonl')
        found = [finding() for _ in range(3)]
        self.assertEqual([step for step, _, _ in found], [0, 1, 2])
        self.assertFalse([one for one in found if one[2].startswith(one[1])])
        write('hostB', (1, 1, 1, 0, 1))
        step, worker, message = finding()
        self.assertEqual(step, 3)
        self.assertNotEqual(worker, found[0][1])
        self.assertTrue(message.startswith(f'{worker}: '), message)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        self.assertEqual([json.loads(line)['record'] for line in out.splitlines()], ['result'])
        self.assertNotIn('no longer', err.decode())

    def test_ends_when_all_rules_have_triggered(self):
        job = self.job('pt-vanishing')
        process = self.start(job.place, '-r', 'VanishingGradient', '--jsonl')
        job.write(job.steps[0][1])
        out, err = process.communicate(timeout=120)  # the job continues
        self.assertEqual(process.returncode, 1, err)
        result, = (json.loads(line) for line in out.splitlines())
        self.assertEqual((result['status'], result['step']), ('IssuesFound', 0))

    def test_time_is_up(self):
        job = self.job('pt-healthy')
        job.write(job.steps[0][1])
        process = self.start(job.place, '-r', 'VanishingGradient', '--jsonl', '--idle', '0.2s')
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 124)
        self.assertIn(b'no new step came', err)
        result, = (json.loads(line) for line in out.splitlines())
        self.assertEqual((result['status'], result['steps_evaluated']), ('InProgress', 1))

    def test_a_stalled_job_is_noticed(self):
        job = self.job('pt-healthy')
        job.write(job.steps[0][1])
        mark = os.path.join(self.folder, 'stopped')
        process = self.start(job.place, '-r', 'StalledTrainingRule', '-p', 'threshold=1', '--jsonl', '--on-trigger',
                             f'touch {mark}')
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, err)
        result, = (json.loads(line) for line in out.splitlines())
        self.assertEqual((result['status'], result['check'], result['step']), ('IssuesFound', 'seconds', 0))
        self.assertGreaterEqual(result['value'], 1)
        self.assertTrue(os.path.exists(mark))

    def test_signals_close_reports(self):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            job = self.job('pt-healthy')
            job.write(job.steps[0][1])
            report = os.path.join(self.folder, 'report')
            threshold = ('reduction=l1', 'operator=>', 'threshold=-1', 'tensor_regex=.')
            process = self.start(job.place, '-r', 'VanishingGradient', '-r', 'Threshold', '--jsonl', '--report',
                                 f'junit={report}', *(f'-pThreshold.{parameter}' for parameter in threshold))
            self.assertIn(b'Threshold', process.stdout.readline())  # it has begun
            process.send_signal(number)
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, -number, err)
            self.assertEqual(json.loads(out)['status'], 'InProgress')
            cases = ElementTree.parse(report).getroot().findall('.//testcase')
            self.assertEqual([case[0].tag for case in cases], ['failure', 'skipped'])
            self.assertEqual([name for name in os.listdir(self.folder) if name.startswith('.')], [])
            shutil.rmtree(job.place)

    def test_a_signal_before_the_other_trial_is_there(self):
        job = self.job('pt-healthy')
        job.write(job.steps[0][1])
        process = self.start(job.place, '-r', 'SimilarAcrossRuns', '--other', os.path.join(self.folder, 'later'), '--jsonl')
        self.assertIn(b'does not exist yet; waiting for it', process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, -signal.SIGTERM, err)
        result = json.loads(out)
        self.assertEqual((result['status'], result['kind'], result['message']), ('InProgress', None, None))

    def test_several_at_once(self):
        first, second = self.job('pt-vanishing'), self.job('pt-healthy')
        process = self.start(first.place, second.place, '-r', 'VanishingGradient', '--jsonl')
        for step in range(max(len(first.steps), len(second.steps))):
            for job in (first, second):
                if step < len(job.steps):
                    job.write(job.steps[step][1])
        first.end()
        second.end()
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, err)
        found = {record['trial']: record['status'] for record in map(json.loads, out.splitlines())}
        self.assertEqual(found, {first.place: 'IssuesFound', second.place: 'NoIssuesFound'})


def main():
    global TRIALS, THROWING_RULE
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--tools', action='append', default=[], metavar='DIR')
    parser.add_argument('--trials', required=True, metavar='DIR')
    parser.add_argument('--throwing-rule', metavar='PLUGIN', help='with a rule that throws at step `at` and later')
    parser.add_argument('tests', nargs='*')
    options = parser.parse_args()
    TRIALS = os.path.abspath(options.trials)
    THROWING_RULE = options.throwing_rule
    for name in ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'TSAN_OPTIONS', 'LSAN_OPTIONS', 'LD_LIBRARY_PATH'):
        if name in os.environ:
            ENVIRONMENT[name] = os.environ[name]
    ENVIRONMENT['PATH'] = os.environ['PATH'] = os.pathsep.join(
        [*map(os.path.abspath, options.tools), os.environ['PATH']])
    unittest.main(argv=[sys.argv[0], *options.tests])


if __name__ == '__main__':
    main()
