"""docs/conformance: a row for each code that sources cite, a test or a reason in each row, and the numbers of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.clone import ROOT
from tests.docs.codes import citations, is_there, sources
from tests.docs.conformance import INDEX, LETTERS, cited, numbers, pages, rows

#: A row: code, requirement, how it is met, test.
CELLS = 4


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_codes_are_unique_and_in_order(page: Path) -> None:
    """Requirements and acceptance cases each for themselves; all have the letters of the page."""
    found = rows(page)
    assert found
    assert {row.letters for row in found} <= set(LETTERS[page.stem])
    for is_case in (False, True):
        ordered = [row.number for row in found if row.is_case is is_case]
        assert ordered == sorted(set(ordered))


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_each_code_that_is_cited_has_a_row(page: Path) -> None:
    """A code that is cited and not explained leads nowhere."""
    codes = {row.code for row in rows(page)}
    assert {code: path for code, path in citations(cited(page.stem)).items() if code not in codes} == {}


def test_no_section_is_cited_that_is_explained_nowhere() -> None:
    """As in `F.10.2`: sections of documents that are not here."""
    assert citations(re.compile(r"(?<![\w.])[A-F]\.\d+(?:\.\d+)?(?![\w.])")) == {}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_each_row_has_a_test_or_a_reason(page: Path) -> None:
    """A requirement that is met, in whole or in part, has a test; any other has a reason."""
    for row in rows(page):
        assert len(row.cells) == CELLS, row.code
        assert all(cell.strip() for cell in row.cells[:3]), row.code
        assert row.tests or row.verdict in {"not met", "not applicable"}, row.code


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_the_tests_of_a_row_exist(page: Path) -> None:
    """Path and function are there."""
    named = {test: row.code for row in rows(page) for test in row.tests}
    assert {test: code for test, code in named.items() if not is_there(test)} == {}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_the_modules_of_a_row_exist(page: Path) -> None:
    """By their path in batsched_py, or the end of it."""
    named = {module: row.code for row in rows(page) for module in re.findall(r"`([\w/]+\.py)`", row.cells[2])}
    paths = [f"/{path.relative_to(ROOT)}" for path, _ in sources()]
    assert {
        module: code for module, code in named.items() if not any(path.endswith(f"/{module}") for path in paths)
    } == {}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_each_acceptance_case_is_cited_by_a_test(page: Path) -> None:
    """A reader finds it there by its code; those that are not met have none."""
    tests = {code for code, path in citations(cited(page.stem)).items() if path.startswith("tests/")}
    assert {row.code for row in rows(page) if row.is_case and row.tests} - tests == set()


def test_the_numbers_are_those_of_the_pages() -> None:
    """`python -m tests.docs.conformance` writes them anew after a change."""
    assert numbers() in INDEX.read_text()


def test_a_row_is_read_with_what_becomes_of_it(tmp_path: Path) -> None:
    """Bars in code, acceptance cases, several tests; other tables have no rows."""
    page = tmp_path / "page.md"
    page.write_text(
        "| H1 | one | by `a \\| b` | `tests/a.py::test_a`, `tests/b.py::test_b` |\n"
        "| H2 | two | not met: no reason to | |\n"
        "| HA-3 | three | partly: but for this | `tests/a.py::test_c` |\n"
        "| D4 | a defect |\n| HA | no number | at | all |\n"
    )
    one, two, three, defect = rows(page)
    assert (one.code, one.verdict, one.tests) == ("H1", "met", ["tests/a.py::test_a", "tests/b.py::test_b"])
    assert (two.code, two.verdict, two.tests) == ("H2", "not met", [])
    assert (three.code, three.verdict, three.is_case, three.number) == ("HA-3", "partly", True, 3)
    assert len(defect.cells) != CELLS


def test_codes_are_found_where_they_are_cited() -> None:
    """In lists, before a colon, with the name of a part of a case; not as parts of other names."""
    text = '"""Of it (H34, H35).""" H9: "HA-26c" HA-22-B1 XH3 H12.5 H4=1 -H5 H6(x) SHA-256'
    assert cited("haizea").findall(text) == ["H34", "H35", "H9", "HA-26", "HA-22"]
