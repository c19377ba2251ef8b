"""Small random systems of tasks and resources, and a naive solver that follows SimGrid's rules word by word."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from batsched_py.simulator.contention.fair_bottleneck import Load, Rates, Resource, fair_rates


@dataclass(frozen=True, slots=True)
class TaskNeeds:
    """The amounts that a task uses, as (position of a resource, amount), and its limits."""

    uses: Sequence[tuple[int, float]]
    bound: float = math.inf
    ceiling: float = math.inf
    ceiling_amount: float = 1.0


def fair(resources: Sequence[tuple[float, bool]], tasks: Sequence[TaskNeeds]) -> Rates:
    """The rates of tasks on resources of these capacities; True for shared ones."""
    users: list[list[tuple[int, float]]] = [[] for _ in resources]
    loads = []
    for number, task in enumerate(tasks):
        for position, amount in task.uses:
            users[position].append((number, amount))
        used, amounts = [position for position, _ in task.uses], [amount for _, amount in task.uses]
        loads.append(Load(used, amounts, task.bound, task.ceiling, task.ceiling_amount))
    return fair_rates(
        [Resource(capacity, using, shared) for (capacity, shared), using in zip(resources, users, strict=True)], loads
    )


@dataclass(frozen=True, slots=True)
class System:
    """Tasks and what they use: task -> list of (resource, amount), task -> bound."""

    capacities: dict[str, float]
    fatpipes: frozenset[str]
    uses: dict[str, list[tuple[str, float]]]
    bounds: dict[str, float] = field(default_factory=dict)

    def without(self, task: str) -> System:
        """The same without a task."""
        uses = {name: uses for name, uses in self.uses.items() if name != task}
        return System(self.capacities, self.fatpipes, uses, self.bounds)

    def alone(self, task: str) -> System:
        """One task of it."""
        return System(self.capacities, self.fatpipes, {task: self.uses[task]}, self.bounds)


def draw(rng: random.Random, *, fatpipes: bool = True, twice: bool = True) -> System:
    """Up to six tasks on up to five resources; some bounded, some alike, some that use a resource twice."""
    resources = [f"r{number}" for number in range(rng.randint(1, 5))]
    capacities = {name: rng.choice([1e3, 1e8, 1e9, 1.25e8, rng.uniform(1e7, 1e9)]) for name in resources}
    fat = frozenset(name for name in resources if fatpipes and rng.random() < 0.25)
    uses: dict[str, list[tuple[str, float]]] = {}
    bounds: dict[str, float] = {}
    for number in range(rng.randint(1, 6)):
        task = f"t{number}"
        if uses and rng.random() < 0.2:
            uses[task] = list(uses[rng.choice(sorted(uses))])
            continue
        chosen = rng.sample(resources, rng.randint(1, len(resources)))
        if twice and rng.random() < 0.15:
            chosen.append(chosen[0])
        uses[task] = [(name, rng.choice([1e6, 1e7, rng.uniform(1e6, 1e8)])) for name in chosen]
        if rng.random() < 0.4:
            fastest = min(capacities[name] / amount for name, amount in uses[task])
            bounds[task] = fastest * rng.choice([0.1, 0.25, 0.5, 1.0, rng.random() + 1e-3])
    return System(capacities, fat, uses, bounds)


def naive(system: System) -> dict[str, float] | None:
    """Task -> rate, by the rules in the order in which they stand in the specification; None if it takes too long."""
    rate = dict.fromkeys(system.uses, 0.0)
    last = dict.fromkeys(system.uses, 0.0)
    rest = dict(system.capacities)
    live = {task for task, uses in system.uses.items() if any(amount > 0 for _, amount in uses)}
    for task in system.uses.keys() - live:
        rate[task] = 1.0
    for _ in range(500):
        if not live:
            return rate
        share: dict[str, float] = {}
        for name in list(rest):
            askers = sum(used == name for task in live for used, _ in system.uses[task])
            if not askers:
                del rest[name]
            else:
                share[name] = rest[name] / (min(askers, 1) if name in system.fatpipes else askers)
        for task in sorted(live):
            least = min(share[name] / amount for name, amount in system.uses[task])
            bound = system.bounds.get(task, math.inf)
            last[task] = min(least, bound - rate[task])
            rate[task] += last[task]
            if rate[task] == bound:
                live.discard(task)
        for name in list(rest):
            charges = [
                amount * last[task] for task, uses in system.uses.items() for used, amount in uses if used == name
            ]
            rest[name] -= min(share[name], *charges) if name in system.fatpipes else sum(charges)
            if rest[name] < 1e-5:
                del rest[name]
                live -= {task for task, uses in system.uses.items() if any(used == name for used, _ in uses)}
    return None
