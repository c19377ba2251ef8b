"""First come, first served, without backfilling."""

from batsched_py.api import Placement, PlacementOptions, Plan, Scheduler, View

__all__ = ["Fcfs"]


class Fcfs(Scheduler[PlacementOptions]):
    """Start jobs in arrival order; no job overtakes another."""

    name = "fcfs"
    places_tasks = True
    foresight = "rehearsal"
    source = "First come, first served, as every comparison begins; no backfilling (Feitelson and Rudolph, JSSPP 1995)."

    def setup(self, view: View) -> None:
        self.placement = Placement(self.options, view)

    def decide(self, view: View, plan: Plan) -> None:
        self.placement.refuse(view, plan)
        for job in view.queue:
            hosts = self.placement.hosts(job, plan.free) if job.demand is None else self.placement.place(job, plan)
            if hosts is None:
                plan.hold(
                    job, self.placement.why_not(job, plan.free), "constraint" if job.demand is None else "resource"
                )
                return
            plan.start(job, hosts)
