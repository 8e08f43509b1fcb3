# SPDX-License-Identifier: Apache-2.0
"""The part of `smd` that works with the library's objects: trials, tensors, steps."""
from __future__ import annotations

import enum
import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, Union

import smd
from smd import Collection, InvalidArgument, Problem, Table, _core, _list
from smd._core import __version__  # noqa: F401


class Mode(enum.Enum):
    """The mode of a step. GLOBAL: the job set no mode; in a query: all modes, counted in global steps."""
    TRAIN = 1
    EVAL = 2
    PREDICT = 3
    GLOBAL = 4


class StepState(enum.Enum):
    """Whether a step can be read: never, now, or perhaps later."""
    UNAVAILABLE = 0
    AVAILABLE = 1
    NOT_YET_AVAILABLE = 2


AnyMode = Union[Mode, str, None]
Texts = Union[str, re.Pattern, Iterable[Union[str, re.Pattern]], None]


class Tensor(_core.Tensor):
    """A named series of values, of a Trial."""
    name: str
    original_name: str | None

    def __init__(self, trial: Trial, name: str):
        super().__init__(trial, name)
        self.trial = trial

    def __repr__(self) -> str:
        return f"<smd.Tensor {self.name!r} of {self.trial.path!r}>"

    def steps(self, mode: AnyMode = None, show_incomplete_steps: bool = False) -> list[int]:
        """Returns the steps at which anything was saved."""
        return self._steps(mode, bool(show_incomplete_steps))

    def value(self, step_num: int | None = None, mode: AnyMode = None, worker: str | None = None) -> smd.Array:
        """Returns the value at a step as an array that owns its memory. Without a step, that of the last complete step
        that has one, of the worker if one is given. Raises TensorUnavailableForStep if no such step exists."""
        if step_num is None:
            step_num = self.trial._last_step(self.name, mode, worker)
        return self._value((step_num, mode), worker)

    def values(self, mode: AnyMode = None, worker: str | None = None,
               wall_time: bool = False) -> tuple[smd.Array, ...]:
        """Returns steps and values, and with wall_time when they were written, in seconds since 1970. Values are
        stacked if all have one type and shape, else an array of arrays; single numbers of several types are float64 if
        it holds each of them. Of global steps with one mode step the first counts, as for `value`. Raises InvalidWorker
        if the worker saved nothing of the tensor."""
        from smd._arrays import values
        return values(self, mode, worker, wall_time)[:3 if wall_time else 2]

    def reduce(self, *reductions: str, mode: AnyMode = None, worker: str | None = None) -> Table:
        """Returns steps and reductions ("abs_mean", "p99", …) over the steps, as they were saved, else computed. Raises
        InvalidArgument for what complex numbers do not have, such as "max", and for complex results."""
        arrays = self.trial._reduce(self.name, reductions, mode, worker)
        return Table(zip(("step",) + reductions, arrays))

    def shape(self, step_num: int, mode: AnyMode = None, worker: str | None = None) -> tuple[int, ...]:
        """Returns the shape that was saved, else the value's."""
        return tuple(self._shape((step_num, mode), worker))

    def reduction_value(self, step_num: int, reduction_name: str, mode: AnyMode = None,
                        worker: str | None = None, abs: bool = False) -> smd.Array:
        """Returns a reduction as it was saved, else computed."""
        return self._reduction_value((step_num, mode), reduction_name, bool(abs), worker)

    def reduction_values(self, step_num: int, mode: AnyMode = None,
                         worker: str | None = None) -> dict[tuple[str, bool], smd.Array]:
        """Returns all saved reductions, by name and whether they are of absolute values."""
        return self._reduction_values((step_num, mode), worker)

    def workers(self, step_num: int, mode: AnyMode = None) -> list[str]:
        """Returns the workers that saved anything of the tensor at a step."""
        return self._workers((step_num, mode))

    def prev_steps(self, step: int, n: int | None = None, mode: AnyMode = None) -> list[int]:
        """Returns the last n steps up to and including a step; without n all."""
        if n is not None and (not hasattr(n, "__index__") or n < 0):
            raise InvalidArgument(f"n is a number of steps, not {n!r}")
        return self._prev_steps((step, mode), n)


class Steps:
    """Iterates over steps as they become complete, or grow; raises ValueError while another thread waits for its next
    step. outcome: why it ended ("ended", "idle", "timed_out"), else None."""
    outcome: str | None = None

    def __init__(self, follower: _core.Follower):
        self._follower = follower

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> int:
        kind, step = self._follower.next()
        if kind != "step":
            self.outcome = kind
            raise StopIteration
        return step


class refreshing:
    """`with refreshing(False, trials):` queries of the trials do not refresh them; with True they do."""

    def __init__(self, refresh: bool, *trials: Trial):
        for one in trials:
            if not isinstance(one, Trial):
                raise InvalidArgument(f"{one!r} is no trial")
        self._kind, self._trials, self._guards = _core.Refresh if refresh else _core.NoRefresh, trials, []

    def __enter__(self) -> None:
        self._guards.append(self._kind(list(self._trials)))

    def __exit__(self, *error: object) -> None:
        self._guards.pop()


