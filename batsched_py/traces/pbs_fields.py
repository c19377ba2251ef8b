"""The fields of accounting of PBS and Torque: records, sizes, durations and memory.

Sources: OpenPBS, src/server/accounting.c and src/include/acct.h, and Torque, src/include/acct.h; PBS Professional's
reference guide on `select` and `exec_vnode`, Torque's qsub(1) on `nodes=2:ppn=4`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from batsched_py.reading.limits import LONGEST, TOO_LONG
from batsched_py.text.display import displayed, shown

# A record is date;type;id;text, and the text consists of key=value with blanks between them; a value with blanks is
# quoted. The date is local time; the times of a job are seconds since 1970.
#
# OpenPBS says how many CPUs a job requested (ncpus, or the chunks of select) and got (exec_vnode); Torque says the
# nodes and the processors of each one (nodes=2:ppn=4) and lists slots (exec_host). Both have nodect.
#
# Nearly all texts are pairs of printable characters, with blanks and quotes nowhere within a value: `str.split` finds
# the same pairs as `_PAIR` in a third of the time. The values of durations and memory, which repeat, are kept: their
# patterns make these texts short.

#: Types of records that say how a run of a job ended: its end, and a rerun.
END: Final = "E"
RERUN: Final = "R"
#: Types that say that a job started, and was deleted or aborted.
STARTS: Final = frozenset("ST")
DELETED: Final = "D"
ABORTED: Final = "A"
#: Types about reservations, licences and provisioning.
NOT_OF_JOBS: Final = frozenset("UYBFKkLPp")
#: The date, the type, the id and the text of a record.
RECORD: Final = re.compile(r"(\d\d/\d\d/\d{4} \d\d:\d\d:\d\d);([A-Za-z]);([^;]*);(.*)", re.ASCII | re.DOTALL)
#: Number of a job, that of a task of an array, and the server; an array itself has empty brackets.
JOB_ID: Final = re.compile(r"(\d{1,18}(?:\[\d{0,18}\])?)(?:\.([^\s!,\"]+))?", re.ASCII)
_PAIR: Final = re.compile(r"""([A-Za-z_][\w.\-]*)=("[^"]*"|'[^']*'|\S*)(?:\s+|$)""", re.ASCII)
#: Texts of pairs that blanks separate, in which a value has no quotes but those around it.
_PLAIN: Final = re.compile(r'(?:[A-Za-z_][\w.\-]*+=(?:"[!#-&(-~]*+"|[!#-&(-~]*+)(?:[ \t]++|$))*+', re.ASCII)
#: Number of texts whose values are kept.
_MOST_KEPT: Final = 65_536
_WHOLE: Final = re.compile(r"\d{1,18}", re.ASCII)
_CLOCK: Final = re.compile(r"\d{1,12}(:\d{1,12}){0,3}(\.\d{1,9})?", re.ASCII)
_MEMORY: Final = re.compile(r"(\d{1,18})([kmgtp]?)([bw]?)", re.ASCII)
_SLOTS: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)
_NCPUS: Final = re.compile(r"ncpus=(\d{1,9})", re.ASCII)
_FACTORS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
#: Seconds of the parts of a clock time, from its end.
_PARTS: Final = (1, 60, 3600, 86_400)
_MOST: Final = 1_000_000_000


class PbsError(ValueError):
    """A value that breaks a rule; the text names its key and the rule."""


