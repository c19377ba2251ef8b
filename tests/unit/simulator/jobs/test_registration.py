"""Jobs and profiles that the scheduler registers."""

from typing import Any

import pytest

from batsched_py.errors import RefusedError
from batsched_py.model.settings import Settings
from batsched_py.simulator.jobs.profiles import DYNAMIC_COMPOSED
from tests.unit.simulator.scenario import Command, Profiles, call, execute, job, play, reject, workload

DYNAMIC = Settings(dynamic_jobs=True)
ACKNOWLEDGED = Settings(dynamic_jobs=True, acknowledge_dynamic_jobs=True)
FINISHED: Command = ("NOTIFY", {"type": "registration_finished"})
CONTINUED: Command = ("NOTIFY", {"type": "continue_registration"})
STATIC = workload(job("a", at=1))


def profile(name: str = "p", workload_name: str = "dyn", **members: Any) -> Command:
    described = members or {"type": "delay", "delay": 7}
    return "REGISTER_PROFILE", {"workload_name": workload_name, "profile_name": name, "profile": described}


def register(job_id: str = "dyn!1", **members: Any) -> Command:
    described = {"id": job_id.partition("!")[2], "subtime": 0, "res": 1, "profile": "p", **members}
    return "REGISTER_JOB", {"job_id": job_id, "job": described}


def test_a_registered_job_may_be_executed_in_the_same_reply() -> None:
    """Without acknowledgement nothing more is said about it."""
    script = {1.0: [reject("a"), profile(), register(), execute("dyn!1", "0"), FINISHED]}
    result, peer = play(STATIC, script, settings=DYNAMIC)
    assert [(record.job.id, record.finish) for record in result.jobs] == [("w0!a", 0.0), ("dyn!1", 8.0)]
    assert len(peer.told("JOB_SUBMITTED")) == 1


def test_an_acknowledged_job_is_told_with_its_full_id() -> None:
    """At once, whatever its subtime; other members are kept."""
    script = {1.0: [reject("a"), profile(), register(subtime=40, mine=[1]), execute("dyn!1", "0"), FINISHED]}
    _, peer = play(STATIC, script, settings=ACKNOWLEDGED)
    sent = {"id": "dyn!1", "subtime": 40, "res": 1, "profile": "p", "mine": [1]}
    assert peer.told("JOB_SUBMITTED")[1] == (1.0, {"job_id": "dyn!1", "job": sent})


def test_profiles_are_forwarded_if_so_asked() -> None:
    """They are for static and for registered jobs."""
    settings = Settings(dynamic_jobs=True, acknowledge_dynamic_jobs=True, forward_profiles=True)
    script = {1.0: [reject("a"), profile(), register(), execute("dyn!1", "0"), FINISHED]}
    _, peer = play(STATIC, script, settings=settings)
    assert [data["profile"]["delay"] for _, data in peer.told("JOB_SUBMITTED")] == [10, 7]


def bag(**script: list[Command]) -> dict[float, list[Command]]:
    """Jobs dyn!1 and dyn!2 of one profile begin at 1 s and end at 8 s; what else is said at "t..." seconds."""
    begin = [reject("a"), profile(), register(), register("dyn!2"), execute("dyn!1", "0"), execute("dyn!2", "1")]
    return {1.0: [*begin, call(20)]} | {float(at[1:]): commands for at, commands in script.items()}


def test_the_reply_to_the_end_of_a_job_may_still_name_its_profile() -> None:
    """Also if the other jobs that named it end in the same message; as often as it likes."""
    script = bag(t8=[register("dyn!3"), execute("dyn!3", "2")], t20=[FINISHED])
    result, _ = play(STATIC, script, settings=DYNAMIC)
    assert [(record.job.id, record.finish) for record in result.jobs[1:]] == [
        ("dyn!1", 8.0),
        ("dyn!2", 8.0),
        ("dyn!3", 15.0),
    ]


@pytest.mark.parametrize("longer", [False, True])
def test_a_profile_goes_with_the_first_of_its_jobs_that_ends(longer: bool) -> None:
    """To any later reply its name is unknown, whether another job runs or not; unless profiles are reused (E8)."""
    script = bag(t20=[register("dyn!3"), execute("dyn!3", "2"), FINISHED])
    if longer:
        script[8.0] = [register("dyn!4", profile="p"), execute("dyn!4", "3"), call(10)]
        script[10.0] = script.pop(20.0)
    rule = r"events\[0\] REGISTER_JOB: job dyn!3 cannot run its profile: profiles.p was forgotten when the first of its"
    with pytest.raises(RefusedError, match=rule):
        play(STATIC, script, settings=DYNAMIC)


def test_profiles_that_are_reused_stay() -> None:
    """With --enable-profile-reuse."""
    script = bag(t20=[register("dyn!3"), execute("dyn!3", "2"), FINISHED])
    result, _ = play(STATIC, script, settings=Settings(dynamic_jobs=True, profile_reuse=True))
    assert result.end == 27.0


def test_a_job_that_has_a_forgotten_profile_runs() -> None:
    """One that waits, and one of the workload that comes later: they were given it when they were read."""
    jobs = workload(job("a", "d5", at=1), job("b", "d5", at=1), job("c", "twice", at=30), profiles=TWICE)
    script: dict[float, list[Command]] = {
        1.0: [execute("a", "0"), call(20)],
        20.0: [execute("b", "0")],
        30.0: [execute("c", "0"), FINISHED],
    }
    result, _ = play(jobs, script, settings=DYNAMIC)
    assert [record.finish for record in result.jobs] == [6.0, 25.0, 40.0]


