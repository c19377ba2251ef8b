"""Writer of Batsim's workload files: jobs and profiles in JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson

from batsched_py.errors import WorkloadError
from batsched_py.files.atomic_file import write_pieces_atomically
from batsched_py.model.job import Job
from batsched_py.model.profile import Profile
from batsched_py.model.workload import Workload
from batsched_py.traces.batsim5_json import write_job, write_profile

#: Member of the file with the date of the log; Batsim ignores it.
START: Final = "log_start"
#: Number of lines that are written at a time.
_BATCH: Final = 512


def write_workload(path: Path, workload: Workload, *, description: str = "", protocol: str = "v4") -> None:
    """Write a workload, one job a line and one profile a line: the same workload gives the same bytes.

    The `protocol` "v5" selects the format of Batsim 5. The file is replaced completely or not at all. WorkloadError if
    it cannot be written, if a member is not JSON, or if Batsim 5 has no type for a profile.
    """
    _write_pieces(path, _workload_pieces(workload, description, protocol))


def write_jobs(
    path: Path, host_count: int, jobs: Iterable[Job], profiles: Mapping[str, Profile], *, description: str = ""
) -> None:
    """Write a workload from an iterator of jobs, none of which is kept in memory; otherwise as `write_workload`.

    The profiles are written after the jobs: the iterator may add profiles while it creates jobs.
    """
    _write_pieces(path, _pieces(_head(host_count, description), jobs, profiles, str(path), "v4"))


def _write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    try:
        write_pieces_atomically(path, pieces)
    except TypeError as error:
        raise WorkloadError(str(path), "", f"cannot be written as JSON: {error}") from error
    except OSError as error:
        raise WorkloadError(str(path), "", f"cannot be written: {error.strerror or error}") from error


def workload_content(workload: Workload, *, description: str = "", protocol: str = "v4") -> bytes:
    """Return the content of a workload's file; TypeError if a member is not JSON, WorkloadError as `write_workload`.

    Batsim requires `nb_res`: it is the largest job's size if the workload does not know its machine.
    """
    return b"".join(_workload_pieces(workload, description, protocol))


def _workload_pieces(workload: Workload, description: str, protocol: str) -> Iterator[bytes]:
    host_count = workload.host_count or max((job.size for job in workload.jobs), default=1) or 1
    head = _head(host_count, description, workload.log_start)
    return _pieces(head, workload.jobs, workload.profiles, workload.source, protocol)


def _head(host_count: int, description: str, log_start: datetime | None = None) -> bytes:
    """Return the members of a workload that precede its jobs."""
    lines = [b'{\n  "nb_res": %d,\n' % host_count]
    if description:
        lines.append(b'  "description": %b,\n' % orjson.dumps(description))
    if log_start is not None:
        lines.append(b'  "%b": "%b",\n' % (START.encode(), log_start.isoformat().encode()))
    return b"".join(lines)


def _pieces(
    head: bytes, jobs: Iterable[Job], profiles: Mapping[str, Profile], source: str, protocol: str
) -> Iterator[bytes]:
    """Yield the content of a file: one job a line, then one profile a line."""
    later = protocol == "v5"
    yield head + b'  "jobs": ['
    yield from _lines(map(orjson.dumps, map(write_job if later else _job_members, jobs)))
    yield b'],\n  "profiles": {'
    yield from _lines(
        orjson.dumps(name) + b": " + orjson.dumps(write_profile(source, profile) if later else profile.members)
        for name, profile in profiles.items()
    )
    yield b"}\n}\n"


def _job_members(job: Job) -> dict[str, Any]:
    """Return the job's members as they were written, but for attributes that have changed since."""
    written = job.members
    name = job.name or job.id if "!" in job.id else job.id
    if (
        written.get("id") == name
        and written.get("subtime") == job.submit_time
        and written.get("res") == job.size
        and written.get("profile") == job.profile
        and written.get("walltime", -1) == (-1 if job.walltime is None else job.walltime)
        and type(written) is dict
    ):
        return written
    members = dict(written)
    if str(members.get("id")) != name:
        members["id"] = name
    for key, value in (("subtime", job.submit_time), ("res", job.size), ("profile", job.profile)):
        if members.get(key) != value:
            members[key] = value
    walltime = -1 if job.walltime is None else job.walltime
    if members.get("walltime", -1) != walltime:
        members["walltime"] = walltime
    return members


def _lines(items: Iterable[bytes]) -> Iterator[bytes]:
    """Yield items with separators between them, many at a time; nothing if there are none."""
    begin, end = b"\n    ", b""
    left = iter(items)
    while batch := list(islice(left, _BATCH)):
        yield begin + b",\n    ".join(batch)
        begin, end = b",\n    ", b"\n  "
    yield end
