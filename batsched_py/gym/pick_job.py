"""Actions that pick the next job to start."""

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
    """Actions that pick one of the displayed jobs: it starts now, or as soon as hosts are free for it.

    There is no other question until it has started, as in RLScheduler (Zhang et al., SC 2020). An agent that always
    picks the first job produces the schedule of `fcfs`; with `backfilling`, that of `easy`.

    An action beyond the displayed jobs picks the last of them.
    """

    def space(self, shape: Shape) -> spaces.Space[Any]:
        """Return the space of job numbers."""
        return spaces.Discrete(shape.window)

    def begin(self, view: View, window: int) -> Decisions:
        """Begin a run."""
        return PickedJobs(Serving(self, view), view, window)


class PickedJobs(Decisions):
    """The decisions of a run in which jobs are picked one by one."""

    def __init__(self, serving: Serving, view: View, window: int) -> None:
        self._serving, self._view, self._window = serving, view, window
        #: The picked job that has not started.
        self._picked: Job | None = None

    def next_question(self, plan: Plan) -> Question | None:
        """Start the picked job if possible; return the next question if none is picked and some wait."""
        view, picked = self._view, self._picked
        self._serving.refuse(plan)
        if picked is not None and picked.id in view.queue and not self._serving.serve(picked, plan):
            return None
        self._picked = None
        return Question.about(view, self._window) if view.queue else None

    def mask(self, question: Question) -> Mask:
        """Return 1 for each displayed job."""
        mask = np.zeros(self._window, np.int8)
        mask[: len(question.jobs)] = 1
        return mask

    def take(self, question: Question, action: Any, plan: Plan) -> None:  # noqa: ARG002  (it starts at the next question)
        """Pick the job with this number."""
        self._picked = question.jobs[min(int(action), len(question.jobs) - 1)]
