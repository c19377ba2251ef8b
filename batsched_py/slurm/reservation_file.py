"""Reader of advance reservations in the output of `scontrol show reservation`.

Fields are those of scontrol(1), on one line for each reservation (`--oneliner`) or on several. Nodes are those of the
moment: flags by which Slurm would replace or repeat them later are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple, TypeVar

from batsched_py.errors import ConfigurationError
from batsched_py.slurm.conf_values import licences, whole, words
from batsched_py.slurm.configuration import SlurmConfiguration
from batsched_py.slurm.hostlist import expand
from batsched_py.slurm.reservations import AdvanceReservation, permitted_names
from batsched_py.text.display import displayed

_T = TypeVar("_T")
#: The first field of a reservation.
_NAME: Final = "reservationname"
_NOTHING: Final = frozenset({"", "(null)", "n/a", "none"})
_SECONDS: Final = re.compile(r"\d{1,11}")
_WORD: Final = re.compile(r"\S+")
#: Maximum number of reservations that a line names.
_MOST_NAMED: Final = 5
#: What scontrol prints if there is no reservation.
_EMPTY: Final = "no reservations in the system"
#: Flags that the algorithm obeys.
_OBEYED: Final = frozenset({"maint", "overlap", "ignore_jobs", "magnetic", "any_nodes", "license_only"})
#: Flags that say how nodes were chosen, or who may delete the reservation.
_WITHOUT_EFFECT: Final = frozenset({"spec_nodes", "all_nodes", "part_nodes", "static_alloc", "static", "user_delete"})
_OBEYED_FIELDS: Final = frozenset({"starttime", "endtime", "nodes", "users", "accounts", "flags", "licenses"})
#: Fields that repeat others, or say how nodes were chosen.
_OTHER_FIELDS: Final = frozenset(
    {"duration", "nodecnt", "corecnt", "features", "partitionname", "tres", "state", "comment", "watts"}
)
#: Field that must be empty -> the reason.
_REFUSED: Final = {
    "groups": "groups of users are unknown here",
    "burstbuffer": "burst buffers are not supported",
    "maxstartdelay": "it is not supported",
}


class _Field(NamedTuple):
    name: str
    value: str
    line: int


class ReservationReader:
    """Reader of one file; each fault is a `ConfigurationError` with file, line, field and rule."""

    def __init__(self, file: str, configuration: SlurmConfiguration, zero: datetime) -> None:
        """`zero` is the date of time 0; dates without a zone are UTC, as in sacct's output."""
        self._file, self._configuration, self._zero = file, configuration, zero
        self._index = {node.name: at for at, node in enumerate(configuration.nodes)}

    def read(self, text: str) -> tuple[AdvanceReservation, ...]:
        """Return the reservations in this text, in their order; times are in seconds since time 0."""
        found: dict[str, AdvanceReservation] = {}
        for fields in self._records(text):
            name = fields[_NAME]
            if name.value in found:
                raise self._error(name, "is there twice")
            found[name.value] = self._reservation(fields)
        return tuple(found.values())

    def _error(self, field: _Field, rule: str) -> ConfigurationError:
        return ConfigurationError(self._file, f"line {field.line}: {displayed(field.name)}", rule)

    def _records(self, text: str) -> Iterator[Mapping[str, _Field]]:
        """Yield the fields of each reservation by name in small letters."""
        record: dict[str, _Field] = {}
        for field in self._fields(text):
            name = field.name.lower()
            if name == _NAME:
                if record:
                    yield record
                record = {}
            elif not record:
                raise self._error(field, "must come after ReservationName=NAME")
            if name in record:
                raise self._error(field, "is there twice in one reservation")
            record[name] = field
        if record:
            yield record

    def _fields(self, text: str) -> Iterator[_Field]:
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip().lower() == _EMPTY:
                continue
            for word in _WORD.findall(line):
                name, equals, value = word.partition("=")
                if not (name and equals):
                    rule = "must be fields NAME=VALUE, as `scontrol show reservation` prints them"
                    raise self._error(_Field(word, "", number), rule)
                yield _Field(name, value, number)

    def _reservation(self, fields: Mapping[str, _Field]) -> AdvanceReservation:
        self._check_known(fields)
        start, end = (self._value(fields, name, self._instant) for name in ("starttime", "endtime"))
        if start is None or end is None:
            raise self._error(fields[_NAME], "must have StartTime and EndTime")
        if end <= start:
            raise self._error(fields["endtime"], "must be after StartTime")
        nodes = self._value(fields, "nodes", self._nodes) or 0
        self._check_cores(fields, nodes)
        found = AdvanceReservation(
            fields[_NAME].value,
            start,
            end,
            nodes,
            self._value(fields, "users", permitted_names) or frozenset(),
            self._value(fields, "accounts", permitted_names) or frozenset(),
            self._value(fields, "flags", _flags) or frozenset(),
            self._value(fields, "licenses", self._licences) or (),
        )
        if not (found.users or found.accounts):
            raise self._error(fields[_NAME], "must have Users or Accounts that may use the reservation")
        if not (found.nodes or found.licences):
            raise self._error(fields[_NAME], "must have Nodes or Licenses")
        return found

    def _check_known(self, fields: Mapping[str, _Field]) -> None:
        """Refuse an empty name, and fields that are unknown or not supported."""
        if _is_empty(fields[_NAME]):
            raise self._error(fields[_NAME], "must be a name")
        for name, field in fields.items():
            if name in _REFUSED and not _is_empty(field):
                raise self._error(field, f"must be (null), as {_REFUSED[name]}, not {displayed(field.value)}")
            if name in {"nodename", "coreids"}:
                raise self._error(field, "must not be there: parts of nodes cannot be reserved")
            if name not in {_NAME, *_OBEYED_FIELDS, *_OTHER_FIELDS, *_REFUSED}:
                raise self._error(field, "is not a known field of a reservation")

    def _check_cores(self, fields: Mapping[str, _Field], nodes: int) -> None:
        """Refuse reservations of parts of nodes, and numbers that contradict the list of nodes."""
        reserved = [node for at, node in enumerate(self._configuration.nodes) if nodes >> at & 1]
        count = self._value(fields, "nodecnt", whole)
        if count is not None and count != len(reserved):
            raise self._error(fields["nodecnt"], f"must be {len(reserved)}, the number of Nodes, not {count}")
        cores, found = sum(node.cores for node in reserved), self._value(fields, "corecnt", whole)
        if found is not None and found != cores:
            rule = f"must be {cores}, all cores of Nodes, not {found}: parts of nodes cannot be reserved"
            raise self._error(fields["corecnt"], rule)

    def _value(self, fields: Mapping[str, _Field], name: str, read: Callable[[str], _T]) -> _T | None:
        """Return the value of a field; None if it is missing or empty."""
        field = fields.get(name)
        if field is None or _is_empty(field):
            return None
        try:
            return read(field.value)
        except ValueError as error:
            raise self._error(field, f"{error}, not {displayed(field.value)}") from None

    def _instant(self, text: str) -> float:
        return (read_date(text) - self._zero).total_seconds()

    def _licences(self, text: str) -> tuple[tuple[str, int], ...]:
        return self._configuration.reserved_licences(licences(text))

    def _nodes(self, text: str) -> int:
        nodes = 0
        for name in expand(text):
            if name not in self._index:
                raise ValueError(f"must be nodes of the configuration, which lacks {displayed(name)}")
            nodes |= 1 << self._index[name]
        return nodes


