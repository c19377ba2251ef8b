"""Slurm's accounting in JSON, as `sacct --json` writes it: each job becomes a row with the columns of sacct.

Source: Slurm's plugins data_parser v0.0.39 to v0.0.42 (src/plugins/data_parser/*/parsers.c, JOB), and the older
openapi/dbv0.0.37 and dbv0.0.38.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec import Raw

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_content
from batsched_py.reading.json_document import parse_object, parse_outline, refuse_doubled
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import unknown
from batsched_py.traces.formats import ReadOptions
from batsched_py.traces.sacct_fields import ATTEMPTS, GOING_ON, SacctRow
from batsched_py.traces.sacct_reader import read_rows
from batsched_py.traces.sacct_source import RowContext, Wanted
from batsched_py.traces.swf_log import SwfLog

# Versions differ in the form of values, not in their places: a number that may be unset is {"set", "infinite",
# "number"} since v0.0.39, null or "Infinity" in mode "complex", and a plain number before; a state is a text until
# v0.0.39, and a list of a state and its flags since v0.0.40. Both forms of each value are accepted in all versions.
#
# TRES are lists of objects, with memory in MiB; they are written as the texts that sacct prints, so that the rules for
# its columns apply. Sizes that no member has (requested nodes, allocated CPUs) are those of the TRES.

_INFINITE: Final = "unlimited"
#: Members of a job in all versions.
_KNOWN: Final = frozenset({
    "account", "allocation_nodes", "array", "association", "block", "cluster", "comment", "constraints", "container",
    "derived_exit_code", "exit_code", "extra", "failed_node", "flags", "group", "het", "hold", "job_id",
    "kill_request_user", "licenses", "mcs", "name", "nodes", "partition", "priority", "qos", "qosreq", "required",
    "reservation", "restart_cnt", "script", "state", "stderr", "stderr_expanded", "stdin", "stdin_expanded", "stdout",
    "stdout_expanded", "steps", "submit_line", "time", "tres", "used_gres", "user", "wckey", "working_directory",
})  # fmt: skip
#: Those of which a column is made.
_IN_COLUMNS: Final = frozenset({
    "account", "allocation_nodes", "array", "association", "cluster", "constraints", "het", "job_id", "licenses",
    "name", "partition", "qos", "required", "reservation", "state", "steps", "submit_line", "time", "tres", "user",
})  # fmt: skip
#: Amounts among the TRES that are read.
_AMOUNTS: Final = frozenset({"cpu", "mem", "node", "gres", "license"})


class MemberError(ValueError):
    """A value of the wrong form; its text names the member and the rule."""


def read(path: Path, options: ReadOptions) -> SwfLog:
    """Read a file as `sacct_reader.read_rows` does, in CPUs if no unit is chosen."""
    unit = options.unit or ("nodes" if options.demands or options.slurm else "cpus")
    return read_rows(path, JsonRows, unit, options)


class JsonRows:
    """The jobs of one document as rows, numbered from 1.

    Attributes:
        header: the columns that the members of jobs have.
        dated: whether instants are dates that may lack an offset.
    """

    def __init__(self, path: Path, wanted: Wanted, context: RowContext) -> None:
        """Read the document. WorkloadError if it is none of sacct, or has no column for one that is wanted."""
        self._path, self._context = path, context
        others = [name for alternatives in wanted for name in alternatives if name in _DESCRIBE]
        self._columns = {**_COLUMNS, **{name: _DESCRIBE[name] for name in others}}
        self.dated = False
        self.header = tuple(self._columns)
        #: Names of members of jobs.
        self._members: set[str] = set()
        file, content = str(path), read_content(path, context.limits)
        document, self._text, elements = parse_outline(file, content, "jobs")
        if elements is None:
            rule = f"must be a list, not {shown(document['jobs'])}" if "jobs" in document else "is missing"
            raise WorkloadError(file, "jobs", f"{rule}: the output of sacct --json has it")
        if content.count(b'"jobs"') > 1:
            refuse_doubled(file, content)
        self._elements: Sequence[Raw] = elements
        for alternatives in wanted:
            if not any(name in self._columns for name in alternatives):
                rule = unknown(alternatives[0], [*_COLUMNS, *_DESCRIBE])
                raise WorkloadError(file, "", f"has no field {alternatives[0]}: {rule}")
        errors = document.get("errors")
        self._errors: Sequence[Any] = errors if isinstance(errors, list) else ()

    def __iter__(self) -> Iterator[SacctRow]:
        """Yield the row of each job that can be read."""
        for error in self._errors:
            text = error.get("description") or error.get("error") if isinstance(error, dict) else error
            self._context.note(0, f"sacct reported an error: {shown(text)}")
        for number, element in enumerate(self._elements, 1):
            job = self._decoded(element)
            try:
                if not isinstance(job, dict):
                    raise MemberError(f"must be an object, not {shown(job)}")
                if "state" not in job and "job_state" in job:
                    rule = "is of squeue or scontrol: sacct --json has the times at which jobs ended"
                    raise WorkloadError(str(self._path), self.place(number), rule)
                cells = {column: read_member(job) for column, read_member in self._columns.items()}
            except MemberError as error:
                self._context.drop(number, str(error))
                continue
            for name in sorted(job.keys() - _KNOWN):
                self._context.note(number, f"member {displayed(name)} of a job is unknown and has no effect")
            self._members |= job.keys()
            steps = job.get("steps")
            for _ in steps if isinstance(steps, list) else ():
                self._context.count("passed_over_steps", number)
            yield SacctRow(number, cells, self._context.zone)

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns, and of members of jobs that are in none of them."""
        return [*self.header, *sorted(self._members - _IN_COLUMNS)]

    def place(self, number: int) -> str:
        """Return the place of a row in messages."""
        return f"jobs[{number - 1}]" if number else "errors"

    def _decoded(self, element: Raw) -> Any:
        try:
            return orjson.loads(memoryview(element))
        except orjson.JSONDecodeError:
            parse_object(str(self._path), self._text)
            raise


