"""The trace of a run: rows about machines, energy and power states, which Batsim writes beside jobs and schedule."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct, field

from batsched_py.text.representation import Brief, brief

#: States of hosts, in the order of Batsim's columns -> how people read them.
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

#: Stand-ins for the new pstate while hosts are on the way to one that computes, or to one that sleeps.
TO_COMPUTING: Final = -1
TO_SLEEP: Final = -2


def numbers() -> array[float]:
    """Return an empty column of numbers."""
    return array("d")


def counts() -> array[int]:
    """Return an empty column of counts."""
    return array("I")


class StateRows(Struct):
    """Numbers of hosts in each state: a row when a job starts or ends and when a switch is asked for or done.

    Attributes:
        times: one for each row, ascending.
        counts: one for each of HOST_STATES for each row.
        unavailable: how many hosts were in none of these states, one for each row; empty if nothing tells.
    """

    times: array[float] = field(default_factory=numbers)
    counts: array[int] = field(default_factory=counts)
    unavailable: array[int] = field(default_factory=lambda: array("I"))

    def columns(self) -> Mapping[str, array[int]]:
        """Return state (of HOST_STATES) -> how many hosts are in it, for each row."""
        return {state: self.counts[place :: len(HOST_STATES)] for place, state in enumerate(HOST_STATES)}

    def __repr__(self) -> str:
        return brief(self)

    @property
    def always_awake(self) -> bool:
        """True if no host ever slept or switched."""
        return not any(any(counts) for state, counts in self.columns().items() if state not in _AWAKE)


class EnergyRows(Struct):
    """Consumption of all hosts: a row when a job starts or ends and when a switch is asked for or done.

    Attributes:
        times: one for each row, ascending.
        joules: since the start of the simulation.
        kinds: JOB_STARTED, JOB_ENDED or PSTATE.
        least_watts: what the hosts draw at least if they compute, in the pstates they have.
    """

    times: array[float] = field(default_factory=numbers)
    joules: array[float] = field(default_factory=numbers)
    kinds: list[str] = field(default_factory=list)
    least_watts: array[float] = field(default_factory=numbers)

    def __repr__(self) -> str:
        return brief(self)


class Trace(Brief, frozen=True):
    """The rows that were traced.

    Attributes:
        states: None if machine states were not to be traced.
        energy: None if energy is not counted.
        pstates: (time, hosts as bits, pstate or TO_COMPUTING or TO_SLEEP), the first ones at 0.
    """

    states: StateRows | None
    energy: EnergyRows | None
    pstates: list[tuple[float, int, int]]
