"""A run in a notebook: a table of jobs, pictures, a page."""

from __future__ import annotations

import csv
import math
import pickle
from importlib.util import find_spec
from pathlib import Path

import pytest
from msgspec.structs import replace

from batsched_py.api import NoOptions, Plan, Scheduler, View
from batsched_py.campaigns import Run, SimulatedRun, simulate
from batsched_py.cli.main import run as run_command
from batsched_py.errors import ExtraError, OptionError
from batsched_py.model.settings import Settings
from batsched_py.reporting.api import read_schedule
from batsched_py.reporting.metrics.summary import summarise
from batsched_py.reporting.pictures.terminal.signs import CROSS
from batsched_py.reporting.schedules.decisions_table import read_decisions_of, with_outages
from batsched_py.traces.event_file import read_events
from tests.clone import ROOT

PLATFORM, JOBS = ROOT / "platforms" / "cluster32.xml", ROOT / "workloads" / "lublin200.json"


class Rejecting(Scheduler[NoOptions]):
    """Runs jobs of one host as soon as it can, and rejects the others."""

    name = "one host"

    def decide(self, view: View, plan: Plan) -> None:
        for job in list(view.queue):
            if job.size > 1:
                plan.reject(job, "one host is all")
            elif hosts := view.free.first(1):
                plan.start(job, hosts)


@pytest.fixture(scope="module")
def ended() -> SimulatedRun:
    """A run of EASY."""
    return simulate(PLATFORM, JOBS, "easy", {"reserve": "hosts"})


def test_jobs_are_those_of_the_command(ended: SimulatedRun, tmp_path: Path) -> None:
    """A row for each, with the columns and values of `metrics --per-job`."""
    arguments = ["-p", str(PLATFORM), "-w", str(JOBS), "-s", "easy", "-o", "reserve=hosts"]
    assert run_command(["simulate", *arguments, "-e", str(tmp_path / "run"), "--quiet"]) == 0
    assert run_command(["metrics", str(tmp_path / "run"), "--per-job", "-o", str(tmp_path / "jobs.csv")]) == 0
    with (tmp_path / "jobs.csv").open() as file:
        written = list(csv.DictReader(file))
    table = ended.jobs
    assert list(table.columns) == [name for name in written[0] if name != "run"]
    assert len(table) == len(written) == 200
    for row, found in zip(written, table.to_dict("records"), strict=True):
        for name, value in found.items():
            shown = row[name]
            if isinstance(value, bool):
                assert shown == str(int(value))
            elif value is None or (isinstance(value, float) and math.isnan(value)):
                assert shown in ("", "-1.000000")
            elif isinstance(value, float):
                assert float(shown) == pytest.approx(value, abs=1e-6)
            else:
                assert shown.removesuffix(".000000") == str(value)


def test_rejected_jobs_have_no_times() -> None:
    """Rather than zeros, which would count in means."""
    rejected = simulate(PLATFORM, JOBS, Rejecting)
    table = rejected.jobs
    lost = table[table.final_state == "REJECTED"]
    assert len(lost) == len(rejected.rejections) > 0
    assert lost.starting_time.isna().all()
    assert lost.allocated_resources.isna().all()


def test_all_metrics_are_those_of_the_command(ended: SimulatedRun) -> None:
    """The summary is a part of them, and they are computed once."""
    assert ended.metrics.mean_wait == summarise(ended.result).mean_wait
    assert ended.metrics.p99_wait is not None
    assert ended.metrics is ended.metrics


def test_a_notebook_shows_the_metrics(ended: SimulatedRun) -> None:
    """As a table, in which names are escaped."""
    shown = ended._repr_html_()
    assert "easy reserve=hosts" in shown
    assert "mean wait" in shown
    assert "<b>" not in Run(replace(ended.schedule, name="<b>"))._repr_html_()


