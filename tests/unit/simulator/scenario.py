"""Small platforms and workloads, and schedulers that say what a test wants said."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from batsched_py.bits import format_bits, lowest, parse_bits
from batsched_py.model.job import Job
from batsched_py.model.platform import Platform, PlatformHost
from batsched_py.model.profile import parse_profile
from batsched_py.model.settings import DEFAULTS, Settings
from batsched_py.model.workload import Workload
from batsched_py.model.zone import TableZone
from batsched_py.results.records import Result
from batsched_py.simulator.simulation import Simulation

Profiles = dict[str, dict[str, Any]]
#: (type, data) or (type, data, timestamp).
Command = tuple[Any, ...]

DELAYS: Profiles = {f"d{seconds}": {"type": "delay", "delay": seconds} for seconds in (5, 10, 20, 100)}

#: Computing pstates 0 and 1, sleep 2, off 3 (2 s), on 4 (20 s); watts chosen to be told apart.
SLEEPER: Mapping[str, str] = {
    "wattage_per_state": "100:150:200, 90:100:120, 10:10:10, 120:120:125, 110:110:115",
    "sleep_pstates": "2:3:4",
}
SLEEPER_SPEEDS = (1e9, 5e8, 1.0, 0.5, 0.05)


def platform(hosts: int = 4, speeds: tuple[float, ...] = (1e9,), **properties: str) -> Platform:
    """Like hosts h0, h1... and a master, without a network."""
    names = ["master_host", *(f"h{number}" for number in range(hosts))]
    machines = tuple(
        PlatformHost(name, speeds, properties=properties if name[0] == "h" else {}) for name in sorted(names)
    )
    return Platform("test platform", machines, {"zone": TableZone("zone", "", {})}, dict.fromkeys(names, "zone"))


def job(name: str, profile: str = "d10", *, res: int = 1, at: float = 0, walltime: float | None = None) -> Job:
    """A job as it stands in a workload file."""
    return Job.create(name, size=res, profile=profile, submit_time=at, walltime=walltime)


def workload(*jobs: Job, profiles: Profiles = DELAYS) -> Workload:
    """The jobs, and these profiles."""
    typed = {name: parse_profile(name, members) for name, members in profiles.items()}
    return Workload("test workload", 4, tuple(sorted(jobs, key=lambda job: (job.submit_time, job.id))), typed)


class Script:
    """Says at each instant what is written for it, in answer to the first message of that instant."""

    def __init__(self, script: Mapping[float, Sequence[Command]]) -> None:
        self.left = dict(script)
        #: Messages sent to it, parsed and as bytes.
        self.heard: list[dict[str, Any]] = []
        self.raw: list[bytes] = []

    def __call__(self, request: bytes) -> bytes:
        heard = orjson.loads(request)
        self.heard.append(heard)
        self.raw.append(request)
        now = heard["now"]
        events = [
            {"timestamp": command[2] if len(command) > 2 else now, "type": command[0], "data": command[1]}
            for command in self.left.pop(now, ())
        ]
        return orjson.dumps({"now": max([now, *(event["timestamp"] for event in events)]), "events": events})

    def told(self, kind: str) -> list[tuple[float, Any]]:
        """(timestamp, data) of each event of this type it was told."""
        events = (event for message in self.heard for event in message["events"])
        return [(event["timestamp"], event["data"]) for event in events if event["type"] == kind]


def shape(peer: Script) -> list[tuple[float, list[str]]]:
    """(now, types) of each message."""
    return [(message["now"], [event["type"] for event in message["events"]]) for message in peer.heard]


class Fcfs:
    """Starts jobs in order of arrival on the lowest free hosts; rejects what can never run."""

    def __init__(self, hosts: int) -> None:
        self.all = self.free = (1 << hosts) - 1
        self.queue: deque[tuple[str, int]] = deque()
        self.raw: list[bytes] = []

    def __call__(self, request: bytes) -> bytes:
        self.raw.append(request)
        heard = orjson.loads(request)
        commands: list[Command] = []
        for event in heard["events"]:
            if event["type"] == "JOB_SUBMITTED":
                name, size = event["data"]["job_id"], event["data"]["job"]["res"]
                if size > self.all.bit_count():
                    commands.append(("REJECT_JOB", {"job_id": name}))
                else:
                    self.queue.append((name, size))
            elif event["type"] == "JOB_COMPLETED":
                self.free |= parse_bits(event["data"]["alloc"])
        while self.queue and (hosts := lowest(self.free, self.queue[0][1])) is not None:
            self.free &= ~hosts
            commands.append(("EXECUTE_JOB", {"job_id": self.queue.popleft()[0], "alloc": format_bits(hosts)}))
        now = heard["now"]
        return orjson.dumps(
            {"now": now, "events": [{"timestamp": now, "type": kind, "data": data} for kind, data in commands]}
        )


def execute(name: str, hosts: str, **extra: Any) -> Command:
    """EXECUTE_JOB of a job of w0 (or of "workload!name")."""
    return "EXECUTE_JOB", {"job_id": name if "!" in name else f"w0!{name}", "alloc": hosts, **extra}


def kill(*names: str) -> Command:
    """KILL_JOB of jobs of w0."""
    return "KILL_JOB", {"job_ids": [f"w0!{name}" for name in names]}


def reject(name: str) -> Command:
    """REJECT_JOB of a job of w0."""
    return "REJECT_JOB", {"job_id": f"w0!{name}"}


def switch(hosts: str, pstate: int) -> Command:
    """SET_RESOURCE_STATE."""
    return "SET_RESOURCE_STATE", {"resources": hosts, "state": str(pstate)}


def call(at: float) -> Command:
    """CALL_ME_LATER."""
    return "CALL_ME_LATER", {"timestamp": at}


def play(
    what: Workload,
    script: Mapping[float, Sequence[Command]],
    *,
    on: Platform | None = None,
    settings: Settings = DEFAULTS,
) -> tuple[Result, Script]:
    """Simulate a workload against a script, on four hosts unless told otherwise."""
    peer = Script(script)
    return Simulation(on or platform(), [what], settings).run(peer, clock=lambda: 0.0), peer
