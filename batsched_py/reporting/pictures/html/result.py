"""The first section of the report page: the result in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from batsched_py.reporting.formatting import brief, clock
from batsched_py.reporting.metrics.best import equal, find_best
from batsched_py.reporting.metrics.catalogue import METRIC_INFO, RunMetrics, Unit
from batsched_py.reporting.waits.reasons import WORDS
from batsched_py.reporting.waits.waiting_by_reason import RunExplanation
from batsched_py.text.wording import NARROW_BLANK, counted

#: The metrics by which runs are compared in words.
_COMPARED: Final = ("mean_wait", "mean_bounded_slowdown", "max_wait", "utilisation", "makespan")


def result_parts(
    names: Sequence[str], measured: Sequence[RunMetrics], explanations: Sequence[RunExplanation], *, ranked: bool
) -> list[str]:
    """Return the sentences about a run, or about the best of several; `ranked` is False if none can be marked."""
    if len(names) == 1:
        lines = list(_lines_of_run(measured[0], explanations[0] if explanations else None))
    elif ranked:
        lines = list(_lines_of_runs(names, measured))
    else:
        lines = ["The runs are of different jobs: none of them is the best."]
    return [f'<p class="result">{line}</p>' if not line.startswith(("<ul", "<p ")) else line for line in lines]


def _lines_of_run(run: RunMetrics, explanation: RunExplanation | None) -> Iterator[str]:
    """Yield sentences about a single run."""
    if not run.ran:
        yield "No job ran."
        return
    ended = (
        f"{_count(run.successful, 'job')} of {run.jobs} successful" if run.successful < run.jobs else "all successful"
    )
    used = (
        ""
        if run.utilisation is None
        else f"; hosts were in use for {_strong(f'{100 * run.utilisation:.1f} %')} of the time"
    )
    yield f"{_strong(_count(run.ran, 'job'))} ran in {_strong(clock(run.makespan or 0.0))}, {ended}{used}."
    if run.mean_wait is None or run.max_wait is None:
        return
    half = "" if run.median_wait is None else f", half of them for at most {brief(run.median_wait)}"
    slowdown = run.mean_bounded_slowdown
    bounded = "" if slowdown is None else f" The mean bounded slowdown is {_strong(f'{slowdown:.2f}')}."
    mean = _strong(brief(run.mean_wait))
    yield f"Jobs waited for {mean} on average{half}, and for {brief(run.max_wait)} at most.{bounded}"
    if explanation is not None and explanation.overall.total.time:
        total = explanation.overall.total.time
        reason, most = max(explanation.overall.by_reason.items(), key=lambda item: item[1].time)
        yield f"{_strong(f'{100 * most.time / total:.0f} %')} of the waiting is because {escape(WORDS[reason])}."


def _lines_of_runs(names: Sequence[str], measured: Sequence[RunMetrics]) -> Iterator[str]:
    """Yield a sentence about the best run for each metric that differs, and how certain it is."""
    best_of: dict[tuple[str, ...], list[str]] = {}
    for metric in _COMPARED:
        values = [getattr(run, metric) for run in measured]
        best = find_best(METRIC_INFO[metric], values)
        winners = tuple(name for name, wins in zip(names, best, strict=True) if wins)
        if winners:
            best_of.setdefault(winners, []).append(_advantage(metric, names, values, best))
    for winners, texts in best_of.items():
        subject = " and ".join(_strong(escape(name)) for name in winners)
        yield f"{subject} {'is' if len(winners) == 1 else 'are'} the best by"
        yield f"<ul>{''.join(f'<li>{text}</li>' for text in texts)}</ul>"
    if best_of:
        yield (
            '<p class="quiet">These are single runs: another workload could reverse small differences. '
            "<code>batsched-py compare</code> with several workloads or seeds gives intervals.</p>"
        )
    else:
        yield "The runs do not differ by waits, slowdowns, utilisation or makespan."


def _advantage(metric: str, names: Sequence[str], values: Sequence[float | None], best: Sequence[bool]) -> str:
    """Return the value of the best run, and the first run's, or the next one's if the first is the best."""
    info = METRIC_INFO[metric]
    value = next(value for value, wins in zip(values, best, strict=True) if wins)
    others = [
        (name, other) for name, other, wins in zip(names, values, best, strict=True) if not wins and other is not None
    ]
    title = escape(info.title.strip())
    if value is None or not others:
        return title
    if best[0]:
        name, other = (max if info.better == "more" else min)(others, key=lambda one: one[1])
    else:
        name, other = others[0]
    change = _change(info.unit, other, value)
    return f"{title}: {_strong(_text(info.unit, value))}, {_text(info.unit, other)} under {escape(name)}{change}"


def _change(unit: Unit, other: float, value: float) -> str:
    """Return the change from another value: of shares in points, of others in percent."""
    if unit is Unit.SHARE:
        text = f" ({100 * (value - other):+.1f} points)"
    elif not other or equal(other, value):
        return ""
    else:
        text = f" ({100 * (value / other - 1):+.0f} %)"
    return text.replace("-", "\N{MINUS SIGN}")


def _text(unit: Unit, value: float) -> str:
    match unit:
        case Unit.SECONDS:
            return brief(value)
        case Unit.SHARE:
            return f"{100 * value:.1f} %"
        case _:
            return f"{value:.2f}"


def _count(number: int, noun: str) -> str:
    return counted(number, noun, blank=NARROW_BLANK)


def _strong(text: str) -> str:
    return f"<strong>{text}</strong>"
