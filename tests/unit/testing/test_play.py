"""The player of cases: results, watching, and runs that do not end."""

from __future__ import annotations

from typing import get_args

import pytest

from batsched_py.api import NoOptions, Plan, Scheduler, View
from batsched_py.errors import ContractError
from batsched_py.plugins import load
from batsched_py.session.session import Session
from batsched_py.testing.case import Case, Peer
from batsched_py.testing.play import MESSAGES, MESSAGES_PER_JOB, Player, play

CASE = Case(hosts=2, jobs=((0, 2, 5, 9), (1, 1, 3, 9)))


class Restless(Scheduler[NoOptions]):
    """Asks to be called again and again, and starts nothing."""

    name = "restless"

    def decide(self, view: View, plan: Plan) -> None:
        plan.wake_at(view.now + 1.0)


class Idle(Scheduler[NoOptions]):
    """Starts nothing."""

    name = "idle"

    def decide(self, view: View, plan: Plan) -> None:
        """Decide nothing."""


@pytest.mark.parametrize("peer", get_args(Peer))
def test_each_job_has_an_ending_with_each_peer(peer: Peer) -> None:
    """Each exchange is kept, and was watched after it was checked."""
    watched: list[tuple[bytes, bytes]] = []

    def watch(session: Session, request: bytes, reply: bytes) -> None:
        session.check()
        watched.append((request, reply))

    played = play(load("fcfs"), {}, Case(hosts=2, jobs=CASE.jobs, peer=peer), watch)
    assert {ending.job.id for ending in played.endings} == {"w0!000", "w0!001"}
    assert played.deadlock == ""
    assert played.exchanges == tuple(watched)


@pytest.mark.parametrize("peer", ["simulator", "torn"])
def test_a_standstill_is_a_result(peer: Peer) -> None:
    """The rules judge it, not the player."""
    played = play(Idle, {}, Case(hosts=2, jobs=CASE.jobs, peer=peer))
    assert played.endings == ()
    assert "w0!000" in played.deadlock


def test_a_run_that_does_not_end_is_stopped() -> None:
    """After so many messages, and some for each job; the last of them can be shown."""
    player = Player(Restless, {}, CASE)
    most = MESSAGES + 2 * MESSAGES_PER_JOB
    with pytest.raises(ContractError, match=f"^the run does not end: {most} messages for 2 jobs$"):
        player.run()
    assert len(player.exchanges) == most
    *_, last = player.last_lines(3)
    assert "-> CALL_ME_LATER at " in last


def test_before_the_first_message_there_are_no_last_lines() -> None:
    """As when the algorithm cannot be made."""
    assert Player(Idle, {}, CASE).last_lines(3) == ()
