"""Jobs of pybatsim's object layer, and their list."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from batsched_py.pybatsim.hook_job import HookJob, JobState
from batsched_py.pybatsim.objects.allocation import ResourceAllocation
from batsched_py.pybatsim.objects.lists import ElementList, check, filter_list

#: The states of jobs that have ended.
_COMPLETED = (
    JobState.COMPLETED_KILLED,
    JobState.COMPLETED_WALLTIME_REACHED,
    JobState.COMPLETED_SUCCESSFULLY,
    JobState.COMPLETED_FAILED,
)
#: The names of the kinds of jobs, which are attributes of them.
_KINDS = ("runnable", "running", "open", "completed", "rejected", "scheduled", "killed", "submitted")


def _passed_on(name: str) -> Any:
    """Return a property that is an attribute of the job for hooks."""

    def read(self: ObjectJob) -> Any:
        return getattr(self.batsim_job, name)

    def write(self: ObjectJob, value: Any) -> None:
        setattr(self.batsim_job, name, value)

    return property(read, write)


class ObjectJob:
    """A job with methods (`batsim.sched.Job`); other attributes are those of the job for hooks."""

    State: ClassVar[type[JobState]] = JobState
    id: str = _passed_on("id")
    submit_time: float = _passed_on("submit_time")
    requested_time: float = _passed_on("requested_time")
    requested_resources: int = _passed_on("requested_resources")
    finish_time: float | None = _passed_on("finish_time")
    return_code: int | None = _passed_on("return_code")

    def __init__(self, number: int, batsim_job: HookJob, scheduler: Any, parent_job: Any = None) -> None:
        self.number = number
        self.batsim_job = batsim_job
        self.scheduler = scheduler
        self.parent_job = parent_job
        self.scheduled = False
        self.killed = False
        self.rejected = False
        self.rejected_reason: str | None = None
        self.submitted = True
        self.allocation: ResourceAllocation | None = None
        self.start_time: float | None = None
        self.comment: Any = None
        #: Messages from the job.
        self.messages: list[Any] = []
        #: The workload of a job that the scheduler has submitted.
        self.workload_description: Any = None
        self._changed_state: JobState | None = None
        self._dependencies: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "batsim_job":
            raise AttributeError(f"job.{name}: it is unknown here", name=name, obj=self)
        return getattr(self.batsim_job, name)

    @property
    def state(self) -> JobState:
        """The state that was set by `change_state`, or Batsim's."""
        return self.batsim_job.job_state if self._changed_state is None else self._changed_state

    @property
    def completed(self) -> bool:
        """Whether it has ended."""
        return self.state in _COMPLETED

    @property
    def success(self) -> bool:
        """Whether it has ended well."""
        return self.state is JobState.COMPLETED_SUCCESSFULLY

    @property
    def failure(self) -> bool:
        """Whether it has ended otherwise."""
        return self.completed and not self.success

    @property
    def open(self) -> bool:
        """Whether it waits."""
        return not (self.scheduled or self.rejected or self.killed or self.completed)

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self.state is JobState.RUNNING or (self.scheduled and not self.completed)

    @property
    def runnable(self) -> bool:
        """Whether it waits, and nothing that it depends on is missing."""
        return self.open and self.dependencies_fulfilled

    @property
    def is_dynamic_job(self) -> bool:
        """Whether the scheduler has submitted it."""
        return self.workload_description is not None

    @property
    def dependencies(self) -> list[Any]:
        """Ids of jobs: the member `deps` of the job, and those added since."""
        return [*self.get_job_data("deps", ()), *self._dependencies]

    @property
    def resolved_dependencies(self) -> list[Any]:
        """The jobs that it depends on; an id for each that was not submitted."""
        ids = [one if "!" in one else f"{self.batsim_job.workload}!{one}" for one in map(str, self.dependencies)]
        jobs = self.scheduler.jobs
        known = {one: jobs[one] for one in ids if jobs.knows(one)}
        return [known.get(one, one) for one in ids]

    @property
    def dependencies_fulfilled(self) -> bool:
        """Whether all jobs that it depends on have ended."""
        return all(isinstance(one, ObjectJob) and one.completed for one in self.resolved_dependencies)

    def add_dependency(self, job: str) -> None:
        """Let it wait for a job, by its id."""
        check(self.open, f"{self.id} is not open")
        self._dependencies.append(job)

    def remove_dependency(self, job: str) -> None:
        """Do not wait for a job any more."""
        check(self.open, f"{self.id} is not open")
        self._dependencies.remove(job)

    def get_job_data(self, key: str, default: Any = None) -> Any:
        """Return a member of the job as Batsim sent it, or an attribute."""
        return self.batsim_job.json_dict.get(key, getattr(self.batsim_job, key, default))

    def fits_in_frame(self, remaining_time: float, num_resources: int) -> bool:
        """Return whether so many seconds and hosts are enough."""
        job = self.batsim_job
        return remaining_time >= job.requested_time and num_resources >= job.requested_resources

    def reserve(self, resource: Any) -> None:
        """Reserve resources, or an allocation, for the job."""
        check(self.open, f"{self.id} is not open")
        check(self.allocation is None, f"{self.id} has an allocation")
        if isinstance(resource, ResourceAllocation):
            resource.assign(self)
            self.allocation = resource
        else:
            now, walltime = self.scheduler.time, self.batsim_job.requested_time
            self.allocation = ResourceAllocation(now, walltime, resource, self)

    def free(self) -> None:
        """Give up the allocation of a job that has not started."""
        check(self.allocation is not None and not self.scheduled, f"{self.id} has no allocation, or runs")
        if self.allocation is not None:
            self.allocation.job = None
            self.allocation.remove_all_resources()
            self.allocation = None

    def schedule(self, resource: Any = None) -> None:
        """Start the job on resources, or on those of its allocation; at its start if that is in the future."""
        check(self.open, f"{self.id} is not open")
        if resource:
            self.reserve(resource)
        allocation, scheduler, job = self.allocation, self.scheduler, self.batsim_job
        if allocation is None:
            check(False, f"{self.id} has no allocation")
            return
        if job.requested_resources < len(allocation):
            scheduler.warn("{id} is postponed: its allocation has more hosts", id=job.id, type="postponed")
            return
        if not allocation.fits_job_for_remaining_time(self):
            scheduler.fatal("{id} does not fit into what remains of its allocation", id=job.id)
        if allocation.start_time > scheduler.time:
            scheduler.run_scheduler_at(allocation.start_time)
            return
        allocation.allocate(scheduler, range(job.requested_resources))
        hosts = [one.id for one in allocation.active]
        if not scheduler.has_resource_sharing_on_compute and any(one.num_active != 1 for one in allocation.active):
            scheduler.fatal("{id}: a host is in use", id=job.id)
        scheduler._batsim.start_jobs([job], {job.id: hosts})
        scheduler.info("{id} was started", id=job.id, type="job_scheduled")
        self.scheduled, self.start_time = True, scheduler.time

    def reject(self, reason: str = "") -> None:
        """Reject the job."""
        check(self.open, f"{self.id} is not open")
        self.rejected_reason = reason
        self.scheduler._batsim.reject_jobs([self.batsim_job])
        self.scheduler.info("{id} was rejected: {reason}", id=self.id, reason=reason, type="job_rejection")
        self.rejected = True

    def kill(self) -> None:
        """Kill the job."""
        check(self.running and not self.killed, f"{self.id} does not run, or was killed")
        self.scheduler._batsim.kill_jobs([self.batsim_job])
        self.killed = True

    def send(self, message: Any) -> None:
        """Send a message to the job."""
        check(self.running, f"{self.id} does not run")
        self.scheduler._batsim.send_message_to_job(self.batsim_job, message)

    def change_state(self, state: JobState, return_code: int | None = None) -> None:
        """Change Batsim's record of the job."""
        self.scheduler._batsim.change_job_state(self.batsim_job, state)
        self._changed_state = state
        if state is JobState.RUNNING:
            self.start_time, self.scheduled = self.scheduler.time, True
        elif state in _COMPLETED:
            self.batsim_job.finish_time = self.scheduler.time
            self.batsim_job.return_code = return_code or 0 if self.success else 1

    def complete(self) -> None:
        """Free the resources of a job that has ended, for the scheduler."""
        if self.allocation is not None and self.allocation.allocated:
            self.allocation.free()

    def __str__(self) -> str:
        return f"<Job {self.id}: {self.state.name}>"


