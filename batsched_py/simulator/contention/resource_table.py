"""Resources in use: who uses which processors and links, and which of these can limit them."""

from __future__ import annotations

import math
from itertools import islice
from operator import attrgetter
from typing import Final

from batsched_py.addition import add_up
from batsched_py.simulator.contention.activities import Activity, SharedResource
from batsched_py.simulator.contention.demand import LONGEST_TASK, Processors, bounded
from batsched_py.simulator.contention.fair_bottleneck import PRECISION

# Jobs in a dragonfly or torus share hundreds of links, of which few can limit a rate. The solver sees only those that
# can (`limits`), in a dragonfly of 1 008 hosts one in a hundred; its rates are the same to the last bit. Two kinds of
# resources cannot:
#
# * One is slack if it has enough for all of its users at the rates that they never exceed (`Activity.fastest`). In a
#   round of `fair_rates` each user is charged at most its need at that rate, whether it rises or was fixed before. Let
#   these needs have a sum and a maximum. If the capacity is more than `rounds - 1` times the sum, plus the number of
#   users times the maximum, then even the last round offers each user more than it can take, and nothing is exhausted.
#   `rounds` is the most that any solution has taken, nearly always 2 or 3; when one takes more, all slack resources
#   are judged anew, and the rates are computed again. Hosts are not judged; each shared one is a limit.
# * Another one is stricter if it has at least its users, each of them needs at least as much of that one, and the
#   capacity of that one is not larger: in each round that one then offers at most as much to each user, and is
#   exhausted at the latest together with this one, since additions and divisions are rounded monotonically. If the
#   stricter one is slack, both are.
#
# What is stricter stays so when an activity ends, because both lose it. Thus only a new activity makes a resource a
# limit, and only an end makes it stop being one; changes of speeds and bandwidths may do both. A stricter resource is
# sought among limits only, so that chains of stricter resources end at a limit with all the users, or at a slack one:
# limits connect all activities that affect each other. Not every stricter resource is found: the search ends after
# MOST_TRIES, because it fails most often. FATPIPE links and processors are not compared.
#
# What one activity uses alone, most of hundreds of links, has no `SharedResource`, only a ceiling that is computed from
# its demand when it is asked for.
#
# An activity and its resources reference each other, and therefore `leave` clears its own: otherwise ended activities
# would wait for the garbage collector.

#: Resources that are compared in search of a stricter one.
MOST_TRIES: Final = 64
#: Rounds of the solver that are expected before one has taken more.
EXPECTED_ROUNDS: Final = 3
#: Share of a capacity that slack resources may need, and what is left of it at least, against rounding.
_NEARLY_ALL: Final = 1 - 1e-6
_REST: Final = 10 * PRECISION


