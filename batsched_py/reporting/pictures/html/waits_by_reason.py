"""Stacked bars of waits by reason, for runs and groups of jobs: a section of the report page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Final

from batsched_py.reporting.formatting import HOUR
from batsched_py.reporting.pictures.html import markup
from batsched_py.reporting.waits.reasons import WORDS, Reason
from batsched_py.reporting.waits.waiting_by_reason import RunExplanation, WaitingByReason, WaitingTime
from batsched_py.text.wording import NARROW_BLANK, NOTHING, grouped

#: The largest number of groups of a member that have a bar; the first ones waited longest.
MOST_GROUPS: Final = 10
#: Smaller parts of a bar have no text inside, in percent of the width of the longest bar.
_LEAST_TEXT: Final = 7.0

#: Returns the measure of a bar: time, or host time.
_Measure = Callable[[WaitingTime], int]


def waiting_parts(names: Sequence[str], explanations: Sequence[RunExplanation]) -> list[str]:
    """Return bars for all runs, bars for groups of jobs of each run, and the numbers; empty if no job waited."""
    runs = [(name, one) for name, one in zip(names, explanations, strict=False) if one.overall.total.time]
    if not runs:
        return []
    reasons = [reason for reason in Reason if any(reason in one.overall.by_reason for _, one in runs)]
    several = len(names) > 1
    whole = [(name if several else "all jobs", one.overall) for name, one in runs]
    numbers = "".join(_numbers(name if several else "", one) for name, one in runs)
    return [
        *(markup.paragraph(line) for line in _notes(runs, several=several)),
        _legend(reasons),
        _bars("Hours of waiting", whole, lambda one: one.time, scaled=True),
        _bars("Host-hours: hours times requested hosts", whole, lambda one: one.host_time, scaled=True),
        *(_groups(name if several else "", one, folded=several) for name, one in runs),
        f"<details><summary>Numbers</summary>{markup.grouped([numbers])}</details>",
    ]


def _notes(runs: Sequence[tuple[str, RunExplanation]], *, several: bool) -> Iterator[str]:
    yield "Each second of each wait has one reason; the parts of a bar sum to the waiting."
    unknown = [name for name, one in runs if not one.decided]
    if unknown:
        where = f"of {', '.join(unknown)} " if several else ""
        yield f"The decisions {where}are not known: only the lack of hosts is certain, other reasons are not."


def _legend(reasons: Sequence[Reason]) -> str:
    items = (
        f'<li><span class="swatch" data-reason="{reason}"></span>{escape(WORDS[reason])}</li>' for reason in reasons
    )
    return f'<ul class="legend">{"".join(items)}</ul>'


def _groups(name: str, explanation: RunExplanation, *, folded: bool) -> str:
    """Return bars of the shares in each group, hidden behind the name of the run if there are several."""
    parts = []
    for by, groups in explanation.groups.items():
        shown = [(group.name, group) for group in groups if group.total.time]
        more = len(shown) - MOST_GROUPS
        caption = f"Shares of hours by {by}" + (f", the first {MOST_GROUPS} of {len(shown)}" if more > 0 else "")
        if len(shown) > 1:
            parts.append(_bars(caption, shown[:MOST_GROUPS], lambda one: one.time, scaled=False))
    inside = "\n".join(parts)
    if not folded or not inside:
        return inside
    return f"<details><summary>Groups of jobs: {escape(name)}</summary>{inside}</details>"


def _bars(caption: str, rows: Sequence[tuple[str, WaitingByReason]], of: _Measure, *, scaled: bool) -> str:
    """Return a table with a bar in each row, in proportion to its total if `scaled`, otherwise of the whole width."""
    longest = max(of(one.total) for _, one in rows)
    lines = [
        [escape(name), _hours(of(one.total)), _bar(one, of, longest if scaled else of(one.total))] for name, one in rows
    ]
    return markup.plain_table(caption, ["", "hours", "by reason"], lines, "bars")


def _bar(one: WaitingByReason, of: _Measure, longest: int) -> str:
    total = of(one.total)
    parts, texts = [], []
    for reason, time in ((reason, of(waiting)) for reason, waiting in one.by_reason.items()):
        width = 100 * time / longest if longest else 0.0
        share = f"{100 * time / total:.0f} %" if total else NOTHING
        texts.append(f"{WORDS[reason]}: {share}")
        inside = share if width >= _LEAST_TEXT else ""
        title = escape(f"{WORDS[reason]}: {_hours(time)} h, {share}")
        parts.append(f'<span data-reason="{reason}" style="width:{width:.2f}%" title="{title}">{inside}</span>')
    return f'<span class="bar" role="img" aria-label="{escape("; ".join(texts))}">{"".join(parts)}</span>'


def _hours(time: int) -> str:
    hours = time / 1e6 / HOUR
    return f"{hours:.2f}" if hours < 10 else grouped(hours, NARROW_BLANK)


def _numbers(name: str, explanation: RunExplanation) -> str:
    overall = explanation.overall
    total = overall.total
    rows = [
        [escape(WORDS[reason]), str(one.jobs), *_amount(one.time, total.time), *_amount(one.host_time, total.host_time)]
        for reason, one in overall.by_reason.items()
    ]
    rows.append(
        ["together", str(total.jobs), *_amount(total.time, total.time), *_amount(total.host_time, total.host_time)]
    )
    heads = ["reason", "jobs", "hours", "share", "host-hours", "share"]
    return markup.plain_table(f"Waiting by reason{f': {name}' if name else ''}", heads, rows, "groups")


def _amount(time: int, total: int) -> tuple[str, str]:
    return f"{time / 1e6 / HOUR:.2f}", f"{100 * time / total:.1f} %" if total else NOTHING
