"""Builders of clusters and jobs for the tests of Slurm's kernel."""

from __future__ import annotations

from batsched_py.slurm.conf_reader import read_configuration
from batsched_py.slurm.controller import SlurmController
from batsched_py.slurm.decisions import JobStart
from batsched_py.slurm.sacctmgr import read_accounts
from batsched_py.slurm.submission import read_request

#: Four nodes of four cores.
NODES = "NodeName=n[1-4] CPUs=4 RealMemory=1000\n"
PARTITION = "PartitionName=batch Nodes=n[1-4] Default=YES\n"


def controller(parameters: str = "", partitions: str = PARTITION, commands: tuple[str, ...] = ()) -> SlurmController:
    """A controller that started at time zero; all of its threads act at whole seconds."""
    conf = f"SelectType=select/cons_tres\nPriorityType=priority/basic\n{parameters}\n{NODES}{partitions}"
    return SlurmController(read_configuration({"slurm.conf": conf}), read_accounts(commands))


def submit(slurm: SlurmController, options: str, now: float = 0.0, user: str = "root") -> int:
    """Submit a job with options of sbatch."""
    return slurm.submit(read_request(options.split(), user), now)


def starts(slurm: SlurmController, to: float) -> list[tuple[str, float, str]]:
    """Advance, and return the started jobs with instants and nodes."""
    return [(one.job, one.at, one.nodes) for one in slurm.advance(to) if isinstance(one, JobStart)]
