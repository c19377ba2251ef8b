"""Submissions of the algorithm's own jobs."""

from dataclasses import dataclass
from typing import Literal

from batsched_py.api import Job, OptionError, Plan, Scheduler, View, delay, option
from batsched_py.schedulers.in_order import start_in_order


@dataclass(frozen=True, slots=True)
class SubmitterOptions:
    """Options of the jobs that are submitted."""

    jobs: int = option(10, "how many", minimum=0)
    size: int = option(1, "hosts of each", minimum=1)
    seconds: float = option(10.0, "how long the first runs", minimum=0.001)
    longer: float = option(0.0, "seconds that each runs longer than the one before", minimum=0)
    slack: float | None = option(5.0, "seconds from the end of a run to its walltime; none: no walltime", minimum=0)
    interval: float = option(0.0, "seconds between two submissions; 0: when no job waits and a host is free", minimum=0)
    profiles: Literal["own", "shared"] = option("own", "a profile for each job, or one for all of a length")
    metadata: bool = option(False, "attach a text to each job (not in v1.4)")


class Submitter(Scheduler[SubmitterOptions]):
    """Submit the algorithm's own jobs while the simulation runs.

    All jobs are started in order of arrival. Its own jobs are delays, in the workload `dynamic`. The next one is
    submitted when no job waits and a host is free, or at an interval. After the last, registration is finished. It
    works with and without acknowledgement. Batsim forgets a profile with the first of its jobs that ends:
    `profiles=shared` needs its option --enable-profile-reuse.
    """

    name = "submitter"
    places_tasks = True
    source = "batsched's `submitter`, which tests dynamic jobs."
    needs_dynamic_jobs = True

    def setup(self, view: View) -> None:
        if self.options.size > len(view.all_hosts):
            raise OptionError(f"option size of {self.name}: must be at most {len(view.all_hosts)}, the hosts there are")
        self.submitted = 0
        #: The instant of the next submission; with an interval.
        self.next = 0.0

    def decide(self, view: View, plan: Plan) -> None:
        start_in_order(view, plan)
        if self.submitted < self.options.jobs:
            self.submit_due(view, plan)
            start_in_order(view, plan)
        if not view.registration_open:
            return
        if self.submitted == self.options.jobs:
            plan.finish_registration()
        elif self.options.interval:
            plan.wake_at(self.next)

    def submit_due(self, view: View, plan: Plan) -> None:
        """Submit the jobs that are due, or without an interval one if a host would stay idle."""
        if not self.options.interval:
            if plan.free and not view.queue:
                self.submit(plan)
            return
        while self.submitted < self.options.jobs and view.due(self.next):
            self.submit(plan)
            self.next += self.options.interval

    def submit(self, plan: Plan) -> None:
        """Submit the next job."""
        options, number = self.options, self.submitted
        seconds = options.seconds + number * options.longer
        profile = f"delay_{seconds:f}" if options.profiles == "shared" else f"delay of {number}"
        walltime = None if options.slack is None else seconds + options.slack
        job = Job.create(f"dynamic!{number}", size=options.size, profile=profile, walltime=walltime)
        plan.submit(job, delay(seconds))
        if options.metadata:
            plan.set_metadata(job, f"number {number} of submitter")
        self.submitted += 1
