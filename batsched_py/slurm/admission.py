"""Admission of submissions: the jobs that a request becomes, or the message with which it is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from batsched_py.errors import SlurmRefusalError
from batsched_py.slurm.accounts import Association, Qos
from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.configuration import UNLIMITED, SlurmPartition
from batsched_py.slurm.dependencies import KINDS, referenced
from batsched_py.slurm.job_memory import with_memory
from batsched_py.slurm.jobs import SlurmJob
from batsched_py.slurm.submission import BatchRequest

#: More nodes than any cluster has: a job that names no largest number.
_ANY_NODES: Final = 1 << 30


class JobAdmission:
    """Checks of submissions, and the numbers of jobs."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        self._sequence = 0
        self._id = 0

    def admit(self, request: BatchRequest, now: float) -> list[SlurmJob]:
        """Return the new jobs: one, or the tasks of an array.

        Raises:
            SlurmRefusalError: the request is refused at submission.
        """
        partitions = self._partitions(request)
        association, qos = self._account(request)
        request = with_memory(request, partitions[0], self._cluster.configuration)
        if any(one.exclusive for one in partitions):
            request = replace(request, exclusive="node")
        limit = request.time_limit or partitions[0].default_time or partitions[0].max_time
        tasks, least, most = _sizes(request)
        self._check_resources(request)
        self._check_reservation(request, association)
        made = []
        self._id += 1
        for task in request.array or (None,):
            self._sequence += 1
            job = SlurmJob(
                sequence=self._sequence,
                id=self._id,
                key=request.name if task is None else f"{request.name}_{task}",
                request=request,
                submitted=now,
                partitions=partitions,
                limit=min(limit, UNLIMITED),
                tasks=tasks,
                min_nodes=least,
                max_nodes=most,
                task=task,
                association=association,
                qos=qos,
                nice=request.nice,
                is_held=request.hold,
                begin=int(now) + request.begin if request.begin is not None else None,
                deadline=int(now) + request.deadline if request.deadline is not None else None,
            )
            job.eligible = None if request.dependency or request.begin is not None else float(int(now))
            made.append(job)
        if not self._cluster.fits_idle(made[0], partitions[0], self._cluster.configuration.all_nodes):
            raise SlurmRefusalError("BadConstraints: no nodes of the cluster have what the job asks for")
        self._check_limits(made)
        return made

    def _partitions(self, request: BatchRequest) -> tuple[SlurmPartition, ...]:
        configuration = self._cluster.configuration
        if not request.partitions:
            default = configuration.default_partition
            if default is None:
                raise SlurmRefusalError("No partition specified or system default partition")
            return (default,)
        found = [one for name in request.partitions if (one := configuration.partition(name)) is not None]
        if len(found) < len(request.partitions):
            raise SlurmRefusalError("Invalid partition name specified")
        return tuple(found)

    def _account(self, request: BatchRequest) -> tuple[Association | None, Qos | None]:
        cluster = self._cluster
        configuration, accounts = cluster.configuration, cluster.accounts
        association = accounts.association(request.user, request.account) if configuration.accounting else None
        if association is None and "associations" in configuration.enforce:
            raise SlurmRefusalError("Invalid account or account/partition combination specified")
        if not configuration.accounting:
            return None, None
        name = request.qos or (association.default_qos if association is not None else "normal")
        qos = accounts.qos.get(name)
        is_allowed = association is None or name in association.qos or "qos" not in configuration.enforce
        if qos is None or not is_allowed:
            raise SlurmRefusalError("Invalid qos specification")
        return association, qos

    def _check_resources(self, request: BatchRequest) -> None:
        cluster = self._cluster
        nodes = cluster.configuration.nodes
        try:
            cluster.selector.choices(request.constraint)
        except ValueError as error:
            raise SlurmRefusalError(str(error)) from error
        for name, count in request.licences:
            if count > next((many for known, many in cluster.configuration.licences if known == name), 0):
                raise SlurmRefusalError("Invalid license specification")
        for wanted in request.gres:
            most = max(
                sum(one.count for one in node.gres if one.name == wanted.name and wanted.type in {"", one.type})
                for node in nodes
            )
            if wanted.count > most:
                raise SlurmRefusalError("Requested node configuration is not available")
        for part in filter(None, request.dependency.replace("?", ",").split(",")):
            if part != "singleton" and not self._is_known(part):
                raise SlurmRefusalError("Job dependency problem")

    def _is_known(self, part: str) -> bool:
        """Is a part of a dependency of a known kind, and on jobs that were submitted?"""
        kind, _, references = part.partition(":")
        return kind in KINDS and all(one in self._cluster.jobs for one in referenced(references))

    def _check_reservation(self, request: BatchRequest, association: Association | None) -> None:
        if request.reservation is None:
            return
        found = self._cluster.reservations.named(request.reservation)
        account = association.account if association is not None else request.account
        if found is None:
            raise SlurmRefusalError("Requested reservation is invalid")
        if not found.permits(request.user, account):
            raise SlurmRefusalError("Access denied to requested reservation")

    def _check_limits(self, jobs: list[SlurmJob]) -> None:
        cluster = self._cluster
        reasons = [cluster.limits.partition_reason(jobs[0], one) for one in jobs[0].partitions]
        enforced = cluster.configuration.enforce_part_limits
        if (enforced in {"ALL", "YES"} and any(reasons)) or (enforced == "ANY" and all(reasons)):
            raise SlurmRefusalError("Requested partition configuration not available now")
        if message := cluster.limits.refusal(jobs):
            raise SlurmRefusalError(message)


def _sizes(request: BatchRequest) -> tuple[int, int, int]:
    """Return the tasks, and the least and the largest number of nodes."""
    each = request.tasks_per_node
    least = request.min_nodes or (-(-request.tasks // each) if request.tasks and each else 1)
    most = request.max_nodes or _ANY_NODES
    return request.tasks or least * (each or 1), least, most
