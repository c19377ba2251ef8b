"""Measuring one thing several times, the yardstick in between, in a process of its own."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import ParamSpec, TypeVar

from tests.benchmarks.yardstick import Yardstick

Given = ParamSpec("Given")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Effort:
    """The number of measurements: `repeats`, but once only if two took more than `budget` seconds."""

    repeats: int
    budget: float


@dataclass(frozen=True, slots=True)
class Timing:
    """Several measurements of one thing.

    Attributes:
        seconds: the least.
        spread: by what share of it the greatest was greater.
        repeats: how many.
        messages: that were exchanged in each.
        ratio: seconds of a message to those of a message of the yardstick, which was measured in between.
    """

    seconds: float
    spread: float
    repeats: int
    messages: int
    ratio: float

    @property
    def microseconds(self) -> float:
        """Return the microseconds of one message."""
        return self.seconds / self.messages * 1e6

    @property
    def rate(self) -> float:
        """Messages in a second."""
        return self.messages / self.seconds

    @classmethod
    def of(cls, samples: list[float], messages: int, yardstick: Yardstick) -> Timing:
        """Return the measurement of these samples, in seconds."""
        least = min(samples)
        ratio = least / messages / yardstick.per_message
        return cls(least, max(samples) / least - 1, len(samples), messages, ratio)


def measure(
    prepare: Callable[[], Callable[[], Outcome]],
    effort: Effort,
    yardstick: Yardstick,
    note: Callable[[Outcome], object] = lambda _: None,
) -> list[float]:
    """CPU seconds of what `prepare` returns, in each measurement; `note` is shown what it returned.

    The preparation is not measured, nor is the garbage it leaves. Yardstick samples surround each measurement. Nothing
    of one measurement is left in memory when the next begins, but for what `note` keeps.
    """
    samples: list[float] = []
    while enough_left(samples, effort):
        action = prepare()
        yardstick.sample()
        gc.collect()
        began = time.process_time()
        outcome = action()
        samples.append(time.process_time() - began)
        yardstick.sample()
        note(outcome)
        del action, outcome
    return samples


def enough_left(samples: list[float], effort: Effort) -> bool:
    """True if one more measurement is wanted and will fit into the budget; the first always does."""
    return not samples or (len(samples) < effort.repeats and sum(samples) + min(samples) <= effort.budget)


def apart(function: Callable[Given, Outcome], *args: Given.args, **kwargs: Given.kwargs) -> Outcome:
    """Call it in a fresh process: its peak of memory, its garbage and the core it is pinned to are its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()
