"""Hosts that operators take out of service, and that fail by themselves."""

from __future__ import annotations

import pytest

pytest.importorskip("litestar")

from batsched_py.hostset import HostSet
from batsched_py.leases.drains import DRAIN_HOSTS, UNDRAIN_HOSTS
from batsched_py.model.external_event import MACHINE_AVAILABLE, MACHINE_UNAVAILABLE
from batsched_py.site.api.host_views import RequestedHosts
from batsched_py.site.journal import JournalEntry


def noted(*requests: tuple[float, str, str]) -> RequestedHosts:
    """Hosts by requests: time, kind, hosts."""
    found = RequestedHosts()
    for number, (time, kind, hosts) in enumerate(requests, 1):
        found.note(JournalEntry(number, number, time, 0.0, kind, None, "olga", "", {"resources": hosts}))
    return found


def test_a_request_counts_before_a_snapshot_shows_it() -> None:
    """Hosts that were returned are in service, and those that were taken are out of it."""
    hosts = noted((5.0, MACHINE_UNAVAILABLE, "0-1"), (6.0, MACHINE_AVAILABLE, "1-2"))
    assert hosts.applied(HostSet.parse("2-3"), 5.0) == HostSet.parse("0 3")


def test_a_host_that_fails_by_itself_after_its_return_is_out_of_service() -> None:
    """As a later snapshot shows it; a request does not count for ever."""
    hosts = noted((5.0, DRAIN_HOSTS, "0"), (6.0, UNDRAIN_HOSTS, "0"))
    assert hosts.applied(HostSet.parse("0"), 6.0) == HostSet()
    assert hosts.applied(HostSet(), 7.0) == HostSet()
    assert hosts.applied(HostSet.parse("0"), 8.0) == HostSet.parse("0")


def test_a_host_that_is_back_by_itself_is_in_service() -> None:
    """Though the request that has taken it was not ended by another."""
    hosts = noted((5.0, MACHINE_UNAVAILABLE, "0"))
    assert hosts.applied(HostSet.parse("0"), 6.0) == HostSet.parse("0")
    assert hosts.applied(HostSet(), 7.0) == HostSet()
    assert list(hosts.taken) == [0]
