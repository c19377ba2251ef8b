"""First come, first served."""

from batsched_py.api import NoOptions, Plan, Scheduler, View


class Fcfs(Scheduler[NoOptions]):
    """Start jobs in arrival order; nobody overtakes."""

    name = "fcfs"
    source = "First come, first served, as every comparison begins; no backfilling (Feitelson and Rudolph, JSSPP 1995)."

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            hosts = plan.free.first(job.size)
            if hosts is None:
                plan.hold(job, f"needs {job.size} hosts, {len(plan.free)} are free")
                return
            plan.start(job, hosts)
