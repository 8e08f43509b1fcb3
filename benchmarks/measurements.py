# SPDX-License-Identifier: Apache-2.0
"""The measurements of whole commands: start-up, opening, queries, values. Each function is a section of the page."""

import os
import shutil
import subprocess

from bench import MIB, PYTHON, Skipped


def start_up(bench):
    """Start-up"""
    trial = bench.trial('small')
    ours, one, version, empty = bench.in_turns(
        [[bench.tool('smd-ls'), trial], [bench.tool('smd-tensor'), trial, 'loss', '-s', 'last'],
         [bench.tool('smd-ls'), '--version'], [bench.program('bench_empty')]], least=100)
    bench.ratio('smd-ls, 20 steps x 20 tensors : empty C program', ours, empty, 4)
    bench.ratio('smd-tensor -s last, one value of it : empty C program', one, empty)
    bench.ratio('smd-ls --version : empty C program', version, empty)


def opening(bench):
    """Opening a trial"""
    for name, what, limit in (('long', 'a million entries', 1.5), ('distinct', 'no two index files alike', 3)):
        trial = bench.trial(name)
        ours, bare = bench.in_turns([[bench.tool('smd-ls'), trial],
                                     [bench.program('bench_bare'), 'index', trial + '/index', bench.threads]])
        bench.ratio(f'smd-ls, {what}, warm : list, open, read, close; {bench.threads} threads', ours, bare, limit)
        bench.peak(f'smd-ls, {what}: peak memory', ours, 32)
    for name, what in (('long', 'a million entries'), ('distinct', 'no two index files alike')):
        cold_opening(bench, name, what)


def cold_opening(bench, name, what):
    measurement = f'smd-ls, {what}, cold : list, open, read, close; 1 thread'
    if not os.access('/proc/sys/vm/drop_caches', os.W_OK):
        bench.skip(measurement, 'emptying the page cache requires root')
        return
    trial = bench.trial(name)
    ours, bare = bench.in_turns([[bench.tool('smd-ls'), trial],
                                 [bench.program('bench_bare'), 'index', trial + '/index', '1']], least=3, cold=True)
    bench.ratio(measurement, ours, bare, 0.25)


def other_readers(bench):
    """Opening, against readers of the same index files"""
    trial = bench.trial('long')
    ours, python = bench.in_turns([[bench.tool('smd-ls'), trial], bench.peer('names_json.py', trial)], least=2)
    # What bounds both is reading the files, which `opening` has a limit for.
    bench.times_as_fast("smd-ls, a million entries : Python's json, the names", ours, python)
    measurement = 'smd-ls, a million entries : jq, the names'
    if shutil.which('jq') is None:
        bench.skip(measurement, "Debian's package jq is not installed")
        return
    jq = 'find "$1/index" -name "*.json" -print0 | xargs -0 cat | jq -r ".tensor_payload[].tensorname" | sort -u'
    ours, peer = bench.in_turns([[bench.tool('smd-ls'), trial], ['sh', '-c', jq, 'sh', trial]], least=1)
    bench.times_as_fast(measurement, ours, peer, 20)


def last_step(bench):
    """The last step"""
    trial = bench.trial('long')
    ours, value, bare = bench.in_turns(
        [[bench.tool('smd-ls'), '-s', 'last', trial], [bench.tool('smd-tensor'), '-s', 'last', trial, 'loss'],
         [bench.program('bench_bare'), 'names', trial + '/index']], least=10)
    bench.ratio('smd-ls -s last, a million entries : list the names', ours, bare, 2)
    bench.ratio('smd-tensor -s last, one value there : list the names', value, bare)


