"""Colours of jobs, the same in all pictures: by job, or one for each user, workload or final state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct

from batsched_py.protocol.commands import RUNNING
from batsched_py.protocol.events import (
    COMPLETED_FAILED,
    COMPLETED_KILLED,
    COMPLETED_SUCCESSFULLY,
    COMPLETED_WALLTIME_REACHED,
)
from batsched_py.reporting.formatting import STATE_NAMES
from batsched_py.results.records import JobRecord

#: Light enough for black names on them, and distinct for colour-blind people, too: the scheme "light" of P. Tol,
#: "Colour Schemes", SRON technical note SRON/EPS/TN/09-002, and a ninth: their number has no divisor in common with
#: that of the letters in the terminal, so that 468 jobs look different there.
LIGHT: Final = (
    "#77AADD", "#EE8866", "#EEDD88", "#FFAABB", "#99DDFF", "#44BB99", "#BBCC33", "#AAAA00", "#CC99BB",
)  # fmt: skip
#: The colour of small groups: the grey of the same scheme.
OTHERS: Final = "#DDDDDD"
#: Lines that colour-blind people can distinguish (Okabe and Ito, "Color Universal Design", 2008).
LINES: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

#: State of hosts -> its colour on white and on a dark ground, the same in the page and in pictures; in the order of a
#: trace's columns.
HOST_COLOURS: Final[Mapping[str, tuple[str, str]]] = {
    "sleeping": ("#3B4A63", "#6F7F9B"),
    "switching_on": ("#E69F00", "#E6AE2E"),
    "switching_off": ("#9A7FC7", "#B9A2E3"),
    "idle": ("#CFD6DD", "#39424C"),
    "computing": ("#0072B2", "#56B4E9"),
}

#: A state has the same colour in each picture. At the end of a run that stopped early, jobs may be running.
STATE_COLOURS: Final = {
    COMPLETED_SUCCESSFULLY: "#77AADD",
    COMPLETED_WALLTIME_REACHED: "#EEDD88",
    COMPLETED_FAILED: "#EE8866",
    COMPLETED_KILLED: "#FFAABB",
    RUNNING: "#44BB99",
}
#: The largest number of groups with separate colours: more cannot be distinguished.
_MOST: Final = 7
_NO_USER: Final = "unknown"


#: Way of colouring -> the group of a job.
GROUPS: Final[Mapping[str, Callable[[JobRecord], str]]] = {
    "user": lambda record: record.job.user or _NO_USER,
    "workload": lambda record: record.workload,
    "state": lambda record: record.state,
}
#: All ways of colouring.
CHOICES: Final = ("job", *GROUPS)


def job_colour(number: int) -> str:
    """Return the colour of the job with this number (window.number_jobs), the same in all pictures."""
    return LIGHT[number % len(LIGHT)]


class Colouring(Struct, frozen=True):
    """The colours of groups of jobs.

    Attributes:
        by: one of CHOICES.
        colours: group -> colour, for groups with a separate colour.
        legend: name -> colour, in the order of the legend; empty if jobs are coloured individually.
    """

    by: str
    colours: Mapping[str, str]
    legend: Mapping[str, str]

    def of(self, number: int, record: JobRecord) -> str:
        """Return the colour of a job, given its number in the order of submission; it is the same in all runs."""
        if self.by == "job":
            return job_colour(number)
        return self.colours.get(GROUPS[self.by](record), OTHERS)


def colouring(by: str, records: Iterable[JobRecord]) -> Colouring:
    """Return the colouring of these jobs: a colour for each of the largest groups by host seconds, grey for others."""
    if by == "job":
        return Colouring(by, {}, {})
    weights: defaultdict[str, float] = defaultdict(float)
    for record in records:
        weights[GROUPS[by](record)] += max(record.execution, 0.0) * max(len(record.hosts), 1)
    if by == "state":
        known = {state: colour for state, colour in STATE_COLOURS.items() if state in weights}
        return Colouring(by, known, {STATE_NAMES[state]: colour for state, colour in known.items()})
    largest = sorted(weights, key=lambda name: (name == _NO_USER, -weights[name], name))[:_MOST]
    colours = {name: LIGHT[number] for number, name in enumerate(largest) if name != _NO_USER}
    legend = {name: colours[name] for name in sorted(colours, key=_by_number)}
    return Colouring(by, colours, {**legend, **({"others": OTHERS} if len(colours) < len(weights) else {})})


def _by_number(name: str) -> tuple[bool, int, str]:
    """Return a sort key for names that orders numbers by value, because users of logs are numbers."""
    number = name.isdecimal() and name.isascii() and len(name) < 20
    return not number, int(name) if number else 0, name
