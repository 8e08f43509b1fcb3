# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: opened, reduced, and compared with another; in turns with bare reading and with NumPy."""

import json
import os
import subprocess
import sys

from bench import MIB, PYTHON

TENSOR_BYTES = 64 * MIB


def write(path, dtype, tensors, change):
    """A safetensors file of random weights; with `change`, of nearly the same ones."""
    import numpy as np  # of the Python that has it: see `written`
    names = [f'layers.{i}.weight' for i in range(tensors)]
    header = {name: {'dtype': {'float32': 'F32', 'bfloat16': 'BF16'}[dtype],
                     'shape': [1024, TENSOR_BYTES // 1024 // (4 if dtype == 'float32' else 2)],
                     'data_offsets': [i * TENSOR_BYTES, (i + 1) * TENSOR_BYTES]} for i, name in enumerate(names)}
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as file:
        file.write(len(text).to_bytes(8, 'little') + text)
        for i in range(tensors):
            weights = np.random.default_rng(i).standard_normal(TENSOR_BYTES // 4, np.float32)
            if change:
                weights *= 1 + 0.01 * np.random.default_rng(i + tensors).standard_normal(len(weights), np.float32)
            if dtype == 'bfloat16':
                weights = (np.concatenate([weights, -weights]).view(np.uint32) >> 16).astype(np.uint16)
            file.write(weights.tobytes())


def written(bench, name, dtype, change):
    """The folder of a checkpoint of 2 GiB."""
    tensors = 2 if bench.options.quick else 32
    folder = os.path.join(bench.work, ('quick-' if bench.options.quick else '') + name)
    file = os.path.join(folder, 'model.safetensors')
    if not os.path.exists(file):
        os.makedirs(folder, exist_ok=True)
        subprocess.run([PYTHON, __file__, file + '.partly', dtype, str(tensors), str(int(change))], check=True)
        os.rename(file + '.partly', file)
    return folder, file


def differences(bench):
    """Differences of checkpoints"""
    base, base_file = written(bench, 'checkpoint', 'float32', False)
    for name, what, dtype, change, limit in (
            ('checkpoint_same', 'equal', 'float32', False, 1.05),
            ('checkpoint_other', 'every weight differs', 'float32', True, 1.2),
            ('checkpoint_half', 'bfloat16, every weight differs', 'bfloat16', True, 1.2)):
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


if __name__ == '__main__':
    write(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == '1')
