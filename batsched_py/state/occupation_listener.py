"""A listener to the occupation of hosts by work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from batsched_py.hostset import HostSet
from batsched_py.model.demand import HostCapacity
from batsched_py.model.host_room import Places
from batsched_py.model.job_demand import JobDemand


class OccupationListener(Protocol):
    """A forecast that the state informs of starts and ends; hosts are bits."""

    #: Bits of hosts that are unusable for a reason other than work.
    down: int

    def advance(self, now: float) -> None:
        """Advance the time to `now`."""

    def occupy(self, hosts: int, until: float) -> None:
        """Record that work occupies hosts, at most until `until` (infinite: unknown)."""

    def vacate(self, hosts: int, until: float) -> None:
        """Record that the work that was to occupy hosts until `until` has ended."""

    def predict(self, hosts: HostSet, end: float) -> None:
        """Replace the expected end of the work that occupies hosts (infinite: unknown)."""

    def share(self, capacities: Mapping[int, HostCapacity], licences: Mapping[str, int]) -> None:
        """Record that tasks may share hosts with these resources, and the machine's licences: before the first one."""

    def occupy_tasks(self, job_id: str, places: Places, demand: JobDemand, until: float) -> None:
        """Record that tasks of a job occupy places, at most until `until` (infinite: unknown)."""

    def vacate_tasks(self, job_id: str) -> None:
        """Record that the tasks of a job have ended."""

    def predict_tasks(self, job_id: str, end: float) -> None:
        """Replace the expected end of the tasks of a job (infinite: unknown)."""

    def disrupt(self) -> None:
        """Record that promises must be made anew."""
