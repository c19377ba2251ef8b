"""Profiles that Batsim forgets, and how long they can be read."""

from __future__ import annotations

from batsched_py.model.job import Job
from batsched_py.protocol.begins import read_flat_config
from batsched_py.protocol.commands import RegisterJob, RegisterProfile, RejectJob
from batsched_py.protocol.events import Notify
from batsched_py.state.profiles import Profiles, ProfileStatus
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


def test_a_profile_goes_with_the_first_of_its_jobs_that_ends() -> None:
    """The reply to the message that tells the end may still name it; the job that goes on can be read about."""
    profiles = forgetful("a", "b")
    profiles.release(job("a"))
    assert profiles.status("dyn", "p") is ProfileStatus.THERE
    profiles.settle()
    assert profiles.status("dyn", "p") is ProfileStatus.GONE
    assert list(profiles.names("dyn")) == []
    assert profiles.members("dyn", "p") == DELAY
    profiles.release(job("b"))
    assert profiles.members("dyn", "p") == DELAY
    profiles.settle()
    assert profiles.members("dyn", "p") is None
    assert profiles.status("dyn", "p") is ProfileStatus.GONE
    assert profiles.pending is False


def test_a_profile_that_is_named_in_the_last_reply_that_may_stays_readable() -> None:
    """By a job that was registered there."""
    profiles = forgetful("a")
    profiles.release(job("a"))
    profiles.use(job("b"))
    profiles.settle()
    assert (profiles.status("dyn", "p"), profiles.members("dyn", "p")) == (ProfileStatus.GONE, DELAY)


def test_a_profile_that_we_registered_in_a_static_workload_is_ours() -> None:
    """No static job names it: it need not be kept for one."""
    profiles = forgetful()
    profiles.register("w0", "mine", DELAY)
    mine = Job.create("w0!n", size=1, profile="mine")
    profiles.use(mine)
    profiles.release(mine)
    profiles.settle()
    assert profiles.status("w0", "mine") is ProfileStatus.GONE
    assert profiles.members("w0", "mine") is None


def test_a_profile_that_no_job_has_named_stays() -> None:
    """Nothing took it along."""
    assert forgetful().status("dyn", "p") is ProfileStatus.THERE
    assert forgetful().status("dyn", "q") is ProfileStatus.UNKNOWN


def test_a_static_profile_stays_readable_while_unknown_jobs_may_have_it() -> None:
    """They have it whatever has ended; to name it anew is another thing."""
    profiles = forgetful()
    for name in ("1", "2"):
        profiles.use(job(name, "w0"))
        profiles.release(job(name, "w0"))
        profiles.settle()
        assert profiles.status("w0", "p") is ProfileStatus.GONE
        assert profiles.members("w0", "p") == DELAY
    profiles.complete()
    assert profiles.members("w0", "p") is None
    assert profiles.status("w0", "p") is ProfileStatus.GONE


def test_a_rejected_job_is_forgotten_after_the_next_message() -> None:
    """In the reply that rejects it, and in the next one, its profile is still there."""
    profiles = forgetful("a")
    profiles.leave(job("a"))
    assert profiles.status("dyn", "p") is ProfileStatus.THERE
    profiles.settle()
    assert (profiles.status("dyn", "p"), profiles.pending) == (ProfileStatus.THERE, True)
    profiles.settle()
    assert profiles.status("dyn", "p") is ProfileStatus.GONE
    assert profiles.members("dyn", "p") is None


def composed(*steps: str) -> dict[str, object]:
    return {"type": "composed", "seq": list(steps), "repeat": 2}


def of(profile: str, name: str = "1") -> Job:
    return Job.create(f"w0!{name}", size=1, profile=profile)


def test_a_composed_profile_takes_its_parts_along() -> None:
    """A part may be gone before it, and can be read as long as the composed one is needed."""
    profiles = Profiles({"w0": {"p": DELAY, "q": DELAY, "c": composed("p", "q", "p")}}, forgets=True)
    profiles.complete()
    for name, profile in (("1", "p"), ("2", "c"), ("3", "c")):
        profiles.use(of(profile, name))
    profiles.release(of("p"))
    profiles.settle()
    there, gone = ProfileStatus.THERE, ProfileStatus.GONE
    assert [profiles.status("w0", name) for name in "cpq"] == [there, gone, there]
    profiles.release(of("c", "2"))
    profiles.settle()
    assert [profiles.status("w0", name) for name in "cpq"] == [gone] * 3
    assert profiles.members("w0", "p") == profiles.members("w0", "q") == DELAY
    profiles.release(of("c", "3"))
    profiles.settle()
    assert [profiles.members("w0", name) for name in "cpq"] == [None] * 3


