"""The documentation as a whole: links lead somewhere, and nothing of the program is left out."""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path
from typing import get_args

import click
import pytest

from batsched_py.api import ORDERS, Availability, Plan, View
from batsched_py.campaigns.metrics import METRICS
from batsched_py.cli.catalogue import COMMANDS
from batsched_py.cli.main import batsched
from batsched_py.cli.shared.repetition import MovedOption
from batsched_py.model.settings import Settings
from batsched_py.planning.policies.packing import PACKED_SELECTIONS
from batsched_py.planning.policies.selection import SELECTIONS
from batsched_py.protocol.commands import Command
from batsched_py.protocol.dialect import V4, V14
from batsched_py.protocol.dialects import V5
from batsched_py.protocol.events import Event
from batsched_py.reporting.metrics.catalogue import METRIC_INFO
from batsched_py.results.result_files import JOBS_HEADER, STATES
from batsched_py.results.trace_files import (
    CONSUMED_ENERGY_HEADER,
    MACHINE_STATES_HEADER,
    PSTATE_CHANGES_HEADER,
)
from batsched_py.scheduling.recurring_verbs import RecurringVerbs
from batsched_py.scheduling.registration_verbs import RegistrationVerbs
from batsched_py.testing import Bench, Case, ContractTests, Decision, Played
from tests.clone import ROOT, below, files
from tests.docs.pages import PAGES, name

DOCS = ROOT / "docs"

#: Methods that are the engine's, not the algorithm's.
ENGINE = {
    "release",
    "ignore",
    "ignored",
    "begin",
    "commands",
    "timestamp",
    "rejections",
    "holds",
    "promises",
    "dialect",
    "watch",
    "written",
}
ENGINE_RECURRING = {"wind_up", "end_recurring", "check_energy"}
ENGINE_AVAILABILITY = {
    *("advance", "occupy", "vacate", "busy", "disrupt", "down", "hosts", "now", "reserved", "free"),
    *("occupy_tasks", "vacate_tasks", "rooms", "share", "standing_room", "stands"),
}


def prose(page: Path) -> str:
    """The text without its fenced blocks, where brackets are not links."""
    return re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page, `#...`, as GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    """Files of the repository and their headings; other sites are not asked."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), f"{name(page)}: {target}"
        assert not anchor or anchor in anchors(found), f"{name(page)}: {target}"


@pytest.mark.parametrize("page", below("docs", "*.md"), ids=name)
def test_each_page_is_in_the_index(page: Path) -> None:
    """A page that no other names is not found."""
    index = DOCS / "README.md"
    assert page == index or f"({page.relative_to(DOCS).as_posix()})" in index.read_text()


@pytest.mark.parametrize("command", COMMANDS)
def test_each_option_of_a_command_has_a_help_text(command: str) -> None:
    """It is a reader's only list of options; the page has a section for the command."""
    context = click.Context(batsched)
    found = batsched.get_command(context, command)
    assert found is not None
    heading = f"## {command}\n"
    assert heading in (DOCS / "cli.md").read_text(), f"{command} has no section in docs/cli.md: add one, {heading}"
    each = [found, *found.commands.values()] if isinstance(found, click.Group) else [found]
    options = [option for one in each for option in one.params if isinstance(option, click.Option)]
    assert [one.name for one in options if not one.help or (one.hidden and not isinstance(one, MovedOption))] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_in_the_readme(command: str) -> None:
    """In its table of commands."""
    table = (ROOT / "README.md").read_text().partition("\n## Commands\n")[2].partition("\n## ")[0]
    found = re.search(rf"^\| .*`{command}`.* \|", table, re.MULTILINE)
    assert found, f"{command} has no row in the section Commands of README.md: add it"


def test_each_exit_code_is_described() -> None:
    """The table of the page is that of the program."""
    said = re.findall(r"^    (\d+) ", (ROOT / "batsched_py" / "cli" / "main.py").read_text(), re.MULTILINE)
    told = re.findall(r"^\| (\d+) \|", (DOCS / "cli.md").read_text(), re.MULTILINE)
    assert told == said


