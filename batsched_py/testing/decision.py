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
        calls: times of requested calls.
        pstates: host -> the requested pstate.
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
        switches = [command for command in commands if isinstance(command, SetResourceState)]
        registered = [command for command in commands if isinstance(command, RegisterJob)]
        return cls(
            now,
            started={command.job_id: command.hosts for command in commands if isinstance(command, ExecuteJob)},
            rejected={each.job_id: rejections[each.job_id] for each in commands if isinstance(each, RejectJob)},
            killed=[job_id for command in commands if isinstance(command, KillJob) for job_id in command.job_ids],
            calls=[command.at for command in commands if isinstance(command, CallMeLater)],
            pstates={host: int(switch.state) for switch in switches for host in switch.hosts},
            submitted={command.job_id: command.job for command in registered if command.job is not None},
            promises=promises,
            holds=holds,
            commands=tuple(commands),
        )
