"""Jobs that begin again: under which id and profile, and who stands for whom."""

from __future__ import annotations

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
    """That of the segment, or, if there is such a profile, one like it."""
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
    assert segments.repeatable(scene.run("3", "2", profile="steps"), scene.view) is None


@pytest.mark.parametrize("profile", ["steps", "odd", "nobody told of it"])
def test_only_profiles_that_can_be_told_again_begin_again(profile: str) -> None:
    """Composed ones and types that we do not know only where Batsim keeps them."""
    for forgetful in (False, True):
        scene = Scene(forgetful=forgetful)
        found = Segments().repeatable(scene.run("a", "0", profile=profile), scene.view)
        assert found == (None if forgetful else PROFILES.get(profile))


def test_a_walltime_that_is_too_long_to_be_sent_is_not_sent_again() -> None:
    """Batsim took it from a file; its readers of messages would not."""
    scene = Scene()
    assert Segments().repeatable(scene.run("a", "0", walltime=1e300), scene.view) is None