@pytest.mark.parametrize("form", ["png", "pdf", "svg"])
def test_the_picture_is_that_of_the_command(ended: SimulatedRun, tmp_path: Path, form: str) -> None:
    """Byte for byte, of the same window and size."""
    ended_at = tmp_path / "run"
    arguments = ["-p", str(PLATFORM), "-w", str(JOBS), "-s", "easy", "-o", "reserve=hosts"]
    assert run_command(["simulate", *arguments, "-e", str(ended_at), "--quiet"]) == 0
    wanted = tmp_path / f"there.{form}"
    window = ["--from", "10000", "--to", "60000", "--only", "0-15", "--width", "5", "--with", "queue"]
    assert run_command(["gantt", str(ended_at), "-o", str(wanted), *window]) == 0
    picture = ended.gantt(begin=10000, end=60000, only="0-15", width=5, panels=["queue"])
    assert picture.save(tmp_path / f"here.{form}").read_bytes() == wanted.read_bytes()


def test_a_notebook_shows_the_picture(ended: SimulatedRun) -> None:
    """As PNG, the same each time."""
    assert ended.gantt()._repr_png_().startswith(b"\x89PNG")
    assert ended.gantt()._repr_png_() == ended.gantt()._repr_png_()


def test_a_picture_of_no_known_kind_is_refused(ended: SimulatedRun, tmp_path: Path) -> None:
    """Nothing is written."""
    with pytest.raises(OptionError, match=r"must end with .pdf, .svg or .png, not .gif"):
        ended.gantt().save(tmp_path / "x.gif")
    assert not list(tmp_path.iterdir())


def test_a_page_shows_several_runs(ended: SimulatedRun, tmp_path: Path) -> None:
    """As `report` does."""
    other = simulate(PLATFORM, JOBS, "fcfs")
    page = ended.report(tmp_path / "page.html", other, title="A & B").read_text()
    assert "A &amp; B" in page
    assert "easy reserve=hosts" in page
    assert "fcfs" in page


def test_a_run_can_be_sent_to_another_process(ended: SimulatedRun) -> None:
    """With what was computed left behind."""
    assert ended.schedule is not None
    assert pickle.loads(pickle.dumps(ended)).metrics == ended.metrics


def test_a_missing_extra_is_named(ended: SimulatedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line, with the command that installs it."""
    monkeypatch.setattr("batsched_py.loading.find_spec", lambda name: None if name == "pandas" else find_spec(name))
    with pytest.raises(ExtraError, match=r"Run.jobs: needs pandas: .*\[notebook\]"):
        _ = ended.jobs


def test_hosts_that_were_unavailable_are_drawn_as_from_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the terminal after the run, and in notebooks."""
    monkeypatch.setenv("COLUMNS", "100")
    events = tmp_path / "events.txt"
    events.write_text(
        '{"timestamp": 20000, "type": "machine_unavailable", "resources": "0-3"}\n'
        '{"timestamp": 60000, "type": "machine_available", "resources": "0-1"}\n'
        '{"timestamp": 80000, "type": "machine_available", "resources": "2-3"}\n'
    )
    prefix = tmp_path / "run"
    files = ["-p", str(PLATFORM), "-w", str(JOBS), "--events", str(events)]
    assert run_command(["simulate", *files, "-s", "easy", "-e", str(prefix), "--quiet", "--gantt"]) == 0
    after = capsys.readouterr().out
    assert run_command(["gantt", str(prefix)]) == 0
    assert f"{CROSS[0]} unavailable" in after
    assert capsys.readouterr().out.startswith(after)
    settings = Settings(external_events=read_events(events))
    run = simulate(PLATFORM, JOBS, "easy", settings=settings)
    read = read_schedule(prefix)
    assert run.schedule.outages == with_outages(read, read_decisions_of(read)).outages
    assert [(one.start, str(one.hosts)) for one in run.schedule.outages] == [(20000, "0-1"), (20000, "2-3")]
    legend = run.gantt().figure.legends
    assert [text.get_text() for text in legend[0].get_texts()] == ["unavailable"]
