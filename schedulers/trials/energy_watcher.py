"""Questions about the energy that was consumed."""

from dataclasses import dataclass
from typing import Literal

from batsched_py.api import Answer, Event, Plan, Scheduler, View, option
from batsched_py.schedulers.in_order import start_in_order

#: Joules by which an answer may be less than the one before: Batsim prints six decimals.
ROUNDING = 1e-6
#: Seconds; an answer comes at the instant of its question, which must not be due again.
SHORTEST = 0.1


@dataclass(frozen=True, slots=True)
class EnergyWatcherOptions:
    """Options of the questions, and of the jobs that run meanwhile."""

    at_once: Literal["all", "one"] = option("all", "how many jobs may run at once: all that find hosts, or one")
    interval: float = option(0.0, "seconds between two questions while jobs run; 0: ask when jobs come", minimum=0)

    def __post_init__(self) -> None:
        if 0 < self.interval < SHORTEST:
            raise ValueError(f"interval must be 0 or at least {SHORTEST:g}, not {self.interval!r}")


class EnergyWatcher(Scheduler[EnergyWatcherOptions]):
    """Ask how much energy was consumed, again and again.

    Jobs are started in order of arrival. If an answer is less than the one before, the run fails. The questions and
    their answers are in a recording (`--record`).
    """

    name = "energy_watcher"
    places_tasks = True
    source = "batsched's `energy_watcher` (with at_once=one), which tests the query `consumed_energy`."
    needs_energy = True

    def setup(self, view: View) -> None:
        #: Joules of the latest answer.
        self.joules = 0.0
        #: The instant of the next question; with an interval.
        self.next = 0.0
        #: A question is not answered yet: answers may overtake each other, so there is never a second one.
        self.asked = False
        #: A question is due.
        self.wanted = False

    def observe(self, event: Event, view: View) -> None:
        joules = event.consumed_energy if isinstance(event, Answer) else None
        if joules is None:
            return
        if joules < self.joules - ROUNDING:
            raise ValueError(f"{joules!r} J were consumed by now, and {self.joules!r} J before")
        self.joules = joules
        self.asked = False

    def decide(self, view: View, plan: Plan) -> None:
        if not self.options.interval:
            self.ask(plan, wanted=bool(view.arrived))
        start_in_order(view, plan, self.options.at_once)
        if self.options.interval and view.running:  # not while jobs wait for hosts that may never come back
            due = view.due(self.next)
            if due:
                self.next = view.now + self.options.interval
            plan.wake_at(self.next)
            self.ask(plan, wanted=due)

    def ask(self, plan: Plan, *, wanted: bool) -> None:
        """Ask, now or as soon as the latest question is answered."""
        self.wanted |= wanted
        if self.wanted and not self.asked:
            plan.ask_energy()
            self.asked, self.wanted = True, False
