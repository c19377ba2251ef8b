"""Leases and jobs over HTTP: ask for them, list them, look at one, take it back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, cast

from litestar import Controller, Request, Response
from litestar.params import Parameter
from msgspec import Struct

from batsched_py.leases.accounting.columns import LeaseRow, LiveRow, ReservationRow
from batsched_py.session.requests import SUBMIT_JOB
from batsched_py.site.api.acceptance import Acceptance
from batsched_py.site.api.handlers import delete, get, post
from batsched_py.site.api.identity import Identity, who_asks
from batsched_py.site.api.lease_requests import (
    JobRequest,
    LeaseRequest,
    ask_for_job,
    ask_for_lease,
    ask_to_cancel,
    job_id,
    request_number,
)
from batsched_py.site.api.problems import refuse
from batsched_py.site.board import JobNow
from batsched_py.site.journal import Entry
from batsched_py.site.site import Site

#: Items of a list that are sent at once.
_MOST: Final = 1000
#: Blocks of a schedule that are sent, the last ones.
_MOST_BLOCKS: Final = 20_000
#: Types of leases in words, as Haizea lists them.
TYPES: Final = {"BE": "Best-effort", "AR": "AR", "IM": "Immediate", "DL": "Deadline"}

#: A request, whatever else the framework may know of it.
Asking = Request[Any, Any, Any]
Limit = Annotated[int, Parameter(ge=1, le=_MOST, description="At most so many.")]
After = Annotated[int, Parameter(ge=0, description="Only those whose number is greater.")]
Number = Annotated[int, Parameter(ge=1, le=2**53, description="The number that the site gave it.")]


class Lease(Struct, frozen=True, omit_defaults=True):
    """A lease, or a job, that somebody asked for; times in simulated seconds.

    Attributes:
        number: given by the site.
        user: who asked.
        state: of a lease as Haizea spells it, of a job waiting, running or as Batsim spells it; "New" before the
            algorithm has seen it.
        submit: when it was asked for.
        type: of a lease: Best-effort, AR, Immediate or Deadline.
        requested_start: None unless it asked for one.
        duration: that was asked for.
        nodes: its machines.
        start, end: when it began and ended.
        hosts: on which it is, as an interval set.
        why: the reason why it waits or was refused.
        suspensions: how often it was suspended.
    """

    number: int
    user: str
    state: str
    submit: float
    type: str | None = None
    requested_start: float | None = None
    deadline: float | None = None
    duration: float | None = None
    nodes: int | None = None
    start: float | None = None
    end: float | None = None
    hosts: str = ""
    why: str = ""
    suspensions: int = 0
    group: str = ""


class Leases:
    """Leases and jobs as the board has them, by the numbers of their requests.

    Args:
        site: of which they are.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        #: Lease number -> its row, of those that have ended; the table only grows.
        self._ended: dict[int, LeaseRow] = {}
        self._rows_seen = 0

    def find(self, number: int, who: Identity) -> Lease:
        """Return a lease. RefusedError if there is none, or it is another's."""
        entry = self.entry(number)
        if not who.may_read(entry.user, entry.group):
            raise refuse(403, "it is another user's")
        return self._lease(entry, self._open_rows())

    def entry(self, number: int) -> Entry:
        """Return the request of a lease; RefusedError if there is none."""
        entry = self._site.inbox.entries.get(number)
        if entry is None or entry.kind != SUBMIT_JOB:
            raise refuse(404, f"there is no lease {number}")
        return entry

    def readable(self, who: Identity, *, finished: bool, after: int, limit: int, newest: bool) -> list[Lease]:
        """Return those that somebody may see, by number; those that have ended only if that is asked for.

        With `newest` the last ones come first.
        """
        rows, found = self._open_rows(), list[Lease]()
        for number in self._numbers(after, finished=finished, newest=newest):
            entry = self._site.inbox.entries[number]
            if entry.kind == SUBMIT_JOB and who.may_read(entry.user, entry.group):
                lease = self._lease(entry, rows)
                if finished or lease.state not in _FINAL:
                    found.append(lease)
                    if len(found) == limit:
                        break
        return found

    def queue(self, who: Identity) -> list[Lease]:
        """Return those that somebody may see and that wait for hosts, in the order of the queue.

        Reservations wait for their instant, not in the queue.
        """
        rows, found = self._open_rows(), list[Lease]()
        for job in self._site.board.snapshot.waiting:
            number = request_number(job.id)
            entry = None if number is None else self._site.inbox.entries.get(number)
            if entry is not None and who.may_read(entry.user, entry.group):
                lease = self._lease(entry, rows)
                if lease.type != TYPES["AR"]:
                    found.append(lease)
        return found[:_MOST]

    def _numbers(self, after: int, *, finished: bool, newest: bool) -> Iterable[int]:
        numbers = range(after + 1, len(self._site.inbox.entries) + 1)
        ordered = reversed(numbers) if newest else numbers
        if finished:
            return ordered
        self._read_ended()
        return (number for number in ordered if number not in self._ended)

    def _open_rows(self) -> Mapping[int, LeaseRow]:
        table = self._site.board.snapshot.tables.get("leases")
        return {row.lease: row for row in cast(Iterable[LeaseRow], table.rows)} if table is not None else {}

    def _read_ended(self) -> None:
        table = self._site.board.snapshot.tables.get("ended_leases")
        if table is not None:
            new = cast(list[LeaseRow], table.rows)[self._rows_seen :]
            self._ended.update((row.lease, row) for row in new)
            self._rows_seen += len(new)

    def _lease(self, entry: Entry, rows: Mapping[int, LeaseRow]) -> Lease:
        row = rows.get(entry.number)
        if row is None:
            self._read_ended()
            row = self._ended.get(entry.number)
        job = self._site.board.job(job_id(entry.number))
        if row is not None:
            return _of_lease(entry, row, job)
        return (
            Lease(entry.number, entry.user, "New", entry.time, group=entry.group)
            if job is None
            else _of_job(entry, job)
        )


