#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_with_torch.py [FILE...]: compares every tensor that smd-tensor reads of a file of PyTorch with what torch.load
returns, bit for bit; without FILE, of files that it makes: each element type, views, sparse and quantised tensors, whole
modules, TorchScript and optimizers, in archives and streams, with each pickle protocol. Needs PyTorch (Debian:
python3-torch) and smd-ls and smd-tensor on the PATH. torch.load runs what a file says: only for files that you trust."""

import itertools
import json
import os
import subprocess
import sys
import tempfile

import torch

ROOTS = ("state_dict", "model_state_dict", "model", "module", "net", "network", "params", "generator", "weights")
REAL = (torch.float16, torch.float32, torch.float64, torch.bfloat16, torch.uint8, torch.int8, torch.int16, torch.int32,
        torch.int64, torch.bool)
COMPLEX = (torch.complex64, torch.complex128)


def parts(value):
    """Gives what a value contains, by name."""
    if isinstance(value, (torch.nn.Module, torch.jit.ScriptModule)):
        for members in (value._parameters, value._buffers, value._modules):
            yield from members.items()
    elif isinstance(value, torch.Tensor):
        if value.layout == torch.sparse_coo:
            yield from (("indices", value._indices()), ("values", value._values()))
        elif value.layout == torch.sparse_csr:
            yield from (("crow_indices", value.crow_indices()), ("col_indices", value.col_indices()),
                        ("values", value.values()))
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
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    if tensor.is_quantized:
        tensor = tensor.int_repr()
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def dense_tensors(value):
    """Counts the tensors in a value that smd-ls must list, each place for itself."""
    if isinstance(value, torch.Tensor) and value.layout == torch.strided:
        return 1
    return sum(dense_tensors(part) for _, part in parts(value))


def compare(file, wanted=None):
    """Returns whether all tensors agree, and if given, are as many as wanted."""
    loaded = torch.load(file, map_location="cpu", weights_only=False)
    listed = subprocess.run(("smd-ls", "-l", "--jsonl", file), stdout=subprocess.PIPE, check=True).stdout
    names = [row["tensor"] for row in map(json.loads, listed.splitlines())]
    bases = [loaded[key] for key in ROOTS if isinstance(loaded, dict) and key in loaded] + [loaded]
    compared = 0
    differing = []
    unread = []
    for name in names:
        right = next((one for one in (find(base, name) for base in bases) if isinstance(one, torch.Tensor)), None)
        right = loaded if right is None and name == "tensor" else right
        if not isinstance(right, torch.Tensor):
            continue  # a number, or a part that torch has in another form
        got = subprocess.run(("smd-tensor", file, "--name=" + name, "-f", "raw"), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, check=False)
        if got.returncode == 1 and right.dtype in (torch.quint4x2, torch.quint2x4):
            unread.append(name)
            continue
        compared += 1
        if got.stdout != raw(right):
            differing.append(name)
    print(f"{file}: {len(names)} names, {compared} compared, differing: {differing or 'none'}" +
          (f", below 8 bits: {unread}" if unread else ""))
    return not differing and wanted in (None, compared)


def bits(shape, dtype):
    """Returns a tensor of random bits."""
    if dtype == torch.bool:
        return torch.randint(0, 2, shape).bool()
    count = 1
    for size in shape:
        count *= size
    item = torch.empty((), dtype=dtype).element_size()
    return torch.randint(0, 256, (count * item,), dtype=torch.uint8).view(dtype).reshape(shape)


def views(dtype):
    base = bits((6, 5, 4), dtype)
    return {"whole": base, "transposed": base.permute(2, 0, 1), "sliced": base[1:5:2, :, 3], "expanded": base[0, 0].expand(3, 4),
            "offset": base.reshape(-1)[7:19], "scalar": base[1, 2, 3], "empty": bits((0, 3), dtype), "tied": base,
            "steps": base.reshape(-1)[::7], "column": base[:, 2:3, 1]}


def made():
    """Gives values to save, by name."""
    for dtype in REAL + COMPLEX:
        yield str(dtype).replace("torch.", ""), views(dtype)
    for dtype in COMPLEX:
        value = bits((3, 4), torch.float32 if dtype == torch.complex64 else torch.float64)
        yield "conjugate_" + str(dtype)[6:], {"conj": torch.view_as_complex(value.reshape(3, 2, 2)).conj()}
    numbers = torch.randn(5, 4)
    yield "quantised", {"tensor": torch.quantize_per_tensor(numbers, 0.1, 3, torch.qint8),
                        "unsigned": torch.quantize_per_tensor(numbers, 0.1, 3, torch.quint8),
                        "channel": torch.quantize_per_channel(numbers, torch.rand(5) + 0.1, torch.zeros(5), 0, torch.qint8)}
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.Flatten(), torch.nn.Linear(8, 2))
    yield "state_dict", model.state_dict()
    yield "channels_last", model.to(memory_format=torch.channels_last).state_dict()
    yield "module", model
    yield "lstm", torch.nn.LSTM(4, 6, 2)
    for optimizer in (torch.optim.Adam(model.parameters(), amsgrad=True), torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)):
        model(torch.randn(2, 3, 3, 3)).sum().backward()
        optimizer.step()
        yield type(optimizer).__name__, {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}
    yield "parameter", torch.nn.Parameter(torch.randn(3, 3))
    yield "list", [torch.randn(3), {"a": torch.randn(2, 2)}, (torch.randn(1),)]


def main():
    if len(sys.argv) > 1:
        sys.exit(not all([compare(file) for file in sys.argv[1:]]))
    torch.manual_seed(1)
    right = True
    with tempfile.TemporaryDirectory() as folder:
        for (name, value), archive, protocol in itertools.product(made(), (True, False), (1, 2, 3, 4, 5)):
            file = os.path.join(folder, f"{name}-{'archive' if archive else 'stream'}-{protocol}.pt")
            torch.save(value, file, pickle_protocol=protocol, _use_new_zipfile_serialization=archive)
            right &= compare(file, dense_tensors(value))
        scripted = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3)))
        file = os.path.join(folder, "scripted.pt")
        torch.jit.save(scripted, file)
        right &= compare(file, dense_tensors(scripted))
    sys.exit(not right)


main()
