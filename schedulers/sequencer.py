"""One job at a time."""

from batsched_py.api import NoOptions, Plan, Scheduler, View
from schedulers.in_order import start_in_order


class Sequencer(Scheduler[NoOptions]):
    """Run one job at a time, in order of arrival."""

    name = "sequencer"
    source = "batsched's `sequencer`: each job alone on the machine, to see what it does by itself."

    def decide(self, view: View, plan: Plan) -> None:
        start_in_order(view, plan, "one")
