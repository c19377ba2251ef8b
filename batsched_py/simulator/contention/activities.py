"""Activities: running parallel tasks and messages in transit, their resources, and their groups."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec import Struct, field

from batsched_py.simulator.contention.demand import ActivityDemand
from batsched_py.simulator.time.event_queue import PRECISION, Ticket


class SharedResource:
    """A processor or a link in use."""

    __slots__ = ("capacity", "key", "shared", "uses")

    def __init__(self, key: int | str, capacity: float, *, shared: bool = True) -> None:
        """Take the number of a host or name of a link, and its capacity in flop/s or bytes per second."""
        self.key, self.capacity, self.shared = key, capacity, shared
        #: Uses by active activities, in the order of their activation.
        self.uses: dict[Use, None] = {}


class Use:
    """The amount of flops or bytes that one activity needs of one resource."""

    __slots__ = ("activity", "amount", "resource")

    def __init__(self, activity: Activity, resource: SharedResource, amount: float) -> None:
        self.activity, self.resource, self.amount = activity, resource, amount


class Group:
    """Active activities connected through shared resources; or a single one."""

    __slots__ = ("due", "members", "ticket")

    def __init__(self, members: list[Activity]) -> None:
        #: In the order of their begins; completed activities remain until the group is rebuilt.
        self.members = members
        #: The earliest end of an activity: its ticket in the queue, 0 if there is none, and its time.
        self.ticket: Ticket = 0
        self.due = math.inf


class Activity(Struct, eq=False):
    """A parallel task or a message, from its begin to its end. Times in seconds of the simulation.

    It first waits for its latency; then it is active, and a member of a group.

    Attributes:
        number: sequence number of its begin.
        asked: its demand in the platform as it begins the simulation.
        demand: its demand in the platform as it is.
        rank: rank of its end within an instant.
        finish: called at its end.
        on_pace: called with the total duration in seconds at the current rate, after a change of the rate or of the
            speed of its hosts.
        deadline: a time; an end within SimGrid's precision of it is moved to it.
        ticket: the queue entry for the end of the latency; 0 afterwards.
        group: None before it is active, and after its end.
        crowded: its uses of resources that have other users; None if these may have changed.
        ceiling: rate at which the first of its other resources is exhausted, in 1/s; as old as `crowded`.
        ceiling_amount: its need of that resource, in flops or bytes.
        seconds: duration without other activities, after its latency.
        bound: maximum rate, in 1/s.
        left: remaining share of the work at `since`; from then on it advances at `rate`, in 1/s.
        lost: delay in seconds caused by other activities until `since`.
        end: the time of completion.
    """

    number: int
    asked: ActivityDemand
    demand: ActivityDemand
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
        """Return its uses of resources with other users, in order; recompute its ceiling if these have changed.

        Large tasks use most of their resources exclusively: the uses are checked only after a resource has become
        shared by two activities, or exclusive again.
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
        """Return the remaining share of the work."""
        return max(0.0, self.left - self.rate * (now - self.since)) if self.rate else self.left

    def advance(self, now: float) -> None:
        """Update the remaining work and the delay to the current time."""
        self.left = self.left_at(now)
        if self.rate and self.rate != 1.0 / self.seconds:
            self.lost += (now - self.since) * (1.0 - self.rate * self.seconds)
        self.since = now

    def aim(self, end: float) -> None:
        """Set the time of the end."""
        self.end = self.deadline if abs(end - self.deadline) < PRECISION else end

    def mute(self) -> None:
        """Detach the callbacks."""
        self.finish, self.on_pace = _do_nothing, None


def _do_nothing() -> None:
    """Do nothing at the end of an activity."""
