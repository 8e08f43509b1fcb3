# SPDX-License-Identifier: Apache-2.0
"""Metric logs: CSV, JSON lines and run files of W&B, in turns with bare loops and with Python's csv and json."""

import os
import random
import struct
import zlib

BLOCK = 32768


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def item(key, value):
    return field(1, field(2, key.encode()) + field(16, value.encode()))


class RunFile:
    """Writes chunks as the SDK does."""

    def __init__(self, path):
        self.out = open(path, "wb")
        self.at = self.out.write(b":W&B\xe1\xbe\x00")

    def add(self, record):
        first = True
        while first or record:
            left = BLOCK - self.at % BLOCK
            if left < 7:
                self.at += self.out.write(bytes(left))
                continue
            part, record = record[:left - 7], record[left - 7:]
            kind = (1 if not record else 2) if first else (3 if record else 4)
            checked = bytes([kind]) + part
            self.at += self.out.write(struct.pack("<IH", zlib.crc32(checked), len(part)) + checked)
            first = False


def make(folder, rows):
    """A CSV, JSON lines and a run file of W&B with the same numbers."""
    chance, order = random.Random(1), random.Random(2)
    run = RunFile(f"{folder}/run-a.wandb")
    with open(f"{folder}/log.csv", "w", encoding="ascii") as table, \
            open(f"{folder}/log.jsonl", "w", encoding="ascii") as lines:
        table.write("step,loss,acc,lr\n")
        for step in range(rows):
            loss, acc, lr = (repr(chance.random()) for _ in range(3))
            table.write(f"{step},{loss},{acc},{lr}\n")
            lines.write(f'{{"step": {step}, "loss": {loss}, "acc": {acc}, "lr": {lr}}}\n')
            items = [item("_step", str(step)), item("_timestamp", str(1700000000 + step)), item("loss", loss),
                     item("acc", acc), item("lr", lr)]
            order.shuffle(items)  # as the SDK does
            run.add(field(2, b"".join(items)))
    run.out.close()


def made(bench):
    rows = 10_000 if bench.options.quick else 1_000_000
    folder = os.path.join(bench.work, f'metric-logs-any-order-{rows}')
    if not os.path.exists(folder):
        os.makedirs(folder + '.partly', exist_ok=True)
        make(folder + '.partly', rows)
        os.rename(folder + '.partly', folder)
    return folder


def metric_logs(bench):
    """Metric logs"""
    folder = made(bench)
    for name, what, way, does, listing, tensor, python in (
            ('log.csv', 'rows of CSV', 'lines', 'find line ends', 1.5, None, 'csv'),
            ('log.jsonl', 'JSON lines', 'lines', 'find line ends', None, None, 'json'),
            ('run-a.wandb', 'records of W&B', 'records', 'check CRCs, find record ends', 1.8, 2.5, None)):
        path = os.path.join(folder, name)
        ours, threads, column, bare, *slow = bench.in_turns(
            [[bench.tool('smd-ls'), '-j', '1', '--columns', 'tensor,steps', path],
             [bench.tool('smd-ls'), '--columns', 'tensor,steps', path],
             [bench.tool('smd-tensor'), '-j', '1', path, 'loss', '-s', ':', '--csv'],
             [bench.program('bench_bare_metrics'), way, path],
             *([bench.peer('metrics_python.py', python, path)] if python else [])], least=5)
        what = f'a million {what}'
        bench.ratio(f'smd-ls -j 1, {what} : {does}', ours, bare, listing, by='median')
        bench.ratio(f'smd-ls, a thread per CPU, {what} : {does}', threads, bare, by='median')
        if python == 'csv':  # nothing is read later: opening reads all cells
            bench.ratio(f'all cells as numbers, -j 1, {what} : {does}', ours, bare, 3, by='median')
        bench.ratio(f'smd-tensor -j 1 --csv of one name, {what} : {does}', column, bare, tensor, by='median')
        for peer in slow:
            bench.times_as_fast(f"smd-ls -j 1, {what} : Python's {python}", ours, peer, by='median')
            bench.times_as_fast(f"smd-ls, {what} : Python's {python}", threads, peer, 12, by='median')
        bench.peak(f'smd-ls, {what}: peak memory', threads, 64)
        bench.peak(f'smd-tensor --csv of one name, {what}: peak memory', column, 64)
