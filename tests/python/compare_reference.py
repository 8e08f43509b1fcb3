#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_reference.py TRIAL...: asks the reference, smdebug, and smd.compat.smdebug the same of sound trials whose jobs have
ended, call by call, and prints where they differ. Status 77 if no smdebug is installed. What docs/format.md says of norms
of matrices is left out."""

import importlib.util
import sys

import numpy as np

MODES = ("TRAIN", "EVAL", "PREDICT", "GLOBAL")
REDUCTIONS = ("min", "max", "mean", "std", "variance", "sum", "prod")


def answer(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__


def same(a, b):
    if isinstance(a, (np.ndarray, np.generic, float)) and not isinstance(b, str):
        return np.allclose(np.ravel(np.asarray(a, float)), np.ravel(np.asarray(b, float)), rtol=1e-5, equal_nan=True) \
            if np.asarray(a).dtype.kind in "fiub" else np.array_equal(a, b)
    return a == b


def questions(package, path):
    """Gives what is asked, and the answer."""
    trial = importlib.import_module(package + ".trials").create_trial(path)
    modes = importlib.import_module(package + ".core.modes").ModeKeys
    yield "tensor_names", trial.tensor_names()
    yield "workers", trial.workers()
    yield "steps", trial.steps()
    yield "modes", sorted(mode.name for mode in trial.modes())
    yield "collections", sorted(trial.collections())
    for name in sorted(trial.collections()):
        yield f"tensor_names(collection={name})", trial.tensor_names(collection=name)
    for step in trial.steps():
        yield f"mode({step})", trial.mode(step).name
        yield f"mode_step({step})", trial.mode_step(step)
        yield f"has_passed_step({step})", trial.has_passed_step(step).name
    for name in trial.tensor_names():
        tensor = trial.tensor(name)
        for mode in MODES:
            key = getattr(modes, mode)
            yield f"{name}.steps({mode})", tensor.steps(key)
            for step in tensor.steps(key):
                where = f"{name} at {mode} {step}: "
                yield where + "value", answer(lambda: tensor.value(step, key))
                yield where + "workers", sorted(tensor.workers(step, key))
                yield where + "prev_steps", tensor.prev_steps(step, 3, key)
                yield where + "reduction_values", sorted(answer(lambda: tensor.reduction_values(step, key)))
                for reduction in REDUCTIONS:
                    for absolute in (False, True):
                        yield f"{where}{reduction} {absolute}", answer(
                            lambda: tensor.reduction_value(step, reduction, key, abs=absolute))


def main():
    if importlib.util.find_spec("smdebug") is None:
        sys.exit(77)
    differences = asked = 0
    for path in sys.argv[1:]:
        for (what, theirs), (also, ours) in zip(questions("smdebug", path), questions("smd.compat.smdebug", path)):
            asked += 1
            if what != also or not same(theirs, ours):
                differences += 1
                print(f"{path}: {what}:\n  smdebug {theirs!r}\n  smd     {ours!r}")
    print(f"{asked} questions, {differences} differences")
    return 1 if differences or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
