"""Metrics of placements: by hand, from the file as from the run itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batsched_py.campaigns.metrics import METRICS
from batsched_py.cli.main import run
from batsched_py.errors import InputError
from batsched_py.reporting.api import RunMetrics, measure_run, read_schedule, schedule_of
from batsched_py.reporting.schedules.placement_tables import COLUMNS, PlacementRow, read_placements
from batsched_py.runs.simulate import simulate

NAMES = ("placement_success", "requests_per_start", "releases_per_start", "refusals_per_start")
#: Three hosts of which the first refuses all.
PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="AS0" routing="Full"><host id="master_host" speed="1Gf"/>
<host id="n0" speed="1Gf"><prop id="refuse" value="1"/></host><host id="n1" speed="1Gf"/><host id="n2" speed="1Gf"/>
</zone></platform>
"""


def of(metrics: RunMetrics) -> list[float | None]:
    """The metrics of placements."""
    return [getattr(metrics, name) for name in NAMES]


def written(folder: Path) -> tuple[str, str]:
    """Return a platform and two jobs, the second of which asks for more than there may be."""
    (folder / "p.xml").write_text(PLATFORM)
    jobs = [
        {"id": "1", "subtime": 0, "res": 1, "profile": "p", "walltime": 20},
        {"id": "2", "subtime": 0, "res": 1, "profile": "p", "walltime": 20, "constraint": "$id == 0"},
    ]
    profiles = {"p": {"type": "delay", "delay": 10}}
    (folder / "w.json").write_text(json.dumps({"nb_res": 3, "jobs": jobs, "profiles": profiles}))
    return str(folder / "p.xml"), str(folder / "w.json")


def test_a_file_says_what_the_run_did(tmp_path: Path) -> None:
    """Each job takes a proposal, of which the second does not succeed."""
    platform, workload = written(tmp_path)
    options = {"alternatives": 2, "patience": 0}
    result = simulate(platform, workload, "placer", options).result
    given = [each for name, value in options.items() for each in ("-o", f"{name}={value}")]
    assert run(["simulate", "-p", platform, "-w", workload, "-s", "placer", *given, "-e", str(tmp_path / "r")]) == 0
    measured = of(measure_run(schedule_of(result, "placer")))
    assert measured == pytest.approx([1 / 2, 3, 0, 2])
    assert of(measure_run(read_schedule(tmp_path / "r"))) == measured
    assert METRICS["placement_success"].more_is_better
    assert not METRICS["requests_per_start"].more_is_better


def test_other_algorithms_have_none(tmp_path: Path) -> None:
    """None, not 0."""
    platform, workload = written(tmp_path)
    assert of(measure_run(schedule_of(simulate(platform, workload, "fcfs").result, "fcfs"))) == [None] * 4


def test_a_table_of_a_users_own_is_left_alone(tmp_path: Path) -> None:
    """One with our columns must have whole numbers in them."""
    path = tmp_path / "x_placements.csv"
    path.write_text("job,where\nw0!1,here\n")
    assert read_placements(path) is None
    path.write_text(",".join(COLUMNS) + "\nw0!1,1,2,0,1,3\n")
    assert read_placements(path) == {"w0!1": PlacementRow(1, 2, 0, 1, 3)}
    path.write_text(",".join(COLUMNS) + "\nw0!1,1,-2,0,1,0\n")
    with pytest.raises(InputError, match=r"line 2, column requests: must be a whole number from 0, not '-2'"):
        read_placements(path)
