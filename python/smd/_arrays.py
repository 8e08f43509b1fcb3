# SPDX-License-Identifier: Apache-2.0
"""Columns, in the order of steps. Imported with the first of them, because it needs NumPy."""
import numpy

import smd


def small_float(name):
    """Returns the type of ml_dtypes of that name; None if the package is not installed or has no such type."""
    try:
        import ml_dtypes
    except ImportError:
        return None
    return getattr(ml_dtypes, name, None)


def _numbers(trial, name, mode, worker, wall_time, exact=False):
    """Returns steps, numbers and, if wanted, times of a tensor of single numbers, of each step those of the first worker;
    else None. exact: None also if they have axes, or if float64 does not hold them and they have several types."""
    series = trial._numbers(name, mode, worker, wall_time, exact)
    if series is None:
        return None
    steps, numbers, times, runs = series
    names = sorted({worker for worker, _ in runs})
    if len(names) > 1 or (steps[1:] < steps[:-1]).any():
        workers = numpy.repeat([names.index(worker) for worker, _ in runs], [count for _, count in runs])
        order = numpy.lexsort((workers, steps))
        steps, workers = steps[order], workers[order]
        first = numpy.minimum.reduceat(workers, numpy.flatnonzero(numpy.r_[True, steps[1:] != steps[:-1]]))
        kept = workers == first[numpy.cumsum(numpy.r_[False, steps[1:] != steps[:-1]])]
        steps, numbers, times = steps[kept], numbers[order][kept], times[order][kept] if wall_time else None
    return steps, numbers, times


def values(tensor, mode, worker, wall_time):
    numbers = _numbers(tensor.trial, tensor.name, mode, worker, wall_time, True)
    if numbers is not None:
        return numbers
    steps, arrays, stacked, times = tensor.trial._values(tensor.name, mode, worker)
    if stacked:
        return steps, arrays[0], times
    separate = numpy.empty(len(arrays), object)
    for i, array in enumerate(arrays):
        separate[i] = array
    return steps, separate, times


def _spread(rows, steps, column):
    """Puts a column into rows: the last number of each step, NaN where there is none."""
    if numpy.array_equal(rows, steps):
        return column
    full = numpy.full(len(rows), numpy.nan)
    full[numpy.searchsorted(rows, steps)] = column
    return full


def scalars(trial, names, mode, worker, wide, wall_time):
    series = {name: numbers for name in names if (numbers := _numbers(trial, name, mode, worker, wall_time))}
    if not series:
        trial._require_worker(worker)
    table = smd.Table()
    columns = list(zip(*series.values())) or [(numpy.empty(0, numpy.int64),), (numpy.empty(0),), (numpy.empty(0),)]
    if not wide:
        table["step"], table["value"] = numpy.concatenate(columns[0]), numpy.concatenate(columns[1])
        if wall_time:
            table["wall_time"] = numpy.concatenate(columns[2])
        table["tensor"] = numpy.repeat(numpy.array(list(series), object), [len(one[0]) for one in series.values()])
        return table
    table["step"] = rows = numpy.unique(numpy.concatenate(columns[0]))
    for name, (steps, *arrays) in series.items():
        for column, array in zip((name, name + "/wall_time"), arrays if wall_time else arrays[:1]):
            if column in table:
                raise smd.InvalidArgument(f"two columns of the wide table would be {column!r}: exclude the tensor "
                                          f"{name!r}, or take the long table")
            table[column] = _spread(rows, steps, array)
    return table
