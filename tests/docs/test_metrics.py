"""The page of metrics: each metric, column and series of the program is defined there."""

from __future__ import annotations

import re

import click
import pytest

from batsched_py.cli.main import batsched
from batsched_py.reporting.metrics.catalogue import METRIC_INFO
from batsched_py.reporting.metrics.job_metrics import COLUMNS
from batsched_py.results.result_files import JOBS_HEADER
from tests.clone import ROOT

PAGE = (ROOT / "docs" / "metrics.md").read_text()


def section(heading: str) -> str:
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def test_each_metric_of_a_run_has_a_definition() -> None:
    """In the order in which it is written."""
    rows = [line.partition(" | ")[0] for line in section("The metrics of a run").splitlines() if line.startswith("| `")]
    defined = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    missing = [name for name in METRIC_INFO if name not in defined]
    assert not missing, f"the metrics {missing} have no row in docs/metrics.md: add it, in the order of RunMetrics"
    assert defined == list(METRIC_INFO), "order the rows of docs/metrics.md as the fields of RunMetrics"


def test_each_column_of_a_job_is_described() -> None:
    """The page has the columns that Batsim does not have."""
    told = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", section("For programs and papers"), re.M)))
    assert set(COLUMNS) - set(JOBS_HEADER.split(",")) <= set(told)


def test_each_series_is_described() -> None:
    """By its name."""
    command = batsched.get_command(click.Context(batsched), "metrics")
    assert command is not None
    (series,) = [option for option in command.params if option.name == "series"]
    assert isinstance(series.type, click.Choice)
    missing = [name for name in series.type.choices if f"\n| `{name}` | " not in section("For programs and papers")]
    assert missing == []


@pytest.mark.parametrize("source", ["[1]", "[2]", "[3]", "[4]"])
def test_each_source_is_cited(source: str) -> None:
    """Each citation is in the list of sources."""
    assert f"({source})" in PAGE
    assert f"\n{source[1]}. " in section("The metrics of a run")
