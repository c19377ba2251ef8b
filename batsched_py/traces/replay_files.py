"""Readers of the traces that profiles replay: a list of files, one for each rank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final, TypeVar

from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_file, reported
from batsched_py.model.profile import Composed, Profile
from batsched_py.model.replay import Smpi, UsageStep, UsageTrace
from batsched_py.reading.limits import Limits
from batsched_py.reading.notes import Notes
from batsched_py.text.display import displayed, shown
from batsched_py.traces.smpi_actions import SmpiReader

# A workload names the list, and the list the files, relative to the folder in which each stands. Names come from files
# that need not be trusted: they stay below the workload's folder, and the sizes of the files are bounded together.
#
# Batsim reads a line only up to its end: the last line of a file of actions without a line break is not replayed; the
# list is read to its end.

Action = TypeVar("Action")
#: Types of profiles that replay a trace.
REPLAYED: Final = ("smpi", "usage_trace")
_USAGE: Final = "m_usage"


def with_traces(file: str, profiles: Mapping[str, Profile], notes: Notes, limits: Limits) -> dict[str, Profile]:
    """Return the profiles, those that replay a trace with its actions; WorkloadError names file, line and rule."""
    found = dict(profiles)
    read: dict[tuple[str, str], UsageTrace | Smpi] = {}
    for name, profile in profiles.items():
        if profile.type in REPLAYED:
            trace = profile.members.get("trace")
            if not isinstance(trace, str) or not trace:
                rule = "is missing" if trace is None else f"must be the name of a file, not {shown(trace)}"
                raise WorkloadError(file, f"profiles.{displayed(name)}.trace", rule)
            key = profile.type, trace
            if key not in read:
                reader = _TraceReader(Path(file).parent, f"{file}: profiles.{displayed(name)}.trace", notes, limits)
                read[key] = reader.read(profile, trace)
            found[name] = replace(read[key], name=name, members=profile.members)
    _check_composed(file, found)
    return found


def _check_composed(file: str, profiles: Mapping[str, Profile]) -> None:
    """Raise WorkloadError for MPI calls as a step of another profile, at which Batsim crashes."""
    for name, profile in profiles.items():
        steps = profile.sequence if isinstance(profile, Composed) else ()
        for step in steps:
            if isinstance(profiles.get(step), Smpi):
                rule = f"names {shown(step)}, of type smpi, which cannot be a step: Batsim crashes at it"
                raise WorkloadError(file, f"profiles.{displayed(name)}.seq", rule)


class _TraceReader:
    """A reader of one trace."""

    def __init__(self, folder: Path, place: str, notes: Notes, limits: Limits) -> None:
        self._folder, self._place, self._notes, self._limits = folder, place, notes, limits
        self._count = 0

    def read(self, profile: Profile, trace: str) -> UsageTrace | Smpi:
        """Read the actions of all ranks of a profile."""
        files = self._files(trace)
        if profile.type == "smpi":
            calls = tuple(
                tuple(self._actions(path, rank, SmpiReader(len(files)).read)) for rank, path in enumerate(files)
            )
            return Smpi(profile.name, profile.type, profile.members, calls)
        steps = tuple(tuple(self._actions(path, rank, _step)) for rank, path in enumerate(files))
        return UsageTrace(profile.name, profile.type, profile.members, steps)

    def _files(self, trace: str) -> list[Path]:
        """Return the file of each rank."""
        listed = self._inside(self._folder, trace, self._place)
        names = [line.strip() for line in self._text(listed).splitlines() if line.strip()]
        if not names:
            raise WorkloadError(str(listed), "", "must name a file for each rank")
        if len(names) > self._limits.actions:
            raise WorkloadError(str(listed), "", self._limits.rule("actions"))
        return [self._inside(listed.parent, name, f"{listed}: {shown(name)}") for name in names]

    def _actions(self, path: Path, rank: int, read: Callable[[list[str]], Action]) -> Iterator[Action]:
        for number, line in self._lines(path):
            words = line.split()
            if words[0] != str(rank):
                self._notes.add("lines of another rank are not replayed, as in Batsim", f"{path}, line {number}")
                continue
            try:
                yield read(words[1:])
            except ValueError as error:
                raise WorkloadError(str(path), f"line {number}", str(error)) from None

    def _lines(self, path: Path) -> Iterator[tuple[int, str]]:
        """Yield (number, text) of each line that Batsim replays."""
        *lines, rest = self._text(path).split("\n")
        if rest.strip():
            self._notes.add("a last line without a line break is not replayed, as in Batsim", str(path))
        for number, line in enumerate(lines, 1):
            text = line.strip()
            if text and not text.startswith("#"):
                self._count += 1
                if self._count > self._limits.actions:
                    raise WorkloadError(str(path), f"line {number}", self._limits.rule("actions"))
                yield number, text

    def _text(self, path: Path) -> str:
        with reported(path, WorkloadError):
            return read_file(path, self._limits).decode(errors="replace")

    def _inside(self, folder: Path, name: str, place: str) -> Path:
        """Return the path of a file that is named; WorkloadError if it leaves the workload's folder."""
        relative = PurePosixPath(name)
        path = folder / relative
        top = self._folder.resolve()
        if relative.is_absolute() or not path.resolve().is_relative_to(top):
            raise WorkloadError(place, "", f"must name a file below the folder of the workload, not {shown(name)}")
        return path


def _step(words: list[str]) -> UsageStep:
    """Return the step of an action; ValueError with the rule."""
    if words[:1] != [_USAGE]:
        raise ValueError(f"the action must be {_USAGE}, not {shown(words[0] if words else '')}")
    if len(words) != 3:
        raise ValueError(f"{_USAGE} must have a usage and a number of flops")
    usage, flops = (_number(word) for word in words[1:])
    if not 0 <= usage <= 1:
        raise ValueError(f"the usage must be from 0 to 1, not {usage:g}: Batsim stops at it")
    if flops < 0:
        raise ValueError(f"the flops must be at least 0, not {flops:g}")
    return UsageStep(usage, flops)


def _number(word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = float("nan")
    if not abs(number) < float("inf"):
        raise ValueError(f"must have numbers after the action, not {shown(word)}")
    return number
