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


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ",".join(map(_text, value)) if isinstance(value, (list, tuple)) else \
        str(value)


def run(trial: smd.Trial, rule: str, *other_trials: smd.Trial, keep_going: bool = False,
        **parameters: Any) -> RuleResult:
    """Evaluates a rule over the steps that are there; with keep_going also after the first step that triggers.
    Parameters have the names of smd-rules(7); lists may be lists. Raises ConfigurationError."""
    if other_trials:
        parameters.setdefault("other_trial", other_trials[0].path)
    return _rules.run(trial, rule, list(other_trials), keep_going,
                      {name: _text(value) for name, value in parameters.items()})


def names() -> list[str]:
    """Returns the names of all rules."""
    return _rules.names()
