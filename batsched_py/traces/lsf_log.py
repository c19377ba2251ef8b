"""A reader of LSF's accounting (lsb.acct): jobs with a JOB_FINISH record become the records of a log.

Several files, such as lsb.acct and lsb.acct.1, are one log. `lsf_fields` names the sources of the format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from batsched_py.errors import WorkloadError
from batsched_py.model.conditions import When
from batsched_py.reading.limits import NAME_RULE, breaks_csv
from batsched_py.text.display import displayed
from batsched_py.text.wording import unknown
from batsched_py.traces.accounting_log import AccountingLog, EndedJob
from batsched_py.traces.column_use import ColumnUse
from batsched_py.traces.formats import LSF, ReadOptions, looks_like
from batsched_py.traces.lsf_fields import DONE, EXITED, FIELDS, LsfError, LsfJob, read_job
from batsched_py.traces.sacct_fields import WITHOUT
from batsched_py.traces.slurm_dependency import NO_DEPENDENCY, SlurmDependency
from batsched_py.traces.swf_log import UNKNOWN, SwfLog

#: Members of jobs.
MEMBERS: Final = ("user", "account", "queue")
#: Fields that may be kept -> their text.
_KEPT: Final[Mapping[str, Callable[[LsfJob], str]]] = {
    "jobname": lambda job: job.name,
    "exitstatus": lambda job: str(job.exit_status),
    "version": lambda job: job.version,
}
#: Name of a kept field -> that of its field.
_FIELDS_OF: Final = {"jobname": "jobName", "exitstatus": "exitStatus", "version": "version"}
#: Fields that are always read -> their use.
_USES: Final = {
    "event time": "end",
    "jobId": "id",
    "idx": "id, of a task of an array",
    "submitTime": "submission time",
    "startTime": "start",
    "numProcessors": "requested size",
    "execHosts": "used size",
    "jStatus": "state",
    "runLimit": "requested time",
    "dependCond": "dependency",
    "userName": "member user",
    "projectName": "member account",
    "queue": "member queue",
}
#: A condition on another job, and the state that it must reach.
_CONDITION: Final = re.compile(r"\s*(done|ended|exit|started)\(\s*(\d{1,15})\s*\)\s*", re.ASCII)
_STATES: Final[Mapping[str, When]] = {"done": "success", "ended": "end", "exit": "failure", "started": "start"}


def read(path: Path, options: ReadOptions) -> SwfLog:
    """Read accounting in slots (CPUs) or hosts (nodes). WorkloadError names the file, the line and the rule.

    Its id is its number, with its index if it is a task of an array: `12[3]`. Its user, project (as account) and queue
    are members.
    """
    log, keep = AccountingLog(path, options), [name.lower() for name in options.keep]
    for name in keep:
        if name not in _KEPT and name not in MEMBERS:
            raise WorkloadError(str(path), "--keep", f"{displayed(name)}: {unknown(name, [*_KEPT, *MEMBERS])}")
    for line in log.lines():
        event = line.split(None, 1)[0].strip('"')
        if event != "JOB_FINISH":
            if line.startswith(('"', "#")):
                log.count("passed_over_events", log.place)
            else:
                log.drop(f'must begin with an event like "JOB_FINISH"{looks_like(line, LSF)}')
            continue
        try:
            job = read_job(line)
            log.add(_ended(job, log, options, keep))
        except LsfError as error:
            log.drop(str(error))
    kept = {_FIELDS_OF[name]: f"member {name}" for name in keep if name in _FIELDS_OF}
    unread = tuple(name for name in FIELDS if name not in _USES and name not in kept)
    return log.log((*MEMBERS, *keep), ColumnUse(_USES | kept, unread), [])


def _ended(job: LsfJob, log: AccountingLog, options: ReadOptions, keep: list[str]) -> EndedJob:
    """Return the job of a record. LsfError."""
    if not job.submit:
        raise LsfError("field submitTime is 0")
    if not job.understood:
        log.notes.add(f"limits of run times are not read: fields of version {displayed(job.version)}", log.place)
    by_node = options.unit == "nodes"
    record = UNKNOWN._replace(
        run=max(job.end - job.start, 0) if job.start else -1,
        used_processors=job.hosts if by_node else job.slots,
        requested_processors=-1 if by_node else job.requested,
        requested_time=-1 if job.run_limit is None else job.run_limit,
        status=1 if job.status & DONE else 0 if job.status & EXITED and job.start else 5,
    )
    return EndedJob(
        log.place,
        f"{job.number}[{job.index}]" if job.index else str(job.number),
        "",
        job.submit,
        job.start or None,
        job.end,
        record,
        _members(job, keep),
        _dependency(job, log, options),
        withdrawn=not job.start,
    )


def _members(job: LsfJob, keep: list[str]) -> Mapping[str, Any]:
    found = {"user": job.user, "account": job.project, "queue": job.queue}
    found |= {name: _KEPT[name](job) for name in keep if name in _KEPT}
    for name, text in found.items():
        if breaks_csv(text):
            raise LsfError(f"{name} {NAME_RULE}")
    return {name: text for name, text in found.items() if text}


def _dependency(job: LsfJob, log: AccountingLog, options: ReadOptions) -> SlurmDependency:
    """Return the conditions on other jobs, joined by "&&", and note those that are not obeyed."""
    if not job.depends.strip():
        return NO_DEPENDENCY
    if not options.dependencies:
        log.notes.add(f"dependCond is not obeyed: {WITHOUT}", log.place)
        return NO_DEPENDENCY
    parts = [_CONDITION.fullmatch(part) for part in job.depends.split("&&")]
    if None in parts:
        log.notes.add(f"a condition like {displayed(job.depends[:40])} is not obeyed", log.place)
        return NO_DEPENDENCY
    return SlurmDependency(tuple((part[2], _STATES[part[1]], 0.0) for part in parts if part is not None))
