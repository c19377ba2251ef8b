"""The submission of the tasks of a workflow, each when those before it have ended."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Final

from batsched_py.errors import WorkloadError
from batsched_py.model.job import Job
from batsched_py.model.profile import Profile
from batsched_py.model.workload import Workload
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.profiles import ProfileStore
from batsched_py.simulator.time.event_queue import RANK_SUBMISSION
from batsched_py.simulator.wire.rounding import wire_job
from batsched_py.text.display import displayed

# As Batsim does: a task becomes a delay job with the number of its submission as name, a profile of its own, and a
# walltime 10 s longer than its run time. The first tasks are submitted in the order of their ids as texts, all others
# when their last parent has ended, in whatever state, in the order of the file.

#: Seconds by which the walltime is longer than the run time.
MARGIN: Final = 10.0


class WorkflowSubmitter:
    """The tasks of one workflow.

    Attributes:
        count: the number of its tasks.
        over: True after no further task will be submitted.
    """

    def __init__(
        self,
        context: Context,
        name: str,
        workload: Workload,
        profiles: ProfileStore,
        *,
        submit: Callable[[Job, Profile], None],
        finish: Callable[[], None],
    ) -> None:
        """Take the name of the workload; `finish` is called when no task is left."""
        assert workload.workflow is not None  # noqa: S101  # the caller has looked
        self._context, self._name, self._source, self._workflow = context, name, workload.source, workload.workflow
        self._profiles, self._submit, self._finish = profiles, submit, finish
        self._limit = context.settings.workflow_jobs_limit
        self.count = len(self._workflow.tasks)
        self.over = False
        #: Tasks that may be submitted; tasks that were; id of a job -> its task, until it has ended.
        self._ready: deque[str] = deque()
        self._submitted: set[str] = set()
        self._running: dict[str, str] = {}
        #: Task -> ends of tasks before it.
        self._ended = Counter[str]()

    def start(self) -> None:
        """Schedule the first tasks."""
        self._context.queue.at(self._workflow.start or 0.0, RANK_SUBMISSION, self._begin, None)

    def end(self, job_id: str) -> None:
        """Count the end of a job, and submit the tasks that have waited for it; WorkloadError where Batsim stops."""
        task = self._running.pop(job_id, None)
        if task is None:
            return
        children = self._workflow.children.get(task, ())
        self._ended.update(children)
        self._ready += [child for child in children if self._ended[child] == self._workflow.tasks[child].parents]
        self._submit_ready()

    def _begin(self, _: None) -> None:
        self._ready += sorted(name for name, task in self._workflow.tasks.items() if not task.parents)
        self._submit_ready()

    def _submit_ready(self) -> None:
        while self._ready and (not self._limit or len(self._running) < self._limit):
            self._submit_task(self._ready.popleft())
        if not self._running and not self.over:
            self.over = True
            self._finish()

    def _submit_task(self, name: str) -> None:
        if name in self._submitted:
            rule = "is submitted twice, because an edge to it is given twice: Batsim stops"
            raise WorkloadError(self._source, f"job {displayed(name)}", rule)
        task, profile_name = self._workflow.tasks[name], f"{self._name}_{name}"
        profile = self._profiles.add(self._name, profile_name, {"type": "delay", "delay": task.runtime})
        self._profiles.need(self._name, profile_name)
        job_id = f"{self._name}!{len(self._submitted)}"
        now, walltime = self._context.queue.now, task.runtime + MARGIN
        members = {"subtime": now, "walltime": walltime, "res": task.size, "profile": profile_name}
        job = wire_job(Job("", now, task.size, walltime, profile_name, members), job_id)
        self._submitted.add(name)
        self._running[job_id] = name
        self._submit(job, profile)
        if self._context.store is not None:
            self._context.store.write([(job, profile)])