#: States in which nothing will happen any more.
_FINAL: Final = frozenset(
    {
        *("Done", "Cancelled", "Rejected", "Rejected by user", "Fail", "REJECTED", "COMPLETED_SUCCESSFULLY"),
        *("COMPLETED_FAILED", "COMPLETED_KILLED", "COMPLETED_WALLTIME_REACHED"),
    }
)


def _unseen(entry: Entry) -> Lease:
    """Return a lease that the algorithm has not seen."""
    return Lease(entry.number, entry.user, "New", entry.time, group=entry.group)


def _of_lease(entry: Entry, row: LeaseRow, job: JobNow | None) -> Lease:
    return Lease(
        entry.number,
        entry.user,
        row.state,
        row.submit_time,
        TYPES[row.type],
        row.requested_start,
        row.deadline,
        row.requested_duration,
        row.nodes,
        row.start_time,
        row.end_time,
        "" if job is None else job.hosts,
        "" if job is None else job.why,
        row.suspensions,
        entry.group,
    )


def _of_job(entry: Entry, job: JobNow) -> Lease:
    return Lease(
        entry.number,
        entry.user,
        job.state,
        job.submitted,
        None,
        None,
        None,
        job.walltime,
        job.size,
        job.start,
        job.end,
        job.hosts,
        job.why,
        group=entry.group,
    )


class LeaseController(Controller):
    """The resource /api/leases."""

    path = "/api/leases"
    tags = ("leases",)

    @post("/", summary="Ask for a lease")
    async def ask(self, data: LeaseRequest, request: Asking, site: Site, acceptance: Acceptance) -> Response[Lease]:
        """Accept a request for a lease; it is on disk when it is answered, and is decided right after."""
        asked = ask_for_lease(data, who_asks(request), site.inbox.now, site.begun)
        return _created(await acceptance.accept(asked), "/api/leases")

    @get("/", summary="List leases")
    async def listed(  # noqa: PLR0917  (parameters of the query, given by name)
        self,
        request: Asking,
        leases: Leases,
        finished: bool = False,
        after: After = 0,
        limit: Limit = _MOST,
        newest: bool = False,
    ) -> list[Lease]:
        """List one's own leases and those of one's group; those in final states only if that is asked for.

        With `newest` the last ones come first.
        """
        return leases.readable(who_asks(request), finished=finished, after=after, limit=limit, newest=newest)

    @get("/{number:int}", summary="Show a lease")
    async def shown(self, request: Asking, leases: Leases, number: Number) -> Lease:
        """Show one lease."""
        return leases.find(number, who_asks(request))

    @delete("/{number:int}", summary="Cancel a lease")
    async def cancel(self, request: Asking, leases: Leases, acceptance: Acceptance, number: Number) -> None:
        """Take a lease back, in whichever state it is; only who asked for it may."""
        who = who_asks(request)
        lease = leases.find(number, who)
        if leases.entry(number).user != who.user:
            raise refuse(403, "only who asked for it may take it back")
        if lease.state in _FINAL:
            raise refuse(409, f"it has ended: {lease.state}")
        await acceptance.accept(ask_to_cancel(number, who))


class JobController(Controller):
    """The resource /api/jobs: jobs without terms, for algorithms of all kinds; they are listed among the leases."""

    path = "/api/jobs"
    tags = ("leases",)

    @post("/", summary="Ask for a job")
    async def ask(self, data: JobRequest, request: Asking, acceptance: Acceptance) -> Response[Lease]:
        """Accept a request for a job; it is on disk when it is answered, and is decided right after."""
        return _created(await acceptance.accept(ask_for_job(data, who_asks(request))), "/api/leases")


def _created(entry: Entry, path: str) -> Response[Lease]:
    return Response(_unseen(entry), status_code=201, headers={"Location": f"{path}/{entry.number}"})


class Block(Struct, frozen=True):
    """Something that takes hosts for a time, in the past, now, or by plan.

    Attributes:
        number: of its lease or job; None for one that nobody asked the site for.
        kind: job, or what a lease does: vm, shutdown, suspend, resume, migrate-disk, migrate-memory, transfer.
        phase: planned, under way or over.
        start, end: in simulated seconds; `end` is None if nobody knows it.
        hosts: an interval set.
        lost: what it did was thrown away.
    """

    number: int | None
    kind: str
    phase: str
    start: float
    end: float | None
    hosts: str
    lost: bool = False


def blocks(site: Site, begin: float, end: float) -> list[Block]:
    """Return what takes hosts between two instants, for a chart of hosts by time."""
    snapshot = site.board.snapshot
    if "reservations" in snapshot.tables:
        past = cast(Iterable[ReservationRow], snapshot.tables["past_reservations"].rows)
        live = cast(Iterable[LiveRow], snapshot.tables["reservations"].rows)
        found = [Block(row.lease, row.kind, "over", row.start, row.end, row.hosts, bool(row.lost)) for row in past]
        found += [Block(row.lease, row.kind, row.phase, row.start, row.end, row.hosts) for row in live]
    else:
        ended = site.board.ended[: snapshot.ended]
        jobs = [(job, "over") for job in ended if job.hosts] + [(job, "under way") for job in snapshot.running]
        found = [
            Block(request_number(job.id), "job", phase, job.start or 0.0, job.end, job.hosts) for job, phase in jobs
        ]
    return [one for one in found if one.start < end and (one.end is None or one.end > begin)][-_MOST_BLOCKS:]
