"""Filters of resources: neighbours, and the best of several sets (`batsim.sched.algorithms.utils`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def filter_func_consecutive_resources(
    current_time: float,
    job: Any,
    min_entries: int,
    max_entries: int,
    current_result: list[Any],
    current_remaining: list[Any],
    r: Any,
) -> bool:
    """Accept a resource next to the last accepted one."""
    return not current_result or abs(r.id - current_result[-1].id) == 1


def best_find_one_of(*fs: Callable[..., int]) -> Callable[..., int]:
    """Return a comparison that prefers a set if any of the comparisons does."""
    return lambda *args: int(any(one(*args) > 0 for one in fs))


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


def _shared(time: float, resources: Sequence[Any]) -> float:
    return min((one.time_free(time=time) for one in resources), default=0)


def best_find_more_resources(
    time: float, job: Any, least: int, most: int, best: Any, best_rest: Any, found: Any, rest: Any
) -> int:
    """Prefer the set with more resources."""
    return _sign(len(found) - len(best))


def best_find_more_remaining_resources(
    time: float, job: Any, least: int, most: int, best: Any, best_rest: Any, found: Any, rest: Any
) -> int:
    """Prefer the set that leaves more resources."""
    return _sign(len(rest) - len(best_rest))


def best_find_longest_remaining_time(
    time: float, job: Any, least: int, most: int, best: Any, best_rest: Any, found: Any, rest: Any
) -> int:
    """Prefer the set whose rest stays free longer."""
    new, old = _shared(time, rest), _shared(time, best_rest)
    return (new > old) - (new < old)


def best_find_shortest_current_time(
    time: float, job: Any, least: int, most: int, best: Any, best_rest: Any, found: Any, rest: Any
) -> int:
    """Prefer the set that stays free for less time."""
    new, old = _shared(time, found), _shared(time, best)
    return (old > new) - (old < new)


def generate_resources_filter(
    filter_funcs: Sequence[Callable[..., Any]] = (), find_best_funcs: Sequence[Callable[..., int]] = ()
) -> Callable[..., list[Any]]:
    """Return a filter that collects resources from each position on, and keeps the first or the best set.

    A resource is taken if all of `filter_funcs` accept it; the first of `find_best_funcs` that is not 0 compares.
    """

    def choose(
        resources: Any, job: Any, current_time: float, max_entries: Any = None, min_entries: Any = None, **rest: Any
    ) -> list[Any]:
        given = list(resources)
        best: list[Any] = []
        others: list[Any] = []
        for begin in range(len(given) - min_entries + 1):
            found: list[Any] = []
            left = list(given)
            for one in given[begin:]:
                values = (current_time, job, min_entries, max_entries, found, left, one)
                if all(accepts(*values) for accepts in filter_funcs):
                    found.append(one)
                    left.remove(one)
                if len(found) == max_entries:
                    break
            if len(found) < min_entries:
                continue
            sets = (current_time, job, min_entries, max_entries, best, others, found, left)
            if not best or next((sign for one in find_best_funcs if (sign := one(*sets))), 0) > 0:
                best, others = found, left
            if not find_best_funcs:
                break
        return best

    return choose


default_resources_filter = generate_resources_filter(
    [filter_func_consecutive_resources],
    [
        best_find_more_resources,
        best_find_shortest_current_time,
        best_find_more_remaining_resources,
        best_find_longest_remaining_time,
    ],
)


def consecutive_resources_filter(
    resources: Any, job: Any, current_time: float, max_entries: Any = None, min_entries: Any = None, **rest: Any
) -> list[Any]:
    """Return the first resources that are neighbours."""
    given = list(resources)
    for begin in range(len(given) - min_entries + 1):
        found: list[Any] = [given[begin]]
        for one in given[begin + 1 :]:
            if len(found) == max_entries:
                break
            if abs(one.id - found[-1].id) == 1:
                found.append(one)
        if len(found) >= min_entries:
            return found
    return []
