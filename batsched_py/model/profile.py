"""Profiles, the work of jobs: typed for known types, otherwise stored as they are."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown
from batsched_py.text.representation import Brief

#: Batsim 1's names of types -> names in Batsim 3 and later.
FORMER_TYPES: Final[Mapping[str, str]] = {
    "msg_par": "parallel",
    "msg_par_hg": "parallel_homogeneous",
    "msg_par_hg_tot": "parallel_homogeneous_total",
}
#: The inverse mapping.
FORMER_NAMES: Final[Mapping[str, str]] = {present: former for former, present in FORMER_TYPES.items()}
#: Batsim's defaults, in seconds: sleep after a `send`, and polling period of a `recv`.
SHORTEST_SLEEP: Final = 1e-7
DEFAULT_POLL: Final = 0.005


class Profile(Brief, frozen=True):
    """A profile of a type without a specific class (`smpi`, `usage_trace`, a user-defined type...).

    Attributes:
        name: unique in its workload.
        type: Batsim's `type` member.
        members: all members as written, including unknown ones.
    """

    name: str
    type: str
    members: Mapping[str, Any]

    @property
    def return_code(self) -> int:
        """The job's return code when it completes: `ret`, 0 if absent."""
        return int(self.members.get("ret", 0))

    @property
    def lacks_transfers(self) -> bool:
        """True for a parallel task with missing `com`: it counts as 0 here, but Batsim refuses it."""
        return False


class Delay(Profile, frozen=True):
    """A wait of `delay` seconds on any hosts."""

    delay: float


class Parallel(Profile, frozen=True):
    """A task of `cpu[i]` flops on the i-th of n hosts; `com[i * n + j]` bytes from i-th to j-th, or no `com`."""

    cpu: tuple[float, ...]
    com: tuple[float, ...]

    @property
    def lacks_transfers(self) -> bool:
        """True if `com` is empty."""
        return not self.com


class _Homogeneous(Profile, frozen=True):
    cpu: float
    com: float

    @property
    def lacks_transfers(self) -> bool:
        """True if `com` is absent."""
        return "com" not in self.members


class ParallelHomogeneous(_Homogeneous, frozen=True):
    """A task with `cpu` flops on each host and `com` bytes between each ordered pair of distinct hosts."""


class ParallelHomogeneousTotal(_Homogeneous, frozen=True):
    """A task of `cpu` flops in total, divided equally by n hosts; `com / n` bytes per ordered pair of distinct hosts.

    This is the behaviour of real Batsim 4: `com` is divided by the number of hosts, not of pairs, so that the total is
    n - 1 times `com`. Batsim 5 divides it by the n * n - n pairs.
    """


