"""Actions that pick a job, which is the next one to start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from batsched_py.gym.actions import Decisions, Mask
from batsched_py.gym.question import Question, Shape
from batsched_py.gym.serving import Serving, ServingActions
from batsched_py.model.job import Job
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View


@dataclass(frozen=True, slots=True)
class PickJob(ServingActions):
    """Pick one of the jobs that are shown: it starts now, or as soon as there are hosts for it.

    Until it has started no other question is asked, as in RLScheduler (Zhang et al., SC 2020). An agent that always
    picks the first job has the schedule of `fcfs`; with `backfilling`, that of `easy`.

    An action beyond the jobs that are shown picks the last of them.
    """

    def space(self, shape: Shape) -> spaces.Space[Any]:
        """Return the numbers of the jobs that are shown."""
        return spaces.Discrete(shape.window)

    def begin(self, view: View, window: int) -> Decisions:
        """Begin a run."""
        return PickedJobs(Serving(self, view), view, window)


class PickedJobs(Decisions):
    """The decisions of a run in which jobs are picked one by one."""

    def __init__(self, serving: Serving, view: View, window: int) -> None:
        self._serving, self._view, self._window = serving, view, window
        #: The job that was picked and has not started.
        self._picked: Job | None = None

    def next_question(self, plan: Plan) -> Question | None:
        """Start the picked job if that is possible; ask for the next one if none is picked and some wait."""
        view, picked = self._view, self._picked
        self._serving.refuse(plan)
        if picked is not None and picked.id in view.queue and not self._serving.serve(picked, plan):
            return None
        self._picked = None
        return Question.about(view, self._window) if view.queue else None

    def mask(self, question: Question) -> Mask:
        """Return a 1 for each job that is shown."""
        mask = np.zeros(self._window, np.int8)
        mask[: len(question.jobs)] = 1
        return mask

    def take(self, question: Question, action: Any, plan: Plan) -> None:  # noqa: ARG002  (it starts at the next question)
        """Pick the job of this number."""
        self._picked = question.jobs[min(int(action), len(question.jobs) - 1)]
