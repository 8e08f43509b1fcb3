#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints recorded_records.inc: a few records of recorded trials, and what the answers beside them say of each.

usage: make_recorded.py DIRECTORY_OF_RECORDED_TRIALS > recorded_records.inc
"""
import json
import sys

MODES = {"TRAIN": 1, "EVAL": 2, "PREDICT": 3, "GLOBAL": 4}
WANTED = [("dtypes", 0, "/scalar"), ("dtypes", 3, "/3x4"), ("dtypes", 0, "/0x3"), ("dtypes", 0, "quantized/"),
          ("strings", 10, ""), ("checksum_full", 0, ""), ("names_odd", 0, ""), ("special_floats", 0, "float16")]

root = sys.argv[1]
print("// SPDX-License-Identifier: Apache-2.0")
print("// Made by make_recorded.py.")
for trial, step, part in WANTED:
    index = f"{root}/{trial}/index/000000000/{step:012}_worker_0.json"
    meta = json.load(open(index))
    expected = json.load(open(f"{root}/{trial}.expected.json"))["tensors"]
    for entry in meta["tensor_payload"]:
        name = entry["tensorname"]
        if part not in name or name not in expected:
            continue
        with open(f"{root}/{trial}/{meta['meta']['event_file_name']}", "rb") as file:
            file.seek(entry["start_idx"])
            record = file.read(entry["length"])
        if len(record) > 700:
            continue
        answer = next(r for r in expected[name]["records"] if r["global_step"] == step)
        value = answer.get("written", answer["value"])
        if "sha256" not in value:
            continue
        shape = ", ".join(str(n) for n in value["shape"])
        tag = "".join(f"\\{b:03o}" if b < 32 or b > 126 or b in b'"\\?' else chr(b) for b in name.encode())
        print(f'{{"{trial}", "{tag}"sv, "{value["dtype"]}", {{{shape}}}, "{value["sha256"]}",')
        print(f' {step}, {meta["meta"]["mode_step"]}, {MODES[meta["meta"]["mode"]]},')
        print(f' "{record.hex()}"}},')
