"""Activities: running parallel tasks and messages in transit, their resources, and their groups."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec import Struct, field

from batsched_py.simulator.contention.demand import ActivityDemand
from batsched_py.simulator.time.event_queue import PRECISION, Ticket


class SharedResource(Struct, eq=False):
    """A processor or a link that several activities use, or several executors of one.

    Attributes:
        key: number of a host, or name of a link.
        capacity: flop/s or bytes per second.
        shared: False for a FATPIPE link.
        users: active activity -> flops or bytes that it needs, on a host those of its first executor there; in the
            order of their activation.
        peak: no user needs more of it in a second, at its `fastest`; infinite for a processor.
        limiting: True if it may limit its users, and no stricter resource is known.
        stricter: a resource that limits all users of this one at least as much, if one is known.
        position: where the solver has it, while it does.
    """

    key: int | str
    capacity: float
    shared: bool
    users: dict[Activity, float]
    peak: float
    limiting: bool = False
    stricter: SharedResource | None = None
    position: int = 0

    def uses(self) -> list[tuple[int, float]]:
        """Return (position of a user, amount that an executor of it needs), in the order of activation."""
        if isinstance(self.key, str):
            return [(user.position, amount) for user, amount in self.users.items()]
        return [
            (user.position, amount)
            for user, first in self.users.items()
            for amount in (first, *user.further.get(self, ()))
        ]


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
        needs: host number or name of a link that it uses -> flops, those of its first executor there, or bytes; hosts
            first. Empty unless it is active.
        shared: those that others use as well, or that several of its executors use.
        further: host on which it has several executors -> flops of each after the first.
        limits: shared resource that may limit it, and of which no stricter one is known -> what it needs of that.
        scarcest: the first to be exhausted of what it uses alone; None if unknown, or if there is none.
        ceiling: rate at which that is exhausted, in 1/s; None if unknown.
        entered: sequence number of its activation.
        position: where the solver has it, while it does.
        seconds: duration without other activities, after its latency.
        bound: maximum rate, in 1/s.
        fastest: a rate that it never exceeds, in 1/s; not larger than `bound`.
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
    needs: dict[int | str, float] = field(default_factory=dict)
    shared: dict[int | str, SharedResource] = field(default_factory=dict)
    further: dict[SharedResource, list[float]] = field(default_factory=dict)
    limits: dict[SharedResource, float] = field(default_factory=dict)
    scarcest: int | str | None = None
    ceiling: float | None = None
    entered: int = 0
    position: int = 0
    seconds: float = 0.0
    bound: float = math.inf
    fastest: float = math.inf
    left: float = 1.0
    lost: float = 0.0
    since: float = 0.0
    rate: float = 0.0
    end: float = math.inf

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
