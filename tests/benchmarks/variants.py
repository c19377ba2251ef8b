"""Variants of batsched as the command `batsched` decides them, next to C++: CPU seconds of whole conversations.

Messages are answered in this process, without a socket, whose costs depend on what else the machine does. C++ was
measured with one: the barest loop over ZeroMQ needs 22 us for a message there. The C++ seconds are of another machine,
which the yardstick compares with this one: "there" are our seconds at the speed of that machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from batsched_py.cli.shared.batsched_words import serve_words
from tests.benchmarks.cpp import MEASURED, Cpp
from tests.benchmarks.inputs import new_session, new_simulation, poisson_workload
from tests.benchmarks.timing import Effort, measure
from tests.benchmarks.yardstick import Yardstick

VARIANTS: Final = ("fcfs_fast", "easy_bf_fast", "easy_bf", "conservative_bf")
#: Seconds of a message of the yardstick on the machine on which C++ was measured.
THERE: Final = 3.6e-6


@dataclass(frozen=True, slots=True)
class VariantTiming:
    """CPU seconds of a conversation; `ratio` converts them to the other machine."""

    variant: str
    theirs: Cpp
    seconds: float
    ratio: float


def measure_variants(jobs: int, hosts: int, effort: Effort) -> list[VariantTiming]:
    """Measure each variant with each load."""
    rows = [row for row in MEASURED if (row.jobs, row.hosts) == (jobs, hosts)]
    return [_measure(variant, row, effort) for variant in VARIANTS for row in rows]


def markdown(rows: Sequence[VariantTiming]) -> Iterator[str]:
    """The table of docs/how-to/as-batsched.md."""
    yield "| variant | load | CPU s | there, CPU s | C++, CPU s | batsched-py / C++ |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        theirs, there = getattr(row.theirs, row.variant), row.seconds * row.ratio
        cells = f"{row.seconds:.2f} | {there:.2f} | {theirs:g} | {there / theirs:.2f}"
        yield f"| `{row.variant}` | {row.theirs.load} | {cells} |"


def _measure(variant: str, theirs: Cpp, effort: Effort) -> VariantTiming:
    words = serve_words(["-v", variant])
    options = dict(one.split("=", 1) for word, one in pairwise(words) if word == "-o")
    requests: list[bytes] = []
    recorded, yardstick = new_session(words[2], options), Yardstick()

    def exchange(request: bytes) -> bytes:
        requests.append(request)
        return recorded.answer(request)

    def prepare() -> Callable[[], None]:
        session = new_session(words[2], options)

        def action() -> None:
            for request in requests:
                session.answer(request)

        return action

    new_simulation(poisson_workload(theirs.jobs, theirs.hosts, theirs.load)).run(exchange)
    seconds = min(measure(prepare, effort, yardstick))
    return VariantTiming(variant, theirs, seconds, THERE / yardstick.per_message)
