"""Gantt charts for papers, by what matplotlib was told to draw."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.reporting.api import Schedule
from batsched_py.reporting.pictures.colouring import LIGHT, STATE_COLOURS
from batsched_py.reporting.pictures.lease_marks import MARK_NAMES
from batsched_py.reporting.pictures.paper import gantt_chart
from batsched_py.reporting.pictures.paper.gantt_figure import gantt_figure
from batsched_py.reporting.pictures.paper.panels import PANELS
from batsched_py.reporting.pictures.window import Window, window_on
from batsched_py.reporting.schedules.outages import Outage
from tests.builders import hosts
from tests.unit.reporting import lease_runs
from tests.unit.reporting.records import record
from tests.unit.reporting.sample_schedules import FOUR, line, schedule


def drawn(*schedules: Schedule, window: Window | None = None, **options: Any) -> Figure:
    return gantt_figure(schedules, window or window_on(schedules), **options)


def rectangles(axes: Any) -> list[tuple[float, float, float, float, str]]:
    """(begin, end, lowest host, above the highest, colour) of each."""
    [collection] = axes.collections
    found = []
    for path, colour in zip(collection.get_paths(), collection.get_facecolor(), strict=True):
        box = path.get_extents()
        found.append((box.x0, box.x1, box.y0, box.y1, to_hex(colour).upper()))
    return found


def test_each_run_of_hosts_of_each_job_is_a_rectangle() -> None:
    """At its very times; jobs that were rejected are none."""
    chart = drawn(schedule()).axes[0]
    assert rectangles(chart) == [
        (0, 100, 0, 2, LIGHT[0]),
        (10, 60, 3, 4, LIGHT[1]),
        (100, 200, 0, 1, LIGHT[2]),
        (100, 200, 2, 4, LIGHT[2]),
    ]
    assert (chart.get_xlim(), chart.get_ylim()) == ((0, 200), (0, 4))
    assert [label.get_text() for label in chart.get_yticklabels()] == ["0", "1", "2", "3"]


def test_a_window_shows_its_hosts_under_their_numbers() -> None:
    """It shows its time, too."""
    chart = drawn(schedule(), window=Window(50.0, 150.0, (1, 3))).axes[0]
    assert [row[:4] for row in rectangles(chart)] == [(0, 100, 0, 1), (10, 60, 1, 2), (100, 200, 1, 2)]
    assert chart.get_xlim() == (50, 150)
    assert [label.get_text() for label in chart.get_yticklabels()] == ["1", "3"]


def test_each_machine_has_as_many_rows_as_hosts() -> None:
    """A smaller one beside a larger one, too; a panel is about its own hosts."""
    axes = drawn(schedule(), schedule(hosts=6), panels=["utilisation"]).axes
    assert [axis.get_ylim() for axis in axes[::2]] == [(0, 4), (0, 6)]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["0", "1", "2", "3"]
    assert [line(axis)[0][1] for axis in axes[1::2]] == pytest.approx([50, 100 / 3])


def test_jobs_without_a_compute_host_are_not_drawn() -> None:
    """They had storage only, or nothing at all; no colour stands for them."""
    others = record("s", hosts="4", state="COMPLETED_KILLED"), record("n", hosts="", state="COMPLETED_KILLED")
    figure = drawn(schedule(*FOUR[:1], *others), by="state")
    assert len(rectangles(figure.axes[0])) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["successful"]


def test_names_are_written_where_they_fit() -> None:
    """With several workloads: whole ids."""
    texts = [text.get_text() for text in drawn(schedule(*FOUR[:2], record("tiny", start=1, finish=2))).axes[0].texts]
    assert texts == ["a", "b"]
    assert [text.get_text() for text in drawn(schedule(), width=7.0).axes[0].texts] == ["w0!a", "w0!b", "w1!c"]


def test_many_jobs_become_a_raster(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dot has the colour of the job that has most of it, paler the less of it is busy."""
    monkeypatch.setattr(gantt_chart, "MOST_RECTANGLES", 1)
    jobs = [record("a", finish=50, hosts="0-1"), record("b", start=50, finish=100, hosts="1")]
    chart = drawn(schedule(*jobs, hosts=2)).axes[0]
    [image] = chart.get_images()
    dots = image.get_array()
    assert dots is not None
    assert [to_hex(dots[row, column] / 255).upper() for row in (0, 1) for column in (0, -1)] == [
        *(LIGHT[0], "#FFFFFF"),
        *(LIGHT[0], LIGHT[1]),
    ]
    assert list(image.get_extent()) == [0, 100, 0, 2]
    assert not chart.collections


