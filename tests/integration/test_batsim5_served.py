"""`serve` and `simulate --protocol v5` as two processes, as a decision process and Batsim 5 are."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.integration.programs import run, serving

#: Columns that do not depend on the protocol.
SCHEDULED = ("job_id", "workload_name", "final_state", "starting_time", "finish_time", "allocated_resources")


def scheduled(path: Path) -> list[tuple[str, ...]]:
    """Each job of a jobs file, in its order: when and where it ran."""
    with path.open(newline="") as file:
        return [tuple(row[name] for name in SCHEDULED) for row in csv.DictReader(file)]


@pytest.mark.parametrize(
    ("algorithm", "asks", "count"), [("fcfs", (), 40), ("easy", (), 40), ("submitter", ("--enable-dynamic-jobs",), 50)]
)
def test_a_served_run_on_batsim_5_is_that_of_batsim_4_in_one_process(
    algorithm: str, asks: tuple[str, ...], count: int, tmp_path: Path
) -> None:
    """Over a socket; `serve` needs no option, and asks for dynamic jobs itself."""
    for arguments in (
        ("generate", "--jobs", "40", "--hosts", "12", "-o", "w.json", "--platform", "p.xml"),
        ("convert", "w.json", "--to", "v5", "-o", "five.json"),
        ("simulate", "-p", "p.xml", "-w", "w.json", "-s", algorithm, *asks, "-e", "four", "--quiet"),
    ):
        done = run(tmp_path, *arguments)
        assert done.returncode == 0, done.stderr
    with serving(tmp_path, "-s", algorithm) as served:
        five = ("simulate", "-p", "p.xml", "-w", "five.json", "--protocol", "v5", "--socket", served.address)
        done = run(tmp_path, *five, "-e", "five/", "--quiet")
        assert done.returncode == 0, done.stderr
        code, said = served.end()
        assert (code, len(said)) == (0, 1)
        assert said[0].startswith("the simulation ended at t=")
    found = scheduled(tmp_path / "five" / "jobs.csv")
    assert found == scheduled(tmp_path / "four_jobs.csv")
    assert len(found) == count
