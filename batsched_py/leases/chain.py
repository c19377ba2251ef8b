"""Chains: the jobs of leases that follow each other, and what is known of those that run, are killed, or go on."""

from __future__ import annotations

from typing import NamedTuple

from batsched_py.hostset import HostSet
from batsched_py.leases.lease import Lease, Run
from batsched_py.model.job import Job
from batsched_py.protocol.events import Members


class Chain:
    """A job of a lease with the segments that follow it.

    Attributes:
        nodes: those of the lease on which it runs.
        job: the last segment: it waits for its start, runs, or has run.
        waits: the job is to be started, though Batsim may not have taken it yet.
        done: it has done all its work.
        parts: profiles of the present run in turn; empty as long as it is the job that was submitted by a user.
        following: those that come after the job.
        limit: seconds that a run from its begin may take.
    """

    __slots__ = ("done", "following", "job", "lease", "limit", "nodes", "parts", "waits")

    def __init__(self, lease: Lease, nodes: range, job: Job) -> None:
        self.lease, self.nodes, self.job, self.limit = lease, nodes, job, job.limit
        self.waits, self.done = True, False
        self.parts: tuple[Members, ...] = ()
        self.following: tuple[Members, ...] = ()


class Running(NamedTuple):
    """A job that runs, the run of its lease for which it was started, and when."""

    chain: Chain
    run: Run
    job: Job
    started: float


class Killed(NamedTuple):
    """A job that is being killed, when it was started, and why: "suspend", "requeue", "shutdown", "cancel", "fail"."""

    chain: Chain
    job: Job
    started: float
    why: str


class Left(NamedTuple):
    """A job that goes on: its work as profiles in turn, and the seconds that it may still run.

    If it has ended, and not been killed, it goes on at once, in its run.
    """

    chain: Chain
    parts: tuple[Members, ...]
    walltime: float
    run: Run | None = None


class ShownOverhead(NamedTuple):
    """A job that shows what suspending or resuming takes, and its hosts."""

    job: Job
    hosts: HostSet
