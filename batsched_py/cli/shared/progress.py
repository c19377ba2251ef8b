"""Progress bars, on stderr if that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from batsched_py.cli.shared.console import Output
from batsched_py.reporting.formatting import clock
from batsched_py.simulator.records import RunProgress

#: Is called with how many are over, of how many, and where it is.
Show = Callable[[int, int, str], None]


@contextmanager
def simulation_bar(*, wanted: bool) -> Iterator[Callable[[RunProgress], None] | None]:
    """Shows each stand of the simulation it is called with; as `_bar`."""
    with _bar("jobs, t={task.fields[now]}", clock(0.0), wanted=wanted) as show:
        if show is None:
            yield None
        else:
            yield lambda stand: show(stand.jobs_ended, stand.jobs_total, clock(stand.now))


@contextmanager
def runs_bar(*, wanted: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Shows how many runs are over, of how many; as `_bar`."""
    with _bar("runs", "", wanted=wanted) as show:
        if show is None:
            yield None
        else:
            yield lambda over, count: show(over, count, "")


@contextmanager
def _bar(text: str, now: str, *, wanted: bool) -> Iterator[Show | None]:
    """Vanishes at the end; None if there is nobody to see it."""
    console = Output(stderr=True)
    if not (wanted and console.is_terminal):
        yield None
        return
    columns = (BarColumn(None), MofNCompleteColumn(), TextColumn(text), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, now=now)

        def show(over: int, count: int, now: str) -> None:
            bar.update(task, completed=over, total=count, now=now)

        yield show
