"""Activities: running parallel tasks and messages in transit, their resources, and their groups."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec import Struct, field

from batsched_py.simulator.contention.demand import ActivityDemand
from batsched_py.simulator.time.event_queue import PRECISION, Ticket


class SharedResource(Struct, eq=False):
    """A processor or a link in use.

    Attributes:
        key: number of a host, or name of a link.
        capacity: flop/s or bytes per second.
        shared: False for a FATPIPE link.
        users: active activity -> flops or bytes that it needs, on a host those of its first executor there; in the
            order of their activation.
        stricter: a resource that limits all users of this one at least as much, if one is known.
    """

    key: int | str
    capacity: float
    shared: bool = True
    users: dict[Activity, float] = field(default_factory=dict)
    stricter: SharedResource | None = None


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
        resources: what it uses: hosts, then links.
        further: host on which it has several executors -> flops of each after the first.
        limits: resources with other users, or with several of its executors, of which none is known to be stricter.
        scarcest: the first to be exhausted of the resources that it uses alone; None if unknown, or if there is none.
        ceiling: rate at which that is exhausted, in 1/s; None if unknown.
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
    resources: list[SharedResource] = field(default_factory=list)
    further: dict[SharedResource, list[float]] = field(default_factory=dict)
    limits: dict[SharedResource, None] = field(default_factory=dict)
    scarcest: SharedResource | None = None
    ceiling: float | None = None
    seconds: float = 0.0
    bound: float = math.inf
    left: float = 1.0
    lost: float = 0.0
    since: float = 0.0
    rate: float = 0.0
    end: float = math.inf

    def private_limit(self) -> tuple[float, float]:
        """Return its rate in 1/s at which the first resource that it uses alone is exhausted, and its need of that."""
        if self.ceiling is None:
            ceiling = math.inf
            for resource in self.resources:
                if len(resource.users) == 1 and resource not in self.further:
                    amount = resource.users[self]
                    if resource.capacity < ceiling * amount:
                        ceiling, self.scarcest = resource.capacity / amount, resource
            self.ceiling = ceiling
        return self.ceiling, self.scarcest.users[self] if self.scarcest else 1.0

    def add_private(self, resource: SharedResource) -> None:
        """Take account of a resource without other users."""
        amount = resource.users[self]
        if self.ceiling is not None and resource.capacity < self.ceiling * amount:
            self.ceiling, self.scarcest = resource.capacity / amount, resource

    def forget_ceiling(self) -> None:
        """Let the ceiling be computed anew."""
        self.ceiling = self.scarcest = None

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
