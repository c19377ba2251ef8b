"""The page as text: whole, the same each time, and without a word of others that is markup."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from html.parser import HTMLParser
from typing import Any

import pytest

from batsched_py.reporting.api import Schedule
from batsched_py.reporting.pictures.html.document import report_page
from batsched_py.reporting.pictures.html.rejected_jobs import MOST_REJECTED
from batsched_py.reporting.schedules.time_window import TimeWindow
from batsched_py.results.records import JobRecord
from tests.unit.reporting.records import record, rejected

PLOTLY = b"const Plotly = '</script>';"


def schedule(*records: JobRecord, name: str = "run", **more: Any) -> Schedule:
    return Schedule(name=name, jobs=records, hosts=4, batsim_row={}, **more)


def text(*schedules: Schedule, title: str = "") -> str:
    return report_page(schedules, PLOTLY, title).decode()


def carried(page: str, name: str) -> bytes:
    """Return what the page has packed under a name."""
    [packed] = re.findall(f'<script type="text/plain" id="{name}">([^<]*)</script>', page)
    return gzip.decompress(b64decode(packed))


class Outline(HTMLParser):
    """Tags that are open, and where they were closed wrongly."""

    VOID = frozenset({"meta", "link", "input", "br", "line"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value is not None]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID and (not self.open or self.open.pop() != tag):
            self.wrong.append(tag)


def test_the_same_schedules_give_the_same_bytes() -> None:
    """No time of day, no chance."""
    one = schedule(record("1"), rejected("2"))
    assert report_page([one], PLOTLY) == report_page([one], PLOTLY)


def test_the_page_carries_all_it_needs() -> None:
    """The library and the data, packed; no address but those of names of formats."""
    page = text(schedule(record("1", hosts="0-1")))
    assert carried(page, "plotly") == PLOTLY
    [run] = json.loads(carried(page, "data"))["runs"]
    assert (run["start"], run["sets"]) == ([0], ["0-1"])
    assert "http:" not in page
    assert "https:" not in page
    assert "default-src 'none'" in page


@pytest.mark.parametrize(
    "given",
    [
        [schedule()],
        [schedule(rejected("1"))],
        [
            schedule(record("1"), rejected("2"), notes=("a < b",)),
            schedule(record("1", start=5, finish=9), name="other"),
        ],
    ],
    ids=["empty", "rejected", "two"],
)
def test_tags_are_closed_and_ids_unique(given: list[Schedule]) -> None:
    """As far as a parser of the standard library sees."""
    outline = Outline()
    outline.feed(text(*given))
    assert (outline.open, outline.wrong) == ([], [])
    assert len(set(outline.ids)) == len(outline.ids)


def test_words_from_outside_are_escaped() -> None:
    """Names of runs, jobs and workloads, notes, paths, metadata, the title."""
    evil = "</script><b onclick='x'>&"
    bad = record(evil, hosts="0", workload=evil)
    page = text(
        schedule(bad, rejected(evil), name=evil, notes=(evil,), source=evil),
        schedule(record(evil, start=9, finish=10, workload=evil), name="other"),
        title=evil,
    )
    assert "<b onclick" not in page
    assert page.count("&lt;/script&gt;&lt;b onclick=&#x27;x&#x27;&gt;&amp;") >= 8


def test_rejected_jobs_are_named_but_not_endlessly() -> None:
    """The first ones, and how many there are."""
    page = text(schedule(*(rejected(str(number)) for number in range(MOST_REJECTED + 5))))
    assert f"{MOST_REJECTED + 5} jobs, the first {MOST_REJECTED}" in page
    assert f"w0!{MOST_REJECTED - 1}<" in page
    assert f"w0!{MOST_REJECTED}<" not in page


def test_the_heading_is_the_runs_or_what_was_asked_for() -> None:
    """In the window's title, too."""
    one, other = schedule(name="easy"), schedule(name="fcfs")
    assert "<title>easy · fcfs</title>" in text(one, other)
    assert "<h1>Figure 3</h1>" in text(one, title="Figure 3")


def test_runs_of_different_workloads_are_not_compared() -> None:
    """Their jobs have the same ids, and are others."""
    first, other = schedule(record("1", start=7), name="easy"), schedule(record("1", submit=5, start=9), name="easy 2")
    page = text(first, other)
    assert "easy and easy 2 are of different workloads: 1 of the 1 job id they share" in page
    assert [mark for mark in ('id="differences"', "★ marks", "difference from easy") if mark in page] == []
    same = text(first, schedule(record("1", start=9), name="easy 2"))
    assert [mark for mark in ('id="differences"', "★ marks", "start in easy 2") if mark not in same] == []


def test_runs_without_a_job_in_common_are_told() -> None:
    """All their jobs would seem to be new."""
    page = text(schedule(record("1"), name="easy"), schedule(record("1", workload="log"), name="log"))
    assert "No job is in both easy and log" in page
    assert "No job is in both" not in text(schedule(record("1")), schedule(record("1"), name="other"))


def test_metrics_of_different_jobs_have_no_best() -> None:
    """An algorithm that rejects jobs has short waits; a line above the table says so."""
    easy = schedule(record("1"), record("2", start=10, finish=20), name="easy")
    picky = schedule(record("1"), rejected("2"), name="picky")
    killer = schedule(record("1"), record("2", start=5, finish=9, state="COMPLETED_KILLED"), name="killer")
    told, killed, same = text(easy, picky), text(easy, killer), text(easy, easy)
    assert "Not the same jobs ran under picky as under easy" in told
    assert "★" not in told
    assert "Not the same jobs succeeded under killer as under easy" in killed
    assert "★" in killed
    assert "Not the same jobs" not in same


def test_charts_are_said_to_last_until_the_last_job_ends() -> None:
    """It need not be the one that started last."""
    page = text(schedule(record("1", finish=3600), record("2", start=10, finish=20, hosts="1")))
    assert "number of waiting jobs over time, until 01:00:00" in page


def test_a_part_of_the_runs() -> None:
    """Jobs that wait or run then are drawn, jobs submitted then are measured; the heading has the times."""
    jobs = (
        record("1", submit=0, start=0, finish=40),
        record("2", submit=10, start=40, finish=60),
        record("3", submit=50, start=60, finish=90),
        record("4", submit=80, start=80, finish=99),
        rejected("5", submit=55),
    )
    page = report_page([schedule(*jobs)], PLOTLY, window=TimeWindow(45, 70)).decode()
    data = json.loads(carried(page, "data"))
    assert (data["names"], data["window"]) == (["2", "3", "5"], [45, 70])
    assert "Shown: from 00:00:45 to 00:01:10." in page
    assert "busy hosts over time, from 00:00:45 until 00:01:10" in page
    assert re.search(r"measured from</th><td[^>]*>00:00:45", page)
    assert re.search(r">jobs</th><td[^>]*>2<", page)
    assert json.loads(carried(report_page([schedule(*jobs)], PLOTLY).decode(), "data"))["window"] is None
