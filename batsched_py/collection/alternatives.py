"""Alternatives: schedules in order of preference, each after the first perhaps as a difference (L12, L13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from batsched_py.reading.faults import FieldError, inside
from batsched_py.reading.objects import list_of, members_of, object_of
from batsched_py.reading.values import TEXT, optional, text
from batsched_py.text.display import shown


class ObjectPlacement(NamedTuple):
    """An object, the host on which it is to be placed, and the vault for its data, None for none."""

    object: str
    host: str
    vault: str | None = None


Schedule = tuple[ObjectPlacement, ...]


def vary(schedule: Schedule, difference: Sequence[ObjectPlacement]) -> Schedule:
    """Return a schedule with other placements of some of its objects; FieldError for none, or unknown objects."""
    changed = {placement.object: placement for placement in difference}
    unknown = changed.keys() - {placement.object for placement in schedule}
    if not changed:
        raise FieldError("", "a difference must change a placement")
    if unknown:
        raise FieldError("", f"there is no object {shown(min(unknown))} in the schedule that it varies")
    return tuple(changed.get(placement.object, placement) for placement in schedule)


def read_alternatives(document: object) -> list[Schedule]:
    """Return the schedules of a document, in order. FieldError.

    It is a list of objects. One has `placements`, a list of `{"object", "host", "vault"}`, or `difference`, a list of
    those that replace placements of the previous schedule, or of the one that `of` names.
    """
    return _ScheduleResolver(_SCHEDULES(document)).read()


def write_alternatives(schedules: Sequence[Schedule]) -> list[dict[str, Any]]:
    """Return schedules in the form of `read_alternatives`: each after the first as a difference, if possible."""
    written: list[dict[str, Any]] = []
    before: Schedule = ()
    for schedule in schedules:
        varied = [one.object for one in schedule] == [one.object for one in before]
        changed = [one for one, other in zip(schedule, before, strict=False) if one != other]
        whole = not varied or not changed
        written.append(
            {"placements" if whole else "difference": [_written(one) for one in (schedule if whole else changed)]}
        )
        before = schedule
    return written


def _written(placement: ObjectPlacement) -> dict[str, str]:
    return {name: value for name, value in placement._asdict().items() if value is not None}


class _ScheduleResolver:
    """Resolver of schedules that are differences from earlier or later ones."""

    def __init__(self, members: Sequence[Mapping[str, Any]]) -> None:
        self._members = members
        self._positions: dict[str, int] = {}
        for position, one in enumerate(members):
            name = one.get("name")
            if name in self._positions:
                raise FieldError(f"[{position}].name", f"{shown(name)} is the name of two schedules")
            if name is not None:
                self._positions[name] = position
        self._schedules: dict[int, Schedule] = {}

    def read(self) -> list[Schedule]:
        """Return all schedules."""
        for position in range(len(self._members)):
            self._resolve(position)
        return [self._schedules[position] for position in range(len(self._members))]

    def _resolve(self, position: int) -> None:
        """Build a schedule after those from which it differs."""
        chain = [position]
        while "difference" in self._members[chain[-1]] and chain[-1] not in self._schedules:
            base = self._base(chain[-1])
            if base in chain:
                raise FieldError(f"[{chain[-1]}].of", "varies a schedule that varies it in turn")
            chain.append(base)
        for each in reversed(chain):
            if each not in self._schedules:
                self._schedules[each] = self._make(each)

    def _base(self, position: int) -> int:
        name = self._members[position].get("of")
        if name is None:
            if not position:
                raise FieldError("[0].difference", "varies no schedule: it is the first")
            return position - 1
        if name not in self._positions:
            raise FieldError(f"[{position}].of", f"must be the name of a schedule, not {shown(name)}")
        return self._positions[name]

    def _make(self, position: int) -> Schedule:
        members = self._members[position]
        if "placements" in members:
            return cast(Schedule, members["placements"])
        try:
            return vary(self._schedules[self._base(position)], members["difference"])
        except FieldError as error:
            raise inside(f"[{position}].difference", error) from None


def _distinct(placements: Schedule) -> Schedule:
    found = set[str]()
    for index, one in enumerate(placements):
        if one.object in found:
            raise FieldError(f"[{index}].object", f"{shown(one.object)} is placed twice")
        found.add(one.object)
    return placements


def _one_kind(members: dict[str, Any]) -> dict[str, Any]:
    if ("placements" in members) is ("difference" in members):
        raise FieldError("", "must have either placements or a difference")
    if members.get("of") is not None and "difference" not in members:
        raise FieldError("of", "needs a difference")
    return members


_NAME: Final = text(least=1)
_PLACEMENT: Final = object_of(
    ObjectPlacement, {"object": _NAME, "host": _NAME, "vault": optional(TEXT)}, ("object", "host")
)
_PLACEMENTS: Final = list_of(_PLACEMENT, "placements").then(_distinct)
_SCHEDULES: Final = list_of(
    members_of(
        {"name": optional(TEXT), "of": optional(TEXT), "placements": _PLACEMENTS, "difference": _PLACEMENTS}
    ).then(_one_kind),
    "schedules",
    least=1,
)
