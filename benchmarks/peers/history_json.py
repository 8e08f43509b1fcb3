# SPDX-License-Identifier: Apache-2.0
"""history_json.py TRIAL NAME: the peer of smd-tensor: reads all values of a float32 scalar with Python's json and struct,
from known offsets in the records."""

import json
import os
import struct
import sys

trial, name = sys.argv[1:]
values = {}
for folder in os.scandir(f'{trial}/index'):
    for entry in os.scandir(folder.path):
        with open(entry.path, 'rb') as file:
            index = json.load(file)
        for saved in index['tensor_payload']:
            if saved['tensorname'] == name:
                with open(f"{trial}/{index['meta']['event_file_name']}", 'rb') as events:
                    events.seek(saved['start_idx'])
                    record = events.read(saved['length'])
                # The generator's records end with the group of `mode_step`, its tag and length before it.
                end = record.rindex(b'\n\tmode_step') - 4
                values[int(entry.name.split('_')[0])] = struct.unpack_from('<f', record, end - 4)[0]
for step in sorted(values):
    print(step, values[step], sep='\t')
