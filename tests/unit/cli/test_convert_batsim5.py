"""`convert --to`: workloads for the Batsim that reads them, and the end of a window under the same name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batsched_py.cli.main import batsched
from tests.clone import ROOT

FIRST = ROOT / "workloads" / "first.json"
INPUTS = ROOT / "tests" / "data" / "batsim5" / "inputs"


def convert(*words: str | Path) -> Result:
    """The command, with what it printed."""
    return CliRunner().invoke(batsched, ["convert", *map(str, words)])


def test_a_workload_goes_to_batsim_5_and_back(tmp_path: Path) -> None:
    """All jobs and profiles, under other names and again under the first."""
    five, four = tmp_path / "five.json", tmp_path / "four.json"
    assert convert(FIRST, "-o", five, "--protocol", "v5").exit_code == 0
    assert convert(five, "-o", four, "--protocol", "v4").exit_code == 0
    later, first, again = (json.loads(path.read_text()) for path in (five, FIRST, four))
    assert {profile["type"] for profile in later["profiles"].values()} == {"DelayProfile"}
    assert again["profiles"] == first["profiles"]
    assert len(again["jobs"]) == len(first["jobs"])


def test_a_time_and_a_protocol_may_both_be_given(tmp_path: Path) -> None:
    """They are two options."""
    told = convert(FIRST, "-o", tmp_path / "w.json", "--protocol", "v5", "--to", "1")
    assert told.exit_code == 0
    assert "left out: submitted outside the window" in told.output


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--to", "v4", "--to", "v5"], "'--protocol' may be given once"),
        (["--to", "1", "--to", "2"], "'--to' / '--end' may be given once"),
        (["--protocol", "v6"], "is not one of 'v4', 'v5'"),
        (["--protocol", "v5", "--leases"], "'--protocol' is for workloads of jobs"),
    ],
)
def test_what_does_not_go_together_is_refused(words: list[str], why: str, tmp_path: Path) -> None:
    """In one line, before anything is written."""
    told = convert(FIRST, "-o", tmp_path / "w.json", *words)
    assert told.exit_code == 2
    assert why in " ".join(told.output.split())
    assert not (tmp_path / "w.json").exists()


def test_what_cannot_be_carried_is_told(tmp_path: Path) -> None:
    """A profile that spreads its bytes, say."""
    told = convert(INPUTS / "w_store.json", "-o", tmp_path / "w.json")
    assert "iospread: in Batsim 4 each host reads and writes all bytes" in told.output
