"""EASY backfilling under a cap on power, an allowance of energy, or both."""

import math
from dataclasses import dataclass
from typing import Any, Final, Literal

from msgspec import Struct

from batsched_py.api import HostSet, Job, JobDemand, Placed, Plan, Slot, View, option
from batsched_py.planning.future.promise_book import PromiseBook
from batsched_py.planning.future.promises import RoomSlot
from batsched_py.schedulers.backfilling.rules import Promise
from batsched_py.schedulers.energy.easy_sleeper import EasySleeper, SleepOptions, SleepRules, Wake
from batsched_py.schedulers.energy.power_estimate import PowerEstimate
from batsched_py.schedulers.energy.power_manager import PowerManager
from batsched_py.schedulers.energy.shared_power import SharedPower, ThriftyPacker
from batsched_py.schedulers.energy.token_bucket import TokenBucket

# Three resources are handled at once: hosts, watts (a cap at each instant) and joules (an allowance that comes in over
# time). The first blocked job is promised all three, or jobs that overtake would take its watts again and again. Hosts
# alone are in the availability; watts and joules at the promised start are computed from the jobs that run (`draw_at`,
# `TokenBucket.after`), assuming that nothing else changes.
#
# A job pays in advance for its walltime, for what its fully used hosts draw more than idle ones, and what it has not
# used comes back at its end. So the estimate is an upper bound, and neither cap nor allowance is ever exceeded; the
# price is that some watts and joules stay unused. Paying as time passes would not do: a running job cannot be paused
# when the allowance runs out.
#
# Between two decisions `paid` has the running jobs with what they were charged, and the bucket has been charged for
# idle hosts up to the latest decision.

#: Default times in seconds.
PERIOD: Final = 3600.0
IDLE_TIME: Final = 300.0
#: Number of instants in a second that Batsim's messages can represent.
TICKS: Final = 1e6


@dataclass(frozen=True, slots=True)
class BudgetOptions(SleepOptions):
    """Options of the cap on power and of the allowance of energy."""

    reserve: Literal["hosts"] = option("hosts", "the first blocked job is promised these very hosts")
    power_cap: float | None = option(None, "watts that all hosts together may draw; none: any number", minimum=0)
    energy: float | None = option(None, "joules that all hosts may consume in a `period`; none: any number", minimum=0)
    period: float = option(PERIOD, "seconds in which `energy` comes in", minimum=1e-3)
    shutdown: bool = option(False, "switch off idle hosts that the first blocked job does not need")
    idle_time: float = option(
        IDLE_TIME, "with `shutdown`: seconds of idleness before that, if no job is blocked", minimum=0
    )

    def __post_init__(self) -> None:
        if not self.plain:
            self.refuse("is not for energy_budget: it takes hosts by what they draw")
        self.refuse_predictor("energy_budget: energy is paid in advance, for walltimes")
        SleepOptions.__post_init__(self)
        if self.energy is None and self.period != PERIOD:
            raise ValueError("period is for the option energy, which is not given")
        if not self.shutdown and self.idle_time != IDLE_TIME:
            raise ValueError("idle_time is for shutdown=true")


class Paid(Struct, frozen=True):
    """A running job: the watts that it adds to idle hosts, and the time for which they are paid."""

    watts: float
    until: float


