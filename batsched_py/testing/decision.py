"""The decision of an algorithm in answer to one message, as values that are easy to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.protocol.commands import (
    CallMeLater,
    Command,
    ExecuteJob,
    KillJob,
    RegisterJob,
    RejectJob,
    SetResourceState,
)


class Decision(Struct, frozen=True):
    """The plan of one message; jobs are named by their ids, times are seconds.

    Attributes:
        now: time of the message.
        started: job -> its hosts, in the order of starting.
        rejected: job -> reason, also of jobs that were rejected before the algorithm saw them.
        killed: jobs.
        calls: instants at which it asked to be called.
        pstates: host -> the pstate asked for.
        submitted: id -> job, of the jobs that the algorithm submits itself.
        promises: job -> its promised start, of all waiting jobs with a promise.
        holds: job -> reason, of all waiting jobs with a reason.
        commands: all commands, as they were sent.
    """

    now: float
    started: Mapping[str, HostSet]
    rejected: Mapping[str, str]
    killed: Sequence[str]
    calls: Sequence[float]
    pstates: Mapping[int, int]
    submitted: Mapping[str, Job]
    promises: Mapping[str, float]
    holds: Mapping[str, str]
    commands: Sequence[Command]

    @classmethod
    def of(
        cls,
        now: float,
        commands: Sequence[Command],
        rejections: Mapping[str, str],
        promises: Mapping[str, float],
        holds: Mapping[str, str],
    ) -> Decision:
        """Sort the commands; `rejections` has the reasons of the whole run."""
        started: dict[str, HostSet] = {}
        rejected: dict[str, str] = {}
        killed: list[str] = []
        pstates: dict[int, int] = {}
        submitted: dict[str, Job] = {}
        for command in commands:
            if isinstance(command, ExecuteJob):
                started[command.job_id] = command.hosts
            elif isinstance(command, RejectJob):
                rejected[command.job_id] = rejections[command.job_id]
            elif isinstance(command, KillJob):
                killed += command.job_ids
            elif isinstance(command, SetResourceState):
                pstates.update(dict.fromkeys(command.hosts, int(command.state)))
            elif isinstance(command, RegisterJob) and command.job is not None:
                submitted[command.job_id] = command.job
        calls = [command.at for command in commands if isinstance(command, CallMeLater)]
        return cls(now, started, rejected, killed, calls, pstates, submitted, promises, holds, tuple(commands))
