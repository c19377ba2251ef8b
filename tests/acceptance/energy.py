"""Energy and machine states: an example of evalys, and runs of real Batsim with energy on its own platforms."""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec.structs import replace

from batsched_py.model.settings import Settings
from batsched_py.plugins import load
from batsched_py.reporting.metrics.summary import summarise
from batsched_py.results.records import Result
from batsched_py.results.result_files import schedule_columns, write_jobs
from batsched_py.results.trace_files import write_consumed_energy, write_machine_states, write_pstate_changes
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.simgrid_xml import read_platform
from tests.acceptance.check import Check, near, same

#: Runs of real Batsim with -E in which every message is told as it was, on platforms of Batsim.
RUNS: Final = ("13_sleeper_pstates", "14_energy_watcher_query", "42_probe_register_kill_query", "47_probe_pstates")

#: Options of Batsim -> fields of Settings.
SWITCHES: Final = {
    "--enable-dynamic-jobs": "dynamic_jobs",
    "--acknowledge-dynamic-jobs": "acknowledge_dynamic_jobs",
    "--forward-profiles-on-submission": "forward_profiles",
    "--enable-profile-reuse": "profile_reuse",
}

#: Options of easy_idle_sleeper, MJ and mean wait in seconds that docs/energy.md tells.
INERTIAL: Final = (
    ({"inertia": "x2", "period": "60"}, 28.89, 258.0),
    ({"inertia": "x2", "period": "120"}, 30.16, 105.2),
    ({"inertia": "p1", "period": "30"}, 29.24, 193.5),
)


def medium_late(folder: Path) -> Iterator[Check]:
    """801 jobs on 32 hosts, played by Batsim 1.4 with energy: EASY, and conservative backfilling told when to start."""
    easy = Session(load("easy"), {"reserve": "hosts"}).answer
    yield from _as_played(folder, "easy", easy)
    yield from _as_played(folder, "conservative", StartsAsRecorded(_rows(folder / "conservative" / "out_jobs.csv")))


def inertial(folder: Path) -> Iterator[Check]:
    """Check the same jobs with the inertial policy, as in docs/energy.md: batsched's has 29.00 MJ and waits 285 s."""
    files = read_platform(folder / "platform.xml"), [read_workload(folder / "medium_late.json")]
    for options, joules, wait in INERTIAL:
        session = Session(load("easy_idle_sleeper"), {"idle_time": "1e9", **options})
        result = Simulation(*files, Settings(machines=32, energy=True)).run(session.answer)
        name = f"medium_late {' '.join(f'{key}={value}' for key, value in options.items())}"
        yield near(f"{name}: MJ, as documented", joules, result.joules / 1e6, 0.005)
        yield near(f"{name}: mean wait, as documented", wait, summarise(result).mean_wait or 0, 0.05)


def _as_played(folder: Path, algorithm: str, scheduler: Callable[[bytes], bytes]) -> Iterator[Check]:
    files = read_platform(folder / "platform.xml"), [read_workload(folder / "medium_late.json")]
    result = Simulation(*files, Settings(machines=32, energy=True), trace=True).run(scheduler)
    name, real_files = f"medium_late {algorithm}", folder / algorithm
    yield near(f"{name}: joules of all hosts", 48_909_070.4, result.joules, 0.0001 * 48_909_070.4)
    real_jobs = _rows(real_files / "out_jobs.csv")
    joules = {record.job.name: f"{record.energy:.6f}" for record in result.jobs}
    equal = sum(joules[row["job_id"]] == row["consumed_energy"] for row in real_jobs)
    yield same(f"{name}: jobs with equal joules", len(real_jobs), equal)
    ours, (real,) = schedule_columns(result), _rows(real_files / "out_schedule.csv")
    measured = {"scheduling_time", "simulation_time"}
    differ = [column for column in real if column not in measured and ours[column] != real[column]]
    shown = ", ".join(f"{column} {ours[column]}" for column in real if column.startswith(("time_", "consumed")))
    yield Check(f"{name}: columns of out_schedule.csv", "all equal", str(differ or shown), not differ)
    written = _written(result)
    lines = (real_files / "out_machine_states.csv").read_text().splitlines()
    yield _lines(f"{name}: lines of out_machine_states.csv", lines, written["out_machine_states.csv"])
    lines = (real_files / "out_consumed_energy.csv").read_text().splitlines()
    yield _lines(f"{name}: lines of out_consumed_energy.csv", lines, _as_in_1_4(written))


