"""Observer of a lease scheduler: is told of requests, plans, of what begins and ends, and of each instant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from batsched_py.leases.lease import Lease, LeaseReservation, Run
from batsched_py.leases.preparation.images import Disks
from batsched_py.leases.site import Site


class LeaseSchedule(Protocol):
    """The part of a scheduler at which observers look.

    Attributes:
        site: the hosts.
        leases: those that have not ended, by id.
        disks: files on the hosts.
    """

    site: Site
    leases: dict[int, Lease]
    disks: Disks

    @property
    def queue(self) -> Sequence[Lease]:
        """Best-effort leases that wait for a run, by their submission."""

    @property
    def future(self) -> Mapping[int, Lease]:
        """Best-effort leases that hold a start in the future, by id."""

    def under_way(self) -> Iterator[LeaseReservation]:
        """Iterate over reservations that have begun and are not over, in no order."""


class Observer:
    """Base of observers; by itself it does nothing. Observers change nothing."""

    def opened(self, site: Site) -> None:
        """Note the site on which leases will be scheduled."""

    def requested(self, lease: Lease, now: float) -> None:
        """Note that a lease is requested; nothing is decided yet."""

    def admitted(self, lease: Lease, now: float) -> None:
        """Note that a lease is admitted: it may be scheduled, or refused yet."""

    def queued(self, lease: Lease, now: float) -> None:
        """Note that a best-effort lease joins the queue for the first time."""

    def tried(self, lease: Lease, now: float) -> None:
        """Note that a place is looked for: for the next lease of the queue, or for one that cannot wait."""

    def planned(self, lease: Lease, run: Run, now: float) -> None:
        """Note that a run is planned, with all that belongs to it; those who give way for it were told before."""

    def cut(self, run: Run) -> None:
        """Note that a run will be suspended sooner than was planned; its reservations say when."""

    def taken_back(self, run: Run, now: float) -> None:
        """Note that a run is taken away, planned or under way: its lease will be planned anew."""

    def refused(self, lease: Lease, why: str, now: float) -> None:
        """Note that a lease is refused; that it has ended is told next."""

    def began(self, reservation: LeaseReservation, now: float) -> None:
        """Note that a reservation is under way; its lease is in its new state."""

    def finished(self, reservation: LeaseReservation, now: float) -> None:
        """Note that a reservation is over, by its plan or before; its lease may be in its new state, or not yet."""

    def ended(self, lease: Lease, now: float) -> None:
        """Note that a lease is in a final state, whichever that is."""

    def stepped(self, scheduler: LeaseSchedule, now: float) -> None:
        """Look at the scheduler at the end of an instant, when everything that begins and ends then has done so."""


class Observers(Observer):
    """Several observers as one; each is told in their order what it does not leave to the base class."""

    def __init__(self, *observers: Observer) -> None:
        self._opened = [one.opened for one in observers]
        self._requested = [one.requested for one in observers if type(one).requested is not Observer.requested]
        self._admitted = [one.admitted for one in observers if type(one).admitted is not Observer.admitted]
        self._queued = [one.queued for one in observers if type(one).queued is not Observer.queued]
        self._tried = [one.tried for one in observers if type(one).tried is not Observer.tried]
        self._planned = [one.planned for one in observers if type(one).planned is not Observer.planned]
        self._cut = [one.cut for one in observers if type(one).cut is not Observer.cut]
        self._taken_back = [one.taken_back for one in observers if type(one).taken_back is not Observer.taken_back]
        self._refused = [one.refused for one in observers if type(one).refused is not Observer.refused]
        self._began = [one.began for one in observers if type(one).began is not Observer.began]
        self._finished = [one.finished for one in observers if type(one).finished is not Observer.finished]
        self._ended = [one.ended for one in observers if type(one).ended is not Observer.ended]
        self._stepped = [one.stepped for one in observers if type(one).stepped is not Observer.stepped]

    def opened(self, site: Site) -> None:
        """Tell all."""
        for tell in self._opened:
            tell(site)

    def requested(self, lease: Lease, now: float) -> None:
        """Tell all."""
        for tell in self._requested:
            tell(lease, now)

    def admitted(self, lease: Lease, now: float) -> None:
        """Tell all."""
        for tell in self._admitted:
            tell(lease, now)

    def queued(self, lease: Lease, now: float) -> None:
        """Tell all."""
        for tell in self._queued:
            tell(lease, now)

    def tried(self, lease: Lease, now: float) -> None:
        """Tell all."""
        for tell in self._tried:
            tell(lease, now)

    def planned(self, lease: Lease, run: Run, now: float) -> None:
        """Tell all."""
        for tell in self._planned:
            tell(lease, run, now)

    def cut(self, run: Run) -> None:
        """Tell all."""
        for tell in self._cut:
            tell(run)

    def taken_back(self, run: Run, now: float) -> None:
        """Tell all."""
        for tell in self._taken_back:
            tell(run, now)

    def refused(self, lease: Lease, why: str, now: float) -> None:
        """Tell all."""
        for tell in self._refused:
            tell(lease, why, now)

    def began(self, reservation: LeaseReservation, now: float) -> None:
        """Tell all."""
        for tell in self._began:
            tell(reservation, now)

    def finished(self, reservation: LeaseReservation, now: float) -> None:
        """Tell all."""
        for tell in self._finished:
            tell(reservation, now)

    def ended(self, lease: Lease, now: float) -> None:
        """Tell all."""
        for tell in self._ended:
            tell(lease, now)

    def stepped(self, scheduler: LeaseSchedule, now: float) -> None:
        """Tell all."""
        for tell in self._stepped:
            tell(scheduler, now)
