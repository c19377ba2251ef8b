"""Views of leases and jobs on the board, by owner."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Annotated, Final, cast

from litestar.params import PathParameter
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.leases.accounting.rows import LEASE_CONTROLS, ControlRow
from batsched_py.leases.accounting.waiting_reasons import WaitingReasons
from batsched_py.leases.lifecycle import FINAL
from batsched_py.leases.requested_changes import HELD
from batsched_py.model.lease_terms import MEMBER, parse_terms
from batsched_py.protocol.events import FINAL_STATES, REJECTED
from batsched_py.results.lease_rows import KINDS, LeaseRow, LeaseState
from batsched_py.scheduling.queue_requests import CANCEL_JOB, HOLD_JOB, PRIORITISE_JOB, RELEASE_JOB
from batsched_py.session.requests import SUBMIT_JOB
from batsched_py.site.api.identity import Identity
from batsched_py.site.api.lease_requests import instant
from batsched_py.site.api.problems import refuse
from batsched_py.site.api.request_counts import OwnedAmounts, OwnedRequests
from batsched_py.site.api.selection import ItemSelection, SelectedItems, select
from batsched_py.site.board import Board
from batsched_py.site.inbox import Inbox
from batsched_py.site.job_ids import job_id, request_number
from batsched_py.site.journal import JournalEntry
from batsched_py.site.snapshot import EMPTY, JobNow, Snapshot
from batsched_py.text.wording import seconds

Number = Annotated[int, PathParameter(ge=1, le=2**53, description="The number of the lease.")]
#: Names of the types of leases, as in Haizea's lists.
TYPES: Final = {"BE": "Best-effort", "AR": "AR", "IM": "Immediate", "DL": "Deadline"}
#: Types of leases that wait for hosts; states of those that run.
_WAITS: Final = frozenset({TYPES["BE"], TYPES["DL"]})
_RUNS: Final = frozenset({LeaseState.ACTIVE.label})
#: Requests that change leases -> what they change: the latest one of each is kept.
_CHANGES: Final = {HOLD_JOB: "hold", RELEASE_JOB: "hold", PRIORITISE_JOB: "priority", CANCEL_JOB: "end"}
#: All states that the member `state` of a lease or a job may have.
LEASE_STATES: Final = (*(state.label for state in LeaseState), "waiting", "running", *FINAL_STATES)
#: Labels of the final states of leases.
_FINAL: Final = frozenset(state.label for state in FINAL)


class Lease(Struct, frozen=True, omit_defaults=True):
    """A requested lease or job; times are in simulated seconds.

    Attributes:
        number: assigned by the site.
        user: the user who requested it.
        state: the state of a lease in Haizea's spelling; for a job, waiting, running or its final state in Batsim's
            spelling; "New" until the algorithm has received the request.
        submit: when it was requested.
        final: whether nothing will happen to it any more.
        type: the type of a lease: Best-effort, AR, Immediate or Deadline.
        requested_start, deadline: as requested; None if not requested.
        requested_date: the date of `requested_start` on the clock that began with the site, in the site's local time
            with its offset; in the answer to a request too.
        duration: the requested duration.
        nodes: the number of machines.
        start, end: when it started and ended; None before that.
        ends_by: when its walltime will end a job that runs.
        hosts: its hosts, as an interval set.
        why: why it waits or was refused.
        suspensions: how many times it was suspended.
        group: the user's group; "" if none.
        held: who holds it, user or operator; "" if it is not held.
        priority: best-effort leases with a greater one come first in the queue.
        constraint: the query that must be true for its hosts; "" if none.
        planned_start: when it is planned to start, or to continue; None without a plan.
        estimated_start: for one of the first 1000 in the queue without a plan, an estimate from the work ahead of it;
            None while too few hosts are in service.
    """

    number: int
    user: str
    state: str
    submit: float
    final: bool
    type: str | None = None
    requested_start: float | None = None
    requested_date: str | None = None
    deadline: float | None = None
    duration: float | None = None
    nodes: int | None = None
    start: float | None = None
    end: float | None = None
    ends_by: float | None = None
    hosts: str = ""
    why: str = ""
    suspensions: int = 0
    group: str = ""
    held: str = ""
    priority: int = 0
    constraint: str = ""
    planned_start: float | None = None
    estimated_start: float | None = None


class LeaseIndex:
    """An index of leases and jobs by the numbers of their requests; used from one event loop.

    The index is updated once for each snapshot; a query then takes time proportional to the length of its answer.

    Args:
        inbox: the requests of the site.
        board: the state of its run.
        begun: when the site began, in seconds since 1970.
        explain: returns the reasons of the waiting leases of a snapshot.
    """

    def __init__(self, inbox: Inbox, board: Board, begun: float, explain: Callable[[Snapshot], WaitingReasons]) -> None:
        self._inbox, self._board, self._begun, self._explain = inbox, board, begun, explain
        #: The number of indexed requests.
        self._indexed = 0
        #: By owner: numbers of all, numbers of those that may not have ended, and places in the queue.
        self._all, self._open, self._queued = OwnedRequests(), OwnedRequests(), OwnedRequests()
        #: Machines of those that may not have ended.
        self._machines = OwnedAmounts()
        #: Numbers of waiting leases and jobs, in the order of the queue.
        self._queue: list[int] = []
        #: Number -> row of a lease that has ended; the table only grows.
        self._ended: dict[int, LeaseRow] = {}
        self._rows_seen, self._jobs_seen = 0, 0
        self._snapshot: Snapshot = EMPTY
        #: For the current snapshot: number -> row of a lease that has not ended, and number -> its view.
        self._rows: dict[int, LeaseRow] = {}
        self._made: dict[int, Lease] = {}
        #: Reasons of the current snapshot; None until one is needed.
        self._reasons: WaitingReasons | None = None
        #: Number of a lease and what is changed -> requests for it whose effects a snapshot may not show.
        self._changes: dict[tuple[int, str], list[JournalEntry]] = {}
        #: Number -> hold and priority of a lease that has any.
        self._controls: dict[int, ControlRow] = {}

    def find(self, number: int, who: Identity) -> Lease:
        """Return a lease. RequestRefusedError if there is none, or the caller may not read it."""
        entry = self.entry(number)
        if not who.may_read(entry.user, entry.group):
            raise refuse(403, "it belongs to another user")
        self._catch_up()
        return self._lease(number)

    def entry(self, number: int) -> JournalEntry:
        """Return the request of a lease; RequestRefusedError if there is none."""
        entry = self._inbox.entries.get(number)
        if entry is None or entry.kind != SUBMIT_JOB:
            raise refuse(404, f"there is no lease {number}")
        return entry

    def is_cancelled(self, number: int) -> bool:
        """Return whether a request cancels a lease whose effect no snapshot shows yet."""
        self._catch_up()
        return self._unseen_change(number, "end") is not None

    def _unseen_change(self, number: int, what: str) -> JournalEntry | None:
        """Return the latest request for a change of a lease that is not ignored, unless the snapshot is later."""
        ignored, now = self._inbox.outcomes.ignored, self._snapshot.now
        made = self._changes.get((number, what), ())
        return next((one for one in reversed(made) if one.time >= now and one.number not in ignored), None)

    def used(self, who: Identity) -> dict[str, tuple[int, int]]:
        """Return what has not ended, of a user and of its group, by quota: leases and jobs, and their machines."""
        self._catch_up()
        return {
            "hosts": (self._machines.of_user(who.user), self._machines.of_group(who.group)),
            "leases": (self._open.count(who.user), self._open.count_group(who.group)),
        }

    def readable(self, who: Identity, wanted: ItemSelection, *, finished: bool) -> tuple[list[Lease], SelectedItems]:
        """Return the selected leases that a caller may read.

        Leases in final states are included only with `finished`, or with `state`, which may name one.
        """
        self._catch_up()
        finished = finished or wanted.state != ""

        def fits(number: int) -> bool:
            lease = self._lease(number)
            return (finished or not lease.final) and wanted.fits(lease.state, _texts(lease))

        found = select((self._all if finished else self._open).of(who, wanted.user), wanted, fits)
        return list(map(self._lease, found.numbers)), found

    def those(self, numbers: Iterable[int], who: Identity) -> list[Lease]:
        """Return those of these leases and jobs that a caller may read, ordered by number."""
        self._catch_up()
        entries = self._inbox.entries
        found = (entries[number] for number in sorted(numbers) if number in entries)
        return [
            self._lease(entry.number)
            for entry in found
            if entry.kind == SUBMIT_JOB and who.may_read(entry.user, entry.group)
        ]

    def queue(self, who: Identity, after: int, limit: int) -> list[Lease]:
        """Return the leases that a caller may read and that wait for hosts, in the order of the queue.

        Reservations are not included: they wait for their start, not for hosts.

        Args:
            who: the caller.
            after: the number of leases to skip.
            limit: the largest number of leases to return.
        """
        self._catch_up()
        leases = (self._lease(self._queue[place]) for place in self._queued.of(who))
        return list(islice((lease for lease in leases if lease.type != TYPES["AR"]), after, after + limit))

    def _catch_up(self) -> None:
        """Index new requests, and the snapshot if it has changed."""
        entries = self._inbox.entries
        while (entry := entries.get(self._indexed + 1)) is not None:
            self._indexed += 1
            if entry.kind == SUBMIT_JOB:
                self._all.add(entry.number, entry)
                self._open.add(entry.number, entry)
                self._machines.add(entry.members["res"], entry)
            elif (what := _CHANGES.get(entry.kind)) is not None and entry.target is not None:
                now, key = self._snapshot.now, (entry.target, what)
                self._changes[key] = [one for one in self._changes.get(key, ()) if one.time >= now] + [entry]
                self._made.pop(entry.target, None)
        snapshot = self._board.snapshot
        if snapshot is not self._snapshot:
            self._snapshot = snapshot
            self._take(snapshot)

    def _take(self, snapshot: Snapshot) -> None:
        entries = self._inbox.entries
        live = snapshot.tables.get("leases")
        self._rows = {row.lease: row for row in cast(Iterable[LeaseRow], live.rows)} if live is not None else {}
        self._made, self._reasons = {}, None
        controls = snapshot.tables.get(LEASE_CONTROLS)
        self._controls = (
            {} if controls is None else {row.lease: row for row in cast(Iterable[ControlRow], controls.rows)}
        )
        for number in self._newly_ended(snapshot):
            if number in self._open:
                self._machines.add(-entries[number].members["res"], entries[number])
                self._open.discard(number, entries[number])
        numbers = (request_number(job.id) for job in snapshot.waiting)
        self._queue = [number for number in numbers if number is not None and number in entries]
        self._queued = OwnedRequests()
        for place, number in enumerate(self._queue):
            self._queued.add(place, entries[number])

    def _newly_ended(self, snapshot: Snapshot) -> list[int]:
        """Return the numbers of leases and jobs that ended since the last snapshot.

        A job without a row in the table of ended leases has ended too, unless its lease has not: a lease that is
        refused on its arrival, or a plain job, has only its job.
        """
        jobs = self._board.ended[self._jobs_seen : snapshot.ended]
        self._jobs_seen += len(jobs)
        numbers = (request_number(job.id) for job in jobs)
        ended = [number for number in numbers if number is not None and number not in self._rows]
        table = snapshot.tables.get("ended_leases")
        if table is not None:
            rows = cast(list[LeaseRow], table.rows)[self._rows_seen :]
            self._ended.update((row.lease, row) for row in rows)
            self._rows_seen += len(rows)
            ended += [row.lease for row in rows]
        return ended

    def _lease(self, number: int) -> Lease:
        """Return the view of a lease in the current snapshot."""
        lease = self._made.get(number)
        if lease is None:
            lease = self._made[number] = self._make(self._inbox.entries[number])
        if lease.estimated_start is not None and lease.estimated_start < (now := self._inbox.now):
            return replace(lease, estimated_start=now)  # nothing has happened since the snapshot, but time has passed
        return lease

    def _make(self, entry: JournalEntry) -> Lease:
        row = self._ended.get(entry.number) or self._rows.get(entry.number)
        job = self._board.job(job_id(entry.number))
        if row is not None:
            lease = self._with_controls(_of_lease(entry, row, job, self._begun))
            return lease if lease.final or lease.state in _RUNS else self._with_start(lease)
        if job is None:
            return self._with_controls(unseen(entry))
        is_lease = job.state == REJECTED and MEMBER in entry.members and "leases" in self._snapshot.tables
        return _refused(entry, job, self._begun) if is_lease else _of_job(entry, job)

    def _with_controls(self, lease: Lease) -> Lease:
        """Return a lease with its hold and its priority, also those by requests that no snapshot shows yet."""
        control, number = self._controls.get(lease.number), lease.number
        held, priority = ("", 0) if control is None else (control.held, control.priority)
        if not lease.final and lease.state not in _RUNS:
            if (hold := self._unseen_change(number, "hold")) is not None:
                held = "" if hold.kind == RELEASE_JOB else hold.members["by"]
            if (change := self._unseen_change(number, "priority")) is not None:
                priority = change.members["priority"]
        return replace(lease, held=held, priority=priority, why=HELD[held] if held else lease.why)

    def _with_start(self, lease: Lease) -> Lease:
        """Return a lease that waits with its planned or estimated start, and the reason."""
        if self._reasons is None:
            self._reasons = self._explain(self._snapshot)
        found, number = self._reasons, lease.number
        estimate = found.estimates.get(number)
        planned, why = found.planned.get(number), lease.why
        if lease.type in _WAITS and not why:
            why = found.reason(number, lease.nodes or 0)
            if planned is not None and planned == lease.requested_start:
                why = f"is to start at {seconds(planned)}"
        return replace(
            lease,
            planned_start=planned,
            estimated_start=None if estimate is None else estimate.start,
            why=why,
        )


def _texts(lease: Lease) -> Iterable[str]:
    """Yield the texts of a lease in which a caller may search."""
    yield from (str(lease.number), lease.user, lease.group, lease.type or "Job", lease.hosts, lease.constraint)
    yield from (lease.why, HELD[lease.held] if lease.held else "")


def unseen(entry: JournalEntry) -> Lease:
    """Return the view of a lease that the algorithm has not received yet."""
    return Lease(entry.number, entry.user, "New", entry.time, final=False, group=entry.group)


def _of_lease(entry: JournalEntry, row: LeaseRow, job: JobNow | None, begun: float) -> Lease:
    return Lease(
        entry.number,
        entry.user,
        row.state,
        row.submit_time,
        final=row.state in _FINAL,
        type=TYPES[row.type],
        requested_start=row.requested_start,
        requested_date=None if row.requested_start is None else instant(row.requested_start, begun),
        deadline=row.deadline,
        duration=row.requested_duration,
        nodes=row.nodes,
        start=row.start_time,
        end=row.end_time,
        hosts="" if job is None else job.hosts,
        why="" if job is None else job.why,
        suspensions=row.suspensions,
        group=entry.group,
        constraint=entry.members.get(MEMBER, {}).get("constraint", ""),
    )


def _of_job(entry: JournalEntry, job: JobNow) -> Lease:
    return Lease(
        entry.number,
        entry.user,
        job.state,
        job.submitted,
        final=job.state in FINAL_STATES,
        duration=job.walltime,
        nodes=job.size,
        start=job.start,
        end=job.end,
        ends_by=job.ends_by,
        hosts=job.hosts,
        why=job.why,
        group=entry.group,
    )


def _refused(entry: JournalEntry, job: JobNow, begun: float) -> Lease:
    """Return the view of a lease whose job was refused before the algorithm received it."""
    read = parse_terms(entry.members[MEMBER], job.size, job.submitted)
    return replace(
        _of_job(entry, job),
        state=LeaseState.REJECTED.label,
        type=TYPES[KINDS[read.kind]],
        requested_start=read.start,
        requested_date=None if read.start is None else instant(read.start, begun),
        deadline=read.deadline,
        constraint=read.constraint or "",
    )
