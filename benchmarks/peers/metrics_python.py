# SPDX-License-Identifier: Apache-2.0
"""metrics_python.py csv|json FILE: reads all numbers of a metric log with Python's own modules."""

import csv
import json
import sys

WAY, FILE = sys.argv[1:]
with open(FILE, newline='', encoding='ascii') as file:
    if WAY == 'csv':
        rows = csv.reader(file)
        next(rows)
        for row in rows:
            for field in row:
                float(field)
    else:
        for line in file:
            json.loads(line)
