"""EASY backfilling that chooses the power state in which each job computes."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import Struct

from batsched_py.api import HostSet, Job, OptionError, Placed, Plan, Slot, View, counted, option
from batsched_py.planning.future.promise_book import PromiseBook
from batsched_py.planning.power import HostPower, positive_numbers, read_power
from batsched_py.schedulers.backfilling.algorithms import Overtaking
from batsched_py.schedulers.backfilling.options import OvertakingOptions
from batsched_py.schedulers.backfilling.rules import OvertakingRules, Promise
from batsched_py.schedulers.energy.power_ledger import PowerLedger

# A pstate must be set before the job starts, and Batsim acknowledges it in a message of its own. So a job passes
# through a state between waiting and running (`prepared`): it is set aside for the loop, its hosts are requested a
# pstate, even those that have it already, so that they count as switching and no other job takes them, and it starts
# when all have acknowledged. If a host fails meanwhile, the job is simply served anew.
#
# A slower pstate is safe only if the job still ends before its walltime, which Batsim does not stretch. The flops of
# the busiest host are known for some profiles only; for the others, and for those that communicate, full speed is the
# safe choice.
#
# Under a cap the ledger has what each prepared and running job adds, until its walltime. `ways` is ordered from the
# policy's pstate to the slowest safe one, so that the first that fits is the fastest under the cap.

#: Types of profiles whose flops are known, and do not change with the speed of the network.
COMPUTES = ("parallel", "parallel_homogeneous", "parallel_homogeneous_total", "delay")


@dataclass(frozen=True, slots=True)
class DvfsOptions(OvertakingOptions):
    """Options of the pstate of each job, and the cap on power."""

    policy: Literal["slowest", "fixed"] | None = option(
        None,
        "each job the slowest pstate that is safe, or all the same where it is safe; none: fixed if `pstate` is given,"
        " else slowest where speeds are known",
    )
    pstate: int | None = option(None, "with policy=fixed: which", minimum=0)
    margin: float = option(
        0.9, "share of the walltime in which a job's computation must be done to be safe", minimum=0, maximum=1
    )
    power_cap: float | None = option(
        None,
        "watts that all hosts together may draw: jobs compute in slower safe pstates, or wait; none: any number",
        minimum=0,
    )
    speeds: str = option(
        "",
        "flop/s of each pstate, such as 2e9,1e9,..., for hosts without the property speed_per_state",
        peer_text=r"[\d.]+(e\+?\d+)?(,[\d.]+(e\+?\d+)?)*",
    )

    def __post_init__(self) -> None:
        OvertakingOptions.__post_init__(self)
        if self.power_cap is not None:
            self.refuse_predictor("easy_dvfs with power_cap: the cap counts what jobs draw until their walltimes")
        if self.policy == "fixed" and self.pstate is None:
            raise ValueError("policy=fixed needs the option pstate")
        if self.policy == "slowest" and self.pstate is not None:
            raise ValueError("pstate is for policy=fixed, not for policy=slowest")
        if self.speeds:
            read_speeds(self.speeds)


def read_speeds(text: str) -> tuple[float, ...]:
    """Read flop/s by pstate; ValueError if these are not positive numbers."""
    speeds = positive_numbers(text)
    if not speeds:
        raise ValueError(f"speeds: must be flop/s, positive numbers separated by commas, not {text!r}")
    return speeds


class Prepared(Struct, frozen=True):
    """A job whose hosts were requested a pstate that not all have acknowledged."""

    job: Job
    hosts: HostSet
    #: The places of its tasks, some of them on other hosts; None for a job with whole hosts.
    placed: Placed | None = None


class DvfsRules(OvertakingRules[DvfsOptions]):
    """The rules of EASY for jobs that wait for the pstate of their hosts, and possibly for watts."""

    def __init__(self, options: DvfsOptions, view: View, depth: float) -> None:
        super().__init__(options, view, depth)
        if options.power_cap is not None:
            self.on_hosts = True  # watts are promised for specific hosts
            self.packs_not = (
                "option power_cap counts jobs with whole hosts: for tasks that share them use energy_budget"
            )
        #: Job id -> the job, and the hosts for which its pstate was requested; it counts as started.
        self.prepared: dict[str, Prepared] = {}
        self.excluded = self.prepared
        #: Host -> its computing pstates, slowest first, with speeds; speeds are 0 if they are unknown.
        self.pstates: dict[int, list[tuple[float, int]]] = {}
        #: Host -> its watts.
        powers: dict[int, HostPower] = {}
        #: A host without speeds, about which no warning was issued yet.
        self.silent = ""
        with_speeds = 0
        for number, host in view.hosts.items():
            power = read_power(host.name, host.properties)
            if power is not None:
                powers[number] = power
                self.pstates[number] = self.computing(host.name, power)
                with_speeds += bool(power.speeds)
        if options.speeds and with_speeds == len(self.pstates):
            raise OptionError("option speeds: all hosts have the property speed_per_state")
        #: The cap in watts, and the ledger of drawn watts; None without a cap.
        self.cap = math.inf if options.power_cap is None else options.power_cap
        self.ledger: PowerLedger | None = None
        if options.power_cap is not None:
            self.ledger = PowerLedger(powers, {host: self.pstate_of(host, view) for host in powers})

    def computing(self, name: str, power: HostPower) -> list[tuple[float, int]]:
        """Return (speed, pstate) of computing pstates, slowest first; OptionError if the options are not suitable."""
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

    def start_now(self, prepared: Prepared, view: View, plan: Plan) -> None:
        """Start a job whose hosts are ready; tasks may have lost their room on other hosts, and are served anew."""
        job, placed = prepared.job, prepared.placed
        if placed is None:
            super().start(job, prepared.hosts, view, plan)
        elif plan.has_room(job, placed):
            super().start_tasks(job, placed, view, plan)

    def start_tasks(self, job: Job, placed: Placed, view: View, plan: Plan) -> None:
        """Start the tasks if their hosts compute at full speed, else request that; hosts with tasks already do."""
        fresh = placed.hosts - view.part
        wanted: dict[int, int] = {}
        for host in fresh:
            pstate = self.full_speed(host)
            wanted[pstate] = wanted.get(pstate, 0) | 1 << host
        if all(self.pstate_of(host, view) == pstate for pstate, bits in wanted.items() for host in HostSet(bits)):
            super().start_tasks(job, placed, view, plan)
            return
        for pstate, bits in wanted.items():
            plan.set_pstate(HostSet(bits), pstate)
        view.availability().expect(fresh, view.now + self.duration(job))
        self.prepared[job.id] = Prepared(job, fresh, placed)

    def full_speed(self, host: int) -> int:
        """Return the first of the fastest pstates of a host."""
        fastest = self.pstates[host][-1][0]
        return min(pstate for speed, pstate in self.pstates[host] if speed == fastest)

    def start(self, job: Job, hosts: HostSet, view: View, plan: Plan) -> None:
        """Start the job if its hosts are in its pstate, else request the pstate."""
        chosen = next(self.ways(job, hosts, view))
        if self.ledger is not None:
            room = self.cap - self.ledger.at(view.now, view.now)
            chosen = self.way_under(room, job, hosts, view) or chosen
            self.ledger.begin(job.id, chosen, view.now + self.duration(job))
        wanted: dict[int, int] = {}
        for host, pstate in chosen.items():
            wanted[pstate] = wanted.get(pstate, 0) | 1 << host
        if all(self.pstate_of(host, view) == pstate for pstate, bits in wanted.items() for host in HostSet(bits)):
            super().start(job, hosts, view, plan)
            return
        for pstate, bits in wanted.items():  # also for hosts that have it already, so that no other job takes them
            plan.set_pstate(HostSet(bits), pstate)
        view.availability().expect(hosts, view.now + self.duration(job))
        self.prepared[job.id] = Prepared(job, hosts)

    def choose_pstate(self, job: Job, flops: float | None, host: int) -> int:
        """Return the pstate of the policy if it is safe; else the next faster safe one; else the fastest."""
        pstates, options = self.pstates[host], self.options
        fastest, first = pstates[-1][0], self.full_speed(host)
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

    def ways(self, job: Job, hosts: Iterable[int], view: View) -> Iterator[dict[int, int]]:
        """Yield host -> its pstate for the job: that of the policy, then slower ones as long as they are safe."""
        flops = self.flops(job, view)
        choices = {host: self.choices(job, flops, host) for host in hosts}
        for step in range(max(map(len, choices.values()))):
            yield {host: pstates[min(step, len(pstates) - 1)] for host, pstates in choices.items()}

    def choices(self, job: Job, flops: float | None, host: int) -> list[int]:
        """Return the pstate of the policy, and the slower ones that are safe."""
        chosen, pstates = self.choose_pstate(job, flops, host), self.pstates[host]
        if flops is None or job.walltime is None or not pstates[-1][0]:
            return [chosen]
        limit = self.options.margin * job.walltime
        place = next(place for place, (_, pstate) in enumerate(pstates) if pstate == chosen)
        return [chosen, *(pstate for speed, pstate in reversed(pstates[:place]) if flops / speed <= limit)]

    def flops(self, job: Job, view: View) -> float | None:
        """Return the flops of its busiest host; None if they are unknown, or if the job does more than compute."""
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
        """Return the pstate of a host; the first that computes if it was never changed: Batsim does not report it."""
        pstate = view.pstate(host)
        return min(pstate for _, pstate in self.pstates[host]) if pstate is None else int(pstate)

    # Under a power cap.

    def way_under(
        self, room: float, job: Job, hosts: HostSet, view: View, *, before: Mapping[int, int] | None = None
    ) -> dict[int, int] | None:
        """Return the first assignment of pstates that adds no more than `room` watts; None if there is none."""
        ledger = self.ledger
        ways = self.ways(job, hosts, view)
        return next((way for way in ways if ledger is None or ledger.rise(way, before) <= room), None)

    def earliest(self, job: Job, book: PromiseBook[Any], view: View, plan: Plan) -> Promise | None:
        """Return the first start; under a cap, the first instant with enough hosts and watts for the job."""
        if self.ledger is None:
            return super().earliest(job, book, view, plan)
        for time, free in view.availability().steps():
            hosts = self.hosts(job, free)
            if hosts is not None:
                room = self.cap - self.ledger.at(time, view.now)
                if self.way_under(room, job, hosts, view) is not None:
                    return Slot(time, time + self.duration(job), hosts)
        return None

    def hold(self, job: Job, view: View, plan: Plan) -> None:
        """Record the watts that the job lacks under a cap; else the usual reason."""
        hosts = self.hosts(job, plan.free) if self.ledger is not None else None
        if self.ledger is not None and hosts is not None:
            drawn = self.ledger.at(view.now, view.now)
            *_, slowest = self.ways(job, hosts, view)
            watts = self.ledger.rise(slowest)
            if drawn + watts > self.cap:
                plan.hold(job, f"would add {watts:g} W to {drawn:g} W, the cap is {self.cap:g} W")
                return
        super().hold(job, view, plan)

    def may_overtake(self, job: Job, hosts: HostSet, book: PromiseBook[Any], view: View) -> bool:
        """Return whether the job respects the cap, and will leave enough for the promised one with it or after it."""
        if self.ledger is None:
            return True
        now = view.now
        way = self.way_under(self.cap - self.ledger.at(now, now), job, hosts, view)
        if way is None:
            return False
        for each in book.entries.values():  # there is at most one
            if isinstance(each.promise, Slot):
                start, drift = each.promise.start, self.ledger.drift(way)
                added = self.ledger.rise(way) - drift if now + self.duration(job) > start else 0.0
                room = self.cap - (self.ledger.at(start, now) + drift + added)
                return self.way_under(room, each.job, each.promise.hosts, view, before=way) is not None
        return True


class EasyDvfs(Overtaking[DvfsOptions]):
    """EASY; before a job starts, the pstate for it is requested of its hosts; it starts when they acknowledge.

    A pstate is safe for a job if its flops, divided by the speed there, take at most `margin` of its walltime: Batsim
    does not stretch walltimes. Jobs whose flops are not known, those that communicate, and tasks that may share hosts,
    compute at full speed. Where
    no speeds are known a fixed pstate is taken for safe, with a warning.

    With a power cap a job starts in the first pstate, from that of the policy to the slowest that is safe, with which
    the estimate of what all hosts draw stays under the cap; if there is none it waits. The first blocked job is
    promised hosts and watts, and who overtakes leaves it both. Promise: the estimate, for which a busy host draws what
    it does when fully used, never exceeds the cap. A job that could not even run alone is rejected.
    """

    name = "easy_dvfs"
    places_tasks = True
    source = (
        "A frequency for each job of EASY, as in Etinski, Corbalan, Labarta and Valero, BSLD threshold driven power"
        " management policy for HPC centers, IPDPS Workshops 2010; chosen by walltimes, not by slowdowns"
    )
    needs_energy = True
    depth = 1

    rules: DvfsRules

    def make_rules(self, view: View) -> DvfsRules:
        return DvfsRules(self.options, view, self.depth)

    def warn_once(self, plan: Plan) -> None:
        """Warn about hosts without speeds."""
        pstate, unknown = self.options.pstate, f"host {self.rules.silent} tells no speeds (property speed_per_state)"
        if pstate is None:
            plan.warn(f"{unknown}: jobs compute there in its first pstate")
        elif pstate:
            plan.warn(f"{unknown}: jobs may reach their walltimes in pstate {pstate} that would not at full speed")
        self.rules.silent = ""

    def decide(self, view: View, plan: Plan) -> None:
        """Start prepared jobs whose hosts are ready, then decide as EASY."""
        if self.rules.silent:
            self.warn_once(plan)
        for prepared in list(self.rules.prepared.values()):
            if prepared.hosts.isdisjoint(view.switching):
                del self.rules.prepared[prepared.job.id]
                if prepared.job.id in view.queue and prepared.hosts <= plan.free:  # else a host failed: once more
                    self.rules.start_now(prepared, view, plan)
        if self.rules.ledger is not None:
            self.rules.ledger.keep([*self.rules.prepared, *(run.job.id for run in view.running)])
            self.refuse(self.rules.ledger, view, plan)
        super().decide(view, plan)

    def refuse(self, ledger: PowerLedger, view: View, plan: Plan) -> None:
        """Reject those of the arrived jobs that could not even run alone."""
        for job in view.arrived:
            if job.id not in view.queue:
                continue
            *_, slowest = self.rules.ways(job, self.rules.pstates, view)
            watts = ledger.most_alone(job.size, slowest)
            if watts > self.rules.cap:
                plan.reject(
                    job, f"may draw {watts:g} W with what the other hosts draw, the cap is {self.rules.cap:g} W"
                )
