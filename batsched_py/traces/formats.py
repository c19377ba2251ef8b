"""The formats of files of jobs: a row for each, with the description of its first line, its reader and its writer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.model.workload import Workload
from batsched_py.named import by_name
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.traces.lease_request import LeaseTrace
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.table_columns import TableColumns
from batsched_py.traces.table_presets import preset_of

# Readers and this table need each other: the table names the reader of a format, and a reader names the other format
# that a file without any sense for it has. Rows therefore name modules, which are imported when they are used, as those
# of commands and algorithms are.

#: What a host of a workload represents, in logs with sizes in both.
Unit = Literal["cpus", "nodes"]
#: The content of a file: a log is cleaned before it becomes a workload.
Content = SwfLog | Workload | LeaseTrace

#: The first bytes of a file in Parquet.
PARQUET_MAGIC: Final = "PAR1"
#: Usual delimiters in the output of sacct: that of --parsable2, and those of spreadsheets.
DELIMITERS: Final = "|;\t,"
#: Number of fields of a line of a log in the Standard Workload Format.
_FIELDS: Final = 18
#: A member of a workflow of WfCommons, and one of a workload of Batsim, which may have the former, too.
_WORKFLOW: Final = re.compile(r'"(schemaVersion|workflow)"\s*:')
_WORKLOAD: Final = re.compile(r'"(nb_res|jobs|profiles)"\s*:')
#: A member of the document of `sacct --json`, and one of a workload of Batsim, whose jobs may have any members.
_SLURM_JOB: Final = re.compile(r'"(allocation_nodes|derived_exit_code|data_parser|openapi/dbv[\d.]+)"')
_BATSIM_JOB: Final = re.compile(r'"(nb_res|profiles|profile|subtime)"\s*:')
#: Members of a job of Philly, and of an event of Google's cluster data.
_PHILLY_JOB: Final = re.compile(r'"(attempts|submitted_time)"\s*:')
_GOOGLE_EVENT: Final = re.compile(r'"(collection_id|instance_index|type)"\s*:')
_GOOGLE_NAMES: Final = 3
_PBS: Final = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z];", re.ASCII)
_LSF: Final = ('"JOB_FINISH" ', '"JOB_RESIZE" ', '"EVENT_ADRSV_FINISH" ')
#: Names that the header of sacct has in any case: with a usual delimiter, and with another one, as texts have blanks.
_HEADER: Final = (frozenset({"jobid"}), frozenset({"jobid", "state"}))
#: What is between two names of fields.
_BETWEEN: Final = re.compile(r"(?<=[\w\"])[^\w]+(?=[\w\"])")
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)
#: Maximum number of characters of a line that are checked.
_MOST: Final = 10_000


class ReadOptions(Struct, frozen=True):
    """Choices for reading a file, of which each format uses those that apply to it.

    Attributes:
        limits: the limits of the content.
        unit: meaning of a host of the workload, for formats with several sizes; None for the first that it has.
        keep: fields that become members of the jobs.
        strict: whether a row that cannot be read is an error; otherwise it is left out and counted.
        starttime: date of the workload's start, if requests have dates.
        dependencies: whether preceding jobs are obeyed, and need no note.
        demands: whether jobs request parts of hosts, if the file has such amounts.
        slurm: whether jobs have the member `slurm`, in Slurm's accounting.
        columns: the columns of a table of jobs; None for those of the preset that its names identify.
        zone: name of the time zone of dates without an offset; "" for UTC, or that of the preset of a table of jobs.
        further: the other files of the log, in order, for formats that may have several.
    """

    limits: Limits = LIMITS
    unit: Unit | None = None
    keep: tuple[str, ...] = ()
    strict: bool = False
    starttime: datetime | None = None
    dependencies: bool = False
    demands: bool = False
    slurm: bool = False
    columns: TableColumns | None = None
    zone: str = ""
    further: tuple[Path, ...] = ()


class WriteOptions(Struct, frozen=True):
    """Choices for writing a file: its description, and the protocol of the Batsim that reads it."""

    description: str = ""
    protocol: str = "v4"


class Format(Struct, frozen=True):
    """A format of files.

    Attributes:
        name: name in options.
        description: description in messages.
        content: the class of the content; None if other programs than `convert` read it.
        sniff: returns whether the first line of a file that is not blank, without outer blanks, begins this format;
            instead of a line, a JSON file has its beginning.
        module: module in this package with `read(path, options)`, and `write(path, content, options)` if `convert`
            writes the format.
        endings: endings of names of pipes, whose content cannot be read twice.
        written: ending of the names of files that `convert` writes in this format; "" if it is no choice.
        default_unit: meaning of a host of the workload if no other is chosen; None if there is no choice.
        dated: whether `--zone` applies to dates without an offset.
        joined: whether several files, such as those of days, may be one log.
    """

    name: str
    description: str
    content: type[SwfLog] | type[Workload] | type[LeaseTrace] | None
    sniff: Callable[[str], bool]
    module: str = ""
    endings: tuple[str, ...] = ()
    written: str = ""
    default_unit: Unit | None = None
    dated: bool = False
    joined: bool = False

    def read(self, path: Path, options: ReadOptions) -> Content:
        """Return the content of a file. WorkloadError names the file, the place and the rule."""
        if options.unit is not None and self.default_unit is None:
            raise WorkloadError(str(path), "unit", f"has no effect on {self.description}")
        content: Content = self._module.read(path, options)
        return content

    def write(self, path: Path, content: Workload | LeaseTrace, options: WriteOptions) -> None:
        """Write a file completely or not at all. WorkloadError names what the format cannot express."""
        self._module.write(path, content, options)

    @property
    def _module(self) -> Any:
        return import_module(f"batsched_py.traces.{self.module}")


def _is_swf(line: str) -> bool:
    pieces = line.split()
    numbers = len(pieces) >= _FIELDS and all(map(_NUMBER.fullmatch, pieces[:_FIELDS]))
    return numbers or (line.startswith(";") and not delimiter_of(line))


def _is_sacct_json(line: str) -> bool:
    first = _SLURM_JOB.search(line) if line.startswith("{") else None
    return first is not None and not _BATSIM_JOB.search(line[: first.start()])


def _is_philly(line: str) -> bool:
    return line.startswith("[") and _PHILLY_JOB.search(line) is not None


def _is_google(line: str) -> bool:
    names = {found[1] for found in _GOOGLE_EVENT.finditer(line)} if line.startswith("{") else set()
    return len(names) == _GOOGLE_NAMES and not _BATSIM_JOB.search(line)


def _is_wfformat(line: str) -> bool:
    first = _WORKFLOW.search(line) if line.startswith("{") else None
    return first is not None and not _WORKLOAD.search(line[: first.start()])


def delimiter_of(line: str) -> str:
    """Return the delimiter of the field names in the first line of sacct's output; "" for any other line.

    It is one of DELIMITERS, or any text of other characters than those of names: that of --delimiter.
    """
    if "jobid" not in line.casefold():
        return ""
    others = {between.strip('"') for between in _BETWEEN.findall(line)}
    for delimiter in (*DELIMITERS, *others) if len(others) == 1 else DELIMITERS:
        names = [name.strip().strip('"').casefold() for name in line.split(delimiter)]
        if len(names) > 1 and _HEADER[delimiter not in DELIMITERS] <= set(names) and "job_id" not in names:
            return delimiter
    return ""


JSON: Final = Format("json", "JSON", Workload, lambda line: line.startswith(("{", "[")), "batsim_json", (".json",))
LWF: Final = Format(
    "lwf", "XML, as a lease workload", LeaseTrace, lambda line: line.startswith("<"),
    "lwf", (".lwf", ".xml", ".lwf.gz", ".xml.gz"), ".lwf",
)  # fmt: skip
SWF: Final = Format("swf", "a log in the Standard Workload Format", SwfLog, _is_swf, "swf")
SACCT: Final = Format(
    "sacct", "the output of sacct", SwfLog, lambda line: bool(delimiter_of(line)), "sacct",
    default_unit="cpus", dated=True, joined=True,
)  # fmt: skip
SACCT_JSON: Final = Format(
    "sacct-json", "the output of sacct --json", SwfLog, _is_sacct_json, "sacct_json",
    default_unit="cpus", joined=True,
)  # fmt: skip
JOBCOMP: Final = Format(
    "jobcomp", "Slurm's log of completed jobs", SwfLog,
    lambda line: line.startswith("JobId=") and " UserId=" in line, "slurm_completions",
    default_unit="cpus", dated=True, joined=True,
)  # fmt: skip
PBS: Final = Format(
    "pbs", "accounting of PBS", SwfLog, lambda line: _PBS.match(line) is not None, "pbs_log",
    default_unit="cpus", dated=True, joined=True,
)  # fmt: skip
LSF: Final = Format(
    "lsf", "accounting of LSF", SwfLog, lambda line: line.startswith(_LSF), "lsf_log",
    default_unit="cpus", joined=True,
)  # fmt: skip
#: The formats of Slurm's accounting.
SLURM_FORMATS: Final = (SACCT, SACCT_JSON, JOBCOMP)
CSV: Final = Format(
    "csv", "a table of jobs with named columns", SwfLog, lambda line: preset_of(line) is not None, "table_log",
    dated=True, joined=True,
)  # fmt: skip
PARQUET: Final = Format(
    "parquet", "a table of jobs in Parquet", SwfLog, lambda line: line.startswith(PARQUET_MAGIC), "parquet_table",
    dated=True, joined=True,
)  # fmt: skip
PHILLY: Final = Format(
    "philly", "the jobs of Microsoft's cluster Philly", SwfLog, _is_philly, "philly_log", dated=True,
)  # fmt: skip
GOOGLE: Final = Format(
    "google-2019", "instance events of Google's cluster data of 2019", SwfLog, _is_google, "google_events",
    joined=True,
)  # fmt: skip
#: The formats whose columns have any names.
TABLES: Final = (CSV, PARQUET)
WFFORMAT: Final = Format(
    "wfformat", "a workflow of WfCommons", Workload, _is_wfformat, "wfcommons", default_unit="nodes"
)  # fmt: skip

#: The formats, in the order in which the first line of a file is compared with them.
_FORMATS: Final = (
    PARQUET,
    WFFORMAT,
    SACCT_JSON,
    PHILLY,
    GOOGLE,
    JSON,
    LWF,
    PBS,
    LSF,
    JOBCOMP,
    SWF,
    SACCT,
    CSV,
    Format("table", "a table of Batsim's jobs", None, lambda line: "job_id" in line.split(",")),
)

#: Name -> format.
FORMATS: Final[Mapping[str, Format]] = by_name("_FORMATS", _FORMATS)
#: The names of the formats of which workloads are made.
INPUTS: Final = tuple(name for name, form in FORMATS.items() if form.content is SwfLog or form is WFFORMAT)


def format_of_line(line: str) -> Format | None:
    """Return the format of a file from its first line that is not blank; None if it is unknown."""
    text = line.strip()[:_MOST]
    return next((form for form in _FORMATS if form.sniff(text)), None)


def format_of(path: Path, limits: Limits = LIMITS) -> Format | None:
    """Return the format of a file; None if it is unknown. WorkloadError if it cannot be read."""
    begin = ""
    with reported(path, WorkloadError, lambda: "line 1"):
        for line in read_lines(path, limits):
            begin += line.decode(errors="replace").strip()
            if begin and (not begin.startswith(("{", "[")) or len(begin) > _MOST):
                break
    return format_of_line(begin) if begin else None


def find_format(path: Path, limits: Limits = LIMITS) -> Format:
    """Return the format in which a file is to be read, from its content or the name of a pipe; SWF if it is unknown.

    WorkloadError if the file cannot be read.
    """
    if path.is_file():
        found = format_of(path, limits)
        return SWF if found is None or found.content is None else found
    return next((form for form in _FORMATS if path.name.endswith(form.endings)), SWF)


def format_to_write(path: Path) -> Format:
    """Return the format in which a file of this name is written: JSON unless its ending is that of another one."""
    return next((form for form in _FORMATS if form.written and path.name.endswith(form.written)), JSON)


def looks_like(line: str, expected: Format) -> str:
    """Return a suffix for the error about a line if it has another format than the expected one; "" otherwise."""
    found = format_of_line(line)
    if found is None and expected is SWF and any(mark in line for mark in DELIMITERS):
        return "; the first line of sacct's output names the field JobID; --columns says what those of a table mean"
    return "" if found in (None, expected) else f"; the file looks like {found.description}"
