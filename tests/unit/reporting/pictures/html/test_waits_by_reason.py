"""Bars of waiting by reason."""

from __future__ import annotations

import re

from batsched_py.model.decision_row import DecisionRow
from batsched_py.reporting.pictures.html.assets import asset
from batsched_py.reporting.pictures.html.waits_by_reason import waiting_parts
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.reasons import Reason
from batsched_py.reporting.waits.run_explanation import explain_run
from tests.unit.reporting.sample_schedules import schedule
from tests.unit.reporting.waits.test_explanation import BEHIND, PROMISED, decided, ran

EXPLAINED = explain_run(RunHistory(schedule(*BEHIND), decided(PROMISED)), ("size",))
OTHER = explain_run(RunHistory(schedule(ran("a", 0, 106, 110, "0")), decided(DecisionRow(0, "down"))), ("size",))
IDLE = explain_run(RunHistory(schedule(ran("a", 0, 0, 10, "0"))), ("size",))


def widths(part: str) -> list[list[float]]:
    """The widths of the parts of each bar, in percent."""
    bars = re.findall(r'<span class="bar".*?</td>', part)
    return [[float(width) for width in re.findall(r"width:([0-9.]+)%", bar)] for bar in bars]


def test_the_parts_of_a_bar_are_the_reasons() -> None:
    """53 s of waiting, 15 s of them for a promise; groups of jobs have bars of the whole width."""
    parts = waiting_parts(["run"], [EXPLAINED])
    hours, host_hours, sizes = (part for part in parts if 'class="bars"' in part)
    assert widths(hours) == [[71.70, 28.30]]
    assert widths(host_hours) == [[78.87, 21.13]]
    assert widths(sizes) == [[57.14, 42.86], [100.0]]
    assert (
        'aria-label="too few hosts were free: 72 %; it would have delayed jobs that were promised a start: 28 %"'
        in hours
    )
    assert 'data-reason="promise"' in "".join(parts)


def test_bars_of_runs_are_in_proportion() -> None:
    """The run that waited twice as long has the longer bar; what is not known of it is said."""
    parts = waiting_parts(["one", "<two>"], [EXPLAINED, OTHER])
    hours = next(part for part in parts if 'class="bars"' in part)
    assert widths(hours) == [[35.85, 14.15], [100.0]]
    assert "<two>" not in "".join(parts)
    assert any("The decisions of &lt;two&gt; are not known" in part for part in parts)


def test_runs_without_waits_have_no_bars() -> None:
    """Nothing is divided by zero."""
    assert waiting_parts(["run"], [IDLE]) == []
    assert waiting_parts(["run"], []) == []
    assert widths("".join(waiting_parts(["a", "b"], [IDLE, EXPLAINED])))[0] == [71.70, 28.30]


def test_every_reason_has_a_colour() -> None:
    """In the style of the page."""
    style = asset("page.css")
    assert all(f'[data-reason="{reason}"]' in style for reason in Reason)
