"""Advance reservations of nodes or licences, and the nodes that they leave to a job."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from batsched_py.slurm.jobs import SlurmJob

#: Flags of a reservation of licences only, whose jobs may run on any nodes.
_ANY_NODES: Final = frozenset({"any_nodes", "license_only"})


@dataclass(slots=True, eq=False)
class AdvanceReservation:
    """A reservation from `start` to `end`, seconds since time zero; its nodes are bits."""

    name: str
    start: float
    end: float
    nodes: int = 0
    users: frozenset[str] = frozenset()
    accounts: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    licences: tuple[tuple[str, int], ...] = ()

    def admits(self, job: SlurmJob) -> bool:
        """May the job use it?"""
        account = job.association.account if job.association is not None else job.request.account
        return self.permits(job.request.user, account)

    def permits(self, user: str, account: str | None) -> bool:
        """Are user and account listed? If both kinds are, a job must match both (scontrol(1), Accounts)."""
        is_user, is_account = user in self.users, account in self.accounts
        return is_user and is_account if self.users and self.accounts else is_user or is_account

    def offered(self, nodes: int) -> int:
        """Return those of the nodes on which its jobs may run: its own, but any if it is one of licences only."""
        return nodes if self.flags & _ANY_NODES else nodes & self.nodes

    def overlaps(self, start: float, end: float) -> bool:
        """Does it overlap an interval?"""
        return self.start < end and start < self.end


@dataclass(slots=True)
class AdvanceReservations:
    """The reservations of a cluster, in the order of creation."""

    all: list[AdvanceReservation] = field(default_factory=list)

    def named(self, name: str) -> AdvanceReservation | None:
        """Return the reservation of a name."""
        return next((one for one in self.all if one.name == name), None)

    def of(self, job: SlurmJob, now: float) -> list[AdvanceReservation | None]:
        """Return the reservations that the job may use, in the order of tests; None is to use none.

        A job that names one uses no other; it has to wait while there is none of the name. Magnetic ones are open
        to all jobs that they admit.
        """
        if job.request.reservation is not None:
            named = self.named(job.request.reservation)
            return [named] if named is not None else []
        magnetic = [one for one in self.all if "magnetic" in one.flags and one.admits(job) and one.start <= now]
        return [*magnetic, None]

    def closed_nodes(self, start: float, end: float, used: AdvanceReservation | None) -> int:
        """Return the nodes that others have reserved in an interval, as bits."""
        closed = 0
        for one in self.all:
            if one is not used and one.overlaps(start, end):
                closed |= one.nodes
        return closed

    def reserved_licences(self, name: str, start: float, end: float, used: AdvanceReservation | None) -> int:
        """Return the number of a licence that others have reserved in an interval."""
        others = [one for one in self.all if one is not used and one.overlaps(start, end)]
        return sum(count for one in others for licence, count in one.licences if licence == name)

    def edges(self) -> Iterable[float]:
        """Return the instants after which reservations give back what they held."""
        return [one.end + 1 for one in self.all]

    def remove_ended(self, now: float) -> bool:
        """Remove reservations that are over; return whether there were some."""
        left = [one for one in self.all if one.end > now]
        is_changed = len(left) < len(self.all)
        self.all = left
        return is_changed


def permitted_names(text: str) -> frozenset[str]:
    """Return the users or accounts in a list, which may use a reservation. `ValueError` for names with `-`."""
    names = text.split(",")
    if not all(names) or any(name.startswith("-") for name in names):
        raise ValueError("must be names that may use the reservation; names with - are not supported")
    return frozenset(names)
