"""Greedy starts of every job that fits."""

from dataclasses import dataclass

from batsched_py.api import ORDERS, Line, Order, Placement, PlacementOptions, Plan, Scheduler, View, named, option
from batsched_py.planning.policies.ordering import Ties


@dataclass(frozen=True, slots=True)
class FillerOptions(PlacementOptions):
    """The order of the jobs, and their placement."""

    order: Order = named("fcfs", "which jobs are served first", ORDERS)
    ties: Ties = option("arrival", "which of two jobs with equal keys comes first: by arrival, or by id as a text")


class Filler(Scheduler[FillerOptions]):
    """Start every waiting job that fits, in an order; a large job may wait forever (no promise, no walltime)."""

    name = "filler"
    places_tasks = True
    foresight = "rehearsal"
    source = "List scheduling without reservations, batsched's `filler`: an upper bound on greed, not on fairness."

    def __init__(self, options: FillerOptions) -> None:
        super().__init__(options)
        self.line = Line(options.order.with_ties(options.ties))

    def setup(self, view: View) -> None:
        self.placement = Placement(self.options, view)

    def resume(self, former: "Filler", view: View) -> None:
        self.line.join(view.queue, view.now)

    def decide(self, view: View, plan: Plan) -> None:
        self.placement.refuse(view, plan)
        line, now, free = self.line, view.now, plan.free
        line.join(view.arrived, now)
        for job in line.jobs(view.queue, now) if view.hosts_changed else line.order.sorted(view.arrived, now):
            hosts = self.placement.hosts(job, free) if job.demand is None else self.placement.place(job, plan)
            if hosts is None:
                plan.hold(job, self.placement.why_not(job, free), "constraint")
            else:
                plan.start(job, hosts)
                free = plan.free
