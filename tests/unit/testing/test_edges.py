"""Cases at the edges, and crowded ones."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import pytest

from batsched_py.api import HostSet
from batsched_py.testing.case import Peer
from batsched_py.testing.edges import CROWD, crowd, crowded, edges


@pytest.mark.parametrize("hosts", [1, 2, 6])
def test_each_edge_is_tried_with_each_peer_on_hosts_that_exist(hosts: int) -> None:
    """On machines of any size."""
    cases = list(edges(hosts))
    assert len(set(Counter(case.peer for case in cases).values())) == 1
    assert {case.peer for case in cases} == set(get_args(Peer))
    for case in cases:
        assert case.hosts in (1, hosts)
        assert all(HostSet.parse(failed) <= HostSet.range(case.hosts) for _, failed, _ in case.outages), case


def test_a_crowd_wants_more_hosts_than_there_are() -> None:
    """Most of the time, so that jobs wait for each other."""
    for case in crowded(6):
        assert len(case.jobs) == CROWD
        assert sum(size * run for _, size, run, _ in case.jobs) > 6 * 30


def test_a_crowd_is_drawn_by_its_seed() -> None:
    """The same seed, the same case."""
    assert crowd(6, "torn", 3) == crowd(6, "torn", 3)
    assert crowd(6, "torn", 3).jobs != crowd(6, "torn", 4).jobs
