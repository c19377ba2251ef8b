"""Batsim's trace files (machine states, consumed energy, pstate changes), in the number format of Batsim 4.2.1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from batsched_py.bits import format_bits
from batsched_py.results.result_files import write_rows
from batsched_py.results.tracing import HOST_STATES, EnergyRows, StateRows, Trace

MACHINE_STATES_HEADER: Final = ",".join(["time", *(f"nb_{state}" for state in HOST_STATES)])
#: An additional column after those of Batsim.
UNAVAILABLE_COLUMN: Final = "nb_unavailable"
CONSUMED_ENERGY_HEADER: Final = "time,energy,event_type,wattmin,epower"
PSTATE_CHANGES_HEADER: Final = "time,machine_id,new_pstate"


def write_machine_states(path: Path, rows: StateRows) -> None:
    """Write the states; times have six significant digits; the file is replaced completely or not at all. OSError.

    If hosts were unavailable, the file has a last column unknown to Batsim; otherwise it equals Batsim's file.
    """
    counts = iter(rows.counts)
    columns = [rows.times, *[counts] * len(HOST_STATES)]  # the same iterator five times: five numbers per row
    header, row = MACHINE_STATES_HEADER, "%g,%d,%d,%d,%d,%d"
    if any(rows.unavailable):
        columns.append(rows.unavailable)
        header, row = f"{header},{UNAVAILABLE_COLUMN}", f"{row},%d"
    write_rows(path, header, map(f"{row}\n".__mod__, zip(*columns, strict=False)))


def write_consumed_energy(path: Path, rows: EnergyRows) -> None:
    """Write the rows; the file is replaced completely or not at all. OSError."""
    write_rows(path, CONSUMED_ENERGY_HEADER, _energy_rows(rows))


def write_pstate_changes(path: Path, trace: Trace) -> None:
    """Write the changes; times have six significant digits; the file is replaced completely or not at all. OSError."""
    rows = (f"{time:g},{format_bits(hosts)},{pstate}\n" for time, hosts, pstate in trace.pstates)
    write_rows(path, PSTATE_CHANGES_HEADER, rows)


def _energy_rows(rows: EnergyRows) -> Iterator[str]:
    """Yield the rows; the power is the mean since the previous row, initially since 0; NA if no time has passed."""
    before, joules_before = 0.0, 0.0
    for time, joules, kind, watts in zip(rows.times, rows.joules, rows.kinds, rows.least_watts, strict=True):
        power = f"{(joules - joules_before) / (time - before):.6f}" if time > before else "NA"
        yield f"{time:.6f},{joules:.6f},{kind},{watts:.6f},{power}\n"
        before, joules_before = time, joules
