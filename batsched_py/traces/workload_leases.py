"""Lease requests of a workload's jobs, in the form of a lease trace."""

from __future__ import annotations

from typing import Final

from batsched_py.errors import WorkloadError
from batsched_py.model.cancellation import CANCELLED_AFTER
from batsched_py.model.conditions import CONDITIONS
from batsched_py.model.demand_members import DEMAND
from batsched_py.model.feedback import SUBMITTED_AFTER
from batsched_py.model.job import Job
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.lease_terms import ALL_TERMS, NodeSet, read_terms
from batsched_py.model.profile import Delay
from batsched_py.model.workload import Workload
from batsched_py.reading.faults import FieldError, inside, of_file
from batsched_py.text.display import displayed
from batsched_py.traces.lease_request import WHOLE_HOST, LeaseRequest, check_types

#: Members of jobs that requests for leases do not have.
_NOT_LEASES: Final = CONDITIONS | {CANCELLED_AFTER, DEMAND, SUBMITTED_AFTER}


def workload_requests(workload: Workload) -> tuple[LeaseRequest, ...]:
    """Return the lease requests of the jobs, in their order.

    A node without a stated capacity requests one CPU and 1 GB. WorkloadError (file, job) for a lease that a lease trace
    cannot contain: one of a group, with a constraint, without nodes or without a duration, or with invalid terms.
    """
    return tuple(_request(workload, job) for job in workload.jobs)


def _request(workload: Workload, job: Job) -> LeaseRequest:
    try:
        terms = read_terms(job, ALL_TERMS)
        for term in ("group", "constraint"):
            if getattr(terms, term) is not None:
                raise FieldError(f"lease.{term}", "cannot be written to a lease trace")
        if unwritten := _NOT_LEASES & job.members.keys():
            raise FieldError(min(unwritten), "cannot be written to a lease trace")
        if job.size < 1:
            raise FieldError("res", "must be 1 or more for a lease")
        profile = workload.profiles[job.profile]
        delay = profile.delay if isinstance(profile, Delay) else None
        duration = next((one for one in (terms.duration, job.walltime, delay) if one is not None), None)
        if duration is None:
            raise FieldError("walltime", "is missing: a lease has a duration")
        return LeaseRequest(
            arrival=job.submit_time,
            duration=duration,
            nodes=tuple(_node_set(one) for one in terms.nodes or (NodeSet(job.size, {}),)),
            start="now" if terms.kind is LeaseKind.IMMEDIATE else terms.start,
            preemptible=terms.preemptible,
            real=None if delay == duration else delay,
            deadline=terms.deadline,
            image=terms.software,
        )
    except FieldError as error:
        raise of_file(WorkloadError, workload.source, inside(f"job {displayed(job.id)}", error)) from None


def _node_set(one: NodeSet) -> NodeSet:
    """Return a node set with CPU and memory for each node."""
    try:
        resources = one.resources or WHOLE_HOST
        check_types(resources)
    except ValueError as error:
        raise FieldError("lease.capacity", f"{error} in a lease trace") from error
    return NodeSet(one.number, resources)
