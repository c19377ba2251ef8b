"""Files on the hosts: images of leases, cached images, memory of suspended machines (H40, H51, H53)."""

from __future__ import annotations

import math

from batsched_py.addition import add_up
from batsched_py.leases.lease import Lease
from batsched_py.results.lease_rows import ImageRow


class _Kept:
    """A cached image on a host: its size, the time it was stored, leases that use it, and the time of its last use."""

    __slots__ = ("needed_until", "since", "size", "users")

    def __init__(self, size: float, since: float) -> None:
        self.size, self.since, self.users, self.needed_until = size, since, set[int](), -math.inf


class Disks:
    """Files on the disks of the hosts, with their sizes in MB.

    Args:
        limit: the size of each host's image cache in MB; infinity for no limit, None for no cache.
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        #: host -> image -> cached image.
        self._kept: dict[int, dict[str, _Kept]] = {}
        #: host -> (lease, node) -> MB of the copy that the machine runs from.
        self._copies: dict[int, dict[tuple[int, int], float]] = {}
        #: host -> (lease, node) -> MB of the memory of a suspended machine.
        self._memory: dict[int, dict[tuple[int, int], float]] = {}
        self._dropped: list[ImageRow] = []
        #: lease -> hosts that have, or had, its copies or its memory, or an image that it uses.
        self._touched: dict[int, set[int]] = {}

    def image_rows(self) -> list[ImageRow]:
        """Return the rows of all cached images, now or earlier, in the order in which they were stored."""
        there = [
            ImageRow(image, host, kept.since, None)
            for host, images in self._kept.items()
            for image, kept in images.items()
        ]
        return sorted((*self._dropped, *there), key=lambda row: (row.start, row.host, row.image))

    def holding(self, image: str) -> set[int]:
        """Return the hosts with an image in their cache."""
        return {host for host, images in self._kept.items() if image in images}

    def keep(self, host: int, image: str, size: float, now: float) -> bool:
        """Cache an image if it fits, evicting the least recently used ones; return whether it is cached."""
        if self.limit is None:
            return False
        images = self._kept.setdefault(host, {})
        if image in images:
            return True
        unused = sorted((kept.needed_until, name) for name, kept in images.items() if not kept.users)
        dropped = list[str]()
        room = self.limit - size - add_up((kept.size for kept in images.values()), 0)
        for _, name in unused:
            if room >= 0:
                break
            room += images[name].size
            dropped.append(name)
        if room < 0:
            return False
        for name in dropped:
            self._dropped.append(ImageRow(name, host, images.pop(name).since, now))
        images[image] = _Kept(size, now)
        return True

    def use(self, host: int, image: str, lease: Lease, until: float) -> None:
        """Pin a cached image, if present, until the lease releases it."""
        kept = self._kept.get(host, {}).get(image)
        if kept is not None:
            self._touched.setdefault(lease.id, set()).add(host)
            kept.users.add(lease.id)
            kept.needed_until = max(kept.needed_until, until)

    def copy(self, host: int, lease: Lease, node: int, size: float) -> None:
        """Create the copy from which a machine runs."""
        self._touched.setdefault(lease.id, set()).add(host)
        self._copies.setdefault(host, {})[lease.id, node] = size

    def save(self, host: int, lease: Lease, node: int, size: float) -> None:
        """Write the memory of a machine."""
        self._touched.setdefault(lease.id, set()).add(host)
        self._memory.setdefault(host, {})[lease.id, node] = size

    def load(self, host: int, lease: Lease, node: int) -> None:
        """Drop the memory of a machine that is resumed or migrated."""
        self._memory.get(host, {}).pop((lease.id, node), None)

    def move_copy(self, origin: int, target: int, lease: Lease, node: int) -> None:
        """Move the copy from which a machine runs."""
        size = self._copies.get(origin, {}).pop((lease.id, node), None)
        if size is not None:
            self.copy(target, lease, node, size)

    def forget(self, lease: Lease) -> None:
        """Drop all files of a lease, and release the images that it used."""
        for host in self._touched.pop(lease.id, ()):
            for files in (self._copies.get(host, {}), self._memory.get(host, {})):
                for key in [key for key in files if key[0] == lease.id]:
                    del files[key]
            for kept in self._kept.get(host, {}).values():
                kept.users.discard(lease.id)

    def used(self, host: int) -> float:
        """Return the usage of a disk in MB."""
        kept = add_up((image.size for image in self._kept.get(host, {}).values()), 0)
        return kept + add_up(self._copies.get(host, {}).values(), 0) + add_up(self._memory.get(host, {}).values(), 0)

    def most_used(self) -> float:
        """Return the usage of the fullest disk in MB."""
        hosts = {*self._kept, *self._copies, *self._memory}
        return max((self.used(host) for host in hosts), default=0.0)
