"""Allocations: resources for a job, from an instant on, for its walltime."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from batsched_py.pybatsim.objects.lists import check, just_after
from batsched_py.pybatsim.objects.resources import AllocatedResource, HostResource

#: The rule for changes.
_UNUSED = "the allocation is or was in use"


class ResourceAllocation:
    """A reservation of resources, which a job may use (`batsim.sched.Allocation`)."""

    def __init__(self, start_time: float, walltime: float | None = None, resources: Any = (), job: Any = None) -> None:
        check(start_time >= 0, "an allocation starts at 0 or later")
        self.job: Any = None
        self.resources: list[Any] = []
        self.special_resources: list[Any] = []
        #: The hosts that the job uses, in order.
        self.active: dict[Any, None] = {}
        self.allocated = False
        self.previously_allocated = False
        self._scheduler: Any = None
        self._start = start_time
        self._walltime = job.requested_time if walltime is None and job is not None else walltime
        self.end_time: float | None = None
        self._set_end()
        for resource in [resources] if isinstance(resources, AllocatedResource) else resources:
            self.add_resource(resource)
        if job is not None:
            self.assign(job)

    def _set_end(self) -> None:
        self._end = self._start + (self._walltime or float("inf"))
        #: When the next allocation of its resources can start.
        self.reusable = just_after(self._end, AllocatedResource.TIME_DELTA)

    def _check_unused(self) -> None:
        check(not self.allocated and not self.previously_allocated, _UNUSED)

    @property
    def start_time(self) -> float:
        """The start."""
        return self._start

    @start_time.setter
    def start_time(self, value: float) -> None:
        self._check_unused()
        self._start = value
        self._set_end()
        for resource in [*self.resources, *self.special_resources]:
            resource.note_starts()

    @property
    def walltime(self) -> float | None:
        """The duration in seconds; None if it is not limited."""
        return self._walltime

    @walltime.setter
    def walltime(self, value: float) -> None:
        self._check_unused()
        check(value > 0, "the walltime must be greater than 0")
        self._walltime = value
        self._set_end()

    @property
    def estimated_end_time(self) -> float:
        """The end, or the latest end if it has not ended."""
        return self._end if self.end_time is None else self.end_time

    @property
    def allocated_resources(self) -> list[Any]:
        """The hosts that the job uses."""
        return list(self.active)

    def starts_in_future(self, scheduler: Any) -> bool:
        """Return whether it starts later than now."""
        later: bool = self.start_time > scheduler.time
        return later

    def started_in_past(self, scheduler: Any) -> bool:
        """Return whether its start is over."""
        earlier: bool = self.start_time < scheduler.time
        return earlier

    def starts_now(self, scheduler: Any) -> bool:
        """Return whether it starts now."""
        same: bool = self.start_time == scheduler.time
        return same

    def overlaps_with(self, other_allocation: ResourceAllocation) -> bool:
        """Return whether both have an instant in common."""
        starts = self.start_time, other_allocation.start_time
        return max(starts) <= min(self.estimated_end_time, other_allocation.estimated_end_time) or (
            starts[0] == starts[1]
        )

    def fits_job(self, job: Any) -> bool:
        """Return whether a job fits into the walltime and the hosts."""
        return self.fits_job_for_remaining_time(job, self._walltime)

    def fits_job_for_remaining_time(self, job: Any, remaining_time: float | None = None) -> bool:
        """Return whether a job fits into what remains of the walltime."""
        left = remaining_time
        if left is None:
            whole = float("inf") if self._walltime is None else self._walltime
            left = whole - max(0.0, job.scheduler.time - self.start_time)
        fits: bool = job.fits_in_frame(left, len(self))
        return fits

    def assign(self, job: Any) -> None:
        """Let a job use it; PlanError if it does not fit, or there is one."""
        self._check_unused()
        check(self.job is None, "the allocation has a job")
        check(job.open, f"{job.id} is not open")
        check(self.fits_job(job), f"{job.id} does not fit into its allocation")
        self.job = job

    def add_resource(self, resource: Any) -> None:
        """Reserve one more resource."""
        self._check_unused()
        resource.reserve(self)
        (self.resources if isinstance(resource, HostResource) else self.special_resources).append(resource)

    def remove_resource(self, resource: Any) -> None:
        """Give a resource back."""
        self._check_unused()
        resource.release(self)
        (self.resources if isinstance(resource, HostResource) else self.special_resources).remove(resource)

    def remove_all_resources(self) -> None:
        """Give all resources back."""
        for resource in [*self.resources, *self.special_resources]:
            self.remove_resource(resource)

    def allocate(self, scheduler: Any, *ranges: Iterable[int]) -> None:
        """Begin to use the hosts at these positions, and all other resources."""
        self._check_unused()
        check(self.job is not None, "the allocation has no job")
        for position in (number for one in ranges for number in one):
            self.active[self.resources[position]] = None
        self.allocated, self._scheduler = True, scheduler
        for resource in [*self.active, *self.special_resources]:
            resource.on_allocate(self)

    def allocate_all(self, scheduler: Any) -> None:
        """Begin to use all hosts."""
        self.allocate(scheduler, range(len(self.resources)))

    def free(self) -> None:
        """End it, and give all resources back."""
        check(self.allocated, "the allocation is not in use")
        self.end_time = self._scheduler.time
        self.allocated, self.previously_allocated = False, True
        for resource in [*self.resources, *self.special_resources]:
            resource.release(self)
            resource.on_free(self)

    def __len__(self) -> int:
        return len(self.resources)

    def __getitem__(self, items: Any) -> Any:
        return self.resources[items]

    def __str__(self) -> str:
        names = ", ".join(one.name for one in self.resources)
        return f"<Allocation from {self.start_time} to {self.estimated_end_time}: {names}>"
