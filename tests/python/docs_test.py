#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs_test.py PROJECT: runs the examples of docs/python.md, and checks that everything is documented and typed."""

import doctest
import inspect
import os
import sys
import tempfile
import types
import typing

PROJECT = os.path.abspath(sys.argv[1])
FIXTURES = os.path.join(PROJECT, "tests", "fixtures")


def undocumented(module):
    """Gives the functions, classes, methods and properties without documentation or types. Those whose names begin with
    a `_`, such as `__init__`, need none, but the types that they have must be known."""
    for name, thing in inspect.getmembers(module):
        if getattr(thing, "__module__", "") != module.__name__:
            continue
        members = [(f"{name}.{key}", one) for key, one in inspect.getmembers(thing)
                   if isinstance(one, (types.FunctionType, property))] if inspect.isclass(thing) else []
        for where, one in [(name, thing), *members]:
            public = not where.startswith("_") and "._" not in where
            if public and not inspect.getdoc(one):
                yield f"{module.__name__}.{where} has no documentation"
            if public and inspect.isfunction(one) and "return" not in one.__annotations__:
                yield f"{module.__name__}.{where} has no types"
            code = one.fget if isinstance(one, property) else one
            try:
                typing.get_type_hints(code if inspect.isfunction(code) or inspect.isclass(code) else object)
            except NameError as error:
                yield f"{module.__name__}.{where} has types that are not known: {error}"


with tempfile.TemporaryDirectory() as folder:
    os.symlink(os.path.join(FIXTURES, "good-pytorch-digits"), os.path.join(folder, "good-pytorch-digits"))
    os.symlink(os.path.join(FIXTURES, "tb-logs", "sick"), os.path.join(folder, "sick"))
    os.chdir(folder)
    failed, tried = doctest.testfile(os.path.join(PROJECT, "docs", "python.md"), module_relative=False)
    os.chdir("/")
import smd  # noqa: E402
import smd.rules  # noqa: E402

faults = [fault for module in (smd, smd.rules) for fault in undocumented(module)]
print("\n".join(faults))
if failed or tried < 20 or faults or not os.path.exists(os.path.join(os.path.dirname(smd.__file__), "py.typed")):
    sys.exit(1)
