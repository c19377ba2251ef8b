"""The files of results that a simulation leaves, named as Batsim names them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from batsched_py.cli.targets import make_folder, write_failure
from batsched_py.simulator.outputs import write_jobs, write_schedule
from batsched_py.simulator.records import Result

#: What follows the prefix -> what writes it, as in Batsim.
_RESULT_FILES: Final[dict[str, Callable[[Path, Result], None]]] = {
    "_jobs.csv": write_jobs,
    "_schedule.csv": write_schedule,
}


def result_files(prefix: str | None) -> list[Path]:
    """PREFIX_jobs.csv and PREFIX_schedule.csv; a prefix may end with a slash. None without a prefix."""
    return [] if prefix is None else [Path(prefix + ending) for ending in _RESULT_FILES]


def write_result(prefix: str, result: Result) -> None:
    """Write PREFIX_jobs.csv and PREFIX_schedule.csv, each whole or not at all, and make their folder. InputError."""
    for path, write in zip(result_files(prefix), _RESULT_FILES.values(), strict=True):
        make_folder(path)
        try:
            write(path, result)
        except OSError as error:
            raise write_failure(path, error) from error
