"""Forecast of a deployment: the creation time of each resource if every request were granted immediately."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from batsched_py.experiments.model import Compute, PlannedResource
from batsched_py.experiments.testbed import Location, Testbed


class Forecast(Struct, frozen=True):
    """The expected times of a resource, in seconds from the beginning of the deployment.

    Attributes:
        planned: the resource.
        requested: time of the request.
        created: time of the creation.
        addressed: time at which the address of a compute is known; None for others.
    """

    planned: PlannedResource
    requested: float
    created: float
    addressed: float | None


def forecast(order: Sequence[PlannedResource], testbed: Testbed) -> tuple[Forecast, ...]:
    """Return the forecasts for the resources of a deployment order.

    Each is requested when all its dependencies exist. A location unknown to the testbed has no delays.
    """
    found = dict[str, Forecast]()
    for one in order:
        times = [found[name].created for name in one.after]
        times += [found[name].addressed or 0.0 for name in one.addresses]
        location = (testbed.locations or {}).get(one.location or "", Location())
        requested = max(times, default=0.0)
        created = requested + location.delay(type(one.resource))
        addressed = created + location.address_delay if isinstance(one.resource, Compute) else None
        found[one.name] = Forecast(one, requested, created, addressed)
    return tuple(found.values())


def deployed_at(forecasts: Sequence[Forecast]) -> float:
    """Return the time at which all are created, and all needed addresses are known."""
    needed = {name for one in forecasts for name in one.planned.addresses}
    times = [one.created for one in forecasts]
    times += [one.addressed or 0.0 for one in forecasts if one.planned.name in needed]
    return max(times, default=0.0)
