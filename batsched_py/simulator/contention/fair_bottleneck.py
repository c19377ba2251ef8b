"""Fair bottleneck: the rates of tasks that share resources, by the algorithm of SimGrid's solver of that name.

Source: the solver `fairbottleneck` of SimGrid 3.32, which is the default of its model of parallel tasks (ptask_L07).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from operator import truediv
from typing import Final

from msgspec import Struct

# Progressive filling: rates rise together until a resource is exhausted, its users are fixed, and the others continue.
# In the textbook version (max-min fairness) that ends after at most one round for each resource. SimGrid's solver
# differs in two points, described in `fair_rates`, which change the ends of jobs in recorded runs: a textbook solver
# would be simpler, but would not give Batsim's times (ADR 36).
#
# One of the two makes its number of rounds unbounded. A FATPIPE resource is charged for the slowest of its users alone,
# so that a very slow one leaves nearly all of it for the others, again and again. After MOST_ROUNDS the rates are
# recomputed with the fastest user charged, which exhausts no resource beyond its capacity, and the run names this
# among its approximations.
#
# Between two rounds `_live` has the loads that may still rise, in their order; `_counts[r]` is the number of uses of
# resource r by these; `_left` has the resources that are not exhausted. The users of a resource include fixed loads,
# since each is charged once more for its latest rise. A resource whose users are all fixed affects nothing any more,
# and is not charged: therefore those that made the lowest offers, which are exhausted most often, come first.
# Resources with a single user are excluded: they are folded into a ceiling of its rate before
# (`Activity.private_limit`), so that the solver sees a few shared links instead of hundreds of private ones. Without
# ceilings, and with all pairs of hosts walked, 2 000 jobs on 80 640 hosts took 151 s instead of 10 s.
#
# Sums are made from left to right as SimGrid's: `sum` of Python 3.12 and later compensates for rounding, and a last bit
# decides which of two tasks ends first. A round costs O(uses); the tests compare with a naive solver on thousands of
# drawn systems.

#: Remaining capacities below this count as 0 (SimGrid's `maxmin/precision`), in flop/s or bytes per second.
PRECISION: Final = 1e-5
#: Rounds after which another method is used: in rare cases SimGrid would continue practically forever.
MOST_ROUNDS: Final = 3_000


class Resource(Struct, frozen=True):
    """A processor or a link.

    Attributes:
        capacity: flop/s or bytes per second.
        users: (position of a load, amount that the whole task needs, in flops or bytes, more than 0), in the order of
            the loads; each of several executors counts as a user.
        shared: True if its users divide the capacity; False (FATPIPE) if each may use all of it.
    """

    capacity: float
    users: Sequence[tuple[int, float]]
    shared: bool = True


class Load(Struct, frozen=True):
    """The needs of one task.

    Attributes:
        resources: positions of the resources that it uses.
        amounts: amount that it needs of each of these, as in their `users`.
        bound: maximum rate, in 1/s.
        ceiling: rate in 1/s at which the first resource without other users is exhausted; these resources are not in
            `resources`.
        ceiling_amount: amount that the whole task needs of that resource.
    """

    resources: Sequence[int]
    amounts: Sequence[float]
    bound: float = math.inf
    ceiling: float = math.inf
    ceiling_amount: float = 1.0


class Rates(Struct, frozen=True):
    """The rates of tasks, in 1/s: the share of its work that each completes in one second.

    `rounds` is the number of rounds that they took. `settled` is False if SimGrid needs more than `MOST_ROUNDS` for
    them: then no FATPIPE resource is exceeded.
    """

    values: Sequence[float]
    rounds: int
    settled: bool = True


def fair_rates(resources: Sequence[Resource], loads: Sequence[Load]) -> Rates:
    """Return the rate of each load.

    In each round every resource offers equal shares of its remaining capacity to its users that are not fixed,
    independent of their amounts; each task's rate rises to the minimum of its offers, its bound and its ceiling. A task
    is fixed at its bound, at its ceiling, or when a resource that it uses is exhausted.

    Two properties of SimGrid's solver are reproduced because they affect results: in each later round a resource is
    charged again for the last rise of a fixed task, and may therefore remain partly idle; and a FATPIPE resource is
    charged only for its slowest user, so a task that shares it with a slower one may exceed its capacity.
    """
    state = _Rounds(resources, loads)
    if state.settle(min):
        return Rates(state.rates, state.rounds)
    state = _Rounds(resources, loads)
    state.settle(max)
    return Rates(state.rates, MOST_ROUNDS, settled=False)


class _Rounds:
    """The state between two rounds."""

    def __init__(self, resources: Sequence[Resource], loads: Sequence[Load]) -> None:
        self._resources, self._loads = resources, loads
        self.rates = [0.0] * len(loads)
        self.rounds = 0
        #: Load -> its latest rise.
        self._rises = [0.0] * len(loads)
        #: Resource -> number of uses by loads that are not fixed; resource -> remaining capacity, without dropped ones.
        self._counts = [len(resource.users) for resource in resources]
        self._left = {number: resource.capacity for number, resource in enumerate(resources) if resource.users}
        #: Resource -> the share that it offers.
        self._shares = [0.0] * len(resources)
        #: Loads that are not fixed, in their order.
        self._live = dict.fromkeys(range(len(loads)))

    def settle(self, charged: Callable[[Iterable[float]], float]) -> bool:
        """Compute rounds until each load is fixed; return False if there are too many.

        `charged` selects the user for which a FATPIPE resource is charged.
        """
        while self._live and self.rounds < MOST_ROUNDS:
            self.rounds += 1
            self._offer()
            self._charge(self._rise(), charged)
        return not self._live

    def _offer(self) -> None:
        """Compute the share that each remaining resource offers; drop resources without users that can still rise."""
        left, counts, resources, shares = self._left, self._counts, self._resources, self._shares
        for number in [number for number in left if not counts[number]]:
            del left[number]
        for number, rest in left.items():
            shares[number] = rest / counts[number] if resources[number].shared else rest

    def _rise(self) -> dict[int, None]:
        """Raise the rate of each load; fix those that have reached their bound or ceiling.

        Return resources that made the lowest offers.
        """
        rates, rises, loads, share = self.rates, self._rises, self._loads, self._shares.__getitem__
        arrived, lowest = [], dict[int, None]()
        for number in self._live:
            load, rate = loads[number], rates[number]
            rise = min(load.ceiling - rate, load.bound - rate)
            offers = list(map(truediv, map(share, load.resources), load.amounts))
            if offers and (least := min(offers)) < rise:
                rise = least
                lowest[load.resources[offers.index(least)]] = None
            if rise == math.inf:  # it needs nothing
                rates[number] = 1.0
                arrived.append(number)
                continue
            rises[number] = rise
            rates[number] = rate = rate + rise
            if rate == load.bound or (load.ceiling - rate) * load.ceiling_amount < PRECISION:
                arrived.append(number)
        for number in arrived:
            self._fix(number)
        return lowest

    def _charge(self, lowest: dict[int, None], charged: Callable[[Iterable[float]], float]) -> None:
        """Subtract the rises from each remaining resource; fix the users of exhausted resources."""
        rises, left, counts, live = self._rises, self._left, self._counts, self._live
        for number in [*lowest, *[number for number in left if number not in lowest]]:
            if not counts[number]:  # no rate depends on it any more
                continue
            resource = self._resources[number]
            if resource.shared:
                sum_of_rises = 0.0
                for user, amount in resource.users:
                    sum_of_rises += amount * rises[user]
                rest = left[number] - sum_of_rises
            else:
                most = charged([amount * rises[user] for user, amount in resource.users])
                rest = left[number] - min(self._shares[number], most)
            left[number] = rest
            if rest < PRECISION:
                del left[number]
                for user, _ in resource.users:
                    if user in live:
                        self._fix(user)
                if not live:
                    return

    def _fix(self, number: int) -> None:
        del self._live[number]
        counts = self._counts
        for resource in self._loads[number].resources:
            counts[resource] -= 1
