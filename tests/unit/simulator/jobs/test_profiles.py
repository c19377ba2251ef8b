"""Errors of a workload that are found before the simulation."""

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.simulator.generation import Generation
from batsched_py.simulator.jobs.profiles import ProfileStore
from batsched_py.simulator.simulation import Simulation
from tests.unit.simulator.scenario import DELAYS, Profiles, execute, job, platform, play, workload


@pytest.mark.parametrize(
    ("profile", "rule"),
    [
        ({"type": "smpi", "trace": "x"}, "profiles.p.type: 'smpi' is not simulated here"),
        ({"type": "composed", "seq": ["d10", "nothing"]}, "profiles.p.seq: names the profile 'nothing'"),
        ({"type": "composed", "seq": ["p"]}, "profiles.p.seq: is part of itself: p > p"),
        ({"type": "parallel", "cpu": [1.0]}, "profiles.p.cpu: is for 1 host, a job that runs it asks for 2"),
    ],
)
def test_a_profile_that_cannot_run_is_named(profile: dict[str, object], rule: str) -> None:
    """With the workload, the member and the rule."""
    profiles: Profiles = {**DELAYS, "p": profile}
    with pytest.raises(WorkloadError) as caught:
        Simulation(platform(), [workload(job("a", "p", res=2), profiles=profiles)])
    assert str(caught.value).startswith(f"test workload: {rule}")


def test_only_profiles_that_jobs_need_are_kept() -> None:
    """Profiles named by a composed one are needed, too; a wrong one that is not needed does not matter."""
    profiles: Profiles = {
        **DELAYS,
        "seq": {"type": "composed", "seq": ["d5", "d5"]},
        "unused": {"type": "smpi"},
    }
    profile_store = ProfileStore([workload(job("a", "seq"), profiles=profiles)], ["w0"], Generation(), set())
    assert sorted(profile_store.by_workload["w0"].by_name) == ["d5", "seq"]


def test_profiles_with_many_ways_to_a_part_of_them_are_looked_at_once_each() -> None:
    """Three kilobytes had 2 ** 60 of them, which nobody can go."""
    twins: Profiles = {
        f"{twin}{level}": {"type": "composed", "seq": [f"a{level - 1}", f"b{level - 1}"]}
        for level in range(1, 60)
        for twin in "ab"
    }
    profiles: Profiles = {**DELAYS, **twins, "a0": {"type": "delay", "delay": 1}, "b0": {"type": "delay", "delay": 2}}
    result, _ = play(workload(job("a", "a59", at=1, walltime=7), profiles=profiles), {1.0: [execute("a", "0")]})
    assert [record.finish for record in result.jobs] == [8.0]


def test_what_a_text_leads_to_may_lead_on_and_on() -> None:
    """Each of a thousand answers to the one before."""
    answers: Profiles = {
        f"r{number}": {"type": "recv", "regex": "x", "success": f"r{number + 1}"} for number in range(1000)
    }
    texts = workload(job("a", "r0"), profiles={**answers, "r1000": DELAYS["d5"]})
    profile_store = ProfileStore([texts], ["w0"], Generation(), set())
    assert len(profile_store.by_workload["w0"].by_name) == 1001
