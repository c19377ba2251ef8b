"""Kills of running jobs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Literal

from batsched_py.api import HostSet, Job, Plan, Running, Scheduler, View, option
from batsched_py.schedulers.in_order import start_in_order

#: Default time in seconds after which a job is killed.
USUAL = 10.0


@dataclass(frozen=True, slots=True)
class KillerOptions:
    """Options of the instant at which a job is stopped."""

    rule: Literal["time", "arrival"] = option("time", "stop a job after a time, or when another finds too few hosts")
    after: float | None = option(
        None, "rule=time: seconds from a job's start until it is stopped; none: ten", minimum=0
    )

    def __post_init__(self) -> None:
        if self.rule == "arrival" and self.after is not None:
            raise ValueError(
                "after is for rule=time: with rule=arrival jobs are stopped when another needs their hosts"
            )


class Killer(Scheduler[KillerOptions]):
    """Kill each job some seconds after its start, or for the next.

    Jobs are started in order of arrival; one that ends before its time is left alone. With `rule=arrival` a job runs
    until the first that waits needs its hosts; those that were started first are stopped first.
    """

    name = "killer"
    places_tasks = True
    source = "batsched's `killer` (rule=time) and `killer2` (rule=arrival), which test kills."

    def decide(self, view: View, plan: Plan) -> None:
        blocked = start_in_order(view, plan)
        if self.options.rule == "time":
            self.kill_old(view, plan)
        elif blocked is not None:
            plan.kill(self.victims(blocked, view))

    def kill_old(self, view: View, plan: Plan) -> None:
        """Kill jobs that have run for long enough; request a call for the others."""
        after = USUAL if self.options.after is None else self.options.after
        old = []
        for run in view.running:
            end = run.start + after
            if view.due(end):
                old.append(run.job)
            else:
                plan.wake_at(end)
        plan.kill(old)

    def victims(self, job: Job, view: View) -> Iterator[Job]:
        """Yield the jobs whose hosts or resources the job needs; none if it lacks unavailable hosts."""
        usable = view.all_hosts - view.unavailable - view.asleep - view.switching
        if job.demand is not None or view.part:
            yield from self.victims_among_tasks(job, usable, view)
            return
        missing = job.size - len(view.free)
        if job.size > len(usable):
            return
        for run in view.running:
            gained = len(run.hosts & usable)
            if missing > 0 and gained:
                missing -= gained
                yield run.job

    def victims_among_tasks(self, job: Job, usable: HostSet, view: View) -> Iterator[Job]:
        """Yield the same where jobs share hosts."""
        ended: list[Running] = []
        for run in view.running:
            if self.fits(job, usable, ended, view):
                break
            if run.hosts & usable:
                ended.append(run)
        if self.fits(job, usable, ended, view):
            yield from (run.job for run in ended)

    def fits(self, job: Job, usable: HostSet, ended: Sequence[Running], view: View) -> bool:
        """Return whether the job could start on these hosts after the ends of some jobs."""
        ids = {run.job.id for run in ended}
        left = [run for run in view.running if run.job.id not in ids]
        whole = HostSet(reduce(or_, (run.hosts.bits for run in left if not run.places), 0))
        if job.demand is not None:
            return view.later_hosts(job, usable - whole, ended=ended) is not None
        parts = HostSet(reduce(or_, (run.hosts.bits for run in left if run.places), 0))
        return job.size <= len(usable - whole - parts)
