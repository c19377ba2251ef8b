"""Rules of the Plan: what may be registered, states of control jobs, extras of a start; the rest is in test_plan.py."""

from __future__ import annotations

import math
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.errors import PlanError
from batsched_py.model.job import Job
from batsched_py.protocol.begins import read_flat_config
from batsched_py.protocol.commands import (
    AdditionalIo,
    ChangeJobState,
    ExecuteJob,
    RegisterJob,
    RegisterProfile,
    SetJobMetadata,
)
from batsched_py.protocol.dialect import V14
from batsched_py.protocol.events import Config, JobSubmitted
from batsched_py.scheduling.view import View
from batsched_py.state.state import State
from tests.builders import begins, completed, hosts, job, plan_for, state, submitted

DYNAMIC = Config(dynamic_jobs=True, dynamic_jobs_acknowledged=True)


FORGETFUL = read_flat_config({"dynamic-jobs-enabled": True, "profile-reuse-enabled": False})
THREE = {"type": "delay", "delay": 3}


def own(name: str = "n", **changes: Any) -> Job:
    """A job of one's own; a change to None leaves the member of its description out."""
    made = Job.create(f"dyn!{name}", size=changes.pop("size", 1), profile="p", walltime=changes.pop("walltime", None))
    members = {key: value for key, value in {**made.members, **changes}.items() if value is not None}
    return Job(made.id, made.submit_time, made.size, made.walltime, made.profile, members)


@pytest.mark.parametrize(
    ("new", "profile", "words"),
    [
        (own(size=0), THREE, "submit dyn!n: it needs at least one host, Batsim runs no job on none"),
        (own(size=-1), THREE, "submit dyn!n: res: must be a whole number from 0"),
        (own(walltime=0), THREE, "submit dyn!n: walltime: must be greater than 0 s"),
        (own(walltime=math.inf), THREE, "submit dyn!n: walltime: must be at most 60000000000 s"),
        (own(walltime=math.nan), THREE, "submit dyn!n: "),
        (own(walltime=1e11), THREE, "submit dyn!n: walltime: must be at most 60000000000 s"),
        (own(res=2), THREE, "submit dyn!n: its members say something else than its attributes"),
        (own(id="w0!a"), THREE, "submit dyn!n: id: must be that of the job, not 'w0!a'"),
        (own("a,b"), THREE, "job_id: must have no comma"),
        (own("a\nb"), THREE, "job_id: must have no comma, double quote, line break"),
        (own(mine=math.nan), THREE, "submit dyn!n: data.job.mine: must be a number"),
        (own(mine=object()), THREE, "submit dyn!n: message: cannot be written as JSON"),
        (Job.create("n", size=1, profile="p"), THREE, "submit n: job_id: must be workload!name"),
        (
            own(),
            {"type": "delay", "delay": 0},
            "profile p: delay: must be a number of seconds greater than 0",
        ),
        (own(), {"type": "parallel", "cpu": [1]}, "submit dyn!n: profile p: com: must be there, with 0 for what is"),
        (own(), {"type": "delay", "delay": 1e11}, "submit dyn!n: profile p: delay: must be at most 60000000000 s"),
        (own(), {"type": "delay"}, "submit dyn!n: profile p: delay: is missing"),
        (own(), {"type": "nap", "delay": 3}, "submit dyn!n: profile p: type: 'nap' is not a type of profile"),
        (own(), {"type": "msg_par", "cpu": [1]}, "type: 'msg_par' is a type of Batsim 1 only"),
        (own(), {"type": "composed", "seq": ["p"]}, "Batsim 4 crashes when it runs a composed profile"),
        (own(), {**THREE, "mine": object()}, "submit dyn!n: profile p: message: cannot be written as JSON"),
        (own(), {"type": "parallel", "cpu": [1, 1]}, "profile p is for 2 hosts, the job asks for 1"),
        (own(), None, "submit dyn!n: profile p is not registered in workload dyn"),
    ],
)
def test_what_could_not_run_is_not_registered(new: Job, profile: Any, words: str) -> None:
    """Batsim would abort or crash, at once or when it starts; nothing is booked."""
    now = state(4, config=DYNAMIC)
    plan = plan_for(now)
    with pytest.raises(PlanError) as caught:
        plan.submit(new, profile)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not now.registered


