"""A reader of accounting of PBS and Torque (server_priv/accounting): ended jobs become the records of a log.

The files of several days are one log. `pbs_fields` names the sources of the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Final

from batsched_py.reading.limits import NAME_RULE, breaks_csv
from batsched_py.text.display import displayed, shown
from batsched_py.traces.accounting_log import AccountingLog, EndedJob
from batsched_py.traces.column_use import ColumnUse
from batsched_py.traces.formats import PBS, ReadOptions, looks_like
from batsched_py.traces.pbs_fields import (
    ABORTED,
    DELETED,
    END,
    JOB_ID,
    NOT_OF_JOBS,
    RECORD,
    RERUN,
    STARTS,
    PbsError,
    PbsValues,
    read_values,
)
from batsched_py.traces.sacct_fields import WITHOUT
from batsched_py.traces.slurm_dependency import NO_DEPENDENCY, SlurmDependency, read_dependency
from batsched_py.traces.swf_log import UNKNOWN, SwfLog, SwfRecord
from batsched_py.traces.time_zone import time_zone

# The record of a job's end (E) has all that is needed. The other records of a job are counted as passed over, but they
# say what became of a job that has no end in the files: it was deleted before it started, or it has not ended. Such a
# job takes one of its records, so that each line is counted once.

#: Keys that become members of jobs.
MEMBERS: Final = ("user", "group", "account", "project", "queue")
#: The project of a job without one.
_NO_PROJECT: Final = "_pbs_project_default"
#: Other keys that are read -> their use.
_USES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("ctime", "qtime"), "submission time"),
    "start": "start",
    "end": "end",
    "Exit_status": "state",
    "depend": "dependency",
    "resources_used.walltime": "run time",
    "resources_used.mem": "used memory",
    "Resource_List.walltime": "requested time",
    **dict.fromkeys((f"Resource_List.{name}" for name in ("mem", "pmem")), "requested memory"),
    **dict.fromkeys(("exec_host", "exec_vnode", "total_execution_slots", "unique_node_count"), "used size"),
    **dict.fromkeys(
        (
            f"Resource_List.{name}"
            for name in ("ncpus", "nodect", "nodes", "neednodes", "select", "schedselect", "procs")
        ),
        "requested size",
    ),
}
#: Key -> the reason why it has no effect.
_EXPLAINED: Final = {
    "etime": "jobs may start from their submission on, also those that waited for a date or another job",
    "resvID": "hosts are not reserved: jobs of a reservation are like others",
    "Resource_List.ngpus": "hosts have no GPUs",
    "Resource_List.gpus": "hosts have no GPUs",
}
#: Maximum number of names of keys in one line.
_MOST_NAMES: Final = 12


def read(path: Path, options: ReadOptions) -> SwfLog:
    """Read accounting in CPUs or nodes. WorkloadError names the file, the line and the rule.

    A record is a job with an E record: the last one if it was run again. Its id is its number without the server; its
    user, group, account, project and queue, and the keys `keep`, in lower case, are members.
    """
    return _PbsReader(path, options).log()


class _WaitingJob:
    """The facts on a job without a record of its end."""

    __slots__ = ("deleted", "place", "queued", "started", "stopped", "values")

    def __init__(self, place: str, date: str) -> None:
        self.place, self.queued, self.deleted = place, date, ""
        self.started = self.stopped = False
        self.values = PbsValues({}, "")


class _PbsReader:
    """A reader of one log."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._log, self._options, self._by_node = AccountingLog(path, options), options, options.unit == "nodes"
        self._zone: tzinfo = time_zone(str(path), options.zone)
        self._keep = tuple(dict.fromkeys(options.keep))
        #: Id -> a job without a record of its end so far.
        self._waiting: dict[str, _WaitingJob] = {}
        #: Ids of jobs whose end was read.
        self._ended: set[str] = set()
        #: Id -> its list of dependencies, which the record of its submission has.
        self._depends: dict[str, str] = {}
        #: Keys of ended jobs, in their order.
        self._keys: dict[str, None] = {}

    def log(self) -> SwfLog:
        """Return the log. WorkloadError."""
        for line in self._log.lines():
            found = RECORD.fullmatch(line)
            if found is None:
                self._log.drop(f"must be date;type;id;text{looks_like(line, PBS)}")
                continue
            date, kind, name, text = found.groups()
            try:
                self._read(date, kind, name, text)
            except PbsError as error:
                self._log.drop(str(error))
        self._leave_out_waiting()
        use = self._use()
        assumed = [] if self._options.zone else [f"dates without an offset are in {self._zone}"]
        return self._log.log((*MEMBERS, *(name.lower() for name in self._keep)), use, assumed)

    def _read(self, date: str, kind: str, name: str, text: str) -> None:
        """Read a record. PbsError."""
        if kind in NOT_OF_JOBS:
            self._log.count("passed_over_events", self._log.place)
            return
        identity = JOB_ID.fullmatch(name)
        if identity is None:
            raise PbsError(f"the id of a job must be like 12.server or 12[3].server, not {shown(name)}")
        if identity[1].endswith("[]"):  # an array itself, whose tasks have records of their own
            self._log.count("passed_over_events", self._log.place)
        elif kind == END:
            self._log.add(self._job(identity[1], identity[2] or "", name, read_values(text)))
            self._ended.add(name)
            if (waiting := self._waiting.pop(name, None)) is not None:
                self._log.count("passed_over_events", waiting.place)
        elif kind == RERUN:
            self._log.count("dropped_attempt", self._log.place)
            if (waiting := self._waiting.get(name)) is not None:
                waiting.started = False
        else:
            self._remember(date, kind, name, text)

    def _remember(self, date: str, kind: str, name: str, text: str) -> None:
        """Keep what a record says of a job that may have no end in the files, and count it but for the first one."""
        if "depend=" in text and (depend := read_values(text).text("depend")):
            self._depends[name] = depend
        waiting = self._waiting.get(name)
        if waiting is not None or name in self._ended:
            self._log.count("passed_over_events", self._log.place)
        if name in self._ended:
            return
        if waiting is None:
            waiting = self._waiting[name] = _WaitingJob(self._log.place, date)
        if kind in STARTS:
            waiting.started = True
        elif kind in (DELETED, ABORTED):
            waiting.stopped = True
            waiting.deleted = date if kind == DELETED else ""
        if "ctime=" in text or "Resource_List." in text:
            waiting.values = read_values(text)

    def _job(self, name: str, site: str, identity: str, values: PbsValues) -> EndedJob:
        """Return the job of a record of its end. PbsError."""
        place = self._log.place
        submit, start, end = values.instant("ctime", "qtime"), values.instant("start"), values.instant("end")
        if submit is None or end is None:
            raise PbsError(f"has no {'ctime' if submit is None else 'end'}")
        run = values.duration("resources_used.walltime") or (0 if start is None else max(end - start, 0))
        deleted = (waiting := self._waiting.get(identity)) is not None and bool(waiting.deleted)
        record = self._record(values)._replace(run=run, status=_status(values.text("Exit_status"), deleted=deleted))
        if values.rest:
            self._log.notes.add(f"text that is no key=value has no effect, like {values.rest}", place)
        self._keys |= dict.fromkeys(values.pairs)
        self._note_explained(values, submit, place)
        dependency = self._dependency(values.text("depend") or self._depends.pop(identity, ""), place)
        members = self._members(values)
        return EndedJob(place, name, site, submit, start, end, record, members, dependency, withdrawn=deleted)

    def _record(self, values: PbsValues) -> SwfRecord:
        """Return the sizes and the request of a job. PbsError."""
        if self._by_node:
            requested, used = values.requested_nodes, values.used_nodes
        else:
            requested, used = values.requested_cpus, values.used_cpus
        request, total = values.duration("Resource_List.walltime"), values.kilobytes("Resource_List.mem")
        each, used_memory = values.kilobytes("Resource_List.pmem"), values.kilobytes("resources_used.mem")
        if total is not None and requested:
            each = -(-total // requested)
        return UNKNOWN._replace(
            used_processors=-1 if used is None else used,
            used_memory=-(-used_memory // used) if used_memory is not None and used else -1,
            requested_processors=-1 if requested is None else requested,
            requested_time=-1 if request is None else request,
            requested_memory=-1 if each is None else each,
        )

    def _members(self, values: PbsValues) -> Mapping[str, Any]:
        found = {name: text for name in MEMBERS if (text := values.text(name)) and text != _NO_PROJECT}
        for name in self._keep:
            if text := values.text(name):
                found[name.lower()] = text
        for name, text in found.items():
            if breaks_csv(text):
                raise PbsError(f"{displayed(name)} {NAME_RULE}")
        return found

    def _note_explained(self, values: PbsValues, submit: int, place: str) -> None:
        for key, reason in _EXPLAINED.items():
            text = values.text(key)
            if not text or text == "0":
                continue
            if key != "etime" or (values.instant("etime") or 0) > submit + 1:
                self._log.notes.add(f"{key} is not obeyed: {reason}", place)

    def _dependency(self, text: str, place: str) -> SlurmDependency:
        """Return the dependencies in a list such as `afterok:12.server:13.server`, and note what is not obeyed."""
        if not text:
            return NO_DEPENDENCY
        if not self._options.dependencies:
            self._log.notes.add(f"depend is not obeyed: {WITHOUT}", place)
            return NO_DEPENDENCY
        kinds = [part.split(":") for part in text.split(",")]
        numbers = ",".join(":".join([kind, *(one.partition(".")[0] for one in jobs)]) for kind, *jobs in kinds)
        found = read_dependency(numbers)
        if found.other:
            self._log.notes.add(f"a list of dependencies with {displayed(found.other)} is not obeyed", place)
        return found

    def _leave_out_waiting(self) -> None:
        """Count the jobs without a record of their end, each of which takes its first record."""
        for name, waiting in self._waiting.items():
            identity = JOB_ID.fullmatch(name)
            if waiting.started or not waiting.stopped or identity is None:
                self._log.count("dropped_going_on", waiting.place)
                continue
            job = self._withdrawn(identity[1], identity[2] or "", waiting)
            if job is None:
                self._log.count("dropped_never_ran", waiting.place)
            else:
                self._log.add(job)

    def _withdrawn(self, name: str, site: str, waiting: _WaitingJob) -> EndedJob | None:
        """Return a job that was deleted before it started; None if its records do not say when."""
        end = self._instant(waiting.deleted)
        try:
            submit = waiting.values.instant("ctime", "qtime") or self._instant(waiting.queued)
            record = self._record(waiting.values)._replace(status=5)
            members = self._members(waiting.values)
        except PbsError:
            return None
        if submit is None or end is None or end < submit:
            return None
        return EndedJob(waiting.place, name, site, submit, None, end, record, members, withdrawn=True)

    def _instant(self, date: str) -> int | None:
        """Return the date of a record in seconds since 1970."""
        try:
            return int(datetime.strptime(date, "%m/%d/%Y %H:%M:%S").replace(tzinfo=self._zone).timestamp())
        except ValueError:
            return None

    def _use(self) -> ColumnUse:
        """Return the use of the keys of ended jobs, and note those that are not read."""
        uses = {name: f"member {name.lower()}" for name in (*MEMBERS, *self._keep)} | dict(_USES)
        unread = tuple(key for key in self._keys if key not in uses)
        names = [displayed(key) for key in unread if key not in _EXPLAINED]
        if names:
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            self._log.notes.add(f"keys that are not read: {', '.join(names[:_MOST_NAMES])}{more}")
        return ColumnUse({key: uses[key] for key in self._keys if key in uses}, unread)


def _status(text: str, *, deleted: bool) -> int:
    """Return the status of a log from an exit status; a job whose user deleted it counts as cancelled."""
    return 5 if deleted else -1 if not text else int(text == "0")