class Composed(Profile, frozen=True):
    """The profiles named in `sequence` in order, repeated `repeat` times."""

    sequence: tuple[str, ...]
    repeat: int

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of its parts, without repetition."""
        return tuple(dict.fromkeys(self.sequence))


class ParallelHomogeneousPfs(Profile, frozen=True):
    """A task in which each host reads `bytes_to_read` from the storage labelled `storage`, and writes `bytes_to_write`.

    In Batsim 5 the amounts may be totals for all hosts: `is_spread`.
    """

    bytes_to_read: float
    bytes_to_write: float
    storage: str

    @property
    def is_spread(self) -> bool:
        """True if the amounts are spread over the hosts."""
        return self.members.get("generation_strategy") == "DefinedAmountsSpreadUniformly"


class DataStaging(Profile, frozen=True):
    """A transfer of `size` bytes from one storage to another, each named by its label."""

    size: float
    source: str
    target: str


class Send(Profile, frozen=True):
    """A `message` to the scheduler, then a sleep of `sleep` seconds."""

    message: Mapping[str, Any]
    sleep: float


class Receive(Profile, frozen=True):
    """A wait for a text of the scheduler, which is polled every `poll` seconds; then another profile.

    The other profile is `success` if the whole text matches the regular expression `regex`, else `failure`. With a
    `timeout` it does not wait: without a text at its start it runs that profile. An empty name means no profile.
    """

    regex: str
    success: str
    failure: str
    timeout: str
    poll: float

    @property
    def continuations(self) -> Mapping[str, str]:
        """Member -> name of a profile that may follow, for non-empty names."""
        named = {"success": self.success, "failure": self.failure, "timeout": self.timeout}
        return {member: name for member, name in named.items() if name}


#: Rule violated by a new profile without its transfers.
ALL_TRANSFERS: Final = "must be there, with 0 for what is not sent: Batsim aborts without it"


def parse_profile(name: str, members: Mapping[str, Any]) -> Profile:
    """Parse a profile object of a workload file or of a message.

    Both the current names of types and Batsim 1's are known; the profile keeps the name as written. Types that are not
    simulated become a plain Profile. FieldError (field, rule) if the type is missing, or if a member of a known type
    is invalid.
    """
    written = members.get("type")
    if not isinstance(written, str):
        raise FieldError("type", f"must be a string, not {shown(written)}")
    kind = FORMER_TYPES.get(written, written)
    ret = members.get("ret", 0)
    if not isinstance(ret, int) or isinstance(ret, bool):
        raise FieldError("ret", f"must be an integer, not {shown(ret)}")
    if kind == "delay":
        delay = _number(members, "delay")
        if delay <= 0:
            raise FieldError("delay", f"must be more than 0 s, not {delay!r}")
        return Delay(name, written, members, delay)
    if kind == "parallel":
        return _parallel(name, written, members)
    if kind == "parallel_homogeneous":
        return ParallelHomogeneous(name, written, members, _number(members, "cpu"), _number(members, "com", 0.0))
    if kind == "parallel_homogeneous_total":
        return ParallelHomogeneousTotal(name, written, members, _number(members, "cpu"), _number(members, "com", 0.0))
    if kind == "composed":
        return _composed(name, members)
    reader = _READERS.get(kind)
    return Profile(name, written, members) if reader is None else reader(name, members)


def _parallel(name: str, written: str, members: Mapping[str, Any]) -> Parallel:
    cpu = _numbers(members, "cpu")
    if not cpu:
        raise FieldError("cpu", "must have one number of flops for each host")
    com = _numbers(members, "com") if "com" in members else ()
    if len(com) not in (0, len(cpu) ** 2):
        raise FieldError("com", f"must have {len(cpu)} x {len(cpu)} numbers of bytes, not {len(com)}")
    return Parallel(name, written, members, cpu, com)


def _composed(name: str, members: Mapping[str, Any]) -> Composed:
    sequence = members.get("seq")
    if not isinstance(sequence, list) or not sequence or not all(isinstance(step, str) for step in sequence):
        raise FieldError("seq", "must be a list of profile names with at least one")
    repeat = members.get("repeat", members.get("nb", 1))
    if not isinstance(repeat, int) or isinstance(repeat, bool) or repeat < 1:
        raise FieldError("repeat", f"must be an integer from 1, not {shown(repeat)}")
    return Composed(name, "composed", members, tuple(sequence), repeat)


def _pfs(name: str, members: Mapping[str, Any]) -> ParallelHomogeneousPfs:
    if "bytes_to_read" not in members and "bytes_to_write" not in members:
        raise FieldError("bytes_to_read", "must be there, or bytes_to_write must")
    read, written = _number(members, "bytes_to_read", 0.0), _number(members, "bytes_to_write", 0.0)
    label = _text(members, "storage" if "storage" in members else "host", "pfs")
    return ParallelHomogeneousPfs(name, "parallel_homogeneous_pfs", members, read, written, label)


def _staging(name: str, members: Mapping[str, Any]) -> DataStaging:
    size = _number(members, "nb_bytes")
    return DataStaging(name, "data_staging", members, size, _text(members, "from"), _text(members, "to"))


def _send(name: str, members: Mapping[str, Any]) -> Send:
    message = members.get("msg")
    if not isinstance(message, Mapping):
        raise FieldError("msg", f"must be an object, not {shown(message)}")
    return Send(name, "send", members, message, _seconds(members, "sleeptime", SHORTEST_SLEEP))


def _receive(name: str, members: Mapping[str, Any]) -> Receive:
    regex = _text(members, "regex", ".*")
    try:
        re.compile(regex)
    except re.error as error:
        raise FieldError("regex", f"must be a regular expression, not {shown(regex)}: {error}") from None
    success, failure, timeout = (_text(members, member, "") for member in ("success", "failure", "timeout"))
    return Receive(name, "recv", members, regex, success, failure, timeout, _seconds(members, "polltime", DEFAULT_POLL))


#: Type -> its parser, for the rare types.
_READERS: Final[Mapping[str, Callable[[str, Mapping[str, Any]], Profile]]] = {
    "parallel_homogeneous_pfs": _pfs,
    "data_staging": _staging,
    "send": _send,
    "recv": _receive,
}


def _text(members: Mapping[str, Any], field: str, default: str | None = None) -> str:
    value = members.get(field, default)
    if not isinstance(value, str):
        raise FieldError(field, f"must be a text, not {shown(value)}")
    return value


def _seconds(members: Mapping[str, Any], field: str, default: float) -> float:
    value = _number(members, field, default)
    if value <= 0:
        raise FieldError(field, f"must be more than 0 s, not {value!r}")
    return value


def _number(members: Mapping[str, Any], field: str, default: float | None = None) -> float:
    value = members.get(field, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= sys.float_info.max:
        raise FieldError(field, f"must be a finite number from 0, not {shown(value)}")
    return float(value)


def _numbers(members: Mapping[str, Any], field: str) -> tuple[float, ...]:
    values = members.get(field)
    if not isinstance(values, list):
        raise FieldError(field, f"must be a list of numbers, not {shown(values)}")
    return tuple(_number({field: value}, field) for value in values)
