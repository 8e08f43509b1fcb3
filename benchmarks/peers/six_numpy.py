# SPDX-License-Identifier: Apache-2.0
"""six_numpy.py: the peer of the kernels: six reductions of 1 MiB by NumPy, one call each. Prints GB/s by type as JSON, each
the best of many rounds."""

import json
import time

import numpy as np


def six(x):
    return x.min(), x.max(), x.mean(), x.std(), np.linalg.norm(x), np.abs(x).mean()


np.seterr(over='ignore')  # in sums of float16
speeds = {}
for dtype in ('float32', 'float64', 'float16', 'int8', 'int64'):
    numbers = np.random.default_rng(1).standard_normal((1 << 20) // np.dtype(dtype).itemsize)
    x = (numbers * (1 if dtype.startswith('f') else 20)).astype(dtype)
    best = float('inf')
    for _ in range(30 if dtype == 'float16' else 200):
        start = time.perf_counter()
        six(x)
        best = min(best, time.perf_counter() - start)
    speeds[dtype] = x.nbytes * 1e-9 / best
print(json.dumps(speeds))
