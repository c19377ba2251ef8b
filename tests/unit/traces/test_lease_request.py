"""Requests for leases, and sites."""

from __future__ import annotations

import pytest

from batsched_py.model.lease_terms import NodeSet
from batsched_py.traces.lease_request import LeaseSite, read_site, uniform_site
from tests.unit.traces.lwf_files import request


@pytest.mark.parametrize("text", ["4 CPU:100 Memory:1024", "4  CPU:100,Memory:1024", " 4 CPU:100, Memory:1024 "])
def test_site(text: str) -> None:
    """H64: a number of hosts alike, and what they have."""
    resources = {"CPU": 100, "Memory": 1024}
    assert read_site(text, 100) == LeaseSite(("CPU", "Memory"), (NodeSet(4, resources),)) == uniform_site(4)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("CPU:100 Memory:1024", "must begin with a number of hosts from 1 to 100"),
        ("0 CPU:100 Memory:1024", "must begin with a number of hosts"),
        ("101 CPU:100 Memory:1024", "must begin with a number of hosts"),
        ("9999999999999999999999 CPU:100 Memory:1024", "must begin with a number of hosts"),
        ("", "must begin with a number of hosts"),
        ("4 CPU:100", "must have Memory"),
        ("4 Memory:1024", "must have CPU"),
        ("4 CPU:100 Memory:lots", "Memory must be a number above 0"),
    ],
)
def test_broken_rules_of_sites(text: str, rule: str) -> None:
    """All hosts have CPU and memory."""
    with pytest.raises(ValueError, match=rule):
        read_site(text, 100)


def test_kinds() -> None:
    """A lease without a start and a deadline is best effort."""
    assert request().best_effort
    assert not any(one.best_effort for one in (request(start=0), request(start="now"), request(deadline=9)))


def test_size() -> None:
    """The nodes of all sets are counted."""
    assert request()._replace(nodes=(NodeSet(2, {}), NodeSet(3, {}))).size == 5
