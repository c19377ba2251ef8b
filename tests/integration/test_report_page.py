"""Reports in a real browser: drawn without an error and without a request, and alive under mouse and keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from io import BytesIO
from itertools import pairwise
from math import log10
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from matplotlib.image import imread
from msgspec.structs import replace

from batsched_py.campaigns import simulate
from batsched_py.campaigns.comparison_page import comparison_page
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.model.settings import Settings
from batsched_py.plugins import load
from batsched_py.reporting.api import Schedule, busy_hosts, queue_length, schedule_of
from batsched_py.reporting.formatting import STATE_NAMES
from batsched_py.reporting.pictures.colouring import STATE_COLOURS
from batsched_py.reporting.pictures.html.differences import JobChange, compare_runs
from batsched_py.reporting.pictures.html.document import plotly_js, report_page
from batsched_py.reporting.pictures.lease_marks import MARK_NAMES
from batsched_py.reporting.schedules.outages import Outage
from batsched_py.reporting.schedules.time_window import TimeWindow
from batsched_py.reporting.waits.explained_waits import ExplainedWaits
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.longest import longest_waits
from batsched_py.results.records import JobRecord
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.simgrid_xml import read_platform
from tests.browser import Browser, browsing
from tests.integration.programs import ROOT
from tests.unit.campaigns.waits_of_algorithms import compared
from tests.unit.reporting import lease_runs
from tests.unit.reporting.records import record, rejected

pytest.importorskip("plotly", reason="needs the extra: pip install '.[report]'")

#: Read once: report_page keeps what it has packed.
PLOTLY: Final = plotly_js()

#: Stands in for plotly.js where no chart is looked at: it keeps what it would draw. The real one takes most of the time
#: in which a page opens.
NO_CHARTS: Final = b"""var Plotly = {
  react: (element, data, layout) => {
    Object.assign(element, { data, layout, on: () => {} });
    return Promise.resolve(element);
  },
};"""

#: axe-core, which finds what keeps people out of pages, if it is there.
AXE: Final = (files("axe_core_python") / "axe.min.js").read_text() if find_spec("axe_core_python") else ""

#: Writes a page of these schedules and opens it.
Show = Callable[..., Browser]

WITHOUT_TRACE: dict[str, Any] = {"batsim_row": {}, "source": "a test"}


def schedule(*records: JobRecord, name: str = "run", hosts: int = 4) -> Schedule:
    return Schedule(name=name, jobs=records, hosts=hosts, **WITHOUT_TRACE)


@cache
def crowd(jobs: int, hosts: int = 64) -> Schedule:
    """Many short jobs on hosts of their own, one after the other."""
    random, free, records = Random(0), [0.0] * hosts, []
    for number in range(jobs):
        host = min(range(hosts), key=free.__getitem__)
        start = free[host] + random.choice([0.0, 2.0])
        free[host] = start + random.uniform(1.0, 9.0)
        job = Job.create(f"w0!{number}", size=1, profile="p", submit_time=max(0.0, start - random.uniform(0, 20)))
        records.append(JobRecord(job, "COMPLETED_SUCCESSFULLY", 0, start, free[host], HostSet.of(host)))
    return schedule(*records, name="crowd", hosts=hosts)


def as_log(known: Schedule) -> Schedule:
    """The same without the hosts, as from SWF."""
    return replace(known, name="log", jobs=tuple(replace(each, hosts=HostSet()) for each in known.jobs))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of all pages, one after the other: Chromium keeps the compiled scripts of an address."""
    return tmp_path_factory.mktemp("pages") / "report.html"


@pytest.fixture
def show(browser: Browser, place: Path) -> Iterator[Show]:
    def opened(*schedules: Schedule, plotly: bytes = NO_CHARTS, **more: Any) -> Browser:
        place.write_bytes(report_page(schedules, plotly, **more))
        browser.open(place)
        assert browser.ask("document.documentElement.dataset.state") == "ready", browser.complaints()
        return browser

    yield opened
    assert browser.complaints() == []
    outside = [url for url in browser.requests() if not url.startswith(("data:", "blob:", place.as_uri()))]
    assert outside == []


@pytest.fixture(scope="module")
def pair(runs: list[Schedule]) -> bytes:
    """A page of two runs."""
    return report_page(runs, PLOTLY)


@pytest.fixture
def page(browser: Browser, place: Path, pair: bytes) -> Iterator[Browser]:
    """The page of two runs as it is when it is opened; it is loaded again only if another one was shown meanwhile."""
    if not browser.ask("window.showsThePair"):
        place.write_bytes(pair)
        browser.open(place)
        browser.ask("window.showsThePair = true")
    browser.do("document.activeElement.blur(); report.colourBy('job'); report.choose(-1); report.show(report.full)")
    yield browser
    assert browser.complaints() == []


@pytest.fixture(scope="module")
def runs() -> list[Schedule]:
    """Two algorithms on 200 jobs."""
    platform, workload = ROOT / "platforms" / "cluster32.xml", ROOT / "workloads" / "lublin200.json"
    return [schedule_of(simulate(platform, workload, name).result, name) for name in ("easy", "fcfs")]


def with_energy(algorithm: str) -> Schedule:
    """An algorithm on hosts that can sleep, traced."""
    machine = read_platform(ROOT / "platforms" / "energy16.xml")
    workload = read_workload(ROOT / "workloads" / "first.json")
    simulation = Simulation(machine, [workload], Settings(energy=True), trace=True)
    return schedule_of(simulation.run(Session(load(algorithm), {}).answer), algorithm)


def centre(browser: Browser, gantt: int, job: str) -> tuple[float, float]:
    """Scroll a chart to a job, and return the middle of its first range of hosts in the window."""
    x, y = browser.ask(
        """(() => {
          const gantt = report.gantts[arguments[0]], { run, canvas } = gantt;
          const row = run.rowOf[report.names.indexOf(arguments[1])];
          const host = Number(run.sets[run.set[row]].split(/[ -]/)[0]);
          canvas.scrollIntoView({ block: "center", behavior: "instant" });
          const { left, top } = canvas.getBoundingClientRect(), middle = (run.start[row] + run.finish[row]) / 2;
          return [left + gantt.x(middle), top + (gantt.y(host) + gantt.y(host - 1)) / 2];
        })()""",
        gantt,
        job,
    )
    return x, y


