"""`batsched-py explain`: why a job waited, and which jobs were in the way; or the waiting of a run by reason."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click
import orjson
from msgspec import Struct
from rich import box
from rich.table import Table

from batsched_py.cli.shared.algorithm import AlgorithmChoice
from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import PATH, algorithm_options, flag, option, read_names
from batsched_py.cli.shared.runs import hosts_option, members_option, read_decisions, read_runs, warn_of_results
from batsched_py.cli.shared.terminal import put, say
from batsched_py.cli.shared.waiting_tables import show_waiting
from batsched_py.reporting.formatting import brief
from batsched_py.reporting.schedules.run_reader import read_schedule
from batsched_py.reporting.waits.explanation import Explanation
from batsched_py.reporting.waits.finding import find_job
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.run_explanation import default_groups, explain_run
from batsched_py.reporting.waits.walk import explain
from batsched_py.reporting.waits.wording import (
    at,
    blocking_text,
    counterfactual_text,
    delays_text,
    heading,
    moves,
    named,
    stretches,
    words_of,
)
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

#: Maximum number of rows in a table; JSON contains all.
_MOST: Final = 20
_MOST_BLOCKERS: Final = 5
_SCHEDULE_ALONE: Final = "note: no file contains the algorithm's decisions: the reasons are from the schedule alone"


class ExplainRequest(Struct, frozen=True):
    """The arguments and options of `explain`."""

    path: Path
    job: str | None
    whole: bool
    by: tuple[str, ...]
    workloads: tuple[Path, ...]
    as_json: bool
    hosts: int | None
    as_slurm: bool
    choice: AlgorithmChoice


@typed_command()
@click.argument("path", type=PATH, metavar="PREFIX")
@click.argument("job", metavar="[JOB]", required=False)
@flag("--run whole", "Show the waiting of all jobs by reason.")
@option(
    "--by",
    "MEMBER,...",
    "With --run: groups of jobs, by size or a member of jobs.  [default: size, and user if known]",
    multiple=True,
    callback=read_names,
)
@members_option
@flag("--json as_json", "Print one JSON object.")
@hosts_option
@flag("--slurm as_slurm", "Show states, reasons and priorities as squeue and sprio do; PREFIX is a recording of slurm.")
@algorithm_options
def command(request: ExplainRequest) -> None:
    """Explain why JOB waited: a reason for each second, and which jobs were in the way; or why all jobs did.

    PREFIX is the prefix given to -e, a folder with one _jobs.csv, or a _jobs.csv. JOB is an id such as w0!12, or 12 if
    it is unique. The algorithm's own reasons are read from PREFIX_decisions.csv; without it, only the schedule is used.

    With --run, the waiting of all jobs is shown instead, by reason and by groups of jobs.

    With --slurm, PREFIX is a recording RUN.jsonl of the algorithm slurm, or the folder of a live site. Give the files
    of the run again, with -o: a recording never names files to open.
    """
    choice = request.choice
    if request.whole == (request.job is not None):
        raise click.UsageError(
            "give a JOB, or --run for all jobs; not both" if request.whole else "give a JOB, or --run"
        )
    if (request.by or request.workloads) and not request.whole:
        raise click.UsageError("'--by' and '-w' go with '--run'")
    if len(set(request.by)) < len(request.by):
        raise click.UsageError(f"'--by' must name each member once, not {displayed(','.join(request.by))}")
    if request.as_slurm:
        if request.hosts is not None:
            raise click.UsageError("--hosts cannot be combined with --slurm: a recording has the hosts")
        if request.job is None:
            raise click.UsageError("--run cannot be combined with --slurm")
        _explain_as_slurm(request.path, request.job, choice, as_json=request.as_json)
        return
    if choice.algorithm or choice.assignments or choice.options_file is not None:
        raise click.UsageError("-s, -o and --options-file need --slurm: results need no algorithm")
    if request.job is None:
        _explain_run(request)
    else:
        _explain_job(request, request.job)


def _explain_run(request: ExplainRequest) -> None:
    (schedule,) = read_runs([request.path], request.workloads, None, request.hosts)
    history = RunHistory(schedule, read_decisions(schedule))
    explanation = explain_run(history, request.by or default_groups(history))
    if request.as_json:
        put(orjson.dumps(explanation.plain, option=orjson.OPT_APPEND_NEWLINE), is_json=True)
        return
    if not explanation.decided:
        say(_SCHEDULE_ALONE, err=True)
    show_waiting(explanation)


def _explain_job(request: ExplainRequest, job: str) -> None:
    schedule = read_schedule(request.path, hosts=request.hosts, limits=current_limits())
    warn_of_results(schedule)
    decisions = read_decisions(schedule)
    history = RunHistory(schedule, decisions)
    record = find_job(history, job)
    explanation = explain(history, record)
    if request.as_json:
        put(orjson.dumps(explanation.plain, option=orjson.OPT_APPEND_NEWLINE), is_json=True)
        return
    if decisions is None or not decisions.of_jobs:
        say(_SCHEDULE_ALONE, err=True)
    say(heading(explanation))
    _show_wait(explanation)
    _show_blockers(explanation)
    _show_sooner(explanation)
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


def _show_blockers(explanation: Explanation) -> None:
    """Show the jobs that were in the way longest."""
    found = explanation.blockers
    if not found:
        return
    table = _table("in the way", "size", "job", "because")
    for one in found[:_MOST_BLOCKERS]:
        table.add_row(brief(one.seconds), str(one.record.job.size), displayed(one.record.job.id), blocking_text(one))
    show_table(table, folded=3)
    _say_more(len(found), "job", _MOST_BLOCKERS)


def _show_sooner(explanation: Explanation) -> None:
    """Show what would have let the job start sooner."""
    found = explanation.counterfactuals
    if not found:
        return
    table = _table("possible at", "sooner by", "with")
    for one in found:
        table.add_row(at(one.at), brief(explanation.until - one.at), counterfactual_text(one))
    show_table(table, folded=2)


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


def _say_more(count: int, what: str, most: int = _MOST) -> None:
    """Print the number of omitted rows of a table, if any."""
    if count > most:
        say(f"and {counted(count - most, f'{what} more', f'{what}s more')}")
