"""Cases: one line of Python that makes them again, and the machine, jobs and failures made of them."""

from __future__ import annotations

import pytest

from batsched_py.api import HostSet
from batsched_py.model.external_event import MACHINE_AVAILABLE, MACHINE_UNAVAILABLE
from batsched_py.model.platform import DEFAULT_MASTER
from batsched_py.testing.case import FRUGAL_SPEEDS, POWER_SPEEDS, Case

CASE = Case(hosts=3, jobs=((5, 1, 2, None), (0, 2, 1 / 3, 4)), outages=((4, "0 2", 9), (1, "1", None)))


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (Case(), "Case()"),
        (Case(hosts=2, peer="late", seed=7), "Case(hosts=2, peer='late', seed=7)"),
        (CASE, "Case(hosts=3, jobs=((5, 1, 2, None), (0, 2, 0.3333333333333333, 4)), outages=((4, '0 2', 9), ...)"),
    ],
)
def test_the_text_of_a_case_makes_it_again(case: Case, text: str) -> None:
    """Members at their defaults are left out, so that a failure is one short line."""
    assert repr(case) == text.replace("...)", "(1, '1', None)))")
    assert eval(repr(case), {"Case": Case}) == case


def test_jobs_are_submitted_in_order_and_named_by_their_places() -> None:
    """The second one comes first."""
    workload = CASE.workload()
    assert list(CASE.job_ids()) == ["w0!000", "w0!001"]
    assert [(job.id, job.submit_time, job.walltime) for job in workload.jobs] == [("001", 0, 4), ("000", 5, None)]
    assert [job.members["user"] for job in workload.jobs] == ["user1", "user0"]
    assert {profile.members["delay"] for profile in workload.profiles.values()} == {2, 1 / 3}


def test_outages_are_events_in_order_of_time() -> None:
    """Hosts that never come back are lost."""
    assert [(event.timestamp, event.type, str(event.hosts)) for event in CASE.external_events()] == [
        (1, MACHINE_UNAVAILABLE, "1"),
        (4, MACHINE_UNAVAILABLE, "0 2"),
        (9, MACHINE_AVAILABLE, "0 2"),
    ]
    assert CASE.lost == HostSet.of(1)


def test_the_last_third_of_the_hosts_is_frugal() -> None:
    """Without energy all hosts are alike, and have no properties."""
    machines = Case(hosts=6, energy=True).platform().hosts
    assert [host.speeds for host in machines[:6]] == [POWER_SPEEDS] * 4 + [FRUGAL_SPEEDS] * 2
    plain = Case(hosts=6).platform().hosts
    assert {(host.speeds, tuple(host.properties)) for host in plain[:6]} == {((1e9,), ())}


def test_messages_of_higher_hosts_take_longer() -> None:
    """So that the replies of several hosts at one instant come apart."""
    platform = Case(hosts=3).platform()
    times = [platform.route(name, DEFAULT_MASTER).latency for name in ("h0000", "h0001", "h0002", DEFAULT_MASTER)]
    assert times == pytest.approx([0.0005, 0.0015, 0.0025, 0.0005])
