"""Step functions of time: lists of (time, value from then on), in ascending order of time."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, pairwise
from operator import itemgetter, sub

#: Each value holds from its time to the next one; the last holds forever. The times ascend.
Steps = list[tuple[float, float]]


def stacked(spans: Iterable[tuple[float, float, int]]) -> Steps:
    """Return the sum of the weights of the spans (begin, end, weight) over time, from 0 on.

    Spans are half-open; one that ends at its begin or before is empty. The result is exact in any order of the spans.
    """
    changes: defaultdict[float, int] = defaultdict(int)
    changes[0.0] = 0
    for begin, end, weight in spans:
        if begin < end and weight:
            changes[begin] += weight
            changes[end] -= weight
    steps: Steps = []
    value = 0
    for time in sorted(changes):  # of times alone: sorting pairs takes several times as long
        change = changes[time]
        value += change
        if change or not steps:
            steps.append((time, value))
    return steps


def integral(steps: Sequence[tuple[float, float]], begin: float, end: float) -> float:
    """Return the integral from `begin` to `end`; before the first step the value is 0."""
    held = _held(steps, begin, end)
    times = [time for time, _ in held]
    lengths = map(sub, chain(times[1:], (end,)), times)
    return math.fsum([value * length for (_, value), length in zip(held, lengths, strict=True) if value])


def mean_over(steps: Sequence[tuple[float, float]], begin: float, end: float) -> float | None:
    """Return the mean from `begin` to `end`; None if the interval is empty."""
    return integral(steps, begin, end) / (end - begin) if end > begin else None


def highest(steps: Sequence[tuple[float, float]], begin: float, end: float) -> int | None:
    """Return the highest count from `begin` to `end`; None if the interval is empty."""
    return int(max([value for _, _, value in _pieces(steps, begin, end)], default=0)) if end > begin else None


def between(steps: Sequence[tuple[float, float]], begin: float, end: float) -> Steps:
    """Return the steps from `begin` to `end`, beginning with the value at `begin`."""
    first = bisect_right(steps, begin, key=itemgetter(0))
    held = [(begin, steps[first - 1][1])] if first else []
    return held + [step for step in steps[first:] if step[0] < end]


def means(steps: Sequence[tuple[float, float]], begin: float, end: float, bins: int) -> list[float]:
    """Return the mean over each of `bins` equal parts of the time from `begin` to `end`, for charts of many steps.

    The running time is linear in the numbers of steps and bins.
    """
    width = (end - begin) / bins
    sums: list[list[float]] = [[] for _ in range(bins)]
    if width <= 0:
        return [0.0] * bins
    for low, high, value in _pieces(steps, begin, end):
        for number in range(int((low - begin) / width), min(int((high - begin) / width) + 1, bins)):
            inside = min(high, begin + (number + 1) * width) - max(low, begin + number * width)
            if inside > 0:
                sums[number].append(value * inside)
    return [math.fsum(parts) / width for parts in sums]


def scaled(steps: Sequence[tuple[float, float]], divisor: float) -> Steps:
    """Divide each value by a number above 0."""
    return [(time, value / divisor) for time, value in steps]


def changes(rows: Iterable[tuple[float, float]]) -> Steps:
    """Return the rows that change the value: the last one of each instant, if it differs from the one before."""
    steps: Steps = []
    for _, together in groupby(rows, key=itemgetter(0)):
        *_, (time, value) = together
        if not steps or steps[-1][1] != value:
            steps.append((time, value))
    return steps


def side_by_side(series: Sequence[Sequence[tuple[float, float]]]) -> Iterator[tuple[float, list[float | None]]]:
    """Yield (time, the value of each series) at each change; a value is None before the first step of its series."""
    values: list[float | None] = [None] * len(series)
    changes = sorted((time, number, value) for number, steps in enumerate(series) for time, value in steps)
    for time, together in groupby(changes, key=itemgetter(0)):
        for _, number, value in together:
            values[number] = value
        yield time, list(values)


def _held(steps: Sequence[tuple[float, float]], begin: float, end: float) -> Sequence[tuple[float, float]]:
    """Return the steps within the interval, the first one from `begin` on; none if it is empty."""
    if not end > begin:
        return ()
    first, last = (
        bisect(steps, time, key=itemgetter(0)) for bisect, time in ((bisect_right, begin), (bisect_left, end))
    )
    within = steps[first:last]
    return [(begin, steps[first - 1][1]), *within] if first else within


def _pieces(steps: Sequence[tuple[float, float]], begin: float, end: float) -> list[tuple[float, float, float]]:
    """Return (begin, end, value) of each step within the interval, without values of 0."""
    return [
        (low, high, value)
        for (time, value), (until, _) in pairwise(chain(steps, [(end, 0.0)]))
        if value and (low := time if time > begin else begin) < (high := until if until < end else end)
    ]
