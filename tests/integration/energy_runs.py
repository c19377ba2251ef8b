"""Random workloads on hosts that sleep and fail, for algorithms that save energy; each message is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hypothesis import strategies as st

from batsched_py.hostset import HostSet, parse_bits
from batsched_py.model.job import Job
from batsched_py.model.platform import Host, Platform
from batsched_py.model.profile import parse_profile
from batsched_py.model.workload import Workload
from batsched_py.model.zone import TableZone
from batsched_py.plugins import load
from batsched_py.simulator.external import ExternalEvent
from batsched_py.simulator.records import Result
from batsched_py.simulator.settings import Settings
from tests.integration.conversations import Conversation
from tests.unit.simulator.scenario import SLEEPER, SLEEPER_SPEEDS

HOSTS: Final = 6
ALL: Final = (1 << HOSTS) - 1

#: The last two hosts draw less, and have two ways to sleep: 2 (2 s and 4 s) and 5 (4 s and 10 s).
FRUGAL: Final = {
    "wattage_per_state": "40:60:80, 35:45:60, 6:6:6, 45:45:45, 60:60:60, 2:2:2, 45:45:45, 70:70:70",
    "sleep_pstates": "2:3:4, 5:6:7",
}
FRUGAL_SPEEDS: Final = (1e9, 6e8, 1.0, 0.5, 0.25, 1.0, 0.25, 0.1)

#: (submit time, hosts, run time, walltime).
SPECS = st.lists(
    st.tuples(st.integers(0, 90), st.integers(1, HOSTS), st.integers(1, 25), st.integers(1, 40)),
    min_size=1,
    max_size=15,
)
#: (when, host, for how long): a host that fails, and is repaired.
FAILURES = st.lists(st.tuples(st.integers(0, 90), st.integers(0, HOSTS - 1), st.integers(1, 60)), max_size=4)

Spec = tuple[int, int, int, int]
Failure = tuple[int, int, int]


def machine() -> Platform:
    """Four hosts of the tests of the simulator, and two frugal ones."""
    dear = [Host(f"h{number}", SLEEPER_SPEEDS, properties=SLEEPER) for number in range(4)]
    frugal = [Host(f"h{number}", FRUGAL_SPEEDS, properties=FRUGAL) for number in (4, 5)]
    hosts = (*dear, *frugal, Host("master_host", (1e9,)))
    return Platform(
        "energy", hosts, {"zone": TableZone("zone", "", {})}, dict.fromkeys((h.name for h in hosts), "zone")
    )


def workload(specs: list[Spec], *, computing: bool = False) -> Workload:
    """Delays, or tasks that take as long at 1 Gflop/s."""
    jobs, profiles = [], {}
    for number, (submit, size, run, walltime) in enumerate(sorted(specs)):
        profile = f"p{run}"
        task = (
            {"type": "parallel_homogeneous", "cpu": run * 1e9, "com": 0}
            if computing
            else {"type": "delay", "delay": run}
        )
        profiles[profile] = parse_profile(profile, task)
        jobs.append(Job.create(f"{number:02d}", size=size, profile=profile, submit_time=submit, walltime=walltime))
    return Workload("test", HOSTS, tuple(jobs), profiles)


def events(failures: list[Failure]) -> tuple[ExternalEvent, ...]:
    """Each host fails and is repaired; a host that fails while it is failed is repaired with the first."""
    found, failed_until = [], dict.fromkeys(range(HOSTS), -1)
    for time, host, duration in sorted(failures):
        if time <= failed_until[host]:
            continue
        failed_until[host] = time + duration
        for instant, kind in ((time, "machine_unavailable"), (time + duration, "machine_available")):
            members = {"timestamp": instant, "type": kind, "resources": str(host)}
            found.append(ExternalEvent(instant, kind, HostSet.of(host), members, "test"))
    return tuple(sorted(found, key=lambda event: event.timestamp))


class Watch(Conversation):
    """Keeps from what was announced which hosts are awake and well; asserts that no other is used or switched."""

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        super().__init__(load(name), options=options)
        #: Hosts that are awake, that are on the way, that failed; bits.
        self.awake, self.switching, self.failed = ALL, 0, 0

    def __call__(self, request: bytes) -> bytes:
        reply = super().__call__(request)
        for event in self.asked[-1]["events"]:
            self.hear(event["type"], event["data"])
        for event in self.answered[-1]["events"]:
            self.say(event["type"], event["data"])
        return reply

    def hear(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "RESOURCE_STATE_CHANGED":
            hosts = parse_bits(data["resources"])
            self.switching &= ~hosts
            self.awake |= hosts if data["state"] in ("0", "1") else 0
        elif kind == "NOTIFY" and data["type"] == "event_machine_unavailable":
            self.failed |= parse_bits(data["resources"])
        elif kind == "NOTIFY" and data["type"] == "event_machine_available":
            self.failed &= ~parse_bits(data["resources"])

    def say(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "SET_RESOURCE_STATE":
            hosts = parse_bits(data["resources"])
            assert not hosts & (self.switching | self.failed), data
            self.switching |= hosts
            self.awake &= ~hosts
        elif kind == "EXECUTE_JOB":
            assert not parse_bits(data["alloc"]) & ~(self.awake & ~self.failed), data


def run(
    name: str,
    options: Mapping[str, Any],
    specs: list[Spec],
    failures: list[Failure] | None = None,
    *,
    latency: bool = False,
    computing: bool = False,
    watch: Watch | None = None,
) -> tuple[Result, Watch]:
    """Play it to its end."""
    watch = watch or Watch(name, options)
    settings = Settings(energy=True, message_latency=latency, external_events=events(failures or []))
    return watch.run([workload(specs, computing=computing)], settings, machine(), trace=True), watch
