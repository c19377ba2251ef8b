"""Waits on the page by size and run time: heat maps, and tables of groups."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.reporting.api import Schedule
from batsched_py.reporting.pictures.html.breakdowns import MOST_GROUPS, breakdown_parts
from batsched_py.results.records import JobRecord
from tests.unit.reporting.records import record, rejected


def having(job: JobRecord, **members: Any) -> JobRecord:
    """The record of a job with these members."""
    return replace(job, job=replace(job.job, members=members))


def schedule(*jobs: JobRecord, name: str = "run") -> Schedule:
    """A run of these jobs."""
    return Schedule(name, jobs, 4, {}, source=f"{name}_jobs.csv")


#: Waits of 0 s, 30 s and 2 h, of jobs of two sizes and two classes of run times.
JOBS = (
    having(record("1", submit=0, start=0, finish=60, hosts="0-1"), user="ada"),
    having(record("2", submit=30, start=60, finish=120, hosts="0-1"), user="bob"),
    having(record("3", submit=70, start=7270, finish=7470, hosts="1"), user="<b>"),
    rejected("4"),
)


def text(*schedules: Schedule, by: tuple[str, ...] = ()) -> str:
    """The parts as one text."""
    return "\n".join(breakdown_parts(schedules, 10, by))


def test_heat_maps_cross_sizes_and_run_times() -> None:
    """The longest mean is the hottest; what is below a minute has no colour; an empty class has no cell."""
    page = text(schedule(*JOBS))
    assert '<caption>run: mean wait</caption>\n<thead><tr><th scope="col">hosts</th>' in page
    assert (
        re.findall(r'<th scope="col">(up to 1.min|1 to 10.min|10.min to 1.h)</th>', page)
        == ["up to 1\N{NO-BREAK SPACE}min", "1 to 10\N{NO-BREAK SPACE}min"] * 2
    )
    rows = re.findall(r'<tr><th scope="row">([^<]*)</th>(.*?)</tr>', page)
    assert rows[0] == ("1", '<td></td><td style="--heat: 0.60" title="1 job">2.0 h</td>')
    assert rows[1] == ("2", '<td style="--heat: 0.00" title="2 jobs">15 s</td><td></td>')
    assert rows[2] == ("1", '<td></td><td style="--heat: 0.60" title="1 job">37</td>')


def test_runs_have_one_scale() -> None:
    """So that a colour means the same in each."""
    worse = schedule(record("3", submit=0, start=72000, finish=72200, hosts="1"), name="worse")
    page = text(schedule(*JOBS), worse)
    tables = dict(re.findall(r"<caption>(\w+): mean wait</caption>(.*?)</table>", page, re.DOTALL))
    heats = {name: max(map(float, re.findall(r"--heat: ([\d.]+)", table))) for name, table in tables.items()}
    assert heats["worse"] == 0.6
    assert 0 < heats["run"] < 0.6


def test_users_are_a_table() -> None:
    """The largest first, escaped; without users there is none."""
    page = text(schedule(*JOBS))
    assert re.findall(r'<tr><th scope="row">([^<]*)</th><td>1</td>', page) == ["&lt;b&gt;", "ada", "bob", "unknown"]
    assert "<caption>By user</caption>" in page
    assert "By user" not in text(schedule(record()))


def test_members_that_are_asked_for() -> None:
    """Beside each other for each run; a run that lacks it has nothing to tell."""
    queued = schedule(having(record("1"), queue="fast"), name="queued")
    page = text(schedule(*JOBS), queued, by=("queue",))
    assert "By user" not in page
    assert "<td>-</td><td>-</td><td>-</td><td>-</td><td>1</td><td>100.0 %</td><td>0 s</td><td>1.00</td>" in page
    above, below = re.findall(r"<tr>(.*?)</tr>", page[page.index("<caption>By queue") :])[:2]
    assert above == '<td></td><th scope="colgroup" colspan="4">run</th><th scope="colgroup" colspan="4">queued</th>'
    assert re.findall(r'<th scope="col">([^<]*)</th>', below) == [
        "queue",
        *["jobs", "share of host time", "mean wait", "mean slowdown"] * 2,
    ]
    with pytest.raises(InputError, match=r"run_jobs\.csv: has no job with a member 'colour'"):
        text(schedule(*JOBS), by=("colour",))


def test_many_groups_are_cut_with_a_word() -> None:
    """The page says how many there are."""
    jobs = [having(record(str(number), hosts=str(number % 4)), user=number) for number in range(MOST_GROUPS + 5)]
    page = text(schedule(*jobs))
    assert f"<caption>By user, the first {MOST_GROUPS} of {MOST_GROUPS + 5}</caption>" in page


def test_nothing_without_jobs() -> None:
    """At least one job must have run."""
    assert breakdown_parts([schedule(rejected())], 10, ()) == []