def read_date(text: str) -> datetime:
    """Return a date such as 2024-05-31T08:00:00, or one in seconds since 1970; UTC without a zone. ValueError."""
    rule = "must be a date such as 2024-05-31T08:00:00, or seconds since 1970"
    try:
        date = datetime.fromtimestamp(int(text), UTC) if _SECONDS.fullmatch(text) else datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        raise ValueError(rule) from None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)


def read_reservations(
    file: str, text: str, configuration: SlurmConfiguration, zero: datetime
) -> tuple[AdvanceReservation, ...]:
    """Return the reservations in the text of a file of this name; `zero` is the date of time 0. ConfigurationError."""
    return ReservationReader(file, configuration, zero).read(text)


def past_line(reservations: Iterable[AdvanceReservation], now: float) -> str:
    """Return a warning of reservations that have ended at the start of a run; "" if there is none."""
    past = [one.name for one in reservations if one.end <= now]
    if not past:
        return ""
    more = f" and {len(past) - _MOST_NAMED} more" if len(past) > _MOST_NAMED else ""
    names = ", ".join(map(displayed, past[:_MOST_NAMED]))
    return f"reservations that ended before the start, without effect: {names}{more}"


def _is_empty(field: _Field) -> bool:
    return field.value.casefold() in _NOTHING


def _flags(text: str) -> frozenset[str]:
    flags = words(text)
    if others := flags - _OBEYED - _WITHOUT_EFFECT:
        raise ValueError(f"must not have {displayed(min(others).upper())}, which is not supported")
    return frozenset(flags & _OBEYED)
