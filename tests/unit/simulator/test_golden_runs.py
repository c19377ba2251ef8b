"""Recorded runs of real Batsim, replayed: the same decisions at the same times give the same files."""

import csv
import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from batsched_py.model.settings import Settings
from batsched_py.results.records import Result
from batsched_py.results.result_files import write_jobs, write_schedule
from batsched_py.results.trace_files import (
    UNAVAILABLE_COLUMN,
    write_consumed_energy,
    write_machine_states,
    write_pstate_changes,
)
from batsched_py.results.tracing import EnergyRows, StateRows
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.event_file import read_events
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT

DATA = ROOT / "tests" / "data" / "batsim"
ENERGY = Settings(energy=True)
#: Runs in which external events make hosts unavailable.
WITH_OUTAGES = {"o19_machine_events"}
EDGE = Settings(allow_oversized=True)

#: Folder of the run -> workload, options of Batsim. All on a platform without network, where messages take no time.
RUNS: dict[str, tuple[str, Settings]] = {
    "o01_fcfs_delays": ("delays60", Settings()),
    "o05_easy_bf_burst": ("burst60", Settings()),
    "o09_filler_no_walltime": ("delays60_some_without_walltime", Settings()),
    "o10_edge": ("edge4", EDGE),
    "o12_submitter_ack": ("edge4", Settings(allow_oversized=True, dynamic_jobs=True, acknowledge_dynamic_jobs=True)),
    "o13_submitter_noack_reuse": ("edge4", Settings(allow_oversized=True, dynamic_jobs=True, profile_reuse=True)),
    "o16_energy_easy": ("delays60", ENERGY),
    "o17_energy_sleeper": ("burst60", ENERGY),
    "o18_energy_watcher": ("mixed40", ENERGY),
    "o19_machine_events": (
        "delays60",
        Settings(external_events=read_events(DATA / "inputs" / "events16.txt")),
    ),
    "o23_rejecter": ("edge4", EDGE),
    "o25_sharing_random": ("burst60", Settings(compute_sharing=True)),
    "o27_mmax8_sched_cfg": ("burst60", Settings(machines=8, allow_oversized=True)),
}

#: A stretch that is halfway between two numbers of six decimals, which the time of messages decides.
HALFWAY = {"o18_energy_watcher"}

#: Two jobs end 1 ns apart in it: SimGrid's rounding decides whether that is one instant, so its messages cannot be had.
BY_CHANCE = {"o25_sharing_random"}


class Replay:
    """Says again what a recorded scheduler said, each time all that it had said up to then."""

    def __init__(self, transcript: Path) -> None:
        #: (now of the request, reply), in order; what was said is taken away.
        self.left: list[tuple[float, dict[str, Any]]] = []
        lines = [json.loads(line) for line in transcript.read_text().splitlines()]
        for request, reply in zip(lines[::2], lines[1::2], strict=True):
            self.left.append((json.loads(request["bytes"])["now"], json.loads(reply["bytes"])))

    def __call__(self, raw: bytes) -> bytes:
        request = orjson.loads(raw)
        now = request["now"]
        if request["events"][-1]["type"] == "SIMULATION_ENDS":
            return orjson.dumps({"now": now, "events": []})
        events: list[Any] = []
        until = now
        while self.left and self.left[0][0] <= now:
            _, reply = self.left.pop(0)
            events += reply["events"]
            until = max(until, reply["now"])
        return orjson.dumps({"now": until, "events": events})


class Answers:
    """Gives the recorded replies in turn, whatever is asked."""

    def __init__(self, transcript: Path) -> None:
        lines = (json.loads(line) for line in transcript.read_text().splitlines())
        self.left: list[bytes] = [line["bytes"].encode() for line in lines if line["from"] == "scheduler"][::-1]

    def __call__(self, raw: bytes) -> bytes:
        return self.left.pop()


def replay(run: str, *, messages: bool = False) -> Result:
    """The run with the recorded decisions; with `messages` these take time, as they did."""
    workload, settings = RUNS[run]
    platform = read_platform(DATA / "inputs" / "energy16.xml")
    settings = replace(settings, message_latency=messages)
    simulation = Simulation(platform, [read_workload(DATA / "inputs" / f"{workload}.json")], settings, trace=True)
    scheduler = Answers if messages else Replay
    return simulation.run(scheduler(DATA / run / "transcript.jsonl"))


def states_of(result: Result) -> StateRows:
    assert result.trace is not None
    assert result.trace.states is not None
    return result.trace.states


def energy_of(result: Result) -> EnergyRows:
    assert result.trace is not None
    assert result.trace.energy is not None
    return result.trace.energy


def batsims_columns(path: Path) -> str:
    """The text of a file without the last column if that is ours."""
    lines = path.read_text().splitlines(keepends=True)
    if not lines[0].endswith(f",{UNAVAILABLE_COLUMN}\n"):
        return "".join(lines)
    return "".join(f"{line.rpartition(',')[0]}\n" for line in lines)


