"""Times of suspensions, resumptions and migrations: how long each takes, what happens beside what (H36 to H43)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

#: Where memory is saved: on the disk of each host, or in a file system that all share.
Exclusion = Literal["local", "global"]
#: Megabits in a megabyte.
BITS = 8


class Step(NamedTuple):
    """Machines that are suspended, resumed or moved beside each other in [start, end): node -> host."""

    start: float
    end: float
    nodes: Mapping[int, int]


#: Steps of one operation, one after the other: seconds, and the machines of the step, node -> host.
Steps = Sequence[tuple[float, Mapping[int, int]]]


def memory_time(memory: float, rate: float, override: float | None = None) -> float:
    """Return seconds to save or load MB of memory at MB/s, rounded up; an override replaces them (H24, H36)."""
    return float(override if override is not None else math.ceil(memory / rate))


def transfer_time(size: float, bandwidth: float) -> float:
    """Return seconds to transfer MB at Mb/s, rounded up (H46)."""
    return float(math.ceil(size / (bandwidth / BITS)))


def steps(
    nodes: Mapping[int, int], times: Mapping[int, float], exclusion: Exclusion, overhead: float
) -> list[tuple[float, dict[int, int]]]:
    """Return the steps of one operation on all nodes, one after the other: seconds, and the machines of the step (H37).

    Args:
        nodes: node -> host.
        times: node -> seconds that its memory takes.
        exclusion: "global": one machine after the other; "local": machines of one host one after the other, hosts
            beside each other. What coincides is one step.
        overhead: seconds for each command.
    """
    if exclusion == "global":
        return [(times[node] + overhead, {node: host}) for node, host in nodes.items()]
    queues: dict[int, float] = {}
    together: dict[tuple[float, float], dict[int, int]] = {}
    for node, host in nodes.items():
        begin = queues.get(host, 0.0)
        queues[host] = end = begin + times[node]
        together.setdefault((begin, end), {})[node] = host
    found = list[tuple[float, dict[int, int]]]()
    reached = 0.0
    for (begin, end), machines in sorted(together.items(), key=lambda item: item[0]):
        # A step never begins before the one before it ends; where times differ between hosts, it may begin later.
        start = max(begin, reached)
        reached = start + (end - begin) + len(machines) * overhead
        found.append((reached - start, machines))
    return found


def forward(found: Steps, start: float) -> list[Step]:
    """Return steps one after the other from `start` on, as of a resumption."""
    result = list[Step]()
    for seconds, machines in found:
        result.append(Step(start, start + seconds, machines))
        start += seconds
    return result


def backward(found: Steps, end: float) -> list[Step]:
    """Return steps of which the first one ends at `end`, and each other one where the one before begins: a suspension.

    The result is in order of time.
    """
    result = list[Step]()
    for seconds, machines in found:
        result.append(Step(end - seconds, end, machines))
        end -= seconds
    return result[::-1]


def move_groups(moves: Mapping[int, tuple[int, int]]) -> list[dict[int, tuple[int, int]]]:
    """Return migrations, node -> (from, to), in groups in which no host appears twice (H43)."""
    left, groups = dict(moves), list[dict[int, tuple[int, int]]]()
    while left:
        busy, group = set[int](), dict[int, tuple[int, int]]()
        for node, (origin, target) in left.items():
            if origin not in busy and target not in busy:
                group[node] = origin, target
                busy.update((origin, target))
        for node in group:
            del left[node]
        groups.append(group)
    return groups
