"""The provenance of a run, in words."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.reporting.api import Schedule
from batsched_py.reporting.provenance import find_differences, provenance_rows, run_title, why_partial
from batsched_py.results.run_file import InputFile, Measured, OtherFile, RunFile, WorkloadFile
from tests.unit.reporting.sample_schedules import schedule

RUN = RunFile(
    algorithm="easy",
    options={"order": "sjf", "slack": 0.0, "reserve": None, "arrivals": True},
    given=("order", "gone"),
    seed=None,
    platform=InputFile("in/p.xml", "a" * 64),
    workloads=(WorkloadFile("in/w.json", "b" * 64, {"model": "lublin", "seed": 3}),),
    files=(OtherFile("e.txt", "c" * 64, "events"),),
    settings={"energy": True, "roles": {}, "machines": None},
    command=("batsched-py",),
    version="0.1.0",
    measured=Measured("2026-01-02T03:04:05+00:00", 90.0),
)


def told(name: str = "run", run: RunFile | None = RUN) -> Schedule:
    return replace(schedule(name=name), run=run)


def changed(**members: Any) -> RunFile:
    return replace(RUN, **members)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (RUN, "easy (order=sjf) on p.xml: w.json"),
        (changed(given=()), "easy on p.xml: w.json"),
        (changed(algorithm=None, given=(), platform=None), "another program: w.json"),
        (changed(given=("reserve", "arrivals"), workloads=()), "easy (reserve=none, arrivals=true) on p.xml"),
        (changed(algorithm="\x1b[31mred\n", given=(), workloads=()), r"\x1b[31mred\n on p.xml"),
    ],
)
def test_a_run_is_told_on_one_line(run: RunFile, words: str) -> None:
    """With the options that were given, and fit for a terminal whoever wrote it."""
    assert run_title(run) == words


def test_runs_stand_side_by_side() -> None:
    """A heading for what any of them tells; a dash for one that does not."""
    rows = dict(provenance_rows([told(), told("other", None), told("third", changed(seed=4))]))
    assert rows["algorithm"] == ["easy", "-", "easy"]
    assert rows["options"][0] == "order=sjf"
    assert rows["other options"][0] == "slack=0.0, reserve=none, arrivals=true"
    assert rows["seed"] == ["-", "-", "4"]
    assert rows["platform"][0] == "in/p.xml (aaaaaaaaaaaa)"
    assert rows["drawn from"][0] == "model=lublin, seed=3"
    assert rows["settings"][0] == "energy=true"
    assert rows["other files"][0] == "events: e.txt (cccccccccccc)"
    assert rows["started"][0] == "2026-01-02T03:04:05+00:00, took 90 s"
    assert "failed" not in rows
    assert provenance_rows([told("other", None)]) == []


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (changed(workloads=(WorkloadFile("v.json", "0" * 64),)), "other jobs (w.json; v.json)"),
        (
            changed(workloads=(WorkloadFile("in/w.json", "0" * 64),)),
            "other jobs (in/w.json (bbbbbbbbbbbb); in/w.json (000000000000))",
        ),
        (changed(platform=InputFile("q.xml", "0" * 64)), "another platform (p.xml; q.xml)"),
        (changed(settings={**RUN.settings, "machines": 4}), "another setting machines (none, 4)"),
        (
            changed(platform=InputFile("q.xml", "0"), workloads=()),
            "another platform (p.xml; q.xml)",
        ),
    ],
)
def test_runs_that_cannot_be_compared_are_told(other: RunFile, what: str) -> None:
    """With what differs, one line for each run."""
    assert find_differences([told("a"), told("b", other)]) == [f"a and b cannot be compared: {what}"]


@pytest.mark.parametrize(
    "other",
    [
        None,
        RUN,
        changed(algorithm="fcfs", options={}, seed=9, measured=None, version="2"),
        changed(platform=InputFile("elsewhere.xml", "a" * 64)),
        changed(platform=None, settings={}),
        changed(workloads=(WorkloadFile("/dev/fd/3", None),)),
    ],
)
def test_what_is_not_known_to_differ_can_be_compared(other: RunFile | None) -> None:
    """The same content by another name, another algorithm, and what nobody knows."""
    assert find_differences([told("a"), told("b", other)]) == []


def test_a_run_that_failed_has_partial_results() -> None:
    """Wherever it is told what was run; the reason is one line."""
    run = changed(failure="the algorithm\nfailed")
    assert run_title(run).endswith("; partial")
    assert (why_partial(run), why_partial(RUN)) == ("the algorithm\\nfailed", "")
    assert "partial" not in run_title(RUN)
