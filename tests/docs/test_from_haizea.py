"""The page for those who come from Haizea: its defects with the tests that show them, and the states of a lease."""

from __future__ import annotations

import re

from batsched_py.leases.lifecycle import TRANSITIONS
from tests.clone import ROOT
from tests.docs.lease_states import MARKS, PICTURE, drawing
from tests.haizea_cases import NAMES
from tests.integration.test_recorded_haizea import DIFFERENCES, SECOND

PAGE = ROOT / "docs" / "how-to" / "from-haizea.md"
RECORDED = ROOT / "tests" / "data" / "haizea" / "README.md"


def rows() -> dict[str, str]:
    """The test that shows each defect, by its number."""
    table = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if re.match(r"\| D\d", line)]
    return {row[0]: row[-1] for row in table}


def test_each_of_the_25_defects_has_a_row() -> None:
    """In their order."""
    assert list(rows()) == [f"D{number}" for number in range(1, 26)]


def test_each_defect_is_shown_by_tests_and_recorded_cases_that_exist() -> None:
    """A case is a folder of tests/data/haizea; a test is named with its module."""
    for number, shown in rows().items():
        names = re.findall(r"`([^`]+)`", shown)
        assert names, number
        for name in names:
            if "::" in name:
                module, _, test = name.partition("::")
                assert f"def {test}(" in (ROOT / "tests" / module).read_text(), f"{number}: {name}"
            else:
                assert name in NAMES, f"{number}: {name}"


def test_each_call_of_its_interface_has_a_request_that_there_is() -> None:
    """H113: by the description of the API; one call has none, and does nothing in Haizea."""
    rows = re.findall(r"^\| `(\w+)\(.*?\)`.* \| (?:`(\w+ /api/\S+?)`.*|none) \|$", PAGE.read_text(), re.MULTILINE)
    assert [call for call, _ in rows] == [
        "create_lease", "cancel_lease", "get_leases", "get_lease", "get_queue", "get_hosts", "notify_event",
    ]  # fmt: skip
    described = (ROOT / "docs" / "site-api.md").read_text()
    assert [request for _, request in rows if request and f"| `{request}` |" not in described] == []
    assert [call for call, request in rows if not request] == ["notify_event"]


def different() -> dict[str, str]:
    """The test that shows the cause of each recorded run that differs, by its name."""
    text = RECORDED.read_text().partition("## The recorded runs that differ")[2]
    found = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    return {name: row[-1] for row in found for name in re.findall(r"`([^`]+)`", row[0])}


def test_each_recorded_run_that_differs_has_a_row_and_no_other() -> None:
    """A recording named there as the cause is the one with which the test compares."""
    assert set(different()) == set(DIFFERENCES)
    for name, shown in different().items():
        why = DIFFERENCES[name]
        assert shown.startswith("equal with") == bool(why.equals), name
        assert ("but for" in shown) == bool(why.but), name
        assert ("Haizea 1.1" in shown) == (why.equals == SECOND), name


def test_the_runs_are_counted() -> None:
    """Equal, different by a correction alone, shown by a rule or by 1.1, partly explained."""
    shown = sum(1 for why in DIFFERENCES.values() if why.equals and not why.but)
    partly = [name for name, why in DIFFERENCES.items() if why.but] + ["rnd-05"]
    text = " ".join(PAGE.read_text().split())
    equal, corrected = len(NAMES) - len(DIFFERENCES), len(DIFFERENCES) - len(partly)
    assert f"Of the {len(NAMES)} runs {equal} have the recorded outcome" in text
    assert f"{corrected} differ by a correction alone: {shown} are equal, too" in text
    assert f"{len(partly)} are partly explained" in text


def test_the_picture_of_the_states_is_drawn_from_the_table() -> None:
    """`python -m tests.docs.lease_states` draws it anew after a change."""
    assert PICTURE.read_text() == drawing()


def test_the_picture_has_each_transition() -> None:
    """As an arrow with its name, or as a mark at the state."""
    arrows = set(re.findall(r"<title>(.+?)</title>", drawing()))
    others = {(state, after) for state, following in TRANSITIONS.items() for after in following if after not in MARKS}
    assert arrows == {f"{state.label} to {after.label}" for state, after in others}
    for other in MARKS:
        marked = sum(1 for following in TRANSITIONS.values() if other in following)
        assert len(re.findall(rf'class="m"[^>]*>[^<:]*{MARKS[other]}[^<:]*<', drawing())) == marked
