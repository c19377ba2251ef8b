"""Slurm's accounting in the format of `sacct --parsable2`, with any delimiter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.traces.formats import ReadOptions, Unit, delimiter_of
from batsched_py.traces.sacct_reader import SIZES, read_rows
from batsched_py.traces.sacct_rows import SacctRows
from batsched_py.traces.swf_log import SwfLog


def read(path: Path, options: ReadOptions) -> SwfLog:
    """Read a file as `sacct_reader.read_rows` does; without a unit in that of `sacct_unit`."""
    nodes = options.demands or options.slurm
    unit = options.unit or ("nodes" if nodes else sacct_unit(path, options.limits)) or "cpus"
    return read_rows(path, SacctRows, unit, options)


def read_sacct(
    path: Path,
    unit: Unit = "cpus",
    *,
    keep: Sequence[str] = (),
    strict: bool = False,
    limits: Limits = LIMITS,
    dependencies: bool = False,
    demands: bool = False,
    slurm: bool = False,
) -> SwfLog:
    """Read a file with these choices of `ReadOptions`. WorkloadError as `sacct_reader.read_rows`."""
    chosen = ReadOptions(
        limits,
        keep=tuple(keep),
        strict=strict,
        dependencies=dependencies,
        demands=demands,
        slurm=slurm,
    )
    return read_rows(path, SacctRows, unit, chosen)


def sacct_unit(path: Path, limits: Limits = LIMITS) -> Unit | None:
    """Return the unit of sizes in a file of `sacct --parsable2`: nodes if it has no CPUs; None for other files."""
    with reported(path, WorkloadError, lambda: "line 1"):
        first = next(read_lines(path, limits), b"").decode(errors="replace").strip()
    delimiter = delimiter_of(first)
    if not delimiter:
        return None
    names = {cell.strip().lower() for cell in first.split(delimiter)}
    sizes = {unit: {requested, *used} for unit, (requested, used) in SIZES.items()}
    return "nodes" if names & sizes["nodes"] and not names & sizes["cpus"] else "cpus"
