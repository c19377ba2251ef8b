"""First come, first served, without backfilling."""

from batsched_py.api import NoOptions, Plan, Scheduler, View, too_few


class Fcfs(Scheduler[NoOptions]):
    """Start jobs in arrival order; nobody overtakes."""

    name = "fcfs"
    source = "First come, first served, as every comparison begins; no backfilling (Feitelson and Rudolph, JSSPP 1995)."

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            hosts = plan.free.first(job.size)
            if hosts is None:
                plan.hold(job, too_few(job.size, len(plan.free)))
                return
            plan.start(job, hosts)
