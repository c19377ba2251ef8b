"""Files of pictures: the same bytes, fonts in them, round ticks."""

from __future__ import annotations

import matplotlib as mpl
import pytest
from defusedxml.ElementTree import fromstring

from batsched_py.reporting.pictures.drawing import FORMATS
from batsched_py.reporting.pictures.paper.gantt_figure import gantt_figure
from batsched_py.reporting.pictures.paper.style import new_figure, saved, style, time_ticks
from batsched_py.reporting.pictures.window import window_on
from tests.unit.reporting.sample_schedules import schedule


def picture(form: str, title: str = "") -> bytes:
    with style():
        return saved(gantt_figure([schedule()], window_on([schedule()]), panels=["queue"], title=title), form)


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_picture_is_the_same_bytes_whatever_the_settings(form: str) -> None:
    """Settings of a user's matplotlibrc do not matter, and are as they were afterwards."""
    before = picture(form)
    with mpl.rc_context({"font.size": 30.0, "svg.hashsalt": "x", "figure.facecolor": "red", "axes.grid": True}):
        assert picture(form) == before
        assert mpl.rcParams["font.size"] == 30.0


def test_a_pdf_has_its_fonts_and_no_date() -> None:
    """TrueType, as publishers want it."""
    content = picture("pdf")
    assert content.startswith(b"%PDF-")
    assert b"/CIDFontType2" in content
    assert b"/FontFile2" in content
    assert b"/Type3" not in content
    assert b"CreationDate" not in content


def test_a_svg_has_its_letters_as_text_and_no_date() -> None:
    """It can be searched and edited; a dollar is a dollar."""
    content = picture("svg", "for 5 $ and 6 $").decode()
    texts = {text.text for text in fromstring(content).iter("{http://www.w3.org/2000/svg}text")}
    assert {"for 5 $ and 6 $", "host", "waiting jobs", "time (seconds)"} <= texts
    assert "dc:date" not in content


@pytest.mark.parametrize(
    ("begin", "end", "unit", "labels"),
    [
        (0.0, 150.0, "seconds", ["0", "30", "60", "90", "120", "150"]),
        (0.0, 3600.0, "minutes", ["0", "10", "20", "30", "40", "50", "60"]),
        (0.0, 183000.0, "hours", ["0", "12", "24", "36", "48"]),
        (86400.0, 30 * 86400.0, "days", ["5", "10", "15", "20", "25", "30"]),
        (0.0, 0.5, "seconds", ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]),
    ],
)
def test_ticks_stand_at_round_times(begin: float, end: float, unit: str, labels: list[str]) -> None:
    """In the unit that suits them, absolute even if the picture begins later."""
    axes = new_figure(3.5, 2).subplots()
    assert time_ticks(axes, begin, end, 3.0) == unit
    assert [label.get_text() for label in axes.get_xticklabels()] == labels
