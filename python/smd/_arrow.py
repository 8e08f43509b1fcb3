# SPDX-License-Identifier: Apache-2.0
"""The Arrow C stream of a Table (https://arrow.apache.org/docs/format/CStreamInterface.html): one batch."""
import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p

import numpy

FORMATS = {"int8": "c", "uint8": "C", "int16": "s", "uint16": "S", "int32": "i", "uint32": "I", "int64": "l",
           "uint64": "L", "float16": "e", "float32": "f", "float64": "g", "object": "U"}


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p), ("flags", c_int64),
                   ("n_children", c_int64), ("children", POINTER(POINTER(Schema))), ("dictionary", c_void_p),
                   ("release", CFUNCTYPE(None, POINTER(Schema))), ("private_data", c_void_p)]
Array._fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
                  ("n_children", c_int64), ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(Array))),
                  ("dictionary", c_void_p), ("release", CFUNCTYPE(None, POINTER(Array))), ("private_data", c_void_p)]
Stream._fields_ = [("get_schema", CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))),
                   ("get_next", CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))),
                   ("get_last_error", CFUNCTYPE(c_char_p, POINTER(Stream))),
                   ("release", CFUNCTYPE(None, POINTER(Stream))), ("private_data", c_void_p)]
_kept = {}  # what structures point to, until their consumers release them
_numbers = iter(range(1, 1 << 62))


def _keep(structure, *owned):
    structure.private_data = next(_numbers)
    _kept[structure.private_data] = owned


def _release(pointer, kept=_kept):
    structure = pointer.contents
    for i in range(getattr(structure, "n_children", 0)):
        child = structure.children[i]
        if child.contents.release:
            child.contents.release(child)
    kept.pop(structure.private_data, None)
    structure.release = type(structure.release)()


def _parent(structure, children):
    pointers = (POINTER(type(structure)) * len(children))(*map(ctypes.pointer, children))
    structure.n_children, structure.children = len(children), pointers
    _keep(structure, children, pointers)


def _column(array):
    """Returns an array as Arrow knows it, its format and what follows the numbers or holds the texts."""
    if array.dtype == object:
        texts = [text.encode("utf-8", "replace") for text in array]
        ends = numpy.cumsum([0, *map(len, texts)], dtype=numpy.int64)
        return "U", len(texts), [ends, numpy.frombuffer(b"".join(texts) or b"\0", numpy.uint8)]
    if array.dtype.name not in FORMATS:  # bool, which Arrow packs, and types that are not NumPy's own
        array = array.astype(numpy.uint8 if array.dtype == bool else numpy.float32)
    return FORMATS[array.dtype.name], len(array), [numpy.ascontiguousarray(array)]


@Stream._fields_[0][1]
def _get_schema(stream, out):
    children = []
    for name, (kind, _, _) in _kept[stream.contents.private_data][0].items():
        child = Schema(format=kind.encode(), name=name.encode("utf-8", "replace"), release=_release_schema)
        _keep(child, child.format, child.name)
        children.append(child)
    out[0] = Schema(format=b"+s", name=b"", release=_release_schema)
    _parent(out.contents, children)
    return 0


@Stream._fields_[1][1]
def _get_next(stream, out):
    columns, batches = _kept[stream.contents.private_data]
    out[0] = Array()
    if not batches:
        return 0
    batches.pop()
    children = []
    for _, length, arrays in columns.values():
        buffers = (c_void_p * (1 + len(arrays)))(None, *(array.ctypes.data for array in arrays))
        child = Array(length=length, n_buffers=len(buffers), buffers=buffers, release=_release_array)
        _keep(child, buffers, arrays)
        children.append(child)
    nothing = (c_void_p * 1)()
    out[0] = Array(length=children[0].length if children else 0, n_buffers=1, buffers=nothing, release=_release_array)
    _parent(out.contents, [*children])
    _kept[out.contents.private_data] += (nothing,)
    return 0


_get_last_error = Stream._fields_[2][1](lambda stream: None)
_release_schema, _release_array, _release_stream = (kind._fields_[i][1](_release) for kind, i in
                                                    ((Schema, 7), (Array, 8), (Stream, 3)))


_python = ctypes.PyDLL(None)  # not ctypes.pythonapi, whose functions others declare in their own way
_new_capsule, _pointer_of = _python.PyCapsule_New, _python.PyCapsule_GetPointer
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
_pointer_of.restype, _pointer_of.argtypes = c_void_p, [c_void_p, c_char_p]
_NAME = b"arrow_array_stream"  # capsules borrow it


@CFUNCTYPE(None, c_void_p)  # no object: it is being destroyed
def _forget(capsule, kept=_kept, pointer_of=_pointer_of, name=_NAME):
    made = kept.pop(pointer_of(capsule, name))
    if made.release:
        made.release(made)


# Capsules and consumers may call them while the interpreter ends, and clears this module: they stay until the process
# ends, and what releases has all that it needs in its arguments.
for _thunk in _get_schema, _get_next, _get_last_error, _release_schema, _release_array, _release_stream, _forget:
    _python.Py_IncRef(ctypes.py_object(_thunk))


def stream(table):
    made = Stream(_get_schema, _get_next, _get_last_error, _release_stream)
    _keep(made, {name: _column(array) for name, array in table.items()}, [None])
    _kept[ctypes.addressof(made)] = made
    return _new_capsule(ctypes.addressof(made), _NAME, ctypes.cast(_forget, c_void_p))
