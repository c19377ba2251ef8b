"""Trace files: numbers as Batsim prints them."""

from array import array
from pathlib import Path

import pytest

from batsched_py.reporting.schedules.machine_states import read_machine_states
from batsched_py.results.result_files import PIECE
from batsched_py.results.trace_files import write_consumed_energy, write_machine_states, write_pstate_changes
from batsched_py.results.tracing import EnergyRows, StateRows, Trace


def test_times_of_machine_states_have_six_digits(tmp_path: Path) -> None:
    """Before and after the point together; small and large ones have an exponent."""
    times = array("d", [0.0, 2e-10, 5.073, 10678.25, 1234567.0])
    rows = StateRows(times, array("L", [0, 0, 0, 3, 1] * 5))
    write_machine_states(tmp_path / "out.csv", rows)
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing",
        "0,0,0,0,3,1",
        "2e-10,0,0,0,3,1",
        "5.073,0,0,0,3,1",
        "10678.2,0,0,0,3,1",
        "1.23457e+06,0,0,0,3,1",
    ]


@pytest.mark.parametrize("out", [[], [0, 0], [0, 2]])
def test_unavailable_hosts_have_a_column_only_where_there_are_some(tmp_path: Path, out: list[int]) -> None:
    """Otherwise the file is Batsim's; it is read back as it was written."""
    rows = StateRows(array("d", [0.0, 5.5]), array("I", [0, 0, 0, 3, 1, 0, 0, 0, 2, 0]), array("I", out))
    write_machine_states(tmp_path / "out.csv", rows)
    lines = (tmp_path / "out.csv").read_text().splitlines()
    names = "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing"
    if any(out):
        assert lines == [f"{names},nb_unavailable", "0,0,0,0,3,1,0", "5.5,0,0,0,2,0,2"]
    else:
        assert lines == [names, "0,0,0,0,3,1", "5.5,0,0,0,2,0"]
    assert read_machine_states(tmp_path / "out.csv").unavailable == array("I", out if any(out) else [])


def test_power_is_the_mean_since_the_row_before(tmp_path: Path) -> None:
    """The first row counts from 0; over no time there is none."""
    rows = EnergyRows(
        array("d", [2.0, 2.0, 4.5]), array("d", [20.0, 20.0, 100.0]), ["s", "p", "e"], array("d", [9.0, 8.0, 7.5])
    )
    write_consumed_energy(tmp_path / "out.csv", rows)
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "time,energy,event_type,wattmin,epower",
        "2.000000,20.000000,s,9.000000,10.000000",
        "2.000000,20.000000,p,8.000000,NA",
        "4.500000,100.000000,e,7.500000,32.000000",
    ]


def test_a_row_at_the_start_has_no_power(tmp_path: Path) -> None:
    """No time has passed since 0."""
    rows = EnergyRows(array("d", [0.0]), array("d", [0.0]), ["s"], array("d", [9.0]))
    write_consumed_energy(tmp_path / "out.csv", rows)
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "0.000000,0.000000,s,9.000000,NA"


def test_hosts_of_a_pstate_change_are_intervals(tmp_path: Path) -> None:
    """As everywhere."""
    write_pstate_changes(tmp_path / "out.csv", Trace(None, None, [(0.0, 0b1111, 0), (6.1, 0b1011, -2)]))
    assert (tmp_path / "out.csv").read_text() == "time,machine_id,new_pstate\n0,0-3,0\n6.1,0-1 3,-2\n"


def test_long_files_are_written_in_pieces(tmp_path: Path) -> None:
    """No row is lost at a border."""
    count = 2 * PIECE + 1
    rows = StateRows(array("d", range(count)), array("L", [1, 2, 3, 4, 5]) * count)
    write_machine_states(tmp_path / "out.csv", rows)
    lines = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert lines == [f"{time:g},1,2,3,4,5" for time in range(count)]