@pytest.mark.parametrize(
    ("workload", "name", "words"),
    [
        ("", "p", "a workload's name must"),
        ("a!b", "p", "a workload's name must have no exclamation mark"),
        ("w", "", "the name must not be empty"),
        ("w", 'p"', "the name must have no comma, double quote"),
    ],
)
def test_names_that_cannot_be_written_are_refused(workload: str, name: str, words: str) -> None:
    """They are parts of ids, and of Batsim's tables."""
    plan = plan_for(state(4, config=DYNAMIC))
    with pytest.raises(PlanError, match=words):
        plan.register_profile(workload, name, THREE)


def test_a_job_larger_than_the_platform_may_be_submitted() -> None:
    """Batsim takes it; it can only be rejected (BA-11)."""
    plan = plan_for(state(2, config=DYNAMIC))
    plan.submit(own(size=3), THREE)
    assert len(plan.commands) == 2


def test_v14_takes_composed_profiles_and_its_own_types() -> None:
    """Its steps must exist."""
    plan = plan_for(state(2, config=DYNAMIC))
    plan.dialect = V14
    plan.register_profile("w", "p", {"type": "msg_par_hg", "cpu": 3, "com": 0})
    plan.register_profile("w", "c", {"type": "composed", "seq": ["p", "p"]})
    with pytest.raises(PlanError, match="seq: names the profile 'q', which does not exist"):
        plan.register_profile("w", "d", {"type": "composed", "seq": ["p", "q"]})


def test_a_profile_that_is_gone_stays_gone() -> None:
    """Batsim forgets it, but not its name: a new name is needed."""
    now = state(2, config=FORGETFUL)
    plan = plan_for(now)
    plan.submit(own("1"), THREE)
    plan.start(own("1"), hosts("0"))
    now.advance(5.0)
    now.apply(completed("dyn!1", 5.0))
    now.advance(6.0)
    plan.begin(6.0)
    for given in (None, THREE):
        with pytest.raises(PlanError, match="submit dyn!2: profile p: Batsim forgot it when the first of its jobs"):
            plan.submit(own("2"), given)
    with pytest.raises(PlanError, match="register profile dyn!p: Batsim forgot it"):
        plan.register_profile("dyn", "p", THREE)
    plan.submit(Job.create("dyn!2", size=1, profile="q"), THREE)
    assert [type(command) for command in plan.commands] == [RegisterProfile, RegisterJob]


def test_a_static_profile_goes_with_the_first_of_its_jobs_that_ends() -> None:
    """Jobs with it may still come: it is neither used nor registered again, except in the reply to that very end."""
    now = State()
    now.apply(replace(begins(2, config=FORGETFUL), profiles={"w0": {"p": THREE}}))
    now.apply(submitted(job("a")))
    plan = plan_for(now)
    plan.start(job("a"), hosts("0"))
    now.apply(completed("w0!a"))
    plan.submit(Job.create("w0!n", size=1, profile="p"))
    now.advance(1.0)
    with pytest.raises(PlanError, match="submit w0!m: profile p: Batsim forgot it"):
        plan.submit(Job.create("w0!m", size=1, profile="p"))
    with pytest.raises(PlanError, match="register profile w0!p: Batsim forgot it"):
        plan.register_profile("w0", "p", THREE)


@pytest.mark.parametrize(
    "name", ["my_new_job", "1#1", "01", "-1", "1 ", "2147483648", "9" * 5000, "\N{SUPERSCRIPT TWO}"]
)
def test_v14_names_jobs_by_integers(name: str) -> None:
    """Real Batsim 1 aborts on what is none, and takes what stands behind an integer for nothing."""
    plan = plan_for(state(2, config=DYNAMIC))
    plan.dialect = V14
    with pytest.raises(PlanError, match=r"job_id: Batsim 1 names jobs by whole numbers \(1 in dyn!1\), not '"):
        plan.submit(own(name), THREE)
    plan.submit(own("2147483647"), THREE)


def test_v14_has_no_metadata() -> None:
    """It cannot be said there, and that is told at the call."""
    now = state(1, job("a"))
    plan = plan_for(now)
    plan.dialect = V14
    with pytest.raises(PlanError, match=r"set metadata of w0!a: .*SetJobMetadata does not exist in protocol v1\.4"):
        plan.set_metadata(job("a"), "x")


