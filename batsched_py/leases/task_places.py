"""Places of tasks: the hosts and GPUs on which the jobs of a lease with demands start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from batsched_py.leases.lease import LeaseRun
from batsched_py.model.host_room import TaskPlace
from batsched_py.model.job import Job
from batsched_py.scheduling.placed import Placed
from batsched_py.scheduling.view import View


def task_places(job: Job, nodes: Iterable[int], run: LeaseRun, hosts: Sequence[int], view: View) -> Placed:
    """Return the places of a job with a demand, whose tasks are nodes of a run; `hosts` are Batsim's numbers."""
    assert job.demand is not None  # noqa: S101  # the caller's promise
    found: dict[int, list[tuple[int, ...]]] = {}
    for node in nodes:
        host = hosts[run.nodes[node]]
        alone = range(view.room(host).capacity.gpus) if job.demand.task.exclusive else ()
        found.setdefault(host, []).append(run.gpus.get(node, tuple(alone)))
    return Placed(
        tuple(
            TaskPlace(host, tuple(gpu for gpus in tasks for gpu in gpus), len(tasks))
            for host, tasks in sorted(found.items())
        )
    )
