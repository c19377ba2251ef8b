"""Greedy starts of every job that fits."""

from batsched_py.api import Placement, PlacementOptions, Plan, Scheduler, View


class Filler(Scheduler[PlacementOptions]):
    """Start every waiting job that fits, in arrival order; a large job may wait forever (no promise, no walltime)."""

    name = "filler"
    foresight = "rehearsal"
    source = "List scheduling without reservations, batsched's `filler`: an upper bound on greed, not on fairness."

    def setup(self, view: View) -> None:
        self.placement = Placement(self.options, view)

    def decide(self, view: View, plan: Plan) -> None:
        self.placement.refuse(view, plan)
        candidates = view.queue if view.hosts_changed else view.arrived
        free = plan.free
        for job in candidates:
            hosts = self.placement.hosts(job, free)
            if hosts is None:
                plan.hold(job, self.placement.why_not(job, free), "constraint")
            else:
                plan.start(job, hosts)
                free -= hosts
