"""Deferral of jobs to times at which energy is clean or cheap."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable

from batsched_py.api import Job, Plan, View, seconds
from batsched_py.schedulers.backfilling.options import PromiseOptions

# Source: Wiesner, Behnke, Scheinert, Gontarska, Thamsen, Let's wait awhile: how temporal workload shifting can reduce
# carbon emissions in the cloud, Middleware 2021. There, jobs are moved within a window that their users allow.
#
# A job is deferred when it arrives, and once: it may wait for the signal at most `max_delay` after its submission, and
# then for hosts as long as any other job, whatever the signal is. While it is deferred it holds no promise and blocks
# no other job; then it is served behind those that arrived before that time, and moves none of their promises.


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
        """Defer jobs that have arrived, and release those whose time has come; return whether there are any."""
        for job in view.arrived:
            release = self._release_of(job, view.now)
            if not view.due(release):
                self._deferred[job.id] = release
        due = [job_id for job_id, release in self._deferred.items() if view.due(release)]
        for job_id in due:
            self._released[job_id] = self._deferred.pop(job_id)
        for kept in (self._deferred, self._released):
            for gone in [job_id for job_id in kept if job_id not in view.queue]:
                del kept[gone]
        return bool(due)

    def call(self, view: View, plan: Plan) -> None:
        """Request a call at the next release, and record why jobs wait."""
        if not self._deferred:
            return
        plan.wake_at(min(self._deferred.values()))
        for job in view.arrived:
            release = self._deferred.get(job.id)
            if release is not None:
                plan.hold(job, f"is deferred until {seconds(release)}, for the signal in {self._unit}", "instant")

    def adopt(self, former: Deferral | None) -> None:
        """Adopt the jobs of another object; jobs of one that defers none are released."""
        if former is not None:
            self._deferred, self._released = dict(former._deferred), dict(former._released)

    def in_serving_order(self, jobs: Iterable[Job]) -> Iterable[Job]:
        """Return jobs in the order of arrival, where a released job arrives when it is released."""
        return sorted(jobs, key=lambda job: self._released.get(job.id, job.submit_time)) if self._released else jobs

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
