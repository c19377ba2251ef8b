"""The table of options: it keeps its own rules, and the documentation has a row for each of its rows."""

from __future__ import annotations

import re

import pytest

from batsched_py.haizea.options import OLDER, OPTIONS, SECTIONS, Option
from tests.clone import ROOT

PAGE = (ROOT / "docs" / "haizea-configuration.md").read_text()
#: A section whose options are all ignored.
OPENNEBULA = "opennebula"


def row(option: Option) -> str:
    """The row of an option in the documentation."""
    values = option.type.label.replace(" | ", ", ").replace("HH:MM:SS or seconds", "duration")
    default = f"`{option.default}`" if option.default is not None else ""
    if option.required is not None:
        default = f"required if {option.required}" if option.required.option else "required"
    meaning = f"Ignored: {option.warning}." if option.warning else f"{'Extension. ' * option.extension}{option.help}"
    return f"| `{option.name}` | {values} | {default} | {meaning} |"


@pytest.mark.parametrize(
    "option", [option for option in OPTIONS if option.section != OPENNEBULA], ids=lambda option: option.key
)
def test_the_page_has_the_row_of_each_option(option: Option) -> None:
    """Name, values, its default or when it is required, its meaning, and whether it is an extension or ignored."""
    assert row(option) in PAGE.splitlines(), f"add to docs/haizea-configuration.md: {row(option)}"


def test_the_page_names_the_options_that_are_all_ignored() -> None:
    """In one sentence instead of rows."""
    section = PAGE.partition(f"\n## [{OPENNEBULA}]\n")[2].partition("\n## ")[0]
    assert re.findall(r"`([a-z-]+)`", section) == [option.name for option in OPTIONS if option.section == OPENNEBULA]


def test_the_page_has_rows_for_nothing_else() -> None:
    """A removed option leaves it, too."""
    rows = [line for line in PAGE.splitlines() if line[:3] == "| `"]
    known = {row(option) for option in OPTIONS}
    older = [line for line in rows if line not in known]
    assert [line.split("`")[1] for line in older] == list(OLDER)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_defaults_and_samples_are_values_of_their_options(option: Option) -> None:
    """The table keeps its own rules."""
    for text in (option.default, option.sample or None):
        if text is not None:
            option.type.read(text)


def test_options_are_named_once_and_stand_in_known_sections() -> None:
    """Messages name them by section and name."""
    keys = [option.key for option in OPTIONS]
    assert len(set(keys)) == len(keys)
    assert {option.section for option in OPTIONS} == set(SECTIONS)
    assert {key for new in OLDER.values() for key in new} <= set(keys)
