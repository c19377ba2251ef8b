"""Resources in use: who uses which processors and links, and which of these can limit them."""

from __future__ import annotations

from itertools import islice
from typing import Final

from batsched_py.simulator.contention.activities import Activity, SharedResource
from batsched_py.simulator.contention.demand import Processors, bounded

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
# An activity and its resources reference each other, and therefore `leave` clears its lists: otherwise ended activities
# would wait for the garbage collector.

#: Resources that are compared in search of a stricter one.
MOST_TRIES: Final = 64


class ResourceTable:
    """The processors and links that active activities use."""

    def __init__(self, processors: Processors) -> None:
        self._processors = processors
        #: Host number or name of a link -> resource; only those that an active activity uses.
        self._resources: dict[int | str, SharedResource] = {}

    def get(self, key: int | str) -> SharedResource | None:
        """Return the resource of a host number or name of a link; None if no active activity uses it."""
        return self._resources.get(key)

    def capacity(self, host: int) -> float:
        """Return the current flop/s of all cores of a host."""
        return self._processors.cores[host] * self._processors.speeds[host]

    def enter(self, activity: Activity) -> list[SharedResource]:
        """Register the uses of an activity; return those of its resources that others use."""
        resources, used, crowded = self._resources, activity.resources, list[SharedResource]()
        for host, amount in activity.demand.flops:
            resource = resources.get(host)
            if resource is None:
                resource = resources[host] = SharedResource(host, self.capacity(host))
            elif activity in resource.users:
                activity.limits[resource] = None
                activity.further.setdefault(resource, []).append(bounded(amount, resource.capacity))
                continue
            else:
                crowded.append(resource)
            resource.users[activity] = bounded(amount, resource.capacity)
            used.append(resource)
        for link, amount in activity.demand.links:
            resource = resources.get(link.name)
            if resource is None:
                resource = resources[link.name] = SharedResource(link.name, link.bandwidth, link.shared)
            else:
                crowded.append(resource)
            resource.users[activity] = amount if amount < resource.capacity else bounded(amount, resource.capacity)
            used.append(resource)
        self._compare(activity, crowded)
        return crowded

    def leave(self, activity: Activity) -> list[Activity]:
        """Release the resources of an activity; return one other user of each resource that has others."""
        neighbours: list[Activity] = []
        for resource in activity.resources:
            users = resource.users
            if len(users) == 1:
                del self._resources[resource.key]
                continue
            del users[activity]
            # One neighbour for each resource is enough: the search for connected activities finds the others.
            neighbour = next(iter(users))
            neighbours.append(neighbour)
            if len(users) == 1 and resource not in neighbour.further:
                neighbour.limits.pop(resource, None)
                neighbour.add_private(resource)
        for resource in activity.limits:
            if len(resource.users) > 1:
                _seek_stricter(resource)
        activity.resources.clear()
        activity.further.clear()
        activity.limits.clear()
        activity.forget_ceiling()
        return neighbours

    def change_capacity(self, resource: SharedResource, capacity: float) -> None:
        """Change the capacity of a link, in bytes per second."""
        if capacity == resource.capacity:
            return
        resource.capacity = capacity
        concerned = [
            other
            for other in dict.fromkeys(each for activity in resource.users for each in activity.resources)
            if other is resource or other.stricter is resource
        ]
        for other in concerned:
            other.stricter = None
        shared = [other for other in concerned if len(other.users) > 1]
        for other in shared:
            for user in other.users:
                user.limits[other] = None
        for other in shared:
            _seek_stricter(other)

    def _compare(self, activity: Activity, crowded: list[SharedResource]) -> None:
        """Find out which of these resources limit the activity, after it has entered."""
        unknown = []
        for resource in crowded:
            users, stricter = resource.users, resource.stricter
            if len(users) == 2:
                other = next(iter(users))
                if other.scarcest is resource:
                    other.forget_ceiling()
            elif stricter is None:
                activity.limits[resource] = None
                continue
            if stricter is None or stricter.users.get(activity, 0.0) < users[activity]:
                unknown.append(resource)
        # What is used most is the least likely to have a stricter resource, and the most likely to be one.
        unknown.sort(key=lambda resource: (len(resource.users), resource.users[activity]), reverse=True)
        for resource in unknown:
            _seek_stricter(resource)


def _seek_stricter(resource: SharedResource) -> None:
    """Find out whether a resource with several users limits them."""
    stricter = resource.stricter = _stricter(resource)
    for user in resource.users:
        if stricter is None:
            user.limits[resource] = None
        else:
            user.limits.pop(resource, None)


def _stricter(resource: SharedResource) -> SharedResource | None:
    """Return a limit that is stricter; None if the search finds none."""
    if not _is_comparable(resource):
        return None
    users = resource.users
    first = min(users, key=lambda user: len(user.limits))
    for other in islice(first.limits, MOST_TRIES):
        if (
            other.capacity <= resource.capacity
            and other.users[first] >= users[first]
            and other is not resource
            and users.keys() <= other.users.keys()
            and _is_comparable(other)
            and all(other.users[user] >= amount for user, amount in users.items())
        ):
            return other
    return None


def _is_comparable(resource: SharedResource) -> bool:
    return resource.shared and isinstance(resource.key, str)
