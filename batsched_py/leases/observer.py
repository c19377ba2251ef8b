"""Observers of a lease scheduler: notified of requests, plans, begins and ends of reservations, and instants."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun
from batsched_py.leases.preparation.images import Disks
from batsched_py.leases.site import Site


class LeaseSchedule(Protocol):
    """The state of a scheduler that observers read.

    Attributes:
        site: the hosts.
        leases: the leases that have not ended, by id.
        disks: the files on the hosts.
    """

    site: Site
    leases: dict[int, Lease]
    disks: Disks

    @property
    def queue(self) -> Sequence[Lease]:
        """Best-effort leases without a planned run, in the order of submission."""

    @property
    def down(self) -> Collection[int]:
        """Hosts that are down, on which nothing can be placed; another object after each change."""

    @property
    def future(self) -> Mapping[int, Lease]:
        """Best-effort leases with a planned start in the future, by id."""

    def under_way(self) -> Iterator[LeaseReservation]:
        """Iterate over reservations under way, in no particular order."""


class Observer:
    """Base class of observers, whose methods do nothing. Observers must not change the schedule."""

    @property
    def follows_tries(self) -> bool:
        """True if `tried` must be called for leases, too, that a quick test shows to have no room."""
        return type(self).tried is not Observer.tried

    def opened(self, site: Site) -> None:
        """Handle the start of the scheduler on a site."""

    def requested(self, lease: Lease, now: float) -> None:
        """Handle the request of a lease, before any decision."""

    def admitted(self, lease: Lease, now: float) -> None:
        """Handle the admission of a lease, which may still be refused."""

    def queued(self, lease: Lease, now: float) -> None:
        """Handle the first entry of a best-effort lease into the queue."""

    def tried(self, lease: Lease, now: float) -> None:
        """Handle an attempt to plan a lease: the next one of the queue, or one that cannot wait."""

    def planned(self, lease: Lease, run: LeaseRun, now: float) -> None:
        """Handle a new planned run with its reservations; preemptions for it were notified before."""

    def cut(self, run: LeaseRun) -> None:
        """Handle an earlier suspension of a run, which has its new reservations."""

    def taken_back(self, run: LeaseRun, now: float) -> None:
        """Handle the removal of a run, planned or under way, whose lease will be replanned."""

    def held(self, lease: Lease, now: float) -> None:
        """Handle the hold of a lease, which has no planned run any more."""

    def released(self, lease: Lease, now: float) -> None:
        """Handle the release of a held lease that was requested at an earlier instant, before it is planned."""

    def refused(self, lease: Lease, why: str, now: float) -> None:
        """Handle the refusal of a lease; `ended` follows."""

    def began(self, reservation: LeaseReservation, now: float) -> None:
        """Handle the begin of a reservation; its lease already has its new state."""

    def finished(self, reservation: LeaseReservation, now: float) -> None:
        """Handle the end of a reservation, planned or early; its lease may not have its new state yet."""

    def ended(self, lease: Lease, now: float) -> None:
        """Handle the entry of a lease into a final state."""

    def stepped(self, scheduler: LeaseSchedule, now: float) -> None:
        """Handle the end of an instant, after all its begins and ends."""


class Observers(Observer):
    """Several observers as one; each notification goes, in order, to those that override its method."""

    def __init__(self, *observers: Observer) -> None:
        self._opened = [one.opened for one in observers]
        self._requested = [one.requested for one in observers if type(one).requested is not Observer.requested]
        self._admitted = [one.admitted for one in observers if type(one).admitted is not Observer.admitted]
        self._queued = [one.queued for one in observers if type(one).queued is not Observer.queued]
        self._tried = [one.tried for one in observers if type(one).tried is not Observer.tried]
        self._planned = [one.planned for one in observers if type(one).planned is not Observer.planned]
        self._cut = [one.cut for one in observers if type(one).cut is not Observer.cut]
        self._taken_back = [one.taken_back for one in observers if type(one).taken_back is not Observer.taken_back]
        self._held = [one.held for one in observers if type(one).held is not Observer.held]
        self._released = [one.released for one in observers if type(one).released is not Observer.released]
        self._refused = [one.refused for one in observers if type(one).refused is not Observer.refused]
        self._began = [one.began for one in observers if type(one).began is not Observer.began]
        self._finished = [one.finished for one in observers if type(one).finished is not Observer.finished]
        self._ended = [one.ended for one in observers if type(one).ended is not Observer.ended]
        self._stepped = [one.stepped for one in observers if type(one).stepped is not Observer.stepped]

    @property
    def follows_tries(self) -> bool:
        """True if one of them follows tries."""
        return bool(self._tried)

    def opened(self, site: Site) -> None:
        """Notify all observers."""
        for notify in self._opened:
            notify(site)

    def requested(self, lease: Lease, now: float) -> None:
        """Notify all observers."""
        for notify in self._requested:
            notify(lease, now)

    def admitted(self, lease: Lease, now: float) -> None:
        """Notify all observers."""
        for notify in self._admitted:
            notify(lease, now)

    def queued(self, lease: Lease, now: float) -> None:
        """Notify all observers."""
        for notify in self._queued:
            notify(lease, now)

    def tried(self, lease: Lease, now: float) -> None:
        """Notify all observers."""
        for notify in self._tried:
            notify(lease, now)

    def planned(self, lease: Lease, run: LeaseRun, now: float) -> None:
        """Notify all observers."""
        for notify in self._planned:
            notify(lease, run, now)

    def cut(self, run: LeaseRun) -> None:
        """Notify all observers."""
        for notify in self._cut:
            notify(run)

    def taken_back(self, run: LeaseRun, now: float) -> None:
        """Notify all observers."""
        for notify in self._taken_back:
            notify(run, now)

    def held(self, lease: Lease, now: float) -> None:
        """Notify all observers."""
        for notify in self._held:
            notify(lease, now)

    def released(self, lease: Lease, now: float) -> None:
        """Notify all observers."""
        for notify in self._released:
            notify(lease, now)

    def refused(self, lease: Lease, why: str, now: float) -> None:
        """Notify all observers."""
        for notify in self._refused:
            notify(lease, why, now)

    def began(self, reservation: LeaseReservation, now: float) -> None:
        """Notify all observers."""
        for notify in self._began:
            notify(reservation, now)

    def finished(self, reservation: LeaseReservation, now: float) -> None:
        """Notify all observers."""
        for notify in self._finished:
            notify(reservation, now)

    def ended(self, lease: Lease, now: float) -> None:
        """Notify all observers."""
        for notify in self._ended:
            notify(lease, now)

    def stepped(self, scheduler: LeaseSchedule, now: float) -> None:
        """Notify all observers."""
        for notify in self._stepped:
            notify(scheduler, now)