@pytest.mark.parametrize("run", sorted(set(RUNS) - HALFWAY))
def test_the_jobs_file_is_real_batsims(run: str, tmp_path: Path) -> None:
    """Byte by byte: starts, ends, states, hosts, joules, order of rows."""
    write_jobs(tmp_path / "out_jobs.csv", replay(run))
    assert (tmp_path / "out_jobs.csv").read_text() == (DATA / run / "out_jobs.csv").read_text()


@pytest.mark.parametrize("run", sorted(HALFWAY))
def test_all_but_a_stretch_is_real_batsims(run: str, tmp_path: Path) -> None:
    """12.7384375 is halfway between two numbers of six decimals."""
    write_jobs(tmp_path / "out_jobs.csv", replay(run))
    ours, real = rows(tmp_path / "out_jobs.csv"), rows(DATA / run / "out_jobs.csv")
    for our_row, real_row in zip(ours, real, strict=True):
        assert float(our_row.pop("stretch")) == pytest.approx(float(real_row.pop("stretch")), abs=1.1e-6)
    assert ours == real


@pytest.mark.parametrize("run", sorted(RUNS))
def test_the_schedule_file_is_real_batsims(run: str, tmp_path: Path) -> None:
    """All columns in their order; equal but for wall-clock times, the version, and the last digits of joules.

    The messages of real Batsim take time, some 0.1 ns each, and so some microjoules.
    """
    write_schedule(tmp_path / "out_schedule.csv", replay(run))
    (ours,), (real,) = rows(tmp_path / "out_schedule.csv"), rows(DATA / run / "out_schedule.csv")
    assert list(ours) == list(real)
    assert float(ours["consumed_joules"]) == pytest.approx(float(real["consumed_joules"]), abs=1e-4)
    for column in ("batsim_version", "scheduling_time", "simulation_time", "consumed_joules"):
        del ours[column], real[column]
    assert ours == real


@pytest.mark.parametrize("run", sorted(RUNS))
def test_the_machine_states_are_real_batsims(run: str, tmp_path: Path) -> None:
    """Row by row; where a time is halfway between two numbers of six digits, messages that take time decide."""
    write_machine_states(tmp_path / "ours.csv", states_of(replay(run)))
    ours, real = rows(tmp_path / "ours.csv"), rows(DATA / run / "out_machine_states.csv")
    out = [row.pop(UNAVAILABLE_COLUMN, "0") for row in ours]
    assert any(map(int, out)) == (run in WITH_OUTAGES)
    for our_row, real_row in zip(ours, real, strict=True):
        assert float(our_row.pop("time")) == pytest.approx(float(real_row.pop("time")), rel=1.1e-5, abs=1e-8)
    assert ours == real


@pytest.mark.parametrize("run", sorted(set(RUNS) - BY_CHANCE))
def test_with_messages_that_take_time_jobs_and_machine_states_are_real_batsims(run: str, tmp_path: Path) -> None:
    """Byte by byte, also where 0.1 ns decides how a number is rounded."""
    result = replay(run, messages=True)
    write_jobs(tmp_path / "out_jobs.csv", result)
    write_machine_states(tmp_path / "out_machine_states.csv", states_of(result))
    for name in ("out_jobs.csv", "out_machine_states.csv"):
        assert batsims_columns(tmp_path / name) == (DATA / run / name).read_text()


@pytest.mark.parametrize("run", sorted(run for run in RUNS if RUNS[run][1].energy))
def test_the_pstate_changes_are_real_batsims(run: str, tmp_path: Path) -> None:
    """Byte by byte, with messages that take time: the first switch of a run was at 0.2 ns."""
    result = replay(run, messages=True)
    assert result.trace is not None
    write_pstate_changes(tmp_path / "ours.csv", result.trace)
    assert (tmp_path / "ours.csv").read_text() == (DATA / run / "out_pstate_changes.csv").read_text()


@pytest.mark.parametrize("run", sorted(run for run in RUNS if RUNS[run][1].energy))
@pytest.mark.parametrize("messages", [False, True], ids=["at-once", "messages"])
def test_the_consumed_energy_is_real_batsims(run: str, messages: bool, tmp_path: Path) -> None:
    """Times, event types and wattmin to the last digit, joules to 10 uJ, power wherever more than messages happened."""
    write_consumed_energy(tmp_path / "ours.csv", energy_of(replay(run, messages=messages)))
    ours, real = rows(tmp_path / "ours.csv"), rows(DATA / run / "out_consumed_energy.csv")
    before = ""
    for our_row, real_row in zip(ours, real, strict=True):
        assert float(our_row.pop("energy")) == pytest.approx(float(real_row.pop("energy")), abs=1e-5)
        if real_row["time"] == before or float(real_row["time"]) == 0:
            our_power, real_power = our_row.pop("epower"), float(real_row.pop("epower"))
            assert float(our_power) == pytest.approx(real_power, rel=0.1) if messages else our_power == "NA"
        before = real_row["time"]
        assert our_row == real_row


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