def ink(browser: Browser, gantt: int = 0) -> float:
    """The share of a Gantt chart's plot that is not its ground."""
    share: float = browser.ask(
        """(() => {
          const { canvas, box } = report.gantts[arguments[0]], ratio = canvas.width / canvas.clientWidth;
          const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
          const context = copy.getContext("2d", { willReadFrequently: true });
          context.drawImage(canvas, 0, 0);
          const corner = [box.left + 1, box.top + 1, box.right - box.left - 2, box.bottom - box.top - 2];
          const { data } = context.getImageData(...corner.map((length) => Math.round(length * ratio)));
          const style = getComputedStyle(document.documentElement).getPropertyValue("--plot").trim();
          const ground = [1, 3, 5].map((at) => parseInt(style.slice(at, at + 2), 16));
          let inked = 0;
          for (let i = 0; i < data.length; i += 4) {
            inked += ground.some((channel, at) => Math.abs(data[i + at] - channel) > 8);
          }
          return inked / (data.length / 4);
        })()""",
        gantt,
    )
    return share


def lines(browser: Browser, chart: str) -> int:
    """Lines that are drawn in one of Plotly's charts."""
    number: int = browser.ask("document.querySelectorAll(`#${arguments[0]} .scatterlayer path.js-line`).length", chart)
    return number


def test_series_of_the_page_are_those_of_the_metrics(page: Browser, runs: list[Schedule]) -> None:
    """Busy hosts and the queue, step by step."""
    for name, steps in (("busy", busy_hosts(runs[0])), ("queue", queue_length(runs[0]))):
        times, values = page.ask(
            "[[...report.runs[0][arguments[0]].times], [...report.runs[0][arguments[0]].values]]", name
        )
        shown = [
            (time, value)
            for i, (time, value) in enumerate(zip(times, values, strict=True))
            if not i or value != values[i - 1]
        ]
        assert [value for _, value in shown] == [value for _, value in steps]
        assert [time for time, _ in shown] == pytest.approx([time for time, _ in steps], abs=1e-5)


#: Counts how often Plotly draws a chart.
COUNTED = """(() => {
  const { react } = Plotly;
  window.reacted = 0;
  window.Plotly.react = (...given) => { window.reacted++; return react(...given); };
})()"""


def test_charts_over_time_are_drawn_again_when_they_show_something_else(page: Browser) -> None:
    """Another time, width or scheme of colours: not for another job or other colours of jobs."""
    page.ask(COUNTED)
    for statement, charts in (
        ("report.choose(0)", 0),
        ("report.colourBy('wait')", 0),
        ("report.show({ low: 3, high: 9 })", 0),
        ("report.show({ begin: 100, end: 200 })", 2),
        ("report.show(report.full)", 2),
        ("report.timeCharts[0].element.style.width = '600px'; report.redraw()", 1),
        ("report.timeCharts[0].element.style.width = ''; report.redraw()", 1),
        ("document.getElementById('scheme').click()", 4),  # those of distributions, too
        ("document.getElementById('scheme').click()", 4),
        ("Plotly.relayout('busy', { 'xaxis.autorange': true })", 1),  # all of the time is shown already
    ):
        page.do(statement)
        assert (statement, page.ask("window.reacted")) == (statement, charts)
        page.ask("window.reacted = 0")
    assert page.ask("document.getElementById('busy').layout.xaxis.range") == [0, page.ask("report.full.end")]


#: Counts how often a chart on a canvas is drawn, from the opening of the next page on.
CLEARED = """
const clear = CanvasRenderingContext2D.prototype.clearRect;
window.cleared = 0;
CanvasRenderingContext2D.prototype.clearRect = function (...given) {
  window.cleared++;
  return clear.apply(this, given);
};
"""


def test_differences_are_marked(page: Browser, runs: list[Schedule]) -> None:
    """Coloured by difference, each job of the second run is of the class that the table counts it in."""
    page.do("report.colourBy('difference')")
    classes = page.ask("[...report.gantts[1].classes]")
    counts = compare_runs(*runs).counts
    order = (JobChange.SAME, JobChange.EARLIER, JobChange.LATER, JobChange.OTHER_HOSTS, JobChange.ONLY_HERE)
    assert [classes.count(number) for number in range(5)] == [counts[fate] for fate in order]
    assert set(page.ask("[...report.gantts[0].classes]")) == {0}
    assert "starts later" in page.ask("document.getElementById('colours').textContent")


def test_a_job_has_one_colour_in_all_runs(page: Browser, runs: list[Schedule]) -> None:
    """Its class does not depend on the run."""
    classes = "Object.fromEntries([...run.job].map((job, row) => [job, classes[row]]))"
    first, second = (page.ask(f"(({{ run, classes }}) => {classes})(report.gantts[{number}])") for number in (0, 1))
    assert first == second


def told(browser: Browser) -> dict[str, str]:
    """The table of the chosen job: what, and what is told of it in the first run."""
    rows = browser.ask(
        "[...document.querySelectorAll('#chosen tbody tr')].map((row) => [...row.cells].map((c) => c.innerText))"
    )
    return {row[0]: row[1] for row in rows}


def test_pointing_at_a_job_tells_about_it(page: Browser, runs: list[Schedule]) -> None:
    """Its name, hosts and times, and how it differs; nothing where nothing runs."""
    page.mouse("mouseMoved", *centre(page, 1, "067"))
    told = page.ask("[...document.getElementById('tip').children].map((line) => line.textContent)")
    assert told[0] == "job 067"
    assert told[-1] == "starts 03:12:25 earlier than in easy"
    page.mouse("mouseMoved", 5, 5)
    assert page.ask("document.getElementById('tip').hidden")


def test_a_click_chooses_a_job_in_all_runs(page: Browser, runs: list[Schedule]) -> None:
    """A table tells what became of it in each; a click beside it lets it go."""
    x, y = centre(page, 0, "067")
    page.click(x, y)
    assert page.ask("report.names[report.chosen]") == "067"
    assert page.ask("[...document.querySelectorAll('#chosen thead th')].map((cell) => cell.textContent)") == [
        "easy",
        "fcfs",
    ]
    page.key("Escape")
    assert page.ask("document.querySelector('#chosen table')") is None


