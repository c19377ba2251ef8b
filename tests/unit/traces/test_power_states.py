"""Power states as users spell them become the properties that Batsim, the simulator and algorithms read."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import OptionError
from batsched_py.planning.power import SwitchTimes, read_power
from batsched_py.traces.platform_writer import write_homogeneous
from batsched_py.traces.power_states import PowerStates
from batsched_py.traces.simgrid_xml import read_platform


def test_states_are_numbered_in_their_order() -> None:
    """Each sleep state is followed by those of its switches, which last one flop."""
    found = PowerStates.parse("100:120:220, 90:100:140@0.75Gf,sleep=8:5:110:100s:150", 2e9)
    assert found.speeds == "2000000000f, 750000000f, 0.001f, 0.2f, 0.01f"
    assert found.properties == {
        "speed_per_state": "2000000000, 750000000, 0.001, 0.2, 0.01",
        "wattage_per_state": "100:120:220, 90:100:140, 8:8:8, 110:110:110, 150:150:150",
        "sleep_pstates": "2:3:4",
    }


def test_several_sleep_states_have_units_of_time() -> None:
    """Times may be spelled as elsewhere."""
    found = PowerStates.parse("1:2:3,sleep=0.5:500ms:1:2m:1,sleep=0:1:1:1h:1", 1e9)
    assert found.properties["sleep_pstates"] == "1:2:3, 4:5:6"
    assert [state.speed for state in found.states] == [1e9, 1e-3, 2.0, 1 / 120, 1e-3, 1.0, 1 / 3600]
    assert "sleep_pstates" not in PowerStates.parse("1:2:3", 1e9).properties


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "must be IDLE:EPSILON:FULL in watts"),
        ("1:2", "must be IDLE:EPSILON:FULL in watts"),
        ("1:2:3:4", "must be IDLE:EPSILON:FULL in watts"),
        ("1:x:3", "must be IDLE:EPSILON:FULL in watts"),
        ("-1:2:3", "must be IDLE:EPSILON:FULL in watts"),
        ("1:2:inf", "must be IDLE:EPSILON:FULL in watts"),
        ("1:2:nan", "must be IDLE:EPSILON:FULL in watts"),
        ("1:2:3@1Gf", "unless it is the first, not '1:2:3@1Gf'"),
        ("1:2:3,1:2:3", "then @SPEED unless it is the first, not '1:2:3'"),
        ("3:2:1", "must not fall"),
        ("1:2:3,1:2:3@0f", "speed: must be greater than 0 flop/s, not '0f'"),
        ("1:2:3,1:2:3@fast", "speed: must be a number and a unit of speed"),
        ("sleep=1:1:1:1:1", "states that compute come first"),
        ("1:2:3,sleep=1:1:1:1:1,1:2:3@1Gf", "states that compute come first"),
        ("1:2:3,sleep=1:1:1", "must be sleep=WATTS:OFF_TIME:OFF_WATTS:ON_TIME:ON_WATTS"),
        ("1:2:3,sleep=x:1:1:1:1", "must be sleep=WATTS:"),
        ("1:2:3,sleep=1:0:1:1:1", "a switch must take at least 0.001 s"),
        ("1:2:3,sleep=1:1:1:soon:1", "a switch must take at least 0.001 s"),
    ],
)
def test_what_is_no_power_is_refused(text: str, rule: str) -> None:
    """With the rule and the part that breaks it."""
    with pytest.raises(OptionError, match=r"^(power|speed): ") as caught:
        PowerStates.parse(text, 1e9)
    assert rule in str(caught.value)


def test_a_platform_with_power_states_is_read_as_it_was_meant(tmp_path: Path) -> None:
    """Algorithms find the switches' times and the power; the master host draws nothing."""
    power = PowerStates.parse("100:120:220,90:100:140@0.5Gf,sleep=8:5:110:100:150", 1e9)
    write_homogeneous(tmp_path / "p.xml", 3, power=power)
    platform = read_platform(tmp_path / "p.xml")
    master, *hosts = platform.hosts
    assert platform.notes == ()
    assert master.properties == {"wattage_per_state": "0:0:0"}
    assert [host.speeds for host in hosts] == [(1e9, 0.5e9, 1e-3, 0.2, 0.01)] * 3
    described = read_power(hosts[0].name, hosts[0].properties)
    assert described is not None
    assert described.computing == (0, 1)
    assert described.speeds == hosts[0].speeds
    assert [(draw.idle, draw.full) for draw in described.draws[:2]] == [(100, 220), (90, 140)]
    [asleep] = described.sleeps
    times = SwitchTimes(off=5, on=100)
    assert (asleep.watts, asleep.off_joules(times), asleep.on_joules(times)) == (8, 550, 15000)
