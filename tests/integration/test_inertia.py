"""The inertial policy: hosts are woken while the load grows from period to period, and sent to sleep while it falls."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from batsched_py.errors import OptionError
from batsched_py.hostset import HostSet
from batsched_py.schedulers.energy.inertia import Inertia, SwitchGrowth, liquid_load_horizon
from batsched_py.testing import Bench
from tests.integration.energy_runs import run, starts

STEPS = [(10.0, HostSet.of(0)), (20.0, HostSet.of(0, 1)), (30.0, HostSet.of(0, 1, 2))]


@pytest.mark.parametrize(("load", "horizon"), [(0, 0), (5, 5), (10, 10), (20, 15), (30, 20), (36, 22)])
def test_the_load_flows_into_the_hosts_that_are_free(load: float, horizon: float) -> None:
    """One host for 10 s, then two for 10 s, then three."""
    assert liquid_load_horizon(load, 10.0, STEPS) == horizon


def test_a_load_for_which_no_host_will_be_free_counts_as_work_of_one() -> None:
    assert liquid_load_horizon(7.0, 0.0, [(0.0, HostSet())]) == 7.0


@pytest.mark.parametrize(("text", "following"), [("x2", [1, 2, 4, 8]), ("p1", [1, 2, 3, 4]), ("x1.5", [1, 1, 1, 1])])
def test_the_growth_says_how_many_are_switched_next(text: str, following: list[int]) -> None:
    growth, counts = SwitchGrowth.parse(text), [0]
    for _ in following:
        counts.append(growth.after(counts[-1]))
    assert counts[1:] == following


def played(loads: list[float], threshold: float = math.inf) -> list[int]:
    """Return the hosts switched at the end of each period of 10 s of constant load; all hosts can be switched."""
    inertia = Inertia(SwitchGrowth.parse("x2"), 10.0, threshold)
    inertia.begin(0.0)
    counts = []
    for number, load in enumerate(loads):
        inertia.add(10.0 * number, load, load)
        inertia.add(10.0 * (number + 1), load, load)
        counts.append(inertia.stage(10.0 * (number + 1), able=True))
        inertia.switched = abs(counts[-1])
    return counts


def test_ever_more_hosts_are_switched_until_the_load_turns() -> None:
    """Nothing at the end of the first period, and nothing whenever the direction changes."""
    assert played([1, 2, 3, 4, 3, 3, 3, 5, 6, 7]) == [0, 1, 2, 4, 0, -1, -2, 0, 1, 2]


def test_from_the_threshold_on_hosts_are_woken_whatever_the_trend() -> None:
    assert played([9, 8, 7, 6, 5, 4, 3], threshold=5) == [0, 1, 2, 4, 8, 0, -1]


def test_hosts_sleep_in_growing_numbers_and_wake_as_the_load_grows() -> None:
    """Six idle hosts: 1, 2 and 3 of them sleep, at the ends of periods; then a job of all of them wakes them."""
    options = {"inertia": "x2", "period": "10", "idle_time": "1e9"}
    result, talk = run("easy_idle_sleeper", options, [(0, 1, 1, 1), (80, 6, 10, 10)])
    slept = Counter[float]()
    for now, _, data in talk.said("SET_RESOURCE_STATE"):
        slept[now] += len(HostSet.parse(data["resources"])) if data["state"] == "2" else 0
    assert {now: count for now, count in slept.items() if now < 80} == {30.0: 1, 40.0: 2, 50.0: 3}
    assert starts(result) == [0, 100]


def test_a_host_that_works_sleeps_when_it_is_free() -> None:
    """All hosts work when one is chosen; the next job does not get it."""
    bench = Bench("easy_idle_sleeper", hosts=2, options={"inertia": "p1", "period": 10, "idle_time": 1e9})
    first = bench.submit(size=1, walltime=100)
    other = bench.submit(size=1, walltime=100)
    bench.decide()
    for _ in range(3):
        assert not bench.call().decide().pstates
    bench.end(first)
    assert list(bench.decide().pstates.values()) == [2]
    assert other in bench.running


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"inertia": "2"}, "inertia: must be x or p with a number, as in x2 or p1, not '2'"),
        ({"period": 5}, "period and load_threshold are for the option inertia"),
        ({"load_threshold": 5}, "period and load_threshold are for the option inertia"),
    ],
)
def test_options_that_would_do_nothing_are_refused(options: dict[str, object], rule: str) -> None:
    with pytest.raises(OptionError, match=rule):
        Bench("easy_idle_sleeper", options=options)


@pytest.mark.parametrize("text", ["x" + "9" * 400, "p1000000001"])
def test_no_more_hosts_grow_than_there_can_be(text: str) -> None:
    """An infinite factor would be an error in the middle of a run."""
    with pytest.raises(ValueError, match=r"inertia: must be at most 1e\+09, not '"):
        SwitchGrowth.parse(text)
