"""What a job may be given beside its hosts: what can be sent, and what is refused at the call."""

from __future__ import annotations

import math
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.errors import PlanError
from batsched_py.protocol.commands import AdditionalIo, ExecuteJob
from batsched_py.protocol.dialects import V14
from batsched_py.protocol.events import JobSubmitted
from batsched_py.scheduling.view import View
from batsched_py.state.state import State
from tests.builders import begins, completed, hosts, job, plan_for


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
        ({"additional_io": replace(IO, profile={"type": "parallel"})}, "additional io io: cpu: must be a list"),
        ({"additional_io": described(type="nap")}, "additional io io: type: 'nap' is not a type of profile"),
        ({"additional_io": described(cpu=[0, math.nan])}, "additional io io: cpu: must be a finite number"),
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
