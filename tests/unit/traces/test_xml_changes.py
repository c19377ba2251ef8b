"""Changes over time: what SimGrid requires of them, and when they happen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from batsched_py.errors import PlatformError
from batsched_py.model.changes import Changing, TimedChanges
from batsched_py.simulator.machines.moments import moments
from batsched_py.traces.xml_changes import read_pattern
from tests.unit.traces.test_xml_rules import HOSTS, read, zone


@pytest.mark.parametrize(
    ("text", "period", "expected"),
    [
        ("", -1, []),
        ("0 1\n5 0.5\n5 2\n", 10, [(0, 1), (5, 0.5), (5, 2), (10, 1), (15, 0.5), (15, 2), (20, 1)]),
        ("% a\n# b\n\n  2.0   0.5   ignored\r\n1e1\t2.5e-1", -1, [(2, 0.5), (10, 0.25)]),
        ("PERIODICITY 3\n0 1\n3 2", -1, [(0, 1), (3, 2), (3, 1), (6, 2), (6, 1), (9, 2), (9, 1)]),
        ("0 1\n5 2\nLOOPAFTER 1", 0, [(0, 1), (5, 2), (6, 1), (11, 2), (12, 1), (17, 2), (18, 1)]),
        ("STOCHASTIC\nDET 2 DET 0.5\nDET 3 DET 1", -1, [(2, 0.5), (5, 1)]),
        ("STOCHASTIC LOOP\nDET 2 DET 5", -1, [(2, 5), (4, 5), (6, 5), (8, 5), (10, 5), (12, 5), (14, 5)]),
        ("DET 2 DET 0.5", -1, [(2, 0.5)]),
    ],
)
def test_changes_happen_at_their_dates(text: str, period: float, expected: list[tuple[float, float]]) -> None:
    """Comments, blanks, further columns, laws, and changes that begin anew."""
    assert list(islice(happen(text, period), 7)) == expected


def happen(text: str, period: float = -1.0, target: str = "a") -> Iterator[tuple[float, float]]:
    """Yield when changes happen."""
    read = read_pattern(text, period)
    return moments(TimedChanges(Changing.SPEED, (target,), False, read.points, read.period, read.drawn, read.again))


def test_drawn_changes_are_the_same_each_time_and_differ_between_hosts() -> None:
    """The name of the host is the seed; dates never go back."""
    text = "STOCHASTIC LOOP\nUNIF 1 3 NORM 1 0.1\nEXPONENTIAL 2 GAUSSIAN 1 2"
    drawn, again, other = (list(islice(happen(text, target=target), 50)) for target in "aab")
    assert drawn == again != other
    dates = [date for date, _ in drawn]
    assert dates == sorted(dates)
    assert all(1 <= later - date <= 3 for date, later in zip([0.0, *dates[1::2]], dates[::2], strict=False))


@pytest.mark.parametrize(
    ("text", "period", "fault"),
    [
        ("3 0.5\n1 1", -1, "line 2 must not have a date before 3, as 1 is"),
        ("-1 0.5", -1, "line 1 must not have a date before 0, as -1 is"),
        ("0 1\n\nfive 2", -1, "line 3 must be a date and a value, or two laws after STOCHASTIC, not 'five 2'"),
        ("0", -1, "line 1 must be a date and a value"),
        ("0 nan", -1, "line 1 must be a date and a value"),
        ("PERIODICITY often", -1, "line 1 must be a date and a value"),
        ("STOCHASTIC\n0 1", -1, "line 2 must be a date and a value, or two laws"),
        ("STOCHASTIC\nNORM 5 DET 1", -1, "line 2 must be a date and a value, or two laws"),
        ("0 1\n3 0.5", 2, "must not begin anew before the last date, 3"),
        ("PERIODICITY 2\n0 1\n3 0.5", -1, "must not begin anew before the last date, 3"),
        ("0 1\nLOOPAFTER -1", -1, "must not begin anew before the last date, 0"),
        ("PERIODICITY 9\nLOOPAFTER 1\n0 1", -1, "cannot have both PERIODICITY and LOOPAFTER"),
        ("STOCHASTIC\nEXP 0 DET 1", -1, "line 2 must be a date and a value, or two laws"),
        ("STOCHASTIC\nDET 1 DET 1", 5, "cannot be STOCHASTIC with a period: use LOOPAFTER"),
    ],
)
def test_what_stops_simgrid_is_named(text: str, period: float, fault: str) -> None:
    """By the number of the line, if it is one."""
    with pytest.raises(ValueError, match=f"^{re.escape(fault)}"):
        read_pattern(text, period)


def test_changes_are_checked_in_a_file_and_in_the_platform(tmp_path: Path) -> None:
    """Each is named."""
    (tmp_path / "back.txt").write_text("3 1\n1 1\n")
    with pytest.raises(PlatformError, match=r"back\.txt: line 2 must not have a date before 3"):
        read(tmp_path, zone('<host id="a" speed="1f" speed_file="back.txt"/>'))
    with pytest.raises(PlatformError, match=r"platform\.xml: trace t: must not begin anew before the last date, 5"):
        read(tmp_path, zone(f'{HOSTS}<trace id="t" periodicity="2">0 1\n5 0.5</trace>'))
