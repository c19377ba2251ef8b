"""Deferral of jobs to times at which energy is clean or cheap."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable

from batsched_py.api import Job, Plan, View, counted, seconds
from batsched_py.schedulers.backfilling.options import PromiseOptions

# Source: Wiesner, Behnke, Scheinert, Gontarska, Thamsen, Let's wait awhile: how temporal workload shifting can reduce
# carbon emissions in the cloud, Middleware 2021. There, jobs are moved within a window that their users allow.
#
# A job is deferred when it arrives, and once: it may wait for the signal at most `max_delay` after its submission, and
# then for hosts as long as any other job, whatever the signal is. While it is deferred it holds no promise and blocks
# no other job; then it is served behind those that arrived before that time, and moves none of their promises.
#
# With `signal_hosts` the signal limits the hosts that are used instead. While it is high, the waiting jobs are admitted
# in their order as long as they and the running jobs together have at most so many hosts; one that does not fit is
# deferred, and smaller ones behind it are admitted. Hosts are counted for admitted jobs even before they start, so that
# the limit holds whatever the loop starts. When the signal rises, jobs that wait are deferred, too, and lose their
# promises; jobs that run continue. A job that was submitted `max_delay` ago is not deferred any more: it may exceed the
# limit, and leaves less of it to others. Each decision while the signal is high costs a look at all waiting jobs.


class Deferral(Container[str]):
    """The jobs that wait for the signal: job id -> the time at which each is released."""

    def __init__(self, options: PromiseOptions, others: Container[str]) -> None:
        """Begin without jobs; `others` are excluded for other reasons."""
        self._options, self._others = options, others
        #: Id of a deferred job -> when it is released.
        self._deferred: dict[str, float] = {}
        #: Id of a released job that waits -> when it was released.
        self._released: dict[str, float] = {}

    def __contains__(self, job_id: object) -> bool:
        return job_id in self._deferred or job_id in self._others

    def follow(self, view: View, plan: Plan) -> bool:
        """Defer jobs, and release those whose time has come; return whether promises must be made anew."""
        for job in view.arrived if self._options.signal_hosts is None else ():
            release = self._release_of(job, view.now)
            if not view.due(release):
                self._defer(job, release, f"until {seconds(release)}, for the signal in {self._unit}", plan)
        due = [job_id for job_id, release in self._deferred.items() if view.due(release)]
        for job_id in due:
            self._release(job_id, view.now)
        for kept in (self._deferred, self._released):
            for gone in [job_id for job_id in kept if job_id not in view.queue]:
                del kept[gone]
        limit = self._options.signal_hosts
        limited = limit is not None and self._admit(limit, view, plan)
        return bool(due) or limited

    def call(self, view: View, plan: Plan) -> None:
        """Request a call at the next release."""
        if self._deferred:
            plan.wake_at(min(self._deferred.values()))

    def adopt(self, former: Deferral | None) -> None:
        """Adopt the jobs of another object; jobs of one that defers none are released."""
        if former is not None:
            self._deferred, self._released = dict(former._deferred), dict(former._released)

    def in_serving_order(self, jobs: Iterable[Job]) -> Iterable[Job]:
        """Return jobs in the order of arrival, where a released job arrives when it is released."""
        return sorted(jobs, key=lambda job: self._released.get(job.id, job.submit_time)) if self._released else jobs

    def _admit(self, limit: int, view: View, plan: Plan) -> bool:
        """Defer the waiting jobs that exceed the limit of hosts, and release others; return whether any changed."""
        releases = {job.id: self._release_of(job, view.now) for job in view.queue}
        bound = {job.id for job in view.queue if not view.due(releases[job.id])}
        left = limit - sum(run.job.size for run in view.running)
        left -= sum(job.size for job in view.queue if job.id not in bound)
        changed = False
        for job in list(view.queue) if bound else ():
            if job.id not in bound:
                continue
            if job.size <= left:
                left -= job.size
                if job.id in self._deferred:
                    self._release(job.id, view.now)
                    changed = True
            elif job.id not in self._deferred:
                plan.withdraw_promise(job.id)
                why = f"until {seconds(releases[job.id])} at most: while the signal in {self._unit} is high, jobs have"
                self._defer(job, releases[job.id], f"{why} {counted(limit, 'host')}", plan)
                changed = True
        return changed

    def _defer(self, job: Job, release: float, why: str, plan: Plan) -> None:
        self._deferred[job.id] = release
        self._released.pop(job.id, None)
        plan.hold(job, f"is deferred {why}", "instant")

    def _release(self, job_id: str, now: float) -> None:
        self._released[job_id] = now
        del self._deferred[job_id]

    @property
    def _unit(self) -> str:
        return "energy" if self._options.signal is None else self._options.signal.unit

    def _release_of(self, job: Job, now: float) -> float:
        """Return when a job may be served: when the signal is low, at most `max_delay` after its submission."""
        signal, threshold, most = self._options.signal, self._options.signal_threshold, self._options.max_delay
        if signal is None or threshold is None or most is None:
            return now
        low = signal.first_low(now, threshold)
        latest = job.submit_time + most
        return latest if low == math.inf else min(low, latest)
