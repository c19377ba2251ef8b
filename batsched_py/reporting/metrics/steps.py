"""Quantities that change in steps: (time, value from then on), in ascending order of time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

#: Each value holds from its time to the next one's; the last holds for ever. The first time is the earliest of all.
Steps = list[tuple[float, float]]


def stacked(spans: Iterable[tuple[float, float, int]]) -> Steps:
    """The sum of the weights of the spans (begin, end, weight) that hold a time, from 0 on.

    Spans are half-open; one that ends where it begins, or before, holds no time. Exact, whatever their order.
    """
    changes: defaultdict[float, int] = defaultdict(int)
    changes[0.0] = 0
    for begin, end, weight in spans:
        if begin < end and weight:
            changes[begin] += weight
            changes[end] -= weight
    steps: Steps = []
    value = 0
    for time in sorted(changes):
        change = changes[time]
        value += change
        if change or not steps:
            steps.append((time, value))
    return steps


def integral(steps: Sequence[tuple[float, float]], begin: float, end: float) -> float:
    """The sum over time from `begin` to `end`; what lies before the first step counts as 0."""
    parts = []
    for position, (time, value) in enumerate(steps):
        until = steps[position + 1][0] if position + 1 < len(steps) else end
        low, high = max(time, begin), min(until, end)
        if high > low and value:
            parts.append(value * (high - low))
    return math.fsum(parts)


def mean_over(steps: Sequence[tuple[float, float]], begin: float, end: float) -> float | None:
    """The mean over the time from `begin` to `end`; None if that is no time."""
    return integral(steps, begin, end) / (end - begin) if end > begin else None


def means(steps: Sequence[tuple[float, float]], begin: float, end: float, bins: int) -> list[float]:
    """The mean over each of `bins` equal parts of the time from `begin` to `end`, for charts of what has many steps.

    Costs as much as there are steps and bins.
    """
    width = (end - begin) / bins
    sums: list[list[float]] = [[] for _ in range(bins)]
    if width <= 0:
        return [0.0] * bins
    for position, (time, value) in enumerate(steps):
        until = steps[position + 1][0] if position + 1 < len(steps) else end
        low, high = max(time, begin), min(until, end)
        if high <= low or not value:
            continue
        for number in range(int((low - begin) / width), min(int((high - begin) / width) + 1, bins)):
            inside = min(high, begin + (number + 1) * width) - max(low, begin + number * width)
            if inside > 0:
                sums[number].append(value * inside)
    return [math.fsum(parts) / width for parts in sums]


def scaled(steps: Sequence[tuple[float, float]], divisor: float) -> Steps:
    """Each value divided by the same number above 0."""
    return [(time, value / divisor) for time, value in steps]


def side_by_side(series: Sequence[Sequence[tuple[float, float]]]) -> Iterator[tuple[float, list[float | None]]]:
    """(time, the value of each) at each time at which one changes; None before the first step of one."""
    values: list[float | None] = [None] * len(series)
    changes = sorted((time, number, value) for number, steps in enumerate(series) for time, value in steps)
    for time, together in groupby(changes, key=itemgetter(0)):
        for _, number, value in together:
            values[number] = value
        yield time, list(values)
