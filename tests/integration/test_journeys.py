"""Requests are read and checked once at each end of a conversation, and registrations are written once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

from tests.benchmarks.journeys import decide, post_lease, run_campaign


@pytest.fixture(scope="module")
def lease(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """The calls by function of the POST of a lease until it is a reservation."""
    calls = Counter[str]()
    for (_, function), count in post_lease(tmp_path_factory.mktemp("site")).calls.items():
        calls[function] += count
    return calls


def test_the_caller_of_a_request_is_read_once(lease: Counter[str]) -> None:
    """By the guard, for all that the handler does."""
    assert lease["who_asks"] == 1


def test_the_terms_of_a_lease_are_read_by_the_door_and_by_the_algorithm(lease: Counter[str]) -> None:
    """The algorithm reads them from the message, so that a recording suffices for a replay."""
    assert lease["parse_terms"] == 2


def test_a_requested_job_is_read_three_times(lease: Counter[str]) -> None:
    """By the session from the request, by the writer of its registration, and by the simulator."""
    assert lease["read_job"] == 3


def test_a_registration_is_written_once(lease: Counter[str]) -> None:
    """By the verb of the Plan, which refuses what cannot be written; the reply takes it over."""
    assert lease["_write_register_job"] == lease["_write_register_profile"] == 1
    assert lease["finite"] == 2


def test_a_profile_is_parsed_three_times(lease: Counter[str]) -> None:
    """By the Plan and the simulator, which check it, and by the algorithm, which asks whether it can be suspended."""
    assert lease["parse_profile"] == 3


def test_planning_a_campaign_makes_no_simulation(tmp_path: Path) -> None:
    """It checks the inputs as the simulation does."""
    calls = {function: count for (_, function), count in run_campaign(tmp_path).calls.items()}
    assert (calls["check_inputs"], calls["Simulation.__init__"]) == (2, 1)


def test_a_decision_asks_seldom_for_free_hosts(tmp_path: Path) -> None:
    """For the start of the head, for why the next job waits and its promise, and before others may overtake."""
    calls = {function: count for (_, function), count in decide(tmp_path).calls.items()}
    assert calls["Plan.free"] <= 3
    assert calls["Availability.free"] <= 1
