"""The place of the workers of a campaign: this machine, a Dask scheduler, or a batch system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

#: Batch systems -> classes of dask-jobqueue.
CLUSTERS: Final[Mapping[str, str]] = {
    "slurm": "SLURMCluster",
    "oar": "OARCluster",
    "pbs": "PBSCluster",
    "lsf": "LSFCluster",
    "sge": "SGECluster",
    "htcondor": "HTCondorCluster",
}


class WorkerPlace(Struct, frozen=True):
    """The place where runs are executed.

    Attributes:
        scheduler: address of a Dask scheduler that runs already; None to start workers.
        cluster: batch system whose jobs are workers; None for processes of this machine.
        workers: number of processes, or of jobs of the batch system; None for one for each core, or one job.
    """

    scheduler: str | None = None
    cluster: Literal["slurm", "oar", "pbs", "lsf", "sge", "htcondor"] | None = None
    workers: int | None = None

    @property
    def needs_dask(self) -> bool:
        """True unless the workers are processes of this machine."""
        return self.scheduler is not None or self.cluster is not None

    @property
    def count(self) -> int:
        """The number of workers that is expected of a batch system."""
        return self.workers or 1