def history(bench):
    """The history of a scalar"""
    trial = bench.trial('long')
    steps = str(bench.option_of('long', 'steps'))
    events = [bench.program('bench_bare'), 'events', trial + '/events', bench.threads, '0', '80', steps]
    ours, bare = bench.in_turns_by_themselves(
        [[bench.program('bench_history'), trial, 'loss'], events + ['5']],
        lambda command: 'values_s' if command[0].endswith('history') else 'seconds')
    bench.ratio(f'{steps} values, trial opened : open, pread, close; {bench.threads} threads', ours, bare, 1.5)
    command = [bench.tool('smd-tensor'), trial, 'loss', '-s', 'all', '--columns', 'step,value']
    index = [bench.program('bench_bare'), 'index', trial + '/index', bench.threads]
    ours, index, bare = bench.in_turns([command, index, events + ['1']])
    both = {key: index[key] + bare[key] for key in ('best', 'median')}
    bench.ratio('smd-tensor -s all, whole command : bare reading of index and event files', ours, both, 1.5)
    bench.ratio('smd-tensor -s all, whole command : bare reading of event files alone', ours, bare)
    ours, python = bench.in_turns([command, bench.peer('history_json.py', trial, 'loss')], least=2)
    bench.times_as_fast("smd-tensor -s all, whole command : Python's json and struct", ours, python)


def large_values(bench):
    """Large values"""
    for name, what, limit in (('big', '1 GiB', 1.3), ('big_crc', '1 GiB with a true checksum', None)):
        trial = bench.trial(name)
        file = trial + '/events/000000000000/000000000000_worker_0.tfevents'
        raw = [bench.tool('smd-tensor'), trial, 'big', '-f', 'raw']
        ours, cat = bench.in_turns([raw, ['cat', file]], least=3)
        bench.ratio(f'smd-tensor -f raw, {what} : cat', ours, cat, limit)
        if limit is not None:
            bench.peak(f'smd-tensor -f raw, {what}: peak memory', ours, 64)
            pipe = ['sh', '-c', '"$@" | cat', 'sh']
            ours, cat = bench.in_turns([pipe + raw, pipe + ['cat', file]], least=3)
            bench.ratio(f'smd-tensor -f raw, {what}, to a pipe : cat, to a pipe', ours, cat, limit)


def ranges(bench, trial, collection=None):
    """A list of the locations of all values, or of those of a collection, except the loss."""
    path = f'{trial}.{collection or "all"}.ranges'
    if not os.path.exists(path):
        some = ['-c', collection] if collection else []
        rows = bench.output([bench.tool('smd-ls'), trial, '--locations', '-H', *some, '-x', '^loss$',
                             '--columns', 'file,offset,length'])
        with open(path, 'w', encoding='utf-8') as file:
            file.writelines(sorted(rows.splitlines(keepends=True),
                                   key=lambda row: (row.split('\t')[0], int(row.split('\t')[1]))))
    return path


def reductions(bench):
    """Reductions"""
    six = ['-x', '^loss$', '-r', 'min,max,mean,std,l2,abs_mean']
    for name, what, limit in (('mebibytes', 'values of 1 MiB', 1.4), ('workers', 'values of 256 bytes', 1.5)):
        trial = bench.trial(name)
        ours = [bench.tool('smd-reduce'), trial, '-w', 'all'] + six
        bare = [bench.program('bench_bare'), 'ranges', trial, ranges(bench, trial)]
        two, peer, one = bench.in_turns([ours, bare + [bench.threads], ours + ['-j', '1']], least=3)
        bench.ratio(f'smd-reduce, six of {what} : open, pread; {bench.threads} threads', two, peer, limit)
        bench.times_as_fast(f'smd-reduce, six of {what}, {bench.threads} threads : 1 thread', two, one)
        bench.peak(f'smd-reduce, six of {what}: peak memory', two)
    trial = bench.trial('mebibytes')
    ours, numpy = bench.in_turns([[bench.tool('smd-reduce'), trial] + six,
                                  bench.peer('reduce_numpy.py', trial, ranges(bench, trial), str(1 << 18))], least=2)
    bench.times_as_fast('smd-reduce, six of values of 1 MiB : NumPy', ours, numpy, 8)
    few, twenty = bench.in_turns([[bench.tool('smd-reduce'), trial, '-s', '0:20', '-r', which]
                                  for which in ('min,max,mean,std', 'all')], least=2)
    bench.ratio('smd-reduce -r all : -r min,max,mean,std', twenty, few, 2.5)
    one = [bench.tool('smd-reduce'), bench.trial('huge_pair')]
    both = one + ['-w', 'all', '--by', 'tensor,step']
    median = ['-r', 'median']
    small, big, pooled, middle, pooled_middle = bench.in_turns(
        [[bench.tool('smd-reduce'), bench.trial('small')], one, both, one + median, both + median], least=1)
    bench.peak('smd-reduce, small tensors: peak memory', small)
    bench.peak('smd-reduce, a tensor of 2 GiB: peak memory', big, 64)
    bench.peak('smd-reduce, 4 GiB in two workers, pooled: peak memory', pooled, 64)
    of_each = bench.option_of('huge_pair', 'big') / MIB
    bench.at_most('smd-reduce -r median, a tensor of 2 GiB: additional peak memory', middle['peak_kib'] / 1024 - of_each,
                  'MiB', 64)
    bench.at_most('smd-reduce -r median, 4 GiB, pooled: additional peak memory',
                  pooled_middle['peak_kib'] / 1024 - 2 * of_each, 'MiB', 64)


