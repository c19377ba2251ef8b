"""Batsim's trace files, machine states, consumed energy and pstate changes, with the numbers of Batsim 4.2.1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from batsched_py.bits import format_bits
from batsched_py.results.result_files import write_rows
from batsched_py.results.tracing import HOST_STATES, EnergyRows, StateRows, Trace

MACHINE_STATES_HEADER: Final = ",".join(["time", *(f"nb_{state}" for state in HOST_STATES)])
#: A column of ours, after Batsim's.
UNAVAILABLE_COLUMN: Final = "nb_unavailable"
CONSUMED_ENERGY_HEADER: Final = "time,energy,event_type,wattmin,epower"
PSTATE_CHANGES_HEADER: Final = "time,machine_id,new_pstate"


def write_machine_states(path: Path, rows: StateRows) -> None:
    """Times have six digits in all, not after the point; the file is replaced whole or not at all. OSError.

    Where hosts were unavailable it has a last column that Batsim's file has not; else it is Batsim's.
    """
    counts = iter(rows.counts)
    columns = [rows.times, *[counts] * len(HOST_STATES)]  # the same iterator: five numbers a row
    header, row = MACHINE_STATES_HEADER, "%g,%d,%d,%d,%d,%d"
    if any(rows.unavailable):
        columns.append(rows.unavailable)
        header, row = f"{header},{UNAVAILABLE_COLUMN}", f"{row},%d"
    write_rows(path, header, map(f"{row}\n".__mod__, zip(*columns, strict=False)))


def write_consumed_energy(path: Path, rows: EnergyRows) -> None:
    """The file is replaced whole or not at all. OSError."""
    write_rows(path, CONSUMED_ENERGY_HEADER, _energy_rows(rows))


def write_pstate_changes(path: Path, trace: Trace) -> None:
    """Times have six digits in all; the file is replaced whole or not at all. OSError."""
    rows = (f"{time:g},{format_bits(hosts)},{pstate}\n" for time, hosts, pstate in trace.pstates)
    write_rows(path, PSTATE_CHANGES_HEADER, rows)


def _energy_rows(rows: EnergyRows) -> Iterator[str]:
    """The power is the mean since the row before, the first time since 0; NA if no time has passed."""
    before, joules_before = 0.0, 0.0
    for time, joules, kind, watts in zip(rows.times, rows.joules, rows.kinds, rows.least_watts, strict=True):
        power = f"{(joules - joules_before) / (time - before):.6f}" if time > before else "NA"
        yield f"{time:.6f},{joules:.6f},{kind},{watts:.6f},{power}\n"
        before, joules_before = time, joules
