"""The request of sbatch that a job of a workload stands for.

A job without a demand has as many whole nodes as its size. The size of a job with a demand is its number of tasks, and
the demand is that of one task.
"""

from __future__ import annotations

from math import ceil
from typing import Any

from batsched_py.model.demand import WHOLE
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.reading.faults import FieldError
from batsched_py.slurm.configuration import UNLIMITED, GresCount
from batsched_py.slurm.job_member import MEMBER, JobInstant, SlurmMember
from batsched_py.slurm.submission import BatchRequest


def job_request(
    job: Job, member: SlurmMember, *, now: float, dependency: str = "", array_limit: int | None = None
) -> BatchRequest:
    """Return the request of a job that is submitted now; FieldError if its members contradict each other.

    `dependency` has ids of the controller. Tasks of an array are added by the caller.
    """
    limit = job.walltime if member.time_limit is None else member.time_limit
    return BatchRequest(
        name=job.id,
        user=job.user or "root",
        account=member.account,
        qos=member.qos,
        partitions=tuple(filter(None, member.partition.split(","))),
        time_limit=None if limit is None else _minutes(limit),
        time_min=None if member.time_min is None else _minutes(member.time_min),
        constraint=member.constraint,
        dependency=dependency,
        kill_on_invalid_dependency=member.kill_on_invalid_dep,
        array_limit=array_limit,
        begin=_after(member.begin, now),
        deadline=_after(member.deadline, now),
        reservation=member.reservation,
        nice=member.nice,
        hold=member.hold,
        switches=member.switches,
        switches_wait=member.switches_wait,
        requeue=member.requeue,
        whole_cores=bool(member.hint),
        **(_whole_nodes(job, member) if job.demand is None else _parts(job.demand, member)),
    )


def _minutes(seconds: float) -> int:
    """Return a limit as Slurm keeps it: whole minutes, rounded up, and at most a year."""
    return min(max(1, ceil(seconds / 60)), UNLIMITED)


def _after(instant: JobInstant | None, now: float) -> float | None:
    """Return seconds after the whole second of the submission."""
    if instant is None or instant.is_later:
        return None if instant is None else instant.seconds
    return instant.seconds - int(now)


def _whole_nodes(job: Job, member: SlurmMember) -> dict[str, Any]:
    if member.nodes is not None and member.nodes != (job.size, job.size):
        raise _fault("nodes", f"must be res, {job.size}, for a job without a demand")
    if member.exclusive == "user":
        raise _fault("exclusive", "must be node, or absent, for a job without a demand, which has whole nodes")
    if member.ntasks is not None and member.ntasks < job.size:
        raise _fault("ntasks", f"must be at least res, {job.size}")
    return {
        "min_nodes": job.size,
        "max_nodes": job.size,
        "tasks": member.ntasks,
        "cpus_per_task": member.cpus_per_task or 1,
        "tasks_per_node": member.ntasks_per_node,
        "mem_per_cpu": member.mem_per_cpu,
        "mem_per_node": member.mem,
        "gres": member.gres,
        "gpus": member.gpus,
        "licences": member.licences or (),
        "exclusive": "node",
    }


def _parts(demand: JobDemand, member: SlurmMember) -> dict[str, Any]:
    task = demand.task
    for name in ("ntasks", "cpus_per_task"):
        if getattr(member, name) is not None:
            raise _fault(name, "must be absent from a job with a demand, which says it")
    if demand.task.memory and (member.mem is not None or member.mem_per_cpu is not None):
        raise _fault("mem", "cannot be combined with demand.memory")
    least, most = member.nodes or (None, None)
    if least is not None and least > demand.tasks:
        raise _fault("nodes", f"must be at most the number of tasks, res: {demand.tasks}")
    cpus = max(1, -(-task.cores // WHOLE))
    alone = demand.spread or task.exclusive
    if alone and member.ntasks_per_node not in {None, 1}:
        raise _fault("ntasks_per_node", "must be 1 with demand.spread and demand.exclusive")
    if alone and member.nodes not in {None, (demand.tasks, demand.tasks)}:
        raise _fault("nodes", f"must be res, {demand.tasks}, with demand.spread and demand.exclusive")
    if task.exclusive and member.exclusive == "user":
        raise _fault("exclusive", "must be node, or absent, with demand.exclusive")
    is_single = alone or demand.tasks == 1 or member.ntasks_per_node == 1
    gres, gpus_per_task = _gres(demand, member, is_single)
    return {
        "tasks": demand.tasks,
        "cpus_per_task": cpus,
        "min_nodes": demand.tasks if alone else least,
        "max_nodes": demand.tasks if alone else most,
        "tasks_per_node": 1 if alone else member.ntasks_per_node,
        "mem_per_cpu": -(-task.memory // cpus) if task.memory else member.mem_per_cpu,
        "mem_per_node": member.mem,
        "gres": gres,
        "gpus": member.gpus,
        "gpus_per_task": gpus_per_task,
        "licences": demand.licences if member.licences is None else member.licences,
        "exclusive": member.exclusive or ("node" if task.exclusive else ""),
    }


def _gres(demand: JobDemand, member: SlurmMember, is_single: bool) -> tuple[tuple[GresCount, ...], int | None]:
    """Return the generic resources of each node, and the GPUs of each task."""
    task, gres = demand.task, member.gres
    if task.gpus and task.share != WHOLE:
        raise FieldError("demand.gpu_share", "must be 1: the algorithm slurm shares no GPU")
    if task.gpus and member.gpus is not None:
        raise _fault("gpus", "cannot be combined with demand.gpus")
    if len(task.models) > 1:
        raise FieldError("demand.gpu_models", "must have one model: the algorithm slurm knows no alternatives")
    if (task.models or task.others) and not is_single:
        name = "gpu_models" if task.models else "others"
        raise FieldError(f"demand.{name}", "needs demand.spread: the algorithm slurm counts it by node")
    gres += tuple(GresCount(name, "", count) for name, count in task.others)
    if task.gpus and is_single:
        return (*gres, GresCount("gpu", task.models[0] if task.models else "", task.gpus)), None
    return gres, task.gpus or None


def _fault(name: str, rule: str) -> FieldError:
    return FieldError(f"{MEMBER}.{name}", rule)
