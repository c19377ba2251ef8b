"""Profiles that Batsim forgets, and those of which nobody knows."""

from __future__ import annotations

from batsched_py.model.job import Job
from batsched_py.protocol.begins import read_flat_config
from batsched_py.protocol.commands import RegisterJob, RegisterProfile, RejectJob
from batsched_py.protocol.events import Notify
from batsched_py.state.profiles import Profiles, Standing
from batsched_py.state.state import State
from tests.builders import completed, execute, state, submitted
from tests.builders import job as static_job

DELAY = {"type": "delay", "delay": 3}
FORGETFUL = read_flat_config({"dynamic-jobs-enabled": True, "profile-reuse-enabled": False})


def job(name: str, workload: str = "dyn") -> Job:
    return Job.create(f"{workload}!{name}", size=1, profile="p")


def forgetful(*registered: str) -> Profiles:
    profiles = Profiles({"w0": {"p": DELAY}}, forgets=True)
    profiles.register("dyn", "p", DELAY)
    for name in registered:
        profiles.use(job(name))
    return profiles


def test_a_profile_goes_with_its_last_job() -> None:
    """And can be read until the next message: the job's progress is told in this one."""
    profiles = forgetful("a", "b")
    profiles.release(job("a"))
    assert profiles.standing("dyn", "p") is Standing.THERE
    profiles.release(job("b"))
    assert profiles.standing("dyn", "p") is Standing.GONE
    assert list(profiles.names("dyn")) == []
    assert profiles.members("dyn", "p") == DELAY
    profiles.settle()
    assert profiles.members("dyn", "p") is None
    assert profiles.standing("dyn", "p") is Standing.GONE


def test_a_profile_that_we_registered_in_a_static_workload_is_ours() -> None:
    """No static job names it: nobody need doubt what became of it."""
    profiles = forgetful()
    profiles.register("w0", "mine", DELAY)
    mine = Job.create("w0!n", size=1, profile="mine")
    profiles.use(mine)
    profiles.release(mine)
    assert profiles.standing("w0", "mine") is Standing.GONE


def test_a_profile_that_no_job_has_named_stays() -> None:
    """Nothing took it along."""
    assert forgetful().standing("dyn", "p") is Standing.THERE
    assert forgetful().standing("dyn", "q") is Standing.UNKNOWN


def test_a_static_profile_is_doubtful_while_unknown_jobs_may_name_it() -> None:
    """We do not know the jobs that are still to come, Batsim does."""
    profiles = forgetful()
    static = job("1", "w0")
    profiles.use(static)
    profiles.release(static)
    assert profiles.standing("w0", "p") is Standing.DOUBTFUL
    profiles.use(job("2", "w0"))
    assert profiles.standing("w0", "p") is Standing.THERE
    profiles.release(job("2", "w0"))
    profiles.complete()
    assert profiles.standing("w0", "p") is Standing.GONE


def test_a_rejected_job_is_forgotten_with_the_next_message() -> None:
    """In the reply that rejects it, its profile is still there."""
    profiles = forgetful("a")
    profiles.leave(job("a"))
    assert profiles.standing("dyn", "p") is Standing.THERE
    profiles.settle()
    assert profiles.standing("dyn", "p") is Standing.GONE
    profiles.settle()
    assert profiles.members("dyn", "p") is None


def composed(*steps: str) -> dict[str, object]:
    return {"type": "composed", "seq": list(steps), "repeat": 2}


def of(profile: str, name: str = "1") -> Job:
    return Job.create(f"w0!{name}", size=1, profile=profile)


def test_a_composed_profile_needs_its_parts() -> None:
    """A part stays when the last job that names it has ended, and goes with the composed one; both can be read then."""
    profiles = Profiles({"w0": {"p": DELAY, "q": DELAY, "c": composed("p", "q", "p")}}, forgets=True)
    profiles.complete()
    for name in ("p", "c"):
        profiles.use(of(name))
    profiles.release(of("p"))
    profiles.settle()
    assert profiles.standing("w0", "p") is Standing.THERE
    assert profiles.members("w0", "p") == DELAY
    profiles.release(of("c"))
    assert [profiles.standing("w0", name) for name in "cpq"] == [Standing.GONE] * 3
    assert profiles.members("w0", "p") == DELAY
    profiles.settle()
    assert list(profiles.names("w0")) == []


