# SPDX-License-Identifier: Apache-2.0
"""Reads a trial according to docs/format.md, with struct, json and NumPy. Shares no code with the library."""

import json
import struct

import numpy

DTYPES = {1: '<f4', 2: '<f8', 3: '<i4', 4: '|u1', 5: '<i2', 6: '|i1', 8: '<c8', 9: '<i8', 10: '|b1', 17: '<u2',
          18: '<c16', 19: '<f2', 22: '<u4', 23: '<u8'}


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(crc):
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """(number, value) of a protobuf message: numbers, or bytes."""
    at, found = 0, []
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        elif key & 7 == 5:
            value, at = data[at:at + 4], at + 4
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f'wire type {key & 7}')
        found.append((key >> 3, value))
    return found


def one(message, number, default=None):
    values = [value for field, value in message if field == number]
    return values[-1] if values else default


def read_record(data, checksum):
    length, = struct.unpack('<Q', data[:8])
    assert struct.unpack('<I', data[8:12])[0] == masked(crc32c(data[:8])), 'checksum of the length'
    assert length == len(data) - 16, 'length'
    payload = data[12:-4]
    footer, = struct.unpack('<I', data[-4:])
    assert footer == (masked(crc32c(payload)) if checksum else 0x062DC0B3), 'footer'
    event = fields(payload)
    value = fields(one(fields(one(event, 5)), 1))
    tensor = fields(one(value, 8))
    shape = [one(fields(dim), 1, 0) for number, dim in fields(one(tensor, 2, b'')) if number == 2]
    plugins = {}
    for number, plugin in fields(one(value, 9)):
        assert number == 1
        plugins[one(fields(plugin), 1).decode()] = int(one(fields(plugin), 2))
    dtype = one(tensor, 1, 0)
    if dtype == 0:
        array = numpy.array([text.decode() for number, text in tensor if number == 8], dtype=object)
    else:
        array = numpy.frombuffer(one(tensor, 4, b''), DTYPES[dtype])
    assert struct.unpack('<d', one(event, 1))[0] > 1.5e9, 'wall time'
    return one(value, 1, b'').decode(), one(event, 2, 0), array.reshape(shape), plugins


def read_step(trial, step, worker, checksum):
    with open(f'{trial}/index/{step // 1000:09}/{step:012}_{worker}.json', encoding='ascii') as file:
        index = json.load(file)
    name = f'events/{step:012}/{step:012}_{worker}.tfevents'
    values = {}
    if index['tensor_payload']:
        assert index['meta']['event_file_name'] == name
        with open(f'{trial}/{name}', 'rb') as file:
            events = file.read()
        end = 0
        for entry in index['tensor_payload']:
            assert entry['start_idx'] == end, 'records follow one another'
            end += entry['length']
            tag, global_step, array, plugins = read_record(events[entry['start_idx']:end], checksum)
            assert tag == entry['tensorname'] and global_step == step
            assert plugins == {'mode_step': index['meta']['mode_step'],
                               'mode': ['TRAIN', 'EVAL', 'PREDICT', 'GLOBAL'].index(index['meta']['mode']) + 1}
            values[tag] = array
        assert end == len(events)
    return index, values
