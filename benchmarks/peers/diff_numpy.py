# SPDX-License-Identifier: Apache-2.0
"""diff_numpy.py A B: the peer of smd-diff: the statistics of its rows with NumPy, of each float32 tensor of two safetensors
files, tensor by tensor."""

import json
import sys

import numpy as np


def tensors(path):
    with open(path, 'rb') as file:
        size = int.from_bytes(file.read(8), 'little')
        header = json.loads(file.read(size))
        for name, entry in header.items():
            begin, end = entry['data_offsets']
            file.seek(8 + size + begin)
            yield name, np.frombuffer(file.read(end - begin), np.float32)


for (name, a), (_, b) in zip(tensors(sys.argv[1]), tensors(sys.argv[2])):
    if a.tobytes() == b.tobytes():
        continue
    a, b = a.astype(np.float64), b.astype(np.float64)
    d = np.abs(a - b)
    with np.errstate(divide='ignore', invalid='ignore'):
        relative = np.nanmax(d / np.abs(b))
    norms = [np.sqrt(np.dot(x, x)) for x in (a, b, d)]
    print(name, np.count_nonzero(d), d.max(), relative, d.mean(), norms, np.dot(a, b) / norms[0] / norms[1],
          np.flatnonzero(d)[0])
