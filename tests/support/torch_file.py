# SPDX-License-Identifier: Apache-2.0
"""Writes what torch.save writes, without PyTorch: classes and functions whose names are those of its own."""

import collections
import pickle
import struct
import sys
import types
import zipfile


def of_torch(module, name, is_class, *bases):
    made = type(name, bases, {}) if is_class else types.FunctionType((lambda: None).__code__, {}, name)
    made.__module__, made.__qualname__ = module, name
    setattr(sys.modules.setdefault(module, types.ModuleType(module)), name, made)
    return made


REBUILD = of_torch('torch._utils', '_rebuild_tensor_v2', False)
REBUILD_QUANTISED = of_torch('torch._utils', '_rebuild_qtensor', False)
REBUILD_SPARSE = of_torch('torch._utils', '_rebuild_sparse_tensor', False)
REBUILD_TYPE = of_torch('torch._tensor', '_rebuild_from_type_v2', False)
FLOAT32 = of_torch('torch', 'float32', True)
LAYOUT = of_torch('torch.serialization', '_get_layout', False)
STORAGES = {dtype: (of_torch('torch', name, True), size) for dtype, name, size in
            (('float32', 'FloatStorage', 4), ('bfloat16', 'BFloat16Storage', 2), ('float16', 'HalfStorage', 2),
             ('float64', 'DoubleStorage', 8), ('int64', 'LongStorage', 8), ('int8', 'CharStorage', 1),
             ('qint8', 'QInt8Storage', 1))}



class Described:
    def __init__(self, **state):
        self.__dict__.update(state)


Metadata, TensorStorageMetadata, BytesStorageMetadata, ChunkStorageMetadata, MetadataIndex, StorageInfo = (
    of_torch('torch.distributed.checkpoint.metadata', name, True, Described)
    for name in ('Metadata', 'TensorStorageMetadata', 'BytesStorageMetadata', 'ChunkStorageMetadata', 'MetadataIndex',
                 'StorageInfo'))

Storage = collections.namedtuple('Storage', 'dtype key bytes')


class Tensor:
    def __init__(self, storage, shape, strides):
        self.parts = (storage, 0, shape, strides, False, collections.OrderedDict())

    def __reduce__(self):
        return REBUILD, self.parts


class Quantised(Tensor):
    def __init__(self, storage, shape, strides, *how):
        super().__init__(storage, shape, strides)
        self.parts = (*self.parts[:4], how, *self.parts[4:])

    def __reduce__(self):
        return REBUILD_QUANTISED, self.parts


class Called:
    def __init__(self, function, *arguments):
        self.parts = (function, arguments)

    def __reduce__(self):
        return self.parts


class Repeated:
    def __init__(self, pair, count):
        self.pairs = [pair] * count

    def __reduce__(self):
        return collections.OrderedDict, (), None, None, iter(self.pairs)


class Pickler(pickle.Pickler):
    def persistent_id(self, obj):
        if not isinstance(obj, Storage):
            return None
        kind, size = STORAGES[obj.dtype]
        return 'storage', kind, obj.key, 'cpu', obj.bytes // size


def add_member(archive, name, content):
    """Contents begin at multiples of 64 bytes, as PyTorch has them."""
    info = zipfile.ZipInfo('archive/' + name)
    gap = -(archive.fp.tell() + zipfile.sizeFileHeader + len(info.filename) + 4) % 64
    info.extra = b'FB' + struct.pack('<H', gap) + bytes(gap)
    archive.writestr(info, content)


def write_pt(path, tensors, content):
    """A .pt file of these tensors. `content(i)`: the bytes of the storage whose key is `i` as text."""
    with zipfile.ZipFile(path, 'w') as archive:
        with archive.open('archive/data.pkl', 'w') as out:
            Pickler(out, protocol=2).dump(tensors)
        add_member(archive, 'version', b'3\n')
        for key in dict.fromkeys(tensor.parts[0].key for tensor in tensors.values()):
            add_member(archive, f'data/{key}', content(int(key)))
