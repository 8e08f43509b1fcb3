#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_numpy_cases.py: writes numpy_cases.inc, what NumPy answers about slices, printing and histograms. Made with
NumPy 1.24.2 of Debian 12."""

import itertools
import os

import numpy as np

SHAPES = [(), (1,), (5,), (0,), (2, 3), (3, 4, 2), (2, 0, 3), (1, 1, 1)]
ITEMS = ["0", "-1", "2", "-3", ":", "1:", ":-1", "::2", "::-1", "-2::-1", "5:1:-2", "7:9", "-100:100:3", "...", "2:1",
         "::-9223372036854775807", "::9223372036854775807"]


def literal(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def braces(numbers):
    return "{" + ", ".join(str(int(number)) for number in numbers) + "}"


def slices():
    texts = list(ITEMS)
    texts += [",".join(pair) for pair in itertools.product(ITEMS[:10] + ["..."], repeat=2)]
    texts += ["0,...,1", "...,0,::-1", ":,1,0", "1,2,1", "::-1,::-1,::-1", "0,0,0,0", "-1,...", "0,"]
    for shape in SHAPES:
        array = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
        for text in texts:
            try:
                part = eval("array[" + text + "]", {"array": array})  # pylint: disable=eval-used
                error = ""
            except IndexError as problem:
                part, error = np.zeros(0), str(problem)
            yield f"{{{braces(shape)}, {literal(text)}, {braces(np.shape(part)) if not error else '{}'}, " \
                  f"{braces(np.ravel(part))}, {literal(error)}}},"


def prints():
    for shape, width in [((), 80), ((3,), 80), ((30,), 40), ((2, 3), 80), ((2, 2, 3), 80), ((3, 1, 2, 2), 80), ((0,), 80),
                         ((2, 40), 60), ((1001,), 80), ((40, 40), 80), ((10, 11, 12), 80), ((1000,), 75),
                         ((7, 200), 30), ((1, 1500), 80)]:
        array = (np.arange(int(np.prod(shape)), dtype=np.int64) * 37 % 1009 - 300).reshape(shape)
        text = np.array2string(array, max_line_width=width, threshold=1000, edgeitems=3)
        # NumPy leaves blanks at the end of some lines; nobody sees them.
        text = "\n".join(line.rstrip() for line in text.split("\n"))
        yield f"{{{braces(shape)}, {width}, {literal(text)}}},"


def histograms():
    data = (np.arange(1000) * 37 % 1009 - 300) / 8
    for count, bounds in [(10, None), (1, None), (7, None), (16, (-40, 40)), (3, (0, 0)), (10, (-300 / 8, 88.5)),
                          (100, (0.1, 0.3)), (5, (1000, 2000))]:
        counts, edges = np.histogram(data, bins=count, range=bounds)
        low, high = bounds if bounds else (0, 0)
        yield f"{{{count}, {'true' if bounds else 'false'}, {float(low)!r}, {float(high)!r}, {braces(counts)}, " \
              f"{{{', '.join(repr(float(edge)) for edge in edges)}}}}},"


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "numpy_cases.inc"), "w", encoding="utf-8") as file:
        file.write("// SPDX-License-Identifier: Apache-2.0\n// Written by make_numpy_cases.py; do not edit.\n")
        for macro, rows in (("SMD_SLICE_CASES", slices()), ("SMD_PRINT_CASES", prints()),
                            ("SMD_HISTOGRAM_CASES", histograms())):
            file.write(f"#ifdef {macro}\n" + "".join(row + "\n" for row in rows) + "#endif\n")


if __name__ == "__main__":
    main()
