"""EASY backfilling that chooses the power state in which each job computes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import Struct

from batsched_py.api import HostSet, Job, Plan, View, option
from batsched_py.planning.power import HostPower, read_power
from schedulers.backfill import Overtaking, OvertakingOptions

#: Types of profiles whose flops are known, and do not change with the speed of the network.
COMPUTES = ("parallel", "parallel_homogeneous", "parallel_homogeneous_total", "delay")


@dataclass(frozen=True, slots=True)
class DvfsOptions(OvertakingOptions):
    """Which pstate a job gets."""

    policy: Literal["fixed", "slowest"] = option(
        "fixed", "the same pstate for all jobs for which it is safe, or for each the slowest that is safe"
    )
    pstate: int = option(0, "with policy=fixed: which", minimum=0)
    margin: float = option(0.9, "share of the walltime in which a job's computation must be done to be safe", minimum=0)
    speeds: str = option(
        "", "flop/s of each pstate, as 2e9,1e9,...; empty: as the hosts' property speed_per_state says"
    )


def read_speeds(text: str) -> tuple[float, ...]:
    """ValueError if these are not positive numbers."""
    try:
        speeds = tuple(float(piece) for piece in text.split(","))
    except ValueError:
        speeds = ()
    if not speeds or not all(0 < speed < math.inf for speed in speeds):
        raise ValueError(f"speeds: must be flop/s, positive numbers separated by commas, not {text!r}")
    return speeds


class Prepared(Struct, frozen=True):
    """A job whose hosts were told their pstate, and have not all said that they are in it."""

    job: Job
    hosts: HostSet


class EasyDvfs(Overtaking[DvfsOptions]):
    """EASY; before a job starts its hosts are told in which pstate to compute; it starts when they acknowledge.

    A pstate is safe for a job if its flops, divided by the speed there, take at most `margin` of its walltime: Batsim
    does not stretch walltimes. Jobs whose flops are not known, and those that communicate, compute at full speed. Where
    no speeds are known a fixed pstate is taken for safe.
    """

    name = "easy_dvfs"
    source = (
        "A frequency for each job of EASY, as in Etinski, Corbalan, Labarta and Valero, BSLD threshold driven power"
        " management policy for HPC centers, IPDPS Workshops 2010; chosen by walltimes, not by slowdowns"
    )
    needs_energy = True
    depth = 1

    def setup(self, view: View) -> None:
        """What pstates there are, and how fast."""
        super().setup(view)
        #: Job id -> the job, and the hosts that were told their pstate for it; it waits until all of them have it.
        self.prepared: dict[str, Prepared] = {}
        #: Host -> its pstates that compute, slowest first, with speeds; speeds are 0 if nobody tells them.
        self.pstates: dict[int, list[tuple[float, int]]] = {}
        for number, host in view.hosts.items():
            power = read_power(host.name, host.properties)
            if power is not None:
                self.pstates[number] = self.computing(host.name, power)

    def computing(self, name: str, power: HostPower) -> list[tuple[float, int]]:
        """(speed, pstate) of those in which a host computes, slowest first; ValueError if the options do not fit it."""
        options = self.options
        if options.policy == "fixed" and options.pstate not in power.computing:
            raise ValueError(f"pstate {options.pstate} does not compute on host {name}")
        speeds = read_speeds(options.speeds) if options.speeds else power.speeds
        if not speeds and options.policy == "slowest":
            raise ValueError(f"host {name} has no property speed_per_state: give the option speeds, or policy=fixed")
        if speeds and len(speeds) <= max(power.computing):
            raise ValueError(f"speeds: {len(speeds)} are given, host {name} has {len(power.draws)} pstates")
        return sorted((speeds[pstate] if speeds else 0.0, pstate) for pstate in power.computing)

    def decide(self, view: View, plan: Plan) -> None:
        """Start those whose hosts are ready, then as EASY."""
        for prepared in list(self.prepared.values()):
            if prepared.hosts.isdisjoint(view.switching):
                del self.prepared[prepared.job.id]
                if prepared.job.id in view.queue and prepared.hosts <= plan.free:  # else a host has failed: once more
                    plan.start(prepared.job, prepared.hosts)
        super().decide(view, plan)

    def start(self, job: Job, hosts: HostSet, view: View, plan: Plan) -> None:
        """Start the job if its hosts are in its pstate, else tell them to be."""
        flops = self.flops(job, view)
        wanted: dict[int, int] = {}
        for host in hosts:
            pstate = self.choose_pstate(job, flops, host)
            wanted[pstate] = wanted.get(pstate, 0) | 1 << host
        if all(self.pstate_of(host, view) == pstate for pstate, bits in wanted.items() for host in HostSet(bits)):
            plan.start(job, hosts)
            return
        for pstate, bits in wanted.items():  # those that are in it already too, so that nobody else takes them
            plan.set_pstate(HostSet(bits), pstate)
        view.availability().expect(hosts, view.now + self.duration(job))
        self.prepared[job.id] = Prepared(job, hosts)

    def choose_pstate(self, job: Job, flops: float | None, host: int) -> int:
        """As the policy says, if that is safe; else the next faster one that is; else the fastest."""
        pstates, options = self.pstates[host], self.options
        slowest = 0
        if options.policy == "fixed":
            slowest = next(place for place, (_, pstate) in enumerate(pstates) if pstate == options.pstate)
            if not pstates[slowest][0]:
                return options.pstate
        if flops is not None and job.walltime is not None:
            for speed, pstate in pstates[slowest:]:
                if flops / speed <= options.margin * job.walltime:
                    return pstate
        fastest = pstates[-1][0]
        return min(pstate for speed, pstate in pstates if speed == fastest)

    def flops(self, job: Job, view: View) -> float | None:
        """Of its busiest host; None if nobody knows, or if it does more than compute."""
        profile = view.profile(job)
        if profile is None or profile.type not in COMPUTES:
            return None
        amounts: Any = getattr(profile, "cpu", 0.0)
        transfers: Any = getattr(profile, "com", 0.0)
        if any(transfers) if isinstance(transfers, Iterable) else transfers:
            return None
        if isinstance(amounts, Iterable):
            return max(amounts, default=0.0)
        return float(amounts) / job.size if profile.type == "parallel_homogeneous_total" else float(amounts)

    def pstate_of(self, host: int, view: View) -> int:
        """The one in which it is; the first that computes if it was never changed, Batsim does not tell."""
        pstate = view.pstate(host)
        return min(pstate for _, pstate in self.pstates[host]) if pstate is None else int(pstate)

    # Jobs that wait for their hosts' pstate are as good as started.

    def serve(self, jobs: Iterable[Job], view: View, plan: Plan) -> Iterable[Job]:
        """As in the loop."""
        return super().serve((job for job in jobs if job.id not in self.prepared), view, plan)

    def overtakers(self, view: View) -> Sequence[Job]:
        """As in the loop."""
        return [job for job in super().overtakers(view) if job.id not in self.prepared]

    def may_overtake(self, job: Job, view: View) -> bool:
        """As in the loop."""
        return job.id not in self.prepared and super().may_overtake(job, view)