def test_control_jobs_of_v14_go_through_their_states() -> None:
    """Waiting, running in the books, ended; they have no hosts, and cannot be started or killed."""
    now = state(2, job("a"), job("b"))
    plan = plan_for(now)
    plan.dialect = V14
    plan.hold(job("a"), "waits")
    plan.change_state(job("a"), "RUNNING")
    now.check()
    assert (list(now.queue), now.control, plan.holds) == ([job("b")], {"w0!a": job("a")}, {})
    assert plan.free == hosts("0-1")
    with pytest.raises(PlanError, match=r"start w0!a on 0: it was set to RUNNING, in Batsim's books only"):
        plan.start(job("a"), hosts("0"))
    with pytest.raises(PlanError, match="kill w0!a: it does not run"):
        plan.kill(job("a"))
    with pytest.raises(PlanError, match=r"in protocol v1\.4 it may only become COMPLETED_SUCCESSFULLY or "):
        plan.change_state(job("a"), "REJECTED")
    with pytest.raises(PlanError, match=r"in protocol v1\.4 it may only become COMPLETED_SUCCESSFULLY or "):
        plan.change_state(job("a"), "COMPLETED_WALLTIME_REACHED")
    with pytest.raises(PlanError, match="only COMPLETED_KILLED has a reason"):
        plan.change_state(job("a"), "COMPLETED_SUCCESSFULLY", "enough")
    plan.change_state(job("a"), "COMPLETED_KILLED", "enough")
    plan.change_state(job("b"), "REJECTED")
    now.check()
    assert not now.control
    assert not now.queue
    assert plan.commands == [
        ChangeJobState(0.0, "w0!a", "RUNNING"),
        ChangeJobState(0.0, "w0!a", "COMPLETED_KILLED", "enough"),
        ChangeJobState(0.0, "w0!b", "REJECTED"),
    ]
    with pytest.raises(PlanError, match="change state of w0!a to RUNNING: it has ended"):
        plan.change_state(job("a"), "RUNNING")


def test_a_job_that_really_runs_is_no_control_job() -> None:
    """Its end would be told twice."""
    now = state(2, job("a"))
    plan = plan_for(now)
    plan.dialect = V14
    plan.start(job("a"), hosts("1"))
    with pytest.raises(PlanError, match="it really runs, on 1"):
        plan.change_state(job("a"), "COMPLETED_SUCCESSFULLY")


def test_metadata_may_be_set_before_the_submission_is_acknowledged() -> None:
    """Batsim knows the job at once; but it cannot be started."""
    now = state(2, config=DYNAMIC)
    plan = plan_for(now)
    plan.submit(own(), THREE)
    plan.set_metadata(own(), "mine")
    assert plan.commands[-1] == SetJobMetadata(0.0, "dyn!n", "mine")
    with pytest.raises(PlanError, match="it was registered, and Batsim has not submitted it yet"):
        plan.start(own(), hosts("0"))


def with_storages(*, sharing: bool = True) -> State:
    """Hosts 0 and 1, storage hosts 2 and 3; w0!a and w0!b (2 hosts each) wait, the workload has the profile p."""
    now = State()
    now.apply(begins(2, storages=2, storage_sharing=sharing))
    for new in (job("a", size=2), job("b", size=2)):
        now.apply(JobSubmitted(0.0, new.id, new, {"type": "parallel", "cpu": [1, 1]}))
    return now


IO = AdditionalIo(hosts("0 2"), "io", {"type": "parallel", "cpu": [0, 0], "com": [0, 1, 1, 0]})


def described(**changes: Any) -> AdditionalIo:
    """The io job, with some of its profile's members changed."""
    assert IO.profile is not None
    return replace(IO, profile={**IO.profile, **changes})


def test_storages_are_given_to_a_job() -> None:
    """By a storage mapping, or by an io job, whose profile is then one of the workload."""
    now = with_storages()
    assert [storage.name for storage in View(now).storages.values()] == ["s0", "s1"]
    assert list(View(now).storages) == [2, 3]
    assert View(now).all_hosts == hosts("0-1")
    plan = plan_for(now)
    plan.start(job("a", size=2), hosts("0-1"), storage_mapping={"pfs": 3})
    assert plan.commands == [ExecuteJob(0.0, "w0!a", hosts("0-1"), None, {"pfs": 3})]
    now.apply(completed("w0!a"))
    plan.begin(1.0)
    plan.start(job("b", size=2), hosts("0-1"), additional_io=IO)
    assert plan.commands == [ExecuteJob(1.0, "w0!b", hosts("0-1"), None, None, IO)]
    assert set(View(now).profiles("w0")) == {"p", "io"}
    now.check()


