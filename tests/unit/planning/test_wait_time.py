"""The wait of a job: without the latency of messages, and without the rounding of differences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.planning.policies.ordering import ORDERS
from batsched_py.planning.wait_time import TOLERANCE, wait_of
from tests.builders import job

#: Seconds by which messages were late: Batsim 5, Batsim 4 on a cluster, nearly the tolerance.
LATENESS = (2e-10, 1.5e-5, 6e-4, 9.9e-4)


@pytest.mark.parametrize(("now", "wait"), [(3.0, 0.0), (5.0, 0.0), (5.0009, 0.0), (5.0011, 0.001), (7.25, 2.25)])
def test_waits_are_whole_milliseconds_from_0(now: float, wait: float) -> None:
    """The job was submitted at 5 s."""
    assert wait_of(job(submit_time=5.0), now) == wait


@given(st.integers(0, 10**7), st.integers(0, 10**6), st.sampled_from((0.0, *LATENESS)))
def test_a_late_message_makes_no_wait_longer(submitted: int, milliseconds: int, late: float) -> None:
    """However the difference of the times is rounded."""
    wait = milliseconds * TOLERANCE
    assert wait_of(job(submit_time=submitted), submitted + wait + late) == milliseconds / 1000


@pytest.mark.parametrize("order", [order for order in ORDERS if ORDERS[order].dynamic])
@pytest.mark.parametrize("late", LATENESS)
def test_latency_does_not_decide_between_jobs_that_arrived_together(order: str, late: float) -> None:
    """They differ in size and walltime, and are served in order of arrival."""
    jobs = [job("1", 1, 900.0, 5.0), job("2", 2, 600.0, 5.0), job("3", 3, 60.0, 5.0)]
    assert ORDERS[order].sorted(jobs, 5.0 + late) == jobs


@pytest.mark.parametrize("late", LATENESS)
def test_latency_does_not_decide_between_equal_slowdowns(late: float) -> None:
    """The slowdowns are 1.5: these waits are half of the walltimes."""
    jobs = [job("1", 1, 60.0, 20.0), job("2", 1, 20.0, 40.0), job("3", 1, 40.0, 30.0)]
    for order in ("asc_slowdown", "desc_slowdown"):
        assert ORDERS[order].sorted(jobs, 50.0 + late) == jobs
