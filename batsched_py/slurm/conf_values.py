"""Values of parameters in configuration files of Slurm: each function returns the value or raises `ValueError`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from batsched_py.slurm.configuration import UNLIMITED, GresCount
from batsched_py.text.display import displayed

_T = TypeVar("_T")
_NUMBER: Final = re.compile(r"-?\d{1,12}")
_TIME: Final = re.compile(r"(?:(\d{1,6})-)?(\d{1,8})(?::(\d{1,2}))?(?::(\d{1,2}))?")
_NO_LIMIT: Final = ("INFINITE", "UNLIMITED", "-1")
#: Sockets of generic resources, which decisions do not depend on; names and types; and counts of them.
_SOCKETS: Final = re.compile(r"\([^()]*\)")
_GRES_NAME: Final = re.compile(r"\w[\w.-]*")
_AMOUNT: Final = re.compile(r"(\d{1,12})([KMGTP]?)", re.ASCII | re.IGNORECASE)
#: Powers of 1024 of the suffixes of counts.
_POWERS: Final = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
#: Minutes of the units of Slurm's durations.
_DAY: Final = 24 * 60


def whole(text: str) -> int:
    """Return a whole number."""
    if not _NUMBER.fullmatch(text):
        raise ValueError("must be a whole number")
    return int(text)


def at_least(least: int) -> Callable[[str], int]:
    """Return a reader of whole numbers of this size or larger."""

    def read(text: str) -> int:
        number = whole(text)
        if number < least:
            raise ValueError(f"must be a whole number from {least}; others are not supported")
        return number

    return read


def minutes(text: str) -> int:
    """Return a time limit in minutes (`90`, `1:30:00`, `2-12`, `INFINITE`); seconds count as a further minute."""
    if text.upper() in _NO_LIMIT:
        return UNLIMITED
    return -(-_seconds(text) // 60)


def duration(text: str) -> float:
    """Return a time in seconds, written as a time limit."""
    return UNLIMITED * 60.0 if text.upper() in _NO_LIMIT else float(_seconds(text))


def positive_duration(text: str) -> float:
    """Return a time in seconds, which is not 0."""
    found = duration(text)
    if not found:
        raise ValueError("must be longer than 0")
    return found


def megabytes(text: str) -> int:
    """Return an amount of memory in megabytes; the suffixes are K, M, G and T."""
    match = re.fullmatch(r"(\d{1,12})([KMGT]?)B?", text.upper())
    if match is None:
        raise ValueError("must be an amount of memory such as 4000 or 4G")
    return int(match[1]) * {"G": 1024, "T": 1024**2}.get(match[2], 1) // (1024 if match[2] == "K" else 1)


def yes_no(text: str) -> bool:
    """Return YES or NO as a boolean."""
    if text.upper() not in {"YES", "NO", "TRUE", "FALSE", "0", "1"}:
        raise ValueError("must be YES or NO")
    return text.upper() in {"YES", "TRUE", "1"}


def one_of(*values: str) -> Callable[[str], str]:
    """Return a reader of one of these values, without regard to case."""

    def read(text: str) -> str:
        found = next((value for value in values if value.upper() == text.upper()), None)
        if found is None:
            raise ValueError(f"must be {' or '.join(values)}; others are not supported")
        return found

    return read


def counts(text: str) -> tuple[tuple[str, float], ...]:
    """Return numbers by name: `cpu=300,mem=400`."""
    found: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        if whole(number) < 0 or name.lower() in found:
            raise ValueError("must be different resources such as cpu=300,mem=400, with numbers from 0")
        found[name.lower()] = float(whole(number))
    return tuple(found.items())


def licences(text: str) -> tuple[tuple[str, int], ...]:
    """Return licences by name: `fluent:3,matlab`."""
    found: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        name, *count = re.split("[:=]", part, maxsplit=1)
        number = whole(count[0]) if count else 1
        if not name or name in found or number < 1:
            raise ValueError("must be different licences such as fluent:3,matlab, with counts from 1")
        found[name] = number
    return tuple(found.items())


def gres(text: str) -> tuple[GresCount, ...]:
    """Return generic resources: `gpu:2` or `gpu:a100:2`, separated by commas; a count may have a suffix, K for 1024."""
    parts = [part.strip() for part in _SOCKETS.sub("", text).split(",")]
    return tuple(_gres(part) for part in parts if part.lower() not in {"", "none", "(null)"})


def _gres(part: str) -> GresCount:
    name, *others = part.removeprefix("gres/").replace("=", ":").split(":")
    count = _AMOUNT.fullmatch(others[-1]) if others else None
    types = others if count is None else others[:-1]
    if "no_consume" in map(str.lower, types):
        raise ValueError("must not have no_consume, which is not supported")
    if len(types) > 1 or not all(map(_GRES_NAME.fullmatch, (name, *types))):
        raise ValueError("must be resources NAME[:TYPE][:COUNT] such as gpu:2 or gpu:a100:2, with counts from 0")
    number = 1 if count is None else int(count[1]) * 1024 ** _POWERS[count[2].upper()]
    return GresCount(name, "".join(types), number)


def words(text: str) -> frozenset[str]:
    """Return words that are separated by commas, in small letters."""
    return frozenset(word.strip().lower() for word in text.split(",") if word.strip())


def words_of(*known: str) -> Callable[[str], frozenset[str]]:
    """Return a reader of words that are separated by commas, all of which must be among these, in small letters."""

    def read(text: str) -> frozenset[str]:
        found = words(text)
        if unknown := found - set(known):
            raise ValueError(f"{displayed(min(unknown))} is not supported: must be of {', '.join(known)}")
        return found

    return read


def features(text: str) -> frozenset[str]:
    """Return names that are separated by commas."""
    return frozenset(word.strip() for word in text.split(",") if word.strip())


def flag(text: str) -> bool:
    """Return True: an option without a value is set."""
    if text:
        raise ValueError("must have no value")
    return True


def node_size(sizes: Mapping[str, int], threads: int) -> tuple[int, int]:
    """Return the cores of a node and the threads of each; with as many CPUs as cores, a core counts as one thread.

    CPUs are threads if the sockets or their cores are left out, which follow from it. ValueError if CPUs contradict the
    other sizes.
    """
    if "socketsperboard" in sizes and "sockets" in sizes:
        raise ValueError("must not be with both Sockets and SocketsPerBoard")
    boards, per_board = sizes.get("boards", 1), sizes.get("socketsperboard", sizes.get("sockets"))
    per_socket, cpus = sizes.get("corespersocket"), sizes.get("cpus")
    cores = boards * (per_board or 1) * (per_socket or 1)
    if cpus is None or cpus == cores * threads:
        return cores, threads
    if per_board is None or per_socket is None:
        if cpus % (cores * threads):
            rule = f"must be a multiple of {cores * threads}, the product of the other sizes of the node"
            raise ValueError(f"{rule}, not {cpus}")
        return cpus // threads, threads
    if cpus != cores:
        raise ValueError(f"must be {cores} or {cores * threads}, the cores or threads of the other sizes, not {cpus}")
    return cores, 1


def _seconds(text: str) -> int:
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError("must be a time such as 30, 1:30:00 or 2-12:00:00")
    days, first, second, third = (int(part) if part else None for part in match.groups())
    if days is not None:
        return ((days * 24 + (first or 0)) * 60 + (second or 0)) * 60 + (third or 0)
    if third is not None:
        return ((first or 0) * 60 + (second or 0)) * 60 + third
    return (first or 0) * 60 + (second or 0)
