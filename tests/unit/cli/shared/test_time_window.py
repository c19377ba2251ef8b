"""Spellings of times and dates after --from, --to, --skip and --every."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click
import pytest

from batsched_py.cli.main import batsched
from batsched_py.cli.shared.time_window import TimeOrDate, TimeSpan


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("1.5 s", 1.5), ("90min", 5400), ("12h", 43200), ("2.5d", 216000), ("1w", 604800), (" 7 d ", 604800)],
)
def test_times_have_units(text: str, seconds: float) -> None:
    """Seconds without one; whole numbers stay whole."""
    for kind in (TimeSpan(), TimeOrDate()):
        found = kind.convert(text, None, None)
        assert (found, type(found)) == (seconds, type(seconds))


@pytest.mark.parametrize("text", ["2024-05-31", "2024-05-31 08:00", "2024-05-31T08:00:00+02:00", "2024-05-31T08:00Z"])
def test_dates_are_iso_8601(text: str) -> None:
    """With an offset or without."""
    assert TimeOrDate().convert(text, None, None) == datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("kind", "text", "rule"),
    [
        (TimeSpan(), "soon", "must be seconds, or a time like 90min, 12h or 2.5d, not 'soon'"),
        (TimeSpan(), "-5", "must be seconds"),
        (TimeSpan(), "1e3", "must be seconds"),
        (TimeSpan(), "2024-05-31", "must be seconds"),
        (TimeSpan(), "999999999d", "must be at most 60000000000 s"),
        (TimeOrDate(), "2024-02-30", "or a date like 2024-05-31 or 2024-05-31T08:00, not '2024-02-30'"),
        (TimeOrDate(), "20240531T08", "or a date like"),
        (TimeOrDate(), "٣", "must be seconds"),
    ],
)
def test_other_texts_are_refused(kind: TimeSpan, text: str, rule: str) -> None:
    """With the rule and the text."""
    with pytest.raises(click.BadParameter, match=rule):
        kind.convert(text, None, None)


def options(name: str) -> dict[str, Any]:
    """The options of a command, by their spellings."""
    command = batsched.get_command(click.Context(batsched), name)
    assert command is not None
    return {spelling: option for option in command.params for spelling in option.opts}


@pytest.mark.parametrize("name", ["metrics", "compare", "report", "gantt", "plot", "convert"])
def test_windows_are_spelled_alike(name: str) -> None:
    """In every command that cuts by time."""
    found = options(name)
    assert isinstance(found["--from"].type, TimeOrDate)
    assert isinstance(found["--to"].type, TimeOrDate)
    assert type(found["--skip"].type) is TimeSpan
