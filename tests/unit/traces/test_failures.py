"""Failures of hosts that are drawn from a model."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from statistics import fmean, stdev

import pytest

from batsched_py.cli.main import run
from batsched_py.errors import OptionError
from batsched_py.traces.event_file import read_events
from batsched_py.traces.failures import FailureModel, parse_failures

DAY = 86400.0


def intervals(model: FailureModel, hosts: int, until: float) -> tuple[list[float], list[float]]:
    """Times from a repair to the next failure, and repairs, of all hosts; the last of each host was cut."""
    up, down = list[float](), list[float]()
    by_host = sorted(model.draw(hosts, until, 1), key=lambda event: (event[2], event[0]))
    for _, events in groupby(by_host, key=lambda event: event[2]):
        last, state = 0.0, True
        for time, available, _ in events:
            assert available is not state
            assert time > last
            (up if state else down).append(time - last)
            last, state = time, available
        assert state
    return up, down


def test_means_are_those_that_were_asked_for() -> None:
    """The deviation of exponential distributions is the mean."""
    up, down = intervals(FailureModel(mtbf=DAY, repair=7200), 50, 400 * DAY)
    assert len(up) == len(down) > 15_000
    assert fmean(up) == pytest.approx(DAY, rel=0.03)
    assert stdev(up) == pytest.approx(DAY, rel=0.03)
    assert fmean(down) == pytest.approx(7200, rel=0.03)
    assert stdev(down) == pytest.approx(7200, rel=0.03)


def test_shapes_change_the_deviation_and_not_the_mean() -> None:
    """For a Weibull distribution of shape 0.7 it is 1.46 times the mean, for shape 3 it is 0.36 times."""
    up, down = intervals(FailureModel(mtbf=DAY, repair=7200, shape=0.7, repair_shape=3), 50, 400 * DAY)
    assert fmean(up) == pytest.approx(DAY, rel=0.05)
    assert stdev(up) / fmean(up) == pytest.approx(1.462, rel=0.05)
    assert fmean(down) == pytest.approx(7200, rel=0.05)
    assert stdev(down) / fmean(down) == pytest.approx(0.363, rel=0.05)


def test_a_host_does_the_same_on_any_machine() -> None:
    """It depends on its number and the seed."""
    model = FailureModel(mtbf=DAY, repair=7200)
    small, large = model.draw(3, 30 * DAY, 5), model.draw(20, 30 * DAY, 5)
    assert [event for event in large if event[2] < 3] == small == sorted(small)
    assert model.draw(3, 30 * DAY, 6) != small


def test_a_file_is_one_that_simulations_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same arguments, the same bytes."""
    options = ["--hosts", "8", "--failures", "mtbf=10d,repair=2h,repair-shape=2", "--until", "30d"]
    for name in ("a", "deep/b"):
        assert run(["generate", *options, "--events", str(tmp_path / name)]) == 0
    first = (tmp_path / "a").read_bytes()
    assert (tmp_path / "deep" / "b").read_bytes() == first
    events = read_events(tmp_path / "a", hosts=8)
    assert capsys.readouterr().out.startswith(f"wrote {tmp_path / 'a'}: {len(events) // 2} failures of ")
    assert {event.type for event in events} == {"machine_unavailable", "machine_available"}
    assert all(event.timestamp < 30 * DAY for event in events if event.type == "machine_unavailable")


def test_with_a_workload_hosts_fail_until_its_last_job_is_submitted(tmp_path: Path) -> None:
    """All in one call, and the run takes place."""
    files = {name: str(tmp_path / name) for name in ("w.json", "p.xml", "f.txt")}
    drawn = ["--jobs", "50", "--hosts", "8", "--failures", "mtbf=1d,repair=1h", "--events", files["f.txt"]]
    assert run(["generate", *drawn, "-o", files["w.json"], "--platform", files["p.xml"]]) == 0
    given = ["-p", files["p.xml"], "-w", files["w.json"], "--events", files["f.txt"]]
    assert run(["simulate", *given, "-s", "easy", "--quiet"]) == 0


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "must be NAME=VALUE"),
        ("mtbf", "must be NAME=VALUE"),
        ("mtbf=1d", "repair is missing"),
        ("repair=1d", "mtbf is missing"),
        ("mtbf=1d,repair=1h,mtbf=2d", "mtbf is there twice"),
        ("mtbf=1d,repair=1h,colour=2", "colour"),
        ("mtbf=1x,repair=1h", "mtbf: has the unknown unit 'x'"),
        ("mtbf=0,repair=1h", "mtbf: must be from 0.001"),
        ("mtbf=1d,repair=1e400", "repair: must be finite"),
        ("mtbf=1d,repair=1h,shape=nan", "shape: must be from 0.1 to 100, not 'nan'"),
        ("mtbf=1d,repair=1h,shape=x", "shape: must be a number, not 'x'"),
    ],
)
def test_a_wrong_model_is_one_line(text: str, rule: str) -> None:
    """It names the member and the rule."""
    with pytest.raises(OptionError) as refused:
        parse_failures(text)
    assert rule in str(refused.value)
    assert str(refused.value).startswith("failures: ")


def test_too_many_failures_are_not_drawn() -> None:
    """They would fill the memory."""
    with pytest.raises(OptionError, match="would be about 4"):
        FailureModel(mtbf=0.001, repair=0.001).draw(80_640, 1e6, 0)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (("--hosts", "4"), "'--jobs' or '--failures' is needed"),
        (("--hosts", "4", "--jobs", "3"), "'--jobs' and '-o' go together"),
        (("--hosts", "4", "--failures", "mtbf=1,repair=1"), "'--failures' and '--events' go together"),
        (("--hosts", "4", "--failures", "mtbf=1,repair=1", "--events", "f"), "'--until' is needed without '--jobs'"),
        (("--hosts", "4", "--jobs", "3", "-o", "w", "--until", "3d"), "'--until' goes with '--failures'"),
        (("--hosts", "4", "--failures", "x", "--events", "f"), "Invalid value for '--failures': must be NAME=VALUE"),
        (("--hosts", "4", "--until", "-3"), "Invalid value for '--until'"),
    ],
)
def test_wrong_usage(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    rule: str,
) -> None:
    """One line, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    assert run(["generate", *options]) == 2
    assert rule in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
