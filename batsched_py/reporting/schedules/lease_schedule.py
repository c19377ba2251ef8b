"""The jobs of a run with lease tables alone: each run of a lease's machines becomes a job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.protocol.events import COMPLETED_KILLED, COMPLETED_SUCCESSFULLY, REJECTED
from batsched_py.reporting.schedules.lease_tables import RUN, LeaseSpan, LeaseTables
from batsched_py.results.lease_rows import LeaseRow, LeaseState
from batsched_py.results.records import JobRecord


def lease_jobs(leases: LeaseTables) -> tuple[JobRecord, ...]:
    """Return the jobs that would represent the leases in Batsim, in the order of their ends.

    The first run of a lease is named by its number, later ones `NUMBER#1`, `NUMBER#2`...; each but the last was killed,
    and the next one was submitted at its end. Leases that never ran are left out, unless they were rejected.
    """
    runs = defaultdict[int, list[LeaseSpan]](list)
    for span in leases.spans:
        if span.kind == RUN:
            runs[span.lease].append(span)
    found = [record for row in leases.leases.values() for record in _jobs(row, runs[row.lease], leases)]
    return tuple(sorted(found, key=lambda record: (record.finish, record.job.id)))


def _jobs(row: LeaseRow, runs: list[LeaseSpan], leases: LeaseTables) -> Iterator[JobRecord]:
    submit = row.submit_time
    if row.state == LeaseState.REJECTED.label:
        yield JobRecord(_job(row, 0, submit), REJECTED, -1, 0.0, 0.0, HostSet())
    for number, span in enumerate(runs):
        done = span is runs[-1] and row.state == LeaseState.DONE.label
        end = leases.until(span)
        state = COMPLETED_SUCCESSFULLY if done else COMPLETED_KILLED
        yield JobRecord(_job(row, number, submit), state, 0 if done else -1, span.start, end, span.hosts)
        submit = end


def _job(row: LeaseRow, number: int, submit: float) -> Job:
    name = f"{row.lease}#{number}" if number else str(row.lease)
    return Job.create(f"w0!{name}", size=row.nodes, profile="", submit_time=submit, walltime=row.requested_duration)