@pytest.mark.parametrize("kind", [*get_args(Event), *get_args(Command)])
def test_each_event_and_command_is_described_under_its_names(kind: type) -> None:
    """The class, and what each dialect calls it."""
    page = (DOCS / "protocol.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith(f"| `{kind.__name__}` |")]
    assert rows
    for dialect in (V4, V14, V5):
        for forms in (dialect.events, dialect.commands):
            if kind in forms.writers:
                assert any(forms.writers[kind][0] in row for row in rows), (kind, dialect.name)


@pytest.mark.parametrize(
    ("kind", "left_out"),
    [
        (View, set()),
        (Plan, ENGINE),
        (RecurringVerbs, ENGINE_RECURRING),
        (RegistrationVerbs, {"submit_read"}),
        (Availability, ENGINE_AVAILABILITY),
    ],
    ids=["view", "plan", "recurring", "registration", "availability"],
)
def test_each_thing_an_algorithm_may_use_is_described(kind: type, left_out: set[str]) -> None:
    """Properties of the View, verbs of the Plan, questions to the Availability."""
    page = (DOCS / "first-algorithm.md").read_text()
    public = {attribute for attribute in vars(kind) if not attribute.startswith("_")} - left_out
    assert {attribute for attribute in public if not re.search(rf"\b{attribute}\b", page)} == set()


@pytest.mark.parametrize("name", list(ORDERS))
def test_each_order_is_described_with_its_formula(name: str) -> None:
    """As the program has it."""
    row = f"| `{name}` | {ORDERS[name].formula} |"
    page = (DOCS / "policies.md").read_text()
    assert not ORDERS[name].formula or row in page, f"docs/policies.md has no row with this formula: {row}"


def test_each_row_of_the_page_is_of_an_order_or_selection() -> None:
    """The page names no others."""
    tables = re.findall(r"^\| name \|.*\n\|.*\n((?:\|.*\n)+)", (DOCS / "policies.md").read_text(), re.MULTILINE)
    named = [name for table in tables for name in re.findall(r"^\| `(\w+)`", table, re.MULTILINE)]
    rows = [*ORDERS, *SELECTIONS, *PACKED_SELECTIONS]
    assert len(named) >= len(rows)
    assert [name for name in named if name not in rows] == [], "docs/policies.md: no such row in code"


@pytest.mark.parametrize("name", list(SELECTIONS))
def test_each_selection_is_described(name: str) -> None:
    """By its name."""
    row = f"| `{name}` | "
    assert row in (DOCS / "policies.md").read_text(), f"the selection {name} has no row in docs/policies.md: add {row}"


@pytest.mark.parametrize("kind", [Bench, Case, ContractTests, Decision, Played])
def test_each_thing_that_tests_are_made_of_is_described(kind: type) -> None:
    """The page names all that an author's tests may use."""
    page = (DOCS / "testing.md").read_text()
    names = {*signature(kind).parameters, *vars(kind)} - {"job_ids", "lost", "of"}
    engine = {"workload", "platform", "settings", "external_events"}
    public = {name for name in names - engine if not name.startswith("_")}
    assert {name for name in public if not re.search(rf"\b{name}\b", page)} == set()


def test_each_column_of_the_outputs_is_described() -> None:
    """The page has the columns of all files."""
    page = (DOCS / "simulator.md").read_text()
    headers = (JOBS_HEADER, MACHINE_STATES_HEADER, CONSUMED_ENERGY_HEADER, PSTATE_CHANGES_HEADER)
    columns = [*",".join(headers).split(","), *(f"time_{state}" for state in STATES)]
    assert [column for column in columns if f"`{column}`" not in page] == []


def test_each_setting_of_a_simulation_has_an_option() -> None:
    """The command line has all settings of Python, except for the events, which come from a file."""
    found = batsched.get_command(click.Context(batsched), "simulate")
    assert found is not None
    names = {parameter.name for parameter in found.params} | {"external_events"}
    assert set(signature(Settings).parameters) - names == set()


def test_each_metric_that_algorithms_are_not_compared_by_is_named() -> None:
    """The others are all in the page on metrics."""
    page = (DOCS / "comparison.md").read_text()
    named = re.findall(r"`(\w+)`", page.partition("only describe it:")[2].partition(".")[0])
    left_out = [name for name in METRIC_INFO if name not in METRICS]
    assert named == left_out, f"name these after `only describe it:` in docs/comparison.md: {left_out}"


def test_the_metrics_of_which_more_is_better_are_named() -> None:
    """A metric with the wrong direction would present the worst algorithm as the best."""
    text = (DOCS / "comparison.md").read_text().partition("Higher is better for")[2].partition("lower for")[0]
    assert set(re.findall(r"`(\w+)`", text)) == {name for name, metric in METRICS.items() if metric.more_is_better}


def test_decisions_are_numbered_without_a_gap() -> None:
    """Their titles carry the number."""
    pages = files("docs/adr/*.md")
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    for number, page in enumerate(pages, 1):
        assert page.read_text().startswith(f"# {number}. ")


def test_modules_that_the_guide_names_exist() -> None:
    """Paths are from the root, or from the package."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`([\w/]+/\w+\.py)`", text))
    assert len(named) > 10
    roots = (ROOT, ROOT / "batsched_py")
    assert [path for path in sorted(named) if not any((root / path).is_file() for root in roots)] == []