class ResourceTable:
    """The processors and links that active activities use."""

    def __init__(self, processors: Processors) -> None:
        self._processors = processors
        #: Host number or name of a link -> the activity that alone uses it, or the shared resource; only what is used.
        self._holders: dict[int | str, Activity | SharedResource] = {}
        self._entered = 0
        #: The most rounds that a solution has taken so far.
        self._rounds = EXPECTED_ROUNDS

    def users(self, key: int | str) -> list[Activity]:
        """Return the active activities that use a host number or the name of a link, in order of activation."""
        holder = self._holders.get(key)
        if isinstance(holder, SharedResource):
            return list(holder.users)
        return [] if holder is None else [holder]

    def enter(self, activity: Activity) -> list[SharedResource]:
        """Register the uses of an activity; return those of its resources that others use."""
        self._entered += 1
        activity.entered = self._entered
        holders, needs, shared = self._holders, activity.needs, activity.shared
        crowded = self._enter_hosts(activity)
        for link, amount in activity.demand.links:
            name, capacity = link.name, link.bandwidth
            needs[name] = need = amount if amount < capacity * LONGEST_TASK else bounded(amount, capacity)
            resource = holders.get(name)
            if resource is None:
                holders[name] = activity
                continue
            if isinstance(resource, Activity):
                resource = holders[name] = _share(resource, name, capacity, shared=link.shared)
            resource.users[activity] = need
            shared[name] = resource
            crowded.append(resource)
        self._compare(activity, crowded)
        return crowded

    def leave(self, activity: Activity) -> list[Activity]:
        """Release the resources of an activity; return the others that it may have limited, in order of begins."""
        holders = self._holders
        for key in activity.needs:
            resource = holders[key]
            if resource is activity or isinstance(resource, Activity):  # it is the only one
                del holders[key]
                continue
            users = resource.users
            del users[activity]
            if not users:
                del holders[key]
                continue
            if len(users) == 1:
                other = next(iter(users))
                if resource not in other.further:
                    holders[key] = other
                    _leave_alone(other, resource)
        neighbours = dict[Activity, None]()
        for resource in activity.limits:
            neighbours.update(dict.fromkeys(resource.users))
            if len(resource.users) > 1:
                self._judge(resource)
        for kept in (activity.needs, activity.shared, activity.further, activity.limits):
            kept.clear()
        activity.forget_ceiling()
        return sorted(neighbours, key=_number)

    def private_limit(self, activity: Activity) -> tuple[float, float]:
        """Return its rate in 1/s at which the first resource that it uses alone is exhausted, and its need of that."""
        needs, ceiling, scarcest = activity.needs, activity.ceiling, activity.scarcest
        if ceiling is None:
            ceiling, shared = math.inf, activity.shared
            for host, _ in activity.demand.flops:
                if host not in shared:
                    capacity, amount = self._capacity(host), needs[host]
                    if capacity < ceiling * amount:
                        ceiling, scarcest = capacity / amount, host
            for link, amount in activity.demand.links:
                if link.bandwidth < ceiling * amount and link.name not in shared:
                    needed = needs[link.name]
                    if link.bandwidth < ceiling * needed:
                        ceiling, scarcest = link.bandwidth / needed, link.name
            activity.ceiling, activity.scarcest = ceiling, scarcest
        return ceiling, 1.0 if scarcest is None else needs[scarcest]

    def follow_speed(self, host: int) -> None:
        """Take the current capacity of a host."""
        resource = self._holders.get(host)
        if isinstance(resource, SharedResource):
            resource.capacity = self._capacity(host)

    def change_capacity(self, link: str, capacity: float) -> None:
        """Change the capacity of a link, in bytes per second; the demands of its users have it already."""
        resource = self._holders.get(link)
        if not isinstance(resource, SharedResource) or capacity == resource.capacity:
            return
        resource.capacity = capacity
        concerned = [
            other
            for other in dict.fromkeys(each for activity in resource.users for each in activity.shared.values())
            if len(other.users) > 1 and (other is resource or other.stricter is resource)
        ]
        for other in concerned:
            other.stricter, other.limiting = None, True
            for user, amount in other.users.items():
                user.limits[other] = amount
        for other in concerned:
            self._judge(other)

    def follow_rate(self, activity: Activity) -> list[Activity]:
        """Take account of another `fastest` of an activity; return those that it may have limited before."""
        released: list[Activity] = []
        for resource in activity.shared.values():
            if resource.stricter is None:
                limiting = resource.limiting
                self._judge(resource)
                if limiting and not resource.limiting:
                    released += resource.users
        return released

    def expect(self, rounds: int) -> bool:
        """Take account of the rounds of a solution; return False if it may be wrong because of slack resources."""
        if rounds <= self._rounds:
            return True
        self._rounds = rounds
        for resource in self._holders.values():
            if isinstance(resource, SharedResource) and resource.stricter is None and not resource.limiting:
                self._judge(resource)
        return False

    def _capacity(self, host: int) -> float:
        """Return the current flop/s of all cores of a host."""
        return self._processors.cores[host] * self._processors.speeds[host]

    def _enter_hosts(self, activity: Activity) -> list[SharedResource]:
        """Find the needs of hosts; return those hosts that others use."""
        holders, needs, shared, crowded = self._holders, activity.needs, activity.shared, list[SharedResource]()
        for host, whole in activity.demand.flops:
            capacity = self._capacity(host)
            amount = whole if whole < capacity * LONGEST_TASK else bounded(whole, capacity)
            if host in needs:  # by another of its executors
                resource = shared.get(host)
                if resource is None:
                    resource = SharedResource(host, capacity, True, {activity: needs[host]}, math.inf, limiting=True)
                    holders[host] = shared[host] = resource
                activity.limits[resource] = needs[host]
                activity.further.setdefault(resource, []).append(amount)
                continue
            needs[host] = amount
            holder = holders.get(host)
            if holder is None:
                holders[host] = activity
                continue
            resource = _share(holder, host, capacity) if isinstance(holder, Activity) else holder
            holders[host] = resource
            resource.users[activity] = amount
            shared[host] = resource
            crowded.append(resource)
        return crowded

    def _compare(self, activity: Activity, crowded: list[SharedResource]) -> None:
        """Find out which of these resources limit the activity, after it has entered."""
        unknown, rounds, fastest = [], self._rounds, activity.fastest
        for resource in crowded:
            users, stricter = resource.users, resource.stricter
            amount, peak = users[activity], resource.peak
            if amount * fastest > peak:
                resource.peak = peak = amount * fastest
            if stricter is None:
                if resource.limiting:
                    activity.limits[resource] = amount
                    continue
                if rounds * len(users) * peak < resource.capacity * _NEARLY_ALL - _REST:
                    continue
            elif stricter.users.get(activity, 0.0) >= amount:
                continue
            unknown.append(resource)
        # What is used most is the least likely to have a stricter resource, and the most likely to be one.
        unknown.sort(key=lambda resource: (len(resource.users), resource.users[activity]), reverse=True)
        for resource in unknown:
            self._judge(resource)

    def _judge(self, resource: SharedResource) -> None:
        """Find out whether a resource with several users limits them."""
        resource.stricter = None
        resource.limiting = False
        if not self._is_slack(resource):
            resource.stricter = _stricter(resource)
            resource.limiting = resource.stricter is None
        for user, amount in resource.users.items():
            if resource.limiting:
                user.limits[resource] = amount
            else:
                user.limits.pop(resource, None)

    def _is_slack(self, resource: SharedResource) -> bool:
        """Return whether a resource has enough for all of its users in each round."""
        if not isinstance(resource.key, str):
            return False
        needs = [amount * user.fastest for user, amount in resource.users.items()]
        resource.peak = max(needs)
        most = (self._rounds - 1) * add_up(needs) + len(needs) * resource.peak
        return most < resource.capacity * _NEARLY_ALL - _REST


