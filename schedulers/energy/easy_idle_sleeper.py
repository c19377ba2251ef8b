"""EASY backfilling whose hosts are switched off when they have been idle for a while."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from batsched_py.api import HostSet, Job, Plan, View, option
from batsched_py.schedulers.energy.easy_sleeper import EasySleeper, SleepOptions
from batsched_py.schedulers.energy.inertia import Inertia, SwitchGrowth, liquid_load_horizon, load_of

#: Default times in seconds.
PERIOD: Final = 600.0
#: Ends of periods without work or switches after which no call is asked for until something happens: the first of all
#: and those at which the direction changes switch nothing, though the next one may.
QUIET: Final = 3
#: An idle time in seconds that no run reaches: hosts are not switched off for being idle, and no call is requested.
NEVER: Final = 1e9


@dataclass(frozen=True, slots=True)
class IdleSleeperOptions(SleepOptions):
    """Options of the instants at which hosts are switched off and woken."""

    idle_time: float | None = option(
        300.0,
        "seconds of idleness after which a host is switched off; none: those from which it pays; 1e9: never",
        minimum=0,
    )
    keep_awake: int = option(0, "hosts without work that stay awake for jobs to come", minimum=0)
    wake_for: Literal["head", "queue"] = option("head", "wake hosts for the first blocked job, or for all that wait")
    inertia: str = option(
        "",
        "wake or switch off hosts by the trend of the load, in each period as many as in the one before times 2 (x2),"
        " plus 1 (p1)...; empty: not",
        peer_text=r"[xp]\d{1,9}(\.\d{1,9})?",
    )
    period: float = option(PERIOD, "with `inertia`: seconds", minimum=1)
    load_threshold: float | None = option(
        None, "with `inertia`: mean load in seconds from which hosts are woken in any case; none: never", minimum=1
    )

    def __post_init__(self) -> None:
        SleepOptions.__post_init__(self)
        if self.inertia:
            SwitchGrowth.parse(self.inertia)
        elif self.period != PERIOD or self.load_threshold is not None:
            raise ValueError("period and load_threshold are for the option inertia, which is not given")


class EasyIdleSleeper(EasySleeper[IdleSleeperOptions]):
    """EASY; a host that was idle for `idle_time` is switched off, one that is needed is woken.

    Hosts are woken for the first blocked job if it can start earlier with them: as many as it lacks at the earliest
    instant at which it could start. As long as a job is blocked, as many hosts as it asks for stay awake without work;
    without such a job, `keep_awake` of them.

    With `inertia` the hosts that are awake follow the trend of the load, in periods. While the load of the queue, in
    seconds that the hosts which are awake would take for it, grows from period to period, hosts are woken; while it
    does not, they are sent to sleep, those that work when they are free. Each time it is a multiple of the hosts of the
    period before, or some more. For the first blocked job hosts are woken only if it asks for more than are awake.
    """

    name = "easy_idle_sleeper"
    source = (
        "batsched's energy_bf_idle_sleeper, of M. Poquet, Simulation approach for resource management (thesis), 2017"
    )

    def setup(self, view: View) -> None:
        """Create the inertia according to the options."""
        super().setup(view)
        options = self.options
        threshold = math.inf if options.load_threshold is None else options.load_threshold
        self.inertia = (
            Inertia(SwitchGrowth.parse(options.inertia), options.period, threshold) if options.inertia else None
        )
        #: Number of hosts to send to sleep by inertia, as soon as they are free.
        self.due_to_sleep = 0
        #: Number of ends of periods since the last event or switch.
        self.quiet_stages = 0

    def decide(self, view: View, plan: Plan) -> None:
        """Decide as EASY; with inertia measure the load before and after."""
        if self.inertia is None:
            super().decide(view, plan)
            return
        arrived = {job.id for job in view.arrived}
        if arrived:
            self.inertia.begin(view.now)
        before = self.load((job for job in view.queue if job.id not in arrived), view)
        super().decide(view, plan)
        self.inertia.add(view.now, before, self.load(view.queue, view))
        if arrived or view.hosts_changed:
            self.quiet_stages = 0
        if self.quiet_stages < QUIET:
            self.call_before_the_end(self.inertia.next_stage, view, plan)

    def load(self, jobs: Iterable[Job], view: View) -> float:
        """Return the seconds that hosts which are or will be awake take for these jobs, as if they were liquid.

        Jobs that are deferred need no host.
        """
        served = (job for job in jobs if job.id not in self.rules.excluded)
        work = load_of((self.hosts_of(job, view), job.limit) for job in served)
        return liquid_load_horizon(work, view.now, view.availability().steps()) if work else 0.0

    def wake(self, head: Job, view: View, plan: Plan) -> None:
        """Wake hosts with which the job can start earlier; with inertia, only those that it needs to start at all."""
        if self.inertia is None:
            self.power.wake(self.lacked(head, view), view, plan)
        elif head.demand is None:
            self.wake_counted(self.inertia, head.size - self.power.awake_soon(view).bit_count(), view, plan)
        else:
            awake = HostSet(self.power.awake_soon(view))
            if view.later_hosts(head, awake, self.packer(), view.running) is None:
                self.count_woken(self.inertia, self.lacked(head, view), view, plan)

    def rest(self, view: View, plan: Plan) -> None:
        """Send hosts to sleep that no job will need soon, or wake some for all waiting jobs, by the options."""
        if self.inertia is not None:
            self.switch_by_inertia(self.inertia, view, plan)
        wanted = self.wanted(view)
        surplus = self.power.soon(view).bit_count() - (wanted or self.options.keep_awake)
        idle_time = self.options.idle_time
        if surplus > 0 and (idle_time is None or idle_time < NEVER):
            self.send_to_sleep(surplus, idle_time, view, plan)
        elif surplus < 0 and self.options.wake_for == "queue" and wanted:
            self.wake_cheapest(-surplus, view, plan)

    def switch_by_inertia(self, inertia: Inertia, view: View, plan: Plan) -> None:
        """Choose the number of hosts to switch at the end of a period; hosts are sent to sleep when they are free."""
        head = self.loop.head
        needed = self.options.keep_awake if head is None else self.hosts_of(head, view)
        spare = self.power.awake_soon(view).bit_count() - needed
        ended = view.due(inertia.next_stage)
        if ended:
            count = inertia.stage(view.now, able=spare >= 0)
            self.due_to_sleep = max(0, -count)
            self.wake_counted(inertia, count, view, plan)
        if min(self.due_to_sleep, spare) > 0:
            before = self.power.falling.bit_count()
            self.send_to_sleep(min(self.due_to_sleep, spare), 0.0, view, plan)
            fallen = self.power.falling.bit_count() - before
            self.due_to_sleep -= fallen
            inertia.switched += fallen
        if ended:
            self.quiet_stages = 0 if view.running or self.power.switches else self.quiet_stages + 1

    def wake_counted(self, inertia: Inertia, count: int, view: View, plan: Plan) -> None:
        """Wake as `wake_cheapest`, counted by the policy."""
        self.count_woken(inertia, self.power.cheapest(self.power.wakeable(view), count, view), view, plan)

    def count_woken(self, inertia: Inertia, hosts: int, view: View, plan: Plan) -> None:
        """Wake hosts, counted by the policy."""
        before = self.power.waking.bit_count()
        self.power.wake(hosts, view, plan)
        if inertia.waking:
            inertia.switched += self.power.waking.bit_count() - before

    def wanted(self, view: View) -> int:
        """Return the number of hosts that waiting jobs request: the first blocked one, or all that are not deferred."""
        head = self.loop.head
        if head is None or self.options.wake_for == "head":
            return 0 if head is None else self.hosts_of(head, view)
        total, most = 0, len(view.all_hosts)
        for job in view.queue:
            if job.id in self.rules.excluded:
                continue
            total += self.hosts_of(job, view)
            if total >= most:
                return most
        return total
