# SPDX-License-Identifier: Apache-2.0
"""names_json.py TRIAL: the peer of smd-ls: reads the names in all index files with Python's json."""

import json
import os
import sys

names = set()
for folder in os.scandir(f'{sys.argv[1]}/index'):
    for entry in os.scandir(folder.path):
        with open(entry.path, 'rb') as file:
            names.update(saved['tensorname'] for saved in json.load(file)['tensor_payload'])
print('\n'.join(sorted(names)))
