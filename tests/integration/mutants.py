"""Algorithms that are wrong in one way each: the contract suite must catch every one of them."""

from __future__ import annotations

import random
from collections.abc import Iterable

from batsched_py.api import Event as Told
from batsched_py.api import HostSet, Job, JobCompleted, JobSubmitted, NoOptions, Plan, Scheduler, View


class Greedy(Scheduler[NoOptions]):
    """Right: all that fits, in order of arrival."""

    name = "greedy"

    def decide(self, view: View, plan: Plan) -> None:
        self.fill(view.queue, plan)

    def fill(self, jobs: Iterable[Job], plan: Plan) -> None:
        for job in jobs:
            hosts = plan.free.first(job.size)
            if hosts is not None:
                plan.start(job, hosts)


class StartsOnFailed(Greedy):
    """Believes that a host that runs nothing is free."""

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            idle = view.all_hosts
            for run in view.running:
                idle -= run.hosts
            hosts = idle.first(job.size)
            if hosts is not None:
                plan.start(job, hosts)


class Forgets(Greedy):
    """Drops each job whose number ends in 3."""

    def decide(self, view: View, plan: Plan) -> None:
        self.fill((job for job in view.queue if not job.name.endswith("3")), plan)


class StartsTwice(Greedy):
    """Keeps a list of its own, from which started jobs are not removed."""

    def setup(self, view: View) -> None:
        self.jobs: list[Job] = []

    def decide(self, view: View, plan: Plan) -> None:
        self.jobs += view.arrived
        self.fill(self.jobs, plan)


class Crowds(Greedy):
    """Does not count what it has started itself."""

    def decide(self, view: View, plan: Plan) -> None:
        free = view.free
        for job in view.queue:
            hosts = free.first(job.size)
            if hosts is not None:
                plan.start(job, hosts)


class GivesTooMuch(Greedy):
    """Gives each job all that is free."""

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            if job.size <= len(plan.free):
                plan.start(job, plan.free)


class TrustsWalltimes(Greedy):
    """Takes hosts back when a walltime is over, though the end was not announced."""

    def decide(self, view: View, plan: Plan) -> None:
        over = HostSet()
        for run in view.running:
            over |= run.hosts if run.end <= view.now else HostSet()
        for job in view.queue:
            hosts = (plan.free | over).first(job.size)
            if hosts is not None:
                plan.start(job, hosts)


class OneMessageAnInstant(Greedy):
    """Concludes from a message that its instant is over."""

    last = -1.0

    def decide(self, view: View, plan: Plan) -> None:
        if view.now > self.last:
            self.last = view.now
            self.fill(view.queue, plan)


class ExactTimes(Greedy):
    """Starts at whole instants that it asks to be called for, and compares them with ==."""

    def setup(self, view: View) -> None:
        self.planned = 0.0

    def decide(self, view: View, plan: Plan) -> None:
        if view.now == self.planned:
            self.fill(view.queue, plan)
        elif view.queue.first() and self.planned < view.now:
            self.planned = float(int(view.now) + 1)
            plan.wake_at(self.planned)


class CallsForEver(Greedy):
    """Asks to be called each second, whatever happens."""

    def decide(self, view: View, plan: Plan) -> None:
        self.fill(view.queue, plan)
        if not view.wakeups:
            plan.wake_at(view.now + 1)


class Impatient(Greedy):
    """Rejects what does not fit now."""

    def decide(self, view: View, plan: Plan) -> None:
        self.fill(view.queue, plan)
        for job in view.queue:
            plan.reject(job, "no time")


class Kills(Greedy):
    """Makes room for whoever waits."""

    def decide(self, view: View, plan: Plan) -> None:
        self.fill(view.queue, plan)
        if view.queue.first() and view.running:
            plan.kill([run.job for run in view.running])


class NeedsWalltimes(Greedy):
    """Adds a walltime that is not there."""

    def decide(self, view: View, plan: Plan) -> None:
        self.fill(sorted(view.queue, key=lambda job: view.now + job.walltime), plan)  # type: ignore[operator]


class SetOrder(Greedy):
    """Takes jobs from a set, whose order hangs on how texts hash."""

    def decide(self, view: View, plan: Plan) -> None:
        for name in {job.id for job in view.queue}:
            self.fill((job for job in [view.job(name)] if job is not None), plan)


class ByAddress(Greedy):
    """Serves jobs by where they lie in memory."""

    def decide(self, view: View, plan: Plan) -> None:
        self.fill(sorted(view.queue, key=lambda job: hash(object()) + id(job)), plan)


class ByChance(Greedy):
    """Rolls dice that nobody can roll again."""

    def decide(self, view: View, plan: Plan) -> None:
        self.fill(sorted(view.queue, key=lambda job: random.random()), plan)


class CountsEnds(Greedy):
    """Counts free hosts itself, by the jobs that end in time; one that is stopped never gives its hosts back."""

    def setup(self, view: View) -> None:
        self.left = len(view.all_hosts)

    def observe(self, event: Told, view: View) -> None:
        if isinstance(event, JobCompleted) and event.state == "COMPLETED_SUCCESSFULLY" and event.hosts is not None:
            self.left += len(event.hosts)

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            hosts = plan.free.first(job.size)
            if hosts is not None and job.size <= self.left:
                self.left -= job.size
                plan.start(job, hosts)


class StartsAtOnce(Greedy):
    """Starts a job in the message that brings it, or never."""

    def decide(self, view: View, plan: Plan) -> None:
        self.fill(view.arrived, plan)


class AsksAndAsks(Greedy):
    """Answers each answer with a question."""

    needs_energy = True

    def decide(self, view: View, plan: Plan) -> None:
        self.fill(view.queue, plan)
        plan.ask_energy()


class Hasty(Greedy):
    """Uses hosts that it has only asked to wake up."""

    needs_energy = True

    def decide(self, view: View, plan: Plan) -> None:
        self.fill(view.queue, plan)
        if view.queue.first() is not None:
            for host in view.asleep - view.switching:
                plan.set_pstate(HostSet.of(host), 0)
            for job in view.queue:
                hosts = (plan.free | view.switching).first(job.size)
                if hosts is not None:
                    plan.start(job, hosts)
        for host in plan.free:
            plan.set_pstate(HostSet.of(host), 2)


class SleepsForGood(Greedy):
    """Sends idle hosts to sleep, and wakes none."""

    needs_energy = True

    def decide(self, view: View, plan: Plan) -> None:
        self.fill(view.queue, plan)
        if plan.free:
            plan.set_pstate(plan.free, 2)


class NeverDone(Greedy):
    """Keeps registration open."""

    needs_dynamic_jobs = True


class ForgetsAcknowledgements(Greedy):
    """Submits one job, and believes that Batsim sends it back."""

    needs_dynamic_jobs = True

    def setup(self, view: View) -> None:
        self.seen: set[str] = set()

    def observe(self, event: Told, view: View) -> None:
        if isinstance(event, JobSubmitted):
            self.seen.add(event.job_id)

    def decide(self, view: View, plan: Plan) -> None:
        if view.registration_open:
            plan.submit(Job.create("own!1", size=1, profile="p"), {"type": "delay", "delay": 3})
            plan.finish_registration()
        self.fill((job for job in view.queue if job.id in self.seen), plan)
