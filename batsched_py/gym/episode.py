"""An episode: one run of the session against the simulator, controlled by the caller that answers its questions.

No thread or suspended call waits here. The simulator runs turn by turn (`Simulation.turns`), and the session answers in
two steps (`Session.receive`, `Session.reply`). The algorithm `Asking` does not decide: it stores a question, and is
called again with the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from batsched_py.gym.actions import Actions, Decisions, Mask
from batsched_py.gym.question import Question
from batsched_py.model.platform import Platform
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.results.records import JobRecord, Result
from batsched_py.runs.choice import Choice, make_session
from batsched_py.runs.run_description import Call
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.options import NoOptions
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.simulator.simulation import Simulation


class Asking(Scheduler[NoOptions]):
    """The algorithm of an episode, which stores a question for each decision that needs an answer."""

    name = "gym"

    #: Set by `asking`.
    actions: Actions
    window: int

    decisions: Decisions

    def __init__(self, options: NoOptions) -> None:
        super().__init__(options)
        self.needs_walltime = self.actions.needs_walltime
        #: The open question; None if no decision is required now.
        self.question: Question | None = None
        #: The answer to it; None before there is one.
        self.answer: Any = None

    def setup(self, view: View) -> None:
        """Begin the decisions of the run."""
        self.decisions = self.actions.begin(view, self.window)

    def decide(self, view: View, plan: Plan) -> None:  # noqa: ARG002  (questions have the view)
        """Apply the answer to the open question, if any, and determine the next question."""
        if self.question is not None:
            self.decisions.take(self.question, self.answer, plan)
        self.question = self.decisions.next_question(plan)


def asking(actions: Actions, window: int) -> type[Asking]:
    """Return the algorithm class for these actions; a session creates the object."""
    return type("Asking", (Asking,), {"actions": actions, "window": window})


class Episode:
    """One run. Between two calls either a question is open, or the run has ended."""

    def __init__(
        self, platform: Platform, workload: Workload, settings: Settings, actions: Actions, window: int
    ) -> None:
        """Simulate until the first question. Errors are those of `simulate`, also in `answer`."""
        #: When it began.
        self.call = Call()
        self._session = make_session(Choice("gym"), asking(actions, window))
        self._simulation = Simulation(platform, [workload], settings)
        self._turns = self._simulation.turns()
        #: Number of fetched records of ended jobs.
        self._fetched = 0
        #: The result of the run; None before its end.
        self.result: Result | None = None
        self._session.receive(next(self._turns))
        self._asking = cast(Asking, self._session.scheduler)  # created in the first request only
        self._play()

    @property
    def question(self) -> Question:
        """The current question; an empty one after the end of the run."""
        return self._asking.question or Question.nothing(self._session.view)

    @property
    def mask(self) -> Mask:
        """The mask of valid answers to the question."""
        return self._asking.decisions.mask(self.question)

    @property
    def now(self) -> float:
        """The simulated time, in seconds."""
        return self._session.now

    @property
    def rejections(self) -> dict[str, str]:
        """Job id -> reason of its rejection."""
        return dict(self._session.rejections)

    def answer(self, action: Any) -> None:
        """Answer the open question, and simulate until the next one or the end."""
        self._asking.answer = action
        self._session.decide_again()
        self._play()

    def newly_ended(self) -> Sequence[JobRecord]:
        """Return the jobs that have ended since the last call."""
        records = self._simulation.records_from(self._fetched)
        self._fetched += len(records)
        return records

    def _play(self) -> None:
        """Exchange messages until a decision is required."""
        session, turns = self._session, self._turns
        while self._asking.question is None:
            try:
                request = turns.send(session.reply())
            except StopIteration as end:
                self.result = end.value
                return
            session.receive(request)
