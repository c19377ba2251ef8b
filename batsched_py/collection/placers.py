"""Placers: propose schedules for jobs, and list the candidates for a class (L1, L22, L38)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple

from batsched_py.collection.alternatives import ObjectPlacement, Schedule, read_alternatives
from batsched_py.collection.arrangements import ARRANGEMENTS, Arrange, best, first_names
from batsched_py.collection.classes import JobClass
from batsched_py.collection.collection import EVERY
from batsched_py.collection.collection import Collection as Records
from batsched_py.collection.demands import FREE_HOST, IS_VAULT
from batsched_py.collection.enactor import Enactor, PlacementAnswer
from batsched_py.collection.proposals import propose, propose_tasks, with_vaults
from batsched_py.errors import PlanError
from batsched_py.named import Named, failed
from batsched_py.queries.expression import Expression, both
from batsched_py.queries.records import Requester
from batsched_py.reading.faults import FieldError

#: Outcomes of a lost object: the placer places it again, or it has failed.
Fate = Literal["replace", "fail"]


class PlacementRequest(NamedTuple):
    """A job to place.

    Attributes:
        objects: their names.
        query: the query that each of the hosts must satisfy.
        now: seconds.
        requester: the requester; hosts that are certain to refuse it are left out. None to ask these, too.
        vault: the query for the vault of the first object; None for no vault.
        space: amount of the vault that is needed.
        without: names of hosts and vaults to exclude.
        arrange: the order in which hosts are proposed; None for that of the placer.
        turn: number of previous requests.
        alternatives: schedules to choose from, in order of preference; empty for any.
        fits: returns how many of the objects fit on a host; None if each has a host of its own.
    """

    objects: Sequence[str]
    query: Expression
    now: float = 0.0
    requester: Requester | None = None
    vault: Expression | None = None
    space: float = 0.0
    without: Collection[str] = ()
    arrange: Arrange | None = None
    turn: int = 0
    alternatives: Sequence[Schedule] = ()
    fits: Callable[[str], int] | None = None


class PlacementCandidates(NamedTuple):
    """Hosts and vaults on which objects of a class may be placed, in the order in which they would be proposed."""

    hosts: Sequence[str]
    vaults: Sequence[str]


class PlacerSettings(NamedTuple):
    """The options of a placer.

    Attributes:
        arrange: the order of hosts.
        alternatives: maximum number of schedules in a proposal.
        draw: returns random numbers from 0 to 1.
        fate: the outcome of objects whose placement was lost.
    """

    arrange: Arrange = best
    alternatives: int = 4
    draw: Callable[[], float] = lambda: 0.0
    fate: Fate = "fail"


class Placer:
    """Proposer of schedules, from the records of a collection, for an enactor to try.

    Subclass it, and override the methods to change: `-o place=file.py:Class`.

    Attributes:
        collection: the source of hosts; it may be replaced between requests.
        enactor: makes reservations for schedules; it may be replaced, too.
        settings: how schedules are proposed.
    """

    def __init__(self, collection: Records, enactor: Enactor, settings: PlacerSettings) -> None:
        self.collection, self.enactor, self.settings = collection, enactor, settings

    def schedule(self, request: PlacementRequest) -> Sequence[Schedule]:
        """Return schedules in order of preference, each with a placement of every object; none if hosts are missing."""
        most = self.settings.alternatives
        found = self.collection.search(request.query, request.now, request.requester).without(request.without)
        if request.alternatives:
            return self._suitable(request, frozenset(found.names))
        arrange = request.arrange or self.settings.arrange
        count = len(request.objects) + most - 1 if request.fits is None else len(found)
        hosts = first_names(arrange(found, self.settings.draw, request.turn), count)
        if request.fits is None:
            schedules = propose(request.objects, hosts, most)
        else:
            schedules = propose_tasks(request.objects, hosts, request.fits, most)
        return schedules if request.vault is None else with_vaults(schedules, self.vaults(request), most)

    def _suitable(self, request: PlacementRequest, hosts: Collection[str]) -> list[Schedule]:
        """Return the given schedules whose hosts are all suitable; add a vault if they name none and need one."""
        without = set(request.without)
        suitable = [
            schedule
            for schedule in request.alternatives
            if all(one.host in hosts and one.vault not in without for one in schedule)
        ]
        if request.vault is None or any(one.vault is not None for one in request.alternatives[0]):
            return suitable
        return with_vaults(suitable, self.vaults(request), 2 * len(suitable))

    def vaults(self, request: PlacementRequest) -> list[str]:
        """Return the suitable vaults that are known to have the space, the emptiest first."""
        found = self.collection.search(request.vault or IS_VAULT, request.now, request.requester)
        space = dict(zip(found.names, found.numbers("free_space"), strict=True))
        names = [name for name in found.names if space[name] >= request.space and name not in request.without]
        return sorted(names, key=lambda name: -space[name])

    def candidate_placements(
        self, kind: JobClass, query: Expression = EVERY, now: float = 0.0, requester: Requester | None = None
    ) -> PlacementCandidates:
        """Return the hosts and vaults for objects of a class with this query now, without reserving them."""
        found = self.collection.search(both(FREE_HOST, kind.restrict(query)), now, requester)
        arranged = (kind.placer or self.settings.arrange)(found, self.settings.draw, 0)
        vault = kind.restrict_vault(IS_VAULT)
        return PlacementCandidates(
            first_names(arranged, len(arranged)), self.vaults(PlacementRequest((), query, now, requester, vault))
        )

    def replaces(self, lost: Sequence[PlacementAnswer]) -> bool:  # noqa: ARG002  # others may heed it
        """Return whether to place an object again after some of its placements were lost before its end (L41)."""
        return self.settings.fate == "replace"


#: Creates a placer from a collection, an enactor and settings.
MakePlacer = Callable[[Records, Enactor, PlacerSettings], Placer]


class PlacerKind(NamedTuple):
    """A kind of placer, which users choose by name."""

    name: str
    make: MakePlacer


class UserPlacer(Placer):
    """A user's placer, whose errors are reported with its name; it may also return schedules as JSON objects."""

    def __init__(self, name: str, placer: Placer) -> None:
        super().__init__(placer.collection, placer.enactor, placer.settings)
        self._name, self._placer = f"placer {name}", placer

    def schedule(self, request: PlacementRequest) -> Sequence[Schedule]:
        """Return its proposals; PlanError if they are not schedules."""
        proposed: list[Any] = self._asked(lambda: list(self._placer.schedule(request)))
        if any(isinstance(schedule, dict) for schedule in proposed):
            try:
                proposed = read_alternatives(proposed)
            except FieldError as error:
                raise PlanError(f"{self._name}: its schedules{error}") from None
        for number, schedule in enumerate(proposed, 1):
            self._check(schedule, number, request.objects)
        return proposed

    def replaces(self, lost: Sequence[PlacementAnswer]) -> bool:
        """Return its answer."""
        return bool(self._asked(lambda: self._placer.replaces(lost)))

    def _asked(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except Exception as error:
            raise failed(self._name, error) from error

    def _check(self, schedule: Any, number: int, objects: Iterable[str]) -> None:
        placed = [one.object if isinstance(one, ObjectPlacement) else "" for one in schedule]
        if sorted(placed) != sorted(objects):
            raise PlanError(f"{self._name}: schedule {number} must have one placement of each object that is asked for")


def _arranging(name: str, arrange: Arrange) -> PlacerKind:
    return PlacerKind(
        name, lambda records, enactor, settings: Placer(records, enactor, settings._replace(arrange=arrange))
    )


def _adopted(name: str, placer: Callable[..., Any]) -> PlacerKind:
    """Return the kind of placer for a user's function or class."""
    if not isinstance(placer, type):
        return _arranging(name, lambda records, draw, turn: placer(list(records), draw, turn))
    if not issubclass(placer, Placer):
        raise ValueError(f"{name} must be a function of (records, draw, turn), or extend Placer")  # caller names it
    return PlacerKind(name, lambda records, enactor, settings: UserPlacer(name, placer(records, enactor, settings)))


#: Kinds of placers; a user's own is a function that orders records, or a subclass of Placer.
PLACERS: Final[Named[PlacerKind]] = Named(
    "placer",
    {name: _arranging(name, ARRANGEMENTS[name]) for name in ARRANGEMENTS},
    ("records", "draw", "turn"),
    _adopted,
    "file.py:Class",
)
