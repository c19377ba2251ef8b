"""A reader of the instance events of Google's cluster data of 2019: each run of a task is a row of a table.

Source: clusterdata_trace_format_v3.proto of https://github.com/google/cluster-data (InstanceEvent), in lines of JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.text.display import displayed, shown
from batsched_py.traces.formats import ReadOptions
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.table_batch import TableBatch
from batsched_py.traces.table_columns import TableColumns, read_columns
from batsched_py.traces.table_jobs import TableJobs
from batsched_py.traces.table_meaning import TableMeaning

# An instance of a job, a task, is submitted, scheduled and ends; after an eviction or a failure it may be submitted
# again. Each line is a row: that of the end of a run is a job, unless a later run of the task follows. The lines before
# it are ignored and counted. Instances of alloc sets are reservations: tasks run in them, but they are no work.

_SUBMIT, _SCHEDULE = 0, 3
#: Type of an event that ends a run, or a wait -> the state of the job.
_ENDS: Final[Mapping[int, str]] = {4: "evicted", 5: "failed", 6: "finished", 7: "killed", 8: "lost"}
#: The types by number.
_TYPES: Final = (
    *("SUBMIT", "QUEUE", "ENABLE", "SCHEDULE", "EVICT", "FAIL", "FINISH", "KILL", "LOST", "UPDATE_PENDING"),
    "UPDATE_RUNNING",
)
_NUMBERS: Final[Mapping[Any, int]] = {
    **{name: number for number, name in enumerate(_TYPES)},
    **{str(number): number for number in range(len(_TYPES))},
    **{number: number for number in range(len(_TYPES))},
}
#: Fields of an event that become members with `--keep`, and those that are not read.
_KEPT: Final = ("priority", "scheduling_class", "machine_id")
_UNREAD: Final = (
    *("missing_type", "alloc_collection_id", "alloc_instance_index", "resource_request", "constraint"),
    *("collection_type",),
)
_READ: Final = ("time", "type", "collection_id", "instance_index")
_KNOWN: Final = frozenset({*_READ, *_KEPT, *_UNREAD})
_HEADER: Final = ("task", "SUBMIT", "SCHEDULE", "end", "type", "tasks", *_KEPT, *_UNREAD[:-1])
_COLUMNS: Final = "id=task,submit=SUBMIT:us,start=SCHEDULE:us,end=end:us,state=type,size=tasks"
_ALLOC_SET: Final = frozenset({1, "1", "ALLOC_SET"})
#: The instant of what happened after the trace: the largest signed integer of 64 bits. 0 is before the trace.
_AFTER: Final = 2**63 - 1
#: Number of cells of a row before the fields that may be kept.
_FIRST: Final = 6
#: Number of digits that a number cannot have.
_DIGITS: Final = 20
#: Number of rows that are converted at a time.
_ROWS: Final = 4096


class _TaskEvent(NamedTuple):
    """An event of a task: its time in microseconds, its type, the number of its file, its line, and kept fields."""

    time: int
    type: int
    file: int
    line: int
    kept: tuple[str, ...]


def read(path: Path, options: ReadOptions) -> SwfLog:
    """Read tasks, each of which has a host. WorkloadError names the file, the line and the rule."""
    if options.demands:
        raise WorkloadError(str(path), "--demands", "has no effect: amounts are parts of the largest machine")
    return _EventReader(path, options).log()


class _EventReader:
    """A reader of the files of one log."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        columns = TableColumns(read_columns([_COLUMNS]), preset="google-2019", zero_is_unknown=True)
        self._files, self._options = (path, *options.further), options
        self._jobs = TableJobs(path, options, TableMeaning(path, options, columns, "fields"), "line")
        self._line = 0
        #: The events of each task: files are not in the order of time.
        self._events: dict[tuple[str, str], list[_TaskEvent]] = {}
        #: The rows of the runs of tasks by the number of the file of their last event, and the lines of these.
        self._rows: list[tuple[list[Sequence[str]], list[int]]] = [([], []) for _ in self._files]

    def log(self) -> SwfLog:
        """Return the log. WorkloadError."""
        for file, path in enumerate(self._files):
            self._jobs.begin(path, _HEADER, "fields")
            self._read(path, file)
        for (collection, index), events in self._events.items():
            events.sort(key=attrgetter("time"))
            self._add_runs(f"{collection}-{index}", events)
        for path, (rows, lines) in zip(self._files, self._rows, strict=True):
            self._jobs.begin(path, _HEADER, "fields")
            order = sorted(range(len(lines)), key=lines.__getitem__)
            for begin in range(0, len(order), _ROWS):
                chosen = order[begin : begin + _ROWS]
                cells = list(zip(*(rows[at] for at in chosen), strict=True))
                self._jobs.add(TableBatch(cells, [lines[at] for at in chosen]))
        return self._jobs.log()

    def _read(self, path: Path, file: int) -> None:
        self._line = 0
        with reported(path, WorkloadError, lambda: f"line {self._line + 1}"):
            for content in read_lines(path, self._options.limits):
                self._line += 1
                if not content.strip():
                    continue
                try:
                    self._take(orjson.loads(content), file)
                except orjson.JSONDecodeError as error:
                    self._jobs.drop(f"is not JSON: {error.msg.partition(': line')[0]}", self._line)
                except ValueError as error:
                    self._jobs.drop(str(error), self._line)

    def _take(self, event: Any, file: int) -> None:
        """Add an event. ValueError names the field and the rule."""
        if not isinstance(event, dict):
            raise ValueError(f"must be an object, not {shown(event)}")
        for name in event.keys() - _KNOWN:
            self._jobs.note(f"field {displayed(name)} of an event is unknown and has no effect", self._line)
        if event.get("collection_type") in _ALLOC_SET:
            self._jobs.count("passed_over_events", self._jobs.place(self._line))
            return
        given = event.get("type", 0)  # the value 0 is left out where the format allows it
        if not isinstance(given, str | int) or given not in _NUMBERS:
            raise ValueError(f"type must be one of {', '.join(_TYPES)}, or its number, not {shown(given)}")
        kept = tuple(str(event.get(name, "")) for name in _KEPT)
        found = _TaskEvent(_whole(event, "time"), _NUMBERS[given], file, self._line, kept)
        task = str(_whole(event, "collection_id")), str(_whole(event, "instance_index"))
        self._events.setdefault(task, []).append(found)

    def _add_runs(self, name: str, events: Sequence[_TaskEvent]) -> None:
        """Add the last run of a task, and count its other events."""
        submit, start, end = "", "", ""
        last, state = events[0], ""
        for position, event in enumerate(events):
            if position:
                ended = bool(state) and event.type in {_SUBMIT, _SCHEDULE}
                self._count("dropped_attempt" if ended and start else "passed_over_events", last)
                if ended:
                    submit, start, end, state = "", "", "", ""
            instant = "" if event.time in {0, _AFTER} else str(event.time)
            if event.type == _SUBMIT:
                submit = instant
            elif event.type == _SCHEDULE:
                start = instant
            elif event.type in _ENDS:
                end, state = instant, _ENDS[event.type]
            last = event
        rows, lines = self._rows[last.file]
        unread = ("",) * (len(_HEADER) - _FIRST - len(_KEPT))
        rows.append((name, submit, start, end, state or "running", "1", *last.kept, *unread))
        lines.append(last.line)

    def _count(self, rule: str, event: _TaskEvent) -> None:
        self._jobs.count(rule, self._jobs.place(event.line, self._files[event.file]))


def _whole(event: Mapping[str, Any], name: str) -> int:
    """Return a whole number, which JSON of BigQuery has as a text. ValueError."""
    found = event.get(name, 0)
    if isinstance(found, str) and len(found) < _DIGITS and found.isascii() and found.isdigit():
        return int(found)
    if type(found) is not int or not 0 <= found <= _AFTER:
        raise ValueError(f"{name} must be a whole number, not {shown(found)}")
    return found
