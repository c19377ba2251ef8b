"""Descriptions of runs as text: on one line, side by side, and reasons why two runs cannot be compared.

Descriptions of runs come from files of unknown origin: all their texts are sanitised for display.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

import msgspec

from batsched_py.model.settings import Settings
from batsched_py.reporting.formatting import brief
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.run_file import InputFile, RunFile
from batsched_py.text.display import displayed
from batsched_py.text.wording import NOTHING, spelled

#: The number of characters of a SHA-256 that identify a file.
_DIGITS: Final = 12
#: The largest number of files, options or settings that are named; a description may have any number.
_MOST: Final = 40
#: Headings of the rows that are always visible.
OPENING: Final = frozenset({"algorithm", "options", "seed", "platform", "workload", "settings", "failed"})
#: The text in place of an algorithm's name if another program decided.
_ANOTHER: Final = "another program"
#: Setting -> its default, as in descriptions.
_DEFAULTS: Final[Mapping[str, Any]] = {
    **{name: getattr(Settings(), name) for name in Settings.__struct_fields__},
    "roles": {},
    "simgrid_config": [],
    "clock": "zero",
    "requests": False,
}


def run_title(run: RunFile) -> str:
    """Return the description of a run on one line: "easy (order=sjf) on cluster32.xml: lublin200.json"."""
    platform = "" if run.platform is None else f" on {_name(run.platform)}"
    workloads = ", ".join(map(_name, run.workloads[:_MOST]))
    partial = "; partial" if why_partial(run) else ""
    return f"{_algorithm(run)}{platform}{': ' if workloads else ''}{workloads}{partial}"


def why_partial(run: RunFile) -> str:
    """Return the reason in a run's description why its results are partial; "" for a whole run."""
    return displayed(run.failure)


def _algorithm(run: RunFile) -> str:
    """Return the algorithm with the options that were given."""
    name = _ANOTHER if run.algorithm is None else displayed(run.algorithm)
    given = [option for option in run.given if option in run.options]
    return f"{name} ({_members(run.options, given)})" if given else name


def provenance_rows(schedules: Sequence[Schedule]) -> list[tuple[str, list[str]]]:
    """Return rows of (heading, text for each run) that describe the runs, without empty rows."""
    found = [(title, [_cell(schedule.run, make) for schedule in schedules]) for title, make in _ROWS.items()]
    return [(title, cells) for title, cells in found if any(cell != NOTHING for cell in cells)]


def _cell(run: RunFile | None, make: Callable[[RunFile], str]) -> str:
    return (None if run is None else make(run)) or NOTHING


def find_differences(schedules: Sequence[Schedule]) -> list[str]:
    """Return a line for each run that cannot be compared with the first, because its jobs or hosts differ."""
    first = next((schedule for schedule in schedules if schedule.run is not None), None)
    lines = []
    for other in schedules:
        if first is None or first.run is None or other.run is None:
            continue
        different = "; ".join(_differing(first.run, other.run))
        if different:
            names = f"{displayed(first.name)} and {displayed(other.name)}"
            lines.append(f"{names} cannot be compared: {different}")
    return lines


def _differing(one: RunFile, other: RunFile) -> Iterator[str]:
    if _hashes(one.workloads) and _hashes(other.workloads) and _hashes(one.workloads) != _hashes(other.workloads):
        yield f"other jobs ({_file_names(one.workloads, other.workloads)})"
    platforms = [[run.platform] if run.platform is not None else [] for run in (one, other)]
    if all(map(_hashes, platforms)) and _hashes(platforms[0]) != _hashes(platforms[1]):
        yield f"another platform ({_file_names(*platforms)})"
    for name in ("machines", "master_host", "roles"):
        left, right = (run.settings.get(name) for run in (one, other))
        if name in one.settings and name in other.settings and left != right:
            yield f"another setting {name} ({_value(left)}, {_value(right)})"


def _hashes(files: Sequence[InputFile]) -> list[str]:
    """Return the hashes of files; empty if one is unknown, because the files then cannot be compared."""
    hashes = [file.sha256 for file in files]
    return [] if None in hashes else [one for one in hashes if one is not None]


def _file_names(ones: Sequence[InputFile], others: Sequence[InputFile]) -> str:
    """Return the names of the files of two runs, with the beginnings of their hashes if the names are equal."""
    names = [", ".join(map(_name, files[:_MOST])) for files in (ones, others)]
    if names[0] == names[1]:
        names = [", ".join(map(_with_hash, files[:_MOST])) for files in (ones, others)]
    return f"{names[0]}; {names[1]}"


def _name(file: InputFile) -> str:
    """Return the name of a file without its folders."""
    return displayed(PurePath(file.path).name or file.path)


def _with_hash(file: InputFile) -> str:
    return displayed(file.path) + ("" if file.sha256 is None else f" ({displayed(file.sha256[:_DIGITS])})")


def _members(members: Mapping[str, Any], names: Sequence[str]) -> str:
    return ", ".join(f"{displayed(name)}={_value(members[name])}" for name in names[:_MOST])


def _value(value: object) -> str:
    """Return a value as written after -o."""
    return displayed(spelled(value))


def _defaults(run: RunFile) -> str:
    given = frozenset(run.given)
    return _members(run.options, [name for name in run.options if name not in given])


def _settings(run: RunFile) -> str:
    """Return the settings that differ from the simulator's defaults."""
    plain = msgspec.to_builtins(_DEFAULTS, enc_hook=str)
    return _members(run.settings, [name for name, value in run.settings.items() if value != plain.get(name)])


def _measured(run: RunFile) -> str:
    measured = run.measured
    return "" if measured is None else f"{displayed(measured.started)}, took {brief(measured.seconds)}"


#: Heading -> function that returns the text of a run; "" if it has none.
_ROWS: Final[Mapping[str, Callable[[RunFile], str]]] = {
    "algorithm": lambda run: _ANOTHER if run.algorithm is None else displayed(run.algorithm),
    "options": lambda run: _members(run.options, [name for name in run.given if name in run.options]),
    "seed": lambda run: "" if run.seed is None else str(run.seed),
    "platform": lambda run: "" if run.platform is None else _with_hash(run.platform),
    "workload": lambda run: ", ".join(map(_with_hash, run.workloads[:_MOST])),
    "settings": _settings,
    "failed": lambda run: displayed(run.failure),
    "other options": _defaults,
    "drawn from": lambda run: "; ".join(
        _members(file.generator, list(file.generator)) for file in run.workloads[:_MOST] if file.generator
    ),
    "other files": lambda run: ", ".join(f"{displayed(file.role)}: {_with_hash(file)}" for file in run.files[:_MOST]),
    "batsched-py": lambda run: displayed(run.version),
    "started": _measured,
}
