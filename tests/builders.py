"""Builders of messages and values that many tests need; every argument has a plain default."""

from __future__ import annotations

import json
from typing import Any

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.protocol.commands import ExecuteJob
from batsched_py.protocol.events import Config, DescribedHost, JobCompleted, JobSubmitted, SimulationBegins
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.plan import Plan
from batsched_py.session.session import Session
from batsched_py.state.state import State


def job(name: str = "1", size: int = 1, walltime: float | None = 10.0, submit_time: float = 0.0) -> Job:
    """A job of workload w0."""
    return Job.create(f"w0!{name}", size=size, profile="p", submit_time=submit_time, walltime=walltime)


def hosts(text: str) -> HostSet:
    """Hosts spelled as intervals."""
    return HostSet.parse(text)


def submitted(new: Job, timestamp: float = 0.0) -> JobSubmitted:
    """Its submission."""
    return JobSubmitted(timestamp, new.id, new)


def completed(job_id: str, timestamp: float = 0.0, state: str = "COMPLETED_SUCCESSFULLY") -> JobCompleted:
    """Its end."""
    return JobCompleted(timestamp, job_id, state)


def begins(
    hosts: int = 4,
    *,
    config: Config | None = None,
    sharing: bool = False,
    storages: int = 0,
    storage_sharing: bool = True,
    **properties: str,
) -> SimulationBegins:
    """The first event, with this many like hosts, and storage hosts numbered after them."""
    resources = tuple(DescribedHost(number, f"n{number}", "idle", properties) for number in range(hosts))
    stores = tuple(
        DescribedHost(hosts + number, f"s{number}", "idle", {"role": "storage"}) for number in range(storages)
    )
    return SimulationBegins(0.0, resources, stores, sharing, storage_sharing, config or Config())


def state(hosts: int = 4, *jobs: Job, config: Config | None = None, sharing: bool = False) -> State:
    """A state at t=0 in which these jobs wait."""
    fresh = State()
    fresh.apply(begins(hosts, config=config, sharing=sharing))
    for new in jobs:
        fresh.apply(submitted(new))
    return fresh


def plan_for(now: State) -> Plan:
    """A plan that begins now."""
    plan = Plan(now)
    plan.begin(now.now)
    return plan


def execute(job_id: str, hosts: str, timestamp: float = 0.0) -> ExecuteJob:
    """The command that starts a job on hosts spelled as intervals."""
    return ExecuteJob(timestamp, job_id, HostSet.parse(hosts))


def message(now: float, *events: tuple[str, dict[str, Any]]) -> bytes:
    """A request as Batsim 4 writes it: (type, data) pairs, all at `now`."""
    body = [{"timestamp": now, "type": kind, "data": data} for kind, data in events]
    return json.dumps({"now": now, "events": body}).encode()


def said(reply: bytes) -> list[tuple[str, Any]]:
    """(type, data) of each event of a reply."""
    return [(event["type"], event["data"]) for event in json.loads(reply)["events"]]


def begins_data(hosts: int = 4, **changes: Any) -> dict[str, Any]:
    """The data of a v4 SIMULATION_BEGINS; `config` is merged, other members are replaced."""
    config = {"dynamic-jobs-enabled": False, "dynamic-jobs-acknowledged": False, "sched-config": ""}
    data: dict[str, Any] = {
        "nb_resources": hosts,
        "nb_compute_resources": hosts,
        "nb_storage_resources": 0,
        "allow_compute_sharing": False,
        "allow_storage_sharing": True,
        "config": {**config, **changes.pop("config", {})},
        "compute_resources": [
            {"id": number, "name": f"n{number}", "state": "idle", "properties": {}, "zone_properties": {}}
            for number in range(hosts)
        ],
        "storage_resources": [],
        "workloads": {"w0": "w.json"},
        "profiles": {"w0": {"p": {"type": "delay", "delay": 5}}},
    }
    return {**data, **changes}


def begun(scheduler: type[Scheduler[Any]] = Fcfs, hosts: int = 4, **begins: Any) -> Session:
    """A session that has answered SIMULATION_BEGINS, whose data these are."""
    session = Session(scheduler)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(hosts, **begins))))
    return session


def submitted_data(name: str, size: int = 1, walltime: float | None = 10, subtime: float = 0) -> dict[str, Any]:
    """The data of a JOB_SUBMITTED."""
    described: dict[str, Any] = {"id": f"w0!{name}", "subtime": subtime, "res": size, "profile": "p"}
    if walltime is not None:
        described["walltime"] = walltime
    return {"job_id": f"w0!{name}", "job": described}


def completed_data(name: str, alloc: str, state: str = "COMPLETED_SUCCESSFULLY") -> dict[str, Any]:
    """The data of a JOB_COMPLETED."""
    return {"job_id": f"w0!{name}", "job_state": state, "return_code": 0, "alloc": alloc}
