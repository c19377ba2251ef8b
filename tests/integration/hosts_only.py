"""An algorithm that knows hosts only: jobs with demands have whole ones."""

from __future__ import annotations

from batsched_py.api import NoOptions, Plan, Scheduler, View


class HostsOnly(Scheduler[NoOptions]):
    """Start each job that fits."""

    name = "hosts_only"

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            hosts = view.free.first(job.size)
            if hosts is not None:
                plan.start(job, hosts)
