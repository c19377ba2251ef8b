"""A job has one colour: in the report, in figures for papers and in the terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest
from matplotlib.colors import to_hex
from rich.color import Color

from batsched_py.reporting.api import Schedule
from batsched_py.reporting.pictures.colouring import LIGHT, job_colour
from batsched_py.reporting.pictures.html.content import pack
from batsched_py.reporting.pictures.paper.gantt_figure import gantt_figure
from batsched_py.reporting.pictures.terminal.gantt import render
from batsched_py.reporting.pictures.window import Window, number_jobs, window_on
from batsched_py.reporting.schedules.time_window import TimeWindow
from tests.clone import ROOT
from tests.unit.reporting import lease_runs
from tests.unit.reporting.records import record, rejected


def staircase(*names: str, name: str = "run") -> Schedule:
    """A job on each host, so that its host names it: each runs for 10 s from its submission on."""
    jobs = [
        record(each, submit=10 * place, start=10 * place, finish=10 * place + 10, hosts=str(place))
        for place, each in enumerate(names)
    ]
    return Schedule(name, (*jobs, rejected("refused", submit=5)), len(names), {})


#: (start, lowest host) of a rectangle -> its colour.
Colours = dict[tuple[float, int], str]


def in_report(schedules: Sequence[Schedule], window: TimeWindow | None) -> list[Colours]:
    content = pack(schedules, window=window)
    found = []
    for run in content.runs:
        lows = [int(re.split("[ -]", run.sets[place])[0]) for place in run.set]
        colours = [content.job_colours[colour] for colour in run.colour]
        found.append(dict(zip(zip(map(float, run.start), lows, strict=True), colours, strict=True)))
    return found


def in_paper(schedules: Sequence[Schedule], window: Window) -> list[Colours]:
    found = []
    for axes in gantt_figure(schedules, window).axes:
        jobs = axes.collections[0]
        boxes = [path.get_extents() for path in jobs.get_paths()]
        faces = [to_hex(face).upper() for face in jobs.get_facecolor()]  # type: ignore[arg-type]
        found.append({(box.x0, round(box.y0)): face for box, face in zip(boxes, faces, strict=True)})
    return found


def in_terminal(schedules: Sequence[Schedule], window: Window) -> list[dict[int, str]]:
    """Host -> the colour on its row; hosts have rows of their own."""
    found = []
    for schedule in schedules:
        text = render(schedule, 100, schedule.hosts, window, number_jobs(schedules))
        rows: dict[int, str] = {}
        for span in text.spans:
            ground = getattr(span.style, "bgcolor", None)
            if isinstance(ground, Color) and ground.triplet is not None:
                line = text.plain[: span.start].count("\n")
                rows[schedule.hosts - line] = ground.triplet.hex.upper()
        found.append(rows)
    return found


TWELVE = [f"j{number}" for number in range(12)]


@pytest.mark.parametrize(
    "schedules",
    [
        [staircase(*TWELVE)],
        [staircase(*TWELVE), staircase(*TWELVE[::-1], name="other order")],
        [staircase(*TWELVE[:5]), staircase(*TWELVE, name="more jobs")],
    ],
    ids=lambda schedules: f"{len(schedules)} of {schedules[-1].name}",
)
@pytest.mark.parametrize("begin", [0.0, 35.0])
def test_a_job_has_one_colour_in_all_pictures(schedules: list[Schedule], begin: float) -> None:
    """It does in one run and in several, with other jobs and in another order, for all of the time and a part of it."""
    window = window_on(schedules, begin if begin else None)
    report = in_report(schedules, TimeWindow(begin, window.end) if begin else None)
    paper, terminal = in_paper(schedules, window), in_terminal(schedules, window)
    for schedule, one, two, three in zip(schedules, report, paper, terminal, strict=True):
        shown = {place: colour for place, colour in one.items() if place[0] + 10 > begin}
        assert shown == two
        assert {host: colour for (_, host), colour in shown.items()} == three
        numbers = number_jobs(schedules)
        for each in schedule.ran:
            if each.finish > begin:
                assert shown[each.start, min(each.hosts)] == job_colour(numbers[each.job.id])


@pytest.mark.parametrize("begin", [0.0, 3000.0])
def test_a_lease_has_one_colour_in_all_pictures(begin: float) -> None:
    """It is that of its first job, which may be outside of the time that is shown."""
    run = lease_runs.schedule()
    window = window_on([run], begin if begin else None)
    [report] = in_report([run], TimeWindow(begin, window.end) if begin else None)
    [paper] = in_paper([run], window)
    resumed = max(each.start for each in run.ran)
    assert report[resumed, 0] == paper[resumed, 0] == job_colour(0)


def test_the_page_of_a_site_has_the_same_colours() -> None:
    """Its script is a file of its own."""
    script = (ROOT / "batsched_py" / "site" / "page" / "chart.js").read_text()
    found = re.search(r"const COLOURS = (\[.*?\]);", script)
    assert found is not None
    assert tuple(json.loads(found[1])) == LIGHT
