"""The location of a run's files, and the name of the run derived from it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from msgspec import Struct

from batsched_py.errors import InputError
from batsched_py.reporting.schedules.lease_tables import LEASES
from batsched_py.results.file_forms import BATSIM_4, BATSIM_5, FileForm, split_jobs_name

#: Suffixes of logs, in lower case.
LOGS: Final = (".swf", ".swf.gz")
#: Prefixes without meaning, such as Batsim's default: the run is named after its folder.
_NAMELESS: Final = ("", "out")


class RunLocation(Struct, frozen=True):
    """The jobs file of a run.

    Attributes:
        jobs: the path of the jobs file.
        prefix: the common prefix of the paths of all files of the run; None if the jobs file has another name.
        files: the suffixes of the file names.
    """

    jobs: Path
    prefix: str | None
    files: FileForm

    def sibling(self, ending: str) -> Path | None:
        """Return another file of the run; None if it does not exist."""
        return find_sibling(self.prefix, ending)


def locate(path: Path) -> RunLocation:
    """Find the jobs file of a path, a prefix or a folder, with the names of Batsim 4 or 5. InputError."""
    if path.is_file():
        found = path
    elif path.is_dir() and (there := _jobs_files(path)):
        if len(there) > 1:
            _refuse_several(path, there, f"one file *{BATSIM_4.jobs}")
        found = there[0]
    else:
        behind = [file for form in (BATSIM_4, BATSIM_5) if (file := find_sibling(str(path), form.jobs)) is not None]
        if not behind:
            rule = f"there is no such file, no file {path.name}{BATSIM_4.jobs} and no folder with a *{BATSIM_4.jobs}"
            raise InputError(str(path), "", rule)
        if len(behind) > 1:
            _refuse_several(path, behind, "the prefix of one jobs file")
        found = behind[0]
    named = split_jobs_name(str(found))
    return RunLocation(found, None, BATSIM_4) if named is None else RunLocation(found, *named)


def find_sibling(prefix: str | None, ending: str) -> Path | None:
    """Return the file with this prefix and suffix; None if it does not exist, or without a prefix."""
    path = None if prefix is None else Path(prefix + ending)
    return path if path is not None and path.is_file() else None


def has_jobs(prefix: Path) -> bool:
    """Return whether there is a jobs file with this prefix."""
    return any(find_sibling(str(prefix), form.jobs) is not None for form in (BATSIM_4, BATSIM_5))


def named_path(source: Path) -> Path:
    """Return a path whose last part is the run's name: without suffixes, or the folder if the files have no name."""
    path = Path(os.path.abspath(source))
    if path.name.casefold().endswith(LOGS):
        return path.with_name(path.name.partition(".")[0])
    endings = (BATSIM_4.jobs, LEASES, BATSIM_5.jobs)
    others = "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix
    ending = next((one for one in endings if path.name.endswith(one)), others)
    stem = path.name.removesuffix(ending)
    return path.parent if stem in _NAMELESS else path.with_name(stem)


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """Return for each path the shortest suffix of parts that is unique, with a number if paths are equal."""
    names = [_shortest(path, [other for other in paths if other != path]) for path in paths]
    counts = Counter(names)
    return [name if counts[name] == 1 else f"{name} ({number})" for number, name in enumerate(names, 1)]


def _jobs_files(folder: Path) -> list[Path]:
    unnamed = folder / BATSIM_5.jobs
    return [*sorted(folder.glob(f"*{BATSIM_4.jobs}")), *([unnamed] if unnamed.is_file() else [])]


def _refuse_several(path: Path, files: Sequence[Path], wanted: str) -> NoReturn:
    names = ", ".join(file.name for file in files[:3]) + (", ..." if len(files) > 3 else "")
    verb = "hold" if path.is_dir() else "be"
    raise InputError(str(path), "", f"must {verb} {wanted}, not {len(files)} ({names}): name one of them")


def _shortest(path: Path, others: Sequence[Path]) -> str:
    depth = 1
    while any(other.parts[-depth:] == path.parts[-depth:] for other in others):
        depth += 1
    return "/".join(path.parts[-depth:])
