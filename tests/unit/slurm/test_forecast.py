"""Windows of ends of running jobs, by which starts are planned."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.errors import SlurmRefusalError
from batsched_py.slurm.controller import SlurmController
from batsched_py.slurm.forecast import EndForecast, EndWindow, earliest
from tests.thoroughness import thorough
from tests.unit.slurm.clusters import PARTITION, controller, submit


@pytest.mark.parametrize(("first", "until"), [(1340, 1380), (1373, 1410), (2601, 2640), (1200, 1260)])
def test_the_first_window_ends_with_the_interval_of_30_s_after_that_of_the_first_end(first: int, until: int) -> None:
    """Intervals are those of the absolute clock."""
    assert EndWindow.of_first(first, None).until == until


def test_further_windows_are_twice_as_long_each_or_longer_by_a_constant() -> None:
    """30, 60, 120... or 30, 40, 50..."""
    doubled, linear = EndWindow(0, growth=None), EndWindow(0, growth=10)
    seen = []
    for window in (doubled, linear):
        for _ in range(3):
            window.move_to(window.until + 1)
            seen.append(window.until)
    assert seen == [30, 90, 210, 30, 70, 120]


def _planned(slurm: SlurmController) -> dict[str, float]:
    assert slurm.backfill.last is not None
    return {one.job: one.start for one in slurm.backfill.last.plan}


@pytest.mark.parametrize("plugin", ["cons_tres", "linear"])
def test_a_start_is_planned_at_the_last_end_of_a_window(plugin: str) -> None:
    """The job fits after the first end; with select/cons_tres the second is in the same window."""
    slurm = controller(f"SelectType=select/{plugin}\nSchedulerParameters=bf_interval=12", PARTITION)
    submit(slurm, "-J a -N 2 -n 8 -t 1", 0.0)
    slurm.advance(9)
    submit(slurm, "-J b -N 2 -n 8 -t 1", 9.5)
    slurm.advance(11)
    submit(slurm, "-J c -N 1 -n 4 -t 1", 11.5)
    slurm.advance(12)
    first, second = (job.limit_end for job in slurm.cluster.running)
    assert second - first < 30
    assert _planned(slurm)["c"] == (second if plugin == "cons_tres" else first)


#: Nodes, tasks, processors of a task, minutes, exclusive, and memory of a processor.
JOBS = st.tuples(
    st.integers(1, 3), st.integers(1, 6), st.integers(1, 2), st.integers(1, 4), st.booleans(), st.integers(0, 400)
)


def _options(name: str, drawn: tuple[int, int, int, int, bool, int], *, is_bounded: bool) -> str:
    nodes, tasks, cpus, minutes, is_exclusive, memory = drawn
    text = f"-J {name} -N {nodes if is_bounded else f'{nodes}-9'} -n {max(nodes, tasks)} -c {cpus} -t {minutes}"
    return text + (" --exclusive" if is_exclusive else "") + (f" --mem-per-cpu={memory}" if memory else "")


@given(
    st.sampled_from(["linear", "cons_tres"]),
    st.lists(JOBS, min_size=1, max_size=12),
    st.lists(st.tuples(JOBS, st.integers(1, 15), st.booleans()), min_size=1, max_size=5),
)
@settings(max_examples=thorough(60), deadline=None)
def test_the_ends_of_all_jobs_together_forecast_as_ends_one_by_one(
    plugin: str,
    running: list[tuple[int, int, int, int, bool, int]],
    asked: list[tuple[tuple[int, int, int, int, bool, int], int, bool]],
) -> None:
    """Start and nodes are the same, on any nodes and for any job."""
    slurm = controller(f"SelectType=select/{plugin}\nSelectTypeParameters=CR_Core_Memory\nSchedulerType=sched/builtin")
    for at, one in enumerate(running):
        with suppress(SlurmRefusalError):
            submit(slurm, _options(f"r{at}", one, is_bounded=True), 7.0 * at)
        slurm.advance(7.0 * at + 6)
    cluster, now = slurm.cluster, 7 * len(running)
    for at, (one, _, is_bounded) in enumerate(asked):
        with suppress(SlurmRefusalError):
            submit(slurm, _options(f"a{at}", one, is_bounded=is_bounded), now)
    for at, (_, nodes, _) in enumerate(asked):
        for job in [job for job in cluster.pending if job.key in {f"a{at}", *(f"r{at}" for at in range(3))}]:
            for after in (now, now + 100):
                plain = earliest(cluster, job, nodes, after=after, now=now, clock=13)
                forecast = EndForecast(cluster, 13)
                found = forecast.of(job).earliest(nodes, after=after, now=now)
                assert (found is None) == (plain is None)
                if found is not None and plain is not None:
                    assert (found.start, forecast.nodes(job, found)) == (plain[0], plain[1].nodes)
