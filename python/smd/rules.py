# SPDX-License-Identifier: Apache-2.0
"""Evaluates the built-in rules: `result = smd.rules.run(trial, "Overfit", patience=5)`. For rules of your own in Python
see `smd.compat.smdebug.rules` and smd-rule --python."""
from __future__ import annotations

import os
import re
from collections.abc import Mapping, Set
from typing import Any

import smd
from smd import ConfigurationError, Mode, _rules  # noqa: F401


class Finding(smd.Record):
    """One thing that a rule found: `value` compares by `relation` with `threshold`. `message` begins with the worker if
    the trial has several."""
    step: int | None
    mode: smd.Mode
    mode_step: int
    tensor: str | None
    worker: str | None
    check: str
    value: float
    relation: str
    threshold: float
    message: str


class RuleResult(smd.Record):
    """What became of a rule. status: NoIssuesFound, IssuesFound, Error or NotEvaluated; message says why."""
    rule: str
    status: str
    findings: list[Finding]
    steps_evaluated: int
    steps_skipped: int
    first_step: int | None
    last_step: int | None
    tensors_matched: int
    params: dict[str, str | None]
    message: str
    warnings: list[str]
    records_unread: int
    problems: list[smd.Problem]
    elapsed: float


def _refused(name: str, why: str) -> ConfigurationError:
    error = ConfigurationError(f"parameter {name}: {why}")
    error.__dict__.update(tag="Usage", kind="bad_value", parameter=name, nearest="")
    return error


def _text(name: str, value: Any) -> str:
    if isinstance(value, smd.Trial):
        return value.path
    if isinstance(value, Mode):
        return value.name
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    try:
        value = smd._text(value)
    except smd.InvalidArgument as error:
        raise _refused(name, str(error)) from None
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray, Mapping)):
        raise _refused(name, f"a value of type {type(value).__name__} is neither a text nor a list")
    try:
        values = list(value)
    except TypeError:
        if hasattr(value, "__float__"):
            return str(value)
        raise _refused(name, f"{value!r} is neither a text, a number nor a list") from None
    items = [_text(name, item) for item in values]
    for given, item in zip(values, items):
        if isinstance(given, re.Pattern) and not given.flags & re.VERBOSE and (not item or item != item.strip()):
            raise _refused(name, f"lists have no blanks at the ends of items, and no empty ones, as '{item}'; write "
                                 "\\x20 for a blank, or .* for a pattern that is found in all names")
        if "," in item:
            raise _refused(name, f"'{item}' has a comma, which separates the items of a list; in a pattern write "
                                 "\\x2c, or (x{1}|x{2}) for x{1,2}")
    return ",".join(sorted(items) if isinstance(value, Set) else items)


def run(trial: smd.Trial | str | os.PathLike[str], rule: str, *other_trials: smd.Trial | str | os.PathLike[str],
        keep_going: bool = False, **parameters: Any) -> RuleResult:
    """Evaluates a rule over the steps that are there; with keep_going also after the first step that triggers.
    Parameters have the names of smd-rules(7); lists may be lists, sets or other iterables, whose items have no commas;
    patterns may be compiled; modes may be a `Mode`. The trial to compare with is an argument, or else the parameter
    other_trial. A parameter that is None counts as not given. Trials may be given as paths. Raises ConfigurationError,
    also for more trials than the rule compares with."""
    texts = {}
    parameters = {name: value for name, value in parameters.items() if value is not None}
    for name, value in parameters.items():
        of_list = isinstance(value, re.Pattern) and name in _rules.lists(rule)
        texts[name] = _text(name, [value] if of_list else value)
    named = [parameters[name] for name in ("other_trial", "other_trial_0") if parameters.get(name, "") != ""]
    others = [smd._opened(one) for one in (*other_trials, *named)]
    if other_trials:
        texts["other_trial"] = others[0].path
    return _rules.run(smd._opened(trial), rule, others, bool(keep_going), texts)


def names() -> list[str]:
    """Returns the names of all rules."""
    return _rules.names()
