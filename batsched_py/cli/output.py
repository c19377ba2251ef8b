"""Files that a command writes: their folders, and one line if they cannot be written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from batsched_py.errors import InputError
from batsched_py.simulator.outputs import write_jobs, write_schedule
from batsched_py.simulator.records import Result

#: What follows the prefix -> what writes it, as in Batsim.
_RESULT_FILES: Final[dict[str, Callable[[Path, Result], None]]] = {
    "_jobs.csv": write_jobs,
    "_schedule.csv": write_schedule,
}


def make_folder(path: Path) -> None:
    """Make the folder of a file that will be written; InputError if that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _failure(path, error) from error


def write_result(prefix: Path, result: Result) -> tuple[Path, ...]:
    """Write PREFIX_jobs.csv and PREFIX_schedule.csv, each whole or not at all; their paths. InputError."""
    paths = []
    for ending, write in _RESULT_FILES.items():
        path = prefix.with_name(prefix.name + ending)
        try:
            write(path, result)
        except OSError as error:
            raise _failure(path, error) from error
        paths.append(path)
    return tuple(paths)


def _failure(path: Path, error: OSError) -> InputError:
    return InputError(str(path), "", f"cannot be written: {error.strerror or error}")
