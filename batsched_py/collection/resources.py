"""Resources: hosts and vaults that decide which reservations they grant, refuse and cancel (L2, L20)."""

from __future__ import annotations

import math
from typing import Final, Protocol, runtime_checkable

from batsched_py.collection.codes import Code
from batsched_py.collection.task_rooms import granted_gpus
from batsched_py.collection.tokens import Request, Token
from batsched_py.model.demand import HostCapacity, TaskDemand

# In Legion each host is autonomous: it may refuse for reasons of its own, and cancel what it has granted. A token
# proves nothing by itself, since any caller may present one; `check` compares it with the grant of its number, its
# holder and its time. Between two calls `_granted` has the reservations that are neither used up nor given back;
# `_gone` remembers for a limited number of others why they are not.
#
# A grant that is not used until its time-out expires, because its requester may have failed in between: otherwise
# negotiations that were given up would occupy hosts permanently. What runs past its agreed end still occupies its host
# (`holds_until`), and a start is refused while it does.
#
# Reservations of one resource are few, so questions walk all of them.

#: Number of ended tokens whose reasons a resource remembers.
_REMEMBERED: Final = 1000


class Policy(Protocol):
    """A rule by which a resource refuses requests."""

    def refuses(self, request: Request, now: float, *, held: int, starts: bool) -> bool:
        """Return whether it refuses a request; with `starts`, the start of a granted reservation.

        `held` is the number of other reservations of the resource at that time.
        """


@runtime_checkable
class Timed(Protocol):
    """A policy that refuses at certain times only."""

    def opens(self, now: float) -> float:
        """Return an instant after `now` from which it may agree."""


class _Granted:
    """A reservation.

    Attributes:
        used: number of times its token was presented.
        running: number of running objects that were started with it.
    """

    def __init__(self, token: Token) -> None:
        self.token = token
        self.used = self.running = 0
        self.end = token.request.end

    def holds_until(self, now: float) -> float:
        """Return the earliest time at which it frees its resource, which may be after its agreed end."""
        return self.end if not self.running or self.end > now else math.nextafter(now, math.inf)