class JobList(ElementList):
    """Jobs by their states (`batsim.sched.Jobs`)."""

    def __init__(self, from_list: Any = ()) -> None:
        super().__init__(from_list)
        #: Jobs that may be open: one that is not open is never open again.
        self._maybe_open = dict(self._data)

    def add(self, element: Any) -> None:
        """Append a job."""
        super().add(element)
        self._maybe_open[element] = None

    def remove(self, element: Any) -> None:
        """Remove a job."""
        super().remove(element)
        self._maybe_open.pop(element, None)

    @property
    def open(self) -> Self:
        """Jobs that wait."""
        self._maybe_open = {job: None for job in self._maybe_open if job.open}
        return self.create(self._maybe_open)

    @property
    def runnable(self) -> Self:
        """Jobs that wait for no other job."""
        return self.create(job for job in self.open if job.dependencies_fulfilled)

    def __getattr__(self, name: str) -> Self:
        if name not in _KINDS:
            raise AttributeError(f"jobs.{name}: it is unknown here", name=name, obj=self)
        return self.create(job for job in self._data if getattr(job, name))

    @property
    def dynamic_job(self) -> Self:
        """Jobs that the scheduler has submitted."""
        return self.create(job for job in self._data if job.is_dynamic_job)

    @property
    def static_job(self) -> Self:
        """Jobs of the workloads."""
        return self.create(job for job in self._data if not job.is_dynamic_job)

    def knows(self, job_id: str) -> bool:
        """Return whether there is a job with this id."""
        return job_id in self._by_id()

    def filter(self, *args: Any, **kwargs: Any) -> Self:
        """Return the jobs of any of the kinds that are True (`open=True`), or all, that pass: see `filter_list`."""
        kinds = [kind for kind in (*_KINDS, "dynamic_job", "static_job") if kwargs.pop(kind, False)]
        wanted = [getattr(self, kind) for kind in kinds]
        data = [job for job in self._data if not wanted or any(job in kind for kind in wanted)]
        return self.create(filter_list(data, *args, **kwargs))
