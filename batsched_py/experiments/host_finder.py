"""Hosts of computes: the hosts suitable for an instance, by location, host and cluster, or constraint (M31)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from batsched_py.bits import bits_of
from batsched_py.experiments.model import Compute
from batsched_py.experiments.resource_manager import RefusedByManagerError
from batsched_py.queries.columns import Columns
from batsched_py.queries.parser import parse
from batsched_py.queries.values import Value
from batsched_py.text.display import shown

# Where a machine may be is a set of hosts, bits of one integer, for each node of a lease (ADR 31). Locations, clusters
# and names are turned into such sets once, so that an instance costs a few operations; a constraint is a query over the
# same columns as in `placer`, whose parts are computed once for all instances. The set never changes, as only fixed
# properties of hosts are used; the lease scheduler checks whether hosts are free.

#: Attributes of a host that name its location: its own properties, or those of its zone.
_LOCATIONS: Final = ("location", "site", "zone_location", "zone_site")
_CLUSTERS: Final = ("cluster", "zone_cluster")


class HostFinder:
    """The hosts of a site, by number from 0, and their attributes.

    If no host specifies a location, each host is in all locations.

    Args:
        attributes: attributes of each host, as in records of the collection.
    """

    def __init__(self, attributes: Sequence[Mapping[str, Value]]) -> None:
        self._attributes = attributes
        self._columns = Columns()
        for one in attributes:
            self._columns.add(one)
        self._locations = self._bits_by(_LOCATIONS)
        self._clusters = self._bits_by(_CLUSTERS)
        self._names = {str(one.get("name")): 1 << number for number, one in enumerate(attributes)}
        self._all = (1 << len(attributes)) - 1

    @property
    def locations(self) -> Sequence[str]:
        """Names of locations, in the order of their first hosts; empty if no host specifies one."""
        return list(self._locations)

    def location_of(self, host: int) -> str | None:
        """Return the location of a host; None if unspecified."""
        return next(self._values(self._attributes[host], _LOCATIONS), None)

    def find(self, compute: Compute, location: str | None) -> int:
        """Return the bits of the hosts suitable for an instance.

        Raises RefusedByManagerError, with the reason, if there is none.
        """
        hosts = self._all
        if location is not None and self._locations:
            hosts = self._locations.get(location, 0)
            if not hosts:
                raise RefusedByManagerError(f"no host is at {location}")
        if compute.cluster is not None:
            hosts &= self._clusters.get(compute.cluster, 0)
        if compute.host is not None:
            hosts &= self._names.get(compute.host, 0)
        if compute.constraint is not None:
            hosts &= self._columns.select(parse(compute.constraint)).true
        if hosts:
            return hosts
        wanted = (("cluster", compute.cluster), ("host", compute.host), ("constraint", compute.constraint))
        asked = " and ".join(f"{word} {shown(value)}" for word, value in wanted if value is not None)
        raise RefusedByManagerError(f"no host{f' at {location}' if location else ''} has {asked}")

    def _bits_by(self, names: tuple[str, ...]) -> dict[str, int]:
        found: dict[str, list[int]] = {}
        for number, one in enumerate(self._attributes):
            for value in dict.fromkeys(self._values(one, names)):
                found.setdefault(value, []).append(number)
        return {value: bits_of(numbers) for value, numbers in found.items()}

    @staticmethod
    def _values(attributes: Mapping[str, Value], names: tuple[str, ...]) -> Iterator[str]:
        return (str(attributes[name]) for name in names if name in attributes)