class Trial(_core.Trial):
    """What one job saved. Any number of threads may use it. Tensors are its items: `trial["loss"]`."""
    name: str
    path: str
    layout: str
    remote: bool
    problems: list[Problem]
    ended: bool
    exit_code: int | None
    num_workers: int
    last_complete_step: int | None
    _tensor = Tensor

    def __init__(self, path: str | os.PathLike[str], **options: Any):
        super().__init__(os.fsdecode(path), options)

    def __repr__(self) -> str:
        return f"<smd.Trial {self.path!r}>"

    def __getitem__(self, tname: str) -> Tensor:
        return self._tensor(self, tname)

    def __contains__(self, tname: str) -> bool:
        return self._has_tensor(tname)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensor_names())

    def __len__(self) -> int:
        return len(self.tensor_names())

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """The hyperparameters of the job, by name: numbers, texts, lists."""
        return {name: json.loads(text) for name, text in self._hyperparameters.items()}

    def tensor_names(self, regex: Texts = None, collection: Texts | Collection = None, names: Texts = None,
                     exclude: Texts = None, step: int | None = None, mode: AnyMode = None) -> list[str]:
        """Returns the tensors that a pattern finds, in a collection or among names, without those that exclude finds. All
        are selected if none of the first three is given; an empty list selects none."""
        if isinstance(collection, Collection):
            names, regex = [*_list(names), *collection.tensor_names], [*_list(regex), *collection.include_regex]
            collection = None if collection.tensor_names or collection.include_regex else collection.name
        given = [_list(names), _list(regex), _list(collection)]
        if not any(given) and any(one is not None for one in (names, regex, collection)):
            return []
        return self._tensor_names(*given, _list(exclude),
                                  None if step is None else (step, mode), mode)

    def tensor(self, tname: str) -> Tensor:
        """Returns a tensor, as does trial[tname]."""
        return self[tname]

    def has_tensor(self, tname: str) -> bool:
        """Returns whether anything of the tensor was saved, as does `tname in trial`."""
        return tname in self

    def steps(self, mode: AnyMode = None, show_incomplete_steps: bool = False) -> list[int]:
        """Returns the complete steps, ascending."""
        return self._steps(mode, bool(show_incomplete_steps))

    def modes(self) -> list[Mode]:
        """Returns the modes of the steps, without GLOBAL."""
        return self._modes()

    def mode(self, global_step: int) -> Mode | None:
        """Returns a step's mode."""
        return self._mode(global_step)

    def mode_step(self, global_step: int) -> int | None:
        """Returns a step's number within its mode."""
        return self._mode_step(global_step)

    def global_step(self, mode: AnyMode, mode_step: int) -> int | None:
        """Returns the global number of a mode's step."""
        return self._global_step(mode, mode_step)

    def workers(self) -> list[str]:
        """Returns the workers, by name."""
        return self._workers()

    def collections(self) -> dict[str, Collection]:
        """Returns the collections by name."""
        return self._collections()

    def collection(self, coll_name: str) -> Collection | None:
        """Returns a collection; None if the trial defines none of that name."""
        return self._collection(coll_name)

    def has_passed_step(self, step: int, mode: AnyMode = None) -> StepState:
        """Returns whether a step can be read: now, never, or perhaps later."""
        return self._state((step, mode))

    def wait_for_steps(self, required_steps: Iterable[int], mode: AnyMode = None,
                       timeout: float | None = None, idle: float | None = None, interval: float | None = None) -> str:
        """Waits until all steps can be read, for seconds of `timeout`, and of `idle` without a further step. Returns
        "reached", "timed_out" or "idle". Raises StepUnavailable, NoMoreData."""
        return self._wait([(step, mode) for step in required_steps], timeout, idle, interval)

    def follow(self, idle: float | None = None, timeout: float | None = None, interval: float | None = None,
               after: int | None = None, whole_before: int | None = None) -> Steps:
        """Returns an iterator over the global steps that are there and those to come, until the job ends.

        In a log a step can grow: it comes again each time that something of it has arrived. Steps before whole_before
        are held back until they are whole: until a later one has come and nothing up to them for ten seconds, or
        nothing has come for a minute."""
        return Steps(_core.Follower(self, idle, timeout, interval, after, whole_before))

    def refresh(self) -> None:
        """Reads what is new."""
        self._refresh()

    def load_range(self, first: int | None, end: int | None) -> None:
        """Reads another range of steps too."""
        self._load_range((first, end))

    def no_refresh(self) -> refreshing:
        """`with trial.no_refresh():` queries see the trial as it was at the last refresh."""
        return refreshing(False, self)

    def scalars(self, regex: Texts = None, *, names: Texts = None, collection: Texts | Collection = None,
                exclude: Texts = None, mode: AnyMode = None, worker: str | None = None, wide: bool = False,
                wall_time: bool = False) -> Table:
        """Returns the tensors that are single numbers as columns step, value and tensor; if wide, as step and a column
        for each tensor, NaN where it has no value. wall_time: also when they were written, in seconds since 1970.
        Complex numbers are left out.

        In the long table all values have the type that NumPy finds for those of all tensors together; in a wide one a
        tensor has its own, or float64 if it lacks a step. float64 does not hold every integer beyond 2**53. Of a step
        with several values (superseded="included") a wide table has the last. Raises InvalidArgument if two columns of
        it would have one name, as with a tensor `step`; InvalidWorker if the worker saved nothing at all."""
        from smd._arrays import scalars
        names = self.tensor_names(regex, collection, names, exclude, mode=mode)
        return scalars(self, names, mode, worker, wide, wall_time)


for _kind in (Mode, StepState, Tensor, Steps, refreshing, Trial):
    _kind.__module__ = "smd"
