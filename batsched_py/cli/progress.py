"""A progress bar for a simulation, on stderr if that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from batsched_py.reporting.durations import clock
from batsched_py.simulator.records import Progress as Stand


@contextmanager
def progress_bar(*, wanted: bool) -> Iterator[Callable[[Stand], None] | None]:
    """Shows each stand of the simulation it is called with, vanishes at the end; None if there is nobody to see it."""
    console = Console(stderr=True)
    if not (wanted and console.is_terminal):
        yield None
        return
    columns = (BarColumn(None), MofNCompleteColumn(), TextColumn("jobs, t={task.fields[now]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, now=clock(0.0))

        def show(stand: Stand) -> None:
            bar.update(task, completed=stand.jobs_ended, total=stand.jobs_total, now=clock(stand.now))

        yield show
