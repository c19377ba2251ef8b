"""Recorded runs of real Batsim in which jobs share links and hosts: ends, states, order, joules."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from batsched_py.results.records import Result
from tests.clone import ROOT
from tests.differential.recorded import Recorded
from tests.differential.their_side import Follower, Prompter

DATA = ROOT / "tests" / "data" / "batsim" / "contention"
RUNS = sorted(path.name for path in DATA.iterdir())

#: Where messages that take no time cannot give Batsim's ends: an exact tie of ends and walltimes, which tenths of
#: nanoseconds decide; messages that take part of a second; one that slows a job down.
MESSAGES_MATTER = {"walltime_tie", "loopback_lat", "master_route_kill"}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def close(ours: float, theirs: str) -> bool:
    """Within 1e-6 relatively, and the last of six decimals."""
    return ours == pytest.approx(float(theirs), rel=1e-6, abs=2e-6)


def compare(result: Result, folder: Path, *, latency: bool) -> None:
    recorded, jobs = rows(folder / "out_jobs.csv"), list(result.jobs)
    if not latency:  # the time of messages decides which of two jobs ends first that end at one instant
        recorded.sort(key=lambda row: (row["finish_time"], row["job_id"]))
        jobs.sort(key=lambda record: (f"{record.finish:.6f}", record.job.id))
    assert [record.job.id.partition("!")[2] for record in jobs] == [row["job_id"] for row in recorded]
    for record, row in zip(jobs, recorded, strict=True):
        assert record.state == row["final_state"]
        assert close(record.finish, row["finish_time"]), (record.job.id, record.finish, row["finish_time"])
        assert close(record.execution, row["execution_time"])
        if latency:
            assert f"{record.finish:.6f}" == row["finish_time"]
            assert close(record.energy, row["consumed_energy"])
        assert record.energy == pytest.approx(float(row["consumed_energy"]), rel=1e-6)


@pytest.mark.parametrize("name", [name for name in RUNS if name not in MESSAGES_MATTER])
def test_jobs_end_as_recorded_where_messages_take_no_time(name: str) -> None:
    """Within a millionth, in the same order and states."""
    recorded = Recorded(DATA / name)
    compare(recorded.simulation(message_latency=False).run(Follower(recorded)), recorded.folder, latency=False)


@pytest.mark.parametrize("name", RUNS)
def test_jobs_end_as_recorded_where_messages_take_time(name: str) -> None:
    """All six decimals."""
    recorded = Recorded(DATA / name)
    compare(recorded.simulation(message_latency=True).run(Prompter(recorded)), recorded.folder, latency=True)


def test_energy_of_slowed_jobs_is_as_recorded() -> None:
    """All hosts together."""
    recorded = Recorded(DATA / "energy_slowed")
    result = recorded.simulation(message_latency=True).run(Prompter(recorded))
    (row,) = rows(recorded.folder / "out_schedule.csv")
    assert close(result.consumed_joules, row["consumed_joules"])
