"""Refusals of what is wrong with leases: one line with file or job, element and rule, and nothing is written."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from tests.clone import ROOT
from tests.integration.test_ha_configurations import QUICKSTART, best_effort
from tests.unit.haizea.configurations import written


def trace(*requests: str) -> str:
    """A file of requests."""
    inside = "".join(requests)
    return f'<lease-workload name="t"><lease-requests>{inside}</lease-requests></lease-workload>'


@pytest.mark.parametrize(
    ("files", "options", "said"),
    [
        ({}, {}, "leases.lwf: "),
        (
            {"leases.lwf": trace('<lease-request arrival="00:00:00"/>')},
            {},
            "leases.lwf: line 1, lease-request 1, lease-request.lease: is missing",
        ),
        (
            {"leases.lwf": trace(*QUICKSTART), "more.lwf": trace(best_effort("soon", 1, "00:10:00"))},
            {"tracefile.injectionfile": "more.lwf"},
            "more.lwf: line 1, lease-request 1, lease-request.arrival: must be [DD:]HH:MM:SS[.ss], not 'soon'",
        ),
        (
            {"leases.lwf": trace(*QUICKSTART), "more.lwf": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'},
            {"tracefile.injectionfile": "more.lwf"},
            "more.lwf: line 1: must not define or fetch entities",
        ),
        (
            {"leases.lwf": trace(*QUICKSTART), "images.txt": "a.img big\n#\na.img\na.img\n"},
            {"tracefile.imagefile": "images.txt"},
            "images.txt: line 1",
        ),
        (
            {"leases.lwf": trace(*QUICKSTART)},
            {"simulation.resources": "in-tracefile"},
            "simulation.resources is in-tracefile, but ",
        ),
        (
            {"leases.lwf": trace(*QUICKSTART)},
            {"scheduling.suspend-rate": "fast"},
            "haizea.conf: scheduling.suspend-rate: ",
        ),
    ],
    ids=["missing", "trace", "injection", "hostile", "images", "no-site", "configuration"],
)
def test_a_run_that_cannot_begin_writes_nothing(
    tmp_path: Path,
    files: dict[str, str],
    options: dict[str, str | None],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 2, one line that names file, element and rule."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    conf = written(tmp_path, options)
    before = sorted(tmp_path.iterdir())
    assert run(["haizea", str(conf), "-e", str(tmp_path / "out" / "run")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("batsched-py: error: ")
    assert said in error
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("lease", "rule"),
    [
        ({"start": "soon"}, "lease.start: must be null"),
        ({"begin": 5}, "lease.begin: unknown; "),
        ({"capacity": {"Ponies": 1}}, "lease.capacity: the site has only CPU, Memory"),
        ({"capacity": [{"count": 3}]}, "lease.capacity: counts 3 nodes, but the job's res is 1"),
        ({"software": {"image": "a", "size": "1"}}, "lease.software.size: must be a number of MB from 0"),
        (7, "lease: must be an object, not 7"),
    ],
)
def test_a_job_with_wrong_terms_is_rejected_and_the_others_run(
    tmp_path: Path, lease: Any, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reason is one line that names the job, its member and the rule."""
    jobs = [
        {"id": "1", "subtime": 0, "res": 1, "walltime": 600, "profile": "p", "lease": lease},
        {"id": "2", "subtime": 0, "res": 4, "walltime": 600, "profile": "p", "lease": {"start": 600}},
    ]
    workload = {"nb_res": 4, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 600}}}
    (tmp_path / "w.json").write_text(json.dumps(workload))
    files = ["-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(tmp_path / "w.json"), "-e", str(tmp_path / "run")]
    assert run(["simulate", *files, "-s", "leases", "--quiet"]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "w0!1" in line]
    assert len(told) == 1
    assert rule in told[0]
    with (tmp_path / "run_jobs.csv").open(newline="") as file:
        states = {row["job_id"]: row["final_state"] for row in csv.DictReader(file)}
    assert states["1"] == "REJECTED"
    assert states["2"].startswith("COMPLETED")
