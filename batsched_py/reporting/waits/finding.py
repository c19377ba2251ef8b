"""Lookup of a job of a run by the name that a user gives."""

from __future__ import annotations

from batsched_py.errors import InputError
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.wording import at, named
from batsched_py.results.records import JobRecord
from batsched_py.text.display import displayed
from batsched_py.text.wording import did_you_mean


def find_job(history: RunHistory, name: str) -> JobRecord:
    """Return the job with this id, or with this name in the only workload that has it. InputError."""
    record = history.records.get(name)
    if record is not None:
        return record
    source = history.schedule.source
    found = [job for job in history.records if job.partition("!")[2] == name]
    if len(found) == 1:
        return history.records[found[0]]
    if found:
        raise InputError(source, "", f"has several jobs {displayed(name)}: {named(found)}; name one of them")
    listed = [job for job in history.decisions.of_jobs if name in (job, job.partition("!")[2])]
    if listed:
        row = history.decisions.of_jobs[listed[0]][-1]
        last = f"last {row.kind} at {at(row.time)}{f': {displayed(row.words)}' if row.words else ''}"
        raise InputError(source, "", f"has no row of {displayed(listed[0])}, which never started ({last})")
    near = did_you_mean(name, (job if "!" in name else job.partition("!")[2] for job in history.records))
    early = ", or it was not submitted before the run ended" if history.ended_early else ""
    raise InputError(source, "", f"has no job {displayed(name)}{early}{f'; {near}' if near else ''}")
