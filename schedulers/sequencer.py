"""Jobs one at a time, each alone on the machine."""

from dataclasses import dataclass

from batsched_py.api import ORDERS, Line, Order, Placement, PlacementOptions, Plan, Scheduler, View, named


@dataclass(frozen=True, slots=True)
class SequencerOptions(PlacementOptions):
    """The order of the jobs, and their placement."""

    order: Order = named("fcfs", "who is served first", ORDERS)


class Sequencer(Scheduler[SequencerOptions]):
    """Run one job at a time, in order of arrival or another."""

    name = "sequencer"
    places_tasks = True
    foresight = "rehearsal"
    source = "batsched's `sequencer`: each job alone on the machine, to see what it does by itself."

    def setup(self, view: View) -> None:
        self.line = Line(self.options.order)
        self.placement = Placement(self.options, view)

    def resume(self, former: "Sequencer", view: View) -> None:
        self.line.join(view.queue, view.now)

    def decide(self, view: View, plan: Plan) -> None:
        self.placement.refuse(view, plan)
        self.line.join(view.arrived, view.now)
        if view.running:
            for job in view.arrived:
                plan.hold(job, "another job runs, and each has the machine for itself")
            return
        for job in self.line.jobs(view.queue, view.now):
            hosts = self.placement.hosts(job, plan.free) if job.demand is None else self.placement.place(job, plan)
            if hosts is None:
                plan.hold(
                    job, self.placement.why_not(job, plan.free), "constraint" if job.demand is None else "resource"
                )
            else:
                plan.start(job, hosts)
            return
