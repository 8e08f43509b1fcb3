# SPDX-License-Identifier: Apache-2.0
"""scalars_struct.py FOLDER [TAG]: the peer of smd-ls and smd-tensor on a log directory with one event file of scalars:
reads it with struct and checks nothing. Prints the tags with their number of values, or step, wall time and value of
each value of TAG."""

import collections
import os
import struct
import sys

DOUBLE, FLOAT, LENGTH = struct.Struct('<d'), struct.Struct('<f'), struct.Struct('<Q')


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def scalars(data):
    """(tag, step, wall time, value) of each record with a scalar."""
    at = 0
    while at < len(data):
        length, = LENGTH.unpack_from(data, at)
        place = at + 12
        at = end = place + length
        at += 4
        wall_time, = DOUBLE.unpack_from(data, place + 1)
        place += 9
        step = 0
        if data[place] == 0x10:
            step, place = varint(data, place + 1)
        if place < end and data[place] == 0x2a:  # Event.summary
            _, place = varint(data, place + 1)
            _, place = varint(data, place + 1)  # Summary.value
            size, place = varint(data, place + 1)  # Value.tag
            value, = FLOAT.unpack_from(data, place + size + 1)
            yield data[place:place + size], step, wall_time, value


def main():
    name, = (entry.path for entry in os.scandir(sys.argv[1]) if 'tfevents' in entry.name)
    with open(name, 'rb') as file:
        data = file.read()
    if len(sys.argv) > 2:
        wanted = sys.argv[2].encode()
        sys.stdout.writelines(f'{step},{wall_time!r},{value!r}\n' for tag, step, wall_time, value in scalars(data)
                              if tag == wanted)
        return
    for tag, count in sorted(collections.Counter(tag for tag, *_ in scalars(data)).items()):
        print(tag.decode(), count)


main()
