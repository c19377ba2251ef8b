"""Progress bars on stderr, separate from the live view, whose imports `compare` does not need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from batsched_py.cli.shared.console import Output
from batsched_py.reporting.formatting import clock
from batsched_py.results.progress import RunProgress
from batsched_py.text.display import displayed

if TYPE_CHECKING:  # not needed by a single simulation
    from batsched_py.campaigns.execution.stored_run import StoredRun
    from batsched_py.campaigns.plan.campaign_plan import PlannedRun
    from batsched_py.campaigns.tuning.trial import Trial, Tuning

#: A function of the number of ended items, of all items, and of a text.
_Show = Callable[[int, int, str], None]


@contextmanager
def simulation_bar(*, wanted: bool) -> Iterator[Callable[[RunProgress], None] | None]:
    """Yield a function that shows the progress of the simulation; None if no bar is shown."""
    with _bar("jobs, t={task.fields[now]}", clock(0.0), wanted=wanted) as show:
        if show is None:
            yield None
        else:
            yield lambda progress: show(progress.jobs_ended, progress.jobs_total, clock(progress.now))


@contextmanager
def runs_bar(*, wanted: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function that shows the numbers of ended and of all runs; None if no bar is shown."""
    with _bar("runs", "", wanted=wanted) as show:
        if show is None:
            yield None
        else:
            yield lambda over, count: show(over, count, "")


@contextmanager
def campaign_bar(before: int, count: int, *, wanted: bool) -> Iterator[Callable[[PlannedRun, StoredRun], None] | None]:
    """Yield a function that shows the number of done runs of `count`, the last result and the remaining time; or None.

    `before` of them existed before: the estimate of the remaining time excludes them.
    """
    with _bar("runs, {task.fields[now]}", "", wanted=wanted, left=True) as show:
        if show is None:
            yield None
            return
        over = before
        show(over, count, "workers are being started")

        def show_run(run: PlannedRun, ended: StoredRun) -> None:
            nonlocal over
            over += 1
            show(over, count, f"{displayed(run.variant.name)} on {displayed(run.workload)}: {_outcome_text(ended)}")

        yield show_run


@contextmanager
def trials_bar(tuning: Tuning, *, wanted: bool) -> Iterator[Callable[[Trial], None] | None]:
    """Yield a function that shows the number of completed trials of a search, and the best value so far; or None."""
    with _bar("trials, {task.fields[now]}", "", wanted=wanted, left=True) as show:
        if show is None:
            yield None
            return
        values: list[float] = []
        show(0, tuning.trials, "workers are being started")

        def show_trial(trial: Trial) -> None:
            values.extend([] if trial.value is None else [trial.value])
            best = max if tuning.metric.more_is_better else min
            text = f"best {tuning.metric.title}: {tuning.metric.text(best(values))}" if values else "none with a value"
            show(trial.number + 1, tuning.trials, text)

        yield show_trial


def _outcome_text(ended: StoredRun) -> str:
    """Return the outcome of a run in a few words."""
    outcome = ended.outcome
    if outcome.metrics is None:
        return displayed(outcome.error)
    wait = outcome.metrics.mean_wait
    return "no job ran" if wait is None else f"mean wait {wait:.0f} s"


@contextmanager
def _bar(text: str, now: str, *, wanted: bool, left: bool = False) -> Iterator[_Show | None]:
    """Draw a bar, which disappears at the end; yield None if it is disabled or stderr is not a terminal."""
    console = Output(stderr=True)
    if not (wanted and console.is_terminal):
        yield None
        return
    time: ProgressColumn = TimeRemainingColumn() if left else TimeElapsedColumn()
    columns = (BarColumn(None), MofNCompleteColumn(), TextColumn(text), time)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, now=now)

        def show(over: int, count: int, now: str) -> None:
            bar.update(task, completed=over, total=count, now=now)

        yield show
