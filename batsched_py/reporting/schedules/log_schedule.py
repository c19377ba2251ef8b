"""The schedule in a log (Standard Workload Format, or Slurm's accounting): starts and run times of its jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from batsched_py.errors import InputError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.protocol.events import COMPLETED_FAILED, COMPLETED_KILLED, COMPLETED_SUCCESSFULLY, REJECTED
from batsched_py.reporting.schedules.tabular import LARGEST
from batsched_py.results.records import JobRecord
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted
from batsched_py.traces.row_rules import RULES
from batsched_py.traces.swf_log import CANCELLED, FIELDS, SwfLog, SwfRecord

#: Status in the log -> Batsim's final state; an unknown status counts as success.
_STATES: Final[Mapping[int, str]] = MappingProxyType(
    {-1: COMPLETED_SUCCESSFULLY, 0: COMPLETED_FAILED, 1: COMPLETED_SUCCESSFULLY, 5: COMPLETED_KILLED}
)
#: Statuses of lines for parts of a job; another line has the whole job.
_PARTS: Final = frozenset({2, 3, 4})
_CANCELLED: Final = 5

_NO_SCHEDULE: Final = "(field 3 of SWF): it is a workload, not a schedule; batsched-py convert makes one of it"
_NO_SUBMISSION: Final = "no submission time"
_PART, _NO_WAIT, _NO_RUN, _NO_SIZE = "a part of a job", "no wait", "no run time", "no processors"


def records_of(log: SwfLog) -> tuple[tuple[JobRecord, ...], tuple[str, ...]]:
    """Return the jobs in the order of the log, and notes on omitted lines; host numbers are unknown.

    A job starts at submit + wait and ends after its run time; its size is the number of used processors, else of
    requested ones. Cancelled jobs without a run time count as rejected. Jobs with an unknown submission, wait, run time
    or size are omitted, and so are lines for parts of jobs (status 2 to 4), and lines that the reader of the format has
    dropped. InputError if no job is left, or if the waits of most jobs that ran are unknown: metrics of the others
    would not describe a schedule.
    """
    left_out: Counter[str] = Counter()
    records = tuple(_read(log, left_out))
    unknown, known = left_out[_NO_WAIT], sum(not record.rejected for record in records)
    if unknown > known:
        whose = f"tells the wait of {known} of {unknown + known} jobs" if known else "tells no job's wait"
        raise InputError(log.source, "", f"{whose} {_NO_SCHEDULE}")
    dropped = Counter(log.dropped)
    dropped["dropped_never_ran"] += len(log.cancelled)
    for rule, count in dropped.items():
        left_out[RULES[rule].line.removeprefix("dropped: ")] += count if RULES[rule].effect == "dropped" else 0
    if not records:
        why = "; ".join(["has no job that ran", *_left_out(left_out)])
        raise InputError(log.source, "", why)
    lines = _left_out(left_out)
    if log.long_lines:
        lines.append(f"{counted(log.long_lines, 'line')} with more than {FIELDS} fields: the others ignored")
    notes = (note.removeprefix(f"{displayed(log.source)}: ") for note in log.notes)
    return records, (*lines, *notes)


def _left_out(counts: Counter[str]) -> list[str]:
    reasons = sorted((reason, count) for reason, count in counts.items() if count)
    return [f"{counted(count, 'line')} left out: {reason}" for reason, count in reasons]


def _read(log: SwfLog, left_out: Counter[str]) -> Iterator[JobRecord]:
    workload = Path(log.source).name.partition(".")[0] or "log"
    for record in log.records:
        size = record.used_processors if record.used_processors > 0 else record.requested_processors
        if record.status in _PARTS:
            left_out[_PART] += 1
        elif record.status == CANCELLED and record.run <= 0:
            yield JobRecord(_job(log, record, workload, max(size, 0)), REJECTED, -1, 0.0, 0.0, HostSet())
        elif record.run < 0:
            left_out[_NO_RUN] += 1
        elif record.submit < 0:
            left_out[_NO_SUBMISSION] += 1
        elif record.wait < 0:
            left_out[_NO_WAIT] += 1
        elif size <= 0:
            left_out[_NO_SIZE] += 1
        else:
            start = record.submit + record.wait
            if start > LARGEST:
                raise InputError(log.source, f"job {record.number}", f"must start before {LARGEST:g} s, not at {start}")
            state = _STATES.get(record.status, COMPLETED_SUCCESSFULLY)
            code = 0 if state == COMPLETED_SUCCESSFULLY else -1
            yield JobRecord(_job(log, record, workload, size), state, code, start, start + record.run, HostSet())


def _job(log: SwfLog, record: SwfRecord, workload: str, size: int) -> Job:
    walltime = record.requested_time if record.requested_time > 0 else None
    name = log.names.get(record.number, record.number)
    return Job(f"{workload}!{name}", record.submit, size, walltime, "", log.members_of(record))
