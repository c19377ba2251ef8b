"""Activities: parallel tasks and messages on their way, what they use, and which of them advance together."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec import Struct, field

from batsched_py.simulator.contention.demand import Demand
from batsched_py.simulator.time.event_queue import PRECISION, Ticket


class SharedResource:
    """A processor or a link that is used now."""

    __slots__ = ("capacity", "key", "shared", "uses")

    def __init__(self, key: int | str, capacity: float, *, shared: bool = True) -> None:
        """`key` is the number of a host or the name of a link; `capacity` in flop/s or bytes per second."""
        self.key, self.capacity, self.shared = key, capacity, shared
        #: Those of active activities, in the order in which these became active.
        self.uses: dict[Use, None] = {}


class Use:
    """The amount of flops or bytes that one activity needs of one resource."""

    __slots__ = ("activity", "amount", "resource")

    def __init__(self, activity: Activity, resource: SharedResource, amount: float) -> None:
        self.activity, self.resource, self.amount = activity, resource, amount


class Group:
    """Active activities that affect each other, each by a resource that it shares with the next; or a single one."""

    __slots__ = ("due", "members", "ticket")

    def __init__(self, members: list[Activity]) -> None:
        #: In the order in which they began; those that are over stay until the group is made anew.
        self.members = members
        #: The first of their ends: its entry in the queue, 0 if it has none, and its time.
        self.ticket: Ticket = 0
        self.due = math.inf


class Activity(Struct, eq=False):
    """A parallel task or a message, from its begin to its end. Times in seconds of the simulation.

    It waits while its latency passes; then it is active, and member of a group.

    Attributes:
        number: in the order of their begins.
        rank: of its end among what happens at one instant.
        finish: called at its end.
        on_pace: called with the seconds that the whole would take at the present rate, when that or the speed of its
            hosts has changed.
        deadline: a time; within SimGrid's precision of it the end is then.
        ticket: the end of the latency; 0 if that has passed.
        group: None until it is active, and when it is over.
        crowded: those of its uses whose resources have others; None if that has changed since it was asked for.
        ceiling: rate at which the first of its other resources is exhausted, in 1/s; of the same time as `crowded`.
        ceiling_amount: what the activity needs of that resource, in flops or bytes.
        seconds: what it takes alone after its latency.
        bound: largest rate, in 1/s.
        left: share of the work that was left at `since`; from then on it advances at `rate`, in 1/s.
        lost: seconds by which others have delayed it until `since`.
        end: the time at which nothing is left.
    """

    number: int
    demand: Demand
    start: float
    rank: int
    finish: Callable[[], None]
    on_pace: Callable[[float], None] | None = None
    deadline: float = math.inf
    ticket: Ticket = 0
    group: Group | None = None
    uses: list[Use] = field(default_factory=list)
    crowded: list[Use] | None = None
    ceiling: float = math.inf
    ceiling_amount: float = 1.0
    seconds: float = 0.0
    bound: float = math.inf
    left: float = 1.0
    lost: float = 0.0
    since: float = 0.0
    rate: float = 0.0
    end: float = math.inf

    def crowded_uses(self) -> list[Use]:
        """Return its uses of resources that have others, in the order of all; find its ceiling anew if these changed.

        Nearly all resources of a large task are its own. They are looked at only when one of them becomes common to two
        activities, or to one again.
        """
        if self.crowded is None:
            self.crowded = [use for use in self.uses if len(use.resource.uses) > 1]
            self.ceiling, self.ceiling_amount = math.inf, 1.0
            for use in self.uses:
                resource = use.resource
                if len(resource.uses) == 1 and resource.capacity < self.ceiling * use.amount:
                    self.ceiling, self.ceiling_amount = resource.capacity / use.amount, use.amount
        return self.crowded

    def left_at(self, now: float) -> float:
        """Return the share of the work that is left."""
        return max(0.0, self.left - self.rate * (now - self.since)) if self.rate else self.left

    def advance(self, now: float) -> None:
        """Bring what is left, and what was lost, up to now."""
        self.left = self.left_at(now)
        if self.rate and self.rate != 1.0 / self.seconds:
            self.lost += (now - self.since) * (1.0 - self.rate * self.seconds)
        self.since = now

    def aim(self, end: float) -> None:
        """Set the time of the end."""
        self.end = self.deadline if abs(end - self.deadline) < PRECISION else end

    def mute(self) -> None:
        """Tell nobody any more how it goes on."""
        self.finish, self.on_pace = _do_nothing, None


def _do_nothing() -> None:
    """Leave the end of an activity without consequences."""