@pytest.mark.parametrize("sharing", [True, False])
def test_a_job_that_moves_data_may_run_on_storage_hosts(sharing: bool) -> None:
    """They are no free hosts, before and after; two jobs share them unless that is disabled."""
    now = with_storages(sharing=sharing)
    view, plan = View(now), plan_for(now)
    availability = view.availability()
    plan.start(job("a", size=2), hosts("2-3"))
    assert view.free == plan.free == hosts("0-1")
    now.check()
    if sharing:
        plan.start(job("b", size=2), hosts("2-3"))
    else:
        with pytest.raises(PlanError, match=r"^start w0!b on 1-2: 2 running a job$"):
            plan.start(job("b", size=2), hosts("1-2"))
    now.apply(completed("w0!a"))
    assert view.free == plan.free == hosts("0-1")
    assert availability.shadow(3) is None
    now.check()
    if not sharing:
        plan.start(job("b", size=2), hosts("1-2"))
        assert view.free == hosts("0")


@pytest.mark.parametrize(
    ("extras", "why"),
    [
        ({"storage_mapping": {"pfs": 1}}, "storage 'pfs' is given host 1; the storage hosts are: 2, 3"),
        ({"storage_mapping": {"pfs": "2"}}, "storage 'pfs' is given host '2'; the storage hosts are: 2, 3"),
        ({"storage_mapping": {}}, "storage_mapping must give at least one label its host"),
        (
            {"storage_mapping": {"pfs": 2}, "additional_io": IO},
            "at most one of mapping, storage_mapping and",
        ),
        ({"mapping": {0: 0, 1: 0}, "additional_io": IO}, "at most one of mapping, storage_mapping and additional_io"),
        ({"additional_io": replace(IO, hosts=hosts("0 4"))}, "additional io io: 4 not in the platform"),
        ({"additional_io": replace(IO, hosts=hosts(""))}, "additional io io: it needs a host"),
        ({"additional_io": replace(IO, hosts=hosts("0-2"))}, "additional io io: it is for 2 hosts, not for 3"),
        ({"additional_io": replace(IO, profile=None)}, "additional io io: it is not registered"),
        ({"additional_io": replace(IO, profile_name="p")}, "additional io p: it exists"),
        ({"additional_io": replace(IO, profile={"type": "parallel"})}, "additional io io: cpu: is missing"),
        ({"additional_io": described(type="nap")}, "additional io io: type: 'nap' is not a type of profile"),
        ({"additional_io": described(cpu=[0, math.nan])}, r"additional io io: cpu\[1\]: must be a number from 0"),
        ({"additional_io": described(note=math.inf)}, "additional_io_job.profile.note: must be "),
        ({"additional_io": replace(IO, profile_name="a,b")}, "additional io a,b: the name must "),
        ({"additional_io": replace(IO, profile_name="")}, "additional io : the name must not be empty"),
        ({"additional_io": described(type="msg_par")}, "additional io io: type: 'msg_par' is a type of Batsim 1 only"),
        (
            {"additional_io": described(type="composed", seq=["p"])},
            "io io: type: it is composed, and Batsim 4",
        ),
        ({"additional_io": replace(IO, profile={"type": "delay", "delay": 1})}, "a parallel task, not of type delay"),
    ],
)
def test_what_cannot_be_given_to_a_job(extras: dict[str, Any], why: str) -> None:
    """Nothing is booked then."""
    now = with_storages()
    plan = plan_for(now)
    with pytest.raises(PlanError, match=rf"^start w0!a on 0-1: .*{why}"):
        plan.start(job("a", size=2), hosts("0-1"), **extras)
    assert not plan.commands
    assert len(now.queue) == 2


def test_a_known_profile_serves_an_io_job() -> None:
    """It need not be described again."""
    plan = plan_for(with_storages())
    plan.start(job("a", size=2), hosts("0-1"), additional_io=AdditionalIo(hosts("2-3"), "p"))
    assert len(plan.commands) == 1


def test_batsim_1_takes_a_composed_io_job_of_steps_that_exist() -> None:
    """It does not crash; a step that does not exist is refused, and a type under the name of Batsim 1 is not."""
    composed = {"type": "composed", "seq": ["p", "lost"], "nb": 1}
    now = with_storages()
    plan = plan_for(now)
    plan.dialect = V14
    with pytest.raises(PlanError, match=r"additional io io: seq: names the profile 'lost', which does not exist$"):
        plan.start(job("a", size=2), hosts("0-1"), additional_io=replace(IO, profile=composed))
    plan.start(job("a", size=2), hosts("0-1"), additional_io=replace(IO, profile={**composed, "seq": ["p"]}))
    now.apply(completed("w0!a"))
    plan.start(job("b", size=2), hosts("0-1"), additional_io=replace(described(type="msg_par"), profile_name="other"))
    assert len(plan.commands) == 2
