"""The state of a job as squeue shows it, with the reason for which it pends, or its nodes."""

from __future__ import annotations

from typing import Final, NamedTuple

from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.jobs import PENDING, RUNNING, SUSPENDED, SlurmJob

#: Its nodes are not free yet, although it was ended.
COMPLETING: Final = "COMPLETING"
#: State -> its short form in the column ST.
SHORT: Final = {
    PENDING: "PD",
    RUNNING: "R",
    SUSPENDED: "S",
    COMPLETING: "CG",
    "CANCELLED": "CA",
    "COMPLETED": "CD",
    "DEADLINE": "DL",
    "FAILED": "F",
    "NODE_FAIL": "NF",
    "PREEMPTED": "PR",
    "TIMEOUT": "TO",
}
#: The reason of a job that no pass has looked at.
NO_REASON: Final = "None"
#: The reason of a job that depends on one which was not submitted yet.
DEPENDENCY: Final = "Dependency"


class JobStatus(NamedTuple):
    """State, reason ("" unless it pends) and nodes ("" unless it has some)."""

    state: str
    reason: str
    nodes: str

    @property
    def shown(self) -> str:
        """The column NODELIST(REASON)."""
        return f"({self.reason})" if self.reason else self.nodes


def status_of(job: SlurmJob, cluster: ClusterState) -> JobStatus:
    """Return the status of a submitted job."""
    if job.state == PENDING:
        return JobStatus(PENDING, job.reason or NO_REASON, "")
    if job.ended is not None or job.allocation is None:
        return JobStatus(job.state, "", "")
    state = COMPLETING if job in cluster.completing else job.state
    return JobStatus(state, "", cluster.names(job.allocation.nodes))


def account_of(job: SlurmJob) -> str:
    """Return the account of a job; "" without one."""
    return job.association.account if job.association is not None else job.request.account or ""