class PbsValues(NamedTuple):
    """The values of a record, by key; text that is no pair is in `rest`."""

    pairs: Mapping[str, str]
    rest: str

    def text(self, *keys: str) -> str:
        """Return the first value that is there; "" if none is."""
        for key in keys:
            if key in self.pairs:
                return self.pairs[key]
        return ""

    def instant(self, *keys: str) -> int | None:
        """Return the first known instant in seconds since 1970; None if there is none. PbsError."""
        for key in keys:
            text = self.pairs.get(key, "")
            if text and not _WHOLE.fullmatch(text):
                raise PbsError(f"{key} must be seconds since 1970, not {shown(text)}")
            if text and int(text):
                return int(text)
        return None

    def duration(self, key: str) -> int | None:
        """Return seconds from a number of them or [[days:]hours:]minutes:seconds; None if it is unknown. PbsError."""
        text = self.pairs.get(key, "")
        if not text:
            return None
        try:
            return _clock(text)
        except ValueError as error:
            raise PbsError(f"{key} {error} not {shown(text)}") from None

    def number(self, key: str) -> int | None:
        """Return a number of nodes or CPUs; None if it is unknown. PbsError."""
        text = self.pairs.get(key, "")
        if not text:
            return None
        if not _WHOLE.fullmatch(text) or int(text) > _MOST:
            raise PbsError(f"{key} must be a whole number up to {_MOST}, not {shown(text)}")
        return int(text)

    def kilobytes(self, key: str) -> int | None:
        """Return an amount of memory in KB, rounded up; None if it is unknown. PbsError."""
        text = self.pairs.get(key, "").lower()
        if not text:
            return None
        try:
            return _kilobytes(text)
        except ValueError as error:
            raise PbsError(f"{key} {error} not {shown(text)}") from None

    @property
    def requested_cpus(self) -> int | None:
        """The number of CPUs that the job requested. PbsError."""
        ncpus, select = (
            self.number("Resource_List.ncpus"),
            self.text("Resource_List.select", "Resource_List.schedselect"),
        )
        nodes = self.text("Resource_List.nodes", "Resource_List.neednodes")
        if ncpus is not None and (select or not nodes):
            return ncpus
        if select:
            return _chunks(select, "ncpus")[1]
        if nodes and not _WHOLE.fullmatch(nodes):
            return _chunks(nodes, "ppn")[1]
        procs = self.number("Resource_List.procs")
        return procs if procs is not None else _chunks(nodes, "ppn")[1] if nodes else None

    @property
    def used_cpus(self) -> int | None:
        """The number of CPUs, or slots, that the job got. PbsError."""
        vnodes = [int(number) for number in _NCPUS.findall(self.text("exec_vnode"))]
        if vnodes:
            return sum(vnodes)
        slots = self.number("total_execution_slots")
        hosts = self.text("exec_host")
        return slots if slots is not None else sum(map(_slots, hosts.split("+"))) if hosts else None

    @property
    def requested_nodes(self) -> int | None:
        """The number of nodes, or chunks, that the job requested. PbsError."""
        nodect = self.number("Resource_List.nodect")
        if nodect is not None:
            return nodect
        select = self.text("Resource_List.select")
        nodes = self.text("Resource_List.nodes", "Resource_List.neednodes")
        return _chunks(select, "ncpus")[0] if select else _chunks(nodes, "ppn")[0] if nodes else None

    @property
    def used_nodes(self) -> int | None:
        """The number of hosts that the job got. PbsError."""
        unique = self.number("unique_node_count")
        hosts = self.text("exec_host")
        if unique is not None or not hosts:
            return unique
        return len({host.partition("/")[0] for host in hosts.split("+")})


def read_values(text: str) -> PbsValues:
    """Return the values of the text of a record."""
    pairs: dict[str, str] = {}
    rest: list[str] = []
    at = 0
    text = text.strip()
    if _PLAIN.fullmatch(text):
        split = [pair.split("=", 1) for pair in text.split()]
        return PbsValues({key: value[1:-1] if value[:1] == '"' else value for key, value in split}, "")
    while at < len(text):
        found = _PAIR.match(text, at)
        if found is None:
            word = text[at:].split(None, 1)[0]
            rest.append(word)
            at += len(word)
            at += len(text[at:]) - len(text[at:].lstrip())
            continue
        value = found[2]
        quoted = len(value) > 1 and value[0] in "\"'" and value[0] == value[-1]
        pairs[found[1]] = value[1:-1] if quoted else value
        at = found.end()
    return PbsValues(pairs, displayed(" ".join(rest)[:40]))


@lru_cache(_MOST_KEPT)
def _clock(text: str) -> int:
    """Return the seconds of a clock time. ValueError."""
    if not _CLOCK.fullmatch(text):
        raise ValueError("must be seconds or hours:minutes:seconds,")
    parts = text.partition(".")[0].split(":")
    seconds = sum(int(part) * unit for part, unit in zip(reversed(parts), _PARTS, strict=False))
    if seconds > LONGEST:
        raise ValueError(TOO_LONG)
    return seconds


@lru_cache(_MOST_KEPT)
def _kilobytes(text: str) -> int:
    """Return an amount of memory in KB, rounded up. ValueError."""
    found = _MEMORY.fullmatch(text)
    if found is None:
        raise ValueError("must be an amount like 4gb,")
    return -(-int(found[1]) * _FACTORS[found[2]] * (8 if found[3] == "w" else 1) // 1024)


def _chunks(text: str, cpus: str) -> tuple[int, int]:
    """Return the numbers of chunks and of CPUs in "2:ppn=4+1:ppn=8"; a chunk without a number is a named host."""
    chunks = total = 0
    for chunk in text.partition("#")[0].split("+"):
        first, *parts = chunk.strip().split(":")
        number = int(first) if _WHOLE.fullmatch(first) else 1
        each = [part.partition("=")[2] for part in (first, *parts) if part.partition("=")[0] == cpus]
        if any(not _WHOLE.fullmatch(one) for one in each):
            raise PbsError(f"{cpus} must be a whole number, not {shown(each[0])}")
        chunks += number
        total += number * (int(each[0]) if each else 1)
    if total > _MOST or chunks > _MOST:
        raise PbsError(f"{shown(text[:40])} must be at most {_MOST} {cpus}")
    return chunks, total


def _slots(text: str) -> int:
    """Return the number of slots of a host: "n1/3", "n1/0*4", "n1/0-3,7"."""
    slots = text.partition("/")[2]
    _, star, number = slots.partition("*")
    if star and _WHOLE.fullmatch(number):
        return min(int(number), _MOST)
    total = 0
    for part in slots.split(","):
        found = _SLOTS.fullmatch(part)
        total += int(found[2]) - int(found[1]) + 1 if found and found[2] and int(found[2]) >= int(found[1]) else 1
    return total
