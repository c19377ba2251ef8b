"""EASY backfilling: the first blocked job holds a promise, and whoever does not break it may overtake."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from batsched_py.api import HostSet, Job, Plan, Scheduler, Shadow, Slot, View, option


@dataclass(frozen=True, slots=True)
class EasyOptions:
    """What a promise is made of, and who may overtake first."""

    reserve: Literal["counts", "hosts"] = option("counts", "promise a number of hosts, or these very hosts")
    backfill_order: Literal["fcfs", "sjf"] = option("fcfs", "who overtakes first: who came first, or the shortest")


class Easy(Scheduler[EasyOptions]):
    """Start jobs in arrival order; promise the first that does not fit its earliest start; let others overtake it.

    A promise is broken by no one: an overtaking job ends by its walltime before the promised start, or leaves the
    promised hosts alone.
    """

    name = "easy"
    source = "Lifka, The ANL/IBM SP scheduling system, JSSPP 1995; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001"
    needs_walltime = True

    #: The first blocked job, and its promise; None when nobody is blocked.
    head: Job | None = None
    promised: Shadow | Slot | None = None

    def decide(self, view: View, plan: Plan) -> None:
        if self.head is None or view.hosts_changed:
            self.withdraw(view)
            self.head = self.start_in_order(view, plan)
            if self.head is not None:
                self.promise(self.head, view, plan)
                free = plan.free
                self.backfill(self.overtakers(free, view), free, view, plan)
        else:  # no host became free: who did not fit before does not fit now
            self.backfill(view.arrived, plan.free, view, plan)

    def start_in_order(self, view: View, plan: Plan) -> Job | None:
        """Start jobs until one does not fit: that one."""
        queue, free = view.queue, plan.free
        while (job := queue.first()) is not None:
            hosts = free.first(job.size)
            if hosts is None:
                plan.hold(job, f"needs {job.size} hosts, {len(free)} are free")
                return job
            plan.start(job, hosts)
            free -= hosts
        return None

    def promise(self, job: Job, view: View, plan: Plan) -> None:
        """The earliest start that the running jobs allow by their walltimes; if there is none, nobody waits for it."""
        future = view.availability()
        if self.options.reserve == "counts":
            self.promised = future.shadow(job.size) or Shadow(math.inf, 0)
        else:
            self.promised = future.earliest(job.size, job.walltime or math.inf)
            if self.promised is not None:
                future.reserve(self.promised)
        if self.promised is not None:
            plan.promise(job, self.promised)

    def withdraw(self, view: View) -> None:
        if isinstance(self.promised, Slot):
            view.availability().release(self.promised)
        self.promised = None

    def overtakers(self, free: HostSet, view: View) -> list[Job]:
        """Each waiting job that breaks no promise if no other overtakes before it."""
        promised, count = self.promised, len(free)
        if promised is None:
            return view.queue.up_to(count)
        spare = promised.spare if isinstance(promised, Shadow) else len(free - promised.hosts)
        return view.queue.fitting(count, view.now, promised.start, spare)

    def backfill(self, candidates: Iterable[Job], free: HostSet, view: View, plan: Plan) -> None:
        """Start those that break no promise."""
        now = view.now
        if self.options.backfill_order == "sjf":
            candidates = sorted(candidates, key=lambda job: job.walltime or math.inf)
        left = len(free)
        for job in candidates:
            if job.size > left:
                continue
            hosts = self.room(job, now + (job.walltime or math.inf), free, view)
            if hosts is not None:
                plan.start(job, hosts)
                free -= hosts
                left -= job.size
                if not left:
                    return

    def room(self, job: Job, end: float, free: HostSet, view: View) -> HostSet | None:
        """Hosts on which the job breaks no promise if it runs from now to `end`."""
        if not isinstance(self.promised, Shadow):
            return view.availability().free_during(view.now, end).first(job.size)
        if end > self.promised.start:
            if job.size > self.promised.spare:
                return None
            self.promised = Shadow(self.promised.start, self.promised.spare - job.size)
        return free.first(job.size)
