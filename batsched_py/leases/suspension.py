"""Durations of suspensions, resumptions and migrations, and their serialization in steps (H36 to H43)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

#: The place where memory is saved: the local disk of each host, or a global file system.
Exclusion = Literal["local", "global"]
#: Megabits in a megabyte.
BITS = 8


class Step(NamedTuple):
    """Machines that are suspended, resumed or migrated in parallel in [start, end): node -> host."""

    start: float
    end: float
    nodes: Mapping[int, int]


#: Successive steps of one operation: seconds, and the machines of the step (node -> host).
Steps = Sequence[tuple[float, Mapping[int, int]]]


def memory_time(memory: float, rate: float, override: float | None = None) -> float:
    """Return the seconds to save or load `memory` MB at `rate` MB/s, rounded up, or the override (H24, H36)."""
    return float(override if override is not None else math.ceil(memory / rate))


def transfer_time(size: float, bandwidth: float) -> float:
    """Return the seconds to transfer `size` MB at `bandwidth` Mb/s, rounded up (H46)."""
    return float(math.ceil(size / (bandwidth / BITS)))


def steps(
    nodes: Mapping[int, int], times: Mapping[int, float], exclusion: Exclusion, overhead: float
) -> list[tuple[float, dict[int, int]]]:
    """Return the successive steps of one operation on all nodes: seconds, and the machines of the step (H37).

    Args:
        nodes: node -> host.
        times: node -> seconds to save or load its memory.
        exclusion: "global" serializes all machines, "local" the machines of each host, with all hosts in parallel.
            Operations in the same interval are one step.
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
        # A step begins after the one before has ended; if times differ between hosts, there may be a gap.
        start = max(begin, reached)
        reached = start + (end - begin) + len(machines) * overhead
        found.append((reached - start, machines))
    return found


def forward(found: Steps, start: float) -> list[Step]:
    """Return steps placed one after the other from `start` on, as for a resumption."""
    result = list[Step]()
    for seconds, machines in found:
        result.append(Step(start, start + seconds, machines))
        start += seconds
    return result


def backward(found: Steps, end: float) -> list[Step]:
    """Return steps placed backwards from `end`, the first one last, as for a suspension; in order of time."""
    result = list[Step]()
    for seconds, machines in found:
        result.append(Step(end - seconds, end, machines))
        end -= seconds
    return result[::-1]


def move_groups(moves: Mapping[int, tuple[int, int]]) -> list[dict[int, tuple[int, int]]]:
    """Return migrations (node -> (from, to)) in groups in which no host appears twice (H43)."""
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
