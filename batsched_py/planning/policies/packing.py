"""Selections of the host for a task among hosts that tasks share, by name.

A selection rates each host that has room with a whole number from 0 to 100, and the host with the highest one gets the
task; of equal ones the first in an order of the hosts. Ratings are coarse on purpose: many hosts are equal, so that
tasks gather on the first of them. All are in the form in which Weng, Yang, Yu, Wang, Tang, Yang and Zhang, Beware of
fragmentation: scheduling GPU-sharing workloads with fragmentation gradient descent, USENIX ATC 2023, compared them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom, kind_of
from batsched_py.named import Named, by_name
from batsched_py.planning.policies.fragmentation import Fragmentation
from batsched_py.planning.policies.rating import Rate, Rating, RoomScale


class PackedSelection(Struct, frozen=True):
    """A policy that selects the host of a task.

    Attributes:
        name: name in options.
        prepare: returns the rating for hosts with these capacities, where tasks like these are expected; called once.
        source: publication.
    """

    name: str
    prepare: Callable[[Sequence[HostCapacity], Sequence[TaskDemand]], Rating]
    source: str = ""


def first_fit(hosts: Sequence[HostCapacity], expected: Sequence[TaskDemand]) -> Rating:  # noqa: ARG001  (all alike)
    """Take the first host that has room."""

    def rated(demand: TaskDemand) -> Rate:  # noqa: ARG001
        return lambda room: 0  # noqa: ARG005

    return Rating(rated)


def best_fit(hosts: Sequence[HostCapacity], expected: Sequence[TaskDemand]) -> Rating:  # noqa: ARG001
    """Take the host with the least left: the mean of its free cores and GPUs, relative to the largest hosts."""
    scale = RoomScale(hosts)

    def rated(demand: TaskDemand) -> Rate:
        def rate(room: HostRoom) -> int:
            return int(100 * (1 - scale.left(room, demand)))

        return rate

    return Rating(rated)


def worst_fit(hosts: Sequence[HostCapacity], expected: Sequence[TaskDemand]) -> Rating:  # noqa: ARG001
    """Take the host with the most left, measured as by `best_fit`."""
    scale = RoomScale(hosts)

    def rated(demand: TaskDemand) -> Rate:
        def rate(room: HostRoom) -> int:
            return int(100 * scale.left(room, demand))

        return rate

    return Rating(rated)


def dot_product(hosts: Sequence[HostCapacity], expected: Sequence[TaskDemand]) -> Rating:  # noqa: ARG001
    """Take the host where the product of what is free and what is requested is the least.

    It is the dot product of the vectors (cores, GPUs), relative to the largest hosts; so a task that requests much of
    one resource gets a host that has little of it.
    """
    scale = RoomScale(hosts)

    def rated(demand: TaskDemand) -> Rate:
        cores, gpus = demand.cores / scale.cores, demand.gpu_amount / scale.gpus

        def rate(room: HostRoom) -> int:
            return int(100 * (1 - (room.cores / scale.cores * cores + room.gpu_amount / scale.gpus * gpus) / 2))

        return rate

    return Rating(rated)


def gpu_packing(hosts: Sequence[HostCapacity], expected: Sequence[TaskDemand]) -> Rating:  # noqa: ARG001
    """Take used GPUs first, then unused GPUs of hosts with used ones, then hosts whose GPUs are all unused.

    Of used GPUs those with the least left, of hosts those where the fewest unused GPUs are needed. Tasks without GPUs
    get the first host.
    """

    def rated(demand: TaskDemand) -> Rate:
        if not demand.gpus:
            return lambda room: 0  # noqa: ARG005

        def rate(room: HostRoom) -> int:
            unused = room.gpus.count(WHOLE)
            if unused == len(room.gpus):
                return max(33 - unused, unused)
            taken = [room.gpus[gpu] for gpu in room.tightest(demand)]
            opened = taken.count(WHOLE)
            return max(50 - opened, 33) if opened else max(100 - taken[0] * 100 // WHOLE // 10, 50)

        return rate

    return Rating(rated)


def gpu_clustering(hosts: Sequence[HostCapacity], expected: Sequence[TaskDemand]) -> Rating:  # noqa: ARG001
    """Take hosts with tasks of the same kind first: that share a GPU, or have the same number of whole GPUs.

    First hosts with no other kind, then those with others too, then hosts without such tasks, then those with other
    kinds only; of equal ones those with the fewest free GPUs. Tasks without GPUs get the first host.
    """
    most = RoomScale(hosts).gpus

    def rated(demand: TaskDemand) -> Rate:
        if not demand.gpus:
            return lambda room: 0  # noqa: ARG005
        kind = kind_of(demand)

        def rate(room: HostRoom) -> int:
            base = 25 * (most - room.gpu_amount) // most
            if kind in room.kinds:
                return base + (75 if len(room.kinds) == 1 else 50)
            return base if room.kinds else base + 25

        return rate

    return Rating(rated)


def fgd(hosts: Sequence[HostCapacity], expected: Sequence[TaskDemand]) -> Rating:  # noqa: ARG001
    """Take the host, and the GPU in it, where the fragmentation grows the least, or falls the most.

    The fragmentation of a host is the amount of its free GPUs that an average one of the expected tasks cannot use.
    See `fragmentation.Fragmentation`.
    """
    measure = Fragmentation(expected)
    return Rating(measure.rated, measure.gpus)


_WENG: Final = (
    "Weng, Yang, Yu, Wang, Tang, Yang and Zhang, Beware of fragmentation: scheduling GPU-sharing workloads with"
    " fragmentation gradient descent, USENIX ATC 2023"
)
_JOHNSON: Final = "Johnson, Fast algorithms for bin packing, Journal of Computer and System Sciences 8, 1974"

#: The selections by name.
PACKED_SELECTIONS: Final[Named[PackedSelection]] = Named(
    "selection for packed resources",
    by_name(
        "PACKED_SELECTIONS",
        (
            PackedSelection("first_fit", first_fit, source=_JOHNSON),
            PackedSelection(
                "best_fit",
                best_fit,
                source="Hadary and others, Protean: VM allocation service at scale, OSDI 2020, as in " + _WENG,
            ),
            PackedSelection("worst_fit", worst_fit, source=_JOHNSON),
            PackedSelection(
                "dot_product",
                dot_product,
                source=(
                    "after Grandl, Ananthanarayanan, Kandula, Rao and Akella, Multi-resource packing for cluster"
                    " schedulers, SIGCOMM 2014, as in " + _WENG
                ),
            ),
            PackedSelection(
                "gpu_packing",
                gpu_packing,
                source=(
                    "Weng and others, MLaaS in the wild: workload analysis and scheduling in large-scale heterogeneous"
                    " GPU clusters, NSDI 2022, as in " + _WENG
                ),
            ),
            PackedSelection(
                "gpu_clustering",
                gpu_clustering,
                source=(
                    "after Xiao and others, Gandiva: introspective cluster scheduling for deep learning, OSDI 2018, as"
                    " in " + _WENG
                ),
            ),
            PackedSelection("fgd", fgd, source=_WENG),
        ),
    ),
)
