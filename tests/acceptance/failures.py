"""EASY and conservative backfilling on a part of SDSC-SP2 while hosts fail, as docs/algorithms.md tells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from msgspec.structs import replace

from batsched_py.hostset import HostSet
from batsched_py.model.external_event import MACHINE_AVAILABLE, MACHINE_UNAVAILABLE, ExternalEvent
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.testing import Case
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.swf import read_swf
from tests.acceptance.check import Check, same

HOSTS: Final = 128
JOBS: Final = 10_000
#: Jobs before the part -> algorithm -> longest wait of those on nearly all hosts, mean wait of all: seconds.
DOCUMENTED: Final = {
    14_000: {"easy": (157_921, 8_745), "conservative": (166_345, 9_002)},
    20_000: {"easy": (175_425, 16_382), "conservative": (183_861, 19_133)},
}
DAY: Final = 86_400.0
#: Seconds between two failures of a host in the mean, and those that a repair takes.
BETWEEN_FAILURES: Final = 30 * DAY
REPAIR: Final = 7_200.0


def failures(traces: Path) -> Iterator[Check]:
    """The longest wait of jobs on 127 or 128 hosts, and the mean wait of all."""
    log, _ = clean(read_swf(traces / "SDSC-SP2.swf.gz"), CleaningRules(walltime="request"))
    for first, documented in DOCUMENTED.items():
        workload = _part(log, first)
        events = _outages(workload.jobs[-1].submit_time + 10 * DAY, Random(1))
        for algorithm, expected in documented.items():
            simulation = Simulation(Case(hosts=HOSTS).platform(), [workload], Settings(external_events=events))
            result = simulation.run(Session(load(algorithm), {}).answer)
            waits = [(record.start - record.job.submit_time, record.job.size) for record in result.jobs]
            name = f"SDSC-SP2 from {first}, hosts fail, {algorithm}"
            longest = max(wait for wait, size in waits if size >= HOSTS - 1)
            yield same(f"{name}: longest wait", expected[0], round(longest))
            yield same(f"{name}: mean wait", expected[1], round(sum(wait for wait, _ in waits) / len(waits)))


def _part(log: Workload, first: int) -> Workload:
    jobs = log.jobs[first : first + JOBS]
    begin = jobs[0].submit_time
    return replace(log, jobs=tuple(replace(job, submit_time=job.submit_time - begin) for job in jobs))


def _outages(end: float, random: Random) -> tuple[ExternalEvent, ...]:
    """Each host fails until `end`, after times that are exponential, and is back after its repair."""
    events = []
    for host in range(HOSTS):
        time = random.expovariate(1 / BETWEEN_FAILURES)
        while time < end:
            events.append(_event(time, MACHINE_UNAVAILABLE, host))
            events.append(_event(time + REPAIR, MACHINE_AVAILABLE, host))
            time += REPAIR + random.expovariate(1 / BETWEEN_FAILURES)
    return tuple(sorted(events, key=lambda event: event.timestamp))


def _event(time: float, kind: str, host: int) -> ExternalEvent:
    return ExternalEvent(time, kind, HostSet.of(host), {"timestamp": time, "type": kind, "resources": str(host)})
