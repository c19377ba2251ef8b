"""Queries on a command line: one that begins with a minus is a query, not an option."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.cli.main import run
from tests.clone import ROOT

PLATFORM = str(ROOT / "platforms" / "tiny4.xml")


@pytest.mark.parametrize("query", ["-1 < 0", "-(1) < 0", "- 1 < 0", "--1 > 0", "-1<0", "-.5 < 0"])
@pytest.mark.parametrize("command", [["query", "--plain"], ["placements", "--plain", "--hosts", "4"]])
def test_a_query_may_begin_with_a_minus(capsys: pytest.CaptureFixture[str], command: list[str], query: str) -> None:
    """Before options and behind them; all hosts are found."""
    for behind in ([query, "-p", PLATFORM], ["-p", PLATFORM, query], ["-p", PLATFORM, "--", query]):
        assert run([*command, *behind]) == 0, behind
        assert capsys.readouterr().out == "t0\nt1\nt2\nt3\n"


def test_a_value_that_begins_with_a_minus_stays_with_its_option(capsys: pytest.CaptureFixture[str]) -> None:
    """A word that begins like a long option is one."""
    assert run(["query", "-p", PLATFORM, "--as", "-1", "true", "--plain"]) == 0
    assert run(["query", "-p", PLATFORM, "--explian", "true"]) == 2
    assert "No such option" in capsys.readouterr().err
    assert run(["query", "-p", PLATFORM, "true", "-1 < 0"]) == 2
    assert "Got unexpected extra argument" in capsys.readouterr().err


def test_a_query_that_begins_with_a_minus_is_shown_with_its_mistake(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """As any other."""
    assert run(["query", "-p", PLATFORM, "-1 <"]) == 2
    assert "-1 <" in capsys.readouterr().err
