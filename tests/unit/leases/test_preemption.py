"""Preemption: which leases are stopped for which, which resume, and when running work is expected to end."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.hostset import HostSet
from batsched_py.leases.preemption import Preemption, choose_victims
from batsched_py.protocol.commands import KillJob, RegisterJob
from batsched_py.protocol.events import COMPLETED_KILLED, Event, JobCompleted, JobKilled, Notify, Progress
from tests.builders import completed, hosts
from tests.unit.leases.scene import Scene

WORK = [("a", hosts("2")), ("b", hosts("3-6")), ("c", hosts("7"))]


def preempting(scene: Scene, **options: Any) -> Preemption:
    """For the reservations in the book of the scene."""
    return Preemption(scene.view, scene.book, **options)


def crowded() -> Scene:
    """At 20: w0!old on 0-1 since 0, w0!young on 2-3 since 10, both best effort for 100 s; 4 and 5 are free."""
    scene = Scene()
    scene.run("old", "0-1")
    scene.at(10.0)
    scene.run("young", "2-3")
    scene.at(20.0)
    return scene


def names(room: tuple[HostSet, list[Any]] | str) -> tuple[HostSet, list[str]]:
    """The hosts, and who must be stopped."""
    assert not isinstance(room, str), room
    return room[0], [job.name for job in room[1]]


def test_nobody_is_stopped_while_enough_is_free() -> None:
    """The lowest free hosts are taken."""
    scene = crowded()
    assert names(preempting(scene).find_room(scene.submit("r", 2), 30.0)) == (hosts("4-5"), [])


@pytest.mark.parametrize(("oldest_first", "found"), [(False, ("2 4-5", "young")), (True, ("0 4-5", "old"))])
def test_the_youngest_gives_way_first_or_the_oldest(oldest_first: bool, found: tuple[str, str]) -> None:
    """By their starts; no more than are needed."""
    scene = crowded()
    room = preempting(scene, oldest_first=oldest_first).find_room(scene.submit("r", 3), 30.0)
    assert names(room) == (hosts(found[0]), [found[1]])


def test_both_give_way_for_all_hosts() -> None:
    """The first of the order is the first that is stopped."""
    scene = crowded()
    assert names(preempting(scene).find_room(scene.submit("r", 6), 30.0)) == (hosts("0-5"), ["young", "old"])


def test_who_will_have_ended_by_then_need_not_be_stopped() -> None:
    """Both walltimes are over at 110."""
    scene = crowded()
    assert names(preempting(scene).find_room(scene.submit("r", 6), 110.0)) == (hosts("0-5"), [])


@pytest.mark.parametrize(
    "members",
    [
        {"lease": {"preemptible": False}},
        {"lease": {"start": "now", "preemptible": True}},
        {"profile": "nobody told of it"},
        {"walltime": 1e300},
    ],
    ids=["it says so", "it is not best effort", "its profile is unknown", "its walltime cannot be sent again"],
)
def test_who_cannot_begin_again_or_was_promised_more_is_left_alone(members: dict[str, Any]) -> None:
    """The reason says how many hosts could be taken from others."""
    scene = Scene()
    scene.run("kept", "0-3", **members)
    scene.run("other", "4")
    scene.at(20.0)
    why = preempting(scene).find_room(scene.submit("r", 3, walltime=10), 30.0)
    stuck = "" if "lease" in members else "; w0!kept is not stopped: it cannot be submitted again"
    assert why == f"it needs 3 hosts in [30, 40), 1 is free, 1 more could be taken from best-effort jobs{stuck}"


def test_hosts_that_failed_or_are_reserved_are_no_room() -> None:
    """Nor are they taken from those who work there."""
    scene = crowded()
    preemption = preempting(scene)
    scene.reserve("x", 35.0, 45.0, "2 4")
    scene.state.apply(Notify(20.0, "event_machine_unavailable", hosts("0")))
    assert names(preemption.find_room(scene.submit("r", 3, walltime=10), 30.0)) == (hosts("1 3 5"), ["young", "old"])
    why = preemption.find_room(scene.submit("s", 4, walltime=10), 30.0)
    assert why == "it needs 4 hosts in [30, 40), 1 is free, 2 more could be taken from best-effort jobs"


@pytest.mark.parametrize("wanted", [True, False])
def test_nobody_is_stopped_where_nobody_may_begin_again(wanted: bool) -> None:
    """Without Batsim's leave to submit jobs, of which the user is told once if it was asked for."""
    scene = Scene(dynamic=not wanted)
    scene.run("other", "0-3")
    preemption = preempting(scene, wanted=wanted)
    assert preemption.find_room(scene.submit("r", 3, walltime=10), 30.0) == "it needs 3 hosts in [30, 40), 2 are free"
    assert preemption.in_the_way(hosts("0-5"), 30.0) == []
    for _ in range(2):
        preemption.warn_once(scene.plan)
    told = "t=0: no job is preempted: to submit it again needs Batsim's option --enable-dynamic-jobs"
    assert scene.warnings == ([told] if wanted else [])


