"""An algorithm whose idle hosts sleep and are woken on demand, against the simulator: hosts are used when awake."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.api import HostSet, NoOptions, Plan, Scheduler, View
from batsched_py.hostset import parse_bits
from batsched_py.model.job import Job
from batsched_py.model.platform import Host, Platform
from batsched_py.model.profile import Delay
from batsched_py.model.workload import Workload
from batsched_py.model.zone import TableZone
from batsched_py.session.session import Session
from batsched_py.simulator.records import Result
from batsched_py.simulator.settings import Settings
from batsched_py.simulator.simulation import Simulation

HOSTS = 4
#: 2 s to fall asleep, 20 s to wake up; 100 W idle or in a delay, 10 W asleep.
POWER = {
    "wattage_per_state": "100:150:200, 90:100:120, 10:10:10, 120:120:125, 110:110:115",
    "sleep_pstates": "2:3:4",
}
SPEEDS = (1e9, 5e8, 1.0, 0.5, 0.05)

#: (submit time, hosts, run time).
SPECS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, HOSTS), st.integers(1, 30)), min_size=1, max_size=15)


class Sleeper(Scheduler[NoOptions]):
    """First come, first served; hosts that nobody waits for are sent to sleep, and woken for the first in the queue."""

    name = "sleeper"
    needs_energy = True

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            hosts = plan.free.first(job.size)
            if hosts is None:
                self._wake(view, plan, job.size - len(plan.free) - len(view.switching))
                return
            plan.start(job, hosts)
        for host in plan.free:
            sleep = min(view.hosts[host].sleep_pstates)
            plan.set_pstate(HostSet.of(host), int(sleep))

    def _wake(self, view: View, plan: Plan, missing: int) -> None:
        for host in view.asleep - view.switching:
            if missing > 0:
                missing -= 1
                plan.set_pstate(HostSet.of(host), 0)


class Wire:
    """What is said, and the hosts that are awake by what was announced."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.awake = (1 << HOSTS) - 1
        #: (now, type, data) of each event, in order, whoever said it.
        self.said: list[tuple[float, str, Any]] = []

    def __call__(self, request: bytes) -> bytes:
        for event in self._note(request):
            if event["type"] == "RESOURCE_STATE_CHANGED" and event["data"]["state"] == "0":
                self.awake |= parse_bits(event["data"]["resources"])
        reply = self.session.answer(request)
        for event in self._note(reply):
            if event["type"] == "SET_RESOURCE_STATE":
                self.awake &= ~parse_bits(event["data"]["resources"])
            if event["type"] == "EXECUTE_JOB":
                assert not parse_bits(event["data"]["alloc"]) & ~self.awake, event
        return reply

    def _note(self, message: bytes) -> list[dict[str, Any]]:
        parsed = orjson.loads(message)
        self.said += [(parsed["now"], event["type"], event["data"]) for event in parsed["events"]]
        return list(parsed["events"])

    def of(self, kind: str) -> list[tuple[float, Any]]:
        return [(now, data) for now, name, data in self.said if name == kind]


def run(specs: list[tuple[int, int, int]], *, latency: bool = False) -> tuple[Result, Wire]:
    profiles = {f"d{run}": Delay(f"d{run}", "delay", {"type": "delay", "delay": run}, run) for _, _, run in specs}
    jobs = [
        Job.create(f"{number:02d}", size=size, profile=f"d{run}", submit_time=submit, walltime=None)
        for number, (submit, size, run) in enumerate(sorted(specs))
    ]
    names = ["master_host", *(f"h{number}" for number in range(HOSTS))]
    hosts = tuple(Host(name, SPEEDS, properties=POWER) for name in sorted(names))
    platform = Platform("test", hosts, {"zone": TableZone("zone", "", {})}, dict.fromkeys(names, "zone"))
    wire = Wire(Session(Sleeper))
    simulation = Simulation(
        platform,
        [Workload("test", HOSTS, tuple(jobs), profiles)],
        Settings(energy=True, message_latency=latency),
        trace=True,
    )
    return simulation.run(wire), wire


@given(SPECS)
@pytest.mark.parametrize("latency", [False, True], ids=["at-once", "messages"])
def test_each_job_runs_on_hosts_that_were_announced_awake(latency: bool, specs: list[tuple[int, int, int]]) -> None:
    """BA-13, seen on the wire, and from Batsim's side: the simulator would refuse. Nobody starves."""
    result, wire = run(specs, latency=latency)
    assert [record.state for record in result.jobs] == ["COMPLETED_SUCCESSFULLY"] * len(specs)
    # One acknowledgement for each request.
    assert len(wire.of("RESOURCE_STATE_CHANGED")) == len(wire.of("SET_RESOURCE_STATE")) == result.switch_requests


@given(SPECS)
def test_joules_are_the_watts_of_each_state_times_its_seconds(specs: list[tuple[int, int, int]]) -> None:
    """All of them, from 0 to the last row: delays draw as much as idle hosts."""
    result, _ = run(specs)
    assert result.trace is not None
    rows, energy = result.trace.states, result.trace.energy
    assert rows is not None
    assert energy is not None
    expected, before, counts = 0.0, 0.0, [0, 0, 0, HOSTS, 0]
    for row, time in enumerate(rows.times):
        watts = sum(count * each for count, each in zip(counts, (10, 115, 125, 100, 100), strict=True))
        expected += watts * (time - before)
        before, counts = time, rows.counts[5 * row : 5 * row + 5].tolist()
        assert sum(counts) == HOSTS
    assert energy.joules[-1] == pytest.approx(expected)


def test_a_host_sleeps_while_nobody_waits_and_wakes_on_demand() -> None:
    """Each job waits 20 s for two hosts, which sleep again after it; the other two are left alone."""
    result, wire = run([(10, 2, 10), (100, 2, 10)])
    assert [record.start for record in result.jobs] == [30.0, 120.0]
    assert "".join(data["state"] for _, data in wire.of("SET_RESOURCE_STATE")) == "2222" + "00" + "22" + "00" + "22"
    assert [now for now, _ in wire.of("RESOURCE_STATE_CHANGED")] == [2.0] * 4 + [30, 30, 42, 42, 120, 120, 132, 132]
    # From the first submission at 10 to the last end at 130: two hosts sleep, two are woken, work, fall asleep...
    waking, working, falling = 20 * 115, 10 * 100, 2 * 125
    assert result.joules == 2 * 120 * 10 + 2 * (waking + working + falling + 58 * 10 + waking + working)
