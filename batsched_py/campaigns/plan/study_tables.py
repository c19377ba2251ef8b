"""Tables of a study file: objects with known members, values and paths, with errors that name file, field and rule."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from batsched_py.campaigns.plan.seeds import parse_seeds
from batsched_py.campaigns.plan.values import read_values
from batsched_py.errors import ConfigurationError
from batsched_py.example_files import find_example
from batsched_py.reporting.schedules.time_text import parse_span, parse_time
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import unknown

TableType = TypeVar("TableType", bound="StudyFileTable")
Value = TypeVar("Value")

_GLOB: str = "*?["


class StudyFileTable(Struct, frozen=True, kw_only=True):
    """A table of a study file, whose members have the names of the fields."""


class StudyFile(Struct, frozen=True):
    """A study file that is being read."""

    path: Path

    def error(self, place: str, rule: str) -> ConfigurationError:
        """Return an error at a place like "workloads[0].jobs"."""
        return ConfigurationError(str(self.path), displayed(place), rule)

    def convert(self, raw: Any, kind: type[TableType], place: str) -> TableType:
        """Convert the value at the place to a table. ConfigurationError, also for unknown members."""
        if not isinstance(raw, dict):
            raise self.error(place, f"must be a table, not {shown(raw)}")
        known = [one.encode_name for one in fields(kind)]
        for name in raw:
            if name not in known:
                raise self.error(member(place, name), unknown(name, known))
        try:
            return msgspec.convert(raw, kind)
        except msgspec.ValidationError as error:
            rule, _, inside = str(error).partition(" - at `$")
            raise self.error(member(place, inside.rstrip("`").lstrip(".")), _in_short(rule)) from error

    def typed(self, raw: Any, kind: Any, place: str) -> Any:
        """Return a value of this type. ConfigurationError."""
        try:
            return msgspec.convert(raw, kind)
        except msgspec.ValidationError as error:
            raise self.error(place, f"{_in_short(str(error).partition(' - at')[0])}: {shown(raw)}") from error

    def values(self, raw: Any, place: str) -> tuple[Any, ...]:
        """Return the values: one, those of a list or of a range. ConfigurationError."""
        return self.parsed(lambda: read_values(raw), place)

    def seeds(self, raw: str | int | list[int], place: str) -> tuple[int, ...]:
        """Return seeds: "1-20", 7 or [1, 2, 3]. ConfigurationError."""
        text = raw if isinstance(raw, str) else ",".join(map(str, raw if isinstance(raw, list) else [raw]))
        return self.parsed(lambda: parse_seeds(text), place)

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
            raise self.error(place, str(error)) from error


def member(place: str, name: str) -> str:
    """Return the place of a member of a table."""
    if not name or name.startswith("["):
        return place + name
    return f"{place}.{name}" if place else name


def _in_short(rule: str) -> str:
    return displayed(f"{rule[:1].lower()}{rule[1:]}")


def _text(raw: Any) -> str:
    """Return a time as text: TOML has its own types for dates and numbers."""
    return raw.isoformat() if isinstance(raw, (date, datetime)) else str(raw)