def s3(bench):
    """S3"""
    import s3 as measured
    if shutil.which('curl') is None:
        raise Skipped("Debian's package curl is not installed")
    found = measured.measure(os.path.join(bench.installed, 'bin'), quick=bench.options.quick)
    bench.ratio('2,000 objects, 20 ms before each answer : curl --parallel-max 16', found['objects'], found['curl'], 1.25)
    bench.ratio('smd-ls --summary, 1,000 trials : curl --parallel-max 16, the same requests', found['fleet'],
                found['curl_fleet'], 1.3)
    bench.times_as_fast('1,000 values of one scalar : the same requests one by one', found['values'],
                        found['one_by_one'], 20)
    bench.times_as_fast('1,000 values of one scalar : a listing for each, as the reference', found['values'],
                        found['reference'], 20)
    bench.at_most('one value at the last step of 1,000', found['last_requests'], 'requests', 6)


def log_directories(bench):
    """Log directories of TensorBoard"""
    for name, what in (('logs_ten', '10 tags x 100,000 steps'), ('logs_one', '1 tag x 1,000,000 steps')):
        logs = bench.logs(name)
        csv = [bench.tool('smd-tensor'), logs, 'train/loss', '-s', ':', '--csv', '--columns', 'step,wall_time,value']
        ours, tag, check = bench.in_turns([[bench.tool('smd-ls'), logs], csv,
                                           [bench.program('bench_bare_logs'), 'check', logs, '1']])
        bench.ratio(f'smd-ls, {what} : read, check both checksums', ours, check, 1.5)
        bench.peak(f'smd-ls, {what}: peak memory', ours, 32)
        bench.ratio(f'smd-tensor --csv of one tag, {what} : read, check both checksums', tag, check, 1.5)
        bench.peak(f'smd-tensor --csv of one tag, {what}: peak memory', tag, 32)
        python, python_tag = bench.in_turns([bench.peer('scalars_struct.py', logs),
                                             bench.peer('scalars_struct.py', logs, 'train/loss')], least=2)
        bench.times_as_fast(f"smd-ls, {what} : Python's struct, nothing checked", ours, python, 100)
        bench.times_as_fast(f"smd-tensor --csv of one tag, {what} : Python's struct, nothing checked", tag, python_tag)
        tensorboard_reader(bench, f"smd-ls, {what} : TensorBoard's EventAccumulator", ours, logs)
    many = bench.logs('logs_many')
    runs = sorted(entry.path for entry in os.scandir(many))
    ours, bare, check = bench.in_turns([[bench.tool('smd-ls'), '--summary', *runs],
                                        [bench.program('bench_bare_logs'), 'read', many, bench.threads],
                                        [bench.program('bench_bare_logs'), 'check', many, bench.threads]], least=2)
    bench.ratio(f'smd-ls --summary, 300 runs : read; {bench.threads} threads', ours, bare, 2)
    bench.ratio(f'smd-ls --summary, 300 runs : read, check both checksums; {bench.threads} threads', ours, check)
    bench.peak('smd-ls --summary, 300 runs: peak memory', ours)


def tensorboard_reader(bench, measurement, ours, logs):
    try:
        bench.output([PYTHON, '-c', 'import tensorboard'], stderr=subprocess.DEVNULL)
    except subprocess.CalledProcessError:
        bench.skip(measurement, f'{PYTHON} has no tensorboard')
        return
    peer, = bench.in_turns([bench.peer('scalars_tensorboard.py', logs)], least=1)
    bench.times_as_fast(measurement, ours, peer, 100)


MEASUREMENTS = (start_up, opening, other_readers, last_step, history, large_values, reductions, log_directories)
