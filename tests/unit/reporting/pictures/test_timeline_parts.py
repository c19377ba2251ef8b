"""The section of timelines in a report."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

import pytest

from batsched_py.reporting.api import Schedule
from batsched_py.reporting.pictures.html.timelines import timeline_parts
from batsched_py.reporting.schedules.timeline_tables import TimelineBar, TimelineChart, chart_of_tables
from batsched_py.timelines.api import timeline_tables
from tests.unit.timelines.fa_cases import CASES, hold, one, pause, played, run


def parts(chart: TimelineChart | None) -> str:
    """The section of a run."""
    return "\n".join(timeline_parts([Schedule("run", (), 4, {}, timelines=chart)]))


def test_a_run_without_timelines_has_no_section() -> None:
    """Then it is left out of the page."""
    assert parts(None) == ""


def test_each_thing_in_a_vm_is_a_rectangle() -> None:
    """With its name and times; a pause, and a break that is never resumed, too."""
    ended = played(one(run("n<1>", -5, takes=20), pause(60, 5), run("a", 10, takes=7), hold(20), buffer=0))
    section = parts(chart_of_tables(timeline_tables(ended, {})))
    picture = fromstring(section[section.index("<svg") : section.index("</svg>") + len("</svg>")])
    assert [title.text for title in picture.iter("title")] == [
        "start",
        "n<1> (run): 00:00:00 to 00:00:20",
        "pause@5 (pause): 00:00:25 to 00:01:25",
        "a (run): 00:01:30 to 00:01:37",
        "break@20 (break): 00:01:40 to -",
    ]
    assert "run: 1 VM, start at 00:00:20; an entry was 0 s late at most, 99 of 100 0 s." in section
    assert '<span class="swatch" data-kind="pause"></span>paused' in section
    assert "reboots" not in section


def test_lateness_is_told() -> None:
    """F34: the most, and the 99th percentile, of each VM."""
    bars = [TimelineBar("vm", "run", f"e{number}", number, number + 1, late=number / 10) for number in range(1, 201)]
    section = parts(TimelineChart({"vm": 0.0}, tuple(bars), 0.0, 0.0))
    assert "an entry was 20 s late at most, 99 of 100 19.8 s" in section
    assert "<td>20</td><td>19.8</td>" in section


@pytest.mark.parametrize("name", CASES)
def test_every_case_can_be_drawn(name: str) -> None:
    """Also one without a start, or without an entry; each VM is named."""
    case = CASES[name]
    section = parts(chart_of_tables(timeline_tables(played(case.document, *case.resumes), {})))
    for vm in case.times:
        assert f'text-anchor="end">{vm}</text>' in section


def test_names_from_outside_are_text() -> None:
    """Neither markup nor control characters."""
    section = parts(TimelineChart({"<b>\x07": 0.0}, (TimelineBar("<b>\x07", "run", "<i>\x1b", 0, 1),), None, 0.0))
    assert "<b>" not in section
    assert "<i>" not in section
    assert not set("\x07\x1b") & set(section)
