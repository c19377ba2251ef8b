"""`batsched-py explain`: reasons why a job waited, changes of its promise, and jobs that overtook it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click
import orjson
from rich import box
from rich.table import Table

from batsched_py.cli.shared.algorithm import AlgorithmChoice
from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import PATH, algorithm_options, flag
from batsched_py.cli.shared.runs import hosts_option, read_decisions, warn_of_results
from batsched_py.cli.shared.terminal import put, say
from batsched_py.reporting.formatting import brief
from batsched_py.reporting.schedules.run_reader import read_schedule
from batsched_py.reporting.waits.explanation import Explanation
from batsched_py.reporting.waits.finding import find_job
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.walk import explain
from batsched_py.reporting.waits.wording import at, delays_text, heading, moves, named, stretches, words_of
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

#: Maximum number of rows in a table; JSON contains all.
_MOST: Final = 20


@typed_command()
@click.argument("path", type=PATH, metavar="PREFIX")
@click.argument("job", metavar="JOB")
@flag("--json as_json", "Print one JSON object.")
@hosts_option
@flag("--slurm as_slurm", "Show states, reasons and priorities as squeue and sprio do; PREFIX is a recording of slurm.")
@algorithm_options
def command(path: Path, job: str, hosts: int | None, choice: AlgorithmChoice, *, as_json: bool, as_slurm: bool) -> None:
    """Explain why JOB waited: a reason for each second, and which jobs were in the way.

    PREFIX is the prefix given to -e, a folder with one _jobs.csv, or a _jobs.csv. JOB is an id such as w0!12, or 12 if
    it is unique. The algorithm's own reasons are read from PREFIX_decisions.csv; without it, only the schedule is used.

    With --slurm, PREFIX is a recording RUN.jsonl of the algorithm slurm, or the folder of a live site. Give the files
    of the run again, with -o: a recording never names files to open.
    """
    if as_slurm:
        if hosts is not None:
            raise click.UsageError("--hosts cannot be combined with --slurm: a recording has the hosts")
        _explain_as_slurm(path, job, choice, as_json=as_json)
        return
    if choice.algorithm or choice.assignments or choice.options_file is not None:
        raise click.UsageError("-s, -o and --options-file need --slurm: results need no algorithm")
    schedule = read_schedule(path, hosts=hosts, limits=current_limits())
    warn_of_results(schedule)
    decisions = read_decisions(schedule)
    history = RunHistory(schedule, decisions)
    record = find_job(history, job)
    explanation = explain(history, record)
    if as_json:
        put(orjson.dumps(explanation.plain, option=orjson.OPT_APPEND_NEWLINE), is_json=True)
        return
    if decisions is None or not decisions.of_jobs:
        say("note: no file contains the algorithm's decisions: the reasons are from the schedule alone", err=True)
    say(heading(explanation))
    _show_wait(explanation)
    _show_moves(explanation, history)
    _show_overtakers(explanation)


def _explain_as_slurm(path: Path, job: str, choice: AlgorithmChoice, *, as_json: bool) -> None:
    # All other explanations do without a session and the algorithm, which take as long to import as the rest.
    from batsched_py.cli.shared.slurm_explanation import show_history  # noqa: PLC0415
    from batsched_py.cli.shared.slurm_runs import open_recording  # noqa: PLC0415

    history = open_recording(path, choice).history(job)
    if as_json:
        put(orjson.dumps(history.plain, option=orjson.OPT_APPEND_NEWLINE), is_json=True)
    else:
        show_history(history)


def _table(*headings: str) -> Table:
    table = Table(*headings[:2], box=box.SIMPLE, pad_edge=False)
    for column in table.columns:
        column.justify = "right"
    for name in headings[2:]:
        table.add_column(name)
    return table


def _show_wait(explanation: Explanation) -> None:
    """Show the wait, with a row for each period with one reason."""
    found = stretches(explanation.intervals)
    if not found:
        return
    table = _table("from", "for", "reason", "in the way")
    for one in found[:_MOST]:
        why = words_of(explanation, one.reason, one.end)
        table.add_row(at(one.begin), brief(one.end - one.begin), why, named(one.blocked_by))
    show_table(table, folded=2)
    _say_more(len(found), "interval")


def _show_moves(explanation: Explanation, history: RunHistory) -> None:
    """Show the changes of the job's promise."""
    found = list(moves(explanation, history.records))
    if not found:
        return
    table = _table("at", "promised", "moved", "because")
    for move in found[:_MOST]:
        promised = "nothing" if move.start is None else at(move.start)
        by = "" if move.by is None else f"{brief(abs(move.by))} {'later' if move.by > 0 else 'sooner'}"
        table.add_row(at(move.time), promised, by, move.why)
    show_table(table, folded=3)
    _say_more(len(found), "move")


def _show_overtakers(explanation: Explanation) -> None:
    """Show the jobs that overtook it, and whether they delayed it."""
    found = explanation.overtakers
    if not found:
        return
    delaying = [one for one in found if one.delayed_from is not None]
    names = named([one.record.job.id for one in found])
    say(f"overtaken by {counted(len(found), 'job')} ({names}); {delays_text(len(delaying))}")
    if not delaying:
        return
    table = _table("started", "size", "job", "without it")
    for one in delaying[:_MOST]:
        instant = explanation.record.start if one.delayed_from is None else one.delayed_from
        sooner = f"{brief(explanation.until - instant)} sooner, at {at(instant)}"
        table.add_row(at(one.record.start), str(one.record.job.size), displayed(one.record.job.id), sooner)
    show_table(table, folded=3)
    _say_more(len(delaying), "job")


def _say_more(count: int, what: str) -> None:
    """Print the number of omitted rows of a table, if any."""
    if count > _MOST:
        say(f"and {counted(count - _MOST, f'{what} more', f'{what}s more')}")
