"""Sleep of idle hosts, in the simplest way."""

from dataclasses import dataclass
from typing import Literal

from batsched_py.api import HostSet, Job, OptionError, Plan, Scheduler, View, option
from batsched_py.planning.power import read_power
from batsched_py.schedulers.in_order import start_in_order


@dataclass(frozen=True, slots=True)
class SleeperOptions:
    """Options of the jobs, and of the power state of their hosts."""

    at_once: Literal["all", "one"] = option("all", "how many jobs may run at once: all that find hosts, or one")
    compute: int = option(0, "power state to which hosts are woken", minimum=0)


class Sleeper(Scheduler[SleeperOptions]):
    """Send free hosts to sleep, wake them for the next job.

    Jobs are started in order of arrival. If the first that waits could start on the free and the sleeping hosts, as
    many are woken as it lacks; if it has to wait for other jobs, or if none waits, free hosts are sent to sleep. A host
    sleeps in the first of its sleep states; one that has none stays awake. What switching costs is not weighed.
    """

    name = "sleeper"
    places_tasks = True
    foresight = "promises"
    source = "pybatsim's `fcfsSchedSleep`; with at_once=one batsched's `sleeper`."
    needs_energy = True

    def setup(self, view: View) -> None:
        pstate = self.options.compute
        for host in view.hosts.values():
            power = read_power(host.name, host.properties)
            if power is not None and pstate not in power.computing:
                known = ", ".join(map(str, power.computing))
                what = f"host {host.name} computes in {known}"
                raise OptionError(
                    f"option compute of {self.name}: must be a pstate to compute in, not {pstate}; {what}"
                )

    def decide(self, view: View, plan: Plan) -> None:
        blocked = start_in_order(view, plan, self.options.at_once)
        if blocked is None or self.waits_for_others(blocked, view):
            self.send_to_sleep(view, plan)
        else:
            self.wake(blocked, view, plan)

    def waits_for_others(self, job: Job, view: View) -> bool:
        """Return whether all hosts without a job, awake, would be too few, or jobs run one by one and another runs."""
        if self.options.at_once == "one" and view.running:
            return True
        idle = view.free | (view.asleep | view.switching) - view.unavailable
        if job.demand is not None:
            return view.later_hosts(job, idle | (view.part - view.unavailable)) is None
        return job.size > len(idle)

    def send_to_sleep(self, view: View, plan: Plan) -> None:
        """Send all free hosts to sleep, in one command for each power state."""
        states: dict[int, list[int]] = {}
        for number in plan.free:
            pstates = view.hosts[number].sleep_pstates
            if pstates:
                states.setdefault(min(map(int, pstates)), []).append(number)
        for pstate, numbers in states.items():
            plan.set_pstate(HostSet.from_ids(numbers), pstate)

    def wake(self, job: Job, view: View, plan: Plan) -> None:
        """Wake the lowest sleeping hosts, as many as the job lacks in addition to those that are waking up."""
        asleep, waking = view.asleep - view.switching - view.unavailable, view.asleep & view.switching
        if job.demand is not None:
            there = plan.free | (view.part | waking) - view.unavailable
            self.wake_for_tasks(job, there, asleep, view, plan)
            return
        missing = min(job.size - len(plan.free) - len(waking - view.unavailable), len(asleep))
        hosts = asleep.first(missing) if missing > 0 else None
        if hosts is not None:
            plan.set_pstate(hosts, self.options.compute)

    def wake_for_tasks(self, job: Job, there: HostSet, asleep: HostSet, view: View, plan: Plan) -> None:
        """Wake those of the lowest sleeping hosts that tasks need in addition to hosts that are or will be awake."""
        woken, order = HostSet(), list(asleep)
        for count in range(len(order) + 1):
            hosts = view.later_hosts(job, there | HostSet.from_ids(order[:count]))
            if hosts is not None:
                woken = hosts & asleep
                break
        if woken:
            plan.set_pstate(woken, self.options.compute)
