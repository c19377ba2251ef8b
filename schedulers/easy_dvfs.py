"""EASY backfilling that chooses the power state in which each job computes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import Struct

from batsched_py.api import HostSet, Job, OptionError, Plan, View, counted, option
from batsched_py.planning.power import HostPower, read_power
from schedulers.pieces.backfill_options import OvertakingOptions
from schedulers.pieces.backfilling import Overtaking

#: Types of profiles whose flops are known, and do not change with the speed of the network.
COMPUTES = ("parallel", "parallel_homogeneous", "parallel_homogeneous_total", "delay")


@dataclass(frozen=True, slots=True)
class DvfsOptions(OvertakingOptions):
    """Which pstate a job gets."""

    policy: Literal["slowest", "fixed"] | None = option(
        None,
        "each job the slowest pstate that is safe, or all the same where it is safe; none: fixed if `pstate` is given,"
        " else slowest where speeds are known",
    )
    pstate: int | None = option(None, "with policy=fixed: which", minimum=0)
    margin: float = option(
        0.9, "share of the walltime in which a job's computation must be done to be safe", minimum=0, maximum=1
    )
    speeds: str = option(
        "", "flop/s of each pstate, as 2e9,1e9,..., of hosts that do not tell theirs in a property speed_per_state"
    )

    def __post_init__(self) -> None:
        OvertakingOptions.__post_init__(self)
        if self.policy == "fixed" and self.pstate is None:
            raise ValueError("policy=fixed needs the option pstate")
        if self.policy == "slowest" and self.pstate is not None:
            raise ValueError("pstate is for policy=fixed, not for policy=slowest")
        if self.speeds:
            read_speeds(self.speeds)


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
    no speeds are known a fixed pstate is taken for safe, with a warning.
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
        #: A host that does not tell its speeds, and that there is one was not said.
        self.silent = ""
        told = 0
        for number, host in view.hosts.items():
            power = read_power(host.name, host.properties)
            if power is not None:
                self.pstates[number] = self.computing(host.name, power)
                told += bool(power.speeds)
        if self.options.speeds and told == len(self.pstates):
            raise OptionError("option speeds: all hosts tell theirs in their property speed_per_state")

    def computing(self, name: str, power: HostPower) -> list[tuple[float, int]]:
        """(speed, pstate) of those in which a host computes, slowest first; OptionError if the options do not fit."""
        options = self.options
        if options.pstate is not None and options.pstate not in power.computing:
            computing = ", ".join(map(str, power.computing))
            raise OptionError(f"option pstate: host {name} computes in {computing}, not in {options.pstate}")
        speeds = power.speeds
        if not speeds and options.speeds:
            speeds = read_speeds(options.speeds)
            if len(speeds) <= max(power.computing):
                given = f"{len(speeds)} for the {counted(len(power.draws), 'pstate')} of host {name}"
                raise OptionError(f"option speeds: must be one for each pstate, not {given}")
        if not speeds:
            if options.policy == "slowest":
                raise OptionError(
                    f"option policy: slowest needs speeds, and host {name} has no property speed_per_state: give it"
                    " one, or the option speeds"
                )
            self.silent = self.silent or name
        return sorted((speeds[pstate] if speeds else 0.0, pstate) for pstate in power.computing)

    def warn_once(self, plan: Plan) -> None:
        """Of hosts that do not tell their speeds."""
        pstate, unknown = self.options.pstate, f"host {self.silent} tells no speeds (property speed_per_state)"
        if pstate is None:
            plan.warn(f"{unknown}: jobs compute there in its first pstate")
        elif pstate:
            plan.warn(f"{unknown}: jobs may reach their walltimes in pstate {pstate} that would not at full speed")
        self.silent = ""

    def decide(self, view: View, plan: Plan) -> None:
        """Start those whose hosts are ready, then as EASY."""
        if self.silent:
            self.warn_once(plan)
        for prepared in list(self.prepared.values()):
            if prepared.hosts.isdisjoint(view.switching):
                del self.prepared[prepared.job.id]
                if prepared.job.id in view.queue and prepared.hosts <= plan.free:  # else a host has failed: once more
                    super().start(prepared.job, prepared.hosts, view, plan)
        super().decide(view, plan)

    def start(self, job: Job, hosts: HostSet, view: View, plan: Plan) -> None:
        """Start the job if its hosts are in its pstate, else tell them to be."""
        flops = self.flops(job, view)
        wanted: dict[int, int] = {}
        for host in hosts:
            pstate = self.choose_pstate(job, flops, host)
            wanted[pstate] = wanted.get(pstate, 0) | 1 << host
        if all(self.pstate_of(host, view) == pstate for pstate, bits in wanted.items() for host in HostSet(bits)):
            super().start(job, hosts, view, plan)
            return
        for pstate, bits in wanted.items():  # those that are in it already too, so that nobody else takes them
            plan.set_pstate(HostSet(bits), pstate)
        view.availability().expect(hosts, view.now + self.duration(job))
        self.prepared[job.id] = Prepared(job, hosts)

    def choose_pstate(self, job: Job, flops: float | None, host: int) -> int:
        """As the policy says, if that is safe; else the next faster one that is; else the fastest."""
        pstates, options = self.pstates[host], self.options
        fastest = pstates[-1][0]
        first = min(pstate for speed, pstate in pstates if speed == fastest)
        if not fastest:
            return first if options.pstate is None else options.pstate
        slowest = 0
        if options.pstate is not None:
            slowest = next(place for place, (_, pstate) in enumerate(pstates) if pstate == options.pstate)
        if flops is not None and job.walltime is not None:
            for speed, pstate in pstates[slowest:]:
                if flops / speed <= options.margin * job.walltime:
                    return pstate
        return first

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
