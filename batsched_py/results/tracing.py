"""The trace of a run: rows about machines, energy and power states, which Batsim writes in addition to its results."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct, field

from batsched_py.text.representation import Brief, brief

#: States of hosts in the order of Batsim's columns -> words for readers.
HOST_STATES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "sleeping": "sleeping",
        "switching_on": "switching on",
        "switching_off": "switching off",
        "idle": "idle",
        "computing": "computing",
    }
)
#: States of hosts that neither sleep nor switch.
_AWAKE: Final = frozenset({"idle", "computing"})

#: The event types of consumed energy.
JOB_STARTED: Final = "s"
JOB_ENDED: Final = "e"
PSTATE: Final = "p"

#: Placeholders for the new pstate while hosts switch to a computing one, or to a sleep pstate.
TO_COMPUTING: Final = -1
TO_SLEEP: Final = -2
#: A change of power states: (time, hosts as bits, pstate, or TO_COMPUTING or TO_SLEEP during a transition).
PstateChange = tuple[float, int, int]


def numbers() -> array[float]:
    """Return an empty column of numbers."""
    return array("d")


def counts() -> array[int]:
    """Return an empty column of counts."""
    return array("I")


class StateRows(Struct):
    """The numbers of hosts in each state: one row at each start or end of a job, and of a switch.

    Attributes:
        times: one for each row, ascending.
        counts: one for each of HOST_STATES for each row.
        unavailable: number of hosts in none of these states, one for each row; empty if unknown.
    """

    times: array[float] = field(default_factory=numbers)
    counts: array[int] = field(default_factory=counts)
    unavailable: array[int] = field(default_factory=lambda: array("I"))

    def columns(self) -> Mapping[str, array[int]]:
        """Return state (of HOST_STATES) -> number of hosts in it, for each row."""
        return {state: self.counts[place :: len(HOST_STATES)] for place, state in enumerate(HOST_STATES)}

    def __repr__(self) -> str:
        return brief(self)

    @property
    def always_awake(self) -> bool:
        """True if no host ever slept or switched."""
        return not any(any(counts) for state, counts in self.columns().items() if state not in _AWAKE)


class EnergyRows(Struct):
    """The consumption of all hosts: one row at each start or end of a job, and of a switch.

    Attributes:
        times: one for each row, ascending.
        joules: since the start of the simulation.
        kinds: JOB_STARTED, JOB_ENDED or PSTATE.
        least_watts: draw of the hosts at minimum computing load in their pstates.
    """

    times: array[float] = field(default_factory=numbers)
    joules: array[float] = field(default_factory=numbers)
    kinds: list[str] = field(default_factory=list)
    least_watts: array[float] = field(default_factory=numbers)

    def __repr__(self) -> str:
        return brief(self)


class Trace(Brief, frozen=True):
    """The recorded rows.

    Attributes:
        states: machine states; None if not traced.
        energy: consumption; None without energy accounting.
        pstates: (time, hosts as bits, pstate or TO_COMPUTING or TO_SLEEP), the first ones at 0.
    """

    states: StateRows | None
    energy: EnergyRows | None
    pstates: list[tuple[float, int, int]]
