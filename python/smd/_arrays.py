# SPDX-License-Identifier: Apache-2.0
"""Columns, in the order of steps. Imported with the first of them, because it needs NumPy."""
import numpy

import smd


def _numbers(trial, name, mode, worker, wall_time):
    """Returns steps, numbers and, if wanted, times of a tensor of single numbers, of each step those of the first worker;
    else None."""
    series = trial._numbers(name, mode, worker, wall_time)
    if series is None:
        return None
    steps, numbers, times, workers = series
    if workers is not None:
        order = numpy.lexsort((workers, steps))
        steps, workers = steps[order], workers[order]
        first = numpy.minimum.reduceat(workers, numpy.flatnonzero(numpy.r_[True, steps[1:] != steps[:-1]]))
        kept = workers == first[numpy.cumsum(numpy.r_[False, steps[1:] != steps[:-1]])]
        steps, numbers, times = steps[kept], numbers[order][kept], times[order][kept] if wall_time else None
    return steps, numbers, times


def values(tensor, mode, worker, wall_time):
    numbers = _numbers(tensor.trial, tensor.name, mode, worker, wall_time)
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
    """Puts a column into rows, NaN where it has nothing."""
    if len(rows) == len(steps):
        return column
    full = numpy.full(len(rows), numpy.nan)
    full[numpy.searchsorted(rows, steps)] = column
    return full


def scalars(trial, names, mode, worker, wide, wall_time):
    series = {name: numbers for name in names if (numbers := _numbers(trial, name, mode, worker, wall_time))}
    table = smd.Table()
    columns = list(zip(*series.values())) or [(numpy.empty(0, numpy.int64),), (numpy.empty(0),), (numpy.empty(0),)]
    if not wide:
        table["step"], table["value"] = numpy.concatenate(columns[0]), numpy.concatenate(columns[1])
        if wall_time:
            table["wall_time"] = numpy.concatenate(columns[2])
        table["tensor"] = numpy.repeat(numpy.array(list(series), object), [len(one[0]) for one in series.values()])
        return table
    table["step"] = rows = columns[0][0] if len(series) == 1 else numpy.unique(numpy.concatenate(columns[0]))
    for name, (steps, numbers, times) in series.items():
        table[name] = _spread(rows, steps, numbers)
        if wall_time:
            table[name + "/wall_time"] = _spread(rows, steps, times)
    return table


def diff(a, b, regex, rtol, atol, equal_nan):
    rows = []
    for name in sorted({*a.tensor_names(regex), *b.tensor_names(regex)}):
        places = [{(step, worker) for step, worker in trial._places(name)} if name in trial else set() for trial in (a, b)]
        for step, worker in sorted(places[0] | places[1]):
            row = smd.Difference(tensor=name, step=step, worker=worker, only_in=None)
            if (step, worker) not in places[0] & places[1]:
                row.only_in = "a" if (step, worker) in places[0] else "b"
            else:
                row.__dict__.update(smd._core.compare(a[name], b[name], step, worker, rtol, atol, equal_nan))
            rows.append(row)
    return rows