def test_the_parts_of_a_doubtful_profile_are_doubtful() -> None:
    """Until a job names it: then they are certainly there. Once all jobs came, they are gone with it."""
    told = {"p": DELAY, "q": DELAY, "inner": composed("p"), "c": composed("inner", "q")}
    profiles = Profiles({"w0": told}, forgets=True)

    def standings() -> list[Standing]:
        return [profiles.standing("w0", name) for name in told]

    profiles.use(of("c"))
    profiles.use(of("q"))
    profiles.release(of("c"))
    there, doubtful = Standing.THERE, Standing.DOUBTFUL
    assert standings() == [doubtful, there, doubtful, doubtful]
    profiles.use(of("c", "2"))
    assert standings() == [there] * 4
    profiles.release(of("q"))
    assert standings() == [there] * 4
    profiles.release(of("c", "2"))
    assert standings() == [doubtful] * 4
    profiles.use(of("inner"))
    assert standings() == [there, doubtful, there, doubtful]
    profiles.complete()
    assert standings() == [there, Standing.GONE, there, Standing.GONE]
    profiles.release(of("inner"))
    assert standings() == [Standing.GONE] * 4


def test_a_composed_profile_that_comes_with_a_job_needs_its_parts_once() -> None:
    """However many jobs bring it along; one that cannot be read needs nothing."""
    profiles = Profiles({"w0": {"p": DELAY, "odd": {"type": "composed", "seq": "p"}}}, forgets=True)
    profiles.complete()
    for name in ("1", "2"):
        profiles.use(of("c", name))
        profiles.add("w0", "c", composed("p"))
    profiles.release(of("c", "1"))
    assert profiles.standing("w0", "p") is Standing.THERE
    profiles.release(of("c", "2"))
    assert profiles.standing("w0", "p") is Standing.GONE
    assert profiles.standing("w0", "odd") is Standing.THERE


def books(*jobs: Job, **config: bool) -> State:
    members = {**FORGETFUL.members, **{key.replace("_", "-"): value for key, value in config.items()}}
    return state(4, *jobs, config=read_flat_config(members))


def gone(now: State, workload: str, name: str) -> bool:
    return now.profiles.standing(workload, name) is Standing.GONE


def with_own_job() -> State:
    """Workload dyn has the profile d, and a job that names it, which runs."""
    now = books()
    now.apply(RegisterProfile(0.0, "dyn", "d", {"type": "delay", "delay": 5}))
    assert not gone(now, "dyn", "d")
    now.apply(RegisterJob(0.0, "dyn!1", Job.create("dyn!1", size=1, profile="d")))
    now.apply(execute("dyn!1", "0"))
    return now


def test_a_profile_of_ones_own_goes_with_its_last_job() -> None:
    """With the message that tells its end; before its first job it stays."""
    now = with_own_job()
    now.advance(1.0)
    assert not gone(now, "dyn", "d")
    now.apply(completed("dyn!1", 1.0))
    assert gone(now, "dyn", "d")


def test_a_profile_stays_as_long_as_another_job_names_it() -> None:
    """Whether it waits or runs."""
    now = with_own_job()
    now.apply(RegisterJob(0.0, "dyn!2", Job.create("dyn!2", size=1, profile="d")))
    now.advance(1.0)
    now.apply(completed("dyn!1", 1.0))
    assert not gone(now, "dyn", "d")


def test_a_rejected_job_is_forgotten_when_batsim_speaks_again() -> None:
    """In the same reply its profile can still be named."""
    now = books(static_job("a"))
    now.apply(Notify(0.0, "no_more_static_job_to_submit"))
    now.apply(RejectJob(0.0, "w0!a"))
    assert not gone(now, "w0", "p")
    now.advance(1.0)
    assert gone(now, "w0", "p")


def test_a_profile_of_a_workload_is_gone_for_certain_once_all_its_jobs_came() -> None:
    """Before, one may come that holds it."""
    now = books(static_job("a"))
    now.apply(execute("w0!a", "0"))
    now.advance(1.0)
    now.apply(completed("w0!a", 1.0))
    assert not gone(now, "w0", "p")
    now.apply(Notify(1.0, "no_more_static_job_to_submit"))
    assert gone(now, "w0", "p")


def test_an_acknowledged_job_is_counted_once() -> None:
    """When it was registered, not when it comes back."""
    now = books(dynamic_jobs_acknowledged=True)
    now.apply(RegisterProfile(0.0, "dyn", "d", {"type": "delay", "delay": 5}))
    mine = Job.create("dyn!1", size=1, profile="d")
    now.apply(RegisterJob(0.0, mine.id, mine))
    now.advance(0.0)
    now.apply(submitted(mine))
    now.apply(execute("dyn!1", "0"))
    now.advance(1.0)
    now.apply(completed("dyn!1", 1.0))
    assert gone(now, "dyn", "d")


def test_nothing_is_counted_where_batsim_forgets_nothing() -> None:
    """Without dynamic jobs, with profile reuse, and by a Batsim that does not say."""
    for members in (
        {"dynamic-jobs-enabled": False, "profile-reuse-enabled": False},
        {"dynamic-jobs-enabled": True, "profile-reuse-enabled": True},
        {"dynamic-jobs-enabled": True},
    ):
        assert state(1, config=read_flat_config(members)).profiles.forgets is False