def test_the_wheel_zooms_around_the_pointer(page: Browser, runs: list[Schedule]) -> None:
    """With Ctrl, or once the chart was clicked; otherwise the page scrolls."""
    x, y = centre(page, 0, "067")
    before = page.ask("report.view")
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-120)
    assert page.ask("report.view") == before
    x, y = centre(page, 0, "067")
    pointed = "report.gantts[0].timeAt(arguments[0] - report.gantts[0].canvas.getBoundingClientRect().left)"
    time = page.ask(pointed, x)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-240, modifiers=2)
    after = page.ask("report.view")
    assert after["end"] - after["begin"] < 0.6 * (before["end"] - before["begin"])
    assert page.ask(pointed, x) == pytest.approx(time, abs=1e-3 * before["end"])
    page.click(x, y)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=240)
    assert page.ask("report.view.end - report.view.begin") > after["end"] - after["begin"]


def test_dragging_moves_all_pictures(page: Browser, runs: list[Schedule]) -> None:
    """The Gantt charts and the lines over time, by as much as the pointer moved."""
    page.do("report.show({ begin: 70000, end: 100000 })")
    x, y = centre(page, 0, "067")
    width = page.ask("report.gantts[0].box.right - report.gantts[0].box.left")
    page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    page.mouse("mouseMoved", x - 100, y, button="left", buttons=1)
    page.mouse("mouseReleased", x - 100, y, button="left", buttons=0, clickCount=1)
    begin = page.ask("report.view.begin")
    assert begin == pytest.approx(70000 + 100 / width * 30000)
    assert page.ask("document.getElementById('queue').layout.xaxis.range[0]") == pytest.approx(begin)
    assert page.ask("report.chosen") == -1


def test_choosing_a_time_in_a_chart_moves_all_pictures(page: Browser, runs: list[Schedule]) -> None:
    """Plotly's zoom is everybody's."""
    page.do("Plotly.relayout('busy', { 'xaxis.range[0]': 40000, 'xaxis.range[1]': 50000 })")
    assert page.ask("[report.view.begin, report.view.end]") == [40000, 50000]
    page.do("Plotly.relayout('busy', { 'xaxis.autorange': true })")
    assert page.ask("report.view.begin === 0 && report.view.end === report.full.end")


def test_dragging_over_a_chart_of_lines_zooms(page: Browser) -> None:
    """From where the button went down to where it went up."""
    left, width, y = page.ask(
        """(() => {
          const chart = document.getElementById("queue");
          chart.scrollIntoView({ block: "center", behavior: "instant" });
          const { left, right, top, bottom } = chart.querySelector(".nsewdrag").getBoundingClientRect();
          return [left, right - left, (top + bottom) / 2];
        })()"""
    )
    page.mouse("mouseMoved", left + 0.25 * width, y)
    page.mouse("mousePressed", left + 0.25 * width, y, button="left", buttons=1, clickCount=1)
    for part in (0.3, 0.4, 0.5):
        page.mouse("mouseMoved", left + part * width, y, button="left", buttons=1)
    page.mouse("mouseReleased", left + 0.5 * width, y, button="left", clickCount=1)
    end = page.ask("report.full.end")
    assert page.ask("[report.view.begin, report.view.end]") == pytest.approx([end / 4, end / 2], abs=end / 100)


@pytest.mark.parametrize(
    ("begin", "end", "told"),
    [
        (
            0,
            100,
            ["0", "10 s", "20 s", "30 s", "40 s", "50 s", "1 min", "1 min 10", "1 min 20", "1 min 30", "1 min 40"],
        ),
        (3600, 3660, ["01:00:00", "01:00:05", "01:00:10"]),
        (0, 36000, ["0", "1 h", "2 h"]),
        (86400, 90000, ["1 d", "1 d 00:05", "1 d 00:10"]),
        (80000, 200000, ["1 d", "1 d 3 h", "1 d 6 h"]),
        (100, 100.01, ["1 min 40.000", "1 min 40.001", "1 min 40.002"]),
    ],
)
def test_time_axes_have_round_marks(page: Browser, begin: float, end: float, told: list[str]) -> None:
    """In the units that people count in, from days to milliseconds."""
    page.do("report.show({ begin: arguments[0], end: arguments[1] })", begin, end)
    assert page.ask("document.getElementById('busy').layout.xaxis.ticktext")[: len(told)] == told


def test_keys_do_what_the_mouse_does(page: Browser, runs: list[Schedule]) -> None:
    """Zoom, move, whole run, and from job to job, which is told to those who do not see."""
    page.do("report.gantts[0].canvas.focus()")
    page.key("+")
    page.key("+")
    end = page.ask("report.full.end")
    assert page.ask("report.view.end - report.view.begin") == pytest.approx(end / 4)
    begin = page.ask("report.view.begin")
    page.key("ArrowRight")
    assert page.ask("report.view.begin") == pytest.approx(begin + end / 40)
    page.key("0")
    assert page.ask("report.view.end - report.view.begin") == end
    page.key("n")
    assert page.ask("report.chosen") == page.ask("report.runs[0].job[0]")
    assert "job 001" in page.ask("document.getElementById('status').textContent")
    page.key("n")
    page.key("p")
    assert page.ask("report.chosen") == page.ask("report.runs[0].job[0]")


def test_a_job_is_found_by_its_name(page: Browser, runs: list[Schedule]) -> None:
    """Short or in full; a name that does not exist is told."""
    field = page.driver.find_element("id", "find")
    for name in ("067", "w0!067"):
        field.clear()
        field.send_keys(name, "\n")
        page.settle()
        assert page.ask("report.names[report.chosen]") == "067"
    assert page.ask("report.view.end - report.view.begin < report.full.end")
    field.clear()
    field.send_keys("nobody", "\n")
    assert page.ask("document.getElementById('status').textContent") == "there is no job nobody"


def test_every_picture_has_a_name(page: Browser, runs: list[Schedule]) -> None:
    """For those who do not see it; headings go down one level at a time, and tables say what their heads are for."""
    assert page.ask("[...document.querySelectorAll('canvas, .chart')].every((each) => each.getAttribute('aria-label'))")
    levels = page.ask("[...document.querySelectorAll('h1, h2, h3')].map((each) => Number(each.tagName[1]))")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.ask("[...document.querySelectorAll('th')].every((each) => each.scope)")


