# SPDX-License-Identifier: Apache-2.0
"""Reads what training jobs leave behind: trials of a debugger, logs of TensorBoard, W&B runs, checkpoints, tables.

    t = smd.open("runs/exp1")                # any layout; s3:// too
    t["train/loss"].value(120)               # an array; 0-d for scalars
    steps, values = t["train/loss"].values()
    t["fc.weight"].reduce("abs_mean", "p99")
    t.scalars("loss|lr", wide=True)          # a dict of arrays, which pandas.DataFrame and users of Arrow take
    smd.rules.run(t, "Overfit", patience=5)

A mode is a `Mode`, its name in any case, or None for all; with a mode, steps are counted in it. Without a worker, the
first by name that saved what is asked for is meant. Other threads run while this module reads or waits, and
KeyboardInterrupt ends waits, `diff`, `reduce` and `values` of arrays. The library is loaded with the first use of it,
NumPy with the first array.
"""
from __future__ import annotations

import os

import smd  # for types: names of this module that are only made when they are asked for

TYPING = False
if TYPING:
    from numpy import ndarray as Array
    from smd import compat as compat, rules as rules
    from smd._trial import (
        Mode as Mode, Steps as Steps, StepState as StepState, Tensor as Tensor, Texts as Texts, Trial as Trial,
        __version__ as __version__, refreshing as refreshing)


class Error(Exception):
    """The base of all exceptions of the library. tag: the kind of error, as the commands print it."""
    tag: str = ""

    def __reduce__(self) -> tuple[object, ...]:
        import copyreg
        return copyreg.__newobj__, (type(self), *self.args), vars(self)


class ReadError(Error):
    """A file, a record or a path cannot be read or is not valid: `problem`."""
    problem: Problem


class WriteError(Error):
    """A file cannot be written: `problem`."""
    problem: Problem


class IndexReaderException(Error):
    """An index file is damaged (with strict=True): `problem`."""
    problem: Problem
    message = property(str, doc="The text, as the reference names it.")


class InvalidArgument(Error):
    """An argument is not valid, such as a pattern that does not compile."""
    tag = "Usage"


class InvalidCollectionConfiguration(InvalidArgument):
    """A collection that is to be saved, `c_name`, is not built in, and has neither patterns nor names of tensors."""

    def __init__(self, c_name: str):
        super().__init__(f"collection '{c_name}' has neither patterns (include_regex) nor names of tensors")
        self.c_name = c_name


class MatchLimit(InvalidArgument):
    """`pattern` needs too many steps to match."""
    pattern: str


class TensorUnavailable(Error):
    """The trial has no such `tensor`; `nearest` has similar names."""
    tensor: str
    nearest: list[str]
    tname = property(lambda self: self.tensor, doc="The tensor, as the reference names it.")

    def __init__(self, tname: str):
        super().__init__(f"'{tname}' was not saved")
        self.tensor, self.nearest = tname, []


class _AtStep(Error):
    """An error about a `step` of a `mode`."""
    step: int
    mode: smd.Mode

    def __init__(self, before: str, step: int, mode: smd.Mode | str | None, after: str):
        from smd._trial import Mode
        self.step, self.mode = step, Mode[mode.upper()] if isinstance(mode, str) else mode or Mode.GLOBAL
        super().__init__(f"{before}{'' if self.mode is Mode.GLOBAL else self.mode.name + ' '}step {step}{after}")


class TensorUnavailableForStep(_AtStep):
    """The tensor was not saved at the step. saved: reductions that were, and "shape"; has_reductions: whether any were;
    missing: the problem if its file is not there."""
    tensor: str
    saved: list[str]
    has_reductions: bool
    missing: Problem | None = None
    tname = property(lambda self: self.tensor, doc="The tensor, as the reference names it.")

    def __init__(self, tname: str, step: int, mode: smd.Mode | str | None = None, has_reductions: bool = False):
        super().__init__(f"'{tname}' was not saved at ", step, mode, "; reductions were" if has_reductions else "")
        self.tensor, self.saved, self.has_reductions = tname, [], has_reductions