class StartsAsRecorded:
    """A scheduler that starts each job when and where a file of jobs says; something must happen at each start."""

    def __init__(self, jobs: list[dict[str, str]]) -> None:
        self._starts = {job["job_id"]: (float(job["starting_time"]), job["allocated_resources"]) for job in jobs}
        self._waiting: list[str] = []

    def __call__(self, request: bytes) -> bytes:
        """Answer a message of Batsim 4."""
        message = json.loads(request)
        now = message["now"]
        submitted = (event["data"] for event in message["events"] if event["type"] == "JOB_SUBMITTED")
        self._waiting += [data["job_id"] for data in submitted]
        commands = []
        for job_id in self._waiting[:]:
            start, hosts = self._starts[job_id.partition("!")[2]]
            if start <= now:
                self._waiting.remove(job_id)
                data = {"job_id": job_id, "alloc": hosts}
                commands.append({"timestamp": now, "type": "EXECUTE_JOB", "data": data})
        return json.dumps({"now": now, "events": commands}).encode()


def recorded_energy(folder: Path) -> Iterator[Check]:
    """The recorded replies again: all files byte for byte, but for powers over no time."""
    for name in RUNS:
        run = folder / "batsim-examples" / name
        written = _written(_replayed(run))
        for file, ours in written.items():
            both = ((run / file).read_text().splitlines(), ours)
            if file == "out_consumed_energy.csv":
                both = (_without_powers_over_no_time(both[0]), _without_powers_over_no_time(both[1]))
            yield _lines(f"{name}: lines of {file}", *both)


def _replayed(run: Path) -> Result:
    command = shlex.split(json.loads((run / "run.json").read_text())["batsim_command"])
    switches = {setting: True for option, setting in SWITCHES.items() if option in command}
    platform, workload = (Path(command[command.index(option) + 1]).name for option in ("-p", "-w"))
    simulation = Simulation(
        read_platform(run / "inputs" / platform),
        [read_workload(run / "inputs" / workload)],
        replace(Settings(energy=True, message_latency=True, allow_oversized=True), **switches),
        trace=True,
    )
    lines = map(json.loads, (run / "transcript.jsonl").read_text().splitlines())
    replies = iter([line["bytes"].encode() for line in lines if line["from"] == "scheduler"])
    return simulation.run(lambda _: next(replies))


def _written(result: Result) -> dict[str, list[str]]:
    """Name of a file -> its lines."""
    trace = result.trace
    assert trace is not None
    assert trace.states is not None
    assert trace.energy is not None
    states, energy = trace.states, trace.energy
    writers: dict[str, Callable[[Path], None]] = {
        "out_jobs.csv": lambda path: write_jobs(path, result),
        "out_machine_states.csv": lambda path: write_machine_states(path, states),
        "out_consumed_energy.csv": lambda path: write_consumed_energy(path, energy),
        "out_pstate_changes.csv": lambda path: write_pstate_changes(path, trace),
    }
    lines = {}
    with TemporaryDirectory() as folder:
        for name, write in writers.items():
            write(Path(folder) / name)
            lines[name] = (Path(folder) / name).read_text().splitlines()
    return lines


def _as_in_1_4(written: dict[str, list[str]]) -> list[str]:
    """Consumed energy as Batsim 1.4 wrote it: six digits for each number, and no wattmin."""
    lines = ["time,energy,event_type,epower"]
    for time, energy, kind, _, power in (line.split(",") for line in written["out_consumed_energy.csv"][1:]):
        shown = power if power == "NA" else f"{float(power):g}"
        lines.append(f"{float(time):g},{float(energy):g},{kind},{shown}")
    return lines


def _without_powers_over_no_time(lines: list[str]) -> list[str]:
    """Drop powers between rows of one instant: Batsim's are a rounding of the clock apart, and their power is noise."""
    kept, before = [], ""
    for line in lines:
        time, rest = line.split(",", 1)
        kept.append(f"{time},{rest.rpartition(',')[0]}" if time == before else line)
        before = time
    return kept


def _lines(name: str, real: list[str], ours: list[str]) -> Check:
    equal = sum(line == own for line, own in zip(real, ours, strict=False)) if len(real) == len(ours) else 0
    return same(name, len(real), equal)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
