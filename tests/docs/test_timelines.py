"""The page of timelines: each member, state and sign of the program is described there."""

from __future__ import annotations

import re

from batsched_py.cli.shared.timeline_picture import IDLE, MEANINGS
from batsched_py.timelines.api import TRANSITIONS, TimelineRules, timelines_schema
from tests.clone import ROOT
from tests.docs.timeline_states import PICTURE, PLACES, drawing

PAGE = (ROOT / "docs" / "timelines.md").read_text()


def tables(heading: str) -> list[list[list[str]]]:
    """The cells of the tables in a section, without the headings."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    return [[[cell.strip() for cell in line.strip("|").split("|")] for line in one.splitlines()[2:]] for one in found]


def test_each_member_is_described() -> None:
    """The page has the members of the file, of a VM and of an entry; `at`, `name` and `added` are in the text."""
    vms = timelines_schema()["properties"]["vms"]
    entries = {one["required"][-1]: one["properties"] for one in vms["properties"]["*"]["items"]["oneOf"]}
    members = {kind: own.keys() - {"at", "name", "added", kind} for kind, own in entries.items()}
    whole, vm, entry = tables("The file")
    assert {cells[0].strip("`") for cells in whole} == {"vms", *TimelineRules.__struct_fields__}
    assert {cells[0].strip("`") for cells in vm} == set(vms["additionalProperties"]["anyOf"][1]["properties"])
    assert {cells[0].strip("`"): set(re.findall(r"`([a-z_]+)`", cells[2])) for cells in entry} == members


def test_defaults_are_those_of_the_program() -> None:
    """The page has the defaults of the whole file."""
    told = {cells[0].strip("`"): cells[1].strip("`") for cells in tables("The file")[0]}
    for name, value in zip(TimelineRules.__struct_fields__, TimelineRules.__struct_defaults__, strict=True):
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        assert told[name] == ("none" if value is None else shown)


def test_the_table_of_states_is_that_of_the_program() -> None:
    """Each state, and which may follow it."""
    (rows,) = tables("States of a VM")
    told = {cells[0].strip("`"): set(re.findall(r"`([\w/]+)`", cells[2])) for cells in rows}
    assert told == {state.value: {one.value for one in after} for state, after in TRANSITIONS.items()}


def test_each_sign_is_described() -> None:
    """No other sign is."""
    (rows,) = tables("In pictures")
    assert [cells[0].strip("`") for cells in rows] == [*MEANINGS, IDLE]


def test_the_picture_of_states_is_drawn_from_their_table() -> None:
    """`python -m tests.docs.timeline_states` draws it anew after a change; every state has a place."""
    assert PLACES.keys() == TRANSITIONS.keys()
    assert PICTURE.read_text() == drawing()
    assert "(timeline-states.svg)" in PAGE
