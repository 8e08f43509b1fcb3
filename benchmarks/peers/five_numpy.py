# SPDX-License-Identifier: Apache-2.0
"""five_numpy.py FILE: the peer of smd-reduce on checkpoints: min, max, mean, std and the number of NaN of each bfloat16
tensor of a safetensors file."""

import json
import sys

import numpy as np

with open(sys.argv[1], 'rb') as file:
    size = int.from_bytes(file.read(8), 'little')
    for name, entry in json.loads(file.read(size)).items():
        begin, end = entry['data_offsets']
        file.seek(8 + size + begin)
        bits = np.frombuffer(file.read(end - begin), np.uint16)
        values = (bits.astype(np.uint32) << 16).view(np.float32)
        print(name, values.min(), values.max(), values.mean(dtype=np.float64), values.std(dtype=np.float64),
              np.count_nonzero(np.isnan(values)))