def test_who_is_in_the_way_is_told_by_hosts_and_instant() -> None:
    """Leases that would still run there are in the way."""
    scene = crowded()
    preemption = preempting(scene)
    assert [job.name for job in preemption.in_the_way(hosts("1-2"), 50.0)] == ["young", "old"]
    assert [job.name for job in preemption.in_the_way(hosts("0"), 50.0)] == ["old"]
    assert [job.name for job in preemption.in_the_way(hosts("1-2"), 100.0)] == ["young"]
    assert preemption.in_the_way(hosts("4-5"), 50.0) == []


@pytest.mark.parametrize("batsim", ["v4", "v1.4"])
def test_who_was_killed_begins_again_once(batsim: str) -> None:
    """Batsim 4 tells of its end, and then of the kill; Batsim 1 of the kill only."""
    scene = crowded()
    preemption = preempting(scene)
    preemption.stop(preemption.in_the_way(hosts("2"), 20.0), scene.plan)
    assert [command.job_ids for command in scene.plan.commands if isinstance(command, KillJob)] == [("w0!young",)]
    assert (preemption.in_progress, preemption.to_repeat) == (True, False)
    assert preemption.in_the_way(hosts("0-5"), 20.0) == [scene.view.job("w0!old")], "it dies already"
    scene.at(21.0)
    for event in (
        JobCompleted(21.0, "w0!young", COMPLETED_KILLED),
        JobKilled(21.0, ("w0!young",), {"w0!young": Progress("p", 0.2)}),
    )[batsim == "v1.4" :]:
        scene.state.apply(event)
        preemption.observe(event)
    assert preemption.to_repeat
    preemption.repeat(scene.plan)
    assert [command.job_id for command in scene.plan.commands if isinstance(command, RegisterJob)] == ["w0!young#1"]
    assert not preemption.in_progress


@pytest.mark.parametrize("told_first", ["end", "kill"])
def test_who_ended_by_itself_before_the_kill_does_not_begin_again(told_first: str) -> None:
    """Batsim tells of a kill without its progress, and of its end."""
    scene = crowded()
    preemption = preempting(scene)
    preemption.stop(preemption.in_the_way(hosts("2"), 20.0), scene.plan)
    scene.at(21.0)
    events: list[Event] = [completed("w0!young", 21.0), JobKilled(21.0, ("w0!young",), {})]
    for event in events if told_first == "end" else reversed(events):
        scene.state.apply(event)
        preemption.observe(event)
    assert not preemption.in_progress


def test_registration_is_opened_again_for_those_who_begin_again() -> None:
    """If it was finished; nobody to stop, nothing to say."""
    scene = crowded()
    preemption = preempting(scene)
    scene.plan.finish_registration()
    preemption.stop([], scene.plan)
    assert not scene.view.registration_open
    preemption.stop(preemption.in_the_way(hosts("2"), 20.0), scene.plan)
    assert scene.view.registration_open


