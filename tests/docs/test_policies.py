"""The page of policies: its tables name the algorithms that have the options, and no others."""

from __future__ import annotations

import re

import pytest

from batsched_py.planning.policies.packing import PACKED_SELECTIONS
from batsched_py.plugins import load
from batsched_py.schedulers import BUILT_INS
from batsched_py.scheduling.options import describe_options
from tests.clone import ROOT

PAGE = (ROOT / "docs" / "policies.md").read_text()


def having(option: str) -> set[str]:
    """The built-ins that have the option."""
    return {
        name for name in BUILT_INS if any(known.name == option for known in describe_options(load(name).options_type))
    }


def section(heading: str) -> str:
    return PAGE.partition(f"\n### {heading}\n")[2].partition("\n### ")[0].partition("\n## ")[0]


@pytest.mark.parametrize("option", ["order", "backfill_order"])
def test_the_table_of_orders_names_whoever_takes_one(option: str) -> None:
    """Row by row, by option."""
    rows = [line.split(" | ") for line in section("Who takes an order").splitlines() if f"| `{option}` |" in line]
    assert {name for cells in rows for name in re.findall(r"`(\w+)`", cells[0])} == having(option)


def test_the_section_on_selections_names_whoever_has_the_option() -> None:
    """It also names those that refuse other ways."""
    assert having("selection") <= set(re.findall(r"`(\w+)`", section("Who takes a selection")))


def test_the_section_on_packed_resources_has_a_row_for_each_selection() -> None:
    """In the order of the table of the code."""
    text = PAGE.partition("\n## Packed resources\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) == list(PACKED_SELECTIONS)
