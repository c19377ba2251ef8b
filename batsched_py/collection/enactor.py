"""Enactor: reserves all resources of an alternative, or of the next one, without thrashing (L14 to L18)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple

from batsched_py.collection.alternatives import ObjectPlacement, Schedule
from batsched_py.collection.codes import Code
from batsched_py.collection.resources import CollectionResource
from batsched_py.collection.tokens import Request, Token

# Reservations at several independent hosts are made one by one, and any of them may refuse. Giving all back at the
# first refusal and asking again for the next alternative is thrashing: most alternatives share most of their hosts. So
# a grant that the failed alternative had is held as long as a later one may need it (`keep`), and a host that refused
# is not asked again, nor anyone else for an alternative that needs it.
#
# Between two calls each grant is in exactly one place: taken by the granted alternative, in `_held`, used, or given
# back. `position` names the granted alternative, and is None while none is. A grant may expire meanwhile, so it is
# checked before it is used again (`_obtain`) and once more before the start (`approve`).
#
# Requests are made in the order of objects, host before vault, and the first refusal ends an alternative: hosts after
# it are not asked. Cost: at most one request for each host of all alternatives, unless grants expire or are not kept.
# Source: the enactor of Legion's resource management (L14 to L18).

#: Grants to keep for later alternatives: those that any of them needs, those that the next one needs, or none.
Keep = Literal["any", "next", "none"]
#: Returns the resource of a name; None if there is none.
Find = Callable[[str], CollectionResource | None]

#: Refusals that leave the grants of the resource valid.
_AT_THE_START: Final = frozenset({Code.REFUSED_BY_CLASS, Code.START_REFUSED, Code.TOO_EARLY})


class PlacementAnswer(NamedTuple):
    """A placement of a schedule, and its outcome.

    Attributes:
        code: GRANTED, or the reason of its failure.
        token, vault_token: the grants of host and vault; None for none.
        refused_by: the host or the vault that refused; None if neither did.
    """

    placement: ObjectPlacement
    code: Code
    token: Token | None = None
    vault_token: Token | None = None
    refused_by: str | None = None


class Enactor:
    """Maker of reservations for schedules, which releases grants that are not needed.

    Attributes:
        requests: number of requests to resources.
        releases: number of grants that were released unused.
    """

    def __init__(self, find: Find, keep: Keep = "any") -> None:
        self._find, self._keep = find, keep
        self.requests = self.releases = 0

    def negotiate(
        self, schedules: Sequence[Schedule], request: Request, vault_request: Request | None = None
    ) -> Negotiation:
        """Return a negotiation of these schedules, in order of preference, without a request to a resource yet.

        `vault_request` are the terms for vaults; None for the same as for hosts.
        """
        return Negotiation(self, schedules, request, vault_request or request)

    def find(self, name: str) -> CollectionResource | None:
        """Return a resource; None if there is none of this name."""
        return self._find(name)

    def ask(self, name: str, request: Request, now: float) -> Token | Code:
        """Ask a resource for a reservation."""
        self.requests += 1
        resource = self._find(name)
        return Code.UNKNOWN_RESOURCE if resource is None else resource.request(request, now)

    def release(self, token: Token) -> None:
        """Release a grant."""
        resource = self._find(token.resource)
        if resource is not None and resource.release(token):
            self.releases += 1

    def keeps(self, name: str, later: Sequence[Schedule]) -> bool:
        """Return whether to keep a grant of this resource for the remaining alternatives."""
        wanted = {"any": len(later), "next": 1, "none": 0}[self._keep]
        return any(name in resources_of(schedule) for schedule in later[:wanted])


class Negotiation:
    """One list of alternatives, from the first request to the start.

    `reserve` sends requests until one alternative is granted as a whole; `approve` checks that it is still valid, and
    otherwise continues with the next one; `start` uses the tokens; `decline` releases all grants.

    Attributes:
        position: position of the granted alternative; None for none.
    """

    def __init__(
        self, enactor: Enactor, schedules: Sequence[Schedule], request: Request, vault_request: Request
    ) -> None:
        self._enactor, self._schedules = enactor, list(schedules)
        self._request, self._vault_request = request, vault_request
        self.position: int | None = None
        self._next = 0
        #: Resource -> grants that no placement of the current alternative uses.
        self._held: dict[str, list[Token]] = {}
        #: Resource -> the code of its refusal.
        self._refused: dict[str, Code] = {}
        self._answers: list[list[PlacementAnswer]] = [
            [PlacementAnswer(placement, Code.NOT_ASKED) for placement in schedule] for schedule in self._schedules
        ]
        self._before = enactor.requests, enactor.releases

    @property
    def granted(self) -> list[PlacementAnswer]:
        """The placements of the granted alternative."""
        return [] if self.position is None else self._answers[self.position]

    @property
    def requests(self) -> int:
        """Return the number of requests to resources."""
        return self._enactor.requests - self._before[0]

    @property
    def releases(self) -> int:
        """Return the number of grants that were released unused."""
        return self._enactor.releases - self._before[1]

    @property
    def refusals(self) -> dict[str, Code]:
        """Resource -> its refusal, once each, over all alternatives; a refusal of a class counts as one of its host."""
        failed = [one for answers in self._answers for one in answers if one.code not in (Code.GRANTED, Code.NOT_ASKED)]
        return {one.refused_by or one.placement.host: one.code for one in failed}

    def reserve(self, now: float, *, more_to_come: bool = False) -> bool:
        """Reserve the first alternative that is granted as a whole; return False if there is none.

        In that case grants are released, unless another list follows that may need them.
        """
        self.position = None
        while self._next < len(self._schedules):
            at = self._next
            self._next += 1
            if self._try(at, now):
                self.position = at
                self._let_go([])
                return True
            self._let_go(self._schedules[self._next :], all_kept=more_to_come)
        if not more_to_come:
            self._let_go([])
        return False

    def continue_with(self, schedules: Sequence[Schedule]) -> None:
        """Add alternatives, which may use the grants held."""
        self._schedules += schedules
        self._answers += [
            [PlacementAnswer(placement, Code.NOT_ASKED) for placement in schedule] for schedule in schedules
        ]
        self._refused.clear()

    def approve(self, now: float, creates: Callable[[ObjectPlacement], bool] = lambda _: True) -> bool:
        """Check that the granted alternative is still valid; else try the next ones. Return False if none is left.

        Args:
            now: seconds.
            creates: returns whether the class of an object creates it at a placement.
        """
        while self.position is not None:
            if all(self._stands(self.position, number, now, creates) for number in range(len(self.granted))):
                return True
            self._give_up(now)
        return False

    def start(self, now: float) -> bool:
        """Present all tokens; return True if all resources accept, else try and approve the next alternatives."""
        while self.position is not None:
            started: list[Token] = []
            failed = False
            for number, answer in enumerate(self.granted):
                code, refused_by = self._present(answer, now, started)
                if code is not Code.GRANTED:
                    self._note(self.position, number, code, refused_by)
                    failed = True
                    break
            if not failed:
                return True
            for token in started:
                self._resource(token).finish(token, now)
            self._give_up(now, used={token.resource for token in started})
            if not self.approve(now):
                return False
        return False

    @property
    def tokens(self) -> list[Token]:
        """The tokens of the granted alternative."""
        return [token for answer in self.granted for token in _tokens(answer)]

    def end(self, now: float) -> list[str]:
        """Record that the started objects have ended; return the resources on which they ran."""
        tokens = self.tokens
        for token in tokens:
            self._resource(token).finish(token, now)
        return [token.resource for token in tokens]

    def lose(self, names: Collection[str]) -> list[PlacementAnswer]:
        """Record that resources of started objects have failed; return the lost placements (L41).

        Their reservations stay in force until `end` is called.
        """
        lost = []
        for number, answer in enumerate(self.granted):
            gone = [token.resource for token in _tokens(answer) if token.resource in names]
            if gone and answer.code is Code.GRANTED:
                self._note(self.position or 0, number, Code.CANCELLED, gone[0])
                lost.append(self.granted[number])
        return lost

    def decline(self) -> None:
        """Release all grants: the requester declines them."""
        if self.position is not None:
            for number, answer in enumerate(self.granted):
                self._note(self.position, number, Code.DECLINED)
                self._hold(answer)
        self.position, self._next = None, len(self._schedules)
        self._let_go([])

    def answer(self) -> dict[str, Any]:
        """Return the outcome of the negotiation as JSON values (L39)."""
        return {
            "success": self.position,
            "schedules": [self._described(at) for at in range(len(self._schedules))],
            "requests": self.requests,
            "releases": self.releases,
        }

    def _try(self, at: int, now: float) -> bool:
        """Request one alternative: objects in order, host before vault; the first refusal ends it."""
        schedule = self._schedules[at]
        known = next((one for one in schedule if any(name in self._refused for name in _names(one))), None)
        if known is not None:  # it cannot succeed: no resource is asked
            name = next(name for name in _names(known) if name in self._refused)
            self._note(at, schedule.index(known), self._refused[name], name)
            return False
        for number, placement in enumerate(schedule):
            tokens = list[Token]()
            for name in _names(placement):
                token = self._obtain(name, self._request if name == placement.host else self._vault_request, now)
                if isinstance(token, Code):
                    self._refused[name] = token
                    self._note(at, number, token, name)
                    for each in tokens:
                        self._held.setdefault(each.resource, []).append(each)
                    for answer in self._answers[at]:
                        self._hold(answer)
                    return False
                tokens.append(token)
            self._answers[at][number] = PlacementAnswer(
                placement, Code.GRANTED, tokens[0], tokens[1] if len(tokens) > 1 else None
            )
        return True

    def _obtain(self, name: str, request: Request, now: float) -> Token | Code:
        """Return a grant that is held already, or ask for one."""
        held = self._held.get(name, [])
        while held:
            token = held.pop()
            if self._resource(token).check(token, self._request.holder, now) is Code.GRANTED:
                return token
        return self._enactor.ask(name, request, now)

    def _hold(self, answer: PlacementAnswer) -> None:
        for token in _tokens(answer):
            self._held.setdefault(token.resource, []).append(token)

    def _let_go(self, later: Sequence[Schedule], *, all_kept: bool = False) -> None:
        """Release the grants held that are not kept for the remaining alternatives."""
        for name, tokens in self._held.items():
            if tokens and not all_kept and not self._enactor.keeps(name, later):
                for token in tokens:
                    self._enactor.release(token)
                tokens.clear()

    def _stands(self, at: int, number: int, now: float, creates: Callable[[ObjectPlacement], bool]) -> bool:
        answer = self._answers[at][number]
        for token in _tokens(answer):
            code = self._resource(token).check(token, self._request.holder, now)
            if code is not Code.GRANTED:
                self._note(at, number, code, token.resource)
                return False
        if not creates(answer.placement):
            self._note(at, number, Code.REFUSED_BY_CLASS)
            return False
        return True

    def _present(self, answer: PlacementAnswer, now: float, started: list[Token]) -> tuple[Code, str | None]:
        """Use the tokens of a placement; return the code and the resource that refuses."""
        for token in _tokens(answer):
            code = self._resource(token).start(token, self._request.holder, now)
            if code is not Code.GRANTED:
                return code, token.resource
            started.append(token)
        return Code.GRANTED, None

    def _give_up(self, now: float, used: Collection[str] = ()) -> None:
        """Abandon the granted alternative and try the next ones; failures count as refusals."""
        assert self.position is not None  # noqa: S101  # one is granted
        for answer in self.granted:
            if answer.code is Code.GRANTED:
                self._hold(answer)
            else:
                for token in _tokens(answer):
                    to_blame = token.resource == (answer.refused_by or answer.placement.host)
                    self._drop(answer.code if to_blame else Code.GRANTED, token, now)
        for name in used:
            self._held.pop(name, None)
        self._let_go(self._schedules[self._next :])
        self.reserve(now)

    def _drop(self, code: Code, token: Token, now: float) -> None:
        """Drop a grant of a failed placement: hold it if it is still valid, release it if its start was refused."""
        state = self._resource(token).check(token, self._request.holder, now)
        if state is not Code.GRANTED:
            if state is not Code.EXPIRED:  # else the resource may grant another one
                self._refused[token.resource] = state
        elif code in _AT_THE_START:
            self._enactor.release(token)
            self._refused[token.resource] = code
        else:
            self._held.setdefault(token.resource, []).append(token)

    def _resource(self, token: Token) -> CollectionResource:
        return self._enactor.find(token.resource) or CollectionResource(token.resource)

    def _note(self, at: int, number: int, code: Code, refused_by: str | None = None) -> None:
        self._answers[at][number] = self._answers[at][number]._replace(code=code, refused_by=refused_by)

    def _described(self, at: int) -> dict[str, Any]:
        answers = self._answers[at]
        failed = next((answer.code for answer in answers if answer.code not in (Code.GRANTED, Code.NOT_ASKED)), None)
        granted = bool(answers) and all(answer.code is Code.GRANTED for answer in answers)
        return {
            "code": str(failed or (Code.GRANTED if granted else Code.NOT_ASKED)),
            "placements": [
                {
                    "object": answer.placement.object,
                    "host": answer.placement.host,
                    "vault": answer.placement.vault,
                    "code": str(answer.code),
                    "token": None if answer.token is None else f"{answer.token.resource}/{answer.token.id}",
                }
                for answer in answers
            ],
        }


def resources_of(schedule: Schedule) -> set[str]:
    """Return the names of all hosts and vaults of a schedule."""
    return {name for placement in schedule for name in _names(placement)}


def _names(placement: ObjectPlacement) -> Iterator[str]:
    yield placement.host
    if placement.vault is not None:
        yield placement.vault


def _tokens(answer: PlacementAnswer) -> Iterator[Token]:
    return (token for token in (answer.token, answer.vault_token) if token is not None)
