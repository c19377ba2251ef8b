"""The report of `convert --report`: its option, the defaults that it states, and its file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource
from msgspec import Struct

from batsched_py.cli.shared.convert_request import ConvertRequest
from batsched_py.cli.shared.terminal import say, say_all
from batsched_py.errors import NothingKeptError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.files.output_file import writing
from batsched_py.model.workload import Workload
from batsched_py.reporting.conversion import ConversionReport, counted_rules
from batsched_py.results.run_file import InputFile, content_hash
from batsched_py.text.display import displayed
from batsched_py.traces.cleaning_report import CleaningReport
from batsched_py.traces.formats import GOOGLE, PHILLY, TABLES, WFFORMAT
from batsched_py.traces.lease_request import LeaseTrace
from batsched_py.traces.swf_fields import column_use
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.table_columns import TableColumns

#: Parameters of files that are written, which the report lists as such, and of the files that are read.
_FILES: Final = frozenset({"logs", "output", "report", "platform"})


def _is_log(request: ConvertRequest) -> bool:
    return request.content is SwfLog


def _is_log_of_jobs(request: ConvertRequest) -> bool:
    return _is_log(request) and not request.has_leases


#: Options, when they have an effect, and what is assumed if none of them is given.
_DEFAULTS: Final[Sequence[tuple[Sequence[str], Callable[[ConvertRequest], bool], str]]] = (
    (["unit"], lambda request: request.form is WFFORMAT, "a task has a host of its own, whatever its cores"),
    (["processors"], _is_log, "sizes are the requested ones; where these are unknown, the used ones"),
    (["walltime"], _is_log_of_jobs, "walltimes are the requested times; where these are unknown, the run times"),
    (
        ["cancelled"],
        lambda request: _is_log_of_jobs(request) and request.form not in (*TABLES, PHILLY, GOOGLE),
        "jobs that were cancelled before they started are left out",
    ),
    (["profiles"], _is_log_of_jobs, "jobs are delays of their run times, cut to their requests"),
    (["dependencies", "feedback"], _is_log_of_jobs, "jobs are submitted at the times of the log"),
    (["demands"], _is_log_of_jobs, "a job has whole hosts"),
)


class Conversion(Struct, frozen=True):
    """The outcome of `convert`.

    Attributes:
        content: what was read.
        counts: its rows by rule.
        outputs: the files that were written.
    """

    content: SwfLog | Workload | LeaseTrace
    counts: CleaningReport
    outputs: Sequence[Path] = ()


def write_report(request: ConvertRequest, done: Conversion) -> None:
    """Write the report on a conversion: Markdown if the name of the file ends in .md, JSON otherwise. InputError."""
    path, content = request.report, done.content
    if path is None:
        return
    assert request.form is not None  # noqa: S101 - it was found
    log = content if isinstance(content, SwfLog) else None
    report = ConversionReport(
        _described(request.log),
        request.form.name,
        done.counts.rows,
        done.counts.kept,
        counted_rules(done.counts),
        None if log is None else column_use(log, request.rules),
        (*(log.assumed if log is not None else ()), *_defaults(request, log)),
        [note.removeprefix(f"{displayed(str(request.log))}: ") for note in content.notes],
        _supplied(),
        [_described(output) for output in done.outputs],
        [_described(other) for other in request.further],
    )
    with writing(path):
        write_atomically(path, report.markdown() if path.suffix == ".md" else report.json())
    say(f"wrote {path}")


@contextmanager
def counts_reported(request: ConvertRequest, log: SwfLog) -> Iterator[None]:
    """Report the counts of the cleaning rules even if no job is kept."""
    try:
        yield
    except NothingKeptError as error:
        say_all(error.lines)
        write_report(request, Conversion(log, error.counts))
        raise


def _described(path: Path) -> InputFile:
    """Return a file with its hash, and without its folders, which differ between machines."""
    return InputFile(path.name, content_hash(path))


def _supplied() -> dict[str, str]:
    """Return the options that were given, and their values as text."""
    context = click.get_current_context()
    return {
        parameter.opts[0]: _text(context.params[parameter.name])
        for parameter in context.command.params
        if parameter.name in context.params
        and parameter.name not in _FILES
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    }


def _text(value: Any) -> str:
    if isinstance(value, Path):
        return value.name
    if isinstance(value, TableColumns):
        return value.text
    if isinstance(value, tuple | list):
        return ",".join(map(_text, value))
    return str(getattr(value, "name", value))


def _defaults(request: ConvertRequest, log: SwfLog | None) -> Iterator[str]:
    """Yield a sentence for each option whose default decided what the jobs are."""
    context = click.get_current_context()
    for names, applies, sentence in _DEFAULTS:
        chosen = any(context.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in names)
        if not chosen and applies(request):
            yield f"{', '.join(names)}: {sentence}"
    if log is not None and not request.rules.hosts:
        size = log.machine_size
        yield f"hosts: the machine has {size}, as the log says" if size else "hosts: unknown; no job is too large"
