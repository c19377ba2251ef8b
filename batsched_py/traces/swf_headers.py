"""The headers of logs in the Standard Workload Format, version 2.2: size of the machine, and clock."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from types import MappingProxyType
from typing import Final

from batsched_py.errors import WorkloadError
from batsched_py.reading.limits import LONGEST
from batsched_py.reading.members import Members, UnknownNames
from batsched_py.reading.notes import Notes
from batsched_py.text.display import shown
from batsched_py.text.representation import Brief
from batsched_py.text.wording import counted

_HEADER: Final = re.compile(r";\s*([A-Za-z]\w*)\s*:\s*(.*)")
#: A number at the beginning of a header, of at most eleven digits.
_WHOLE: Final = re.compile(r"[+-]?\d{1,11}(?![.,]?\d)", re.ASCII)
_PROCESSORS: Final = re.compile(r"(-?\d{1,9})(?![.,]?\d)", re.ASCII)
_DAY: Final = 86400
#: Seconds. A later first submission is relative to 1970: no log begins with ten years without a job.
EPOCH: Final = 10 * 365 * _DAY
_SIZES: Final = ("MaxProcs", "MaxNodes")
#: Headers that request nothing: they describe the machine, the log, or the names in its fields.
_DESCRIBES: Final = frozenset(
    {"Version", "Computer", "Installation", "Acknowledge", "Information", "Conversion", "Note", "Notes", "Warning"}
    | {"MaxJobs", "MaxRecords", "EndTime", "MaxRuntime", "MaxMemory", "http", "https"}
    | {"MaxQueues", "Queues", "Queue", "MaxPartitions", "Partitions", "Partition"}
)
HEADERS: Final = Members(
    "a log",
    frozenset({*_SIZES, "UnixStartTime", "TimeZone", "TimeZoneString", "StartTime", "Preemption", "AllowOveruse"})
    | _DESCRIBES,
    unknown=UnknownNames.REPORTED,
    word="header",
)
#: Header in lower case -> its spelling in the format.
_SPELLED: Final = {name.casefold(): name for name in HEADERS.obeyed}
#: Values of Preemption and AllowOveruse that agree with the behaviour here.
_NO: Final = frozenset({"", "no", "none", "false", "0", "-1", "unknown"})


class SwfHeaders(Brief, frozen=True):
    """The `; Key: value` comments of a log.

    Attributes:
        source: the log's file, for messages.
        values: key -> text; the lines of a repeated key are joined by line ends. Keys of the format have the format's
            spelling.
        lines: key -> its first line, from 1.
    """

    source: str
    values: Mapping[str, str]
    lines: Mapping[str, int] = MappingProxyType({})

    @property
    def machine_size(self) -> int:
        """Return the number of processors of the machine: MaxProcs, else MaxNodes; 0 if neither is above 0.

        The largest value of a repeated header is used, since machines are extended. WorkloadError if the decisive
        header does not begin with a number: jobs larger than the machine would be kept.
        """
        return next((size for key in _SIZES if (size := self._size(key))), 0)

    @property
    def start(self) -> datetime | None:
        """The date of second 0 according to UnixStartTime; None if it does not specify one.

        The offset is that of TimeZoneString on that day, else that of TimeZone, in seconds, else that of UTC. A start
        of 0 means unknown.
        """
        second = _whole(self._first("UnixStartTime")) or 0
        return self.at(second) if 0 < second <= LONGEST else None

    def at(self, second: int) -> datetime:
        """Return the date of a second since 1970, with the offset of the log."""
        date = datetime.fromtimestamp(second, UTC)
        name = self._first("TimeZoneString")
        zone = _zone(name) if name else None
        if zone is not None:
            offset = date.astimezone(zone).utcoffset()
            return date.astimezone(timezone(offset or timedelta()))  # constant: clocks of logs have no DST
        seconds = _whole(self._first("TimeZone")) or 0
        return date if abs(seconds) >= _DAY else date.astimezone(timezone(timedelta(seconds=seconds)))

    def report(self, notes: Notes) -> None:
        """Add notes on headers that are unknown, have no effect, or are interpreted unexpectedly."""
        for key, line in self.lines.items():
            if key and (report := HEADERS.report(key)):
                notes.add(report, f"line {line}")
        for key in ("UnixStartTime", "TimeZone", "TimeZoneString"):
            if len(set(self._all(key))) > 1:
                notes.add(f"header {key} is there {len(self._all(key))} times: the first counts", self._place(key))
        self._report_sizes(notes)
        self._report_clock(notes)
        if (words := self._first("Preemption")).casefold() not in _NO:
            notes.add(f"header Preemption is not obeyed: jobs run in one piece, not {shown(words)}")
        if (words := self._first("AllowOveruse")).casefold() not in _NO:
            rule = "the run time of a job is cut to its request"
            notes.add(f"header AllowOveruse is not obeyed: {rule}, although it says {shown(words)}")

    def _report_sizes(self, notes: Notes) -> None:
        for key in _SIZES:
            values = self._all(key)
            if len(set(values)) > 1:
                rule = f"the largest of {', '.join(map(shown, values[:4]))} is the size of the machine"
                notes.add(f"header {key} is there {len(values)} times: {rule}", self._place(key))

    def _report_clock(self, notes: Notes) -> None:
        start, zone, offset = (self._first(key) for key in ("UnixStartTime", "TimeZoneString", "TimeZone"))
        if start and _whole(start) is None:
            rule = f"it must be a number of seconds since 1970, not {shown(start)}; the date of the log is unknown"
            notes.add(f"header UnixStartTime is not obeyed: {rule}", self._place("UnixStartTime"))
        if not start and self._first("StartTime"):
            rule = "the date of a log is read from UnixStartTime, which is not there"
            notes.add(f"header StartTime is not obeyed: {rule}", self._place("StartTime"))
        known = _zone(zone) if zone else None
        if zone and known is None:
            rule = f"{shown(zone)} is no time zone known here, like Europe/Paris"
            notes.add(f"header TimeZoneString is not obeyed: {rule}", self._place("TimeZoneString"))
        seconds = _whole(offset)
        if offset and (seconds is None or abs(seconds) >= _DAY):
            rule = f"it must be a number of seconds below a day, not {shown(offset)}; dates are those of UTC"
            notes.add(f"header TimeZone is not obeyed: {rule}", self._place("TimeZone"))
        elif known is not None and offset and self.start is not None:
            used = int((self.start.utcoffset() or timedelta()).total_seconds())
            if used != seconds:
                rule = f"TimeZoneString has an offset of {used} s on the day of UnixStartTime, not {seconds} s"
                notes.add(f"header TimeZone is not obeyed: {rule}", self._place("TimeZone"))

    def _place(self, key: str) -> str:
        return f"line {self.lines.get(key, 0)}"

    def _all(self, key: str) -> Sequence[str]:
        return [value for value in self.values.get(key, "").split("\n") if value]

    def _first(self, key: str) -> str:
        return self.values.get(key, "").partition("\n")[0]

    def _size(self, key: str) -> int:
        """Parse a size; return 0 (unknown) for an absent or empty header, 0 or a negative number."""
        sizes = [0]
        for text in self._all(key):
            number = _PROCESSORS.match(text)
            if number is None:
                rule = f"must begin with a whole number of processors, not {shown(text)}; --hosts says it instead"
                raise WorkloadError(self.source, f"line {self.lines.get(key, 0)}, header {key}", rule)
            sizes.append(int(number[1]))
        return max(sizes)


class HeaderLines:
    """A collector of the headers of a log."""

    def __init__(self) -> None:
        self._values: dict[str, list[str]] = {}
        self._lines: dict[str, int] = {}

    def add(self, text: str, line: int) -> None:
        """Add a comment line; skip comments that are not headers."""
        match = _HEADER.fullmatch(text)
        if match is not None:
            key = _SPELLED.get(match[1].casefold(), match[1])
            self._values.setdefault(key, []).append(match[2].strip())
            self._lines.setdefault(key, line)

    def headers(self, source: str) -> SwfHeaders:
        """Return the collected headers."""
        return SwfHeaders(source, {key: "\n".join(values) for key, values in self._values.items()}, self._lines)


def epoch_text(first: float, start: datetime) -> str:
    """Return the note about a clock that was moved to the first submission."""
    years = counted(int(first // (365 * _DAY)), "year")
    rule = f"time starts with the first submission, at {start.isoformat()}, {years} after 0"
    return f"submissions are in seconds since 1970: {rule}" if start.timestamp() == int(first) else rule


def _whole(text: str) -> int | None:
    found = _WHOLE.match(text)
    return None if found is None else int(found[0])


def _zone(name: str) -> tzinfo | None:
    """Return a time zone; None for a name that is invalid, or unknown on this machine."""
    from zoneinfo import ZoneInfo  # noqa: PLC0415  # takes as long as 3 000 lines of a log, and few logs name a zone

    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # ZoneInfoNotFoundError is a KeyError
        return None