def test_who_gives_way_is_expected_to_end_when_the_first_reservation_begins() -> None:
    """A margin before it; when the reservation is gone it ends with its walltime."""
    scene = crowded()
    preemption = preempting(scene, margin=5.0)
    scene.reserve("far", 80.0, 90.0, "0-5")
    scene.reserve("near", 60.0, 70.0, "2")
    preemption.foresee()
    free = scene.view.availability().free_during
    assert [free(time, 60.0) for time in (54.0, 55.0)] == [hosts("4-5"), hosts("2-5")]
    assert free(75.0, 80.0) == hosts("0-5")
    scene.book.remove("near")
    scene.book.remove("far")
    preemption.foresee()
    assert [free(time, 111.0) for time in (99.0, 100.0, 110.0)] == [hosts("4-5"), hosts("0-1 4-5"), hosts("0-5")]


def test_a_job_that_started_late_is_expected_to_end_with_its_reservation() -> None:
    """Not so much later than Batsim started it."""
    scene = Scene()
    preemption = preempting(scene)
    job = scene.run("lease", "0", lease={"start": "now"})
    preemption.will_end(job, 99.5)
    preemption.foresee()
    assert scene.view.availability().free_during(99.5, 120.0) == hosts("0-5")


def test_hosts_of_work_that_dies_or_is_over_are_room_now_and_not_for_what_starts_later() -> None:
    """Its end is about to be told: the job waits for that and stops nobody else."""
    scene = crowded()
    preemption = preempting(scene, tolerance=1.0)
    preemption.stop(preemption.in_the_way(hosts("2"), 20.0), scene.plan)
    room = preemption.find_room
    assert names(room(scene.submit("r", 4), 20.0)) == (hosts("2-5"), [])
    assert names(room(scene.submit("t", 4), 30.0)) == (hosts("0-1 4-5"), ["old"])
    preemption.foresee()
    assert names(room(scene.submit("u", 4), 30.0)) == (hosts("2-5"), []), "it is expected to have ended"
    scene.at(99.5)
    assert names(preemption.find_room(scene.submit("s", 6), 99.5)) == (hosts("0-5"), [])


def test_no_victim_is_chosen_if_enough_is_free() -> None:
    """The lowest free hosts are taken."""
    assert choose_victims(1, hosts("0-1"), WORK) == (hosts("0"), [])


def test_the_first_candidates_are_the_victims() -> None:
    """As few as do."""
    assert choose_victims(3, hosts("0-1"), WORK) == (hosts("0-2"), ["a"])
    assert choose_victims(4, hosts("0-1"), WORK) == (hosts("0-1 3-4"), ["b"]), "a would not be enough, b is without a"
    assert choose_victims(8, hosts("0-1"), WORK) == (hosts("0-7"), ["a", "b", "c"])


def test_all_candidates_may_be_too_few() -> None:
    """Then nobody need be stopped."""
    assert choose_victims(9, hosts("0-1"), WORK) is None


@given(
    st.integers(1, 8),
    st.integers(0, 255),
    st.lists(st.integers(0, 7).map(lambda host: 1 << host), unique=True, max_size=8),
)
def test_each_victim_is_needed_and_each_host_is_there(size: int, free: int, taken: list[int]) -> None:
    """Without any one of them there would be too few hosts."""
    offered = [(bits, HostSet(bits & ~free)) for bits in taken if bits & ~free]
    found = choose_victims(size, HostSet(free), offered)
    room = free
    for _, each in offered:
        room |= each.bits
    assert (found is None) is (room.bit_count() < size)
    if found is not None:
        chosen, victims = found
        assert len(chosen) == size
        left = free | sum(victims)
        assert chosen.bits & ~left == 0
        assert all((left & ~victim).bit_count() < size for victim in victims)
