"""Actions that pick a job and say on which hosts it had best run."""

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
    """Pick a job, as `PickJob`, and score the hosts: it gets the free hosts with the highest scores.

    Of hosts with the same score it gets those of the lowest numbers, so that a bitmap of hosts is a score, too. If the
    job has to wait, its scores count when it starts. Every action can be obeyed. Jobs that overtake it get hosts by the
    selection of the placement. The mask says which jobs there are.
    """

    def space(self, shape: Shape) -> spaces.Space[Any]:
        """Return the numbers of the jobs that are shown, and a score from 0 to 1 for each host."""
        scores = spaces.Box(0.0, 1.0, (shape.hosts,), np.float32)
        return spaces.Dict({"job": spaces.Discrete(shape.window), "hosts": scores})

    def begin(self, view: View, window: int) -> Decisions:
        """Begin a run."""
        return PickedJobsAndHosts(ScoredServing(self, view), view, window)


class ScoredServing(Serving):
    """Serving on the free hosts with the highest scores."""

    def __init__(self, actions: ServingActions, view: View) -> None:
        super().__init__(actions, view)
        #: By number of the host.
        self.scores: NDArray[np.float32] = np.zeros(len(view.hosts), np.float32)

    def hosts(self, job: Job, free: HostSet) -> HostSet | None:
        """Return the best hosts on which the job may run; None if it has to wait."""
        usable = np.fromiter(free & self.placement.eligible_now(job), int)
        if len(usable) < job.size:
            return None
        best = np.argsort(-self.scores[usable], kind="stable")[: job.size]
        return HostSet.from_ids(usable[best].tolist())


class PickedJobsAndHosts(PickedJobs):
    """The decisions of a run in which each picked job comes with scores of hosts."""

    def __init__(self, serving: ScoredServing, view: View, window: int) -> None:
        super().__init__(serving, view, window)
        self._scored = serving

    def take(self, question: Question, action: Any, plan: Plan) -> None:
        """Pick the job, and keep the scores for its start."""
        super().take(question, action["job"], plan)
        self._scored.scores = np.asarray(action["hosts"], np.float32)
