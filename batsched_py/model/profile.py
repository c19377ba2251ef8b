"""Profiles, the work of jobs: typed for known types, otherwise stored as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from batsched_py.reading.faults import FieldError
from batsched_py.reading.objects import OBJECT, list_of, take
from batsched_py.reading.values import TEXT, number, whole_number
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
    simulated become a plain Profile. FieldError if the type is missing, or if a member of a known type is invalid.
    """
    written = take(members, "type", TEXT)
    if "ret" in members:
        take(members, "ret", _RETURN_CODE)
    reader = _READERS.get(FORMER_TYPES.get(written, written))
    return Profile(name, written, members) if reader is None else reader(name, written, members)


def _delay(name: str, written: str, members: Mapping[str, Any]) -> Delay:
    return Delay(name, written, members, take(members, "delay", _DURATION))


def _parallel(name: str, written: str, members: Mapping[str, Any]) -> Parallel:
    cpu, com = take(members, "cpu", _AMOUNTS), take(members, "com", _AMOUNTS, ())
    if not cpu:
        raise FieldError("cpu", "must have one number of flops for each host")
    if len(com) not in (0, len(cpu) ** 2):
        raise FieldError("com", f"must have {len(cpu)} x {len(cpu)} numbers of bytes, not {len(com)}")
    return Parallel(name, written, members, cpu, com)


def _homogeneous(name: str, written: str, members: Mapping[str, Any]) -> ParallelHomogeneous:
    return ParallelHomogeneous(name, written, members, *_cpu_com(members))


def _homogeneous_total(name: str, written: str, members: Mapping[str, Any]) -> ParallelHomogeneousTotal:
    return ParallelHomogeneousTotal(name, written, members, *_cpu_com(members))


def _cpu_com(members: Mapping[str, Any]) -> tuple[float, float]:
    return take(members, "cpu", _AMOUNT), take(members, "com", _AMOUNT, 0.0)


def _composed(name: str, written: str, members: Mapping[str, Any]) -> Composed:
    repeat = "nb" if "nb" in members and "repeat" not in members else "repeat"
    return Composed(name, written, members, take(members, "seq", _PARTS), take(members, repeat, _REPEAT, 1))


def _pfs(name: str, written: str, members: Mapping[str, Any]) -> ParallelHomogeneousPfs:
    if "bytes_to_read" not in members and "bytes_to_write" not in members:
        raise FieldError("bytes_to_read", "must be there, or bytes_to_write must")
    read, write = (take(members, member, _AMOUNT, 0.0) for member in ("bytes_to_read", "bytes_to_write"))
    label = take(members, "storage" if "storage" in members else "host", TEXT, "pfs")
    return ParallelHomogeneousPfs(name, written, members, read, write, label)


def _staging(name: str, written: str, members: Mapping[str, Any]) -> DataStaging:
    ends = (take(members, "from", TEXT), take(members, "to", TEXT))
    return DataStaging(name, written, members, take(members, "nb_bytes", _AMOUNT), *ends)


def _send(name: str, written: str, members: Mapping[str, Any]) -> Send:
    message = take(members, "msg", OBJECT)
    return Send(name, written, members, message, take(members, "sleeptime", _DURATION, SHORTEST_SLEEP))


def _receive(name: str, written: str, members: Mapping[str, Any]) -> Receive:
    regex = take(members, "regex", TEXT, ".*")
    try:
        re.compile(regex)
    except re.error as error:
        raise FieldError("regex", f"must be a regular expression, not {shown(regex)}: {error}") from None
    success, failure, timeout = (take(members, member, TEXT, "") for member in ("success", "failure", "timeout"))
    poll = take(members, "polltime", _DURATION, DEFAULT_POLL)
    return Receive(name, written, members, regex, success, failure, timeout, poll)


_AMOUNT: Final = number(least=0)
_AMOUNTS: Final = list_of(_AMOUNT, "numbers")
_DURATION: Final = number("seconds", above=0)
_REPEAT: Final = whole_number(least=1)
_RETURN_CODE: Final = whole_number(least=None)
_PARTS: Final = list_of(TEXT, "profile names", least=1)
_READERS: Final[Mapping[str, Callable[[str, str, Mapping[str, Any]], Profile]]] = {
    "delay": _delay,
    "parallel": _parallel,
    "parallel_homogeneous": _homogeneous,
    "parallel_homogeneous_total": _homogeneous_total,
    "composed": _composed,
    "parallel_homogeneous_pfs": _pfs,
    "data_staging": _staging,
    "send": _send,
    "recv": _receive,
}
