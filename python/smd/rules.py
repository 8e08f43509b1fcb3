# SPDX-License-Identifier: Apache-2.0
"""Evaluates the built-in rules: `result = smd.rules.run(trial, "Overfit", patience=5)`. For rules of your own in Python
see `smd.compat.smdebug.rules` and smd-rule --python."""
from __future__ import annotations

from typing import Any

import smd
from smd import ConfigurationError, _rules  # noqa: F401


class Finding(smd.Record):
    """One thing that a rule found: `value` compares by `relation` with `threshold`."""
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


def _text(name: str, value: Any) -> str:
    if not isinstance(value, (list, tuple)):
        return value.path if isinstance(value, smd.Trial) else str(value)
    items = [_text(name, item) for item in value]
    for item in items:
        if "," in item:
            error = ConfigurationError(f"parameter {name}: '{item}' has a comma, which separates the items of a list; "
                                       "in a pattern write \\x2c, or (x{1}|x{2}) for x{1,2}")
            error.__dict__.update(tag="Usage", kind="bad_value", parameter=name, nearest="")
            raise error
    return ",".join(items)


def run(trial: smd.Trial, rule: str, *other_trials: smd.Trial, keep_going: bool = False,
        **parameters: Any) -> RuleResult:
    """Evaluates a rule over the steps that are there; with keep_going also after the first step that triggers.
    Parameters have the names of smd-rules(7); lists may be lists, whose items have no commas. A trial to compare with
    is an argument, or the parameter other_trial, as a trial or a path. Raises ConfigurationError."""
    others = list(other_trials)
    named = [name for name in ("other_trial", "other_trial_0") if parameters.get(name) not in (None, "")]
    texts = {name: _text(name, value) for name, value in parameters.items()}
    if others and not named:
        texts["other_trial"] = others[0].path
    elif not others:
        others = [one if isinstance(one, smd.Trial) else smd.open(one) for one in map(parameters.get, named)]
    return _rules.run(trial, rule, others, keep_going, texts)


def names() -> list[str]:
    """Returns the names of all rules."""
    return _rules.names()
