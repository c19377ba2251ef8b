"""A reader of the jobs of Microsoft's cluster Philly (cluster_job_log): each job is a row of a table.

Source: the README of https://github.com/msr-fiddle/philly-traces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec
import orjson

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_content
from batsched_py.reading.json_document import count_members, may_be_doubled, refuse_doubled
from batsched_py.text.display import displayed, shown
from batsched_py.traces.formats import ReadOptions
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.table_batch import TableBatch
from batsched_py.traces.table_columns import TableColumns, read_columns
from batsched_py.traces.table_jobs import TableJobs
from batsched_py.traces.table_meaning import TableMeaning

# A job has an attempt for each time at which it was started. The last one is the job, as for a job of Slurm that was
# requeued; each earlier one is a row of its own, which is counted.

#: The columns of the table, in the order of the cells of a row.
_HEADER: Final = ("jobid", "user", "vc", "status", "submitted_time", "start_time", "end_time", "gpus", "ip")
_COLUMNS: Final = (
    "id=jobid,user=user,queue=vc,state=status,submit=submitted_time,start=start_time,end=end_time,size=gpus"
)
#: Members of a job, of an attempt, and of the part of an attempt on one server.
_OF_JOB: Final = frozenset({"status", "vc", "jobid", "attempts", "submitted_time", "user"})
_OF_ATTEMPT: Final = frozenset({"start_time", "end_time", "detail"})
_OF_SERVER: Final = frozenset({"ip", "gpus"})
#: Number of jobs that are converted at a time.
_ROWS: Final = 4096
_ELEMENTS: Final = msgspec.json.Decoder(list[msgspec.Raw])


def read(path: Path, options: ReadOptions) -> SwfLog:
    """Read a list of jobs, sized in GPUs. WorkloadError names the file, the job and the rule.

    With demands a job is as many tasks as it had GPUs, each of which requests one.
    """
    columns = TableColumns(read_columns([_COLUMNS]), preset="philly")
    if options.demands:
        columns = TableColumns({**columns.columns, **read_columns(["gpus=gpu"])}, preset="philly")
    jobs = TableJobs(path, options, TableMeaning(path, options, columns, "members"), "job")
    jobs.begin(path, (*_HEADER, "gpu") if options.demands else _HEADER, "members")
    numbered = enumerate(_elements(path, read_content(path, options.limits)), 1)
    while chunk := list(islice(numbered, _ROWS)):
        rows, numbers = list[Sequence[str]](), list[int]()
        for number, element in chunk:
            try:
                rows.append(_row(_checked(element, jobs, number), jobs, number))
                numbers.append(number)
            except ValueError as error:
                jobs.drop(str(error), number)
        if rows:
            jobs.add(TableBatch(list(zip(*rows, strict=True)), numbers))
    return jobs.log()


def _elements(path: Path, content: bytes) -> Iterator[Any]:
    """Yield the elements of a list. WorkloadError for another content."""
    try:
        elements = _ELEMENTS.decode(content)
        checked = False
        for element in elements:
            job = orjson.loads(memoryview(element))
            if not checked and may_be_doubled(bytes(element), count_members({"": job}) - 1, _dates(job)):
                refuse_doubled(str(path), content)
                checked = True
            yield job
    except (msgspec.MsgspecError, orjson.JSONDecodeError, UnicodeDecodeError, RecursionError):
        try:
            document = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise WorkloadError(str(path), where, f"is not JSON: {error.msg.partition(': line')[0]}") from None
        raise WorkloadError(str(path), "", f"must be a list of jobs, not {shown(document)}") from None


def _dates(job: Any) -> Iterator[str]:
    """Yield the texts of a job that have colons."""
    left = [job]
    while left:
        value = left.pop()
        if isinstance(value, dict | list):
            left += value.values() if isinstance(value, dict) else value
        elif isinstance(value, str) and ":" in value:
            yield value


def _checked(job: Any, jobs: TableJobs, number: int) -> Mapping[str, Any]:
    if not isinstance(job, dict):
        raise ValueError(f"must be an object, not {shown(job)}")
    _note_unknown(job, _OF_JOB, "a job", jobs, number)
    return job


def _row(job: Mapping[str, Any], jobs: TableJobs, number: int) -> Sequence[str]:
    """Return the cells of a job, whose earlier attempts are counted. ValueError names the member and the rule."""
    attempts = _list(job, "attempts")
    texts = [_text(job, name) for name in _HEADER[:5]]
    if not attempts:
        return [*texts, "", "", "", "", "1"][: jobs.width]
    gpus = 0
    for attempt in attempts:
        if not isinstance(attempt, dict):
            raise ValueError(f"attempts must be objects, not {shown(attempt)}")
        _note_unknown(attempt, _OF_ATTEMPT, "an attempt", jobs, number)
        gpus = sum(_gpus(server, jobs, number) for server in _list(attempt, "detail"))
    times = [_text(attempts[-1], name) for name in ("start_time", "end_time")]
    for _ in attempts[1:]:
        jobs.count("dropped_attempt", jobs.place(number))
    return [*texts, *times, str(gpus), "", "1"][: jobs.width]


def _gpus(server: Any, jobs: TableJobs, number: int) -> int:
    """Return the number of GPUs of an attempt on one server. ValueError."""
    if not isinstance(server, dict):
        raise ValueError(f"detail must have objects, not {shown(server)}")
    _note_unknown(server, _OF_SERVER, "a server", jobs, number)
    return len(_list(server, "gpus"))


def _list(member: Mapping[str, Any], name: str) -> list[Any]:
    found = member.get(name)
    if found is not None and not isinstance(found, list):
        raise ValueError(f"{name} must be a list, not {shown(found)}")
    return found or []


def _text(member: Mapping[str, Any], name: str) -> str:
    found = member.get(name)
    if found is not None and not isinstance(found, str):
        raise ValueError(f"{name} must be a text, not {shown(found)}")
    return found or ""


def _note_unknown(member: Mapping[str, Any], known: frozenset[str], kind: str, jobs: TableJobs, number: int) -> None:
    for name in member.keys() - known:
        jobs.note(f"member {displayed(name)} of {kind} is unknown and has no effect", number)
