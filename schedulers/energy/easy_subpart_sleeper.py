"""EASY backfilling on a part of the machine, while the rest of it sleeps."""

import math
from dataclasses import dataclass

from batsched_py.api import Job, Plan, View, option
from batsched_py.schedulers.energy.easy_sleeper import EasySleeper, SleepOptions


@dataclass(frozen=True, slots=True)
class SubpartSleeperOptions(SleepOptions):
    """Options of the part of the machine that is awake."""

    awake: float = option(0.5, "share of the hosts that are kept awake, from 0 to 1", minimum=0, maximum=1)
    idle_time: float = option(0.0, "seconds of idleness before a host above that is switched off", minimum=0)


class EasySubpartSleeper(EasySleeper[SubpartSleeperOptions]):
    """EASY on a share of the hosts, rounded up; the others sleep until a job comes that is larger than this part.

    Then as many hosts as this job asks for are awake until it starts. A host of the part that fails is replaced by one
    that sleeps. Which hosts are the part is not fixed: those above its number that are idle for longest fall asleep,
    and those that are cheapest to wake are woken.
    """

    name = "easy_subpart_sleeper"
    source = (
        "batsched's energy_bf_subpart_sleeper, of M. Poquet, Simulation approach for resource management (thesis), 2017"
    )

    def wake(self, head: Job, view: View, plan: Plan) -> None:
        """Wake hosts until as many are awake as the job asks for, working ones included."""
        if head.demand is not None:
            self.power.wake(self.lacked(head, view), view, plan)
            return
        self.wake_cheapest(self.wanted(head, view) - self.power.awake_soon(view).bit_count(), view, plan)

    def rest(self, view: View, plan: Plan) -> None:
        """Send hosts above the wanted number to sleep, unless they work; or wake some, if hosts have failed."""
        excess = self.power.awake_soon(view).bit_count() - self.wanted(self.loop.head, view)
        if excess > 0:
            self.send_to_sleep(excess, self.options.idle_time, view, plan)
        else:
            self.wake_cheapest(-excess, view, plan)

    def wanted(self, head: Job | None, view: View) -> int:
        """Return how many hosts should be awake: the part, or as many as the first blocked job asks for."""
        part = math.ceil(self.options.awake * len(view.all_hosts))
        return part if head is None else max(part, self.hosts_of(head, view))
