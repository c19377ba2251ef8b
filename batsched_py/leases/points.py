"""Points: times at which a lease might start, with the hosts that are ready by then."""

from __future__ import annotations

from collections.abc import Collection, Sequence

#: A time at which a lease might start, and the hosts that are ready by then; None for all.
Point = tuple[float, Collection[int] | None]


def points_from(points: Sequence[Point], earliest: float) -> list[Point]:
    """Return points from a time on; earlier ones are merged into one, with the hosts that are ready by then."""
    early = [hosts for time, hosts in points if time <= earliest]
    return [*((earliest, hosts) for hosts in early[-1:]), *(one for one in points if one[0] > earliest)]


def near_points(ready: Sequence[tuple[float, int]]) -> list[Point]:
    """Return the points of hosts, given as pairs of the time at which each is ready and its number."""
    points = list[Point]()
    hosts = list[int]()
    for time, host in sorted(ready):
        hosts.append(host)
        if points and points[-1][0] == time:
            points[-1] = time, list(hosts)
        else:
            points.append((time, list(hosts)))
    return points