def test_the_charts_over_time_stand_before_the_differences(page: Browser) -> None:
    """Readers want metrics first, then a picture."""
    names = page.ask("[...document.querySelectorAll('main section')].map((section) => section.id)")
    assert names[:4] == ["result", "summary", "over-time", "differences"]


def filtered(page: Browser, words: str) -> str:
    """Filter the jobs by these words, and return the line above the table."""
    page.do(f"const field = document.getElementById('jobs-filter'); field.value = {words!r};")
    page.do("document.getElementById('jobs-filter').dispatchEvent(new Event('input'))")
    return str(page.ask("document.getElementById('jobs-count').textContent")).replace("\u202f", "")


def column(page: Browser, number: int) -> list[str]:
    """The texts of a column of the table of jobs."""
    found: list[str] = page.ask(
        f"[...document.querySelectorAll('#jobs-table tbody tr')].map((row) => row.cells[{number}].textContent)"
    )
    return found


def test_jobs_are_filtered_and_sorted(page: Browser, runs: list[Schedule]) -> None:
    """Words must all be true; a heading sorts, a second time the other way; a name chooses the job."""
    ran = runs[0].ran
    assert filtered(page, "") == f"{len(ran)} jobs of {len(ran)}, 50 shown"
    longest = sorted(ran, key=lambda record: -record.waiting)
    assert column(page, 0)[:5] == [record.job.name for record in longest[:5]]
    wanted = [record for record in ran if record.waiting > 3600 and record.job.size >= 8]
    assert filtered(page, "wait>1h size>=8") == f"{len(wanted)} jobs of {len(ran)}"
    assert sorted(column(page, 0)) == sorted(record.job.name for record in wanted)
    page.do("[...document.querySelectorAll('#jobs-table .sort')].find((one) => one.textContent === 'run').click()")
    assert column(page, 0) == [
        record.job.name for record in sorted(wanted, key=lambda record: (-record.execution, record.job.submit_time))
    ]
    page.do("[...document.querySelectorAll('#jobs-table .sort')].find((one) => one.textContent === 'run').click()")
    assert page.ask("document.querySelector('#jobs-table th[aria-sort]').getAttribute('aria-sort')") == "ascending"
    page.do("document.querySelector('#jobs-table tbody button').click()")
    first = column(page, 0)[0]
    assert page.ask("report.names[report.chosen]") == first
    assert filtered(page, first) == f"1 job of {len(ran)}"
    assert filtered(page, "colour=red") == "a word means nothing here"
    assert page.ask("document.getElementById('jobs-filter').getAttribute('aria-invalid')") == "true"
    filtered(page, "")


def test_more_jobs_and_other_runs(page: Browser, runs: list[Schedule]) -> None:
    """Fifty at a time, of the run that is chosen."""
    filtered(page, "")
    page.do("document.getElementById('jobs-more').click()")
    assert len(column(page, 0)) == 100
    page.do("const run = document.getElementById('jobs-run'); run.value = '1'; run.dispatchEvent(new Event('change'))")
    assert page.ask("document.querySelector('#jobs-table caption').textContent") == runs[1].name
    assert len(column(page, 0)) == 50
    page.do("const run = document.getElementById('jobs-run'); run.value = '0'; run.dispatchEvent(new Event('change'))")


def test_two_runs_are_drawn_without_an_error_or_a_request(show: Show, runs: list[Schedule]) -> None:
    """Gantt charts with about as much ink as the hosts were busy, a line for each run in each chart."""
    page = show(*runs, plotly=PLOTLY)
    for number, run in enumerate(runs):
        area = sum(run.size(job) * job.execution for job in run.ran)
        end = max(job.finish for each in runs for job in each.ran)
        assert ink(page, number) == pytest.approx(area / (run.hosts * end), abs=0.04)
    assert {chart: lines(page, chart) for chart in ("busy", "queue", "waits", "slowdowns")} == {
        "busy": 2, "queue": 2, "waits": 2, "slowdowns": 2,
    }  # fmt: skip
    heads = page.ask("[...document.querySelector('#summary thead tr').cells].map((cell) => cell.innerText)")
    assert heads == ["", "easy", "fcfs"]


def test_a_page_is_drawn_once_when_it_opens(show: Show, runs: list[Schedule], browser: Browser) -> None:
    """It is drawn again when its width changes, not when a table makes it longer."""
    script = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": CLEARED})
    try:
        page = show(*runs)
    finally:
        browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    page.frames()
    assert page.ask("window.cleared") == 2
    page.do("report.choose(0)")
    page.frames()
    assert page.ask("window.cleared") == 4
    page.resize(700)
    try:
        page.until("window.innerWidth === 700")
        page.frames()
        assert page.ask("window.cleared") == 6
        assert page.ask("report.gantts.every(({ canvas }) => canvas.width === canvas.clientWidth)")
    finally:
        page.resize(None)


def test_waits_of_the_page_are_those_of_jobs_and_not_of_attempts(show: Show) -> None:
    """The wait of a job that failed and was submitted again counts once; its slowdown is that of the whole job."""
    page = show(
        schedule(
            record("a", submit=0, start=5, finish=20, hosts="0", state="COMPLETED_FAILED"),
            record("a~1", submit=20, start=100, finish=140, hosts="0"),
            record("b", submit=0, start=0, finish=20, hosts="1"),
        )
    )
    found = page.ask("report.runs[0].measured((submit) => submit >= 0, 10)")
    assert found == {"waits": [5, 0], "slowdowns": [3.5, 1]}
    assert page.ask("report.runs[0].measured((submit) => submit > 0, 10)") == {"waits": [], "slowdowns": []}


