"""An episode: one run of the session against the simulator, led by whoever answers its questions.

Nothing here waits in a thread or in a suspended call. The simulator is played turn by turn (`Simulation.turns`), and
the session answers in two halves (`Session.receive`, `Session.reply`). Between them stands the algorithm `Asking`,
which does not decide but leaves a question, and is called again once that has its answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from batsched_py.gym.actions import Actions, Decisions, Mask
from batsched_py.gym.question import Question
from batsched_py.model.platform import Platform
from batsched_py.model.workload import Workload
from batsched_py.results.records import JobRecord, Result
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.options import NoOptions
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.session.session import Session
from batsched_py.simulator.settings import Settings
from batsched_py.simulator.simulation import Simulation


class Asking(Scheduler[NoOptions]):
    """The algorithm of an episode: what it cannot decide without an answer, it leaves as a question."""

    name = "gym"

    #: Set by `asking`.
    actions: Actions
    window: int

    decisions: Decisions

    def __init__(self, options: NoOptions) -> None:
        super().__init__(options)
        self.needs_walltime = self.actions.needs_walltime
        #: The question that is open; None if nothing has to be decided now.
        self.question: Question | None = None
        #: The answer to it; None as long as there is none.
        self.answer: Any = None

    def setup(self, view: View) -> None:
        """Begin the decisions of the run."""
        self.decisions = self.actions.begin(view, self.window)

    def decide(self, view: View, plan: Plan) -> None:  # noqa: ARG002  (questions have the view)
        """Take the answer to the open question, if there is one, and find the next question."""
        if self.question is not None:
            self.decisions.take(self.question, self.answer, plan)
        self.question = self.decisions.next_question(plan)


def asking(actions: Actions, window: int) -> type[Asking]:
    """Return the algorithm that asks for these actions; a session makes the object."""
    return type("Asking", (Asking,), {"actions": actions, "window": window})


class Episode:
    """One run. Between two calls either a question is open, or it is over."""

    def __init__(
        self, platform: Platform, workload: Workload, settings: Settings, actions: Actions, window: int
    ) -> None:
        """Play until the first question. Errors are those of `simulate`, here as in `answer`."""
        self._session = Session(asking(actions, window))
        self._simulation = Simulation(platform, [workload], settings)
        self._turns = self._simulation.turns()
        #: Records of ended jobs that were fetched.
        self._fetched = 0
        #: The whole run; None as long as it lasts.
        self.result: Result | None = None
        self._session.receive(next(self._turns))
        self._asking = cast(Asking, self._session.scheduler)  # made anew in the first request, and in no other
        self._play()

    @property
    def question(self) -> Question:
        """The decision that is due; nothing when the run is over."""
        return self._asking.question or Question.nothing(self._session.view)

    @property
    def mask(self) -> Mask:
        """The answers that the question has."""
        return self._asking.decisions.mask(self.question)

    @property
    def now(self) -> float:
        """The simulated time, in seconds."""
        return self._session.now

    @property
    def rejections(self) -> dict[str, str]:
        """Job id -> why it was rejected."""
        return dict(self._session.rejections)

    def answer(self, action: Any) -> None:
        """Answer the open question, and play until the next one or to the end."""
        self._asking.answer = action
        self._session.decide_again()
        self._play()

    def newly_ended(self) -> Sequence[JobRecord]:
        """Return the jobs that have ended since the last call."""
        records = self._simulation.records_from(self._fetched)
        self._fetched += len(records)
        return records

    def _play(self) -> None:
        """Let both sides talk until something must be decided."""
        session, turns = self._session, self._turns
        while self._asking.question is None:
            try:
                request = turns.send(session.reply())
            except StopIteration as end:
                self.result = end.value
                return
            session.receive(request)
