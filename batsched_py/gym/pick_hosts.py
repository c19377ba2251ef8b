"""Actions that pick a job and the preferred hosts for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from batsched_py.gym.actions import Decisions
from batsched_py.gym.pick_job import PickedJobs, PickJob
from batsched_py.gym.question import Question, Shape
from batsched_py.gym.serving import Serving, ServingActions
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View


@dataclass(frozen=True, slots=True)
class PickJobAndHosts(PickJob):
    """Actions that pick a job, as `PickJob`, and score the hosts: it runs on the free hosts with the highest scores.

    Hosts with equal scores are used in ascending order, so that a bitmap of hosts is also a valid score. If the job has
    to wait, its scores are applied at its start. Every action is valid. The selection of the placement determines the
    hosts of jobs that overtake it. The mask shows the available jobs.
    """

    def space(self, shape: Shape) -> spaces.Space[Any]:
        """Return the space of job numbers, and of a score from 0 to 1 for each host."""
        scores = spaces.Box(0.0, 1.0, (shape.hosts,), np.float32)
        return spaces.Dict({"job": spaces.Discrete(shape.window), "hosts": scores})

    def begin(self, view: View, window: int) -> Decisions:
        """Begin a run."""
        return PickedJobsAndHosts(ScoredServing(self, view), view, window)


class ScoredServing(Serving):
    """The serving of jobs on the free hosts with the highest scores."""

    def __init__(self, actions: ServingActions, view: View) -> None:
        super().__init__(actions, view)
        #: Scores by number of the host.
        self.scores: NDArray[np.float32] = np.zeros(len(view.hosts), np.float32)

    def hosts(self, job: Job, free: HostSet) -> HostSet | None:
        """Return the best hosts for the job; None if it has to wait."""
        usable = np.fromiter(free & self.placement.eligible_now(job), int)
        if len(usable) < job.size:
            return None
        best = np.argsort(-self.scores[usable], kind="stable")[: job.size]
        return HostSet.from_ids(usable[best].tolist())


class PickedJobsAndHosts(PickedJobs):
    """The decisions of a run in which each picked job has scores of hosts."""

    def __init__(self, serving: ScoredServing, view: View, window: int) -> None:
        super().__init__(serving, view, window)
        self._scored = serving

    def take(self, question: Question, action: Any, plan: Plan) -> None:
        """Pick the job, and keep the scores for its start."""
        super().take(question, action["job"], plan)
        self._scored.scores = np.asarray(action["hosts"], np.float32)