class BudgetRules(SleepRules[BudgetOptions]):
    """The rules of EASY on hosts, watts and joules."""

    def __init__(self, options: BudgetOptions, view: View, depth: float, wake: Wake, power: PowerManager) -> None:
        super().__init__(options, view, depth, wake, power)
        self.estimate = PowerEstimate(power)
        self.cap = math.inf if options.power_cap is None else options.power_cap
        #: The energy that has come in; None if any amount may be consumed.
        self.bucket = (
            None if options.energy is None else TokenBucket(0.0, options.energy / options.period, options.energy)
        )
        #: Job id -> its payment, of jobs with whole hosts.
        self.paid: dict[str, Paid] = {}
        #: The payments of the others.
        self.shared = SharedPower(self.estimate)

    def choose(self, free: HostSet, size: int) -> HostSet | None:
        """Return the hosts that add the least power; among equals the lowest."""
        return self.estimate.cheapest(free, size)

    def start(self, job: Job, hosts: HostSet, view: View, plan: Plan) -> None:
        """Start the job, and pay for it."""
        super().start(job, hosts, view, plan)
        paid = Paid(self.estimate.added(hosts), view.now + self.duration(job))
        self.paid[job.id] = paid
        if self.bucket is not None:
            self.bucket.pay(paid.watts * self.duration(job))

    def start_tasks(self, job: Job, placed: Placed, view: View, plan: Plan) -> None:
        """Start the job, and pay for what its hosts add."""
        super().start_tasks(job, placed, view, plan)
        joules = self.shared.begin(job.id, placed.hosts, view.now, view.now + self.duration(job))
        if self.bucket is not None:
            self.bucket.pay(joules)

    def thrifty(self) -> ThriftyPacker:
        """Return the selection of hosts for tasks."""
        return ThriftyPacker(self.placement.packer(), self.estimate)

    def hold(self, job: Job, view: View, plan: Plan) -> None:
        """Record the watts or joules that the job lacks; else as EASY."""
        why = self.why_unpaid(job, view, plan)
        if why is None:
            super().hold(job, view, plan)
        else:
            plan.hold(job, why)

    def why_unpaid(self, job: Job, view: View, plan: Plan) -> str | None:
        """Describe the watts or joules that a job lacks; None if it lacks hosts, or nothing."""
        hosts = self.hosts_now(job, view, plan)
        if hosts is None:
            return None
        drawn, watts = self.estimate.now(view), self.watts_of(job, hosts, view.now, view)
        if drawn + watts > self.cap:
            return f"would add {watts:g} W to {drawn:g} W, the cap is {self.cap:g} W"
        joules = self.joules_of(job, hosts, view.now)
        if self.bucket is not None and self.affordable(joules, view) > view.now:
            return f"may consume {joules:g} J, the budget has {self.bucket.joules:g} J now"
        return None

    def hosts_now(self, job: Job, view: View, plan: Plan) -> HostSet | None:
        """Return hosts on which the job could start now, if watts and joules are there; None if there are too few."""
        if job.demand is None:
            return self.choose(plan.free, job.size)
        places = view.availability().room_now(job.demand, self.duration(job), self.thrifty())
        return None if places is None else HostSet.from_ids(place.host for place in places)

    def watts_of(self, job: Job, hosts: HostSet, time: float, view: View) -> float:
        """Return the watts that a job adds on these hosts at an instant."""
        return self.estimate.added(hosts) if job.demand is None else self.shared.added(hosts, time, view.now)

    def joules_of(self, job: Job, hosts: HostSet, start: float) -> float:
        """Return the joules to pay for a job on these hosts, if nothing else starts before."""
        if job.demand is None:
            return self.estimate.added(hosts) * self.duration(job)
        return self.shared.cost(hosts, start, start + self.duration(job))

    def earliest(self, job: Job, book: PromiseBook[Any], view: View, plan: Plan) -> Promise | None:
        """Return the first start with enough hosts, watts and joules for the job."""
        self.wake_if_short(job, view, plan)
        if job.demand is not None:
            on_any = self.earliest_tasks(job, job.demand, None, view)
            return on_any or self.earliest_tasks(job, job.demand, self.canonical(job, view), view)
        for time, free in view.availability().steps():
            hosts = self.choose(free, job.size)
            if hosts is None:
                continue
            watts = self.estimate.added(hosts)
            relief = self.estimate.relief(free - hosts) if self.options.shutdown and time > view.now else 0.0
            if self.draw_at(time, view) + watts - relief > self.cap:
                continue
            start = max(time, self.affordable(watts * self.duration(job), view))
            if start < math.inf:
                return Slot(start, start + self.duration(job), hosts)
        return None

    def canonical(self, job: Job, view: View) -> HostSet | None:
        """Return the hosts that a job with a demand has on the idle machine; None if its tasks never fit."""
        return view.later_hosts(job, view.all_hosts, self.thrifty(), view.running)

    def earliest_tasks(self, job: Job, demand: JobDemand, among: HostSet | None, view: View) -> RoomSlot | None:
        """Return the first start at which the tasks find places on some hosts, and watts and joules are there."""
        future, first, pack = view.availability(), view.now, self.thrifty()
        while first < math.inf:
            slot = future.earliest_room(demand, self.duration(job), pack, among, first=first)
            if slot is None:
                return None
            time, hosts = slot.start, HostSet.from_ids(place.host for place in slot.places)
            watts = self.shared.added(hosts, time, view.now)
            free = future.free_during(time, time)
            relief = self.estimate.relief(free - hosts) if self.options.shutdown and time > view.now else 0.0
            if self.draw_at(time, view) + watts - relief <= self.cap:
                return self.paid_slot(job, slot, hosts, view)
            later = [paid.until for paid in self.paid.values() if paid.until > time]
            first = min([*later, *self.shared.ends_after(time)], default=math.inf)
        return None

    def paid_slot(self, job: Job, slot: RoomSlot, hosts: HostSet, view: View) -> RoomSlot | None:
        """Return the slot, moved to the instant at which its joules will be there; None for never."""
        start = slot.start
        if start > view.now or self.affordable(self.joules_of(job, hosts, start), view) > view.now:
            start = max(start, self.affordable(self.estimate.added(hosts) * self.duration(job), view))
        return RoomSlot(start, start + self.duration(job), slot.places, slot.demand) if start < math.inf else None

    def draw_at(self, time: float, view: View) -> float:
        """Return the watts at an instant, if running jobs end at their walltimes and nothing else changes."""
        ended = sum(paid.watts for paid in self.paid.values() if paid.until <= time) if time > view.now else 0.0
        if time > view.now and self.shared.jobs:
            ended += self.shared.ended(time)
        return self.estimate.now(view) - ended

    def affordable(self, joules: float, view: View) -> float:
        """Return when `joules` can be paid; a time after now is rounded up to one that a message can represent.

        Otherwise a call may be reported with the representable time before, at which the energy is still insufficient.
        """
        if self.bucket is None:
            return view.now
        ready = self.bucket.ready(joules, self.estimate.base(view))
        return ready if ready <= view.now or ready == math.inf else math.ceil(ready * TICKS) / TICKS

    def may_overtake(self, job: Job, hosts: HostSet, book: PromiseBook[Any], view: View) -> bool:
        """Return whether the job leaves the promised one its hosts, its watts and its joules."""
        head = next(iter(book.entries.values()), None)
        if head is not None and head.promise is None and not view.unavailable:
            return False  # it waits for hosts to switch: overtaking jobs might take its watts repeatedly
        return self.leaves_enough(job, hosts, None if head is None else head.promise, view)

    def leaves_enough(self, job: Job, hosts: HostSet, promise: Promise | None, view: View) -> bool:
        """Return whether the job respects cap and bucket, and leaves enough for the promised one."""
        watts, duration = self.watts_of(job, hosts, view.now, view), self.duration(job)
        joules = self.joules_of(job, hosts, view.now)
        if self.estimate.now(view) + watts > self.cap or self.affordable(joules, view) > view.now:
            return False
        if not isinstance(promise, (Slot, RoomSlot)):
            return True
        its_hosts = _hosts_of(promise)
        promised = self.estimate.added(its_hosts)
        if view.now + duration > promise.start:
            relief = self.estimate.relief(view.free - hosts - its_hosts) if self.options.shutdown else 0.0
            added = self.watts_of(job, hosts, promise.start, view)
            its_watts = promised
            if isinstance(promise, RoomSlot):
                its_watts = self.shared.added(its_hosts, promise.start, view.now)
            if self.draw_at(promise.start, view) + added + its_watts - relief > self.cap:
                return False
        if self.bucket is None:
            return True
        left = self.bucket.after(promise.start - view.now, self.estimate.base(view), joules)
        return left >= promised * (promise.end - promise.start)


