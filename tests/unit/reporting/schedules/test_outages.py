"""Outages, from rows of decisions."""

from __future__ import annotations

from batsched_py.model.decision_row import DecisionRow
from batsched_py.reporting.schedules.decisions_table import DecisionTable, with_outages
from batsched_py.reporting.schedules.outages import Outage, find_outages
from tests.builders import hosts
from tests.unit.reporting.sample_schedules import schedule


def unavailable(time: float, which: str) -> DecisionRow:
    return DecisionRow(time, "unavailable", hosts=hosts(which) if which else hosts("0") - hosts("0"))


def test_hosts_that_fail_and_return_together_are_one_outage() -> None:
    """Hosts that do not have outages of their own."""
    rows = [unavailable(1, "0-1"), unavailable(2, "0-2"), unavailable(4, "1-2"), unavailable(7, "")]
    assert find_outages(rows, 10) == (
        Outage(1, 4, hosts("0")),
        Outage(1, 7, hosts("1")),
        Outage(2, 7, hosts("2")),
    )


def test_a_host_that_does_not_return_is_out_until_the_end() -> None:
    """It is the end of the run; a host that fails later takes no time."""
    assert find_outages([unavailable(3, "2")], 10) == (Outage(3, 10, hosts("2")),)
    assert find_outages([unavailable(11, "2")], 10) == ()


def test_a_host_may_fail_again() -> None:
    """Also at the instant at which another one returns."""
    rows = [unavailable(1, "0"), unavailable(2, "1"), unavailable(3, "0"), unavailable(4, "")]
    assert find_outages(rows, 10) == (Outage(1, 2, hosts("0")), Outage(2, 3, hosts("1")), Outage(3, 4, hosts("0")))


def test_a_schedule_gets_the_outages_of_its_decisions() -> None:
    """It is the same without any."""
    run = schedule()
    assert with_outages(run, None) is run
    assert with_outages(run, DecisionTable({}, [unavailable(1, "0")])) is run  # `down` may be sleep
    assert with_outages(run, DecisionTable({}, unavailable=[unavailable(50, "3")])).outages == (
        Outage(50, run.end, hosts("3")),
    )
