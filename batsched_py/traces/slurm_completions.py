"""Slurm's log of completed jobs, as its plugin jobcomp/filetxt writes it: each line becomes a row with sacct's columns.

Source: Slurm, src/plugins/jobcomp/filetxt/jobcomp_filetxt.c, and the older versions of its format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.text.display import displayed
from batsched_py.text.wording import unknown
from batsched_py.traces.formats import JOBCOMP, ReadOptions, looks_like
from batsched_py.traces.sacct_fields import SacctRow
from batsched_py.traces.sacct_reader import read_rows
from batsched_py.traces.sacct_source import RowContext, Wanted
from batsched_py.traces.swf_log import SwfLog

# A line is a sequence of Key=value without quotes, and names of jobs and folders may have blanks, so a value extends to
# the next key that the format has. A line in which a key is there twice, as a name can cause it, is not read.

#: Key -> column of sacct.
_COLUMNS: Final[Mapping[str, str]] = {
    "JobId": "jobid", "UserId": "user", "GroupId": "group", "Name": "jobname", "JobState": "state",
    "Partition": "partition", "TimeLimit": "timelimit", "StartTime": "start", "EndTime": "end",
    "NodeList": "nodelist", "NodeCnt": "allocnodes", "ProcCnt": "alloccpus", "WorkDir": "workdir",
    "ReservationName": "reservation", "Tres": "reqtres", "Gres": "reqgres", "Account": "account", "QOS": "qos",
    "WcKey": "wckey", "Cluster": "cluster", "SubmitTime": "submit", "EligibleTime": "eligible",
    "DerivedExitCode": "derivedexitcode", "ExitCode": "exitcode",
}  # fmt: skip
#: Keys that make the id of a task of an array, and of a component; they had another name until Slurm 18.08.
_ARRAY: Final = ("ArrayJobId", "ArrayTaskId")
_COMPONENT: Final = (("HetJobId", "HetJobOffset"), ("PackJobId", "PackJobOffset"))
_KEYS: Final = (*_COLUMNS, *_ARRAY, *(key for keys in _COMPONENT for key in keys))
_NEXT_KEY: Final = re.compile(rf"(?:^| )({'|'.join(_KEYS)})=")
#: A key that this program does not know, in the value of one whose values have no blanks.
_UNKNOWN_KEY: Final = re.compile(r" ([A-Z]\w{1,40})=")
#: Keys whose values may have blanks.
_FREE: Final = frozenset({"jobname", "workdir"})
#: A name with its number, as in ada(1000).
_NUMBERED: Final = re.compile(r"(.*)\(\d{1,15}\)", re.ASCII)
_NOTHING: Final = frozenset({"(null)", "unknown"})
#: Columns that Tres has, too -> the name of the amount.
_SIZES: Final = {"reqcpus": "cpu", "reqnodes": "node"}
_HEADER: Final = (*_COLUMNS.values(), *_SIZES)


def read(path: Path, options: ReadOptions) -> SwfLog:
    """Read a file as `sacct_reader.read_rows` does, in CPUs if no unit is chosen."""
    unit = options.unit or ("nodes" if options.demands or options.slurm else "cpus")
    return read_rows(path, CompletionRows, unit, options)


class CompletionRows:
    """The lines of one file as rows.

    Attributes:
        header: the columns that lines may have.
        dated: whether instants are dates that may lack an offset.
    """

    def __init__(self, path: Path, wanted: Wanted, context: RowContext) -> None:
        """Set the file. WorkloadError for a column that is wanted and does not exist."""
        self._path, self._context, self._line = path, context, 0
        self.dated = True
        self.header: Sequence[str] = _HEADER
        #: Columns that a line has, and keys that are unknown.
        self._names: dict[str, None] = {}
        for alternatives in wanted:
            if not any(name in _HEADER for name in alternatives):
                rule = f"has no field {alternatives[0]}: {unknown(alternatives[0], _HEADER)}"
                raise WorkloadError(str(path), "", rule)

    def __iter__(self) -> Iterator[SacctRow]:
        """Yield the rows of lines that are not blank."""
        with reported(self._path, WorkloadError, lambda: f"line {self._line + 1}"):
            for content in read_lines(self._path, self._context.limits):
                self._line += 1
                text = content.decode(errors="replace").strip()
                if text and (cells := self._cells(text)) is not None:
                    yield SacctRow(self._line, cells, self._context.zone)

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns that lines have, and of unknown keys."""
        return list(self._names)

    def place(self, number: int) -> str:
        """Return the place of a row in messages."""
        return f"line {number}"

    def _cells(self, text: str) -> dict[str, str] | None:
        """Return the cells of a line; None if it cannot be read."""
        before, *pieces = _NEXT_KEY.split(text)
        keys, values = pieces[::2], [value.strip() for value in pieces[1::2]]
        if before or not keys or keys[0] != "JobId":
            self._context.drop(self._line, f"must begin with JobId={looks_like(text, JOBCOMP)}")
            return None
        if len(set(keys)) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            self._context.drop(self._line, f"has {twice} twice, as a name with blanks may cause")
            return None
        found = dict(zip(keys, values, strict=True))
        cells = {column: self._cell(column, found[key]) for key, column in _COLUMNS.items() if key in found}
        amounts = dict(pair.partition("=")[::2] for pair in cells.get("reqtres", "").split(","))
        cells |= {column: amounts.get(name, "") for column, name in _SIZES.items()}
        cells["jobid"] = _job_id(found)
        self._names |= dict.fromkeys(cells)
        return cells

    def _cell(self, column: str, value: str) -> str:
        if column not in _FREE and (other := _UNKNOWN_KEY.search(value)):
            self._context.note(self._line, f"{displayed(other[1])} is unknown and has no effect")
            self._names[other[1]] = None
            value = value[: other.start()].strip()
        if column in {"user", "group"} and (numbered := _NUMBERED.fullmatch(value)):
            return numbered[1]
        return "" if value in _NOTHING else value


def _job_id(found: Mapping[str, str]) -> str:
    """Return the id as sacct prints it."""
    array, task = (found.get(key, "") for key in _ARRAY)
    if array and task:
        return f"{array}_{task}"
    for leader, offset in _COMPONENT:
        if found.get(leader) and found.get(offset):
            return f"{found[leader]}+{found[offset]}"
    return found["JobId"]
