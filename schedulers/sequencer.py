"""Jobs one at a time, each alone on the machine."""

from dataclasses import dataclass

from batsched_py.api import ORDERS, Line, Order, Plan, Scheduler, View, counted, named


@dataclass(frozen=True, slots=True)
class SequencerOptions:
    """The order of the jobs."""

    order: Order = named("fcfs", "who is served first", ORDERS)


class Sequencer(Scheduler[SequencerOptions]):
    """Run one job at a time, in order of arrival or another."""

    name = "sequencer"
    source = "batsched's `sequencer`: each job alone on the machine, to see what it does by itself."

    def setup(self, view: View) -> None:
        self.line = Line(self.options.order)

    def decide(self, view: View, plan: Plan) -> None:
        self.line.join(view.arrived, view.now)
        if view.running:
            for job in view.arrived:
                plan.hold(job, "another job runs, and each has the machine for itself")
            return
        for job in self.line.jobs(view.queue, view.now):
            hosts = plan.free.first(job.size)
            if hosts is None:
                plan.hold(job, f"needs {counted(job.size, 'host')}, {len(plan.free)} can be used")
            else:
                plan.start(job, hosts)
            return
