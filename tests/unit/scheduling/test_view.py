"""The View: what changed since the last decision, and what verbs show at once."""

from __future__ import annotations

import pytest

from batsched_py.errors import PlanError
from batsched_py.planning.wait_time import TOLERANCE
from batsched_py.protocol.events import NO_MORE_STATIC_JOB, Notify
from batsched_py.scheduling.view import View
from tests.builders import completed, execute, hosts, job, plan_for, state, submitted


def test_arrived_jobs_are_those_of_the_latest_message_that_still_wait() -> None:
    """A job that the plan starts has not arrived any more."""
    now = state(4, job("a"))
    view = View(now)
    now.advance(1.0)
    now.apply(submitted(job("b")))
    now.apply(submitted(job("c")))
    assert [new.id for new in view.arrived] == ["w0!b", "w0!c"]
    plan_for(now).start(job("b"), hosts("0"))
    assert [new.id for new in view.arrived] == ["w0!c"]
    assert [waiting.id for waiting in view.queue] == ["w0!a", "w0!c"]


def test_hosts_change_when_a_job_ends_and_not_when_one_starts() -> None:
    """Only more room is a reason to look at the whole queue again."""
    now = state(4, job("a"))
    view = View(now)
    now.apply(execute("w0!a", "0"))
    assert not view.hosts_changed
    now.advance(1.0)
    now.apply(completed("w0!a", 1.0))
    assert view.hosts_changed
    now.advance(2.0)
    assert not view.hosts_changed


def test_methods_say_whether_they_take_a_job_or_its_id() -> None:
    """Instead of an AttributeError, or of "no such job"."""
    view = View(state(4, job("a")))
    for name in ("job", "run"):
        with pytest.raises(PlanError, match=rf"^view.{name}: the id of a job is needed, not a Job: its attribute id"):
            getattr(view, name)(job("a"))
    with pytest.raises(PlanError, match=r"^view.profile: a job is needed, not the text 'w0!a': view.job\('w0!a'\)"):
        view.profile("w0!a")  # type: ignore[arg-type]


@pytest.mark.parametrize(("time", "due"), [(5.0, True), (5.0 + TOLERANCE / 2, True), (5.0 + 2 * TOLERANCE, False)])
def test_an_instant_is_due_a_little_before(time: float, due: bool) -> None:
    """Batsim's messages take time."""
    now = state(1)
    now.advance(5.0)
    assert View(now).due(time) is due


def test_the_availability_follows_what_the_plan_does() -> None:
    """It is made at the first question, from the jobs that run already, and kept up to date."""
    now = state(4, job("a", walltime=10), job("b", walltime=20))
    now.apply(execute("w0!a", "0"))
    future = View(now).availability()
    now.apply(execute("w0!b", "1"))
    slot = future.earliest(4, 1.0)
    assert slot is not None
    assert slot.start == 20.0


def test_jobs_that_ended_are_forgotten() -> None:
    """Waiting and running ones are found by their ids."""
    now = state(4, job("a"))
    view = View(now)
    assert view.job("w0!a") == job("a")
    now.apply(execute("w0!a", "0"))
    assert view.job("w0!a") == job("a")
    now.apply(completed("w0!a"))
    assert view.job("w0!a") is None
    assert not view.all_submitted
    now.apply(Notify(0.0, NO_MORE_STATIC_JOB))
    assert view.all_submitted
