"""What is wrong with a workload, found before the simulation."""

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.simulator.jobs.profiles import Library
from batsched_py.simulator.simulation import Simulation
from tests.unit.simulator.scenario import DELAYS, Profiles, job, platform, workload


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
    """Those that a composed one names are needed too; a wrong one that nobody needs does not matter."""
    profiles: Profiles = {
        **DELAYS,
        "seq": {"type": "composed", "seq": ["d5", "d5"]},
        "unused": {"type": "smpi"},
    }
    library = Library([workload(job("a", "seq"), profiles=profiles)], ["w0"])
    assert sorted(library.shelves["w0"].profiles) == ["d5", "seq"]
