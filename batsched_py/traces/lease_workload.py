"""Requests for leases as Batsim's workload, and the site as its platform.

A request becomes a job with one host for each node of the lease. Its walltime is the requested duration, its profile a
delay of the real duration, and its member `lease` contains the other terms. Properties describe a host's resources.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from batsched_py.model.job import Job
from batsched_py.model.platform import Platform
from batsched_py.model.profile import Delay, Profile
from batsched_py.model.resources import JSON_NAMES, PLENTY, Resources, host_properties
from batsched_py.model.workload import Workload
from batsched_py.traces.lease_changes import AS_THEY_ARE, LeaseChanges
from batsched_py.traces.lease_request import LeaseRequest, LeaseSite
from batsched_py.traces.platform_writer import flat_platform

#: The member of a job with the terms of its lease.
MEMBER = "lease"


def lease_inputs(
    source: str, requests: Sequence[LeaseRequest], site: LeaseSite, changes: LeaseChanges = AS_THEY_ARE
) -> tuple[Workload, Platform]:
    """Return the workload of the requests after the changes, and the platform of the site; write no files.

    Leases are numbered in the order of the requests; those of an injected trace follow the trace's own.
    WorkloadError if images are missing, or if overheads make a duration too long.
    """
    changed = changes.apply(source, requests)
    return lease_workload(source, changed, site.size), site_platform(source, site, changed)


def lease_workload(source: str, requests: Sequence[LeaseRequest], host_count: int = 0) -> Workload:
    """Return a workload with one job for each request; its id is the lease's number, from 1, padded with zeros."""
    width = len(str(len(requests)))
    profiles: dict[str, Profile] = {}
    jobs = []
    for number, request in enumerate(requests, 1):
        real = request.duration if request.real is None else request.real
        profile = f"delay_{real}"
        if profile not in profiles:
            profiles[profile] = Delay(profile, "delay", {"type": "delay", "delay": real}, float(real))
        jobs.append(_job(f"{number:0{width}d}", request, profile))
    jobs.sort(key=attrgetter("submit_time", "id"))
    return Workload(source, host_count, tuple(jobs), profiles)


def site_platform(source: str, site: LeaseSite, requests: Sequence[LeaseRequest] = ()) -> Platform:
    """Return a platform of the site's hosts, in its order, without network.

    Resource types that every host has in plenty are listed only if a request asks for them.
    """
    wanted = {name for request in requests for one in request.nodes for name in one.resources} & set(PLENTY)
    properties = []
    for one in site.hosts:
        plenty = {name: PLENTY[name] for name in PLENTY if name in wanted and name not in site.types}
        properties += [host_properties({**one.resources, **plenty})] * one.number
    return flat_platform(source, properties)


def _job(name: str, request: LeaseRequest, profile: str) -> Job:
    members: dict[str, Any] = {"id": name, "subtime": request.arrival, "res": request.size}
    members |= {"walltime": request.duration, "profile": profile, MEMBER: _terms(request)}
    return Job(name, request.arrival, request.size, request.duration, profile, members)


def _terms(request: LeaseRequest) -> dict[str, Any]:
    """Return the terms as JSON, without those that have default values."""
    sets = [_capacity(one.resources) for one in request.nodes]
    counted = [{"count": one.number, **capacity} for one, capacity in zip(request.nodes, sets, strict=True)]
    terms: dict[str, Any] = {} if request.start is None else {"start": request.start}
    terms |= {"preemptible": request.preemptible, "capacity": sets[0] if len(sets) == 1 else counted}
    if request.image is not None:
        terms["software"] = {"image": request.image.name, "size": request.image.size}
    if request.deadline is not None:
        terms["deadline"] = request.deadline
    return terms


def _capacity(resources: Resources) -> dict[str, Any]:
    return {
        JSON_NAMES.get(name, name): list(quantity) if isinstance(quantity, tuple) else quantity
        for name, quantity in resources.items()
    }
