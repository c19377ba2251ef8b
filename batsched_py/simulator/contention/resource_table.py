"""Resources in use: who uses which processors and links, and which of these can limit them."""

from __future__ import annotations

import math
from itertools import islice
from typing import Final

from batsched_py.simulator.contention.activities import Activity, SharedResource
from batsched_py.simulator.contention.demand import LONGEST_TASK, Processors, bounded

# Jobs in a dragonfly or torus share hundreds of links, of which few can limit a rate. A resource cannot if another one
# has at least its users, each of them needs at least as much of that one, and the capacity of that one is not larger:
# in each round of `fair_rates` that one then offers at most as much to each user, and is exhausted at the latest
# together with this one. This is exact to the last bit, since additions and divisions are rounded monotonically. The
# solver therefore sees only the resources without a known stricter one (`limits`): in a dragonfly of 1 008 hosts one in
# ten, which alone makes a run 2.6 times as fast.
#
# What is stricter stays so when an activity ends, because both lose it. Thus only a new activity makes a resource a
# limit, and only an end makes it stop being one. A stricter resource is sought among limits only, so that chains of
# stricter resources end at a limit with all the users: limits connect all activities that affect each other. Not every
# stricter resource is found: the search ends after MOST_TRIES, because it fails most often, and in a torus an activity
# has hundreds of limits. FATPIPE links and processors are not compared.
#
# What one activity uses alone, most of hundreds of links, has no `SharedResource`, only a ceiling that is computed from
# its demand when it is asked for.
#
# An activity and its resources reference each other, and therefore `leave` clears all of its: otherwise ended activities
# would wait for the garbage collector.

#: Resources that are compared in search of a stricter one.
MOST_TRIES: Final = 64


class ResourceTable:
    """The processors and links that active activities use."""

    def __init__(self, processors: Processors) -> None:
        self._processors = processors
        #: Host number or name of a link -> the activity that alone uses it, or the shared resource; only what is used.
        self._holders: dict[int | str, Activity | SharedResource] = {}
        self._entered = 0

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
            needs[name] = amount = amount if amount < capacity * LONGEST_TASK else bounded(amount, capacity)
            resource = holders.get(name)
            if resource is None:
                continue
            if isinstance(resource, Activity):
                resource = _share(resource, name, capacity, shared=link.shared)
            resource.users[activity] = amount
            shared[name] = resource
            crowded.append(resource)
        holders.update(dict.fromkeys(needs, activity))
        holders.update(shared)
        self._compare(activity, crowded)
        return crowded

    def leave(self, activity: Activity) -> list[Activity]:
        """Release the resources of an activity; return one other user of each resource that has others."""
        holders = self._holders
        neighbours: list[Activity] = []
        for key in activity.needs:
            resource = holders[key]
            if isinstance(resource, Activity):
                del holders[key]
                continue
            users = resource.users
            del users[activity]
            if not users:
                del holders[key]
                continue
            # One neighbour for each resource is enough: the search for connected activities finds the others.
            neighbour = next(iter(users))
            neighbours.append(neighbour)
            if len(users) == 1 and resource not in neighbour.further:
                holders[key] = neighbour
                _leave_alone(neighbour, resource)
        for resource in activity.limits:
            if len(resource.users) > 1:
                _seek_stricter(resource)
        for kept in (activity.needs, activity.shared, activity.further, activity.limits):
            kept.clear()
        activity.forget_ceiling()
        return neighbours

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
            other.stricter = None
            for user, amount in other.users.items():
                user.limits[other] = amount
        for other in concerned:
            _seek_stricter(other)

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
                    resource = shared[host] = SharedResource(host, capacity, True, {activity: needs[host]})
                activity.limits[resource] = needs[host]
                activity.further.setdefault(resource, []).append(amount)
                continue
            needs[host] = amount
            holder = holders.get(host)
            if holder is None:
                continue
            resource = _share(holder, host, capacity) if isinstance(holder, Activity) else holder
            resource.users[activity] = amount
            shared[host] = resource
            crowded.append(resource)
        return crowded

    def _compare(self, activity: Activity, crowded: list[SharedResource]) -> None:
        """Find out which of these resources limit the activity, after it has entered."""
        unknown = []
        for resource in crowded:
            users, stricter = resource.users, resource.stricter
            if len(users) == 2:
                other = next(iter(users))
                if other.scarcest == resource.key:
                    other.forget_ceiling()
            elif stricter is None:
                activity.limits[resource] = users[activity]
                continue
            if stricter is None or stricter.users.get(activity, 0.0) < users[activity]:
                unknown.append(resource)
        # What is used most is the least likely to have a stricter resource, and the most likely to be one.
        unknown.sort(key=lambda resource: (len(resource.users), resource.users[activity]), reverse=True)
        for resource in unknown:
            _seek_stricter(resource)


def _share(holder: Activity, key: int | str, capacity: float, *, shared: bool = True) -> SharedResource:
    """Return the resource of what one activity has used alone until now."""
    resource = holder.shared[key] = SharedResource(key, capacity, shared, {holder: holder.needs[key]})
    return resource


def _leave_alone(activity: Activity, resource: SharedResource) -> None:
    """Take account of a resource that has no other users any more."""
    del activity.shared[resource.key]
    activity.limits.pop(resource, None)
    amount = activity.needs[resource.key]
    if activity.ceiling is not None and resource.capacity < activity.ceiling * amount:
        activity.ceiling, activity.scarcest = resource.capacity / amount, resource.key


def _seek_stricter(resource: SharedResource) -> None:
    """Find out whether a resource with several users limits them."""
    stricter = resource.stricter = _stricter(resource)
    for user, amount in resource.users.items():
        if stricter is None:
            user.limits[resource] = amount
        else:
            user.limits.pop(resource, None)


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