def _part(job: Mapping[str, Any], *path: str) -> Any:
    """Return a member of nested objects; None if it, or an object around it, is missing or null."""
    value: Any = job
    for position, name in enumerate(path):
        if value is None:
            return None
        if not isinstance(value, dict):
            raise MemberError(f"{'.'.join(path[:position])} must be an object, not {shown(value)}")
        value = value.get(name)
    return value


def _number(job: Mapping[str, Any], *path: str) -> str:
    """Return a number as sacct prints it: "" for an unset one."""
    value = _part(job, *path)
    if isinstance(value, dict):
        if value.get("infinite") is True:
            return _INFINITE
        value = value.get("number") if value.get("set", True) else None
    if value is None:
        return ""
    if value in ("Infinity", "infinity"):
        return _INFINITE
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise MemberError(f"{'.'.join(path)} must be a whole number, not {shown(value)}")
    return str(int(value))


def _text(job: Mapping[str, Any], *path: str) -> str:
    value = _part(job, *path)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise MemberError(f"{'.'.join(path)} must be a text, not {shown(value)}")
    return str(value)


def _texts(job: Mapping[str, Any], *path: str) -> list[str]:
    """Return the texts of a list; a single text counts as one."""
    value = _part(job, *path)
    values = [] if value is None else value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in values):
        raise MemberError(f"{'.'.join(path)} must be a text or a list of texts, not {shown(value)}")
    return values


def _state(job: Mapping[str, Any]) -> str:
    """Return the state, or the flag that says that this is not the end of the job."""
    states = _texts(job, "state", "current")
    if not states:
        raise MemberError("state.current is missing")
    decisive = [state for kind in (ATTEMPTS, GOING_ON) for state in states if state in kind]
    return (decisive or states)[0]


