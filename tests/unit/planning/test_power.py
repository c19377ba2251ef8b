"""The power of hosts, and the cost and savings of sleep."""

from __future__ import annotations

import math

import pytest

from batsched_py.errors import PlatformError
from batsched_py.planning.power import Draw, HostPower, SleepState, SwitchTimes, read_power, wake_cost
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT

WATTS = "100:120:220, 90:100:140, 8:8:8, 110:110:110, 150:150:150"


def power(watts: str = WATTS, sleeps: str = "2:3:4", **more: str) -> HostPower:
    found = read_power("h", {"wattage_per_state": watts, "sleep_pstates": sleeps, **more})
    assert found is not None
    return found


def test_properties_tell_watts_and_where_a_host_computes_and_sleeps() -> None:
    """A transition draws its full watts, a sleeping host its idle ones."""
    host = power()
    assert host.draws[:2] == (Draw(100, 220), Draw(90, 140))
    assert host.sleeps == (SleepState(2, 3, 4, 8, 110, 150),)
    assert host.computing == (0, 1)
    assert host.sleep_state(2) == host.sleeps[0] == host.deepest
    assert host.sleep_state(0) is None
    assert host.speeds == ()


def test_the_older_name_and_two_watts_for_a_pstate_are_read() -> None:
    """As SimGrid reads them: idle:full, without what is drawn by computing as little as possible."""
    host = read_power("h", {"watt_per_state": "95:190"})
    assert host == HostPower((Draw(95, 190),), (), (0,))
    assert read_power("h", {"mem": "4"}) is None


def test_speeds_are_a_property_of_the_users_own() -> None:
    """Batsim tells no speeds; `speed_per_state` has one for each pstate."""
    assert power("95:190, 90:140", "", speed_per_state="2e9, 1e9").speeds == (2e9, 1e9)


@pytest.mark.parametrize(
    ("properties", "field"),
    [
        ({"wattage_per_state": "95"}, "wattage_per_state"),
        ({"wattage_per_state": "95:x"}, "wattage_per_state"),
        ({"wattage_per_state": "95:inf"}, "wattage_per_state"),
        ({"watt_per_state": ""}, "watt_per_state"),
        ({"wattage_per_state": WATTS, "sleep_pstates": "2:3"}, "sleep_pstates"),
        ({"wattage_per_state": WATTS, "sleep_pstates": "2:3:9"}, "sleep_pstates"),
        ({"wattage_per_state": "1:1,1:1,1:1", "sleep_pstates": "0:1:2"}, "sleep_pstates"),
        ({"wattage_per_state": "95:190", "speed_per_state": "1,2"}, "speed_per_state"),
        ({"wattage_per_state": "95:190", "speed_per_state": "0"}, "speed_per_state"),
        ({"wattage_per_state": "95:190", "speed_per_state": "fast"}, "speed_per_state"),
    ],
)
def test_a_property_that_nobody_can_read_is_named(properties: dict[str, str], field: str) -> None:
    """Host, property and rule."""
    with pytest.raises(PlatformError, match=rf"^host h\.{field}: must "):
        read_power("h", properties)


def test_sleeping_pays_from_the_time_that_earns_both_ways_back() -> None:
    """5 s at 110 W and 100 s at 150 W, less 105 s at 8 W that would have been slept: 14 710 J at 92 W saved."""
    sleep, times = power().sleeps[0], SwitchTimes(5, 100)
    assert sleep.off_joules(times) == 550
    assert sleep.on_joules(times) == 15_000
    assert sleep.break_even(100, times) == pytest.approx(14_710 / 92)


def test_sleeping_never_pays_before_both_ways_are_done_and_never_without_savings() -> None:
    """A transition may be cheaper than idling: 1 s each at 10 W against 100 W, but the way there and back takes 2 s."""
    cheap = SleepState(2, 3, 4, 10, 10, 10)
    assert cheap.break_even(100, SwitchTimes(1, 1)) == 2
    assert cheap.break_even(10, SwitchTimes(1, 1)) == math.inf


def test_energy16_as_its_comment_says() -> None:
    """Rack r1 suspends in 2 s and resumes in 8 s: 480 J to wake, worth it from (90 + 480 - 60) / 34 = 15 s on."""
    hosts = read_platform(ROOT / "platforms" / "energy16.xml").compute_hosts()
    frugal = read_power(hosts[8].name, hosts[8].properties)
    assert frugal is not None
    suspended, off = frugal.sleeps
    assert suspended.on_joules(SwitchTimes(2, 8)) == 480
    assert suspended.break_even(frugal.draws[0].idle, SwitchTimes(2, 8)) == pytest.approx(15)
    assert off.break_even(frugal.draws[0].idle, SwitchTimes(10, 80)) == pytest.approx((6050 - 180) / 38)
    assert frugal.deepest == off


def test_waking_costs_the_joules_if_the_times_are_known() -> None:
    """Then the watts, which are all that is known otherwise."""
    dear = power()
    assert wake_cost(dear.sleeps[0], SwitchTimes(5, 100)) == (15_000, 150)
    assert wake_cost(dear.sleeps[0], None) == (math.inf, 150)
