"""EASY backfilling whose hosts are switched off when they have been idle for a while."""

from dataclasses import dataclass
from typing import Literal

from batsched_py.api import Job, Plan, View, option
from batsched_py.schedulers.pieces.easy_sleeper import EasySleeper, SleepOptions


@dataclass(frozen=True, slots=True)
class IdleSleeperOptions(SleepOptions):
    """When hosts sleep, and for whom they are woken."""

    idle_time: float | None = option(
        300.0, "seconds of idleness after which a host is switched off; none: those from which it pays", minimum=0
    )
    keep_awake: int = option(0, "hosts without work that stay awake for jobs to come", minimum=0)
    wake_for: Literal["head", "queue"] = option("head", "wake hosts for the first blocked job, or for all that wait")


class EasyIdleSleeper(EasySleeper[IdleSleeperOptions]):
    """EASY; a host that was idle for `idle_time` is switched off, one that is needed is woken.

    Hosts are woken for the first blocked job if it can start earlier with them: as many as it lacks at the earliest
    instant at which it could start. As long as a job is blocked, as many hosts as it asks for stay awake without work;
    without such a job, `keep_awake` of them.
    """

    name = "easy_idle_sleeper"
    source = (
        "batsched's energy_bf_idle_sleeper, of M. Poquet, Simulation approach for resource management (thesis), 2017"
    )

    def wake(self, head: Job, view: View, plan: Plan) -> None:
        """Those with which it can start earlier."""
        self.power.wake(self.power.lacked(head.size, view), view, plan)

    def rest(self, view: View, plan: Plan) -> None:
        """Those that nobody will need soon; or wake some for all that wait, if asked."""
        wanted = self.wanted(view)
        surplus = self.power.soon(view).bit_count() - (wanted or self.options.keep_awake)
        if surplus > 0:
            self.send_to_sleep(surplus, self.options.idle_time, view, plan)
        elif self.options.wake_for == "queue" and wanted:
            self.wake_cheapest(-surplus, view, plan)

    def wanted(self, view: View) -> int:
        """Hosts that the waiting jobs ask for: the first blocked one, or all."""
        head = self.head
        if head is None or self.options.wake_for == "head":
            return 0 if head is None else head.size
        total, most = 0, len(view.all_hosts)
        for job in view.queue:
            total += job.size
            if total >= most:
                return most
        return total
