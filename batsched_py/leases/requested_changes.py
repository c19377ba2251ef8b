"""Requested changes of leases: holds, releases and priorities, from the requests to the reasons that users see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from batsched_py.leases.accounting.rows import LEASE_CONTROLS, ControlRow
from batsched_py.leases.arrivals import Arrivals
from batsched_py.leases.lease import Lease
from batsched_py.leases.scheduler import LeaseScheduler
from batsched_py.model.job import Job
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.table import Table
from batsched_py.planning.future.promises import Claim
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.queue_requests import CANCEL_JOB, HOLD_JOB, RELEASE_JOB, IgnoredRequest, QueueRequest
from batsched_py.scheduling.view import View
from batsched_py.text.wording import seconds

#: Who holds a lease -> why its jobs wait.
HELD: Final = {"operator": "held by an operator", "user": "held by its user"}


class RequestedChanges:
    """Changes of leases, each carried out at the decision after its request.

    Args:
        arrivals: finds the lease of a job.
        scheduler: the scheduler of the leases.
    """

    def __init__(self, arrivals: Arrivals, scheduler: LeaseScheduler) -> None:
        self._arrivals, self._scheduler = arrivals, scheduler
        self._asked: list[QueueRequest] = []
        #: What was carried out since the last report, and warnings.
        self._done: list[tuple[Lease, QueueRequest]] = []
        self._warnings: list[str] = []
        self._ignored: list[IgnoredRequest] = []
        #: Leases that are held, or have a priority, by id; ended ones are removed lazily.
        self._changed: dict[int, Lease] = {}

    def __bool__(self) -> bool:
        """Return whether there are changes to carry out."""
        return bool(self._asked)

    def ask(self, change: QueueRequest) -> None:
        """Note a change for the next decision."""
        self._asked.append(change)

    def carry_out(self, requests: Sequence[Lease], now: float) -> None:
        """Carry out the noted changes, of leases of this instant, too; `step` of the scheduler must follow."""
        asked, self._asked = self._asked, []
        known = {**self._scheduler.leases, **{lease.id: lease for lease in requests}} if asked else {}
        for change in asked:
            lease = self._arrivals.find(change.job_id, known)
            fault = "it has ended" if lease is None else self._scheduler.controls.fault(lease, change)
            if lease is None or fault:
                self._ignored.append(IgnoredRequest(change.kind, change.job_id, fault))
                continue
            self._scheduler.controls.carry_out(lease, change, now)
            self._changed[lease.id] = lease
            self._done.append((lease, change))

    def refuse_cancellation(self, lease: Lease) -> None:
        """Note, for the next report, that a lease has ended before it could be cancelled."""
        job_id = self._arrivals.jobs[lease.id].split()[0]
        self._ignored.append(IgnoredRequest(CANCEL_JOB, job_id, f"it has ended: {lease.state.label}"))

    def left_over(self, view: View) -> list[Lease]:
        """Return the leases that stay held because no request can follow, and warn of them."""
        if view.expects_requests:
            return []
        held = [lease for lease in self._changed.values() if lease.held and not lease.ended]
        for lease in held:
            self._warnings.append(
                f"{self._arrivals.jobs[lease.id]} is cancelled: it is held, and no request can follow"
            )
        return held

    def report(self, view: View, plan: Plan) -> None:
        """Say why held leases wait, withdraw promises of their starts, and warn of changes that were not possible."""
        for one in self._ignored:
            plan.ignore(one.kind, one.subject, one.why, f"{one.kind} {one.subject}: {one.why}; it is ignored")
        for text in self._warnings:
            plan.warn(text)
        self._ignored.clear()
        self._warnings.clear()
        done, self._done = self._done, []
        for lease, change in done:
            for job in self._jobs(lease, view):
                if lease.ended:
                    continue
                if change.kind == HOLD_JOB and lease.held:
                    plan.withdraw_promise(job.id)
                    plan.hold(job, HELD[lease.held])
                elif change.kind == RELEASE_JOB and not lease.held:
                    plan.release(job)
                    if lease.kind is LeaseKind.ADVANCE and lease.start is not None:
                        plan.hold(job, f"is to start at {seconds(lease.start)}", "instant")
                        plan.promise(job, Claim(lease.start, lease.start + lease.duration, job.size))

    def live_table(self) -> Table:
        """Return the table of leases that are held or have a priority."""
        for lease in [one for one in self._changed.values() if one.ended or not (one.held or one.priority)]:
            del self._changed[lease.id]
        rows = [ControlRow(lease.id, lease.held, lease.priority) for lease in self._changed.values()]
        return Table(LEASE_CONTROLS, ControlRow._fields, rows)

    def _jobs(self, lease: Lease, view: View) -> list[Job]:
        names: Mapping[int, str] = self._arrivals.jobs
        return [job for name in names[lease.id].split() if (job := view.queue.get(name)) is not None]
