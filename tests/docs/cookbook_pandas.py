# SPDX-License-Identifier: Apache-2.0
"""The part of pandas that the cookbook uses: reads rows of CSV into a table."""
import csv


class DataFrame:
    def __init__(self, rows):
        self.rows = rows

    def pivot(self, index, columns, values):
        table = {}
        for row in self.rows:
            cells = table.setdefault(row[index], {})
            assert row[columns] not in cells, "pandas refuses duplicates"
            cells[row[columns]] = row[values]
        return DataFrame([{index: key, **cells} for key, cells in table.items()])

    def __str__(self):
        return "\n".join(["\t".join(self.rows[0])] + ["\t".join(row.values()) for row in self.rows])


def read_csv(file):
    return DataFrame(list(csv.DictReader(file)))