def _hosts_of(promise: Slot | RoomSlot) -> HostSet:
    if isinstance(promise, Slot):
        return promise.hosts
    return HostSet.from_ids(place.host for place in promise.places)


class EnergyBudget(EasySleeper[BudgetOptions]):
    """EASY; a job starts only if what the hosts draw by estimate stays under the cap, and its energy has come in.

    A busy host counts with all that it draws when fully used, an idle one with its idle watts, a switching one with
    the larger of what it leaves and what switching draws. A job is paid in advance: what its hosts draw more than idle
    ones, for all of its walltime; the rest comes back when it ends. Idle, sleeping and switching hosts are paid as time
    passes. The first blocked job is promised hosts, watts and joules; who overtakes it leaves it all three. Hosts are
    taken in the order of the watts that they add.

    Promises: the estimate never exceeds the cap; what was consumed never exceeds what has come in, which begins with
    nothing at 0. A job that could not even run alone is rejected.
    """

    name = "energy_budget"
    source = (
        "After Dutot, Georgiou, Glesser, Lefevre, Poquet and Rais, Towards energy budget control in HPC, CCGrid 2017"
    )

    rules: BudgetRules

    def make_rules(self, view: View) -> BudgetRules:
        return BudgetRules(self.options, view, self.depth, self.wake, self.power)

    def setup(self, view: View) -> None:
        """Begin with an empty bucket."""
        super().setup(view)
        #: True if neither a cap nor an allowance is given, and the warning about that was not issued yet.
        self.unbounded = self.options.power_cap is None and self.options.energy is None
        #: Base power in watts since the latest decision.
        self.base = self.rules.estimate.base(view)

    def decide(self, view: View, plan: Plan) -> None:
        """Decide as EASY; update the bucket before and after."""
        if self.unbounded:
            plan.warn("neither power_cap nor energy is given: jobs are started as by easy")
            self.unbounded = False
        self.settle(view)
        for job in view.arrived:
            why = self.impossible(job, view)
            if why is not None:
                plan.reject(job, why)
        super().decide(view, plan)
        self.base = self.rules.estimate.base(view)

    def settle(self, view: View) -> None:
        """Charge the consumed energy, and return the unused energy of ended jobs."""
        if self.rules.bucket is not None:
            self.rules.bucket.accrue(view.now, self.base)
        rules = self.rules
        if view.hosts_changed and (rules.paid or rules.shared.jobs):
            running = {run.job.id for run in view.running}
            for job_id in [job_id for job_id in rules.shared.jobs if job_id not in running]:
                joules = rules.shared.end(job_id, view.now)
                if rules.bucket is not None:
                    rules.bucket.pay(-joules)
            for job_id in [job_id for job_id in self.rules.paid if job_id not in running]:
                paid = self.rules.paid.pop(job_id)
                if self.rules.bucket is not None:
                    self.rules.bucket.pay(-paid.watts * (paid.until - view.now))

    def impossible(self, job: Job, view: View) -> str | None:
        """Return the reason why the job could not even run alone; None if it could."""
        everything, shutdown = view.all_hosts, self.options.shutdown
        # If hosts can sleep, it must fit with any of them awake.
        if job.demand is not None and not shutdown:
            hosts = self.rules.canonical(job, view)
        else:
            size = job.size if job.demand is None else min(job.size, len(everything))
            hosts = (self.rules.estimate.dearest if shutdown else self.rules.estimate.cheapest)(everything, size)
        if hosts is None:
            return None
        watts = self.rules.estimate.alone(hosts, everything - hosts)
        if shutdown:
            watts = min(watts, self.rules.estimate.alone_asleep(hosts, everything - hosts))
        if watts > self.rules.cap:
            return f"may draw {watts:g} W with what the other hosts draw, the cap is {self.rules.cap:g} W"
        if self.rules.bucket is None:
            return None
        idle, joules = self.rules.estimate.idle(everything), self.rules.estimate.added(hosts) * self.rules.duration(job)
        if job.walltime is None:
            return "has no walltime, for which the budget would have to pay"
        if self.rules.bucket.rate <= idle:
            return f"gets no energy: idle hosts draw {idle:g} W, the budget is {self.rules.bucket.rate:g} W"
        if joules > self.rules.bucket.limit:
            return f"may consume {joules:g} J more than idle hosts, the budget is {self.rules.bucket.limit:g} J"
        return None

    def packer(self) -> ThriftyPacker:
        """Return the selection of hosts for tasks: as few as are needed, in the order of what they add."""
        return self.rules.thrifty()

    def wake(self, head: Job, view: View, plan: Plan) -> None:
        """Wake hosts with which it can start earlier, as far as the cap allows."""
        room = self.rules.cap - self.rules.estimate.now(view)
        lacked = self.lacked(head, view)
        self.power.wake(self.rules.estimate.affordable(lacked, room, waking=True), view, plan)

    def rest(self, view: View, plan: Plan) -> None:
        """Switch off hosts that the blocked job does not need, at once; without one, those that are idle for long."""
        if self.options.shutdown:
            head = self.loop.head
            surplus = self.power.soon(view).bit_count() - (0 if head is None else self.hosts_of(head, view))
            self.send_to_sleep(surplus, self.options.idle_time if head is None else 0.0, view, plan)

    def allowed(self, hosts: int, view: View) -> int:
        """Return those that the cap allows: falling asleep may draw more than being idle."""
        return self.rules.estimate.affordable(hosts, self.rules.cap - self.rules.estimate.now(view), waking=False)
