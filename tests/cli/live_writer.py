# SPDX-License-Identifier: Apache-2.0
"""A writer of trials for tests of following: plain Python, files appear as the hook makes them, on a script of chance.

    live_writer.py TRIAL --steps N --workers W --seed S [--crash] [--shuffle] [--remake]

Each step holds one float64 `value`, 1000 * step + the worker's number. Every file is written as NAME.tmp and renamed,
event file first; with --shuffle sometimes the index file comes first, as on S3. Workers run ahead of each other by up to
three steps. --crash leaves by SIGKILL half-way, with a .tmp behind. --remake removes the whole of index/ once, and makes
it anew with what it held.
"""

import argparse
import json
import os
import random
import shutil
import signal
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from event_bytes import field, masked_crc, varint

MAGIC = 0x062DC0B3  # docs/format.md: the footer of a record without a checksum


def record(step, name, value):
    """One TFRecord with one float64 scalar; docs/format.md."""
    tensor = varint(1 << 3) + varint(2) + field(2, b"") + field(4, struct.pack("<d", value))
    summary = field(1, field(1, name.encode()) + field(8, tensor))
    event = varint(1 << 3 | 1) + struct.pack("<d", 1.7e9 + step) + varint(2 << 3) + varint(step) + field(5, summary)
    length = struct.pack("<Q", len(event))
    return length + struct.pack("<I", masked_crc(length)) + event + struct.pack("<I", MAGIC)


def put(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".tmp", "wb") as out:
        out.write(content)
    os.rename(path + ".tmp", path)


def write_collections(trial, workers):
    for worker in range(workers):
        put(f"{trial}/collections/000000000/worker_{worker}_collections.json",
            json.dumps({"collections": {}, "_meta": {"num_workers": workers}}).encode())


def value_of(step, worker):
    return 1000.0 * step + worker


def write_step(trial, step, worker, index_first=False, between=lambda: None):
    events = f"events/{step:012d}/{step:012d}_worker_{worker}.tfevents"
    data = record(step, "value", value_of(step, worker))
    index = {"meta": {"mode": "TRAIN", "mode_step": step, "event_file_name": events},
             "tensor_payload": [{"tensorname": "value", "start_idx": 0, "length": len(data)}], "shape_payload": []}
    files = [(f"{trial}/{events}", data),
             (f"{trial}/index/{step // 1000:09d}/{step:012d}_worker_{worker}.json", json.dumps(index).encode())]
    if index_first:
        files.reverse()
    put(*files[0])
    between()
    put(*files[1])


def remake_index(trial):
    os.rename(f"{trial}/index", f"{trial}/kept")
    time.sleep(0.002)
    for folder in sorted(os.listdir(f"{trial}/kept")):
        os.makedirs(f"{trial}/index/{folder}")
        for leaf in sorted(os.listdir(f"{trial}/kept/{folder}")):
            os.rename(f"{trial}/kept/{folder}/{leaf}", f"{trial}/index/{folder}/{leaf}")
    shutil.rmtree(f"{trial}/kept")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trial")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pause", type=float, default=0.0005, help="mean pause after a file, seconds")
    parser.add_argument("--crash", action="store_true")
    parser.add_argument("--shuffle", action="store_true")
    parser.add_argument("--remake", action="store_true")
    args = parser.parse_args()
    chance = random.Random(args.seed)

    def pause():
        if args.pause and chance.random() < 0.3:
            time.sleep(chance.expovariate(1 / args.pause))

    next_step = [0] * args.workers
    crash_at = chance.randrange(args.steps // 2, args.steps) if args.crash else None
    remake_at = chance.randrange(args.steps // 4, args.steps // 2) if args.remake else None
    while min(next_step) < args.steps:
        slowest = min(next_step)
        if slowest == remake_at:
            remake_index(args.trial)
            remake_at = None
        worker = chance.choice([w for w in range(args.workers)
                                if next_step[w] < min(args.steps, slowest + 4)])
        step = next_step[worker]
        if step == crash_at:
            with open(f"{args.trial}/index/{step // 1000:09d}/{step:012d}_worker_{worker}.json.tmp", "w") as out:
                out.write('{"meta": {"mo')
            os.kill(os.getpid(), signal.SIGKILL)
        write_step(args.trial, step, worker, args.shuffle and chance.random() < 0.2, pause)
        next_step[worker] += 1
        pause()
    # Each worker writes the end marker. The last index file may come after the first marker; here it does not.
    put(f"{args.trial}/training_job_end.ts", b"")


if __name__ == "__main__":
    main()
