"""Profiles that real Batsim forgets with their last job."""

from __future__ import annotations

from batsched_py.api import Job
from batsched_py.protocol.begins import read_flat_config
from batsched_py.protocol.commands import RegisterJob, RegisterProfile, RejectJob
from batsched_py.protocol.events import Notify
from batsched_py.state.profile_use import ProfileUse
from batsched_py.state.state import State
from tests.builders import completed, execute, job, state, submitted

FORGETFUL = read_flat_config({"dynamic-jobs-enabled": True, "profile-reuse-enabled": False})


def books(*jobs: Job, **config: bool) -> tuple[State, ProfileUse]:
    members = {**FORGETFUL.members, **{key.replace("_", "-"): value for key, value in config.items()}}
    fresh = state(4, *jobs, config=read_flat_config(members))
    assert fresh.profile_use is not None
    return fresh, fresh.profile_use


def with_own_job() -> tuple[State, ProfileUse]:
    """Workload dyn has the profile d, and a job that names it, which runs."""
    now, use = books()
    now.apply(RegisterProfile(0.0, "dyn", "d", {"type": "delay", "delay": 5}))
    assert not use.is_gone("dyn", "d")
    now.apply(RegisterJob(0.0, "dyn!1", Job.create("dyn!1", size=1, profile="d")))
    now.apply(execute("dyn!1", "0"))
    return now, use


def test_a_profile_of_ones_own_goes_with_its_last_job() -> None:
    """With the message that tells its end; before its first job it stays."""
    now, use = with_own_job()
    now.advance(1.0)
    assert not use.is_gone("dyn", "d")
    now.apply(completed("dyn!1", 1.0))
    assert use.is_gone("dyn", "d")


def test_a_profile_stays_as_long_as_another_job_names_it() -> None:
    """Whether it waits or runs."""
    now, use = with_own_job()
    now.apply(RegisterJob(0.0, "dyn!2", Job.create("dyn!2", size=1, profile="d")))
    now.advance(1.0)
    now.apply(completed("dyn!1", 1.0))
    assert not use.is_gone("dyn", "d")


def test_a_rejected_job_is_forgotten_when_batsim_speaks_again() -> None:
    """In the same reply its profile can still be named."""
    now, use = books(job("a"))
    now.apply(Notify(0.0, "no_more_static_job_to_submit"))
    now.apply(RejectJob(0.0, "w0!a"))
    assert not use.is_gone("w0", "p")
    now.advance(1.0)
    assert use.is_gone("w0", "p")


def test_a_profile_of_a_workload_is_gone_for_certain_once_all_its_jobs_came() -> None:
    """Before, one may come that holds it."""
    now, use = books(job("a"))
    now.apply(execute("w0!a", "0"))
    now.advance(1.0)
    now.apply(completed("w0!a", 1.0))
    assert not use.is_gone("w0", "p")
    now.apply(Notify(1.0, "no_more_static_job_to_submit"))
    assert use.is_gone("w0", "p")


def test_an_acknowledged_job_is_counted_once() -> None:
    """When it was registered, not when it comes back."""
    now, use = books(dynamic_jobs_acknowledged=True)
    now.apply(RegisterProfile(0.0, "dyn", "d", {"type": "delay", "delay": 5}))
    mine = Job.create("dyn!1", size=1, profile="d")
    now.apply(RegisterJob(0.0, mine.id, mine))
    now.advance(0.0)
    now.apply(submitted(mine))
    now.apply(execute("dyn!1", "0"))
    now.advance(1.0)
    now.apply(completed("dyn!1", 1.0))
    assert use.is_gone("dyn", "d")


def test_nothing_is_counted_where_batsim_forgets_nothing() -> None:
    """Without dynamic jobs, with profile reuse, and by a Batsim that does not say."""
    for members in (
        {"dynamic-jobs-enabled": False, "profile-reuse-enabled": False},
        {"dynamic-jobs-enabled": True, "profile-reuse-enabled": True},
        {"dynamic-jobs-enabled": True},
    ):
        assert state(1, config=read_flat_config(members)).profile_use is None
