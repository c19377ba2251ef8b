"""The page of experiments: each member, option and state of the program is described there."""

from __future__ import annotations

import re

from batsched_py.experiments.api import Location, descriptor_schema
from batsched_py.leases.options import LeasesOptions
from batsched_py.schedulers.experiments import ExperimentsOptions
from batsched_py.scheduling.options import describe_options
from tests.clone import ROOT
from tests.docs.experiment_states import PICTURE, PLACES, TRANSITIONS, drawing

PAGE = (ROOT / "docs" / "experiments.md").read_text()


def first_cells(heading: str) -> list[list[str]]:
    """The names in the first column of each table of a section."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    return [
        [name for line in one.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])] for one in found
    ]


def test_each_member_is_described() -> None:
    """Documents, computes and locations have their members in the order of the program."""
    members = descriptor_schema()["properties"]
    resources = members["resources"]["items"]["properties"]
    document, compute, kinds = first_cells("The JSON form")
    assert set(document) == set(members)
    assert set(compute) == set(resources["compute"]["properties"])
    assert ["compute", *kinds] == list(resources)
    (location,) = first_cells("The testbed")
    assert location == list(Location.__struct_fields__)


def test_each_option_is_described() -> None:
    """No other option is."""
    options = {one.name: one for one in describe_options(ExperimentsOptions)}
    own = options.keys() - {one.name for one in describe_options(LeasesOptions)}
    (told,) = first_cells("The algorithm")
    assert set(told) == own


def test_the_table_of_states_is_that_of_the_program() -> None:
    """Each state, and which may follow it."""
    section = PAGE.partition("\n## States\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in section.splitlines() if line.startswith("| `")]
    told = {cells[0].strip(" `"): set(re.findall(r"`(\w+)`", cells[2])) for cells in rows}
    assert told == {state.value: {one.value for one in after} for state, after in TRANSITIONS.items()}


def test_the_picture_of_states_is_drawn_from_their_table() -> None:
    """`python -m tests.docs.experiment_states` draws it anew after a change; every state has a place."""
    assert PLACES.keys() == TRANSITIONS.keys()
    assert PICTURE.read_text() == drawing()
    assert "(experiment-states.svg)" in PAGE
