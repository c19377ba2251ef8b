"""Rejections of jobs, by chance or size."""

import random
from dataclasses import dataclass

from batsched_py.api import Job, Plan, Scheduler, View, counted, option
from batsched_py.schedulers.in_order import start_in_order


@dataclass(frozen=True, slots=True)
class RejecterOptions:
    """Options of the jobs that are rejected; without any option, all."""

    probability: float = option(1.0, "of a job to be rejected, from 0 to 1", minimum=0, maximum=1)
    seed: int = option(0, "the same seed rejects the same jobs")
    larger_than: int = option(0, "reject only jobs of more hosts than this", minimum=0)


class Rejecter(Scheduler[RejecterOptions]):
    """Reject every job, or those that chance or size selects.

    The others run in order of arrival.
    """

    name = "rejecter"
    places_tasks = True
    source = "batsched's `rejecter`, and its `waiting_time_estimator`: rejected jobs never start."

    def setup(self, view: View) -> None:
        self.random = random.Random(self.options.seed)

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.arrived:
            why = self.refusal(job)
            if why is not None:
                plan.reject(job, why)
        start_in_order(view, plan)

    def estimate_wait(self, job: Job, view: View, plan: Plan) -> float | None:
        """Return None, for never, for a job that is certain to be rejected."""
        options = self.options
        if options.probability == 1 and job.size > options.larger_than:
            return None
        return super().estimate_wait(job, view, plan)

    def refusal(self, job: Job) -> str | None:
        """Return the reason of a rejection, or None; one random number is drawn for each job."""
        options = self.options
        if job.size <= options.larger_than:
            return None
        if self.random.random() >= options.probability:
            return None
        if options.probability < 1:
            return f"chance rejected it (probability {options.probability:g})"
        if not options.larger_than:
            return "every job is rejected"
        return f"needs more than {counted(options.larger_than, 'host')}"
