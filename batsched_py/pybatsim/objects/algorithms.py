"""Filling and backfilling for schedulers of the object layer (`batsim.sched.algorithms`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from batsched_py.pybatsim.objects.allocation import ResourceAllocation
from batsched_py.pybatsim.objects.jobs import ObjectJob
from batsched_py.pybatsim.objects.lists import check, just_after
from batsched_py.pybatsim.objects.resources import AllocatedResource

_Check = Callable[..., Any] | None


def filler_sched(
    scheduler: Any,
    abort_on_first_nonfitting: bool = False,
    jobs: Any = None,
    resources: Any = None,
    resources_filter: Any = None,
    check_func: _Check = None,
    respect_deps: bool = False,
    handle_scheduled_func: _Check = None,
) -> None:
    """Start all open jobs that fit, in order, or up to the first that does not; jobs that never fit are rejected."""
    abort = abort_on_first_nonfitting or scheduler.options.get("filler_sched_abort_on_first_nonfitting", False)
    resources = scheduler.resources.compute if resources is None else resources
    started: list[Any] = []
    for job in (scheduler.jobs if jobs is None else jobs).open:
        if not job.runnable:
            if abort and respect_deps:
                break
            continue
        found = resources.find_sufficient_resources_for_job(job, filter=resources_filter)
        if not found and job.requested_resources > len(resources):
            job.reject("it needs more resources than there are")
        elif found and (check_func is None or check_func(job, found, started)):
            job.schedule(found)
            if handle_scheduled_func is not None:
                handle_scheduled_func(job)
            started.append(job)
        elif abort:
            break


def backfilling_sched(
    scheduler: Any,
    reservation_depth: int = 1,
    jobs: Any = None,
    resources: Any = None,
    resources_filter: Any = None,
    filler_check_func: _Check = None,
    backfilling_check_func: _Check = None,
    handle_scheduled_func: _Check = None,
    respect_deps: bool = False,
    backfilling_sort: Callable[[Any], Any] | None = None,
    priority_sort: Callable[[Any], Any] | None = None,
) -> None:
    """Start jobs in order up to the first that does not fit, then those that delay none of the first jobs."""
    jobs = scheduler.jobs if jobs is None else jobs
    if priority_sort:
        jobs = jobs.sorted(priority_sort)
    resources = scheduler.resources.compute if resources is None else resources
    shared: dict[str, Any] = {"respect_deps": respect_deps, "handle_scheduled_func": handle_scheduled_func}
    filler_sched(scheduler, True, jobs, resources, resources_filter, filler_check_func, **shared)
    if len(jobs.open):
        do_backfilling(
            scheduler,
            reservation_depth,
            jobs,
            resources,
            resources_filter,
            backfilling_check_func,
            backfilling_sort=backfilling_sort,
            **shared,
        )


def do_backfilling(
    scheduler: Any,
    reservation_depth: int,
    jobs: Any,
    resources: Any,
    resources_filter: Any = None,
    check_func: _Check = None,
    handle_scheduled_func: _Check = None,
    respect_deps: bool = False,
    backfilling_sort: Callable[[Any], Any] | None = None,
) -> None:
    """Start jobs behind the first `reservation_depth` that delay none of these."""
    waiting = jobs.open if respect_deps else jobs.runnable
    first, rest = waiting[:reservation_depth], waiting[reservation_depth:]
    rest = rest.runnable if respect_deps else rest
    schedule_jobs_without_delaying_priorities(
        scheduler,
        first,
        resources,
        rest.sorted(backfilling_sort) if backfilling_sort else rest,
        resources_filter=resources_filter,
        check_func=check_func,
        respect_deps=respect_deps,
        handle_scheduled_func=handle_scheduled_func,
    )


def schedule_jobs_without_delaying_priorities(
    scheduler: Any,
    priority_jobs: Any,
    resources: Any,
    jobs: Any,
    abort_on_first_nonfitting: bool = False,
    resources_filter: Any = None,
    check_func: _Check = None,
    respect_deps: bool = False,
    handle_scheduled_func: _Check = None,
) -> None:
    """Start those of the jobs that delay no priority job.

    The reservations of priority jobs are made anew only after a job has started: until then, they would be the same.
    """
    reserved: list[ResourceAllocation] | None = None
    try:
        for job in jobs:
            if reserved is None:
                reserved = _reserve(scheduler, priority_jobs, resources, resources_filter, respect_deps)
                if reserved is None:
                    break
            found = resources.find_sufficient_resources_for_job(job, filter=resources_filter)
            if check_func is not None and not check_func(job, found, reserved):
                found = None
            if found:
                _free(reserved)
                reserved = None
                job.schedule(found)
                if handle_scheduled_func is not None:
                    handle_scheduled_func(job)
            elif abort_on_first_nonfitting:
                break
    finally:
        _free(reserved)


def find_resources_without_delaying_priority_jobs(
    scheduler: Any,
    priority_jobs: Any,
    resources: Any,
    job: Any,
    resources_filter: Any = None,
    respect_deps: bool = False,
    check_func: _Check = None,
) -> Any:
    """Return resources with which a job can start now and delays no priority job; empty or None if there are none."""
    reserved = _reserve(scheduler, priority_jobs, resources, resources_filter, respect_deps)
    if reserved is None:
        return resources.create()
    found = resources.find_sufficient_resources_for_job(job, filter=resources_filter)
    if check_func is not None and not check_func(job, found, reserved):
        found = None
    _free(reserved)
    return found


def _reserve(
    scheduler: Any, jobs: Any, resources: Any, resources_filter: Any, respect_deps: bool
) -> list[ResourceAllocation] | None:
    """Reserve resources for jobs, each as early as possible; None if one waits for a job that does not run."""
    made: list[ResourceAllocation] = []
    for job in jobs:
        time = _after_dependencies(job, scheduler.time) if respect_deps else scheduler.time
        if time is None:
            _free(made)
            return None
        start, found = resources.find_with_earliest_start_time(
            job, allow_future_allocations=True, filter=resources_filter, time=time
        )
        check(found, f"{job.id} can never start: backfilling needs walltimes, and as many resources as the job")
        allocation = ResourceAllocation(start, resources=found, job=job)
        allocation.allocate_all(scheduler)
        made.append(allocation)
    return made


def _after_dependencies(job: Any, now: float) -> float | None:
    """Return when all jobs that a job depends on will have ended; None if one does not run."""
    times = [now]
    for one in job.resolved_dependencies:
        if not isinstance(one, ObjectJob) or not (one.running or one.completed):
            return None
        end = (one.start_time or 0.0) + one.requested_time if one.running else one.finish_time or 0.0
        times.append(just_after(end, AllocatedResource.TIME_DELTA))
    return max(times)


def _free(reserved: list[ResourceAllocation] | None) -> None:
    for one in reserved or ():
        one.free()
