"""The submission of jobs that follow others, each when the other one was submitted or has ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.model.feedback import Change, SubmittedAfter, check_order, submitted_after
from batsched_py.model.job import Job
from batsched_py.model.workload import Workload
from batsched_py.reading.faults import FieldError
from batsched_py.simulator.context import Context
from batsched_py.simulator.time.event_queue import RANK_SUBMISSION
from batsched_py.text.display import displayed


class FollowingJobs:
    """The jobs of all workloads that follow others and have not been submitted."""

    def __init__(
        self, context: Context, names: Sequence[str], workloads: Sequence[Workload], submit: Callable[[int, Job], None]
    ) -> None:
        """Take the workloads and their names; `submit` receives the number of the workload and the job.

        WorkloadError for a job that cannot follow the one that it names.
        """
        self._context, self._submit = context, submit
        #: Id of a job, and its change -> the jobs that follow: the number of the workload, the job, and its delay.
        self._waiting = defaultdict[tuple[str, Change], list[tuple[int, Job, float]]](list)
        #: The workloads without these jobs.
        self.others: list[Sequence[Job]] = []
        self.left = 0
        for number, (name, workload) in enumerate(zip(names, workloads, strict=True)):
            links = _links(workload)
            self.left += len(links)
            self.others.append([job for job in workload.jobs if job.id not in links] if links else workload.jobs)
            for job, link in links.values():
                self._waiting[f"{name}!{link.job}", link.when].append((number, job, link.delay))

    def announce(self, job_id: str, change: Change) -> None:
        """Schedule the submission of the jobs that follow this change of a job."""
        queue = self._context.queue
        for number, job, delay in self._waiting.pop((job_id, change), ()):
            queue.at(queue.now + delay, RANK_SUBMISSION, self._release, (number, job))

    def _release(self, one: tuple[int, Job]) -> None:
        number, job = one
        now = self._context.queue.now
        self.left -= 1
        self._submit(number, replace(job, submit_time=now, members={**job.members, "subtime": now}))


def _links(workload: Workload) -> Mapping[str, tuple[Job, SubmittedAfter]]:
    """Return the jobs of a workload that follow others, by name. WorkloadError."""
    links = dict[str, tuple[Job, SubmittedAfter]]()
    by_name = dict[str, Job]()
    for job in workload.jobs:
        by_name[job.id] = job
        try:
            link = submitted_after(job)
            if link is not None:
                check_order(job, by_name.get(link.job))
                links[job.id] = job, link
        except FieldError as error:
            place = f"job {displayed(job.id)}.{error.path}"
            raise WorkloadError(workload.source, place, error.rule) from None
    return links