@pytest.mark.parametrize(("by", "is_dense"), [("job", True), ("state", False)])
def test_dots_of_many_jobs_show_how_busy_they_are(monkeypatch: pytest.MonkeyPatch, by: str, *, is_dense: bool) -> None:
    """Three jobs of a dot, which is busy for three quarters of its time; groups keep colours and legend."""
    monkeypatch.setattr(gantt_chart, "MOST_RECTANGLES", 1)
    monkeypatch.setattr(gantt_chart, "DPI", 1)
    jobs = [record(f"{n}", start=n * 4, finish=n * 4 + 3) for n in range(9)]
    figure = drawn(schedule(*jobs, hosts=1), window=Window(0, 36, (0,)), by=by)
    [image] = figure.axes[0].get_images()
    dots = image.get_array()
    assert dots is not None
    colour = gantt_chart.DENSE if is_dense else STATE_COLOURS[jobs[0].state]
    assert dots[0, 0, 0] == round(255 - (255 - int(colour[1:3], 16)) * 0.75)
    [legend] = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == (["25% in use", "50% in use", "75% in use", "100% in use"] if is_dense else ["successful"])


def test_a_raster_with_more_hosts_than_dots_stands_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the hosts of each row are busy: half of the colour; the last row, which has fewer, is not stretched."""
    monkeypatch.setattr(gantt_chart, "MOST_RECTANGLES", 1)
    monkeypatch.setattr(gantt_chart, "_MOST_ROWS", 2)
    chart = drawn(schedule(record("a", hosts="0 3-4"), hosts=5)).axes[0]
    [image] = chart.get_images()
    dots = image.get_array()
    assert dots is not None
    assert dots.shape[0] == 2
    pale = round(255 - (255 - int(LIGHT[0][1:3], 16)) / 3)
    assert dots[0, 0, 0] == pale
    assert to_hex(dots[1, 0] / 255).upper() == LIGHT[0]
    assert (list(image.get_extent()), chart.get_ylim()) == ([0, 10, 0, 6], (0, 5))


def test_several_runs_have_names_one_time_and_one_scale() -> None:
    """A job has its colour in both."""
    other = schedule(record("c", submit=20, start=200, finish=300, hosts="1", workload="w1"), *FOUR[:2], name="other")
    axes = drawn(schedule(), other, panels=["queue"]).axes
    assert [axis.get_title(loc="left") for axis in axes] == ["run", "", "other", ""]
    assert {axis.get_xlim() for axis in axes} == {(0, 300)}
    assert axes[1].get_ylim() == axes[3].get_ylim()
    assert {row[4] for row in rectangles(axes[0]) if row[0] == 100} == {rectangles(axes[2])[-1][4]}


def test_panels_show_what_was_over_time() -> None:
    """Utilisation of 4 hosts, and the queue; as lines with a step where something changed."""
    _, busy, queue = drawn(schedule(), panels=["utilisation", "queue"]).axes
    assert line(busy) == [
        *((0, 50), (10, 75), (60, 50), (100, 75), (200, 75)),
    ]
    assert line(queue) == [
        *((0, 0), (20, 1), (100, 0), (200, 0)),
    ]
    assert (busy.get_ylabel(), queue.get_ylabel()) == ("busy (%)", "waiting jobs")


def test_power_and_states_are_those_of_the_traces() -> None:
    """10 kW, then 5 kW; three states that occur."""
    _, watts, states = drawn(schedule(traced=True), panels=["power", "states"]).axes
    assert line(watts) == [(0, 10), (100, 5), (200, 5)]
    assert watts.get_ylabel() == "power (kW)"
    legend = states.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["computing", "idle", "sleeping"]


@pytest.mark.parametrize(("panel", "file"), [("power", "_consumed_energy.csv"), ("states", "_machine_states.csv")])
def test_a_run_without_traces_has_no_such_panel(panel: str, file: str) -> None:
    """The line names the run and the file."""
    with pytest.raises(InputError, match=rf"^run_jobs\.csv: has no {file} in its folder"):
        drawn(schedule(), panels=[panel])


@pytest.mark.parametrize("by", ["state", "workload", "user"])
def test_what_colours_mean_is_explained(by: str) -> None:
    """Below all."""
    [legend] = drawn(schedule(), by=by).legends
    shown = [text.get_text() for text in legend.get_texts()]
    expected = {"state": ["successful", "walltime reached"], "workload": ["w0", "w1"], "user": ["others"]}
    assert shown == expected[by]


def test_the_size_is_as_asked_or_as_suits() -> None:
    """Inches."""
    assert tuple(drawn(schedule(), width=5.0, height=4.0).get_size_inches()) == (5, 4)
    one, two = drawn(schedule()), drawn(schedule(), schedule(), panels=["queue"])
    assert one.get_size_inches()[0] == 3.5
    assert one.get_size_inches()[1] < two.get_size_inches()[1]


def test_the_panels_of_the_command_are_those_that_can_be_drawn() -> None:
    """The command knows them without matplotlib."""
    from batsched_py.cli.commands.gantt import PANELS as KNOWN  # noqa: PLC0415

    assert list(KNOWN) == list(PANELS)


def test_marks_of_leases_have_patterns_of_their_own_and_a_legend() -> None:
    """Each kind another; what a lease holds has its colour, an image that comes lies upon others."""
    figure = drawn(lease_runs.schedule("images"))
    _, *marks = figure.axes[0].collections
    faces: dict[str | None, Any] = {mark.get_hatch(): mark.get_facecolor() for mark in marks}
    assert len(faces) == len(marks) == 7
    assert to_hex(faces["\\" * 4][0]).upper() == LIGHT[0]  # the first lease is suspended
    assert not faces["...."].any()  # transparent
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        name for kind, name in MARK_NAMES.items() if kind != "lost"
    ]


def test_a_line_leads_to_a_reservation_from_its_request() -> None:
    """From 900 to 1800, on its lowest host."""
    chart = drawn(lease_runs.schedule()).axes[0]
    assert line(chart) == [(900, 0.85), (1800, 0.85)]
    frame = next(mark for mark in chart.collections[1:] if mark.get_hatch() is None)
    [box] = [path.get_extents() for path in frame.get_paths()]
    assert (box.x0, box.x1, box.y0, box.y1) == (1800, 3600, 0, 4)


def test_a_raster_has_no_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns of dots would tell nothing; nor has it a legend of them."""
    monkeypatch.setattr(gantt_chart, "MOST_RECTANGLES", 1)
    figure = drawn(lease_runs.schedule())
    assert not figure.axes[0].collections
    assert not figure.legends


@pytest.mark.parametrize("most", [gantt_chart.MOST_RECTANGLES, 0])
def test_hosts_that_were_unavailable_have_a_pattern(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """At its exact times, on the places of a window, upon rectangles and upon a raster; a legend names it."""
    monkeypatch.setattr(gantt_chart, "MOST_RECTANGLES", most)
    run = replace(schedule(), outages=(Outage(20.0, 30.0, hosts("1 3")),))
    figure = drawn(run, window=Window(0.0, 200.0, (1, 2, 3)))
    pattern = figure.axes[0].collections[-1]
    boxes = [path.get_extents() for path in pattern.get_paths()]
    assert [(box.x0, box.x1, box.y0, box.y1) for box in boxes] == [(20, 30, 0, 1), (20, 30, 2, 3)]
    assert pattern.get_hatch()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["unavailable"]
    assert not drawn(run, window=Window(100.0, 200.0, (1, 2, 3))).legends
