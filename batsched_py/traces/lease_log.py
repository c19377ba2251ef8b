"""Requests for leases from the jobs of a log: best effort, whole hosts, preemptible."""

from __future__ import annotations

from collections.abc import Iterable

from batsched_py.model.lease_terms import NodeSet
from batsched_py.traces.delay_workload import DelayJob
from batsched_py.traces.lease_request import WHOLE_HOST, LeaseRequest


def log_requests(jobs: Iterable[DelayJob]) -> tuple[LeaseRequest, ...]:
    """Return a request for each job: the walltime is its duration, the run time its real duration."""
    return tuple(
        LeaseRequest(
            job.submit,
            job.walltime,
            (NodeSet(job.size, WHOLE_HOST),),
            real=None if job.run == job.walltime else job.run,
        )
        for job in jobs
    )
