"""Service in a chosen order, without backfilling."""

from dataclasses import dataclass

from batsched_py.api import ORDERS, Line, Order, Placement, PlacementOptions, Plan, Scheduler, View, named


@dataclass(frozen=True, slots=True)
class PriorityOptions(PlacementOptions):
    """The order of the jobs, and their placement."""

    order: Order = named("fcfs", "who is served first", ORDERS)


class Priority(Scheduler[PriorityOptions]):
    """Start jobs in a chosen order; the first that does not fit blocks all others.

    The first job is determined at each decision: a job that arrives later, or whose key decreases with time, may come
    before one that has waited for hosts. Therefore, in most orders a job may wait forever.
    """

    name = "priority"
    places_tasks = True
    foresight = "rehearsal"
    source = (
        "List scheduling (Graham, SIAM Journal on Applied Mathematics 17(2), 1969) in the order of a priority function;"
        " without backfilling as in Carastan-Santos and de Camargo, SC'17"
    )

    def __init__(self, options: PriorityOptions) -> None:
        super().__init__(options)
        self.line = Line(options.order)

    def setup(self, view: View) -> None:
        self.placement = Placement(self.options, view)

    def resume(self, former: "Priority", view: View) -> None:
        self.line.join(view.queue, view.now)

    def decide(self, view: View, plan: Plan) -> None:
        self.placement.refuse(view, plan)
        self.line.join(view.arrived, view.now)
        free = plan.free
        if not free and not view.part:
            return
        for job in self.line.jobs(view.queue, view.now):
            hosts = self.placement.hosts(job, free) if job.demand is None else self.placement.place(job, plan)
            if hosts is None:
                plan.hold(job, self.placement.why_not(job, free), "constraint")
                return
            plan.start(job, hosts)
            free = plan.free
