"""The log of a run as Haizea writes it: a line for each event of a lease, with time and component (H100)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from batsched_py.haizea.config import LogLevel
from batsched_py.haizea.summary import StatusSummary
from batsched_py.leases.actions import NOT_ADMITTED
from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun
from batsched_py.leases.observer import LeaseSchedule, Observer
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.results.lease_rows import LeaseState, ReservationUse

#: Levels; each includes the previous ones.
_LEVELS: Final[Mapping[LogLevel, int]] = {"STATUS": 0, "INFO": 1, "DEBUG": 2, "VDEBUG": 3}
#: Kinds of leases by Haizea's names, in the order in which a workload's are counted.
TYPES: Final = {
    LeaseKind.BEST_EFFORT: "Best-effort",
    LeaseKind.ADVANCE: "AR",
    LeaseKind.IMMEDIATE: "Immediate",
    LeaseKind.DEADLINE: "Deadline",
}
#: Columns of a component's name; longer ones take more.
_COMPONENT: Final = 7


class HaizeaLog(Observer):
    """The log of a run.

    Args:
        start: the date of the simulation's time 0.
        level: level of the log.
        write: called with each line.
        interval: seconds after which the summary is written again; None for never.
        clock: name of its clock.

    Attributes:
        summary: the figures so far.
    """

    def __init__(
        self,
        start: datetime,
        level: LogLevel,
        write: Callable[[str], None],
        interval: float | None = None,
        *,
        clock: str = "simulated clock",
    ) -> None:
        self.summary, self._clock = StatusSummary(), clock
        self._start, self._level, self._write, self._interval = start, _LEVELS[level], write, interval
        #: True if single leases are not logged: their lines, possibly millions, are not even formatted.
        self._brief = self._level < _LEVELS["INFO"]
        self._last_summary = 0.0
        #: Lease -> the sentence about its preemption, for the lease that is being planned.
        self._giving_way: dict[int, str] = {}

    # The run as a whole.

    def started(self, now: float = 0.0) -> None:
        """Write that the run begins."""
        self._say(now, "INFO", "RM", "Starting resource manager")

    def loading(self, file: str) -> None:
        """Write that a file of requests is read."""
        self._say(0.0, "INFO", "TFILE", f"Loading tracefile {file}")

    def loaded(self, counts: Mapping[LeaseKind, int]) -> None:
        """Write the number of requests of each kind."""
        kinds = " + ".join(f"{counts[kind]} {name}" for kind, name in TYPES.items() if counts.get(kind))
        self._say(0.0, "INFO", "TFILE", f"Loaded workload with {sum(counts.values())} requests ({kinds})")

    def clock_started(self, now: float = 0.0) -> None:
        """Write that the clock has started."""
        self._say(now, "STATUS", "CLOCK", f"Starting {self._clock}")

    def stopped(self, now: float) -> None:
        """Write that the run has stopped, and its summary."""
        self._say(now, "STATUS", "CLOCK", f"{self._clock.capitalize()} has stopped")
        self._say(now, "STATUS", "RM", "Stopping resource manager gracefully...")
        self._write_summary(now)

    # Requests and plans.

    def requested(self, lease: Lease, now: float) -> None:
        """Write that a lease is requested."""
        self.summary.requested(lease, now)
        if self._brief:
            return
        self._say(now, "INFO", "LSCHED", f"Lease #{lease.id} has been requested.")

    def admitted(self, lease: Lease, now: float) -> None:
        """Write that it may be scheduled."""
        if self._brief:
            return
        self._say(now, "INFO", "LSCHED", f"Lease #{lease.id} has been marked as pending.")

    def queued(self, lease: Lease, now: float) -> None:
        """Write that it waits in the queue."""
        if self._brief:
            return
        what = f"Queued best-effort lease request #{lease.id}, {lease.size} nodes for {_duration(lease.duration)}."
        self._say(now, "INFO", "LSCHED", what)

    def tried(self, lease: Lease, now: float) -> None:
        """Write that a lease is being planned."""
        if self._brief:
            return
        self._giving_way.clear()
        if lease.kind is LeaseKind.BEST_EFFORT:
            what = f"Next request in the queue is lease {lease.id}. Attempting to schedule..."
        elif lease.start is not None and lease.kind is LeaseKind.ADVANCE:
            interval = f"from {self._date(lease.start)} to {self._date(lease.start + lease.duration)}"
            what = f"Scheduling AR lease #{lease.id}, {lease.size} nodes {interval}."
        else:
            what = f"Scheduling {TYPES[lease.kind].lower()} lease #{lease.id}, {lease.size} nodes"
        self._say(now, "INFO", "LSCHED", what)

    def planned(self, lease: Lease, run: LeaseRun, now: float) -> None:
        """Write the leases that are preempted, and the place of a lease."""
        self.summary.planned(lease, run, now)
        if self._brief:
            return
        victims = {number: how for number, how in self._giving_way.items() if number != lease.id}
        if victims:
            line = f"Must preempt leases {list(victims)} to make room for lease #{lease.id}"
            self._say(now, "INFO", "LSCHED", line)
        for number, how in victims.items():
            self._say(now, "INFO", "LSCHED", f"Preempting lease #{number}...")
            self._say(now, "INFO", "LSCHED", f"... lease #{number} {how}")
        self._giving_way.clear()
        if lease.kind is LeaseKind.ADVANCE:
            self._say(now, "INFO", "LSCHED", f"AR lease #{lease.id} has been scheduled.")
            return
        resuming = " (resuming)" if lease.resuming else ""
        where = f"on nodes {_nodes(run)} from {self._date(run.first_start)}{resuming} to {self._date(run.end)}"
        self._say(now, "INFO", "VMSCHED", f"Lease #{lease.id} has been scheduled {where}")

    def cut(self, run: LeaseRun) -> None:
        """Record, for the lease that is being planned, that another one will be suspended."""
        if self._brief:
            return
        self._giving_way[run.lease.id] = f"will be suspended at {self._date(run.final_end)}."

    def taken_back(self, run: LeaseRun, now: float) -> None:
        """Record, for the lease that is being planned, that another one loses its place."""
        del now
        if self._brief:
            return
        self._giving_way[run.lease.id] = "has been cancelled and requeued"

    def refused(self, lease: Lease, why: str, now: float) -> None:
        """Write that a lease is refused, and why."""
        self.summary.refused(lease, why, now)
        if self._brief:
            return
        if why.startswith(NOT_ADMITTED):
            self._say(now, "INFO", "LSCHED", f"Lease #{lease.id} has not been accepted")
        else:
            what = f"{TYPES[lease.kind]} lease #{lease.id} cannot be scheduled: {why}"
            self._say(now, "INFO", "LSCHED", what)

    # Begins and ends.

    def began(self, reservation: LeaseReservation, now: float) -> None:
        """Write the begin of a reservation; of several suspensions or resumptions of a lease only the first."""
        if self._brief:
            return
        lease, use = reservation.lease, reservation.use
        if isinstance(reservation, LeaseRun):
            self._say(now, "INFO", "VMSCHED", f"Started VMs for lease {lease.id} on nodes {_nodes(reservation)}")
        elif use is ReservationUse.TRANSFER:
            self._say(now, "INFO", "DEPLOY", f"Starting image transfer for lease {lease.id}")
        elif use in _BEGIN and _first(reservation):
            self._say(now, "INFO", "VMSCHED", f"{_BEGIN[use]} lease {lease.id}...")
        self._detail(reservation, "begins", now)

    def finished(self, reservation: LeaseReservation, now: float) -> None:
        """Write the end of a reservation; of several suspensions or resumptions of a lease only the last."""
        if self._brief:
            return
        lease, use = reservation.lease, reservation.use
        if isinstance(reservation, LeaseRun):
            self._say(now, "INFO", "VMSCHED", f"Stopped VMs for lease {lease.id} on nodes {_nodes(reservation)}")
        elif use is ReservationUse.TRANSFER:
            self._say(now, "INFO", "DEPLOY", f"Completed image transfer for lease {lease.id}")
        elif use is ReservationUse.SUSPEND and _last(reservation):
            self._say(now, "INFO", "VMSCHED", f"Lease {lease.id} suspended.")
        elif use in _END and _last(reservation):
            self._say(now, "INFO", "VMSCHED", f"{_END[use]} lease {lease.id}")
        self._detail(reservation, "is over", now)

    def ended(self, lease: Lease, now: float) -> None:
        """Write that a lease is done."""
        self.summary.ended(lease, now)
        if self._brief:
            return
        if lease.state is LeaseState.DONE:
            self._say(now, "INFO", "VMSCHED", f"Lease {lease.id}'s VMs have shutdown.")
        self._say(now, "DEBUG", "LSCHED", f"Lease #{lease.id} is {lease.state.label}")

    def stepped(self, scheduler: LeaseSchedule, now: float) -> None:
        """Write the summary if it is due."""
        self.summary.stepped(scheduler, now)
        if self._level >= _LEVELS["VDEBUG"]:
            held = f"{len(scheduler.leases)} leases, {len(scheduler.queue)} in the queue, {len(scheduler.future)} ahead"
            self._say(now, "VDEBUG", "CLOCK", f"There are {held}")
        if self._interval is not None and now - self._last_summary >= self._interval:
            self._last_summary = now
            self._write_summary(now)

    def _write_summary(self, now: float) -> None:
        for line in ("--- Haizea status summary ---", *self.summary.lines(), "---- End summary ----"):
            self._say(now, "STATUS", "RM", line)

    def _detail(self, reservation: LeaseReservation, what: str, now: float) -> None:
        if self._level >= _LEVELS["DEBUG"]:
            text = f"{reservation.use.value} of lease {reservation.lease.id} on nodes {_nodes(reservation)} {what}"
            self._say(now, "DEBUG", "VMSCHED", text)

    def _say(self, now: float, level: LogLevel, component: str, message: str) -> None:
        if self._level >= _LEVELS[level]:
            self._write(f"[{self._date(now)}] {component:{_COMPONENT}} {message}")

    def _date(self, time: float) -> str:
        """Return a date as Haizea writes it, to a hundredth of a second."""
        hundredths = round(time * 100)
        date = self._start + timedelta(seconds=hundredths // 100, microseconds=hundredths % 100 * 10_000)
        return f"{date:%Y-%m-%d %H:%M:%S}.{date.microsecond // 10_000:02d}"


#: Uses for which a lease may have several consecutive reservations -> their sentences.
_BEGIN: Final = {
    ReservationUse.SUSPEND: "Suspending",
    ReservationUse.RESUME: "Resuming",
    ReservationUse.MIGRATE_DISK: "Migrating the images of",
    ReservationUse.MIGRATE_MEMORY: "Migrating the memory of",
}
_END: Final = {
    ReservationUse.RESUME: "Resumed",
    ReservationUse.MIGRATE_DISK: "Migrated the images of",
    ReservationUse.MIGRATE_MEMORY: "Migrated the memory of",
}


def _alike(reservation: LeaseReservation) -> list[LeaseReservation]:
    """Return the reservations of the same use that belong to the same run, in order of time."""
    run = reservation.run
    assert run is not None  # noqa: S101  # only transfers have none
    return [one for one in run.all() if one.use is reservation.use]


def _first(reservation: LeaseReservation) -> bool:
    return _alike(reservation)[0] is reservation


def _last(reservation: LeaseReservation) -> bool:
    return _alike(reservation)[-1] is reservation


def _nodes(reservation: LeaseReservation) -> list[int]:
    """Return the hosts of the nodes in their order; Haizea counts hosts from 1."""
    return [host + 1 for _, host in sorted(reservation.nodes.items())]


def _duration(seconds: float) -> str:
    """Return a duration as Haizea writes it: 01:00:00.00, with days before it if there are any."""
    minutes, hundredths = divmod(round(seconds * 100), 6000)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    text = f"{hour:02d}:{minute:02d}:{hundredths / 100:05.2f}"
    return f"{days:02d}:{text}" if days else text