class StepUnavailable(_AtStep):
    """The step was skipped, or the job has ended before it."""

    def __init__(self, step: int, mode: smd.Mode | str | None = None):
        super().__init__("", step, mode, " was not saved")


class NoMoreData(StepUnavailable):
    """The job has ended before the step. last_step: the last one of the mode, -1 if there is none; None if the exception
    was made without it."""
    last_step: int | None = None

    def __init__(self, step: int, mode: smd.Mode | str | None = None, last_step: int | None = None):
        _AtStep.__init__(self, "", step, mode, " will not come: the job has ended before it")
        self.last_step = last_step


class StepNotYetAvailable(_AtStep):
    """The job is running, so the step may still come."""

    def __init__(self, step: int, mode: smd.Mode | str | None = None):
        super().__init__("", step, mode, " is not there yet")


class StepAlreadySaved(Error):
    """The worker has saved the step before. can_append: whether it could be added to."""
    worker: str
    step: int
    can_append: bool


class RuleEvaluationConditionMet(Error):
    """The condition of a rule is met. Takes the rule's name and the step. end_of_rule: the rule wants no more steps."""
    tag = "RuleEvaluationConditionMet"
    end_of_rule: bool = False

    def __init__(self, rule_name: str = "", step: int | None = None, end_of_rule: bool = False):
        super().__init__(rule_name if step is None else
                         f"Evaluation of the rule {rule_name} at step {step} resulted in the condition being met")
        self.rule_name, self.step, self.end_of_rule = rule_name, step, end_of_rule


class MissingCollectionFiles(Error):
    """There is no trial at `path`, or one that has saved nothing. ended: waiting does not help."""
    path: str
    ended: bool


class InvalidWorker(Error):
    """The `worker` did not save the tensor, or not then; `workers` did."""
    worker: str
    workers: list[str]

    def __init__(self, worker: str):
        super().__init__(f"worker '{worker}' did not save this")
        self.worker, self.workers = worker, []


class ConfigurationError(Error):
    """A rule is unknown, or a parameter of it is not valid. kind: unknown_rule, bad_value, …"""
    kind: str
    parameter: str
    nearest: str


