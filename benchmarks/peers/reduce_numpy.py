# SPDX-License-Identifier: Apache-2.0
"""reduce_numpy.py TRIAL LIST ELEMENTS: the peer of smd-reduce: computes six reductions with NumPy, of the float32 elements
at a known offset in each range of a list of lines `FILE OFFSET LENGTH`."""

import sys

import numpy as np


def place(record):
    """The end of the elements in the generator's records: before tag and length of `mode_step`'s group."""
    return record.rindex(b'\n\tmode_step') - 4


trial, ranges, elements = sys.argv[1], sys.argv[2], int(sys.argv[3])
total = 0.0
name, file = None, None
for line in open(ranges, encoding='utf-8'):
    wanted, offset, length = line.split()
    if wanted != name:
        name, file = wanted, open(f'{trial}/{wanted}', 'rb')
    file.seek(int(offset))
    record = file.read(int(length))
    x = np.frombuffer(record, np.float32, elements, place(record) - 4 * elements)
    total += float(x.min() + x.max() + x.mean() + x.std() + np.linalg.norm(x) + np.abs(x).mean())
print(total)
