"""Jobs that begin again: under which id and profile, and who stands for whom."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.leases.segments import Segments
from batsched_py.protocol.commands import RegisterJob, RegisterProfile
from tests.unit.leases.scene import DELAY, PROFILES, Scene


def test_a_job_that_begins_again_is_the_next_segment_of_the_first() -> None:
    """With its size, walltime and members; a segment that begins again is not a segment of a segment."""
    scene, segments = Scene(), Segments()
    job = scene.run("a", "0-1", user="eve")
    second = segments.repeat(job, DELAY, scene.view, scene.plan)
    third = segments.repeat(second, DELAY, scene.view, scene.plan)
    assert [each.id for each in (second, third)] == ["w0!a#1", "w0!a#2"]
    assert (third.size, third.walltime, third.extra["user"]) == (2, 100.0, "eve")
    assert [segments.first(each) for each in (job, second, third)] == [job] * 3
    assert len(segments) == 2


def test_an_id_that_another_job_has_is_left_out() -> None:
    """A workload may have a job that is called like a segment; what Batsim sends back is none of those."""
    scene, segments = Scene(), Segments()
    job, other = scene.run("a", "0"), scene.submit("a#1")
    assert not segments.meet([job, other])
    assert segments.first(other) is other
    second = segments.repeat(job, DELAY, scene.view, scene.plan)
    assert second.id == "w0!a#2"
    assert segments.meet([second])


@pytest.mark.parametrize(
    ("forgetful", "profile", "again"), [(False, "p", "p"), (True, "p", "a#1"), (True, "a#1", "a#1#")]
)
def test_a_profile_that_batsim_forgets_is_registered_under_a_new_name(
    forgetful: bool, profile: str, again: str
) -> None:
    """It is that of the segment, or, if there is such a profile, one like it."""
    scene, segments = Scene(forgetful=forgetful), Segments()
    if profile not in PROFILES:
        scene.plan.register_profile("w0", profile, DELAY)
    job = scene.run("a", "0", profile=profile)
    scene.plan.begin(0.0)
    members = segments.repeatable(job, scene.view)
    assert members == DELAY
    assert segments.repeat(job, DELAY, scene.view, scene.plan).profile == again
    registered = [each.name for each in scene.plan.commands if isinstance(each, RegisterProfile)]
    assert registered == ([again] if forgetful else [])
    assert [each.job_id for each in scene.plan.commands if isinstance(each, RegisterJob)] == ["w0!a#1"]


def test_batsim_1_has_segments_named_by_integers_in_a_workload_of_their_own() -> None:
    """It would read a second 1 from `1#1`; their profiles are registered there, once."""
    scene, segments = Scene(batsim_1=True), Segments()
    first, other = scene.run("1", "0"), scene.run("2", "1")
    second = segments.repeat(first, DELAY, scene.view, scene.plan)
    third = segments.repeat(second, DELAY, scene.view, scene.plan)
    fourth = segments.repeat(other, DELAY, scene.view, scene.plan)
    assert [each.id for each in (second, third, fourth)] == ["segments!0", "segments!1", "segments!2"]
    assert [segments.first(each) for each in (second, third, fourth)] == [first, first, other]
    registered = [(each.workload, each.name) for each in scene.plan.commands if isinstance(each, RegisterProfile)]
    assert registered == [("segments", "w0!p")]
    assert segments.meet([fourth])
    assert segments.repeatable(scene.run("3", "2", profile="steps"), scene.view) == {**DELAY, "delay": 100}
    assert segments.repeatable(scene.run("4", "3", profile="hears"), scene.view) is None


@pytest.mark.parametrize(
    ("profile", "anew"),
    [
        ("steps", {**DELAY, "delay": 100}),
        ("mixed", None),
        ("hears", PROFILES["hears"]),
        ("odd", None),
        ("nobody told of it", None),
    ],
)
def test_only_profiles_that_can_be_told_again_begin_again(profile: str, anew: Any) -> None:
    """Composed ones that are not one delay, and types that we do not know, only where Batsim keeps them."""
    for forgetful in (False, True):
        scene = Scene(forgetful=forgetful)
        found = Segments().repeatable(scene.run("a", "0", profile=profile), scene.view)
        assert found == (anew if forgetful else PROFILES.get(profile))


@pytest.mark.parametrize(
    ("profile", "why"),
    [
        ("p", ""),
        ("steps", ""),
        ("mixed", ""),
        ("hears", "Batsim reports no progress of a profile of type 'recv'"),
        ("odd", "Batsim reports no progress of a profile of type 'of our own'"),
        ("talk", "Batsim reports no progress of a profile of type 'recv'"),
        ("many", "its profile has steps that Batsim has not sent, or more than 1000 that are not delays"),
        ("nobody told of it", "its profile is not known (Batsim: --forward-profiles-on-submission)"),
    ],
)
def test_a_job_that_cannot_go_on_has_a_reason(profile: str, why: str) -> None:
    """Its progress must be told, and what is left must be known."""
    for forgetful in (False, True):
        scene, segments = Scene(forgetful=forgetful), Segments()
        job = scene.run("a", "0", profile=profile)
        assert segments.obstacle(job, scene.view) == why
        assert (segments.work(job, scene.view) is None) == bool(why)


@pytest.mark.parametrize("batsim_1", [False, True])
def test_what_is_left_is_one_job_where_batsim_runs_it(batsim_1: bool) -> None:
    """Batsim 4 gets the first part alone, and crashes when it runs a composed profile that was registered."""
    scene, segments = Scene(batsim_1=batsim_1), Segments()
    job = scene.run("1", "0", profile="mixed")
    parts = segments.work(job, scene.view)
    task = {**PROFILES["task"], "type": "msg_par_hg"} if batsim_1 else PROFILES["task"]
    assert parts == (PROFILES["p"], task)
    again = segments.go_on(job, parts, 70.0, scene.view, scene.plan)
    registered = [each.profile for each in scene.plan.commands if isinstance(each, RegisterProfile)]
    names = [f"{again.profile}.0", f"{again.profile}.1"]
    joined = [*parts, {"type": "composed", "repeat": 1, "seq": names}]
    assert registered == (joined if batsim_1 else [parts[0]])
    assert (again.walltime, segments.joins(scene.plan)) == (70.0, batsim_1)


def test_a_walltime_that_is_too_long_to_be_sent_is_not_sent_again() -> None:
    """Batsim took it from a file; its readers of messages would not."""
    scene = Scene()
    job = scene.run("a", "0", walltime=1e300)
    assert Segments().repeatable(job, scene.view) is None
    assert Segments().obstacle(job, scene.view) == "its walltime is longer than 60000000000 s"
