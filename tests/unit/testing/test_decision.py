"""The decision of one message, sorted out of its commands."""

from __future__ import annotations

from batsched_py.api import HostSet, Job
from batsched_py.protocol.commands import (
    CallMeLater,
    Command,
    ExecuteJob,
    KillJob,
    RegisterJob,
    RejectJob,
    SetResourceState,
)
from batsched_py.testing import Decision

JOB = Job.create("dyn!1", size=1, profile="p")


def decision(*commands: Command) -> Decision:
    return Decision.of(3.0, commands, {"w0!big": "too large", "w0!old": "as before"}, {"w0!c": 9.0}, {"w0!c": "?"})


def test_each_command_stands_under_its_kind() -> None:
    """In the order of the reply; those that came of several commands are joined."""
    commands: tuple[Command, ...] = (
        ExecuteJob(3.0, "w0!b", HostSet.parse("2-3")),
        ExecuteJob(3.0, "w0!a", HostSet.of(0)),
        RejectJob(3.0, "w0!big"),
        KillJob(3.0, ("w0!x", "w0!y")),
        KillJob(3.0, ("w0!z",)),
        CallMeLater(3.0, 7.0),
        SetResourceState(3.0, HostSet.parse("4-6"), "2"),
        SetResourceState(3.0, HostSet.of(5), "0"),
        RegisterJob(3.0, "dyn!1", JOB),
    )
    found = decision(*commands)
    assert list(found.started.items()) == [("w0!b", HostSet.parse("2-3")), ("w0!a", HostSet.of(0))]
    assert found.rejected == {"w0!big": "too large"}
    assert found.killed == ["w0!x", "w0!y", "w0!z"]
    assert found.calls == [7.0]
    assert found.pstates == {4: 2, 5: 0, 6: 2}
    assert found.submitted == {"dyn!1": JOB}
    assert (found.now, found.promises, found.holds) == (3.0, {"w0!c": 9.0}, {"w0!c": "?"})
    assert found.commands == commands


def test_a_job_that_is_only_named_was_not_submitted() -> None:
    """Its description is in Redis."""
    assert decision(RegisterJob(3.0, "dyn!1", None)).submitted == {}