class Record:
    """An object with facts as attributes. Two are equal if their facts are."""

    def __init__(self, **facts: object):
        self.__dict__.update(facts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None


class Problem(Record):
    """What is wrong with a file or record, and where. kind: Damaged, Absent, NotFound, …"""
    kind: str
    file: str
    offset: int | None
    text: str


class Collection(Record):
    """A named set of tensors: those listed, and those in whose names a pattern is found."""
    name: str
    tensor_names: list[str]
    include_regex: list[str]


class Table(dict):
    """Arrays of one length by name. Also an Arrow stream, without a copy of numbers: polars, pandas, pyarrow and duckdb
    take it as it is."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        from smd._arrow import stream
        return stream(self)


def _text(pattern: object) -> object:
    """Returns the text of a compiled pattern, with its flags in front, and all else as it is."""
    import re
    if not isinstance(pattern, re.Pattern):
        return pattern
    if isinstance(pattern.pattern, bytes):
        raise InvalidArgument(f"{pattern!r} is a pattern for bytes, not for text")
    flags = "".join(letter for letter in "aimsx" if pattern.flags & re.RegexFlag[letter.upper()])
    return f"(?{flags}){pattern.pattern}" if flags else pattern.pattern


def _list(texts: smd.Texts) -> list[str]:
    texts = _text(texts)
    return [] if texts is None else [texts] if isinstance(texts, str) else [_text(one) for one in texts]


def _opened(trial: smd.Trial | str | os.PathLike[str]) -> smd.Trial:
    from smd._trial import Trial
    if not isinstance(trial, (str, os.PathLike, Trial)):
        raise InvalidArgument(f"{trial!r} is neither a trial nor a path")
    return trial if isinstance(trial, Trial) else open(trial)


def open(path: str | os.PathLike[str], **options: object) -> smd.Trial:
    """Opens a trial: a folder or file of any layout, or s3://bucket/prefix.

    Options: name; layout; step_name; one of range_steps=(first, end), newest=n and oldest=n: the steps to read; jobs:
    threads; verify=False: check no checksums; strict; as_it_stands; superseded="left_out", "only" or "included";
    auto_refresh=False: look for new steps only at `refresh`; timeout: seconds to wait until there is a trial;
    incomplete_step_wait_window; on S3: endpoint_url, region, profile, sign_requests, requester_pays, cache.

    as_it_stands concerns logs and checkpoints; a debugger's trial says itself when it has ended. True: the trial is
    read as the commands read it, as one that has ended: with a last line without an end, say; later changes are not
    seen, except by `load_range`. False: it is read as one that is still written, so what is half written is not read
    yet. By default it is read as it stands until it grows: once a query or `refresh` finds something new, or `follow`
    or `wait_for_steps` waits, all is read again as with False. With a timeout the default is False."""
    from smd._trial import Trial
    return Trial(path, **options)


def find(path: str | os.PathLike[str], layout: str = "") -> list[str]:
    """Returns the paths of the trials at or below a place. Warns of places that were not searched."""
    from smd import _core
    found, problems = _core.find(os.fsdecode(path), layout)
    for problem in problems:
        if problem.kind != "Remark":
            import warnings
            warnings.warn(f"{problem.file}: {problem.text}", stacklevel=2)
    return found


class Difference(Record):
    """What differs between what two trials saved of one tensor by one worker at one step.

    compared: "value"; "reductions" (by name, as elements) if neither trial saved a value; "shape" if neither saved
    those; None if one trial saved less than the other. state: equal, differs (also, without numbers, for elements that
    mean something else, such as quantised numbers of two scales), dtype (equal, but of two types), shape, only_a or
    only_b (the other saved nothing, or less). See the columns of smd-diff(1); None where a number is not defined."""
    tensor: str
    step: int
    worker: str
    state: str
    compared: str | None
    size: int | None
    differing: int | None
    first: int | None
    same_dtype: bool | None
    max_abs: float | None
    max_rel: float | None
    mean_abs: float | None
    rmse: float | None
    l2_a: float | None
    l2_b: float | None
    l2_diff: float | None
    rel_l2: float | None
    cosine: float | None


def diff(a: smd.Trial | str | os.PathLike[str], b: smd.Trial | str | os.PathLike[str],
         regex: smd.Texts = None, rtol: float = 0, atol: float = 0,
         equal_nan: bool = True) -> list[Difference]:
    """Compares what two trials, or those at two paths, saved: values, else reductions, else shapes. Numbers are equal
    if |a - b| <= atol + rtol |b|. If each trial has one step, these two are compared whatever their numbers, and
    Difference.step is that of a. Raises InvalidArgument for a tolerance that is not finite or is negative."""
    from smd import _core
    a, b = _opened(a), _opened(b)
    names = sorted({*a.tensor_names(regex), *b.tensor_names(regex)})
    of_a, of_b = a.steps(), b.steps()
    apart = of_a[0] - of_b[0] if len(of_a) == len(of_b) == 1 else 0
    return [row for name in names for row in _core.diff(a, b, name, rtol, atol, bool(equal_nan), apart)]


_MODULES = "rules", "compat"
_OF_LIBRARY = "Mode", "StepState", "Steps", "Tensor", "Texts", "Trial", "refreshing", "__version__"


def __getattr__(name: str) -> object:
    """Loads what is asked for: a module, or what needs the library, whose loading takes longer than all else here."""
    if name not in (*_MODULES, *_OF_LIBRARY, "Array"):
        raise AttributeError(f"module 'smd' has no attribute {name!r}")
    if name == "Array":  # what functions return, for types
        from numpy import ndarray
        return ndarray
    import importlib
    if name in _MODULES:
        return importlib.import_module("smd." + name)
    return getattr(importlib.import_module("smd._trial"), name)


def __dir__() -> list[str]:
    return [*globals(), *_MODULES, *_OF_LIBRARY, "Array"]
