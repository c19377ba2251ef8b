"""Progress bars on stderr. They are no part of the live view, whose imports `compare` does not need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from batsched_py.cli.shared.console import Output
from batsched_py.reporting.formatting import clock
from batsched_py.simulator.progress import RunProgress

#: A function of the number that ended, of all, and of a text.
_Show = Callable[[int, int, str], None]


@contextmanager
def simulation_bar(*, wanted: bool) -> Iterator[Callable[[RunProgress], None] | None]:
    """Yield a function that shows how far the simulation is; None if no bar is shown."""
    with _bar("jobs, t={task.fields[now]}", clock(0.0), wanted=wanted) as show:
        if show is None:
            yield None
        else:
            yield lambda progress: show(progress.jobs_ended, progress.jobs_total, clock(progress.now))


@contextmanager
def runs_bar(*, wanted: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function that shows how many runs ended, of how many; None if no bar is shown."""
    with _bar("runs", "", wanted=wanted) as show:
        if show is None:
            yield None
        else:
            yield lambda over, count: show(over, count, "")


@contextmanager
def _bar(text: str, now: str, *, wanted: bool) -> Iterator[_Show | None]:
    """Draw a bar, which vanishes at the end; None if it is not wanted or stderr is no terminal."""
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
