# SPDX-License-Identifier: Apache-2.0
"""rule_numpy.py TRIAL ELEMENTS: the peer of VanishingGradient: computes the mean absolute value of every gradient with
NumPy, from the float32 elements at a known offset in each record that the index files name. Prints the number of
gradients, and how many of these values are below 1e-7."""
import json
import os
import sys

import numpy as np

trial, elements = sys.argv[1], int(sys.argv[2])
evaluated = below = 0
for folder, folders, files in os.walk(f'{trial}/index'):
    folders.sort()
    for name in sorted(files):
        with open(f'{folder}/{name}', encoding='utf-8') as text:
            index = json.load(text)
        with open(f"{trial}/{index['meta']['event_file_name']}", 'rb') as events:
            for saved in index['tensor_payload']:
                if not saved['tensorname'].startswith('gradient'):
                    continue
                events.seek(saved['start_idx'])
                record = events.read(saved['length'])
                # The generator's records end with the group of `mode_step`, its tag and length before it.
                end = record.rindex(b'\n\tmode_step') - 4
                x = np.frombuffer(record, np.float32, elements, end - 4 * elements)
                below += bool(np.abs(x).mean(dtype=np.float64) < 1e-7)
                evaluated += 1
print(evaluated, below)
