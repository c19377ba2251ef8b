"""Tables of the waiting of a run by reason, overall and by groups of jobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich import box
from rich.table import Table

from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.terminal import say
from batsched_py.reporting.formatting import HOUR
from batsched_py.reporting.waits.reasons import WORDS, Reason
from batsched_py.reporting.waits.waiting_by_reason import RunExplanation, StatedReason, WaitingByReason, WaitingTime
from batsched_py.text.display import displayed
from batsched_py.text.wording import NOTHING, aligned, counted

#: Maximum number of the algorithm's stated reasons, and of groups, in a table; JSON contains all.
_MOST_WORDS: Final = 5
_MOST_GROUPS: Final = 20
_HOURS: Final = 1


def show_waiting(explanation: RunExplanation) -> None:
    """Print where the waiting of a run comes from."""
    overall = explanation.overall
    total = overall.total
    if not total.time:
        say(f"no job waited, of {counted(overall.jobs, 'job')}")
        return
    hours = f"{total.seconds / HOUR:.1f} h together, {total.host_seconds / HOUR:.1f} host-hours"
    say(f"{total.jobs} of {counted(overall.jobs, 'job')} waited: {hours}")
    show_table(_overall_table(overall), folded=0)
    _show_stated(explanation.stated)
    for by, groups in explanation.groups.items():
        show_table(_group_table(by, groups, list(overall.by_reason)), folded=0)
        if len(groups) > _MOST_GROUPS:
            say(f"and {counted(len(groups) - _MOST_GROUPS, 'group more', 'groups more')}")


def _overall_table(overall: WaitingByReason) -> Table:
    table = _table("reason", "jobs", "hours", "share", "host-hours", "share")
    rows = [*overall.by_reason.values(), overall.total]
    hours = aligned([one.seconds / HOUR for one in rows], _HOURS)
    host_hours = aligned([one.host_seconds / HOUR for one in rows], _HOURS)
    names = [WORDS[reason] for reason in overall.by_reason]
    for place, (name, one) in enumerate(zip([*names, "together"], rows, strict=True)):
        if place == len(names):
            table.add_section()
        share, host_share = _shares(one, overall.total)
        table.add_row(name, str(one.jobs), hours[place], share, host_hours[place], host_share)
    return table


def _shares(one: WaitingTime, total: WaitingTime) -> tuple[str, str]:
    return _percent(one.time, total.time), _percent(one.host_time, total.host_time)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else NOTHING


def _show_stated(stated: Sequence[StatedReason]) -> None:
    """Print the reasons in the algorithm's words, if it stated any."""
    if not stated:
        return
    table = _table("reason of the algorithm", "hours", "host-hours")
    for one in stated[:_MOST_WORDS]:
        hours, host_hours = (f"{time / HOUR:.1f}" for time in (one.waiting.seconds, one.waiting.host_seconds))
        table.add_row(displayed(one.words), hours, host_hours)
    show_table(table, folded=0)
    if len(stated) > _MOST_WORDS:
        say(f"and {counted(len(stated) - _MOST_WORDS, 'reason more', 'reasons more')}")


def _group_table(by: str, groups: Sequence[WaitingByReason], reasons: Sequence[Reason]) -> Table:
    """Return a table with the share of each reason in the waiting of each group."""
    names = [str(reason).replace("_", " ") for reason in reasons]
    table = _table(by, "jobs", "hours", "host-hours", *names)
    for group in groups[:_MOST_GROUPS]:
        table.add_row(displayed(group.name), str(group.jobs), *_group_cells(group, reasons))
    return table


def _group_cells(group: WaitingByReason, reasons: Sequence[Reason]) -> Iterator[str]:
    yield f"{group.total.seconds / HOUR:.1f}"
    yield f"{group.total.host_seconds / HOUR:.1f}"
    for reason in reasons:
        one = group.by_reason.get(reason)
        yield "" if one is None else _percent(one.time, group.total.time)


def _table(first: str, *others: str) -> Table:
    table = Table(first, box=box.SIMPLE, pad_edge=False)
    for name in others:
        table.add_column(name, justify="right")
    return table
