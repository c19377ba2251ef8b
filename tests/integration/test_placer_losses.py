"""`placer` when hosts go down under running jobs: they run on, fail, or are placed again (L41)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from batsched_py.testing import Bench
from tests.integration.test_placer import Simulated, job

PROFILE = {"type": "delay", "delay": 100}
REPLACE = {"on_loss": "replace"}


def bench(options: Mapping[str, Any] = REPLACE, *, hosts: int = 3, acknowledge: bool = False) -> Bench:
    """One where jobs may be submitted again."""
    return Bench("placer", hosts=hosts, options=options, dynamic=True, acknowledge=acknowledge)


def simulated(folder: Path, jobs: list[dict[str, Any]], *options: str, down: str = "0", hosts: int = 3) -> Simulated:
    """A run in which hosts go down at 5, and are back at 60."""
    events = [
        {"type": "machine_unavailable", "resources": down, "timestamp": 5},
        {"type": "machine_available", "resources": down, "timestamp": 60},
    ]
    (folder / "e.txt").write_text("".join(json.dumps(event) + "\n" for event in events))
    flags = ("--events", str(folder / "e.txt"), "--enable-dynamic-jobs")
    return Simulated(folder, [{} for _ in range(hosts)], jobs, *options, flags=flags)


def test_by_default_jobs_run_on(tmp_path: Path) -> None:
    """As Batsim lets them."""
    ended = simulated(tmp_path, [job("1", 0, 2)])
    assert ended.jobs["1"]["final_state"] == "COMPLETED_SUCCESSFULLY"
    assert ended.placements["1"]["losses"] == "0"


def test_a_job_fails_with_its_hosts(tmp_path: Path) -> None:
    """Jobs on other hosts go on; losses are counted by hosts."""
    jobs = [job("1", 0, 2), job("2", 0, 1), job("3", 1, 1, 5)]
    ended = simulated(tmp_path, jobs, "on_loss=fail", down="0-1")
    assert [ended.jobs[name]["final_state"] for name in "123"] == [
        "COMPLETED_KILLED",
        "COMPLETED_SUCCESSFULLY",
        "COMPLETED_SUCCESSFULLY",
    ]
    assert [ended.placements[name]["losses"] for name in "123"] == ["2", "0", "0"]
    assert ended.started("3") == (10, "2")


def test_a_lost_job_is_placed_again(tmp_path: Path) -> None:
    """From its beginning, on hosts that are up, before those that came later; each time its hosts go down."""
    jobs = [job("1", 0, 1, 20), job("2", 0, 2, 10), job("3", 1, 1, 10)]
    ended = simulated(tmp_path, jobs, "on_loss=replace")
    assert ended.jobs["1"]["final_state"] == "COMPLETED_KILLED"
    assert ended.started("1#1") == (10, "1")
    assert ended.started("3") == (10, "2")
    assert float(ended.jobs["1#1"]["finish_time"]) == 30
    assert (ended.placements["1"]["losses"], ended.placements["1#1"]["losses"]) == ("1", "0")


@pytest.mark.parametrize("acknowledge", [False, True])
def test_what_is_placed_again_keeps_its_place(acknowledge: bool) -> None:
    """It waits before a job that came later, whether Batsim sends it back or not."""
    one = bench(hosts=2, acknowledge=acknowledge)
    first = one.submit(size=2, walltime=100, profile=PROFILE)
    assert list(one.decide().started) == [first]
    later = one.submit(size=2, walltime=100, profile=PROFILE)
    one.fail("1")
    assert one.decide().killed == [first]
    one.repair("1")
    one.finish_kills()
    decision = one.decide()
    if acknowledge:
        assert list(decision.submitted) == [f"{first}#1"]
    else:
        assert list(decision.started) == [f"{first}#1"]
        assert later in one.view.queue


def test_a_job_that_ended_just_before_is_not_placed_again() -> None:
    """The kill comes too late."""
    one = bench()
    first = one.submit(walltime=100, profile=PROFILE)
    one.decide()
    one.fail("0")
    assert one.decide().killed == [first]
    one.end(first)
    one.finish_kills()
    assert one.decide().started == {}
    assert not one.view.queue


def test_others_wait_for_the_end_of_what_is_placed_again(tmp_path: Path) -> None:
    """A class that runs after a job runs after its last segment."""
    (tmp_path / "c.json").write_text(json.dumps({"Foo": {"after": ["1"]}}))
    jobs = [job("1", 0, 1, 20), job("2", 0, 1, 10, **{"class": "Foo"})]
    ended = simulated(tmp_path, jobs, "on_loss=replace", f"classes={tmp_path}/c.json")
    assert ended.started("1#1") == (5, "1")
    assert ended.started("2")[0] == 25


def test_where_jobs_cannot_be_submitted_again_it_is_told_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything begins."""
    assert Simulated(tmp_path, [{}], [job("1", 0, 1)], "on_loss=replace").code == 2
    assert "on_loss of placer: replace needs a simulation with --enable-dynamic-jobs" in capsys.readouterr().err


OWN = """
from batsched_py.collection.placers import Placer
class Strict(Placer):
    def replaces(self, lost):
        return len(lost) == 1 and lost[0].code == "cancelled"
"""


def test_a_placer_of_ones_own_says_what_is_placed_again(tmp_path: Path) -> None:
    """It is told which placements are lost."""
    (tmp_path / "own.py").write_text(OWN)
    jobs = [job("1", 0, 1), job("2", 0, 2)]
    ended = simulated(tmp_path, jobs, "on_loss=replace", f"place={tmp_path}/own.py:Strict", down="0-2", hosts=4)
    assert ended.started("1#1") == (5, "3")
    assert ended.jobs["2"]["final_state"] == "COMPLETED_KILLED"
    assert "2#1" not in ended.jobs


def test_registration_is_finished_when_nobody_can_be_placed_again() -> None:
    """Not as long as a job waits or runs; without losses at once."""
    one = bench()
    first = one.submit(walltime=100, profile=PROFILE)
    one.decide()
    assert one.view.registration_open
    one.end(first)
    one.decide()
    assert one.view.registration_open  # more may come
    assert not bench({}).view.registration_open
