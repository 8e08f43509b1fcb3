# SPDX-License-Identifier: Apache-2.0
"""Trials with very many of one thing, valid or damaged, for growth.py.

A scenario makes its input in a folder and names the commands that read it; `SCENARIOS` is the list, which other modules
may add to. Everything is written in plain Python, so that no command under test makes its own input.
"""

import dataclasses
import json
import os
import struct
import sys
from collections.abc import Callable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'support'))
from event_bytes import field, masked_crc, varint

MAGIC = 0x062DC0B3  # docs/format.md: the footer of a record whose payload has no checksum
EVERYTHING = {'collections': {'all': {'include_regex': ['.*'], 'tensor_names': []}}, '_meta': {'num_workers': 1}}


@dataclasses.dataclass(frozen=True)
class Scenario:
    """`make(folder, n)` writes the input of size n; `{}` in the command lines stands for its folder."""
    name: str  # of letters, digits and dashes: part of a folder's name
    what: str  # what there are n of
    make: Callable
    commands: list  # of lists of words
    statuses: frozenset = frozenset({0})  # permitted exit statuses

    def title(self, words):
        """A command line as the page shows it: without the folder."""
        if words[0] == 'sh':
            return 'smd-save --jsonl'
        return ' '.join(word for word in words if word != '{}')


# --- files of a trial -----------------------------------------------------------------------------------------------

HEADS = {}  # by length, because most records of a trial have the same


def record(step, name, value, tag=None):
    """A float32 scalar; it is damaged if `tag` differs from its name."""
    tensor = b'\x08\x01' + field(2, b'') + field(4, struct.pack('<f', value))
    payload = b'\x10' + varint(step) + field(5, field(1, field(1, (tag or name).encode()) + field(8, tensor)))
    if len(payload) not in HEADS:
        length = struct.pack('<Q', len(payload))
        HEADS[len(payload)] = length + struct.pack('<I', masked_crc(length))
    return HEADS[len(payload)] + payload + struct.pack('<I', MAGIC)


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(content)


def write_collections(trial, document=None, worker='worker_0'):
    write(f'{trial}/collections/000000000/{worker}_collections.json',
          json.dumps(document or EVERYTHING, separators=(',', ':')).encode())


def write_step(trial, names, step=0, worker='worker_0', damaged=False):
    """One float32 scalar for each name."""
    events = f'events/{step:012d}/{step:012d}_{worker}.tfevents'
    content, payload = bytearray(), []
    for i, name in enumerate(names):
        one = record(step, name, 1.5 + i, tag='?' + name[1:] if damaged else None)
        payload.append({'tensorname': name, 'start_idx': len(content), 'length': len(one)})
        content += one
    write(f'{trial}/{events}', content)
    index = {'meta': {'mode': 'GLOBAL', 'mode_step': step, 'event_file_name': events}, 'tensor_payload': payload,
             'shape_payload': []}
    write(f'{trial}/index/{step // 1000:09d}/{step:012d}_{worker}.json', json.dumps(index).encode())


def names(count):
    return [f'block{i % 97}/layer{i:06d}/weight:0' for i in range(count)]


# --- scenarios --------------------------------------------------------------------------------------

def tensors(trial, count):
    write_collections(trial)
    write_step(trial, names(count))


def damaged_records(trial, count):
    write_collections(trial)
    write_step(trial, names(count), damaged=True)


def steps(trial, count):
    write_collections(trial)
    for step in range(count):
        write_step(trial, ['loss'], step)


def workers(trial, count):
    document = {**EVERYTHING, '_meta': {'num_workers': count}}
    for i in range(count):
        write_collections(trial, document, f'worker_{i}')
        write_step(trial, ['loss'], worker=f'worker_{i}')


def collections_files(trial, count):
    """One file for each worker; only one worker has saved."""
    for i in range(count):
        write_collections(trial, worker=f'worker_{i}')
    write_step(trial, ['loss'])


def collections(trial, count):
    document = {'collections': {f'c{i:06d}': {'include_regex': [], 'tensor_names': [f'w{i % 100}']} for i in range(count)},
                '_meta': {'num_workers': 1}}
    write_collections(trial, document)
    write_step(trial, [f'w{i}' for i in range(100)])


def patterns(trial, count):
    """Two collections files with different patterns."""
    for worker in range(2):
        write_collections(trial, {'collections': {'all': {
            'include_regex': [f'^w{worker}_{i:06d}$' for i in range(count)], 'tensor_names': []}},
            '_meta': {'num_workers': 2}}, f'worker_{worker}')
        write_step(trial, [f'w0_{i:06d}' for i in range(10)], worker=f'worker_{worker}')


def dangling_links(trial, count):
    write_collections(trial)
    os.makedirs(f'{trial}/index/000000000')
    for step in range(count):
        os.symlink('/nonexistent', f'{trial}/index/000000000/{step:012d}_worker_0.json')


def lines(folder, count):
    """Standard input of smd-save --jsonl."""
    write(f'{folder}/lines', ''.join(f'{{"step":0,"tensor":"{name}","value":1.5}}\n' for name in names(count)).encode())


READERS = [['smd-ls', '{}'], ['smd-ls', '-l', '{}'], ['smd-ls', '--check', '{}'], ['smd-reduce', '-r', 'min,max', '{}'],
           ['smd-tensor', '-e', '.', '{}'], ['smd-rule', '-k', '-r', 'ExplodingTensor', '{}']]
ALL_WORKERS = [['smd-ls', '--workers', '{}'], ['smd-ls', '-l', '{}'], ['smd-ls', '--check', '{}'],
               ['smd-reduce', '-w', 'all', '-r', 'min,max', '{}'], ['smd-rule', '-k', '-r', 'ExplodingTensor', '{}'],
               ['smd-wait', '--timeout', '0', '{}']]
DAMAGED = frozenset({0, 1, 4})  # names are listed in spite of the damage

SCENARIOS = [
    Scenario('tensors', 'tensors in one step', tensors, READERS),
    Scenario('damaged-records', 'damaged records in one step', damaged_records, READERS, DAMAGED),
    Scenario('steps', 'steps of one scalar', steps,
             [*READERS, ['smd-ls', '--steps', '{}'], ['smd-wait', '--timeout', '0', '--count', '2', '{}']]),
    Scenario('workers', 'workers', workers, ALL_WORKERS),
    Scenario('collections-files', 'collections files', collections_files,
             [['smd-ls', '{}'], ['smd-wait', '--timeout', '0', '{}']]),
    Scenario('collections', 'collections in one file', collections,
             [['smd-ls', '{}'], ['smd-ls', '-l', '{}'], ['smd-ls', '--collections', '{}']]),
    Scenario('patterns', 'patterns in each of two collections files', patterns,
             [['smd-ls', '{}'], ['smd-ls', '--collections', '{}'], ['smd-ls', '-c', 'all', '{}']]),
    Scenario('dangling-links', 'dangling links among the index files', dangling_links, [['smd-ls', '{}']], DAMAGED),
    Scenario('lines', 'lines of one step', lines,
             [['sh', '-c', 'rm -rf "$1/trial" && smd-save --jsonl "$1/trial" <"$1/lines"', 'sh', '{}']]),
]
