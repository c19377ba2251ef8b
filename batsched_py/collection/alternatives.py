"""Alternatives: schedules in order of preference, each after the first perhaps as a difference (L12, L13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

_MEMBERS: Final = ("name", "of", "placements", "difference")


class Placement(NamedTuple):
    """An object, the host on which it is to be placed, and the vault for its data, None for none."""

    object: str
    host: str
    vault: str | None = None


Schedule = tuple[Placement, ...]


def vary(schedule: Schedule, difference: Sequence[Placement]) -> Schedule:
    """Return a schedule with other placements of some of its objects; FieldError for none, or unknown objects."""
    changed = {placement.object: placement for placement in difference}
    unknown = changed.keys() - {placement.object for placement in schedule}
    if not changed:
        raise FieldError("", "a difference must change a placement")
    if unknown:
        raise FieldError("", f"there is no object {shown(min(unknown))} in the schedule that it varies")
    return tuple(changed.get(placement.object, placement) for placement in schedule)


def read_alternatives(document: object) -> list[Schedule]:
    """Return the schedules of a document, in order; FieldError (field, rule).

    It is a list of objects. One has `placements`, a list of `{"object", "host", "vault"}`, or `difference`, a list of
    those that replace placements of the previous schedule, or of the one that `of` names.
    """
    if not isinstance(document, list) or not document:
        raise FieldError("", f"must be a list of schedules, at least one, not {shown(document)}")
    return _Reader(document).read()


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


def _written(placement: Placement) -> dict[str, str]:
    return {name: value for name, value in placement._asdict().items() if value is not None}


class _Reader:
    """Reader of schedules, which may be differences from earlier or later ones."""

    def __init__(self, document: list[object]) -> None:
        self._members: list[Mapping[str, Any]] = []
        self._positions: dict[str, int] = {}
        for position, members in enumerate(document):
            place = f"[{position}]"
            if not isinstance(members, dict):
                raise FieldError(place, f"must be an object, not {shown(members)}")
            for name in members:
                if name not in _MEMBERS:
                    raise FieldError(f"{place}.{shown(name)}", f"is unknown; there are {', '.join(_MEMBERS)}")
            if ("placements" in members) is ("difference" in members):
                raise FieldError(place, "must have either placements or a difference")
            name = members.get("name")
            if name is not None and (not isinstance(name, str) or name in self._positions):
                raise FieldError(f"{place}.name", f"must be a text of its own, not {shown(name)}")
            if name is not None:
                self._positions[name] = position
            self._members.append(members)
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
        if not isinstance(name, str) or name not in self._positions:
            raise FieldError(f"[{position}].of", f"must be the name of a schedule, not {shown(name)}")
        return self._positions[name]

    def _make(self, position: int) -> Schedule:
        members = self._members[position]
        kind = "placements" if "placements" in members else "difference"
        placements = self._placements(f"[{position}].{kind}", members[kind])
        if kind == "placements":
            return placements
        try:
            return vary(self._schedules[self._base(position)], placements)
        except FieldError as error:
            raise FieldError(f"[{position}].difference", error.rule) from None

    @staticmethod
    def _placements(place: str, given: object) -> Schedule:
        if not isinstance(given, list):
            raise FieldError(place, f"must be a list of placements, not {shown(given)}")
        found: dict[str, Placement] = {}
        for number, one in enumerate(given):
            where = f"{place}[{number}]"
            if not isinstance(one, dict):
                raise FieldError(where, f"must be an object, not {shown(one)}")
            thing, host, vault = one.get("object"), one.get("host"), one.get("vault")
            for name, value in (("object", thing), ("host", host)):
                if not isinstance(value, str) or not value:
                    raise FieldError(f"{where}.{name}", f"must be a text, not {shown(value)}")
            if vault is not None and not isinstance(vault, str):
                raise FieldError(f"{where}.vault", f"must be a text, or null, not {shown(vault)}")
            if thing in found:
                raise FieldError(f"{where}.object", f"{shown(thing)} is placed twice")
            found[str(thing)] = Placement(str(thing), str(host), vault)
        return tuple(found.values())
