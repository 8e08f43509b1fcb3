#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""metric_logs.py TOOLS [ROWS]: makes a CSV, JSON lines and a run file of W&B with ROWS rows (1,000,000), and prints the
median times of smd-ls and smd-tensor beside those of `wc -l` (finds line ends), of CRC-32 over all bytes (zlib), and of
Python's csv and json."""

import csv
import json
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time
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
    chance = random.Random(1)
    run = RunFile(f"{folder}/run-a.wandb")
    with open(f"{folder}/log.csv", "w", encoding="ascii") as table, \
            open(f"{folder}/log.jsonl", "w", encoding="ascii") as lines:
        table.write("step,loss,acc,lr\n")
        for step in range(rows):
            loss, acc, lr = (repr(chance.random()) for _ in range(3))
            table.write(f"{step},{loss},{acc},{lr}\n")
            lines.write(f'{{"step": {step}, "loss": {loss}, "acc": {acc}, "lr": {lr}}}\n')
            run.add(field(2, item("_step", str(step)) + item("_timestamp", str(1700000000 + step)) + item("loss", loss) +
                          item("acc", acc) + item("lr", lr)))
    run.out.close()


def median(work, rounds=5):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def run(*command):
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def checksum(path):
    with open(path, "rb") as file:
        while block := file.read(1 << 18):
            zlib.crc32(block)


def python_csv(path):
    with open(path, newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            for value in row.values():
                float(value)


def python_json(path):
    with open(path, encoding="ascii") as file:
        for line in file:
            json.loads(line)


def main():
    tools = sys.argv[1]
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        make(folder, rows)
        for name, bare, python in (("log.csv", None, python_csv), ("log.jsonl", None, python_json),
                                   ("run-a.wandb", checksum, None)):
            path = f"{folder}/{name}"
            base = median((lambda: run("wc", "-l", path)) if bare is None else lambda: bare(path))
            listing = median(lambda: run(f"{tools}/smd-ls", "-j", "1", path))
            one = median(lambda: run(f"{tools}/smd-tensor", "-j", "1", path, "loss", "-s", ":", "--csv"))
            peak = subprocess.run(["/usr/bin/env", "python3", "-c",
                                   "import resource,subprocess,sys;subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL);"
                                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)", f"{tools}/smd-ls", path],
                                  stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
            text = f"{name} ({os.path.getsize(path) >> 20} MiB): listing {listing:.3f} s ({listing / base:.1f} x bare " \
                   f"{base:.3f} s), one name as CSV {one:.3f} s ({one / base:.1f} x), peak {int(peak) >> 10} MiB"
            if python is not None:
                slow = median(lambda: python(path), 1)
                text += f", Python {slow:.2f} s ({slow / listing:.0f} x listing)"
            print(text, flush=True)


if __name__ == "__main__":
    main()
