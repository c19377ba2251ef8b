"""A collection of a platform's hosts."""

from __future__ import annotations

from batsched_py.collection.collection import Collection
from batsched_py.model.platform import DEFAULT_MASTER, Platform
from batsched_py.queries.host_attributes import platform_records


def platform_collection(platform: Platform, master: str = DEFAULT_MASTER) -> Collection:
    """Return a collection of a platform's hosts, all idle."""
    collection = Collection()
    for name, attributes in platform_records(platform, master):
        collection.join(name, attributes)
    return collection
