"""Workloads drawn from the model of Lublin and Feitelson."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.errors import OptionError
from batsched_py.model.profile import Delay
from batsched_py.model.workload import Workload
from batsched_py.traces.batsim_json_writer import write_workload
from batsched_py.traces.lublin import ALL_JOBS, BATCH, INTERACTIVE, LublinParameters, generate


@pytest.fixture(scope="module")
def large() -> Workload:
    """Twenty thousand jobs for 256 hosts."""
    return generate(20_000, 256, Random(1))


def run_times(workload: Workload) -> list[float]:
    """Run time of each job."""
    profiles = [workload.profiles[job.profile] for job in workload.jobs]
    return [profile.delay for profile in profiles if isinstance(profile, Delay)]


def offered_load(workload: Workload) -> float:
    """Work submitted, as a share of what the machine can do until the last submission."""
    area = sum(job.size * run for job, run in zip(workload.jobs, run_times(workload), strict=True))
    return area / (workload.host_count * workload.jobs[-1].submit_time)


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    """The same seed gives the same file, another seed another one."""
    written = []
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        write_workload(tmp_path / name, generate(200, 64, Random(seed), load=0.8))
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]
    assert written[0] != written[2]


def test_sizes(large: Workload) -> None:
    """A quarter of the jobs is serial, most others take a power of two."""
    sizes = [job.size for job in large.jobs]
    powers = [size for size in sizes if size > 1 and size & (size - 1) == 0]
    assert sizes.count(1) / len(sizes) == pytest.approx(ALL_JOBS.serial, abs=0.01)
    assert len(powers) / len(sizes) == pytest.approx(0.612, abs=0.015)
    assert median(sizes) == 8
    assert mean(sizes) == pytest.approx(22.0, abs=1.0)


def test_run_times(large: Workload) -> None:
    """Run times span many orders of magnitude: the median is minutes, the mean hours."""
    times = run_times(large)
    assert median(times) == pytest.approx(140, abs=15)
    assert mean(times) == pytest.approx(4880, abs=250)
    assert max(times) < 162_755


def test_large_jobs_run_longer(large: Workload) -> None:
    """A job on many hosts is more probably a long one."""
    runs = list(zip((job.size for job in large.jobs), run_times(large), strict=True))
    assert median([run for size, run in runs if size >= 64]) > 5 * median([run for size, run in runs if size == 1])


def test_daily_cycle(large: Workload) -> None:
    """The busiest hours are in the afternoon, the quietest before dawn."""
    hours = [int(job.submit_time // 3600) % 24 for job in large.jobs]
    afternoon = sum(12 <= hour < 16 for hour in hours) / len(hours)
    night = sum(2 <= hour < 6 for hour in hours) / len(hours)
    assert afternoon == pytest.approx(0.30, abs=0.03)
    assert night == pytest.approx(0.04, abs=0.015)


def test_gaps(large: Workload) -> None:
    """Arrivals come in bursts: the median gap is two minutes, the mean a quarter of an hour."""
    times = [job.submit_time for job in large.jobs]
    gaps = [after - before for before, after in pairwise(times)]
    assert median(gaps) == pytest.approx(118, abs=10)
    assert mean(gaps) == pytest.approx(905, abs=130)


def test_batch_jobs_are_longer_than_interactive_ones() -> None:
    """The model has parameters of its own for batch and for interactive jobs."""
    batch, interactive = (generate(2000, 128, Random(1), parameters=kind) for kind in (BATCH, INTERACTIVE))
    assert median(run_times(batch)) > 10 * median(run_times(interactive))
    assert max(job.size for job in interactive.jobs) <= 46


def test_walltimes_are_overestimates() -> None:
    """A walltime is a number of minutes above the run time, on average by the factor that was asked for."""
    workload = generate(2000, 64, Random(1), overestimate=2.0)
    pairs = [(job.walltime or 0, run) for job, run in zip(workload.jobs, run_times(workload), strict=True)]
    assert all(walltime % 60 == 0 for walltime, _ in pairs)
    assert mean(walltime / run for walltime, run in pairs if run > 10_000) == pytest.approx(2.0, abs=0.1)


def test_perfect_estimates() -> None:
    """Without overestimation the walltime is the next minute."""
    workload = generate(500, 64, Random(1), overestimate=0.0)
    pairs = zip(workload.jobs, run_times(workload), strict=True)
    assert all(0 < (job.walltime or 0) - run <= 60 for job, run in pairs)


@given(
    jobs=st.integers(1, 60),
    hosts=st.integers(1, 300),
    seed=st.integers(),
    load=st.one_of(st.none(), st.floats(0.05, 3)),
    parameters=st.sampled_from([ALL_JOBS, BATCH, INTERACTIVE]),
)
def test_sound_workloads(jobs: int, hosts: int, seed: int, load: float | None, parameters: LublinParameters) -> None:
    """For any options, jobs fit the machine, end before their walltime and are in Batsim's order."""
    workload = generate(jobs, hosts, Random(seed), load=load, parameters=parameters)
    assert len(workload.jobs) == jobs
    assert list(workload.jobs) == sorted(workload.jobs, key=lambda job: (job.submit_time, job.id))
    for job, run in zip(workload.jobs, run_times(workload), strict=True):
        assert 1 <= job.size <= hosts
        assert job.walltime is not None
        assert 1 <= run < job.walltime
    if load is not None:
        # Submission times are rounded to a millisecond, which a workload of little work notices.
        last = workload.jobs[-1].submit_time
        assert offered_load(workload) == pytest.approx(load, rel=0.001 / last)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"jobs": 0}, "jobs: must be from 1 to 10000000, not 0"),
        ({"jobs": 10**24}, "jobs: must be from 1 to 10000000, not 1000000000000000000000000"),
        ({"jobs": 10**999}, r"jobs: must be from 1 to 10000000, not .{1,60}$"),
        ({"hosts": 0}, "hosts: must be from 1 to 10000000, not 0"),
        ({"hosts": 10**24}, "hosts: must be from 1 to 10000000, not 1000000000000000000000000"),
        ({"load": 0.0}, r"load: must be from 0\.001 to 10 \(0\.8 is 80 %\), not 0$"),
        ({"load": 90.0}, r"load: must be from 0\.001 to 10 \(0\.8 is 80 %\), not 90$"),
        ({"load": float("nan")}, "load: must be from .*, not nan"),
        ({"overestimate": -1.0}, "overestimate: must be from 0 to 10000, not -1$"),
        ({"overestimate": 1e300}, r"overestimate: must be from 0 to 10000, not 1e\+300$"),
    ],
)
def test_options_out_of_range(arguments: dict[str, Any], message: str) -> None:
    """An argument out of range is refused with its name and value."""
    with pytest.raises(OptionError, match=message):
        generate(**{"jobs": 1, "hosts": 1, "rng": Random(1), **arguments})