class CollectionResource:
    """A host or a vault, with its reservations.

    Attributes:
        name: unique.
        capacity: total amount for shared reservations: CPUs of a host, space of a vault.
        up: False if it cannot be reserved or used.
        host: what tasks may have of it; None if it accepts none.
    """

    def __init__(self, name: str, capacity: float = 1.0, policies: tuple[Policy, ...] = ()) -> None:
        self.name, self.capacity, self._policies = name, capacity, policies
        self.up = True
        self.host: HostCapacity | None = None
        self._granted: dict[int, _Granted] = {}
        self._last = 0
        #: Ids of tokens that were cancelled, used up or released.
        self._gone: dict[int, Code] = {}

    def request(self, request: Request, now: float) -> Token | Code:
        """Return a token for a reservation, or the code of the refusal."""
        self._expire(now)
        if not self.up:
            return Code.NO_CAPACITY
        if self._refuses(request, now, starts=False):
            return Code.REFUSED_BY_POLICY
        gpus: tuple[int, ...] | None = ()
        if request.task is not None:
            gpus = self._gpus(request, request.task, now)
        elif not self._has_room(request, now):
            gpus = None
        if gpus is None:
            return Code.NO_CAPACITY
        self._last += 1
        token = Token(self._last, self.name, request, now, gpus)
        self._granted[token.id] = _Granted(token)
        return token

    def opens(self, now: float) -> float:
        """Return the next time at which its opening hours begin; infinity if it has none."""
        return min((policy.opens(now) for policy in self._policies if isinstance(policy, Timed)), default=math.inf)

    def check(self, token: Token, holder: str, now: float) -> Code:
        """Return GRANTED if this holder's token is valid now or later, or the code of the problem."""
        granted = self._find(token)
        if isinstance(granted, Code):
            return granted
        if token.request.holder != holder:
            return Code.BAD_TOKEN
        if now >= granted.end or (not granted.used and now >= token.expires):
            return Code.EXPIRED
        return Code.GRANTED

    def start(self, token: Token, holder: str, now: float) -> Code:
        """Use a token to start an object; return GRANTED, or the code of the refusal."""
        code = self.check(token, holder, now)
        if code is not Code.GRANTED:
            return code
        granted, request = self._granted[token.id], token.request
        if granted.used and not request.type.reusable:
            return Code.BAD_TOKEN
        if now < request.start:
            return Code.TOO_EARLY
        if not self.up or self._is_held_up(granted, now) or self._refuses(request, now, starts=True):
            return Code.START_REFUSED
        granted.used += 1
        granted.running += 1
        return Code.GRANTED

    def finish(self, token: Token, now: float) -> None:
        """Record the end of an object that was started with a token; the last one of a one-shot token frees it."""
        granted = self._granted.get(token.id)
        if granted is not None and granted.token == token:
            granted.running -= 1
            if not granted.running and not token.request.type.reusable:
                granted.end = min(granted.end, now)
                self._drop(token.id, Code.BAD_TOKEN)

    def release(self, token: Token) -> bool:
        """Release an unneeded reservation; return False if there is none."""
        if isinstance(self._find(token), Code):
            return False
        self._drop(token.id, Code.BAD_TOKEN)
        return True

    def cancel(self, token: Token) -> bool:
        """Cancel a grant, as a resource may at any time; return False if there is none."""
        if isinstance(self._find(token), Code):
            return False
        self._drop(token.id, Code.CANCELLED)
        return True

    def tokens(self, now: float) -> list[Token]:
        """Return the valid tokens."""
        self._expire(now)
        return [granted.token for granted in self._granted.values()]

    def free(self, start: float, end: float, now: float = -math.inf) -> float:
        """Return the amount that is free for shared reservations during all of [start, end).

        Objects that still run at `now`, after the end of their reservations, keep their amounts. Nothing is free where
        tasks run.
        """
        ones = self._overlapping(start, end, now)
        if any(one.token.request.type.exclusive or one.token.request.task is not None for one in ones):
            return 0.0
        times = {start, *(one.token.request.start for one in ones if one.token.request.start > start)}
        taken = [
            sum(one.token.request.amount for one in ones if one.token.request.start <= time < one.holds_until(now))
            for time in times
        ]
        return self.capacity - max(taken)

    def _overlapping(self, start: float, end: float, now: float) -> list[_Granted]:
        """Return the reservations that overlap [start, end), and those whose objects still run then."""
        granted = self._granted.values()
        return [one for one in granted if one.token.request.start < end and one.holds_until(now) > start]

    def _refuses(self, request: Request, now: float, *, starts: bool) -> bool:
        if not self._policies:
            return False
        ones = self._overlapping(request.start, request.end, now)
        held = len({id(one.token.request) for one in ones if one.token.request is not request})  # tasks of a job: one
        return any(policy.refuses(request, now, held=held, starts=starts) for policy in self._policies)

    def _has_room(self, request: Request, now: float) -> bool:
        if request.type.exclusive:
            return not self._overlapping(request.start, request.end, now)
        return request.amount <= self.free(request.start, request.end, now)

    def _gpus(self, request: Request, task: TaskDemand, now: float) -> tuple[int, ...] | None:
        """Return the GPUs for a task; None if there is no room for it, or reservations are not of tasks."""
        if self.host is None:
            return None
        there = self._overlapping(request.start, request.end, now)
        return granted_gpus(self.host, [one.token for one in there], task)

    def _is_held_up(self, granted: _Granted, now: float) -> bool:
        """Return whether objects that run past their reservations block a start."""
        late = [one for one in self._granted.values() if one is not granted and one.running and one.end <= now]
        if any(one.token.request.type.exclusive for one in (granted, *late)):
            return bool(late)
        return bool(late) and self.free(now, math.nextafter(now, math.inf), now) < 0

    def _find(self, token: Token) -> _Granted | Code:
        """Return the reservation of a token, or the code of the reason why there is none."""
        granted = self._granted.get(token.id)
        if granted is None or granted.token != token or token.resource != self.name:
            return self._gone.get(token.id, Code.BAD_TOKEN) if token.resource == self.name else Code.BAD_TOKEN
        return granted

    def _expire(self, now: float) -> None:
        """Drop reservations whose time-out or block is over."""
        for granted in list(self._granted.values()):
            unused = not granted.used and now >= granted.token.expires
            if unused or (now >= granted.end and not granted.running):
                self._drop(granted.token.id, Code.EXPIRED)

    def _drop(self, token_id: int, code: Code) -> None:
        del self._granted[token_id]
        self._gone[token_id] = code
        if len(self._gone) > _REMEMBERED:
            del self._gone[next(iter(self._gone))]
