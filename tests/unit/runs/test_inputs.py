"""Inputs of simulations: files, objects, and models that are drawn from."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.campaigns import Drawn, simulate
from batsched_py.errors import PlatformError, WorkloadError
from batsched_py.reading.limits import Limits
from batsched_py.runs.inputs import as_platform, as_workload
from tests.clone import ROOT

PLATFORM = ROOT / "platforms" / "tiny4.xml"
WORKLOAD = ROOT / "workloads" / "first.json"


def test_a_file_is_read_and_an_object_is_taken_as_it_is() -> None:
    """By its path, or by its name."""
    platform, workload = as_platform(PLATFORM), as_workload(str(WORKLOAD))
    assert as_platform(platform) is platform
    assert as_workload(workload) is workload
    assert len(platform.hosts) == 5


def test_limits_are_those_of_the_caller() -> None:
    """A file above them is refused."""
    with pytest.raises(PlatformError, match="at most 10 bytes"):
        as_platform(PLATFORM, Limits(file_size=10))
    with pytest.raises(WorkloadError, match="at most 10 bytes"):
        as_workload(WORKLOAD, Limits(file_size=10))
    with pytest.raises(WorkloadError, match="cannot be read"):
        as_workload(Path("nowhere.json"))


def test_a_model_is_drawn_when_it_is_needed() -> None:
    """The same workload as `generate` writes; a single simulation takes it, too."""
    drawn = Drawn(jobs=7, hosts=4, seed=3)
    assert as_workload(drawn) == drawn.draw()
    assert len(simulate(PLATFORM, drawn, "easy").result.jobs) == 7
