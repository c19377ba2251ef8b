"""The common part of EASY algorithms whose hosts sleep."""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from batsched_py.api import Job, JobDemand, Plan, View, option
from batsched_py.planning.future.promise_book import PromiseBook
from batsched_py.planning.task_packing import Pack
from batsched_py.schedulers.backfilling.algorithms import Overtaking
from batsched_py.schedulers.backfilling.options import OvertakingOptions
from batsched_py.schedulers.backfilling.rules import OvertakingRules, Promise
from batsched_py.schedulers.energy.power_manager import PowerManager


@dataclass(frozen=True, slots=True)
class SleepOptions(OvertakingOptions):
    """Options of the sleep of hosts, and of the times that switching takes."""

    sleep_state: Literal["first", "deepest"] = option(
        "first", "where hosts sleep: the first of sleep_pstates, or the one that draws least"
    )
    off_time: float | None = option(None, "seconds to fall asleep; none: learned from the first time", minimum=0)
    on_time: float | None = option(None, "seconds to wake up; none: learned from the first time", minimum=0)

    def __post_init__(self) -> None:
        if not self.by_number:
            self.refuse("is not for hosts that sleep: they are woken by their number")
        OvertakingOptions.__post_init__(self)


Sleep = TypeVar("Sleep", bound=SleepOptions)
#: Wakes hosts for the first blocked job.
Wake = Callable[[Job, View, Plan], None]


class SleepRules(OvertakingRules[Sleep]):
    """The rules of EASY on the hosts that are awake: hosts are woken before a blocked job gets a promise."""

    def __init__(self, options: Sleep, view: View, depth: float, wake: Wake, power: PowerManager) -> None:
        super().__init__(options, view, depth)
        self.wake, self.power = wake, power

    def earliest(self, job: Job, book: PromiseBook[Any], view: View, plan: Plan) -> Promise | None:
        self.wake_if_short(job, view, plan)
        return super().earliest(job, book, view, plan)

    def wake_if_short(self, job: Job, view: View, plan: Plan) -> None:
        """Wake hosts for a job that cannot start on those that are awake."""
        short = job.size > len(plan.free) if job.demand is None else self.placement.place(job, plan) is None
        if short:
            self.wake(job, view, plan)

    def may_start(self, view: View, plan: Plan) -> bool:
        """Return whether a job may start, or a host may be woken for it."""
        return super().may_start(view, plan) or bool(self.power.wakeable(view))


class EasySleeper(Overtaking[Sleep]):
    """EASY on the hosts that are awake. What is promised counts hosts that are on the way, never one that sleeps."""

    needs_energy = True
    places_tasks = True
    depth = 1

    def make_rules(self, view: View) -> SleepRules[Any]:
        return SleepRules(self.options, view, self.depth, self.wake, self.power)

    def setup(self, view: View) -> None:
        """Read the watts and the sleep of the hosts."""
        options = self.options
        self.power = PowerManager(view, options.sleep_state, options.off_time, options.on_time)
        #: Demand -> the number of hosts that the tasks of such a job have on the idle machine.
        self.host_counts: dict[JobDemand, int] = {}
        super().setup(view)

    def decide(self, view: View, plan: Plan) -> None:
        """Process acknowledgements, decide as EASY, then send hosts to sleep."""
        self.power.begin(view)
        super().decide(view, plan)
        self.power.follow(view)
        if view.queue or view.running or not view.all_submitted:  # after the last job, sleep saves nothing
            self.rest(view, plan)

    @abstractmethod
    def wake(self, head: Job, view: View, plan: Plan) -> None:
        """Wake hosts for the first in the queue, which is blocked."""

    @abstractmethod
    def rest(self, view: View, plan: Plan) -> None:
        """Send hosts to sleep, after all possible starts."""

    def allowed(self, hosts: int, view: View) -> int:
        """Return those of these hosts that may be sent to sleep now."""
        return hosts

    def hosts_of(self, job: Job, view: View) -> int:
        """Return the number of hosts that a job needs: its size, or those of its tasks on the idle machine."""
        if job.demand is None:
            return job.size
        count = self.host_counts.get(job.demand)
        if count is None:
            found = view.later_hosts(job, view.all_hosts, self.packer(), view.running)
            count = self.host_counts[job.demand] = min(job.size, len(view.all_hosts)) if found is None else len(found)
        return count

    def lacked(self, job: Job, view: View) -> int:
        """Return the sleeping hosts to wake for a job, if it can start earlier with them."""
        if job.demand is None:
            return self.power.lacked(job.size, view)
        return self.power.lacked_for_tasks(job.demand, self.rules.duration(job), self.packer(), view)

    def packer(self) -> Pack:
        """Return the selection of hosts for tasks."""
        return self.rules.placement.packer()

    def wake_cheapest(self, count: int, view: View, plan: Plan) -> None:
        """Wake at most `count` hosts, the cheapest first; none if it is not positive."""
        self.power.wake(self.power.cheapest(self.power.wakeable(view), count, view), view, plan)

    def send_to_sleep(self, count: int, patience: float | None, view: View, plan: Plan) -> None:
        """Send at most `count` hosts that were idle for `patience` to sleep; request a call for the next ones."""
        chosen, after = self.power.tired(view, count, patience)
        chosen = self.allowed(chosen, view)
        if chosen:
            self.power.send_to_sleep(chosen, view, plan)
            self.loop.renew(view, plan)  # fewer hosts are free, now and when the blocked job will start
        self.call_before_the_end(after, view, plan)

    def call_before_the_end(self, time: float, view: View, plan: Plan) -> None:
        """Request a call at `time`, unless there is an earlier one or all jobs end before: it must not outlast them."""
        if view.all_submitted and not view.queue:
            latest = max((run.end for run in view.running), default=view.now)
            time = time if time < latest else math.inf
        if view.now < time < math.inf and not any(call <= time for call in view.wakeups):
            plan.wake_at(time)