def test_a_composed_profile_that_comes_with_a_job_needs_its_parts_once() -> None:
    """However many jobs bring it along; one that cannot be read needs nothing."""
    profiles = Profiles({"w0": {"p": DELAY, "odd": {"type": "composed", "seq": "p"}}}, forgets=True)
    profiles.complete()
    for name in ("1", "2"):
        profiles.use(of("c", name))
        profiles.add("w0", "c", composed("p"))
    profiles.release(of("c", "1"))
    profiles.settle()
    assert profiles.members("w0", "p") == DELAY
    profiles.release(of("c", "2"))
    profiles.settle()
    assert profiles.members("w0", "p") is None
    assert profiles.status("w0", "odd") is ProfileStatus.THERE


def books(*jobs: Job, **config: bool) -> State:
    members = {**FORGETFUL.members, **{key.replace("_", "-"): value for key, value in config.items()}}
    return state(4, *jobs, config=read_flat_config(members))


def gone(now: State, workload: str, name: str) -> bool:
    return now.profiles.status(workload, name) is ProfileStatus.GONE


def with_own_job() -> State:
    """Workload dyn has the profile d, and a job that names it, which runs."""
    now = books()
    now.apply(RegisterProfile(0.0, "dyn", "d", {"type": "delay", "delay": 5}))
    assert not gone(now, "dyn", "d")
    now.apply(RegisterJob(0.0, "dyn!1", Job.create("dyn!1", size=1, profile="d")))
    now.apply(execute("dyn!1", "0"))
    return now


def test_a_profile_of_ones_own_goes_with_its_first_job() -> None:
    """After the reply to the message that tells its end, whatever other job names it; before, it stays."""
    now = with_own_job()
    now.apply(RegisterJob(0.0, "dyn!2", Job.create("dyn!2", size=1, profile="d")))
    now.advance(1.0)
    assert not gone(now, "dyn", "d")
    now.apply(completed("dyn!1", 1.0))
    assert not gone(now, "dyn", "d")
    now.advance(2.0)
    assert gone(now, "dyn", "d")


def test_a_rejected_job_is_forgotten_when_batsim_has_spoken_again() -> None:
    """In the reply to that message its profile can still be named."""
    now = books(static_job("a"))
    now.apply(RejectJob(0.0, "w0!a"))
    now.advance(1.0)
    assert not gone(now, "w0", "p")
    now.advance(2.0)
    assert gone(now, "w0", "p")


def test_a_profile_of_a_workload_is_gone_whatever_jobs_still_come() -> None:
    """They have it; to name it is refused. Until the last has come it can be read."""
    now = books(static_job("a"))
    now.profiles.add("w0", "p", DELAY)
    now.apply(execute("w0!a", "0"))
    now.advance(1.0)
    now.apply(completed("w0!a", 1.0))
    now.advance(2.0)
    assert gone(now, "w0", "p")
    assert now.profiles.members("w0", "p") is not None
    now.apply(Notify(2.0, "no_more_static_job_to_submit"))
    assert now.profiles.members("w0", "p") is None


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
    now.advance(2.0)
    assert gone(now, "dyn", "d")
    assert now.profiles.members("dyn", "d") is None


def test_nothing_is_counted_where_batsim_forgets_nothing() -> None:
    """Without dynamic jobs, with profile reuse, and by a Batsim that does not say."""
    for members in (
        {"dynamic-jobs-enabled": False, "profile-reuse-enabled": False},
        {"dynamic-jobs-enabled": True, "profile-reuse-enabled": True},
        {"dynamic-jobs-enabled": True},
    ):
        assert state(1, config=read_flat_config(members)).profiles.forgets is False


def test_a_peer_may_nest_profiles_as_deep_as_it_likes() -> None:
    """They are forgotten without going down as deep."""
    chain = {f"c{level}": composed(f"c{level - 1}") for level in range(1, 5000)}
    profiles = Profiles({"w0": {"c0": DELAY, **chain}}, forgets=True)
    profiles.complete()
    profiles.use(of("c4999"))
    profiles.release(of("c4999"))
    profiles.settle()
    assert profiles.status("w0", "c0") is ProfileStatus.GONE
    assert profiles.members("w0", "c0") is None
