"""Changes over time: what SimGrid requires of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import PlatformError
from batsched_py.traces.xml_changes import changes_fault
from tests.unit.traces.test_xml_rules import HOSTS, read, zone


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("", -1),
        ("0 1\n5 0.5\n5 2\n", 10),
        ("% a\n# b\n\n  2.0   0.5   ignored\r\n1e1\t2.5e-1", -1),
        ("PERIODICITY 3\n0 1\n3 2", -1),
        ("0 1\n5 2\nLOOPAFTER 1", 0),
        ("STOCHASTIC LOOP\nDET 2 DET 0.5\nUNIF 1 3 NORM 1 0.1\nEXPONENTIAL 2 GAUSSIAN 1 2", -1),
        ("DET 2 DET 0.5", -1),
    ],
)
def test_what_simgrid_reads_has_no_fault(text: str, period: float) -> None:
    """Comments, blanks, further columns, laws, and changes that begin anew."""
    assert changes_fault(text, period) is None


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
        ("STOCHASTIC\nDET 1 DET 1", 5, "cannot be STOCHASTIC with a period: use LOOPAFTER"),
    ],
)
def test_what_stops_simgrid_is_named(text: str, period: float, fault: str) -> None:
    """By the number of the line, if it is one."""
    assert (changes_fault(text, period) or "").startswith(fault)


def test_changes_are_checked_in_a_file_and_in_the_platform(tmp_path: Path) -> None:
    """Each is named."""
    (tmp_path / "back.txt").write_text("3 1\n1 1\n")
    with pytest.raises(PlatformError, match=r"back\.txt: line 2 must not have a date before 3"):
        read(tmp_path, zone('<host id="a" speed="1f" speed_file="back.txt"/>'))
    with pytest.raises(PlatformError, match=r"platform\.xml: trace t: must not begin anew before the last date, 5"):
        read(tmp_path, zone(f'{HOSTS}<trace id="t" periodicity="2">0 1\n5 0.5</trace>'))
