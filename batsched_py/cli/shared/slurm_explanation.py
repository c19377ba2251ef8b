"""The output of `explain --slurm`: the states and reasons of a job over time, and the factors of its priority."""

from __future__ import annotations

from typing import Final

from rich.table import Table

from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.slurm_tables import FACTORS, factor_cells, slurm_table
from batsched_py.cli.shared.terminal import say
from batsched_py.reporting.formatting import brief
from batsched_py.reporting.waits.wording import at
from batsched_py.runs.slurm.history import JobHistory
from batsched_py.runs.slurm.job_status import SHORT
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

#: Maximum number of rows in a table; JSON contains all.
_MOST: Final = 20


def show_history(history: JobHistory) -> None:
    """Print the history of a job."""
    names = ("user", history.user), ("account", history.account), ("partition", history.partition), ("QOS", history.qos)
    known = [f"{name} {displayed(value)}" for name, value in names if value]
    say(f"{displayed(history.job)}: {', '.join([*known, f'submitted at {at(history.submitted)}'])}")
    if history.intervals:
        show_table(_interval_table(history), folded=3)
        _say_more(len(history.intervals), "interval")
    if history.ended is not None:
        words = f": {displayed(history.words)}" if history.words else ""
        say(f"ended at {at(history.ended)}: {history.final}{words}")
    else:
        say("it had not ended when the recording ended")
    _show_priorities(history)


def _interval_table(history: JobHistory) -> Table:
    cells = (
        (
            at(begin),
            "" if end is None else brief(end - begin),
            SHORT[status.state],
            status.shown,
        )
        for begin, end, status in history.intervals[:_MOST]
    )
    return slurm_table(("from", "for", "ST", "NODELIST(REASON)"), cells, right=("from", "for"))


def _show_priorities(history: JobHistory) -> None:
    """Show the first and the last priority, or none if they have no factors."""
    changes = history.priorities
    shown = [*changes[:1], *changes[1:][-1:]]
    rows = [(change.at, one) for change in shown for one in change.priorities]
    if not any(one.factors for _, one in rows):
        return
    say()
    say("its priority:" if len(changes) == 1 else f"the first and the last of its {len(changes)} priorities:")
    cells = [(at(instant), one.partition, str(one.priority), *factor_cells(one.factors)) for instant, one in rows]
    columns = ("from", "PARTITION", "PRIORITY", *FACTORS)
    show_table(slurm_table(columns, cells, right=("from", "PRIORITY", *FACTORS[:-1]), left=("PARTITION",)))


def _say_more(count: int, what: str) -> None:
    """Print the number of omitted rows, if any."""
    if count > _MOST:
        say(f"and {counted(count - _MOST, f'{what} more', f'{what}s more')}")
