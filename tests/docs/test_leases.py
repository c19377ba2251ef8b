"""The page of leases: each term, option, state and sign of the program is told there."""

from __future__ import annotations

import re

import pytest

from batsched_py.leases.options import LeasesOptions
from batsched_py.leases.policies.catalogue import ADMISSION, HOSTS, PREEMPTION, PolicyCatalogue
from batsched_py.model.lease_terms import ALL_TERMS
from batsched_py.reporting.pictures.lease_marks import MARK_NAMES
from batsched_py.reporting.pictures.terminal.signs import SIGNS
from batsched_py.results.lease_rows import LeaseState
from batsched_py.scheduling.options import describe_options
from tests.clone import ROOT

PAGE = (ROOT / "docs" / "leases.md").read_text()


def rows(heading: str) -> list[list[str]]:
    """The cells of the tables in a section, without lines."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0].replace("\\|", "/")
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_each_term_is_described() -> None:
    """No other term is."""
    names = [name for cells in rows("Terms") for name in re.findall(r"^`(\w+)`$", cells[0])]
    assert sorted(names) == sorted(ALL_TERMS)


@pytest.mark.parametrize(
    ("option", "catalogue"),
    [("policy_admission", ADMISSION), ("policy_preemption", PREEMPTION), ("policy_host_selection", HOSTS)],
)
def test_each_policy_is_described(option: str, catalogue: PolicyCatalogue[object]) -> None:
    """A policy that is added to a catalogue is missing here, in the row of its option."""
    text = (ROOT / "docs" / "haizea-configuration.md").read_text()
    begins = f"| `{option.replace('_', '-')}`"
    row = next(line for line in text.splitlines() if line.startswith(begins))
    missing = [name for name in catalogue if not re.search(rf"(?<![\w-]){name}(?![\w-])", row)]
    assert not missing, f"add {missing} to the row {option} of docs/haizea-configuration.md"


def test_each_option_has_a_help_text() -> None:
    """`describe` prints it."""
    assert [option.name for option in describe_options(LeasesOptions) if not option.help] == []


def test_each_state_is_described() -> None:
    """By the name that tables have."""
    told = {name for cells in rows("States") for name in re.findall(r"`([\w-]+)`", cells[0])}
    assert told == {state.label for state in LeaseState}


def test_each_mark_of_pictures_is_described() -> None:
    """The signs of the terminal, and a row for each kind."""
    table = rows("In pictures and metrics")[1:]
    assert [cells[0].strip("`") for cells in table[1:] if cells[0]] == list(SIGNS.values())
    assert len(table) == 1 + len(MARK_NAMES)
