"""Values of runs of hosts, against a list with one for each host."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from batsched_py.reporting.metrics.run_map import RunMap, repeated

HOSTS = 12
CHANGES = st.lists(st.tuples(st.integers(0, HOSTS - 1), st.integers(1, HOSTS), st.integers(0, 3)), max_size=12)


@given(CHANGES)
def test_each_host_has_the_value_of_a_list(changes: list[tuple[int, int, int]]) -> None:
    """Changed by what it was; each host is told of once for each change."""
    runs, each = RunMap(HOSTS, 0), [0] * HOSTS
    for low, count, factor in changes:
        high, told = min(low + count, HOSTS) - 1, 0

        def new(before: int, alike: int, factor: int = factor) -> int:
            nonlocal told
            told += alike
            return before * factor + 1

        runs.change(low, high, new)
        each[low : high + 1] = [before * factor + 1 for before in each[low : high + 1]]
        assert told == high - low + 1
    assert [value for low, high, value in runs.runs() for _ in range(low, high + 1)] == each
    assert [low for low, _, _ in runs.runs()] == [0, *(high + 1 for _, high, _ in runs.runs())][:-1]


def test_hosts_that_become_alike_are_one_run() -> None:
    """Else a long list of changes would be walked again and again."""
    runs = RunMap(1000, 0)
    for host in range(0, 1000, 2):
        runs.change(host, host, lambda before, _: before + 1)
    assert len(list(runs.runs())) == 1000
    runs.change(0, 999, lambda *_: 7)
    assert list(runs.runs()) == [(0, 999, 7)]


def test_no_hosts_have_no_runs() -> None:
    """A file of results may tell of none."""
    assert list(RunMap(0, 1).runs()) == []


@given(st.floats(-1e9, 1e9), st.integers(0, 300))
def test_the_sum_of_equal_numbers_is_exact(value: float, count: int) -> None:
    """As if each stood alone."""
    assert math.fsum(repeated(value, count)) == math.fsum([value] * count)
