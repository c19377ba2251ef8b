"""Resources of pybatsim's object layer: hosts, and resources that the scheduler defines."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, ClassVar

from batsched_py.pybatsim.objects.lists import just_after


class ResourceRequirement:
    """Resources that a job needs in addition to its hosts, from a handler of the scheduler."""

    def __init__(
        self,
        resources: Any,
        min: int = 1,
        max: int | None = None,
        filter: Callable[..., Any] | None = None,
        num: int | None = None,
    ) -> None:
        self.resources = resources if isinstance(resources, list) else [resources]
        self.min = min if num is None else abs(num)
        self.max = max if num is None else abs(num)
        self.filter = filter


class AllocatedResource:
    """A resource with its allocations, now and in the future (`batsim.sched.Resource`)."""

    #: Whether it is a host without any allocation, on which any job fits at any time.
    is_idle_host: bool = False
    #: The first start of an allocation of a host; infinity if it has none.
    busy_since: float = float("inf")
    #: Whether any job fits on it at any time if it has no allocation.
    _fits_as_here: ClassVar[bool] = False
    #: The seconds between the end of an allocation and the next one.
    TIME_DELTA: ClassVar[float] = 1e-11

    def __init__(
        self,
        scheduler: Any,
        name: str,
        id: int | None = None,
        resources_list: Any = None,
        resource_sharing: bool | None = None,
    ) -> None:
        self._scheduler = scheduler
        self.id = id
        self.name = name
        self._resources_list = resources_list
        self._sharing = resource_sharing
        self._allocations: dict[Any, None] = {}

    @property
    def resource_sharing(self) -> bool:
        """Whether jobs may share it; as Batsim's hosts unless it was given."""
        shared: bool = self._scheduler.has_resource_sharing_on_compute if self._sharing is None else self._sharing
        return shared

    @property
    def allocations(self) -> list[Any]:
        """Allocations that have not been freed."""
        return list(self._allocations)

    @property
    def is_allocated(self) -> bool:
        """Whether there is any allocation."""
        return bool(self._allocations)

    @property
    def num_active(self) -> int:
        """The number of allocations that use it now."""
        return sum(self in one.active for one in self._allocations)

    @property
    def active(self) -> bool:
        """Whether an allocation uses it now."""
        return self.num_active > 0

    @property
    def resources(self) -> list[Any]:
        """The resource itself, as if it were a list."""
        return [self]

    def time_free(self, time: float | None = None) -> float:
        """Return when the next allocation starts: 0 if there is one at `time`, infinity if there will be none."""
        at = self._scheduler.time if time is None else time
        if any(one.start_time <= at <= one.estimated_end_time for one in self._allocations):
            return 0.0
        return min((one.start_time for one in self._allocations if one.start_time > at), default=float("inf"))

    def find_first_time_to_fit_job(
        self, job: Any, time: float | None = None, future_reservation: bool = False
    ) -> float | None:
        """Return when a job can start here; None if it cannot, for subclasses to define."""
        raise NotImplementedError(f"{type(self).__name__} does not define find_first_time_to_fit_job")

    def on_allocate(self, allocation: Any) -> None:
        """Take note of an allocation that begins; for subclasses."""

    def on_free(self, allocation: Any) -> None:
        """Take note of an allocation that has ended; for subclasses."""

    def reserve(self, allocation: Any) -> None:
        """Add an allocation, for the allocation; fatal if it overlaps with another one, and sharing is off."""
        if not self.resource_sharing and any(one.overlaps_with(allocation) for one in self._allocations):
            self._scheduler.fatal("resource {name} would be in two allocations at once", name=self.name)
        self._allocations[allocation] = None
        self.is_idle_host = False
        self.note_starts()

    def release(self, allocation: Any) -> None:
        """Remove an allocation, for the allocation."""
        del self._allocations[allocation]
        self.is_idle_host = self._fits_as_here and not self._allocations
        self.note_starts()

    def note_starts(self) -> None:
        """Take note of changed starts, for the allocations."""
        if self._fits_as_here:
            self.busy_since = min((one.start_time for one in self._allocations), default=float("inf"))

    def __str__(self) -> str:
        return f"<{type(self).__name__} {self.id}: {self.name}, {len(self._allocations)} allocations>"


class HostState(Enum):
    """The states of a host."""

    SLEEPING = 0
    IDLE = 1
    COMPUTING = 2
    TRANSITING_FROM_SLEEPING_TO_COMPUTING = 3
    TRANSITING_FROM_COMPUTING_TO_SLEEPING = 4


class HostResource(AllocatedResource):
    """A host (`batsim.sched.ComputeResource`)."""

    State: ClassVar[type[HostState]] = HostState
    _fits_as_here: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        cls._fits_as_here = False

    def __init__(self, *args: Any, state: str = "", properties: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.state = HostState.__members__.get(state.upper(), HostState.IDLE)
        self.properties = properties
        self._pstate: Any = None
        self.old_pstate: Any = None
        self.is_idle_host = self._fits_as_here
        self.pstate_update_in_progress = False

    @property
    def pstate(self) -> Any:
        """The pstate, or the one to which it switches; setting it switches the host."""
        return self._pstate

    @pstate.setter
    def pstate(self, value: Any) -> None:
        self.switched(value)
        self.pstate_update_in_progress = True
        self._scheduler._batsim.set_resource_state([self.id], value)

    def switched(self, pstate: Any) -> None:
        """Take note of the pstate that the host has reached."""
        self.old_pstate, self._pstate = self._pstate, pstate
        self.pstate_update_in_progress = False

    def find_first_time_to_fit_job(
        self, job: Any, time: float | None = None, future_reservation: bool = False
    ) -> float | None:
        """Return when the walltime of a job fits between allocations; None if the host is used now."""
        return self.find_first_time_to_fit_walltime(job.requested_time, time, future_reservation)

    def find_first_time_to_fit_walltime(
        self, requested_walltime: float, time: float | None = None, future_reservation: bool = False
    ) -> float | None:
        """Return the first instant from `time` on at which the host is free for so many seconds.

        Without `future_reservation` the host must have been freed for a start now: None if it was not.
        """
        now: float = self._scheduler.time
        found: float = now if time is None else time
        if not self._allocations:
            return found
        if not future_reservation and found <= now:
            for one in self._allocations:
                if one.start_time <= found:
                    return None
        while True:
            moved = found
            for one in self._allocations:
                if one.start_time <= found and one.reusable > moved:
                    moved = one.reusable
            if moved == found:
                moved = self._after_next(found, requested_walltime)
            if moved == found:
                return found
            found = moved

    def _after_next(self, time: float, walltime: float) -> float:
        """Return the end of an allocation that starts before a job would have ended; `time` if there is none."""
        end = just_after(just_after(time, walltime), self.TIME_DELTA)
        ends = [one.reusable for one in self._allocations if time < one.start_time < end and one.reusable > time]
        return min(ends, default=time)
