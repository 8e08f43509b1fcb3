#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_with_torch.py FILE...: compares every tensor that smd-tensor reads of a file of PyTorch with what torch.load
returns, bit for bit. Needs PyTorch (Debian: python3-torch) and smd-ls and smd-tensor on the PATH. torch.load runs what a
file says: only for files that you trust."""

import json
import subprocess
import sys

import torch

ROOTS = ("state_dict", "model_state_dict", "model", "module", "net", "network", "params", "generator", "weights")


def parts(value):
    """Gives what a value contains, by name."""
    if isinstance(value, torch.nn.Module):
        yield from value._parameters.items()
        yield from value._buffers.items()
        yield from value._modules.items()
    elif isinstance(value, dict):
        yield from ((str(key), one) for key, one in value.items())
    elif isinstance(value, (list, tuple)):
        yield from ((str(at), one) for at, one in enumerate(value))
    elif hasattr(value, "__dict__"):
        yield from vars(value).items()


def find(value, name):
    for key, part in parts(value):
        if key == name:
            return part
        if name.startswith(key + "."):
            found = find(part, name[len(key) + 1:])
            if found is not None:
                return found
    return None


def raw(tensor):
    tensor = tensor.detach().cpu()
    if tensor.is_quantized:
        tensor = tensor.int_repr()
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def main():
    differing = 0
    for file in sys.argv[1:]:
        loaded = torch.load(file, map_location="cpu", weights_only=False)
        listed = subprocess.run(("smd-ls", "-l", "--jsonl", file), stdout=subprocess.PIPE, check=True).stdout
        names = [row["tensor"] for row in map(json.loads, listed.splitlines())]
        bases = [loaded[key] for key in ROOTS if isinstance(loaded, dict) and key in loaded] + [loaded]
        for name in names:
            right = next((one for one in (find(base, name) for base in bases) if isinstance(one, torch.Tensor)), None)
            right = loaded if right is None and name == "tensor" else right
            if not isinstance(right, torch.Tensor):
                continue  # a number, or a part that torch has in another form
            got = subprocess.run(("smd-tensor", file, "--name=" + name, "-f", "raw"), stdout=subprocess.PIPE, check=False).stdout
            if got != raw(right):
                print(f"{file}: {name} differs")
                differing += 1
        print(f"{file}: {len(names)} names, {differing} differ")
    sys.exit(bool(differing))


main()