def test_a_rejected_job_takes_its_profile_along_after_the_next_message() -> None:
    """With which Batsim forgets the job."""
    more = [register("w0!b", profile="d10"), execute("w0!b", "0"), FINISHED]
    script = {1.0: [reject("a"), call(5)], 5.0: more}
    assert play(STATIC, script, settings=DYNAMIC)[0].end == 15.0
    script = {1.0: [reject("a"), call(5)], 5.0: [call(7)], 7.0: more}
    with pytest.raises(RefusedError, match=r"profiles.d10 was forgotten"):
        play(STATIC, script, settings=DYNAMIC)


TWICE: Profiles = {"d5": {"type": "delay", "delay": 5}, "twice": {"type": "composed", "seq": ["d5", "d5"]}}


def test_a_composed_profile_takes_its_parts_along() -> None:
    """Once the end of a job that names it was told; before, a part may be gone by itself."""
    jobs = workload(job("a", "d5", at=1), job("b", "twice", at=1), profiles=TWICE)
    script: dict[float, list[Command]] = {1.0: [execute("b", "0"), call(30)], 30.0: [reject("a")], 31.0: []}
    script[30.0] = [reject("a"), profile("d5", "w0")]
    with pytest.raises(RefusedError, match="profile w0!d5 existed before"):
        play(jobs, script, settings=DYNAMIC)
    script = {1.0: [execute("a", "0"), call(30)], 30.0: [profile("c", "w0", type="composed", seq=["twice", "d5"])]}
    with pytest.raises(RefusedError, match=r"profile w0!c: profiles.d5 was forgotten"):
        play(jobs, script, settings=DYNAMIC)
    script[30.0] = [profile("c", "w0", type="composed", seq=["twice"]), reject("b"), FINISHED]
    assert play(jobs, script, settings=DYNAMIC)[0].end == 30.0


def test_the_name_of_a_forgotten_profile_is_taken() -> None:
    """Real Batsim keeps it, and aborts."""
    script = {1.0: [reject("a"), profile(), register(), execute("dyn!1", "0"), call(20)], 20.0: [profile()]}
    with pytest.raises(RefusedError, match=r"REGISTER_PROFILE: profile dyn!p existed before: it was forgotten when"):
        play(STATIC, script, settings=DYNAMIC)


def test_registration_may_be_finished_and_go_on() -> None:
    """The simulation ends when the last word is finished."""
    script = {1.0: [reject("a"), FINISHED, CONTINUED, call(20)], 20.0: [FINISHED]}
    result, _ = play(STATIC, script, settings=DYNAMIC)
    assert result.end == 20.0


def test_a_registered_composed_profile_runs_here_and_says_so() -> None:
    """Real Batsim 4.2.1 crashes when it executes one."""
    composed = profile("c", type="composed", seq=["p", "p"])
    script = {1.0: [reject("a"), profile(), composed, register(profile="c"), execute("dyn!1", "0"), FINISHED]}
    result, _ = play(STATIC, script, settings=DYNAMIC)
    assert (result.end, result.approximations) == (15.0, (DYNAMIC_COMPOSED,))


@pytest.mark.parametrize(
    ("commands", "rule"),
    [
        ([profile(), profile()], "events[1] REGISTER_PROFILE: profile dyn!p exists already"),
        ([profile(type="delay", delay=-1)], "profile dyn!p: delay must be"),
        (
            [profile(type="parallel_homogeneous", cpu=1)],
            "profile dyn!p: com must be there, with 0 for what is not sent",
        ),
        ([profile(type="smpi")], "profiles.p.type 'smpi' is not simulated here"),
        ([profile(type="composed", seq=["q"])], "names the profile 'q', which does not exist"),
        ([profile(type="composed", seq=["p"])], "is part of itself: p > p"),
        ([register()], "job dyn!1 belongs to the workload dyn, which does not exist"),
        ([profile("q"), register()], "job dyn!1 cannot run its profile"),
        ([profile(), register(), register()], "job dyn!1 has an id that was used before"),
        ([register("w0!a", profile="d10")], "job w0!a has an id that was used before"),
        ([profile(), register(id="other")], "job dyn!1 has another id in its description: 'other'"),
        (
            [profile(type="parallel", cpu=[1.0, 1.0], com=[0] * 4), register()],
            "is for 2 hosts, a job that runs it asks for 1",
        ),
        ([("REGISTER_JOB", {"job_id": "dyn!1"})], "job dyn!1 has no description, and there is no Redis"),
    ],
)
def test_what_cannot_be_registered_is_refused(commands: list[Command], rule: str) -> None:
    """With the job or the profile and the rule."""
    with pytest.raises(RefusedError) as caught:
        play(STATIC, {1.0: commands}, settings=DYNAMIC)
    assert rule in str(caught.value)


def test_registered_profiles_are_nested_as_deep_as_those_of_files_at_most() -> None:
    """Also if the ways to those inside are short ones."""
    nested = [profile("p0")]
    for level in range(1, 202):
        steps = [f"p{level // 2}", f"p{level - 1}"]
        nested.append(profile(f"p{level}", type="composed", seq=steps))
    rule = "profile dyn!p201: profiles.* is one of more than 200 composed profiles inside each other"
    with pytest.raises(RefusedError, match=rule):
        play(STATIC, {1.0: nested}, settings=DYNAMIC)