def test_final_states_have_colours_of_their_own(show: Show) -> None:
    """The same as in other pictures, whichever of them occur."""
    states = ("COMPLETED_SUCCESSFULLY", "COMPLETED_KILLED", "COMPLETED_WALLTIME_REACHED", "COMPLETED_FAILED")
    jobs = [record(str(number), hosts=str(number), state=state) for number, state in enumerate(states)]
    for count in (4, 2):
        page = show(schedule(*jobs[:count]))
        page.do("report.colourBy('state')")
        swatches = "[...document.querySelectorAll('#colours li')].map((item) => item.textContent)"
        colours = "[...document.querySelectorAll('#colours .swatch')].map((item) => item.style.background)"
        shown = dict(zip(page.ask(swatches), page.ask(colours), strict=True))
        assert shown == {
            STATE_NAMES[state]: f"rgb({', '.join(str(int(STATE_COLOURS[state][at : at + 2], 16)) for at in (1, 3, 5))})"
            for state in states[:count]
        }
        assert len(set(shown.values())) == count


def test_more_than_two_runs_have_a_panel_each(show: Show, runs: list[Schedule]) -> None:
    """With its name, on one scale, on one time axis; two runs share one."""
    page = show(*runs, replace(runs[0], name="<third>"), plotly=PLOTLY)
    for chart in ("busy", "queue"):
        layout = f"document.getElementById('{chart}')._fullLayout"
        axes = [page.ask(f"{layout}.{name}.range") for name in ("yaxis", "yaxis2", "yaxis3")]
        assert axes[0] == axes[1] == axes[2]
        bottom, top = page.ask(f"[{layout}.yaxis3.domain[0], {layout}.yaxis.domain[1]]")
        assert (bottom >= 0, top) == (True, 1)
        names = page.ask(f"{layout}.annotations.map((note) => note.text)")
        assert names == ["easy", "fcfs", "&lt;third>"]
        assert page.ask(f"document.getElementById('{chart}').data.map((line) => line.yaxis)") == ["y", "y2", "y3"]
        assert lines(page, chart) == 3
    page = show(*runs)
    assert page.ask("document.getElementById('busy').layout.yaxis2 ?? null") is None


@pytest.mark.parametrize(("jobs", "marks"), [(100, None), (101, ["0", "3", "10", "30", "100"])])
def test_long_queues_have_a_logarithmic_axis(show: Show, jobs: int, marks: list[str] | None) -> None:
    """It has a place for an empty queue; the pointer shows the number of jobs itself."""
    waiting = (record(f"{number}", start=10 + 10 * number, finish=20 + 10 * number) for number in range(jobs))
    page = show(schedule(*waiting))
    assert page.ask("document.getElementById('queue').layout.yaxis.ticktext ?? null") == marks
    told, placed = page.ask("(({ customdata, y }) => [customdata, y])(document.getElementById('queue').data[0])")
    assert (max(told), min(told)) == (jobs, 0)
    assert placed == pytest.approx([log10(1 + value) for value in told] if marks else told)


def test_power_and_host_states_are_drawn_where_they_were_traced(show: Show) -> None:
    """A line of power for each run, an area for each state of the run whose hosts slept."""
    page = show(with_energy("easy"), with_energy("sleeper"), plotly=PLOTLY)
    assert lines(page, "power") == 2
    assert page.ask("document.querySelectorAll('#hosts-1 .scatterlayer path.js-fill').length") == 5
    assert page.ask("document.getElementById('hosts-0')") is None
    joules = page.ask("report.runs[1].power.until(report.runs[1].end)")
    assert joules == pytest.approx(float(with_energy("sleeper").batsim_row["consumed_joules"]), rel=1e-6)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (schedule(), "No job ran"),
        (schedule(rejected("1"), rejected("2")), "No job ran"),
        (as_log(schedule(record("1", hosts="0-1"))), "No Gantt chart"),
        (schedule(record("1", hosts="0-1")), "1 job on 4 hosts"),
        (schedule(record("1", finish=1e-5), rejected("2")), "Rejected jobs"),
    ],
    ids=["empty", "all-rejected", "log", "one", "short"],
)
def test_small_and_strange_runs_are_shown(show: Show, given: Schedule, told: str) -> None:
    """Without an error, and with the reason why something is missing."""
    page = show(given)
    assert told in page.ask("document.body.innerText")
    assert page.ask("report.gantts.length") == ("No" not in told)


def test_names_are_text_and_never_markup(show: Show) -> None:
    """Names of jobs, runs, profiles and workloads are text in tables, tips and charts."""
    evil = "<script>window.broken=1</script>&amp;<img src=x onerror='window.broken=2'>"
    one = schedule(record(evil, hosts="0", workload="</script><b>"), rejected(evil), name=evil)
    page = show(one, replace(one, name="other"))
    x, y = centre(page, 0, page.ask("report.names[report.runs[0].job[0]]"))
    page.mouse("mouseMoved", x, y)
    assert evil in page.ask("document.getElementById('tip').textContent")
    page.click(x, y)
    assert evil in page.ask("document.querySelector('#chosen caption').textContent")
    assert page.ask("window.broken === undefined && document.images.length === 0")
    assert evil in page.ask("document.querySelector('h1').textContent")


def test_many_jobs_are_a_raster_that_tells_how_busy_hosts_are(show: Show) -> None:
    """Cells hold as much as the hosts were busy; zoomed in, jobs are rectangles."""
    many = crowd(6000)
    page = show(many)
    assert page.ask("report.gantts[0].drawn.how") == "raster"
    busy = page.ask("(({ busy }) => busy.reduce((sum, part) => sum + part, 0) / busy.length)(report.gantts[0].raster)")
    end = max(job.finish for job in many.ran)
    assert busy == pytest.approx(sum(job.execution for job in many.ran) / (many.hosts * end), rel=1e-4)
    assert page.ask("Math.max(...report.gantts[0].raster.busy)") == pytest.approx(1, abs=1e-3)
    page.do("report.show({ begin: 100, end: 130 })")
    drawn = page.ask("report.gantts[0].drawn")
    assert drawn["how"] == "rectangles"
    assert drawn["rectangles"] == sum(job.start <= 130 and job.finish > 100 for job in many.ran)


def test_both_schemes_of_colours_are_drawn(show: Show, runs: list[Schedule], browser: Browser) -> None:
    """As the reader's system prefers, or as the button says."""
    browser.prefer("dark")
    try:
        page = show(runs[0])
        dark = page.ask("getComputedStyle(document.body).backgroundColor")
        assert ink(page) > 0.4
        page.do("window.dispatchEvent(new Event('beforeprint'))")
        assert page.ask("document.documentElement.dataset.scheme") == "light"
        page.do("window.dispatchEvent(new Event('afterprint'))")
        assert page.ask("getComputedStyle(document.body).backgroundColor") == dark
        page.do("document.getElementById('scheme').click()")
        assert page.ask("getComputedStyle(document.body).backgroundColor") != dark
        assert ink(page) > 0.4
    finally:
        browser.prefer("light")


