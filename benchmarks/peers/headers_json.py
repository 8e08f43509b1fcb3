# SPDX-License-Identifier: Apache-2.0
"""headers_json.py FOLDER: the peer of smd-ls on shards: parses the headers and the index with Python's json."""

import json
import os
import sys

names = set()
for leaf in sorted(os.listdir(sys.argv[1])):
    with open(os.path.join(sys.argv[1], leaf), 'rb') as file:
        if leaf.endswith('.safetensors'):
            names.update(json.loads(file.read(int.from_bytes(file.read(8), 'little'))))
        else:
            json.load(file)
print(len(names))
