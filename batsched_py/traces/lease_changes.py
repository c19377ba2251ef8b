"""Changes of requests for leases before a simulation: images, overheads, memory, random reservations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from random import Random
from typing import Final, Literal

from msgspec import Struct

from batsched_py.errors import WorkloadError
from batsched_py.model.resources import MEMORY
from batsched_py.reading.limits import LONGEST, TOO_LONG
from batsched_py.text.display import shown
from batsched_py.traces.image_file import ImageList
from batsched_py.traces.lease_request import LeaseRequest

#: Range of seconds from the request to the start of a random reservation.
NEAREST_START: Final = 3600
FARTHEST_START: Final = 86400


class VmOverheads(Struct, frozen=True):
    """Time that virtual machines add to leases.

    Attributes:
        of: the leases that have overheads.
        slowdown: percentage by which run times grow.
        boot: additional seconds for booting and shutting down.
    """

    of: Literal["none", "all", "besteffort"] = "none"
    slowdown: float = 0
    boot: float = 0

    def add(self, seconds: float) -> int:
        """Return a duration with the overheads, in whole seconds, rounded up."""
        # Exact arithmetic: 1000 s and 10 % are 1100 s, not a little more, which would be rounded up to 1101.
        return math.ceil(_exact(seconds) * (100 + _exact(self.slowdown)) / 100 + _exact(self.boot))

    def concern(self, request: LeaseRequest) -> bool:
        """Return whether a request has overheads."""
        return self.of == "all" or (self.of == "besteffort" and request.best_effort)


class LeaseChanges(Struct, frozen=True):
    """All changes, in the order in which they are applied.

    Attributes:
        ar_share: the share, from 0 to 1, of best-effort leases that become reservations.
        seed: seed of the random choice of these leases.
        overheads: the overheads that prolong durations.
        memory: MB that each node requests instead; None to keep its request.
        images: the image of each lease; None to keep its own.
    """

    ar_share: float = 0
    seed: int = 0
    overheads: VmOverheads = VmOverheads()
    memory: int | None = None
    images: ImageList | None = None

    def apply(self, source: str, requests: Sequence[LeaseRequest]) -> tuple[LeaseRequest, ...]:
        """Return the requests with all changes, in their order.

        WorkloadError if images are missing, or if overheads make a duration of a request of the `source` too long.
        """
        changed = draw_reservations(requests, self.ar_share, Random(self.seed))
        changed = add_overheads(source, changed, self.overheads)
        if self.memory is not None:
            changed = override_memory(changed, self.memory)
        return changed if self.images is None else assign_images(changed, self.images)


#: No changes.
AS_THEY_ARE: Final = LeaseChanges()


def draw_reservations(requests: Sequence[LeaseRequest], share: float, random: Random) -> tuple[LeaseRequest, ...]:
    """Turn this share of the best-effort leases into reservations that start an hour to a day after their requests."""
    best_effort = [number for number, request in enumerate(requests) if request.best_effort]
    changed = list(requests)
    for number in sorted(random.sample(best_effort, round(share * len(best_effort)))):
        start = requests[number].arrival + random.randint(NEAREST_START, FARTHEST_START)
        changed[number] = requests[number]._replace(start=start, preemptible=False)
    return tuple(changed)


def add_overheads(source: str, requests: Iterable[LeaseRequest], overheads: VmOverheads) -> tuple[LeaseRequest, ...]:
    """Prolong the requested durations and the known real ones (Haizea confuses the two). WorkloadError."""
    changed = list(requests)
    for index, request in enumerate(changed):
        if overheads.concern(request):
            duration, real = overheads.add(request.duration), request.real
            if max(duration, real or 0) > LONGEST:
                rule = f"a duration with overheads {TOO_LONG} not {shown(duration)}"
                raise WorkloadError(source, f"lease {index + 1}", rule)
            longer = None if real is None else overheads.add(real)
            changed[index] = request._replace(duration=duration, real=longer)
    return tuple(changed)


def override_memory(requests: Iterable[LeaseRequest], memory: float) -> tuple[LeaseRequest, ...]:
    """Replace the memory requested by each node, in MB."""
    return tuple(
        request._replace(
            nodes=tuple(one._replace(resources={**one.resources, MEMORY: memory}) for one in request.nodes)
        )
        for request in requests
    )


def assign_images(requests: Sequence[LeaseRequest], images: ImageList) -> tuple[LeaseRequest, ...]:
    """Assign an image to each lease, in submission order; WorkloadError if there are too few images."""
    images.left_over(len(requests))
    order = sorted(range(len(requests)), key=lambda number: requests[number].arrival)
    changed = list(requests)
    for number, image in zip(order, images.images, strict=False):
        changed[number] = requests[number]._replace(image=image)
    return tuple(changed)


def _exact(number: float) -> Fraction:
    """Return the decimal number as written, not the nearest float."""
    return Fraction(repr(number))
