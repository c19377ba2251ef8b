"""Checker of a run with leases: what must be true of it whatever was requested, by what was executed alone.

It adds up what the leases asked for, and looks at no table, plan or share of the scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from batsched_py.leases.accounting.times import lost_runs
from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun
from batsched_py.leases.observer import LeaseSchedule, Observer, Observers
from batsched_py.leases.preparation.repository import DiskTransfer
from batsched_py.leases.suspension import transfer_time
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.results.lease_rows import LeaseState, ReservationUse
from tests.ha_cases import Asked, HaCase, driver, options_of, read_line
from tests.lease_checks import Checks
from tests.lease_workloads import IMAGES

#: What is there on every host.
CPU, MEMORY = 100.0, 1024.0
#: Reservations during which machines are on hosts.
PRESENT = frozenset({ReservationUse.VM, ReservationUse.SUSPEND, ReservationUse.RESUME, ReservationUse.SHUTDOWN})


class Caches(Observer):
    """The most that a host has kept of images at once, in MB."""

    def __init__(self) -> None:
        self.most = 0.0

    def stepped(self, scheduler: LeaseSchedule, now: float) -> None:
        """Look at each host."""
        del now
        for host in range(len(scheduler.site.capacities)):
            self.most = max(self.most, sum(size for name, size in IMAGES if host in scheduler.disks.holding(name)))


class Promises(Observer):
    """The promises that leases were given.

    Attributes:
        starts: best-effort lease -> starts that it was given before it first ran, in the order in which it got them.
        ends: lease and start of a run -> the end that it was to have when it began.
    """

    def __init__(self) -> None:
        self.starts: dict[int, list[float]] = {}
        self.ends: dict[tuple[int, float], float] = {}

    def began(self, reservation: LeaseReservation, now: float) -> None:
        """Note until when a run is planned."""
        if isinstance(reservation, LeaseRun):
            self.ends[reservation.lease.id, now] = reservation.end

    def planned(self, lease: Lease, run: LeaseRun, now: float) -> None:
        """Note the start of a first run."""
        del now
        if lease.kind is LeaseKind.BEST_EFFORT and lease.started is None:
            self.starts.setdefault(lease.id, []).append(run.start)


class PlayedCase:
    """A run of a case to its end, checked at each instant by `Checks` unless it is to be wrong.

    `rules` are settings of the scheduler that are no options of the algorithm.
    """

    def __init__(self, case: HaCase, *, checked: bool = True, **rules: Any) -> None:
        self.case, self.caches, self.promises = case, Caches(), Promises()
        self.asked = [read_line(line) for line in case.leases]
        self.options = options_of(case)
        observers = [*([Checks()] if checked else []), self.caches, self.promises]
        played = driver(case, Observers(*observers), **rules).run(until=1e7)
        self.leases: Sequence[Lease] = played.leases
        self.left = [*played.scheduler.leases]

    def each(self) -> Iterable[tuple[Asked, Lease]]:
        """Each lease with what it asked for."""
        return zip(self.asked, self.leases, strict=True)

    def executed(self) -> list[LeaseReservation]:
        """All that has begun; a shared transfer once."""
        return list({id(one): one for lease in self.leases for one in lease.executed}.values())

    def transfers(self) -> list[DiskTransfer]:
        """Transfers in order of time."""
        found = [one for one in self.executed() if isinstance(one, DiskTransfer)]
        return sorted(found, key=lambda one: one.start)

    def tail(self, asked: Asked) -> float:
        """Seconds that a shutdown takes."""
        shutdown, overhead = self.options.get("shutdown_time", 0), self.options.get("enactment_overhead", 0)
        return float(shutdown + overhead * asked.nodes)

    def fits(self, asked: Asked) -> bool:
        """Return True if the empty site has room."""
        each = min(CPU // asked.cpu, MEMORY // asked.memory)
        return asked.nodes <= each * self.case.hosts


def kept_runs(lease: Lease) -> list[LeaseRun]:
    """Runs that were not thrown away."""
    lost = {id(run) for run in lost_runs(lease)}
    return [one for one in lease.executed if isinstance(one, LeaseRun) and id(one) not in lost]


def no_lease_is_lost(run: PlayedCase) -> None:
    """Each is done or rejected, and a best-effort lease is rejected only if it never fits."""
    assert run.left == []
    for asked, lease in run.each():
        assert lease.state in (LeaseState.DONE, LeaseState.REJECTED), lease.history
        if lease.kind is LeaseKind.BEST_EFFORT:
            assert (lease.state is LeaseState.DONE) is run.fits(asked), lease.history
        assert lease.state is LeaseState.DONE or lease.executed == []


def no_host_is_overbooked(run: PlayedCase) -> None:
    """At no instant do machines ask for more than their host has."""
    present = [one for one in run.executed() if one.use in PRESENT and one.start < one.end]
    for instant in {one.start for one in present}:
        load: dict[int, list[float]] = {}
        for one in present:
            if one.start <= instant < one.end:
                asked = run.asked[one.lease.id - 1]
                for host in one.nodes.values():
                    cpu, memory = load.setdefault(host, [0.0, 0.0])
                    load[host] = [cpu + asked.cpu, memory + asked.memory]
        for host, (cpu, memory) in load.items():
            assert cpu <= CPU, f"host {host} at {instant:g}"
            assert memory <= MEMORY, f"host {host} at {instant:g}"
            assert host < run.case.hosts


def work_is_neither_lost_nor_invented(run: PlayedCase) -> None:
    """A lease that is done ran exactly as long as it has work; only runs that were requeued are lost."""
    for asked, lease in run.each():
        if lease.state is not LeaseState.DONE:
            continue
        inside = run.tail(asked) if lease.kind is LeaseKind.ADVANCE else 0.0
        work = min(asked.real, asked.duration - inside)
        ran = sum(one.end - one.start for one in kept_runs(lease))
        assert abs(ran - work) < 1e-6, f"{lease}: ran {ran:g} s of {work:g}"
        assert abs(lease.accumulated - work) < 1e-6
        for lost in lost_runs(lease):
            assert not any(one.use is ReservationUse.SUSPEND and one.start == lost.end for one in lease.executed)


def reservations_are_exact(run: PlayedCase) -> None:
    """H3: an advance reservation that was accepted has its interval, no more and no less."""
    for asked, lease in run.each():
        if lease.kind is not LeaseKind.ADVANCE or lease.state is not LeaseState.DONE:
            continue
        [only] = [one for one in lease.executed if one.use is ReservationUse.VM]
        assert asked.start is not None
        until = asked.start + asked.duration - run.tail(asked)
        assert (only.start, only.end) == (asked.start, min(asked.start + asked.real, until))
        assert sorted(only.nodes) == list(range(1, asked.nodes + 1))
        assert not any(one.use in (ReservationUse.SUSPEND, ReservationUse.RESUME) for one in lease.executed)


def immediate_leases_do_not_wait(run: PlayedCase) -> None:
    """H5: for nothing but the transfer of their image; and they are never cut."""
    for asked, lease in run.each():
        if lease.kind is LeaseKind.IMMEDIATE and lease.state is LeaseState.DONE:
            [only] = [one for one in lease.executed if one.use is ReservationUse.VM]
            image, size = asked.image or ("", 0.0)
            brought = [one for one in run.transfers() if one.image == image]
            # Room is looked for as if all nodes needed the image: it is not known which hosts keep it.
            each = asked.nodes * transfer_time(size, 100)
            ready = {asked.submit, *(one.end for one in brought), *(one.start + each for one in brought)}
            assert only.start in ready
            assert only.end - only.start == min(asked.real, asked.duration)


def deadlines_are_met(run: PlayedCase) -> None:
    """A deadline lease that was accepted begins not before its start, and has ended by its deadline."""
    for asked, lease in run.each():
        if lease.kind is LeaseKind.DEADLINE and lease.state is LeaseState.DONE:
            assert asked.start is not None
            assert asked.deadline is not None
            assert min(one.start for one in kept_runs(lease)) >= asked.start
            assert max(one.end for one in kept_runs(lease)) <= asked.deadline


def who_is_kept_is_left_alone(run: PlayedCase) -> None:
    """H6: once a lease that is not preemptible runs, it has its hosts for as long as it was planned to run.

    One with best effort runs once, and is suspended for nobody: nor for a reservation that is there before it starts.
    """
    for asked, lease in run.each():
        if asked.kept or asked.kind in ("AR", "IM"):
            assert lost_runs(lease) == []
            assert not any(one.use is ReservationUse.SUSPEND for one in lease.executed)
            for one in kept_runs(lease)[:-1]:
                assert one.end == run.promises.ends[lease.id, one.start]


def suspensions_come_in_turn(run: PlayedCase) -> None:
    """H37: machines of one host, or with global exclusion of one lease, one after the other; steps do not overlap."""
    everywhere = run.options.get("suspendresume_exclusion") == "global"
    for lease in run.leases:
        steps = [
            one
            for one in lease.executed
            if one.use in (ReservationUse.SUSPEND, ReservationUse.RESUME) and one.start < one.end
        ]
        assert all(one.end <= other.start for one, other in pairwise(steps))
        for one in steps if run.options.get("override_suspend_time") != 0 else ():  # then all are one step
            hosts = list(one.nodes.values())
            assert len(hosts) == 1 if everywhere else len(hosts) == len(set(hosts))


def machines_resume_where_their_memory_is(run: PlayedCase) -> None:
    """H40: without migration each on its own host; and only after a suspension and a resumption."""
    suspension = run.options.get("suspension", "all")
    for asked, lease in run.each():
        for one, other in pairwise(kept_runs(lease)):
            assert suspension == "all" or (suspension == "serial-only" and asked.nodes == 1)
            assert run.options.get("migration", "no") != "no" or one.nodes == other.nodes
            between = [each.use for each in lease.executed if one.end <= each.start <= other.start]
            assert between.count(ReservationUse.SUSPEND) >= 1
            assert between.count(ReservationUse.RESUME) >= 1


def the_repository_makes_one_transfer_at_a_time(run: PlayedCase) -> None:
    """H46: transfers never overlap."""
    assert all(one.end <= other.start for one, other in pairwise(run.transfers()))


def images_are_there_before_machines_start(run: PlayedCase) -> None:
    """H46: each host of a first run was brought the image before, for this lease or for one before it."""
    if "lease_preparation" not in run.options:
        return
    for asked, lease in run.each():
        runs = kept_runs(lease)
        if asked.image is None or not runs:
            continue
        brought = {host for one in run.transfers() if one.image == asked.image[0] and one.end <= runs[0].start
                   for host in (*one.hosts, *one.nodes.values())}  # fmt: skip
        assert set(runs[0].nodes.values()) <= brought


def caches_stay_within_their_size(run: PlayedCase) -> None:
    """H51: a host keeps no more of images than it may."""
    if run.options.get("diskimage_reuse", "none") == "none":
        assert run.caches.most == 0
    elif (limit := run.options.get("diskimage_cache_size", -1)) != -1:
        assert run.caches.most <= limit


def no_promise_is_broken(run: PlayedCase) -> None:
    """H33: planning anew never moves a best-effort lease later, where all have a start and nobody gives way."""
    for starts in run.promises.starts.values():
        assert starts == sorted(starts, reverse=True)


def leases_start_in_their_order(run: PlayedCase) -> None:
    """H31: without backfilling and without suspension the queue is served first come, first served."""
    asked = sorted((lease.submit, lease.id) for lease in run.leases if lease.state is LeaseState.DONE)
    started = [run.leases[number - 1].started for _, number in asked]
    assert started == sorted(started, key=lambda time: time or 0.0)


#: All that must be true of any run.
INVARIANTS = (
    no_lease_is_lost,
    no_host_is_overbooked,
    work_is_neither_lost_nor_invented,
    reservations_are_exact,
    immediate_leases_do_not_wait,
    deadlines_are_met,
    who_is_kept_is_left_alone,
    suspensions_come_in_turn,
    machines_resume_where_their_memory_is,
    the_repository_makes_one_transfer_at_a_time,
    images_are_there_before_machines_start,
    caches_stay_within_their_size,
)
