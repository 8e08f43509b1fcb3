# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: opened, reduced, and compared with another; in turns with bare reading and with NumPy."""

import json
import math
import os
import re
import struct
import subprocess
import sys

from bench import MIB, PYTHON

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'support'))
from torch_file import STORAGES, Storage, Tensor, write_pt

TENSOR_BYTES = 64 * MIB


def weights(dtype, i, tensors, change):
    """The bytes of a tensor of random weights; with `change`, of nearly the same ones."""
    import numpy as np  # of the Python that has it: see `written`
    values = np.random.default_rng(i).standard_normal(TENSOR_BYTES // 4, np.float32)
    if change == 'zeros':
        values[values < 0] = 0
    elif change:
        values *= 1 + 0.01 * np.random.default_rng(i + tensors).standard_normal(len(values), np.float32)
    if dtype == 'float32':
        return values.tobytes()
    values = np.concatenate([values, values if change == 'zeros' else -values])
    return (values.astype(np.float16) if dtype == 'float16' else (values.view(np.uint32) >> 16).astype(np.uint16)).tobytes()


def write(path, dtype, tensors, change):
    """A safetensors file."""
    names = [f'layers.{i}.weight' for i in range(tensors)]
    header = {name: {'dtype': {'float32': 'F32', 'bfloat16': 'BF16', 'float16': 'F16'}[dtype],
                     'shape': [1024, TENSOR_BYTES // 1024 // (4 if dtype == 'float32' else 2)],
                     'data_offsets': [i * TENSOR_BYTES, (i + 1) * TENSOR_BYTES]} for i, name in enumerate(names)}
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as file:
        file.write(len(text).to_bytes(8, 'little') + text)
        for i in range(tensors):
            file.write(weights(dtype, i, tensors, change))


def write_weights_pt(path, dtype, tensors, change):
    """The same weights as `write` has."""
    size = STORAGES[dtype][1]
    write_pt(path, {f'layers.{i}.weight': Tensor(Storage(dtype, str(i), TENSOR_BYTES),
                                                 (1024, TENSOR_BYTES // 1024 // size), (TENSOR_BYTES // 1024 // size, 1))
                    for i in range(tensors)}, lambda i: weights(dtype, i, tensors, change))


def written(bench, name, dtype, change, file='model.safetensors'):
    """The folder of a checkpoint of 2 GiB."""
    tensors = 2 if bench.options.quick else 32
    folder = os.path.join(bench.work, ('quick-' if bench.options.quick else '') + name)
    file = os.path.join(folder, file)
    if not os.path.exists(file):
        os.makedirs(folder, exist_ok=True)
        subprocess.run([PYTHON, __file__, file + '.partly', dtype, str(tensors), str(change or '')], check=True)
        os.rename(file + '.partly', file)
    return folder, file


def differences(bench):
    """Differences of checkpoints"""
    base, base_file = written(bench, 'checkpoint', 'float32', False)
    for name, what, dtype, change, limit in (
            ('checkpoint_same', 'equal', 'float32', False, 1.05),
            ('checkpoint_other', 'every weight differs', 'float32', True, 1.2),
            ('checkpoint_half', 'bfloat16, every weight differs', 'bfloat16', True, 1.75)):
        a, file_a = (base, base_file) if dtype == 'float32' else written(bench, name + '_a', dtype, False)
        b, file_b = written(bench, name, dtype, change)
        ours, bare, *numpy = bench.in_turns(
            [[bench.tool('smd-diff'), a, b], [bench.program('bench_bare_pairs'), file_a, file_b, bench.threads],
             *([bench.peer('diff_numpy.py', file_a, file_b)] if dtype == 'float32' and change else [])],
            least=3, statuses=frozenset({0, 1}))
        bench.ratio(f'smd-diff, 2 x 2 GiB, {what} : read both, compare bytes; {bench.threads} threads', ours, bare, limit)
        bench.peak(f'smd-diff, 2 x 2 GiB, {what}: peak memory', ours, 64)
        for peer in numpy:
            bench.times_as_fast(f'smd-diff, 2 x 2 GiB, {what} : NumPy', ours, peer, 8)


def many_shards(bench):
    """A folder of 30 shards of 1,000 small tensors, with their index: the files of a large model with little in them."""
    folder = os.path.join(bench.work, 'shards')
    if os.path.exists(os.path.join(folder, 'model.safetensors.index.json')):
        return folder
    os.makedirs(folder, exist_ok=True)
    names = [f'model.layers.{layer}.mlp.experts.{expert}.{part}_proj.weight'
             for layer in range(100) for expert in range(100) for part in ('gate', 'up', 'down')]
    weight_map = {}
    for shard in range(30):
        file = f'model-{shard + 1:05}-of-00030.safetensors'
        of_file = sorted(names[shard * 1000:(shard + 1) * 1000])
        header = {name: {'dtype': 'BF16', 'shape': [2, 4], 'data_offsets': [16 * i, 16 * (i + 1)]}
                  for i, name in enumerate(of_file)}
        text = json.dumps(header, separators=(',', ':')).encode()
        text += b' ' * (-len(text) % 8)
        with open(os.path.join(folder, file), 'wb') as out:
            out.write(len(text).to_bytes(8, 'little') + text + bytes(16 * len(of_file)))
        weight_map.update(dict.fromkeys(of_file, file))
    with open(os.path.join(folder, 'model.safetensors.index.json'), 'w') as out:
        json.dump({'metadata': {}, 'weight_map': weight_map}, out, indent=2, sort_keys=True)
    return folder


def checkpoints(bench):
    """Checkpoints"""
    shards = many_shards(bench)
    ours, empty, loads = bench.in_turns([[bench.tool('smd-ls'), '-q', shards], [bench.tool('smd-ls'), '--version'],
                                         bench.peer('headers_json.py', shards)])
    bench.report('smd-ls -q, 30 shards of 1,000 tensors : --version', ours['best'] * 1e3, empty['best'] * 1e3, 'ms',
                 ours['best'] * 1e3, 10)
    bench.times_as_fast("smd-ls -q, 30 shards of 1,000 tensors : Python's json", ours, loads, 1)
    folder, file = written(bench, 'checkpoint_half_a', 'bfloat16', False)
    ours, bare, numpy = bench.in_turns(
        [[bench.tool('smd-reduce'), '-r', 'min,max,mean,std,nan', folder],
         [bench.program('bench_bare_pairs'), file, '-', bench.threads], bench.peer('five_numpy.py', file)], least=3)
    bench.times_as_fast(f'smd-reduce, five of 2 GiB of bfloat16 : pread; {bench.threads} threads', ours, bare, 0.9)
    bench.times_as_fast('smd-reduce, five of 2 GiB of bfloat16 : NumPy', ours, numpy, 8)
    bench.peak('smd-reduce, five of 2 GiB of bfloat16: peak memory', ours, 64)


def small_pt(bench):
    """A .pt file of 1,000 small tensors."""
    path = os.path.join(bench.work, 'thousand.pt')
    if not os.path.exists(path):
        write_pt(path, {f'model.layers.{i // 10}.part{i % 10}.weight': Tensor(Storage('bfloat16', str(i), 16), (2, 4), (4, 1))
                        for i in range(1000)}, lambda i: bytes(16))
    return path


def square_pt(bench, transposed):
    """A .pt file of one square matrix of float32, of 1 GiB."""
    side = 1 << (11 if bench.options.quick else 14)
    path = os.path.join(bench.work, f'sines-{side}{"-transposed" if transposed else ""}.pt')
    if not os.path.exists(path):
        row = struct.pack(f'<{side}f', *map(math.sin, range(side)))
        write_pt(path, {'weight': Tensor(Storage('float32', '0', 4 * side * side), (side, side),
                                         (1, side) if transposed else (side, 1))}, lambda i: row * side)
    return path


def pytorch(bench):
    """Checkpoints of PyTorch"""
    small = small_pt(bench)
    ours, quiet, version = bench.in_turns([[bench.tool('smd-ls'), small], [bench.tool('smd-ls'), '-q', small],
                                           [bench.tool('smd-ls'), '--version']], least=50)
    bench.ratio('smd-ls, a .pt of 1,000 tensors : --version', ours, version, 2, by='median')
    bench.ratio('smd-ls -q, a .pt of 1,000 tensors : --version', quiet, version, by='median')
    files = [[written(bench, name, 'bfloat16', change, file)[1] for name, change in
              (('checkpoint_half_a', False), ('checkpoint_half', True))] for file in ('model.pt', 'model.safetensors')]
    for what, command, statuses, several in (
            ('smd-reduce, five of 2 GiB', ['smd-reduce', '-r', 'min,max,mean,std,nan'], {0}, False),
            ('smd-diff, 2 x 2 GiB', ['smd-diff'], {1}, True)):
        command[0] = bench.tool(command[0])
        pt, safe = (pair if several else pair[:1] for pair in files)
        checked, unchecked, safetensors = bench.in_turns([command + pt, command + ['--no-verify'] + pt, command + safe],
                                                         least=5, statuses=frozenset(statuses))
        bench.ratio(f'{what} of bfloat16 in .pt : in safetensors', checked, safetensors, 1.03, by='median')
        bench.ratio(f'{what} of bfloat16 in .pt, --no-verify : in safetensors', unchecked, safetensors, 1.03, by='median')
    for what, command in (('smd-reduce, six', [bench.tool('smd-reduce'), '-r', 'min,max,mean,std,l2,abs_mean']),
                          ('smd-tensor -f raw', [bench.tool('smd-tensor'), '-f', 'raw'])):
        across, along = bench.in_turns([command + [square_pt(bench, transposed)] + ['weight'] * ('raw' in what)
                                        for transposed in (True, False)], least=5)
        bench.ratio(f'{what}, a transposed tensor of 1 GiB : a contiguous one', across, along, 3, by='median')
        bench.peak(f'{what}, a transposed tensor of 1 GiB: peak memory', across, 64)


def half_floats(bench):
    """16-bit floats"""
    for name, what, dtype, change, limit in (('checkpoint_half_a', 'bfloat16', 'bfloat16', False, 0.78),
                                             ('checkpoint_float16', 'float16', 'float16', False, 0.78),
                                             ('checkpoint_zeros', 'bfloat16 full of zeros', 'bfloat16', 'zeros', 0.65)):
        _, file = written(bench, name, dtype, change)
        ours, bare = bench.in_turns([[bench.tool('smd-reduce'), '-r', 'nan,inf,min,max,zero', file],
                                     [bench.program('bench_bare_pairs'), file, '-', bench.threads]], least=7)
        bench.times_as_fast(f'smd-reduce, nan,inf,min,max,zero of 2 GiB of {what} : pread; {bench.threads} threads', ours,
                            bare, limit, by='median')
        for target, least in ('AVX2', limit), ('SSE4', min(limit, 0.68)):
            lines = bench.output([bench.program('reduce_micro'), target, file, dtype])
            if target not in lines:
                bench.skip(f'nan,inf,min,max,zero, {target}', 'this CPU has no such instructions')
                continue
            ours, bare = map(float, re.search(r': ([\d.]+) GB/s, pread ([\d.]+)', lines).groups())
            bench.speed(f'pread and nan,inf,min,max,zero of 2 GiB of {what}, one thread, {target} : pread', ours, bare,
                        'GB/s', least)
    pair = [written(bench, name, 'float32', False)[1] for name in ('checkpoint', 'checkpoint_same')]
    ours, bare = bench.in_turns([[bench.tool('smd-diff'), '-q', *pair],
                                 [bench.program('bench_bare_pairs'), *pair, bench.threads]], least=7)
    bench.ratio(f'smd-diff -q, 2 x 2 GiB, equal : read both, compare bytes; {bench.threads} threads', ours, bare, 1.05,
                by='median')


if __name__ == '__main__':
    PATH, DTYPE, COUNT, CHANGE = sys.argv[1:]
    (write_weights_pt if PATH.endswith('.pt.partly') else write)(PATH, DTYPE, int(COUNT), CHANGE)
