"""A case of the contract tests: a small machine, its jobs and its failures; its `repr` is one line of Python."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.model.external_event import MACHINE_AVAILABLE, MACHINE_UNAVAILABLE, ExternalEvent
from batsched_py.model.job import Job
from batsched_py.model.platform import DEFAULT_MASTER, Platform, PlatformHost
from batsched_py.model.profile import Delay
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.model.zone import Link, Segment, TableZone

#: Seconds; an integer stays one, also on its way to another process.
Seconds = int | float
#: (submission, hosts, run time, walltime): seconds, and None for a job without a limit.
JobSpec = tuple[Seconds, int, Seconds, Seconds | None]
#: (begin, hosts as in "0-2 5", end): seconds, and None for hosts that never come back.
Outage = tuple[Seconds, str, Seconds | None]
#: The peer that replaces Batsim: the simulator; the simulator with messages that take time; a Batsim that sends the
#: events of an instant one by one in any order; one that also sends them late.
Peer = Literal["simulator", "messages", "torn", "late"]

#: Hosts with power states: 0 and 1 compute, 2 sleeps; 3 takes 2 s to fall asleep, 4 takes 20 s to wake up.
POWER: Final = {
    "wattage_per_state": "100:150:200, 90:100:120, 10:10:10, 120:120:125, 110:110:115",
    "sleep_pstates": "2:3:4",
}
#: The sleep pstate of POWER.
SLEEP: Final = "2"
POWER_SPEEDS: Final = (1e9, 5e8, 1.0, 0.5, 0.05)
#: Hosts of less power, with two sleep states: 2 (2 s and 4 s) and, deeper, 5 (4 s and 10 s).
FRUGAL: Final = {
    "wattage_per_state": "40:60:80, 35:45:60, 6:6:6, 45:45:45, 60:60:60, 2:2:2, 45:45:45, 70:70:70",
    "sleep_pstates": "2:3:4, 5:6:7",
}
FRUGAL_SPEEDS: Final = (1e9, 6e8, 1.0, 0.5, 0.25, 1.0, 0.25, 0.1)
#: The sleep pstates of both kinds of hosts.
SLEEPS: Final = (SLEEP, "5")
#: Number of users of the jobs.
USERS: Final = 3
#: Name of the workload in job ids.
WORKLOAD: Final = "w0"


class Case(Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True):
    """A machine, jobs and failures; its `repr` is Python code that recreates the case.

    Attributes:
        hosts: number of compute hosts, numbered from 0.
        jobs: (submission, hosts, run time, walltime) of each; its id is w0! and its place here, in three digits; its
            `user` is one of three, in turn.
        outages: (begin, hosts, end) of each time that hosts are unavailable; no host twice.
        peer: the peer that replaces Batsim: "simulator", "messages" (they take time, E18), "torn" (each event of an
            instant in a message of its own, in any order, E5) or "late" (and sent later than it happened).
        seed: of the order and of the lateness of a "torn" or "late" peer.
        energy: hosts have power states, and may sleep; the last third of them are frugal, and have two ways to sleep.
        dynamic: the algorithm may submit jobs.
        acknowledge: Batsim sends them back as submissions.
        protocol: protocol of the simulator, for the peers "simulator" and "messages".
    """

    hosts: int = 6
    jobs: tuple[JobSpec, ...] = ()
    outages: tuple[Outage, ...] = ()
    peer: Peer = "simulator"
    seed: int = 0
    energy: bool = False
    dynamic: bool = False
    acknowledge: bool = False
    protocol: str = "v4"

    @property
    def lost(self) -> HostSet:
        """Return the hosts that fail and never come back."""
        lost = HostSet()
        for _, hosts, end in self.outages:
            lost |= HostSet.parse(hosts) if end is None else HostSet()
        return lost

    def job_ids(self) -> dict[str, JobSpec]:
        """Return the jobs by their ids in messages."""
        return {f"{WORKLOAD}!{number:03d}": spec for number, spec in enumerate(self.jobs)}

    def workload(self) -> Workload:
        """Return the workload, whose profiles are delays."""
        profiles = {
            f"d{run}": Delay(f"d{run}", "delay", {"type": "delay", "delay": run}, run) for _, _, run, _ in self.jobs
        }
        jobs = [
            Job.create(
                f"{number:03d}",
                size=size,
                profile=f"d{run}",
                submit_time=submit,
                walltime=walltime,
                extra=user_of(number),
            )
            for number, (submit, size, run, walltime) in enumerate(self.jobs)
        ]
        ordered = tuple(sorted(jobs, key=lambda job: (job.submit_time, job.id)))
        return Workload("the case", self.hosts, ordered, profiles)

    def platform(self) -> Platform:
        """Return a platform; a message from host n to the master takes n + 0.5 ms, from the master to itself 0.5 ms."""
        names = [f"h{number:04d}" for number in range(self.hosts)]
        machines = [
            PlatformHost(name, self._speeds(number), properties=self.properties(number))
            for number, name in enumerate(names)
        ]
        ways = {DEFAULT_MASTER: 5e-4, **{name: 5e-4 + 1e-3 * number for number, name in enumerate(names)}}
        table = {
            (name, DEFAULT_MASTER): Segment((Link(f"link {name}", 1e12, latency),)) for name, latency in ways.items()
        }
        zone = TableZone("zone", "", table)
        return Platform(
            "the case", (*machines, PlatformHost(DEFAULT_MASTER, (1e9,))), {"zone": zone}, dict.fromkeys(ways, "zone")
        )

    def properties(self, host: int) -> dict[str, str]:
        """Return the properties of a compute host."""
        return (FRUGAL if self._is_frugal(host) else POWER) if self.energy else {}

    def settings(self) -> Settings:
        """Return the settings of the simulator."""
        return Settings(
            protocol=self.protocol,
            energy=self.energy,
            dynamic_jobs=self.dynamic,
            acknowledge_dynamic_jobs=self.acknowledge,
            external_events=self.external_events(),
            message_latency=self.peer == "messages",
            allow_oversized=True,
        )

    def external_events(self) -> tuple[ExternalEvent, ...]:
        """Return the outages, in order of time."""
        events = []
        for begin, hosts, end in self.outages:
            events.append(_machine_event(begin, MACHINE_UNAVAILABLE, hosts))
            if end is not None:
                events.append(_machine_event(end, MACHINE_AVAILABLE, hosts))
        return tuple(sorted(events, key=lambda event: event.timestamp))

    def _speeds(self, host: int) -> tuple[float, ...]:
        return (FRUGAL_SPEEDS if self._is_frugal(host) else POWER_SPEEDS) if self.energy else (1e9,)

    def _is_frugal(self, host: int) -> bool:
        return host >= self.hosts - self.hosts // 3


def user_of(number: int) -> dict[str, str]:
    """Return the member `user` of the job at this place."""
    return {"user": f"user{number % USERS}"}


def _machine_event(time: float, kind: str, hosts: str) -> ExternalEvent:
    return ExternalEvent(time, kind, HostSet.parse(hosts), {"timestamp": time, "type": kind, "resources": hosts})
