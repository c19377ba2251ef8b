"""Allocation of GPUs by selections for packed resources, on published lists of tasks that the project does not carry.

`python -m tests.acceptance.gpu_placement FOLDER` prints CSV: for each list and policy the number of seeds and the mean
percentage of GPUs that are allocated when the tasks that have arrived request 100 % and 130 % of them. FOLDER has
`nodes-gpu.csv`, lists `pods-NAME.csv`, and, if there are any, the published orders of arrival `orders/order-NAME.csv`
and results, `expected.csv` and `orders/expected-exact.csv`; all may be compressed (`.csv.gz`). Without published orders
they are drawn. Results that are too far from the published ones are listed on stderr, and the exit code is 1. Source:
Weng and others, Beware of fragmentation: scheduling GPU-sharing workloads with fragmentation gradient descent, USENIX
ATC 2023.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count, islice
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import Final

from batsched_py.errors import InputError
from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom, TaskPlace
from batsched_py.planning.packed_hosts import PackedHosts
from batsched_py.planning.policies.packing import PACKED_SELECTIONS
from tests.acceptance.gpu_lists import REQUESTED, ArrivalOrder, TaskList, draw_order, read_lists, read_orders
from tests.acceptance.gpu_results import Curve, Results, read_published

#: The paper's policies -> names of selections; None places tasks at random.
POLICIES: Final[Mapping[str, str | None]] = {
    "Random": None,
    "DotProd": "dot_product",
    "GpuClustering": "gpu_clustering",
    "GpuPacking": "gpu_packing",
    "BestFit": "best_fit",
    "FGD": "fgd",
}
#: Orders that are drawn for a list without published ones.
DRAWN: Final = 5
#: The standard error of the means of Random, whose results vary most, down to which orders are drawn for it, in percent
#: of all GPUs; where it is computed; and the least and the greatest number of orders.
RANDOM_ERROR: Final = 0.12
RANDOM_PERCENTS: Final = (80, 90, 100)
RANDOM_ORDERS: Final = (20, 100)


def allocation_curve(tasks: TaskList, order: ArrivalOrder, policy: str) -> Curve:
    """Return the curve of one run: each task is placed once, when it arrives, or never, and none ends."""
    name = POLICIES[policy]
    hosts = (
        RandomPlaces(tasks.hosts, Random(order.seed))
        if name is None
        else PackedHosts(tasks.hosts, PACKED_SELECTIONS[name], order=order.hosts, expected=tasks.tasks)
    )
    capacity, requested, allocated = tasks.gpu_capacity, 0, 0
    points = list[tuple[float, float]]()
    for index in order.tasks:
        task = tasks.tasks[index]
        place = hosts.find(task)
        if place is not None:
            hosts.take(task, place)
            allocated += task.gpu_amount
        requested += task.gpu_amount
        points.append((100 * requested / capacity, round(100 * allocated / capacity, 2)))
    for room in hosts.rooms:
        room.check()
    return _means(points)


def _means(points: Sequence[tuple[float, float]]) -> Curve:
    """Return the mean allocation near each percentage that is requested; where no task arrives, the one before."""
    near: dict[int, list[float]] = {}
    around: dict[int, list[float]] = {}
    for requested, allocated in points:
        near.setdefault(round(requested), []).append(allocated)
        for percent in range(math.ceil(requested) - 1, math.floor(requested) + 2):
            around.setdefault(percent, []).append(allocated)
    curve = dict[int, float]()
    for percent in range(REQUESTED + 1):
        values = near.get(percent) or around.get(percent) or [curve.get(percent - 1, 0.0)]
        curve[percent] = round(fmean(values), 2)
    return curve


class RandomPlaces:
    """Hosts whose tasks are placed at random, and never end: a host where a task does not fit is never tried again."""

    def __init__(self, capacities: Sequence[HostCapacity], random: Random) -> None:
        self.rooms = tuple(map(HostRoom, capacities))
        self._random = random
        #: Demand -> hosts where it may still fit.
        self._hosts: dict[TaskDemand, list[int]] = {}

    def find(self, task: TaskDemand) -> TaskPlace | None:
        """Return a random one of the hosts where a task fits, with whole GPUs in their order, or a random one to share.

        None if it fits on no host.
        """
        hosts = self._hosts.setdefault(task, list(range(len(self.rooms))))
        while hosts:
            position = self._random.randrange(len(hosts))
            room = self.rooms[hosts[position]]
            if not room.lacking(task):
                return TaskPlace(hosts[position], self._gpus(task, room))
            hosts[position] = hosts[-1]
            hosts.pop()
        return None

    def take(self, task: TaskDemand, place: TaskPlace) -> None:
        """Give a task its resources."""
        self.rooms[place.host].take(task, place.gpus)

    def _gpus(self, task: TaskDemand, room: HostRoom) -> tuple[int, ...]:
        if task.gpus == 1 and task.share < WHOLE:
            return (self._random.choice([gpu for gpu, left in enumerate(room.gpus) if left >= task.share]),)
        return room.tightest(task)


def results_of(tasks: TaskList, folder: Path) -> Iterator[tuple[Results, float]]:
    """Yield the results of all policies, each with the processor time of its longest run in seconds. WorkloadError."""
    published = read_orders(tasks, folder)
    seeds = (seed for seed in count(1) if seed not in {order.seed for order in published})
    drawn = (draw_order(tasks, seed) for seed in seeds)
    several = published or list(islice(drawn, DRAWN))
    for policy, name in POLICIES.items():
        curves, longest = dict[int, Curve](), 0.0
        for order in several if name else chain(several, drawn):
            began = time.process_time()
            curves[order.seed] = allocation_curve(tasks, order, policy)
            longest = max(longest, time.process_time() - began)
            if name is None and all(are_enough([one[at] for one in curves.values()]) for at in RANDOM_PERCENTS):
                break
        yield Results(tasks.name, policy, curves), longest


def are_enough(values: Sequence[float]) -> bool:
    """Return whether the mean of results of Random is known well enough."""
    least, most = RANDOM_ORDERS
    return len(values) >= most or (len(values) >= least and stdev(values) <= RANDOM_ERROR * math.sqrt(len(values)))


def main(arguments: list[str]) -> int:
    """Print the table; 1 if a result differs from the published one, 2 if a file is missing or wrong."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m tests.acceptance.gpu_placement FOLDER (with nodes-gpu.csv, pods-NAME.csv)\n")
        return 2
    folder = Path(arguments[0])
    differences, longest = list[str](), 0.0
    try:
        published = read_published(folder)
        sys.stdout.write("list,policy,seeds,mean_100,mean_130\n")
        for tasks in read_lists(folder):
            for results, duration in results_of(tasks, folder):
                means = f"{results.mean(100):.3f},{results.mean(130):.3f}"
                sys.stdout.write(f"{results.name},{results.policy},{len(results.curves)},{means}\n")
                sys.stdout.flush()
                differences += published.differences(results)
                longest = max(longest, duration)
    except InputError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stderr.write("".join(f"{line}\n" for line in differences) + f"longest run: {longest:.1f} s of processor time\n")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
