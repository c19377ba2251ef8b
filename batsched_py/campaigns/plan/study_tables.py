"""Tables of a study file: objects with known members, values and paths, with errors that name file, field and rule."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, field

from batsched_py.campaigns.plan.seeds import parse_seeds
from batsched_py.campaigns.plan.values import read_values
from batsched_py.errors import ConfigurationError
from batsched_py.example_files import find_example
from batsched_py.reading.faults import Place, inside, of_file
from batsched_py.reading.structs import converted, struct_of
from batsched_py.reporting.schedules.time_text import parse_span, parse_time
from batsched_py.text.display import displayed, shown

TableType = TypeVar("TableType", bound=Struct)
Value = TypeVar("Value")

_GLOB: str = "*?["


class StudyFileTable(Struct, frozen=True, kw_only=True):
    """A table of a study file, whose members have the names of the fields."""


class StudyFile(Struct, frozen=True):
    """A study file that is being read, and the place to which its faults are added."""

    path: Path
    faults: Place = field(default_factory=Place)

    def error(self, place: str, rule: str) -> ConfigurationError:
        """Return an error at a place like "workloads[0].jobs"."""
        return ConfigurationError(str(self.path), displayed(place), rule)

    def convert(self, raw: Any, kind: type[TableType], place: str) -> TableType:
        """Convert the value at the place to a table. ConfigurationError with all faults of its members."""
        return self.parsed(lambda: struct_of(kind)(raw), place)

    def typed(self, raw: Any, kind: Any, place: str) -> Any:
        """Return a value of this type. ConfigurationError."""
        return self.parsed(lambda: converted(kind)(raw), place)

    def attempt(self, read: Callable[[], Value], default: Value) -> Value:
        """Return what a reader returns; `default`, after noting the faults of its ConfigurationError. FieldError."""
        try:
            return read()
        except ConfigurationError as error:
            for path, rule in error.faults:
                self.faults.at(path).note(rule)
            return default

    def values(self, raw: Any, place: str) -> tuple[Any, ...]:
        """Return the values: one, those of a list or of a range. ConfigurationError."""
        return self.parsed(lambda: read_values(raw), place)

    def seeds(self, raw: str | int | list[int], place: str) -> tuple[int, ...]:
        """Return seeds: "1-20", [1, 2, 3], or 7 for the seeds 1 to 7. ConfigurationError."""
        listed = isinstance(raw, list)
        text = ",".join(map(str, raw)) if isinstance(raw, list) else str(raw)
        return self.parsed(lambda: parse_seeds(text, counted=not listed), place)

    def span(self, raw: Any, place: str) -> float | None:
        """Return the seconds of a time like 3600 or "7d"; None if there is none. ConfigurationError."""
        return None if raw is None else self.parsed(lambda: parse_span(_text(raw)), place)

    def time(self, raw: Any, place: str) -> float | datetime | None:
        """Return the seconds of a time, or a date; None if there is none. ConfigurationError."""
        return None if raw is None else self.parsed(lambda: parse_time(_text(raw)), place)

    def resolve(self, text: str, place: str) -> Path:
        """Return a path relative to the folder of the study file, or else the included example of that name.

        ConfigurationError for a text that is not a path.
        """
        if "\0" in text:
            raise self.error(place, f"must be a path, not {shown(text)}")
        path = self.path.parent / text
        return path if path.exists() else find_example(Path(text)) or path

    def resolve_all(self, texts: list[str], place: str) -> tuple[Path, ...]:
        """Return the paths of files and patterns, those of a pattern by name. ConfigurationError if none matches."""
        found: dict[Path, None] = {}
        for text in texts:
            if not any(sign in text for sign in _GLOB):
                found[self.resolve(text, place)] = None
                continue
            try:
                matching = sorted(self.path.parent.glob(text))
            except (ValueError, NotImplementedError) as error:
                raise self.error(place, f"{shown(text)} is not a pattern: {error}") from error
            if not matching:
                raise self.error(place, f"no file matches {shown(text)}")
            found |= dict.fromkeys(matching)
        return tuple(found)

    def parsed(self, parse: Callable[[], Value], place: str) -> Value:
        """Return the result of a parser; its ValueError becomes a ConfigurationError."""
        try:
            return parse()
        except ValueError as error:
            raise of_file(ConfigurationError, str(self.path), inside(displayed(place), error)) from error


def member(place: str, name: str) -> str:
    """Return the place of a member of a table."""
    if not name or name.startswith("["):
        return place + name
    return f"{place}.{name}" if place else name


def _text(raw: Any) -> str:
    """Return a time as text: TOML has its own types for dates and numbers."""
    return raw.isoformat() if isinstance(raw, (date, datetime)) else str(raw)
