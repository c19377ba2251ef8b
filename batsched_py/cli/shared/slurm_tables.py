"""Tables with the columns of squeue, sprio and sshare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from rich import box
from rich.table import Table

from batsched_py.runs.slurm.job_status import SHORT
from batsched_py.runs.slurm.priorities import JobPriority
from batsched_py.runs.slurm.queue import ExpectedStart, QueuedJob
from batsched_py.runs.slurm.shares import ShareRow
from batsched_py.slurm.priority_factors import PriorityFactors
from batsched_py.text.display import displayed
from batsched_py.text.wording import seconds

#: Columns of the factors of a priority.
FACTORS = ("SITE", "AGE", "ASSOC", "FAIRSHARE", "JOBSIZE", "PARTITION", "QOS", "NICE", "TRES")
#: The longest text in a cell, and in the last one of a row, which may be a list of nodes.
_LONGEST, _LONGEST_LIST = 60, 2000


def queue_table(rows: Iterable[QueuedJob]) -> Table:
    """Return the table of squeue."""
    columns = ("JOBID", "PARTITION", "NAME", "USER", "ST", "TIME", "NODES", "NODELIST(REASON)")
    cells = ((*_of_job(row), clock(row.time), str(row.nodes), row.shown) for row in rows)
    return slurm_table(columns, cells, right=("TIME", "NODES"))


def start_table(rows: Iterable[ExpectedStart]) -> Table:
    """Return the table of `squeue --start`; START_TIME is in seconds since the start of the simulation."""
    columns = ("JOBID", "PARTITION", "NAME", "USER", "ST", "START_TIME", "NODES", "SCHEDNODES", "NODELIST(REASON)")
    cells = (
        (
            *_of_job(one.row),
            "N/A" if one.start is None else seconds(one.start),
            str(one.row.nodes),
            one.scheduled or "(null)",
            one.row.shown,
        )
        for one in rows
    )
    return slurm_table(columns, cells, right=("START_TIME", "NODES"))


def _of_job(row: QueuedJob) -> tuple[str, ...]:
    return row.job, row.partition, row.name, row.user, SHORT[row.state]


def priority_table(rows: Iterable[JobPriority]) -> Table:
    """Return the table of `sprio --long`."""
    columns = ("JOBID", "PARTITION", "USER", "ACCOUNT", "PRIORITY", *FACTORS)
    cells = (
        (row.job, row.partition, row.user, row.account, str(row.priority), *factor_cells(row.factors)) for row in rows
    )
    return slurm_table(columns, cells, right=("PRIORITY", *FACTORS[:-1]), left=("PARTITION",))


def factor_cells(factors: PriorityFactors | None) -> tuple[str, ...]:
    """Return the cells of FACTORS, rounded as sprio does it; empty ones for a priority that was not computed."""
    if factors is None:
        return ("",) * len(FACTORS)
    parts = (factors.age, factors.association, factors.fair_share, factors.job_size, factors.partition, factors.qos)
    tres = ",".join(f"{name}={part:.0f}" for name, part in factors.tres)
    return ("0", *(f"{part:.0f}" for part in parts), str(factors.nice), tres)


def share_table(rows: Iterable[ShareRow]) -> Table:
    """Return the table of `sshare --all --long`, as far as its columns are known."""
    numbers = ("RawShares", "NormShares", "RawUsage", "NormUsage", "EffectvUsage", "FairShare", "LevelFS")
    cells = (
        (
            " " * row.depth + displayed(row.account, _LONGEST),
            row.user,
            "" if row.raw_shares is None else str(row.raw_shares),
            _part(row.share.norm_shares),
            str(int(row.raw_usage)),
            _part(row.share.norm_usage),
            _part(row.share.effective_usage),
            _part(row.share.factor),
            _part(row.share.level),
        )
        for row in rows
    )
    return slurm_table(("Account", "User", *numbers), cells, right=numbers)


def _part(value: float | None) -> str:
    return "" if value is None else "inf" if value == inf else f"{value:.6f}"


def slurm_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str], left: Sequence[str] = ()
) -> Table:
    """Return a table; columns in `right` are aligned to the right, but not the first one of each name in `left`."""
    table, rest = Table(box=box.SIMPLE, pad_edge=False), list(left)
    for name in columns:
        is_left = name not in right or name in rest
        if name in rest:
            rest.remove(name)
        table.add_column(name, justify="left" if is_left else "right")
    for cells in rows:
        table.add_row(*(displayed(cell, _LONGEST) for cell in cells[:-1]), displayed(cells[-1], _LONGEST_LIST))
    return table


def clock(time: float) -> str:
    """Return a time as squeue shows it: minutes and seconds, with hours and days if there are some."""
    minutes, rest = divmod(int(time), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}-{hours:02d}:{minutes:02d}:{rest:02d}"
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