def _share(holder: Activity, key: int | str, capacity: float, *, shared: bool = True) -> SharedResource:
    """Return the resource of what one activity has used alone until now."""
    need = holder.needs[key]
    if holder.scarcest == key:
        holder.forget_ceiling()
    peak = need * holder.fastest if isinstance(key, str) else math.inf
    resource = holder.shared[key] = SharedResource(key, capacity, shared, {holder: need}, peak)
    return resource


def _leave_alone(activity: Activity, resource: SharedResource) -> None:
    """Take account of a resource that has no other users any more."""
    del activity.shared[resource.key]
    activity.limits.pop(resource, None)
    amount = activity.needs[resource.key]
    if activity.ceiling is not None and resource.capacity < activity.ceiling * amount:
        activity.ceiling, activity.scarcest = resource.capacity / amount, resource.key


def _stricter(resource: SharedResource) -> SharedResource | None:
    """Return a limit that is stricter; None if the search finds none."""
    if not _is_comparable(resource):
        return None
    users = resource.users
    first = min(users, key=lambda user: len(user.limits))
    for other, amount in islice(first.limits.items(), MOST_TRIES):
        if (
            amount >= users[first]
            and other.capacity <= resource.capacity
            and other is not resource
            and users.keys() <= other.users.keys()
            and _is_comparable(other)
            and all(other.users[user] >= amount for user, amount in users.items())
        ):
            return other
    return None


def _is_comparable(resource: SharedResource) -> bool:
    return resource.shared and isinstance(resource.key, str)


_number = attrgetter("number")
