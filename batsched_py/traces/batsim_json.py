"""Reader of Batsim's workload files: jobs and profiles in JSON (`batsim_json_writer` writes them)."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec import Raw

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_content
from batsched_py.model.cancellation import CANCELLED_AFTER, cancelled_after
from batsched_py.model.conditions import CONDITIONS
from batsched_py.model.demand_members import DEMAND, read_job_demand
from batsched_py.model.job import Job
from batsched_py.model.name_set import NameSet
from batsched_py.model.packed_jobs import PackedJobs
from batsched_py.model.profile import Parallel, Profile
from batsched_py.model.workload import Workload
from batsched_py.reading.faults import FieldError, Place, of_file, refused
from batsched_py.reading.json_document import count_members, may_be_doubled, parse_object, parse_outline, refuse_doubled
from batsched_py.reading.limits import (
    LIMITS,
    LONGEST,
    NAME_RULE,
    SHORTEST,
    TOO_LATE,
    TOO_LONG,
    Limits,
    breaks_csv,
    check_depth,
    is_too_late,
)
from batsched_py.reading.many import ManyMembers
from batsched_py.reading.notes import Notes
from batsched_py.reading.objects import OBJECT, take
from batsched_py.reading.values import whole_number
from batsched_py.text.display import shown
from batsched_py.traces.batsim5_json import is_batsim5, present_job, present_profiles
from batsched_py.traces.batsim_json_writer import START, write_workload
from batsched_py.traces.formats import JSON, ReadOptions, WriteOptions, format_of_line
from batsched_py.traces.job_conditions import JobConditions
from batsched_py.traces.profile_table import read_profiles
from batsched_py.traces.replay_files import with_traces
from batsched_py.traces.workload_members import JOB, JOB_OF_BATSIM_5, check_document, check_profiles

# A small file is parsed as a whole. With more than MANY jobs only the text of each job is kept, and a job is decoded
# again when it is needed: some 5 % more time, and memory in proportion to the text and not to the objects. Both ways
# share `_JobReader`, so the rules are the same.
#
# The rules are Batsim's: input on which it aborts is refused here with the place, before a run begins. One rule needs a
# second check: of a repeated member of an object, Batsim uses the first and a fast parser the last. The number of
# members read is compared with that of colons in the text, and only if they differ, the file is read again to find the
# place (`_refuse_doubled`).
#
# Unknown members of a job are kept and written back, as they may be meant for an algorithm or another tool.

_NUMBERS: Final = (int, float)
_HOSTS: Final = whole_number("hosts")
#: Bytes that suffice to detect the format of a file.
_HEAD: Final = 10_000
#: Number of jobs above which none is kept as an object: decoding each a second time costs about 5 % of a run.
MANY: Final = 50_000


def read(path: Path, options: ReadOptions) -> Workload:
    """Read a workload with all profiles, as `read_workload` does."""
    return read_workload(path, simulated_only=False, limits=options.limits)


def write(path: Path, workload: Workload, options: WriteOptions) -> None:
    """Write a workload as `write_workload` does."""
    write_workload(path, workload, description=options.description, protocol=options.protocol)


def read_workload(path: Path, *, simulated_only: bool = True, limits: Limits = LIMITS) -> Workload:
    """Read a workload; WorkloadError names the file, the field (`jobs[3].walltime`) and the rule that is broken.

    Jobs are sorted in the order in which Batsim submits them: by submission time, then by id as text. A `walltime` that
    is absent or -1 means unlimited. Files of Batsim 5 are converted to the names of Batsim 4. All profiles must be
    valid, including unused ones. Profile types that only Batsim executes are refused, unless `simulated_only` is False.
    The workload's notes list the members of the file that have no effect.
    """
    file = str(path)
    content = read_content(path, limits)
    _refuse_logs(file, content)
    text, elements = content, None
    if content.count(b'"subtime"') > MANY:
        document, text, elements = parse_outline(file, content, "jobs")
    else:
        document = parse_object(file, content)
    host_count, profiles = _read_head(file, document, elements, limits)
    later = is_batsim5(profiles)
    if later:
        profiles = present_profiles(file, profiles)
    table = read_profiles(file, profiles, simulated_only=simulated_only, limits=limits)
    notes = Notes(file)
    check_document(document, notes)
    check_profiles(profiles, notes)
    if simulated_only:
        table = with_traces(file, table, notes, limits)
    reader = _JobReader(file, table, limits, notes, later=later)
    try:
        jobs = _read_jobs(document["jobs"], reader) if elements is None else _pack_jobs(text, elements, reader)
        reader.place.refuse()
        reader.conditions.check(jobs)
    except FieldError as error:
        raise of_file(WorkloadError, file, error) from None
    _refuse_doubled(file, content, document, elements, reader.members)
    described = document.get("description")
    description = described if isinstance(described, str) else ""
    start, protocol = _read_start(file, document), "v5" if later else "v4"
    return Workload(file, host_count, jobs, table, description, start, protocol=protocol, notes=notes.lines())


def _refuse_logs(file: str, content: bytes) -> None:
    """Raise WorkloadError for a file of another format that can be converted into a workload."""
    begin = content[:_HEAD].lstrip()
    found = format_of_line((begin if begin.startswith(b"{") else begin.partition(b"\n")[0]).decode(errors="replace"))
    if found not in (None, JSON) and found.content is not None:
        rule = f"must be a workload in JSON; it looks like {found.description}, of which batsched-py convert makes one"
        raise WorkloadError(file, "", rule)


def _read_head(
    file: str, document: Mapping[str, Any], elements: Sequence[Raw] | None, limits: Limits
) -> tuple[int, Mapping[str, Any]]:
    """Return the number of hosts and the profiles; WorkloadError, also for jobs that are not a list, or too many."""
    place = Place()
    host_count = place.read(lambda members: take(members, "nb_res", _HOSTS, 0), document, 0)
    nothing: Mapping[str, Any] = {}
    profiles = place.read(lambda members: take(members, "profiles", OBJECT), document, nothing)
    jobs = document.get("jobs") if elements is None else elements
    if not isinstance(jobs, list):
        (place / "jobs").note(f"must be a list, not {shown(jobs)}" if "jobs" in document else "is missing")
    elif len(jobs) > limits.jobs:
        (place / "jobs").note(limits.rule("jobs"))
    try:
        place.refuse()
    except FieldError as error:
        raise of_file(WorkloadError, file, error) from None
    return host_count, profiles


def _read_start(file: str, document: Mapping[str, Any]) -> datetime | None:
    """Return the date at which the clock of submission times was at 0; None if the file has none."""
    text = document.get(START)
    if text is None:
        return None
    start: datetime | None = None
    with suppress(TypeError, ValueError):
        start = datetime.fromisoformat(text)
    if start is None or start.tzinfo is None:
        rule = f"must be a date and a time with an offset, like 1996-09-23T12:00:00+02:00, not {shown(text)}"
        raise WorkloadError(file, START, rule)
    return start


def _refuse_doubled(
    file: str, content: bytes, document: dict[str, Any], elements: Sequence[Raw] | None, members: int
) -> None:
    """Raise WorkloadError if an object has a member twice. `members` counts the jobs' members, without nested objects.

    Batsim uses the first one, the fast reader the last: results would depend on the reader.
    """
    others = {name: value for name, value in document.items() if name != "jobs"}
    texts = [value for value in others.values() if isinstance(value, str)]
    around = 1 + count_members(others)
    if may_be_doubled(content, around + members, texts):
        jobs = document["jobs"] if elements is None else (orjson.loads(memoryview(element)) for element in elements)
        if may_be_doubled(content, around + sum(map(count_members, jobs)), texts):
            refuse_doubled(file, content)


class _JobReader:
    """A reader of the jobs of one file, one by one.

    Attributes:
        profiles: the profiles that jobs may refer to.
        later: true for a file of Batsim 5.
        members: total number of members of the jobs read so far, without those of nested objects.
        place: the place of the jobs, with the faults found so far.
    """

    def __init__(
        self, file: str, profiles: Mapping[str, Profile], limits: Limits, notes: Notes, *, later: bool
    ) -> None:
        self.profiles, self.later = profiles, later
        self.members, self.place = 0, Place("jobs")
        self._file, self._limits = file, limits
        self._job_members = ManyMembers(JOB_OF_BATSIM_5 if self.later else JOB, notes)
        #: The conditions of the jobs on each other.
        self.conditions = JobConditions()

    def read(self, index: int, members: Any, known: Container[str]) -> Job | None:
        """Return the job of an object; its id must be new. None for one that breaks a rule, which is noted."""
        try:
            if type(members) is not dict:
                raise refused("an object", members)
            job = _read_job(members, self.profiles)
            self.members += len(members)
            if len(members) > 4 + ("walltime" in members):  # user-defined members may have any value
                check_depth(members, self._limits)
                self._check_members(index, members, job)
            if job.id in known:
                raise FieldError("id", f"is the id of two jobs: {shown(job.id)}")
        except KeyError as missing:
            (self.place[index] / missing.args[0]).note("is missing")
        except ValueError as error:
            self.place[index].add(error)
        else:
            return job
        return None

    def error(self, text: bytes) -> None:
        """Raise WorkloadError with the place of the error in a text that is not JSON."""
        parse_object(self._file, text)

    def _check_members(self, index: int, members: dict[str, Any], job: Job) -> None:
        present = present_job(members) if self.later and "extra_data" in members else members
        if not present.keys() <= self._job_members.silent:
            self._job_members.check(present.keys(), f"jobs[{index}]")
        if not CONDITIONS.isdisjoint(present):
            self.conditions.read(job, present)
        if CANCELLED_AFTER in present:
            cancelled_after(present)
        if self.later and DEMAND in present:
            read_job_demand(present, job.size)


def _read_jobs(objects: list[Any], reader: _JobReader) -> Sequence[Job]:
    """Return the jobs in the order in which they are submitted."""
    jobs: dict[str, Job] = {}
    for index, members in enumerate(objects):
        job = reader.read(index, members, jobs)
        if job is None:
            continue
        jobs[job.id] = _build_job_v5(members) if reader.later else job
    return tuple(sorted(jobs.values(), key=attrgetter("submit_time", "id")))


def _pack_jobs(text: bytes, elements: Sequence[Raw], reader: _JobReader) -> Sequence[Job]:
    """Read jobs too numerous to keep as objects, as `_read_jobs` does; `elements` are slices of the text, in order."""
    jobs, names = PackedJobs(text, _build_job_v5 if reader.later else _build_job), NameSet()
    for index, element in enumerate(elements):
        described = bytes(element)
        try:
            members = orjson.loads(described)
        except orjson.JSONDecodeError:
            reader.error(text)
            raise
        job = reader.read(index, members, names)
        if job is None:
            continue
        names.add(job.id)
        jobs.add(described, job, reader.profiles[job.profile].name)
    jobs.sort()
    return jobs


def _read_job(members: dict[str, Any], profiles: Mapping[str, Profile]) -> Job:
    """Return the job of an object; KeyError with the name of a member that is missing."""
    size, profile = members["res"], members["profile"]
    if type(size) is not int or size < 0:
        raise FieldError("res", f"must be a whole number of hosts from 0, not {shown(size)}")
    if type(profile) is not str or profile not in profiles:
        raise FieldError("profile", f"must name one of the profiles, not {shown(profile)}")
    parallel = profiles[profile]
    if isinstance(parallel, Parallel) and len(parallel.cpu) != size:
        raise FieldError("res", f"must be {len(parallel.cpu)}, as many as the hosts of profile {shown(profile)}")
    submit_time = members["subtime"]
    if type(submit_time) not in _NUMBERS or submit_time < 0:
        raise FieldError("subtime", f"must be a number of seconds from 0, not {shown(submit_time)}")
    if submit_time > LONGEST and is_too_late(submit_time):
        raise FieldError("subtime", f"{TOO_LATE} not {shown(submit_time)}")
    walltime = members.get("walltime", -1)
    if type(walltime) not in _NUMBERS or (walltime <= 0 and walltime != -1):
        raise FieldError(
            "walltime", f"must be a number of seconds greater than 0, or -1 for none, not {shown(walltime)}"
        )
    if 0 < walltime < SHORTEST:
        raise FieldError("walltime", f"must be at least {SHORTEST:g} s, Batsim's unit, not {shown(walltime)}")
    if walltime > LONGEST:
        raise FieldError("walltime", f"{TOO_LONG} not {shown(walltime)}; -1 is none")
    name = members["id"]
    if type(name) is not int:
        _check_name(name)
    demand = read_job_demand(members, size) if DEMAND in members else None
    return Job(str(name), submit_time, size, None if walltime == -1 else walltime, profile, members, demand)


def _build_job(members: dict[str, Any]) -> Job:
    """Return the job of a valid object."""
    walltime = members.get("walltime", -1)
    return Job(
        str(members["id"]),
        members["subtime"],
        members["res"],
        None if walltime == -1 else walltime,
        members["profile"],
        members,
        read_job_demand(members, members["res"]) if DEMAND in members else None,
    )


def _build_job_v5(members: dict[str, Any]) -> Job:
    """Return the job of a valid object of Batsim 5."""
    return _build_job(present_job(members))


def _check_name(name: object) -> None:
    if type(name) is not str or not name or "!" in name:
        raise FieldError("id", f"must be a whole number, or a text without '!', not {shown(name)}")
    if breaks_csv(name):
        raise FieldError("id", f"{NAME_RULE}, not {shown(name)}")
