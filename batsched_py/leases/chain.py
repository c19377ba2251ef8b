"""Chains: the successive jobs of leases, and records of jobs that run, are being killed, or continue."""

from __future__ import annotations

from typing import NamedTuple

from batsched_py.hostset import HostSet
from batsched_py.leases.lease import Lease, LeaseRun
from batsched_py.model.job import Job
from batsched_py.protocol.events import Members


class Chain:
    """A job of a lease with the segments that follow it.

    Attributes:
        nodes: the nodes of the lease on which it runs.
        job: the last segment: it waits for its start, runs, or has run.
        waits: True if the job is to be started; Batsim may not have accepted its submission yet.
        done: True if all its work is done.
        parts: the profiles of the current run, in order; empty while it is the job submitted by the user.
        following: the profiles after that of the job.
        limit: the time limit of a run from its begin, in seconds.
    """

    __slots__ = ("done", "following", "job", "lease", "limit", "nodes", "parts", "waits")

    def __init__(self, lease: Lease, nodes: range, job: Job) -> None:
        self.lease, self.nodes, self.job, self.limit = lease, nodes, job, job.limit
        self.waits, self.done = True, False
        self.parts: tuple[Members, ...] = ()
        self.following: tuple[Members, ...] = ()


class RunningLeaseJob(NamedTuple):
    """A running job, the run of its lease for which it was started, and its start."""

    chain: Chain
    run: LeaseRun
    job: Job
    started: float


class Killed(NamedTuple):
    """A job that is being killed, its start, and the reason: "suspend", "requeue", "shutdown", "cancel", "fail"."""

    chain: Chain
    job: Job
    started: float
    why: str


class Left(NamedTuple):
    """The remaining work of a job: profiles in order, and the remaining time limit in seconds.

    With a run, the job has ended by itself, and its next part starts immediately in this run.
    """

    chain: Chain
    parts: tuple[Members, ...]
    walltime: float
    run: LeaseRun | None = None


class Lingering(NamedTuple):
    """The hosts of jobs that still run after their planned end; those of jobs without demands among them."""

    hosts: HostSet
    whole: HostSet


class ShownOverhead(NamedTuple):
    """A job that shows a suspension or a resumption, and its hosts."""

    job: Job
    hosts: HostSet