def _job_id(job: Mapping[str, Any]) -> str:
    """Return the id as sacct prints it: 12, 12_3, 12_[4-9%2], 12+1."""
    array, task = _number(job, "array", "job_id"), _number(job, "array", "task_id")
    leader, offset = _number(job, "het", "job_id"), _number(job, "het", "job_offset")
    if array not in ("", "0"):
        if task.isdigit():
            return f"{array}_{task}"
        if tasks := _text(job, "array", "task"):
            limit = _number(job, "array", "limits", "max", "running", "tasks")
            limit = f"%{limit}" if limit.isdigit() and int(limit) and "%" not in tasks else ""
            return f"{array}_[{tasks.strip('[]')}{limit}]"
    if leader not in ("", "0") and offset.isdigit():
        return f"{leader}+{offset}"
    return _number(job, "job_id")


def _tres(job: Mapping[str, Any], which: str) -> Mapping[str, int]:
    """Return name -> count of the amounts that are read, which are known."""
    found: dict[str, int] = {}
    listed = _part(job, "tres", which)
    if listed is not None and not isinstance(listed, list):
        raise MemberError(f"tres.{which} must be a list, not {shown(listed)}")
    for one in listed or ():
        kind, name = _text({"tres": one}, "tres", "type"), _text({"tres": one}, "tres", "name")
        count = _number({"tres": one}, "tres", "count")
        if kind in _AMOUNTS and count.isdigit():
            found[f"{kind}/{name}" if name else kind] = int(count)
    return found


def _tres_text(which: str) -> Callable[[Mapping[str, Any]], str]:
    def read_tres(job: Mapping[str, Any]) -> str:
        amounts = _tres(job, which)
        return ",".join(f"{name}={count}{'M' if name == 'mem' else ''}" for name, count in amounts.items())

    return read_tres


def _amount(which: str, name: str) -> Callable[[Mapping[str, Any]], str]:
    def read_amount(job: Mapping[str, Any]) -> str:
        count = _tres(job, which).get(name)
        return "" if count is None else str(count)

    return read_amount


def _at(*path: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda job: _text(job, *path)


def _count(*path: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda job: _number(job, *path)


#: Column -> the reader of its cell.
_COLUMNS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "jobid": _job_id,
    "cluster": _at("cluster"),
    "user": lambda job: _text(job, "user") or _text(job, "association", "user"),
    "account": lambda job: _text(job, "account") or _text(job, "association", "account"),
    "partition": _at("partition"),
    "qos": _at("qos"),
    "jobname": _at("name"),
    "state": _state,
    "submit": _count("time", "submission"),
    "eligible": _count("time", "eligible"),
    "start": _count("time", "start"),
    "end": _count("time", "end"),
    "elapsedraw": _count("time", "elapsed"),
    "suspended": _count("time", "suspended"),
    "timelimitraw": _count("time", "limit"),
    "reqcpus": _count("required", "CPUs"),
    "alloccpus": _amount("allocated", "cpu"),
    "reqnodes": _amount("requested", "node"),
    "allocnodes": _count("allocation_nodes"),
    "reqtres": _tres_text("requested"),
    "alloctres": _tres_text("allocated"),
    "constraints": _at("constraints"),
    "licenses": _at("licenses"),
    "reservation": _at("reservation", "name"),
    "submitline": _at("submit_line"),
}
#: Descriptive column -> the reader of its cell, for those that are kept.
_DESCRIBE: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "nodelist": _at("nodes"),
    "failednode": _at("failed_node"),
    "group": _at("group"),
    "wckey": _at("wckey", "wckey"),
    "priority": _count("priority"),
    "restarts": _count("restart_cnt"),
    "workdir": _at("working_directory"),
    "comment": _at("comment", "job"),
    "flags": lambda job: ",".join(_texts(job, "flags")),
}
