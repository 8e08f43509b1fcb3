# SPDX-License-Identifier: Apache-2.0
"""reduce_numpy.py TRIAL LIST ELEMENTS: what smd-reduce is measured against: six reductions of the float32 elements at
the end of each range of a list of lines `FILE OFFSET LENGTH`, by NumPy, where the elements are known to lie."""

import sys

import numpy as np


def place(record):
    """Where the elements end, as the generator writes records: before tag and length of `mode_step`'s group."""
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
