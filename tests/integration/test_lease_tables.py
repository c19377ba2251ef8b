"""Tables of the algorithm `leases`: the quickstart of Haizea's manual (HA-2), through Batsim's messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.cli.main import run
from tests.clone import ROOT

WORKLOAD = """{"nb_res": 4, "jobs": [
    {"id": "7", "subtime": 0, "res": 1, "walltime": 3600, "profile": "a"},
    {"id": "2", "subtime": 900, "res": 4, "walltime": 1800, "profile": "b", "lease": {"start": 1800}},
    {"id": "late", "subtime": 950, "res": 4, "walltime": 1800, "profile": "b", "lease": {"start": 1900}}],
"profiles": {"a": {"type": "delay", "delay": 3600}, "b": {"type": "delay", "delay": 1800}}}"""
PROBE = """
class OddOrEven:
    def __init__(self, accounting):
        self.accounting = accounting
        accounting.create_lease_stat("Odd or even?")

    def at_timestep(self, lease_scheduler):
        pass

    def at_lease_request(self, lease):
        pass

    def at_lease_done(self, lease):
        self.accounting.set_lease_stat("Odd or even?", lease.id, "odd" if lease.id % 2 else "even")

    def finalize_accounting(self):
        pass
"""


@pytest.fixture
def simulated(tmp_path: Path) -> list[str]:
    """A command that simulates the quickstart."""
    (tmp_path / "w.json").write_text(WORKLOAD)
    (tmp_path / "own.py").write_text(PROBE)
    options = ["-o", "policy_preemption=ar-preempts-everything", "--enable-dynamic-jobs", "--quiet"]
    return [
        *("simulate", "-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(tmp_path / "w.json"), "-s", "leases"),
        *options,
        *("-e", str(tmp_path / "run")),
    ]


def test_leases_and_reservations_are_written_to_the_second(tmp_path: Path, simulated: list[str]) -> None:
    """A lease has the number that its job has for a name, or the next one; a rejected one has no reservation."""
    assert run(simulated) == 0
    lines = (tmp_path / "run_leases.csv").read_text().splitlines()
    assert lines[0].startswith("lease,type,state,submit_time,start_time,end_time,")
    assert [line.split(",")[:6] + line.split(",")[-1:] for line in lines[1:]] == [
        ["2", "AR", "Done", "900", "1800", "3600", "w0!2"],
        ["7", "BE", "Done", "0", "0", "5464", "w0!7"],
        ["8", "AR", "Rejected", "950", "", "", "w0!late"],
    ]
    assert (tmp_path / "run_reservations.csv").read_text().splitlines() == [
        "lease,kind,start,end,hosts,lost",
        "7,vm,0,1768,0,0",
        "7,suspend,1768,1800,0,0",
        "2,vm,1800,3600,0-3,0",
        "2,shutdown,3600,3600,0-3,0",
        "7,resume,3600,3632,0,0",
        "7,vm,3632,5464,0,0",
        "7,shutdown,5464,5464,0,0",
    ]
    assert not (tmp_path / "run_counters.csv").exists()


def test_what_probes_count_is_written(tmp_path: Path, simulated: list[str]) -> None:
    """HA-37 for utilisation; a probe of a user's own adds a column to the leases (HA-45)."""
    assert run([*simulated, "-o", f"probes=utilization ar {tmp_path}/own.py:OddOrEven"]) == 0
    counters = (tmp_path / "run_counters.csv").read_text().splitlines()
    assert counters[:5] == [
        "counter,time,lease,value,average",
        "CPU utilization,0,,0.25,0.25",
        "CPU utilization,1800,,1,0.25",
        "CPU utilization,3600,,0.25,0.625",
        "CPU utilization,5464,,0,0.497072",
    ]
    assert (tmp_path / "run_stats.csv").read_text() == "name,value\nTotal accepted AR,1\nTotal rejected AR,1\n"
    leases = (tmp_path / "run_leases.csv").read_text().splitlines()
    assert [line.rpartition(",")[2] for line in leases] == ["Odd or even?", "even", "odd", "even"]


def test_a_probe_that_fails_is_named_in_one_line(
    tmp_path: Path, simulated: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """With the line of its file."""
    (tmp_path / "own.py").write_text(PROBE.replace("create_lease_stat", "create_stat"))
    assert run([*simulated, "-o", f"probes={tmp_path}/own.py:OddOrEven"]) == 3
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "probe OddOrEven: at_lease_done at t=950: it raised ValueError: there is no statistic of leases" in error
    assert error.endswith("(own.py:14)\n")


def test_leases_are_drawn_at_once(
    simulated: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without files, too: `simulate --gantt` has one letter for both segments, and signs for what is between them."""
    monkeypatch.setenv("COLUMNS", "200")
    assert run([*simulated[:-2], "--gantt"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "A=7  B=2" in lines
    [lowest] = [line for line in lines if line.startswith("      0 │")]
    assert set(lowest.partition("│")[2].strip()) == set("AB↓↑")
