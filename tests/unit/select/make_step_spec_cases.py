#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes step_spec_cases.inc: what a SPEC chooses, by Python's own range and slices.

    python3 make_step_spec_cases.py >step_spec_cases.inc

A range of plain numbers: those saved that are in range(A, B, S). Ends that count from the end, without a stride: the
slice of the saved steps. Both kinds of ends: what both say. With a stride, an end that counts stands for the number of
the step at that place, found by slice.indices. Ranges that are empty whatever was saved are refused: they are left out.
"""
import itertools

SAVED = ([0, 1, 2, 3, 4], [0, 10, 20, 30, 40, 50], [3, 7, 8, 20], [5], [0, 2, 2, 4, 6, 6, 9], [])
ENDS = (None, 0, 3, 7, 21, 1000, -1, -3, -9)
STRIDES = (None, 1, 2, 10, -1, -2)
BEYOND = 2000


def counts(end):
    return end is not None and end < 0


def members(start, stop, stride, steps):
    if not steps:
        return set()
    step = 1 if stride is None else stride
    if step == 1 and (counts(start) or counts(stop)):
        by_place = set(steps[start if counts(start) else None:stop if counts(stop) else None])
        by_number = range(0 if start is None or counts(start) else start, BEYOND if stop is None or counts(stop) else stop)
        return {s for s in by_place if s in by_number}
    first, last, _ = slice(start if counts(start) else None, stop if counts(stop) else None, step).indices(len(steps))
    if counts(start):
        if step < 0 and first < 0:
            return set()
        start = steps[first]
    elif start is None:
        start = 0 if step > 0 else steps[-1]
    if counts(stop):
        if step > 0 and last == 0:
            return set()
        stop = steps[last] if last >= 0 else -1
    elif stop is None:
        stop = BEYOND if step > 0 else -1
    return {s for s in steps if s in range(start, stop, step)}


def refused(start, stop, stride):
    step = 1 if stride is None else stride
    if start is None and step > 0:
        start = 0
    if start is None or stop is None or counts(start) != counts(stop):
        return False
    return not range(start, stop, step)


def text(number):
    return '' if number is None else str(number)


def emit(spec, saved, chosen, missing):
    indices = [i for i, s in enumerate(saved) if s in chosen]
    print('{"%s", "%s", "%s", %d},' % (spec, ' '.join(map(str, saved)), ' '.join(map(str, indices)), missing))


for saved in SAVED:
    steps = sorted(set(saved))
    for number in (0, 2, 3, 6, 1000, -1, -2, -4, -7):
        if number >= 0:
            chosen = {number} & set(steps)
        else:
            chosen = {steps[number]} if -number <= len(steps) else set()
        emit(str(number), saved, chosen, 0 if chosen else 1)
    emit('first', saved, set(steps[:1]), 0 if steps else 1)
    emit('last', saved, set(steps[-1:]), 0 if steps else 1)
    emit('all', saved, set(steps), 0)
    for start, stop, stride in itertools.product(ENDS, ENDS, STRIDES):
        if refused(start, stop, stride):
            continue
        spec = text(start) + ':' + text(stop) + ('' if stride is None else ':%d' % stride)
        emit(spec, saved, members(start, stop, stride, steps), 0)
