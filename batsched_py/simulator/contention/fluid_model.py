"""The fluid model: rates of concurrent activities, which change when one begins, ends or its host changes speed.

Source: SimGrid 3.32, model ptask_L07. An activity first waits for its latency, in which it uses nothing. Then it is
active: all its computations and transfers advance together, at one rate. Rates are recomputed for the activities
connected with a change through shared resources, once for each instant, before time advances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from operator import attrgetter, itemgetter
from typing import Final

from msgspec.structs import replace

from batsched_py.model.zone import LOOPBACK
from batsched_py.simulator.contention.activities import Activity, Group, SharedResource
from batsched_py.simulator.contention.demand import ActivityDemand, Processors
from batsched_py.simulator.contention.fair_bottleneck import Load, Rates, Resource, fair_rates
from batsched_py.simulator.contention.resource_table import ResourceTable
from batsched_py.simulator.time.event_queue import RANK_RATES, RANK_TASK_END, EventQueue

# Between two events each active activity belongs to one group, all members of which affect each other directly or
# through others; each group has one entry in the queue, for the first of its ends, unless its rates are to be computed
# at this instant. More entries would be useless, since an end changes the rates of all others. `_changed` is empty
# unless a call of `_settle` is due at this instant.
#
# SimGrid recomputes all rates at each of its events. Here only the group of a change is solved, once for each
# instant, after everything else of that instant has happened (`RANK_RATES`): when 50 jobs start together their rates
# are computed once. An activity stores the remaining work at one time and its rate since then, and is not updated while
# its rate is constant.
#
# Ends must be exact to the last bit if nothing is shared, because a job that starts alone is planned with the same
# formula elsewhere, and logs without contention must give the same schedules as without this model. Therefore a rate
# within SAME_RATE of the rate alone is set to it, and an end that was computed at the start is kept. Small time steps
# would be simpler but give other ends (ADR 36); a test compares with them within a tolerance.
#
# Cost of a change: O(uses of limits in the group, see `ResourceTable`) for each round of the solver, independent of the
# number of hosts; 0.11 ms for each job with 8 jobs on a common backbone, 0.87 ms with 128 (docs/performance.md).

#: Rates with a smaller relative difference are equal: the order of additions may cause it.
SAME_RATE: Final = 1e-12
#: Remaining shares of work below this count as 0 (SimGrid's `maxmin/precision` times `surf/precision`).
NOTHING: Final = 1e-14

UNSETTLED: Final = "contention: a FATPIPE link is not exceeded here; SimGrid's solver practically does not terminate"

ON_ONE_LOOPBACK: Final = (
    "contention: tasks communicate on one loopback at once, where SimGrid 3.32, 3.34 and 4.0 may never end"
)
#: Suffix of the names of links from hosts to themselves.
_LOOPBACKS: Final = ("_loopback", LOOPBACK.name)


class FluidModel:
    """All activities of a simulation."""

    def __init__(self, queue: EventQueue, processors: Processors, approximations: set[str]) -> None:
        """Take the queue, and `approximations`, which receives a line when rates are not settled."""
        self._queue, self._processors, self._approximations = queue, processors, approximations
        self._begun = 0
        self._resources = ResourceTable(processors)
        #: Active activities whose rates may have changed at this instant; empty unless `_settle` is due.
        self._changed: dict[Activity, None] = {}
        self._due_to_settle = False
        #: Name of a link -> its bandwidth, for those that have changed; names of links that are off.
        self._bandwidths: dict[str, float] = {}
        self.off: set[str] = set()
        self._switched = False

    def begin(
        self,
        demand: ActivityDemand,
        finish: Callable[[], None],
        *,
        rank: int = RANK_TASK_END,
        deadline: float = math.inf,
        on_pace: Callable[[float], None] | None = None,
    ) -> Activity:
        """Begin an activity at the current instant; the arguments are as in `Activity`."""
        now = self._queue.now
        self._begun += 1
        activity = Activity(self._begun, demand, demand, now, rank, finish, on_pace, deadline)
        if demand.latency:
            activity.ticket = self._queue.at(now + demand.latency, RANK_RATES, self._activate, activity)
        else:
            self._activate(activity)
        return activity

    def stop(self, activity: Activity) -> None:
        """Stop an activity without a call of `finish`; do nothing if it has already ended."""
        if activity.ticket:
            self._queue.cancel(activity.ticket)
            activity.ticket = 0
        if activity.group is not None:
            self._leave(activity)

    def progress(self, activity: Activity) -> float:
        """Return the completed share of an activity's work."""
        return 1.0 - activity.left_at(self._queue.now)

    def lost(self, activity: Activity) -> float:
        """Return the delay of an activity caused by others so far, in seconds."""
        if activity.group is not None:
            activity.advance(self._queue.now)
        return activity.lost

    def follow_speeds(self, activity: Activity) -> None:
        """Recompute the rates after a change of speed of hosts on which the activity computes.

        `on_pace` is called even if the rate is unchanged.
        """
        if activity.group is None:
            return
        activity.advance(self._queue.now)
        for host, _ in activity.demand.flops:
            self._resources.follow_speed(host)
        self._measure_again(activity)
        if activity.on_pace is not None and activity.rate:  # the same rate is a different share of the new speed
            activity.on_pace(1.0 / activity.rate)
        self._change([activity])

    def change_speed(self, host: int) -> None:
        """Recompute rates after a change of the speed of a host."""
        self._resources.follow_speed(host)
        self._remeasure(self._resources.users(host))

    def change_bandwidth(self, link: str, bandwidth: float) -> None:
        """Change the bandwidth of a link, in bytes per second."""
        self._bandwidths[link] = bandwidth
        self.change_link(link)

    def switch_link(self, link: str, *, on: bool) -> None:
        """Switch a link on or off; what crosses it stands still meanwhile."""
        (self.off.discard if on else self.off.add)(link)
        self._switched = True
        self.change_link(link)

    def change_link(self, link: str) -> None:
        """Recompute rates after a change of a link, also of its latency; no activity waits longer or shorter."""
        users = self._resources.users(link)
        if users:
            self._remeasure(users)
            bandwidth = next(one.bandwidth for one, _ in users[0].demand.links if one.name == link)
            self._resources.change_capacity(link, bandwidth)

    def crosses(self, demand: ActivityDemand) -> bool:
        """Return whether a demand needs a link that is off."""
        return bool(self.off) and any(link.name in self.off for link, _ in demand.links)

    def _remeasure(self, users: Iterable[Activity]) -> None:
        """Measure the users of a resource again, and recompute their rates."""
        for activity in users:
            activity.advance(self._queue.now)
            self._measure_again(activity)
            self._change([activity])

    def _measure_again(self, activity: Activity) -> None:
        """Measure an active activity; recompute the rates of those that it does not limit any more."""
        self._measure(activity)
        activity.forget_ceiling()
        released = self._resources.follow_rate(activity)
        if released:
            self._change(released)

    def _update(self, activity: Activity) -> ActivityDemand:
        """Return the demand with the current bandwidths of its links, and its bound at their current latencies.

        As in SimGrid, a task without computations keeps its bound when its latency becomes 0.
        """
        asked, window, current = activity.asked, activity.demand.window, self._bandwidths
        links = tuple(
            (replace(link, bandwidth=0.0 if link.name in self.off else current.get(link.name, link.bandwidth)), amount)
            for link, amount in asked.links
        )
        if asked.measure is not None:
            latency, anew = asked.measure()
            window = anew if latency or asked.flops else window
        return replace(asked, links=links, window=window)

    def _activate(self, activity: Activity) -> None:
        """Activate the activity after its latency."""
        activity.ticket = 0
        self._measure(activity)
        activity.since = self._queue.now
        activity.aim(activity.start + (activity.seconds + activity.demand.latency))
        if not activity.seconds:
            activity.left = 0.0
            self._schedule([activity])
            return
        activity.rate = 1.0 / activity.seconds
        crowded = self._resources.enter(activity)
        self._note_loopbacks(activity, crowded)
        if activity.on_pace is not None:
            activity.on_pace(activity.seconds)
        if crowded:
            activity.group = Group([activity])
            self._change([activity])
        else:
            self._schedule([activity])

    def _measure(self, activity: Activity) -> None:
        if self._bandwidths or self.off or self._switched or activity.asked.measure is not None:
            activity.demand = self._update(activity)
        activity.seconds = activity.demand.seconds_alone(self._processors)
        activity.bound = activity.demand.bound(self._processors)
        activity.fastest = activity.demand.fastest(activity.seconds, activity.bound)

    def _note_loopbacks(self, activity: Activity, crowded: Iterable[SharedResource]) -> None:
        """Note the approximation if tasks share a loopback; Batsim's own messages do not count as tasks."""
        if activity.rank != RANK_TASK_END:
            return
        for resource in crowded:
            if not resource.shared and str(resource.key).endswith(_LOOPBACKS):
                others = [user for user in resource.users if user is not activity and user.rank == RANK_TASK_END]
                if others:
                    self._approximations.add(ON_ONE_LOOPBACK)

    def _leave(self, activity: Activity) -> None:
        """Release its resources."""
        group, activity.group = activity.group, None
        assert group is not None  # noqa: S101  # it is active
        neighbours = self._resources.leave(activity)
        activity.advance(self._queue.now)
        activity.rate = 0.0
        self._changed.pop(activity, None)
        if neighbours:
            self._change(neighbours)
        # The last of its group leaves no end behind, which would move the clock to an instant at which nothing happens.
        elif group.ticket and not any(member.group is group for member in group.members):
            self._queue.cancel(group.ticket)
            group.ticket = 0

    def _change(self, activities: Iterable[Activity]) -> None:
        """Schedule the recomputation of the rates of these activities and connected ones before time advances."""
        self._changed.update(dict.fromkeys(activities))
        if not self._due_to_settle:
            self._due_to_settle = True
            self._queue.at(self._queue.now, RANK_RATES, self._settle, None)

    def _settle(self, _: None) -> None:
        self._due_to_settle = False
        changed, self._changed = self._changed, {}
        while not self._rate_connected(changed):
            pass

    def _rate_connected(self, changed: Iterable[Activity]) -> bool:
        """Compute the rates of activities and connected ones; return False if they must be computed again."""
        seen: set[Activity] = set()
        return all(
            self._rate(*_connected(activity, seen))
            for activity in changed
            if activity not in seen and activity.group is not None
        )

    def _rate(self, activities: list[Activity], limits: Iterable[SharedResource]) -> bool:
        """Compute the rates of activities that are all connected with each other by these limits.

        Return False if other resources may limit them, too.
        """
        if len(activities) == 1:
            alone = activities[0]
            self._set_rate(alone, 1.0 / alone.seconds)
        else:
            rates = self._solve(activities, limits)
            if not self._resources.expect(rates.rounds):
                return False
            if not rates.settled:
                self._approximations.add(UNSETTLED)
            for activity, rate in zip(activities, rates.values, strict=True):
                self._set_rate(activity, rate)
        self._schedule(activities)
        return True

    def _solve(self, activities: list[Activity], limits: Iterable[SharedResource]) -> Rates:
        for position, activity in enumerate(activities):
            activity.position = position
        entered = [activity.entered for activity in activities]
        in_order = entered == sorted(entered)  # the order of begins is that of activations
        resources = []
        for position, limit in enumerate(limits):
            limit.position = position
            uses = limit.uses()
            if not in_order:
                uses.sort(key=_first)
            resources.append(Resource(limit.capacity, uses, limit.shared))
        loads = []
        for activity in activities:
            used, amounts = [limit.position for limit in activity.limits], list(activity.limits.values())
            for limit, further in activity.further.items():
                used += [limit.position] * len(further)
                amounts += further
            loads.append(Load(used, amounts, activity.bound, *self._resources.private_limit(activity)))
        return fair_rates(resources, loads)

    def _set_rate(self, activity: Activity, rate: float) -> None:
        """Continue at this rate; a rate equal to that of the activity alone is rounded to exactly that."""
        now, alone = self._queue.now, 1.0 / activity.seconds
        if abs(rate - alone) <= SAME_RATE * alone:
            rate = alone
        if abs(rate - activity.rate) <= SAME_RATE * rate:
            return
        activity.advance(now)
        activity.rate = rate
        activity.aim(now + activity.left / rate if rate else math.inf)
        if activity.on_pace is not None:
            activity.on_pace(activity.seconds if rate == alone else 1.0 / rate if rate else math.inf)

    def _schedule(self, activities: list[Activity]) -> None:
        """Form a group; schedule only its earliest end, which changes the rates of the others."""
        first = min(activities, key=_end_and_number)
        group = first.group
        if group is not None and group.members == activities and group.due == first.end and group.ticket:
            return
        for activity in activities:
            if activity.group is not None and activity.group.ticket:
                self._queue.cancel(activity.group.ticket)
                activity.group.ticket = 0
        group = Group(activities)
        for activity in activities:
            activity.group = group
        group.due = first.end
        if first.end < math.inf:  # what stands still has no end at which time would go on
            group.ticket = self._queue.at(first.end, first.rank, self._reach_end, group)

    def _reach_end(self, group: Group) -> None:
        """End the first activity of a group, and all that complete at this instant."""
        group.ticket = 0
        now = self._queue.now
        for activity in [
            each for each in group.members if each.group is group and (each.end <= now or each.left_at(now) <= NOTHING)
        ]:
            if activity.group is group:  # the end of one before it may have stopped this one
                self._leave(activity)
                activity.left = 0.0
                activity.finish()


def _connected(activity: Activity, seen: set[Activity]) -> tuple[list[Activity], dict[SharedResource, None]]:
    """Return the activities connected with this one by chains of limits, in order of their begins, and the limits.

    The activities are added to `seen`.
    """
    found, limits = [activity], dict[SharedResource, None]()
    seen.add(activity)
    for each in found:  # which grows
        for limit in each.limits:
            if limit not in limits:
                limits[limit] = None
                if not limit.users.keys() <= seen:
                    found += [other for other in limit.users if other not in seen]
                    seen.update(limit.users)
    found.sort(key=_number)
    return found, limits


_first = itemgetter(0)
_number = attrgetter("number")
_end_and_number = attrgetter("end", "number")
