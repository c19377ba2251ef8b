"""Suspensions, resumptions and migrations: how long they take, and which happen at the same time."""

from __future__ import annotations

from itertools import pairwise

from batsched_py.leases.suspension import Step, backward, forward, memory_time, move_groups, steps, transfer_time


def test_times_are_rounded_up_to_seconds() -> None:
    """H24, H36, H46: 1000 MB at 32 MB/s are 32 s, at 100 Mb/s 80 s; 1024 MB 82 s."""
    assert [memory_time(1000, 32), memory_time(1025, 32), memory_time(1025, 32, 7)] == [32, 33, 7]
    assert [transfer_time(1000, 100), transfer_time(1024, 100)] == [80, 82]


def test_machines_of_one_host_are_suspended_one_after_the_other() -> None:
    """HA-24, local: two hosts with two machines of 512 MB each; what coincides is one step."""
    nodes, times = {1: 0, 2: 0, 3: 1, 4: 1}, dict.fromkeys(range(1, 5), 16.0)
    found = backward(steps(nodes, times, "local", 0.0), 1800.0)
    assert found == [Step(1768.0, 1784.0, {2: 0, 4: 1}), Step(1784.0, 1800.0, {1: 0, 3: 1})]
    resumed = forward(steps(nodes, times, "local", 0.0), 2700.0)
    assert [(step.start, step.end) for step in resumed] == [(2700.0, 2716.0), (2716.0, 2732.0)]


def test_each_command_takes_its_overhead() -> None:
    """HA-24 with 2 s per command: a step of two machines takes 4 s more; one after the other, 2 s each."""
    nodes, times = {1: 0, 2: 0, 3: 1, 4: 1}, dict.fromkeys(range(1, 5), 16.0)
    local = backward(steps(nodes, times, "local", 2.0), 1800.0)
    assert [(step.start, step.end) for step in local] == [(1760.0, 1780.0), (1780.0, 1800.0)]
    shared = backward(steps(nodes, times, "global", 2.0), 1800.0)
    assert [(step.start, step.end) for step in shared] == [(1800.0 - 18 * n, 1818.0 - 18 * n) for n in (4, 3, 2, 1)]


def test_steps_of_different_lengths_do_not_overlap() -> None:
    """H37: the second machine of a host waits until the longest of the first step is saved, and the other way round."""
    found = forward(steps({1: 0, 2: 0, 3: 1}, {1: 10.0, 2: 10.0, 3: 25.0}, "local", 0.0), 0.0)
    for one, other in pairwise(found):
        assert one.end <= other.start
    assert sorted(node for step in found for node in step.nodes) == [1, 2, 3]


def test_no_host_appears_twice_in_a_group_of_migrations() -> None:
    """H43: pairs of hosts in turn."""
    moves = {1: (0, 2), 2: (0, 3), 3: (1, 2), 4: (1, 3)}
    assert move_groups(moves) == [{1: (0, 2), 4: (1, 3)}, {2: (0, 3), 3: (1, 2)}]
