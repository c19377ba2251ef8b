"""The page of algorithms: each that comes along is in its table, and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from batsched_py.schedulers import BUILT_INS, FOR_TESTS
from tests.clone import ROOT

PAGE = (ROOT / "docs" / "algorithms.md").read_text()


def words(text: str) -> list[str]:
    return text.split()


#: The variants of batsched 1.4.
BATSCHED = words("""
conservative_bf crasher easy_bf easy_bf_fast easy_bf_plot_liquid_load_horizon energy_bf energy_bf_dicho
energy_bf_idle_sleeper energy_bf_monitoring energy_bf_monitoring_inertial energy_bf_subpart_sleeper energy_watcher fcfs
fcfs_fast filler killer killer2 random rejecter sequencer sleeper submitter waiting_time_estimator
""")
#: The files in pybatsim 3.2.1's folder of schedulers, those that it calls unmaintained too.
PYBATSIM = words("""
easyBackfill fcfsSchedSleep fillerSched fillerSchedWithEvents randomSched schedBebida schedEasySjfBackfill schedFcfs
schedFiller schedSendRecv easyBackfillNotopo easyEnergyBudget easySjbfBackfillNotopo schedDelayProfilesAsTasks
""")


def rows(heading: str) -> list[list[str]]:
    """The cells of the rows of the table in a section."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (text,) = [part for part in section if part.startswith(f"{heading}\n")]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def test_each_algorithm_has_a_row() -> None:
    """In the order of the alphabet; a row of one that is gone is found, too. `describe` shows its source."""
    names = [cells[0].strip("`") for cells in rows("Built-in algorithms")]
    assert names == sorted(BUILT_INS)
    assert all(len(cells) == 4 and cells[3] for cells in rows("Built-in algorithms"))


@pytest.mark.parametrize(("program", "names", "column"), [("batsched", BATSCHED, 1), ("pybatsim", PYBATSIM, 2)])
def test_each_algorithm_of_theirs_is_here_or_it_is_said_why_not(program: str, names: list[str], column: int) -> None:
    """In one place or the other."""
    here = quoted(cells[column] for cells in rows("Built-in algorithms"))
    absent = quoted(cells[0] for cells in rows("Algorithms without a counterpart") if cells[0].startswith(program))
    assert set(names) - here - absent == set()


def test_the_readme_names_each_algorithm_in_a_group() -> None:
    """It names no other."""
    section = (ROOT / "README.md").read_text().partition("\n## Algorithms\n")[2].partition("\n## ")[0]
    lines = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    groups = {cells[0].strip(): quoted(cells[1:]) for cells in lines}
    assert set.union(*groups.values()) == set(BUILT_INS)
    assert groups["for tests"] == FOR_TESTS


def quoted(texts: Iterable[str]) -> set[str]:
    """The words in backquotes, but for options."""
    return {word for text in texts for word in re.findall(r"`([^`]+)`", text) if "=" not in word}
