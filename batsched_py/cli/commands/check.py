"""`batsched-py check`: rows of results with contradictory numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click
import orjson
from msgspec import Struct
from rich import box
from rich.table import Table
from rich.text import Text

from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.output_paths import check_apart, check_writable
from batsched_py.cli.shared.parameters import PATH, flag, option
from batsched_py.cli.shared.runs import hosts_option, paths_argument, warn_if_partial, write_file
from batsched_py.cli.shared.terminal import put, say_all
from batsched_py.files.table_file import csv_rows
from batsched_py.reporting.schedules.consistency import find_contradictions
from batsched_py.reporting.schedules.contradictions import Contradiction, Contradictions
from batsched_py.reporting.schedules.run_location import distinct_names, named_path
from batsched_py.reporting.schedules.run_reader import files_of, read_schedule
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

#: Exit code if there are contradictions.
CONTRADICTORY: Final = 1
#: Columns of CSV, and members of JSON.
_COLUMNS: Final = ("run", "kind", "line", "job_id", "what")


class CheckRequest(Struct, frozen=True):
    """The options of `check`."""

    paths: tuple[Path, ...]
    form: str | None
    output: Path | None
    most: int
    compute_sharing: bool
    hosts: int | None

    @property
    def wanted_form(self) -> str:
        """The format given by --format, or by the file's ending; otherwise a table."""
        by_ending = {".csv": "csv", ".json": "json"}.get("" if self.output is None else self.output.suffix)
        return self.form or by_ending or "table"


class CheckedRun(Struct, frozen=True):
    """A checked run: its name, the number of its jobs, and its contradictions."""

    name: str
    jobs: int
    found: Contradictions


@typed_command()
@paths_argument
@option(
    "--format form",
    None,
    "A table, or a row or an object for each contradiction. Default: by the extension of FILE, else table.",
    type=click.Choice(["table", "csv", "json"]),
)
@option("-o --output", "FILE", "Write to FILE instead.", type=PATH)
@option("--count most", "N", "Rows of each kind that the table shows; CSV and JSON have all.", type=int, default=10)
@flag("--enable-compute-sharing compute_sharing", "Jobs were allowed to share hosts. Default: as the run's files say.")
@hosts_option
def command(request: CheckRequest) -> int:
    """List rows of results that contradict themselves or others.

    A PATH is a _jobs.csv file, the prefix given to -e, a folder with one such file, or a log (SWF, or the output
    of sacct --parsable2). The exit code is 0 if there are no contradictions, 1 if there are some.
    """
    inputs = [("PATH", file) for path in request.paths for file in files_of(path)]
    check_apart(list(dict.fromkeys(inputs)), [("-o", request.output)])
    check_writable([request.output])
    runs = _check(request)
    if request.wanted_form == "csv":
        _put(request.output, csv_rows([_COLUMNS, *(_cells(run.name, one) for run in runs for one in run.found)]))
    elif request.wanted_form == "json":
        _put(request.output, _json(runs), is_json=True)
    elif request.output is not None:
        write_file(request.output, "".join(f"{line}\n" for line in _lines(runs, request.most)).encode())
    else:
        _show(runs, request.most)
    return CONTRADICTORY if any(run.found for run in runs) else 0


def _check(request: CheckRequest) -> list[CheckedRun]:
    runs, most = [], request.most if request.wanted_form == "table" else None
    sharing = True if request.compute_sharing else None
    sources = []
    for path in request.paths:
        schedule = read_schedule(path, hosts=request.hosts, limits=current_limits(), every=True)
        say_all((f"note: {displayed(schedule.name)}: {note}" for note in schedule.notes), err=True)
        warn_if_partial(schedule)
        sources.append(named_path(Path(schedule.source)))
        runs.append(CheckedRun("", schedule.job_count, find_contradictions(schedule, most, sharing=sharing)))
    names = distinct_names(sources)
    return [CheckedRun(name, run.jobs, run.found) for name, run in zip(names, runs, strict=True)]


def _show(runs: Sequence[CheckedRun], most: int) -> None:
    for run in runs:
        if run.found and most:
            show_table(_table(run))
        say_all(_summary(run, most, several=len(runs) > 1))


def _table(run: CheckedRun) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in ("line", "job", "contradiction", ""):
        table.add_column(heading, no_wrap=heading == "line", justify="right" if heading == "line" else "left")
    for one in run.found:
        cells = (str(one.line or ""), displayed(one.job), one.kind.value, one.what)
        table.add_row(*map(Text, cells))
    return table


def _lines(runs: Sequence[CheckedRun], most: int) -> Iterator[str]:
    for run in runs:
        for one in run.found:
            where = f"line {one.line}: " if one.line else ""
            yield f"{displayed(run.name)}: {where}{displayed(one.job)}: {one.kind.value}: {one.what}"
        yield from _summary(run, most, several=len(runs) > 1)


def _summary(run: CheckedRun, most: int, *, several: bool) -> Iterator[str]:
    """Yield the number of contradictions of each kind, including those that are not shown."""
    name = f"{displayed(run.name)}: " if several else ""
    found = run.found
    if not found:
        yield f"{name}no contradictions in {counted(run.jobs, 'job')}"
        return
    yield f"{name}{counted(found.total, 'contradiction')} in {counted(run.jobs, 'job')}"
    for kind in found.kinds:
        hidden = found.count(kind) - most
        more = f", {hidden} of them not shown" if hidden > 0 else ""
        unless = f"; {found.unless[kind]}" if kind in found.unless else ""
        yield f"  {kind.value}: {found.count(kind)}{more}{unless}"


def _cells(name: str, one: Contradiction) -> Sequence[object]:
    return name, one.kind.value, one.line or None, one.job, one.what


def _json(runs: Sequence[CheckedRun]) -> bytes:
    content = [
        {
            "run": run.name,
            "jobs": run.jobs,
            "contradictions": [
                {"kind": one.kind.value, "line": one.line or None, "job_id": one.job or None, "what": one.what}
                for one in run.found
            ],
        }
        for run in runs
    ]
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _put(output: Path | None, content: bytes, *, is_json: bool = False) -> None:
    if output is None:
        put(content, is_json=is_json)
    else:
        write_file(output, content)
