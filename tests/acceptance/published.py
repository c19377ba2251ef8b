"""EASY backfilling on logs whose start times were published, and EASY and conservative as Batsim ran batsched's."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

from msgspec.structs import replace

from batsched_py.hostset import HostSet
from batsched_py.model.settings import Settings
from batsched_py.plugins import load
from batsched_py.reporting.metrics.summary import summarise
from batsched_py.results.records import Result
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.batsim_json_writer import write_workload
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.platform_writer import write_homogeneous
from batsched_py.traces.simgrid_xml import read_platform
from batsched_py.traces.swf import read_swf
from tests.acceptance.check import Check, near, same


@dataclass(frozen=True, slots=True)
class Log:
    """A log and what was published of it: waits in seconds, mean bounded slowdowns (threshold 10 s)."""

    name: str
    hosts: int
    jobs: int
    wait: float
    slowdown: float
    sjf_slowdown: float
    #: Starts of EASY-SJBF that are equal if jobs that are submitted together are looked at together.
    sjf_together: int
    #: In the natural order of events: completions, then submissions, one pass.
    request_slowdown: float
    #: Algorithm and backfill_order -> mean bounded slowdown with users' estimates that docs/reproductions.md tells.
    documented: Mapping[tuple[str, str], float]


KTH: Final = {("easy", "sjf"): 69.39, ("easy_plus_plus", "sjf"): 71.05, ("easy_plus_plus", "fcfs"): 78.37}
SDSC: Final = {("easy", "sjf"): 83.00, ("easy_plus_plus", "sjf"): 80.69}

LOGS: Final = (
    Log("KTH-SP2", 100, 28_481, 6327.68, 71.7224, 49.8477, 28_453, 92.69, KTH),
    Log("SDSC-SP2", 128, 54_006, 17337.11, 70.4779, 56.8362, 54_004, 87.81, SDSC),
)


#: Algorithm, on concrete hosts -> the mean wait, in seconds, of batsched's on medium_late.
MEDIUM_LATE: Final = {"easy": 9.516326, "conservative": 9.852251}


def published(traces: Path) -> Iterator[Check]:
    """All checks on the folder of traces."""
    for log in LOGS:
        yield from _clairvoyant(traces, log)
        yield from _shortest_first(traces, log)
        estimates = summarise(simulate_log(traces, log, "request", {})).mean_bounded_slowdown
        yield near(f"{log.name} EASY, users' estimates: AVEbsld", log.request_slowdown, estimates or 0, 0.05)
        for (algorithm, order), told in log.documented.items():
            result = simulate_log(traces, log, "request", {"backfill_order": order}, algorithm)
            found = summarise(result).mean_bounded_slowdown
            yield near(
                f"{log.name} {algorithm}, backfill_order={order}: AVEbsld, as documented", told, found or 0, 0.005
            )
    for algorithm, mean_wait in MEDIUM_LATE.items():
        yield from _medium_late(traces / "medium_late", algorithm, mean_wait)


def simulate_log(
    traces: Path, log: Log, walltime: Literal["request", "run"], options: Mapping[str, str], algorithm: str = "easy"
) -> Result:
    """The log converted to files, and those simulated."""
    with TemporaryDirectory() as folder:
        workload, platform = Path(folder) / "workload.json", Path(folder) / "platform.xml"
        cleaned, _ = clean(read_swf(traces / f"{log.name}.swf.gz"), CleaningRules(walltime=walltime))
        write_workload(workload, cleaned)
        write_homogeneous(platform, log.hosts)
        simulation = Simulation(read_platform(platform), [read_workload(workload)])
    session = Session(load(algorithm), options)
    return replace(simulation.run(session.answer), tables=tuple(session.tables()))


def _clairvoyant(traces: Path, log: Log) -> Iterator[Check]:
    result = simulate_log(traces, log, "run", {})
    metrics = summarise(result)
    equal = _equal_starts(traces, f"{log.name}.easy_clairvoyant", result)
    yield same(f"{log.name} EASY, walltime = run: equal starts", log.jobs, equal)
    yield near(f"{log.name} EASY, walltime = run: mean wait", log.wait, metrics.mean_wait or 0, 0.005)
    yield near(f"{log.name} EASY, walltime = run: AVEbsld", log.slowdown, metrics.mean_bounded_slowdown or 0, 0.00005)


def _shortest_first(traces: Path, log: Log) -> Iterator[Check]:
    """EASY-SJBF, whose authors pass over the queue once for each submission."""
    options = {"backfill_order": "sjf", "arrivals": "one_by_one"}
    result = simulate_log(traces, log, "run", options)
    equal = _equal_starts(traces, f"{log.name}.sjbf_clairvoyant", result)
    yield same(f"{log.name} EASY-SJBF, arrivals one by one: equal starts", log.jobs, equal)
    slowdown = summarise(result).mean_bounded_slowdown
    yield near(f"{log.name} EASY-SJBF, arrivals one by one: AVEbsld", log.sjf_slowdown, slowdown or 0, 0.00005)
    together = simulate_log(traces, log, "run", {"backfill_order": "sjf"})
    equal = _equal_starts(traces, f"{log.name}.sjbf_clairvoyant", together)
    yield same(f"{log.name} EASY-SJBF, arrivals together: equal starts, as documented", log.sjf_together, equal)


def _equal_starts(traces: Path, reference: str, result: Result) -> int:
    """Count the jobs that start when the file of reference starts has them."""
    starts = {int(record.job.name): record.start for record in result.jobs}
    with gzip.open(traces / "reference-starts" / f"{reference}.starts.gz", "rt") as lines:
        return sum(starts[int(job)] == float(start) for job, start in map(str.split, lines))


def _medium_late(folder: Path, algorithm: str, expected_wait: float) -> Iterator[Check]:
    files = read_platform(folder / "platform.xml"), [read_workload(folder / "medium_late.json")]
    simulation = Simulation(*files, Settings(machines=32))
    result = simulation.run(Session(load(algorithm), {"reserve": "hosts"}).answer)
    records = {record.job.name: record for record in result.jobs}
    equal = 0
    with (folder / algorithm / "out_jobs.csv").open() as rows:
        for row in csv.DictReader(rows):
            record = records[row["job_id"]]
            same_start = f"{record.start:.6f}" == row["starting_time"]
            equal += same_start and record.hosts == HostSet.parse(row["allocated_resources"])
    yield same(f"medium_late {algorithm}, promises on hosts: equal starts and host sets", 801, equal)
    mean_wait = summarise(result).mean_wait
    yield near(f"medium_late {algorithm}, promises on hosts: mean wait", expected_wait, mean_wait or 0, 0.000001)