#: The boxes of a page whose content is wider than they are.
SCROLLING = """(() => [...document.querySelectorAll("main *")].filter((box) => {
  const { overflowX } = getComputedStyle(box);
  const shown = !box.closest("details:not([open])") && box.clientWidth > 1;
  return shown && overflowX !== "visible" && box.scrollWidth > box.clientWidth;
}))()"""


def edges(browser: Browser, box: int) -> tuple[float, float]:
    """Return the brightness of the left and right columns of pixels of a box that scrolls, from 0 to 1."""
    element = browser.driver.execute_script(f"return {SCROLLING}[arguments[0]]", box)
    image = imread(BytesIO(element.screenshot_as_png))
    return float(image[:, 1, :3].mean()), float(image[:, -2, :3].mean())


def test_a_page_of_many_runs_shows_where_there_is_more(show: Show, runs: list[Schedule], browser: Browser) -> None:
    """It never scrolls sideways, wide tables do; an edge is dark as long as something is beyond it."""
    six = [replace(runs[number % 2], name=f"run {number}") for number in range(6)]
    show(*six)
    try:
        for width in (1300, 600):
            browser.resize(width)
            browser.until(f"window.innerWidth === {width}")
            browser.frames()
            wide = browser.ask("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
            assert wide[0] == wide[1] <= width
        assert browser.ask(f"{SCROLLING}.length") >= 3
        shadows = "getComputedStyle(box).backgroundAttachment"
        assert browser.ask(f"{SCROLLING}.map((box) => {shadows})[0]") == "local, local, scroll, scroll"
        assert browser.ask(f"new Set({SCROLLING}.map((box) => {shadows})).size") == 1  # one picture tells about all
        browser.do(f"{SCROLLING}[0].scrollIntoView({{ block: 'center' }})")
        left, right = edges(browser, 0)
        browser.do(f"{SCROLLING}[0].scrollLeft = 1e6")
        left_after, right_after = edges(browser, 0)
        assert right < right_after - 0.1
        assert left_after < left - 0.1
    finally:
        browser.resize(None)


def test_a_lease_has_one_colour_and_its_life_is_told(show: Show) -> None:
    """The quickstart of Haizea's manual: two segments, between them a suspension and a resumption."""
    browser = show(lease_runs.schedule())
    tints = browser.ask(
        "[0, 1, 2].map((row) => [report.names[report.runs[0].job[row]], report.gantts[0].classes[row]])"
    )
    colours = dict(tints)
    assert colours["1"] == colours["1#1"] != colours["2"]
    browser.do("report.choose(report.names.indexOf('1#1'))")
    life = told(browser)
    assert life["lease"] == "1: best effort, Done"
    assert life["segments"] == "1 0 s to 00:29:28; 1#1 01:00:32 to 01:31:04"
    assert life["between them"] == "suspended 00:29:28 to 00:30:00; resumed 01:00:00 to 01:00:32"
    assert (life["suspended for"], life["work lost"], life["its slowdown"]) == ("00:30:00", "0 s", "1.518")
    browser.do("report.choose(report.names.indexOf('2'))")
    assert told(browser)["requested"] == "00:15:00 for 00:30:00"


def test_patterns_are_drawn_and_explained(show: Show) -> None:
    """Each kind that occurs is in the legend, and changes the picture."""
    browser = show(lease_runs.schedule("images"))
    names = browser.ask("[...document.querySelectorAll('#patterns li')].map((item) => item.innerText)")
    assert names == [name for kind, name in MARK_NAMES.items() if kind != "lost"]
    with_marks = ink(browser)
    browser.do("report.runs[0].leases.marks = []; report.redraw()")
    assert ink(browser) < with_marks


def test_the_mouse_finds_a_suspension_where_no_job_runs(show: Show) -> None:
    """It is told, and a click chooses its lease."""
    browser = show(lease_runs.schedule())
    browser.do("report.show({ begin: 1700, end: 1900 })")
    x, y = browser.ask(
        """(() => {
          const gantt = report.gantts[0];
          gantt.canvas.scrollIntoView({ block: "center", behavior: "instant" });
          const { left, top } = gantt.canvas.getBoundingClientRect();
          return [left + gantt.x(1784), top + (gantt.y(0) + gantt.y(-1)) / 2];
        })()"""
    )
    browser.mouse("mouseMoved", x, y)
    assert browser.ask("[...document.querySelectorAll('#tip > *')].map((line) => line.innerText)") == [
        "lease 1, best effort: suspended", "hosts 0", "00:29:28 to 00:30:00",
    ]  # fmt: skip
    browser.click(x, y)
    assert browser.ask("report.names[report.chosen]") == "1"


def test_runs_with_and_without_leases_stand_side_by_side(show: Show) -> None:
    """Cells that one run cannot fill are empty; it has no patterns."""
    browser = show(schedule(record("1", finish=50), name="plain"), lease_runs.schedule())
    browser.do("report.choose(report.names.indexOf('2'))")
    cells = browser.ask(
        "[...document.querySelectorAll('#chosen tbody tr')].map((row) => [...row.cells].map((c) => c.innerText))"
    )
    assert ["lease", "", "2: advance reservation, Done"] in cells


def test_a_part_of_a_run_in_the_browser(show: Show, runs: list[Schedule]) -> None:
    """Charts begin and end with it, and jobs are those that were submitted in it."""
    window = TimeWindow(20_000, 60_000)
    browser = show(*runs, window=window)
    assert browser.ask("[report.full.begin, report.full.end]") == [20_000, 60_000]
    browser.do("report.zoom(100)")
    assert browser.ask("[report.view.begin, report.view.end]") == [20_000, 60_000]
    submitted = len(window.submitted(runs[0]).ran)
    assert filtered(browser, "").startswith(f"{submitted} jobs of {submitted}, 50 shown")


def test_the_table_of_a_job_says_why_it_waited(show: Show) -> None:
    """A line for each reason; of a wait that is not explained, and of a job that did not wait, it is said so."""
    first = schedule(
        record("a", finish=20, hosts="0-3"),
        record("b", submit=1, start=20, finish=30),
        record("c", submit=2, start=30, finish=40),
    )
    second = replace(first, name="other")
    page = show(first, second, waits=[longest_waits(RunHistory(first), most=1), longest_waits(RunHistory(second))])
    text = "[...cell.querySelectorAll('li')].map((item) => item.textContent).join('|') || cell.textContent"
    cells = f"[...document.querySelectorAll('#chosen tbody tr')].map((row) => [...row.cells].map((cell) => {text}))"
    found = {}
    for job in range(3):
        page.do(f"report.choose({job})")
        found[job] = next((row[1:] for row in page.ask(cells) if row[0] == "why it waited"), None)
    assert found[0] is None
    assert found[1] == ["batsched-py explain tells it", "19 s: too few hosts were free (w0!a)"]
    assert found[2] == ["18 s: too few hosts were free (w0!a)|10 s: enough hosts were free; the reason is unknown"] * 2


@pytest.mark.parametrize("how", ["rectangles", "raster", "heat"])
def test_hosts_that_were_unavailable_have_a_pattern(show: Show, how: str) -> None:
    """Jobs may be rectangles, a raster or a heat map; the pointer shows which hosts, and for how long."""
    few = schedule(record("a", finish=15, hosts="0"), record("b", finish=900, hosts="2"))
    plain = {"rectangles": few, "raster": replace(crowd(9_000), hosts=65), "heat": replace(crowd(9_000, 4), hosts=5)}[
        how
    ]
    last = HostSet.of(plain.hosts - 1)
    page = show(replace(plain, outages=(Outage(20.0, 30.0, HostSet.of(0)), Outage(200.0, 800.0, last))))
    assert page.ask("report.gantts[0].drawn.how") == how
    before = ink(page)
    page.do("report.runs[0].outages.pop(); report.gantts[0].draw()")
    assert ink(page) < before
    page.do("report.show({ begin: 10, end: 40, low: 0, high: 0 })")
    assert page.ask("document.querySelector('#patterns').textContent") == "unavailable"
    assert page.ask("report.runs[0].outageAt(25, 0)") == {"start": 20, "finish": 30, "hosts": "0", "ranges": [[0, 0]]}
    if how == "rectangles":
        point = """(() => {
          const [gantt] = report.gantts;
          gantt.canvas.scrollIntoView({ block: "center", behavior: "instant" });
          const { left, top } = gantt.canvas.getBoundingClientRect();
          return [left + gantt.x(25), top + gantt.y(0) + 4];
        })()"""
        page.mouse("mouseMoved", *page.ask(point))
        told = page.ask("[...document.getElementById('tip').children].map((line) => line.textContent)")
        assert told == ["unavailable", "hosts 0", "20 s to 30 s"]
    assert page.ask("report.runs[0].outageAt(25, 1) ?? report.runs[0].outageAt(30, 0)") is None


def test_jobs_that_others_slowed_down_are_striped(show: Show) -> None:
    """As far as they lost time; the table of jobs, and what is told of a chosen job, have the numbers."""
    plain = schedule(record("a", finish=20, hosts="0"), record("b", finish=20, hosts="1"))
    colours = """(() => {
      const [gantt] = report.gantts, { canvas } = gantt, ratio = canvas.width / canvas.clientWidth;
      const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
      const context = copy.getContext("2d", { willReadFrequently: true });
      context.drawImage(canvas, 0, 0);
      return [[1, 7], [9, 19]].map(([from, to]) => {
        const corner = [gantt.x(from), gantt.y(0) + 2, gantt.x(to) - gantt.x(from), 4].map((length) => length * ratio);
        const { data } = context.getImageData(...corner);
        return new Set(Array.from({ length: data.length / 4 }, (_, i) => data.slice(4 * i, 4 * i + 3).join())).size;
      });
    })()"""
    page = show(plain)
    assert page.ask(colours) == [1, 1]
    assert page.ask("document.querySelector('#patterns')") is None
    page = show(replace(plain, alone={"w0!a": 8.0}))
    plainly, striped = page.ask(colours)
    assert (plainly, striped > 1) == (1, True)
    assert page.ask("document.querySelector('#patterns').textContent").startswith("time lost to other jobs")
    headings = page.ask("[...document.querySelectorAll('th')].map((cell) => cell.textContent.trim())")
    assert any(heading.startswith("contention") for heading in headings)
    assert page.ask("report.runs[0].timesAlone(0)") == 2.5
    page.do("report.choose(0)")
    told = page.ask("[...document.querySelectorAll('#chosen tbody tr')].map((row) => row.textContent)")
    assert "alone8 s; other jobs made it 2.50 times as long" in told


def test_jobs_narrower_than_a_pixel_are_a_heat_map(show: Show) -> None:
    """A cell tells for what share of its time a host was busy, until jobs can be seen; other colours show jobs."""
    busy = crowd(9_000, 4)
    page = show(replace(busy, hosts=8))
    assert page.ask("report.gantts[0].drawn.how") == "heat"
    rows = page.ask("(({ busy, columns, rows }) => [[...busy], columns, rows])(report.gantts[0].raster)")
    cells, columns, count = rows
    step = page.ask("report.gantts[0].drawn.step")
    assert count == 8
    for host in range(8):
        time = sum(job.execution for job in busy.ran if host in job.hosts)
        assert sum(cells[host * columns : (host + 1) * columns]) * step == pytest.approx(time, rel=1e-4)
    begin = 3 * step
    within = (min(job.finish, begin + step) - max(job.start, begin) for job in busy.ran if 0 in job.hosts)
    share = sum(max(0.0, seconds) for seconds in within) / step
    assert cells[3] == pytest.approx(share, abs=1e-3)
    colour = page.ask("[...report.gantts[0].image.data.slice(4 * (7 * arguments[0] + 3)).slice(0, 3)]", columns)
    white, full = (255, 255, 255), (0x0B, 0x3C, 0x6F)
    assert colour == pytest.approx([low + share * (high - low) for low, high in zip(white, full, strict=True)], abs=3)
    legend = "document.getElementById('colours').innerText"
    assert "zoom in to see jobs" in page.ask(legend)
    page.do("report.show({ begin: 0, end: 300 })")
    assert page.ask("report.gantts[0].drawn.how") == "rectangles"
    assert "zoom in" not in page.ask(legend)
    page.do("report.show(report.full); report.colourBy('wait')")
    assert page.ask("report.gantts[0].drawn.how") == "raster"


def test_the_last_cell_of_a_heat_map_is_no_paler_for_ending_late(show: Show) -> None:
    """The part beyond the end of the run does not count."""
    page = show(crowd(9_000, 4))
    cover = page.ask(
        "(({ run, page, raster, drawn }) => [page.full.end, raster.columns, drawn.step])(report.gantts[0])"
    )
    end, columns, step = cover
    assert columns * step > end > (columns - 1) * step
    share, inside = page.ask("[report.gantts[0].raster.busy[arguments[0] - 1], arguments[0]]", columns)
    pixel = page.ask("report.gantts[0].image.data[4 * (3 * arguments[0] + arguments[0] - 1)]", columns)
    whole = min(1.0, share / ((end - (inside - 1) * step) / step))
    assert pixel == pytest.approx(255 - whole * (255 - 0x0B), abs=3)


def test_pointing_at_a_heat_map_tells_how_busy_a_host_was(show: Show) -> None:
    """In the cell; and that it was unavailable."""
    busy = crowd(9_000, 4)
    page = show(replace(busy, hosts=8, outages=(Outage(100.0, 300.0, HostSet.of(7)),)))
    step = page.ask("report.gantts[0].drawn.step")
    place = """((time, host) => {
      const [gantt] = report.gantts;
      gantt.canvas.scrollIntoView({ block: "center", behavior: "instant" });
      const { left, top } = gantt.canvas.getBoundingClientRect();
      return [left + gantt.x(time), top + gantt.y(host) + 4];
    })(...arguments)"""
    told = "[...document.getElementById('tip').children].map((line) => line.textContent)"
    page.mouse("mouseMoved", *page.ask(place, 3.5 * step, 0))
    within = (min(job.finish, 4 * step) - max(job.start, 3 * step) for job in busy.ran if 0 in job.hosts)
    share = sum(max(0.0, seconds) for seconds in within) / step
    shown = page.ask(told)
    assert (shown[0], shown[2]) == ("host 0", f"{share:.0%} of the time busy")
    page.mouse("mouseMoved", *page.ask(place, 200, 7))
    shown = page.ask(told)
    assert shown[2:] == ["0% of the time busy", "unavailable from 00:01:40 to 00:05:00"]


#: Widths of a desktop, half of one, and a phone.
WIDTHS: Final = (1400, 700, 390)


#: Waits until the browser has laid the page out, observers of sizes have seen it, and charts are drawn again.
LAID_OUT: Final = (
    "const done = arguments[arguments.length - 1], drawn = () => Promise.resolve(window.report?.settled()).then(done);"
    "requestAnimationFrame(() => requestAnimationFrame(drawn))"
)


def at_widths(browser: Browser, among: str) -> Iterator[int]:
    """Lay the page out at each width, and check that it does not scroll sideways.

    On a phone, axe-core finds nothing among the elements of this selector.
    """
    try:
        for width in WIDTHS:
            browser.resize(width)
            browser.until(f"window.innerWidth === {width}")
            browser.driver.execute_async_script(LAID_OUT)
            assert browser.ask("document.documentElement.scrollWidth") <= width
            yield width
        if AXE:
            done = "arguments[arguments.length - 1]"
            found = browser.driver.execute_async_script(f"{AXE}; axe.run({among!r}).then({done})")
            assert [(one["id"], one["nodes"][0]["target"]) for one in found["violations"]] == []
    finally:
        browser.resize(None)


def test_bars_of_waiting_fill_the_page_and_keep_nobody_out(show: Show, runs: list[Schedule]) -> None:
    """The longest bar ends where its table does."""
    explained = ExplainedWaits.of([RunHistory(run) for run in runs])
    page = show(*runs, plotly=PLOTLY, explanations=explained.explanations)
    for _ in at_widths(page, "#result, #waiting, #distributions"):
        tables = page.ask("[...document.querySelectorAll('#waiting > .wide .bars')].map((one) => one.offsetWidth)")
        assert len(tables) == 2
        inside = page.ask("document.querySelector('#waiting > .wide').clientWidth")
        assert tables == [inside, inside]
        totals = page.ask(
            "[...document.querySelectorAll('#waiting > .wide .bar')].map((bar) =>"
            " [...bar.children].reduce((sum, part) => sum + part.getBoundingClientRect().width, 0) / bar.offsetWidth)"
        )
        waits = [
            [one.overall.total.time for one in explained.explanations],
            [one.overall.total.host_time for one in explained.explanations],
        ]
        assert totals == pytest.approx([time / max(times) for times in waits for time in times], abs=0.01)


def test_a_page_of_a_comparison_stacks_where_it_is_narrow(browser: Browser, place: Path) -> None:
    """Panels stand side by side on a desktop; nothing is hidden beyond an edge, and axe-core finds nothing."""
    waits = {
        "conservative": [5e4, 8e4, 9e4],
        "a rather long name of 1 algorithm": [4e4, 8e4, 7e4],
        "best": [1.0, 2.0, 3.0],
    }
    place.write_bytes(comparison_page(compared(waits, "mean_wait", "makespan")))
    browser.visit(place.as_uri())
    tops = "[...document.querySelectorAll('.panels > *, .pictures > *')].map((box) => box.getBoundingClientRect().top)"
    for width in at_widths(browser, "html"):
        tables, pictures = (set(browser.ask(tops)[first : first + 2]) for first in (0, 2))
        assert (len(tables), len(pictures)) == {1400: (1, 1), 700: (2, 2), 390: (2, 2)}[width]
        assert browser.ask(f"{SCROLLING}.filter((box) => box.closest('.panels')).length") == 0
        assert browser.ask("document.querySelector('.pictures img').offsetWidth") > 300
    first = browser.ask("document.querySelector('#result p').getBoundingClientRect().bottom")
    assert first < 400
    browser.ask("document.getElementById('scheme').click()")
    assert browser.ask("document.documentElement.dataset.scheme") == "dark"
    assert browser.complaints() == []
