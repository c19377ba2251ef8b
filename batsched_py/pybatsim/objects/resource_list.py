"""The searchable list of resources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from batsched_py.pybatsim.objects.lists import ElementList, filter_list
from batsched_py.pybatsim.objects.resources import HostResource

#: When resources are available, and which; both None if never.
_Fit = tuple[float | None, list[Any]]


class ResourceList(ElementList):
    """Resources, and the search for those that a job can have (`batsim.sched.Resources`)."""

    @property
    def resources(self) -> list[Any]:
        """The resources as a list of Python."""
        return self.data

    @property
    def free(self) -> Self:
        """Resources without an allocation."""
        return self.create(one for one in self._data if not one.is_allocated)

    @property
    def allocated(self) -> Self:
        """Resources with an allocation, now or in the future."""
        return self.create(one for one in self._data if one.is_allocated)

    @property
    def active(self) -> Self:
        """Resources that an allocation uses now."""
        return self.create(one for one in self._data if one.active)

    @property
    def compute(self) -> Self:
        """Hosts."""
        return self.create(one for one in self._data if isinstance(one, HostResource))

    @property
    def special(self) -> Self:
        """Resources that the scheduler has defined."""
        return self.create(one for one in self._data if not isinstance(one, HostResource))

    def filter(
        self,
        *args: Any,
        free: bool = False,
        allocated: bool = False,
        active: bool = False,
        compute: bool = False,
        special: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Return resources of any of the kinds that are True, or of all, that pass: see `filter_list`."""
        kinds = {"free": free, "allocated": allocated, "active": active, "compute": compute, "special": special}
        wanted = [getattr(self, kind) for kind, chosen in kinds.items() if chosen]
        data = [one for one in self._data if not wanted or any(one in kind for kind in wanted)]
        return self.create(filter_list(data, *args, **kwargs))

    def find_sufficient_resources_for_job(self, *args: Any, **kwargs: Any) -> Self:
        """Return resources with which a job can start; an empty list if there are none."""
        found: Self = self.find_with_earliest_start_time(*args, **kwargs)[1]
        return found

    def find_with_earliest_start_time(
        self, job: Any, allow_future_allocations: bool = False, filter: Any = None, time: float | None = None
    ) -> tuple[float | None, Any]:
        """Return when a job can start, and the resources; none if it cannot start now and must."""
        now: float = job.scheduler.time if time is None else time
        size, begin = job.requested_resources, max(now, job.submit_time)
        start, found = self.find_first_time_and_resources_to_fit_walltime(
            job, begin, size, size, filter, allow_future_allocations
        )
        if allow_future_allocations:
            return start, found
        if start is None:
            return now, self.create()
        return start, found if start == now else self.create()

    def find_first_time_and_resources_to_fit_walltime(
        self,
        job: Any,
        time: float,
        min_matches: int | None = None,
        max_matches: int | None = None,
        filter: Any = None,
        future_reservation: bool = False,
    ) -> tuple[float | None, Any]:
        """Return the first instant at which hosts, and all that handlers of the scheduler require, are free at once."""
        at = time
        while True:
            start, found = _fit(job, at, self.data, min_matches, max_matches, filter, future_reservation)
            latest = start
            for handler in job.scheduler.get_find_resource_handlers:
                for need in handler(job.scheduler, job):
                    if latest is None or not found:
                        return None, None
                    begin, more = _fit(job, latest, need.resources, need.min, need.max, need.filter, future_reservation)
                    found = [*found, *more] if more else []
                    latest = begin
            if latest is None or not found:
                return None, None
            if latest == start:
                return start, self.create(found)
            at = latest


def _fit(
    job: Any, time: float, resources: Sequence[Any], least: int | None, most: int | None, filter: Any, future: bool
) -> _Fit:
    """Return the first instant from `time` on at which enough of the resources are free, and them."""
    if least is not None and len(resources) < least:
        return time, []
    at = time
    while True:
        found, later = _free_at(resources, job, at, future)
        if found and (least is None or len(found) >= least):
            chosen = found if not filter else _filtered(filter, found, job, at, least, most)
            if chosen:
                return at, chosen[:most]
            if later is None:
                return None, []
        elif not later:
            return at, [] if least is not None and len(found[:most]) < least else found[:most]
        at = later


def _free_at(resources: Sequence[Any], job: Any, at: float, future: bool) -> tuple[list[Any], float | None]:
    """Return the resources on which a job fits at an instant, and when it fits first on another one."""
    now = -1.0 if future or at > job.scheduler.time else at  # hosts that are in use now are of no use now
    found, later = [], None
    for one in resources:
        if one.busy_since <= now:
            continue
        begin = at if one.is_idle_host else one.find_first_time_to_fit_job(job, at, future)
        if begin == at:
            found.append(one)
        elif begin is not None and (later is None or begin < later):
            later = begin
    return found, later


def _filtered(filter: Any, found: list[Any], job: Any, at: float, least: int | None, most: int | None) -> list[Any]:
    return filter_list(found, filter, min_entries=least, max_entries=most, job=job, current_time=at)
