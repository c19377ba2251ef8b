"""Fill whatever is free."""

from batsched_py.api import NoOptions, Plan, Scheduler, View


class Filler(Scheduler[NoOptions]):
    """Start every waiting job that fits, in arrival order; a large job may wait for ever (no promise, no walltime)."""

    name = "filler"
    source = "List scheduling without reservations, batsched's `filler`: an upper bound on greed, not on fairness."

    def decide(self, view: View, plan: Plan) -> None:
        candidates = view.queue if view.hosts_changed else view.arrived
        free = plan.free
        for job in candidates:
            hosts = free.first(job.size)
            if hosts is None:
                plan.hold(job, f"needs {job.size} hosts, {len(free)} are free")
            else:
                plan.start(job, hosts)
                free -= hosts
