"""A listener to the occupation of hosts by work."""

from __future__ import annotations

from typing import Protocol

from batsched_py.hostset import HostSet


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

    def disrupt(self) -> None:
        """Record that promises must be made anew."""
