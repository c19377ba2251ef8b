"""A failure on purpose."""

import os
import signal
import sys
from dataclasses import dataclass
from typing import Literal

from batsched_py.api import Event, Plan, Scheduler, SimulationEnds, View, option
from batsched_py.schedulers.in_order import start_in_order


@dataclass(frozen=True, slots=True)
class CrasherOptions:
    """Options of the failure: its kind, and its message."""

    how: Literal["raise", "plan", "exit", "kill", "hang"] = option(
        "raise", "raise an error, plan the impossible, exit, kill the own process, or never answer"
    )
    message: int = option(1, "which message to fail on, from 1; 0: the one that ends the simulation", minimum=0)

    def __post_init__(self) -> None:
        if self.how == "plan" and not self.message:
            raise ValueError("how=plan: the message that ends the simulation asks for no plan; message must not be 0")


class Crasher(Scheduler[CrasherOptions]):
    """Fail on purpose: a test of what runs simulations.

    It is not for production. It fails at the first message, or at one of your choice; until then, it starts jobs in
    order of arrival, and a simulation that ends before succeeds.
    """

    name = "crasher"
    places_tasks = True
    source = "batsched's `crasher`, which tests those who run Batsim and a decision process."

    def setup(self, view: View) -> None:
        self.messages = 0

    def observe(self, event: Event, view: View) -> None:
        if isinstance(event, SimulationEnds) and not self.options.message:
            self.fail(view)

    def decide(self, view: View, plan: Plan) -> None:
        self.messages += 1
        if self.messages == self.options.message:
            if self.options.how == "plan":
                plan.wake_at(view.now)
            self.fail(view)
        start_in_order(view, plan)

    def fail(self, view: View) -> None:
        """Fail in the way that was asked for; never returns."""
        how = self.options.how
        if how == "raise":
            raise RuntimeError(f"failed on purpose at t={view.now:g}")
        if how == "exit":
            sys.exit("failed on purpose")
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        while True:  # hang: alive, and silent
            signal.pause()
