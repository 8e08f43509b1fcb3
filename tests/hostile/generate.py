# SPDX-License-Identifier: Apache-2.0
"""Makes hostile input. What is large is sparse: a hole takes no disk."""

import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from event_bytes import field, masked_crc, varint

GIB = 1 << 30
WALL_TIME = b"\x09" + struct.pack("<d", 1.7e9)


def write(path, content, size=0):
    """A file with this content, and a hole after it up to the last of `size` bytes."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
        if size > len(content):
            file.seek(size - 1)
            file.write(b"\0")
    return path


def safetensors(path, tensors):
    """`tensors`: name to dtype, shape and number of bytes, all zero."""
    header, end = {}, 0
    for name, (dtype, shape, size) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return write(path, struct.pack("<Q", len(text)) + text, 8 + len(text) + end)


def huge_tensor(folder, elements=16 * GIB):
    """A checkpoint with one float32 tensor `a`, of 64 GiB."""
    safetensors(f"{folder}/checkpoint-1/model.safetensors", {"a": ("F32", [elements], 4 * elements)})
    return folder


def large_tensors(folder, count=64):
    """A checkpoint with many float32 tensors of 1 GiB in one step."""
    safetensors(f"{folder}/checkpoint-1/model.safetensors",
                {f"t{i}": ("F32", [GIB // 4], GIB) for i in range(count)})
    return folder


def trainer_state(folder, entries):
    """A checkpoint beside which the trainer logged this many steps."""
    log = ",".join('{"step":%d,"loss":1.5,"epoch":1.0}' % step for step in range(1, entries + 1))
    safetensors(f"{folder}/checkpoint-{entries}/model.safetensors", {"a": ("F32", [1], 4)})
    write(f"{folder}/checkpoint-{entries}/trainer_state.json",
          ('{"global_step":%d,"log_history":[%s]}' % (entries, log)).encode())
    return folder


def many_names(folder, names):
    """A checkpoint beside which the trainer logged this many numbers at one step."""
    log = ",".join('"n%d":1.5' % name for name in range(names))
    safetensors(f"{folder}/checkpoint-1/model.safetensors", {"a": ("F32", [1], 4)})
    write(f"{folder}/checkpoint-1/trainer_state.json",
          ('{"global_step":1,"log_history":[{"step":1,%s}]}' % log).encode())
    return folder


def framed(payload):
    head = struct.pack("<Q", len(payload))
    return head + struct.pack("<I", masked_crc(head)) + payload + struct.pack("<I", masked_crc(payload))


def scalar(step, tag, number):
    return framed(WALL_TIME + b"\x10" + varint(step) +
                  field(5, field(1, field(1, tag.encode()) + b"\x15" + struct.pack("<f", number))))


FIRST_EVENT = framed(WALL_TIME + field(3, b"brain.Event:2"))
EVENT_FILE = "events.out.tfevents.1700000000.host.1.0"


def log_directory(folder, *records):
    write(f"{folder}/{EVENT_FILE}", FIRST_EVENT + b"".join(records))
    return folder


def endless_record(folder, payload_bytes=2 * GIB - 1):
    """A log directory with a scalar, and a record that is one hole: its checksum is wrong."""
    head = struct.pack("<Q", payload_bytes)
    begin = FIRST_EVENT + scalar(1, "loss", 0.5) + head + struct.pack("<I", masked_crc(head))
    write(f"{folder}/{EVENT_FILE}", begin, len(begin) + payload_bytes + 4)
    return folder


def large_image(folder, image_bytes):
    """A log directory with an image between two scalars."""
    image = b"\x08\x01\x10\x01\x18\x03" + field(4, bytes(image_bytes))
    record = framed(WALL_TIME + b"\x10\x02" + field(5, field(1, field(1, b"picture") + field(4, image))))
    return log_directory(folder, scalar(1, "loss", 0.5), record, scalar(3, "loss", 0.25))


def step_with_hole(folder, hole_bytes):
    """A debugger trial with one tensor at step 5, whose event file goes on with a hole that nothing names."""
    subprocess.run(["smd-save", folder, "--step", "5", "x=1"], check=True)
    event = f"{folder}/events/000000000005/000000000005_worker_0.tfevents"
    os.truncate(event, os.path.getsize(event) + hole_bytes)
    return event


def array(path, elements):
    """A float32 array of zeros as NumPy saves it."""
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % elements
    text += " " * (-(len(text) + 11) % 64) + "\n"
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    return write(path, head, len(head) + 4 * elements)
