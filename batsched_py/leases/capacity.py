"""Capacity: quantities of resources by type, such as 100 (percent of a CPU) and 1024 (MB of memory).

A quantity is a number, or a tuple of numbers where a host has several instances of the type, as two CPUs of 100 each.
An amount never spreads over instances: it is placed by first fit, in their order. Haizea's resource tuples (H8, H16).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from batsched_py.model.resources import Quantity

#: Quantities in the order of the site's resource types.
Amounts = tuple[Quantity, ...]
#: The largest number of decimals of amounts, as `read_quantity` allows.
_DECIMALS: Final = 9


@lru_cache(maxsize=1 << 14)  # few different demands meet few different offers, and each pair very often
def fits(demand: Amounts, offer: Amounts) -> bool:
    """Return whether a demand fits into an offer."""
    for need, there in zip(demand, offer, strict=True):
        if need.__class__ is tuple or there.__class__ is tuple:
            if need and _placed(need, there) is None:
                return False
        elif need > there:  # type: ignore[operator]  # numbers
            return False
    return True


@lru_cache(maxsize=1 << 14)
def subtract(offer: Amounts, demand: Amounts) -> Amounts:
    """Return the rest of an offer after a demand that fits."""
    left: list[Quantity] = []
    for there, need in zip(offer, demand, strict=True):
        if need.__class__ is tuple or there.__class__ is tuple:
            placed = _placed(need, there) if need else there
            assert placed is not None, f"{need} does not fit in {there}"  # noqa: S101  # the caller's promise
            left.append(placed)
        else:
            left.append(_exact(there - need))  # type: ignore[operator]  # numbers
    return tuple(left)


def add(one: Amounts, other: Amounts) -> Amounts:
    """Return the combination of two demands: numbers are added, instances are concatenated."""
    found: list[Quantity] = []
    for left, right in zip(one, other, strict=True):
        if isinstance(left, tuple) or isinstance(right, tuple):
            found.append(_instances(left) + _instances(right))
        else:
            found.append(_exact(left + right))
    return tuple(found)


def total(quantity: Quantity) -> float:
    """Return the sum over all instances."""
    return sum(quantity) if isinstance(quantity, tuple) else quantity


def _placed(need: Quantity, there: Quantity) -> Quantity | None:
    """Return the rest of the instances after first-fit placement; None if the need does not fit."""
    left = list(_instances(there))
    for amount in _instances(need):
        for at, instance in enumerate(left):
            if amount <= instance:
                left[at] = _exact(instance - amount)
                break
        else:
            return None
    return tuple(left) if isinstance(there, tuple) else left[0]


def _exact(amount: float) -> float:
    """Return a sum without its rounding error: amounts have at most nine decimals."""
    return round(amount, _DECIMALS) if amount.__class__ is float else amount


def _instances(quantity: Quantity) -> tuple[float, ...]:
    return quantity if isinstance(quantity, tuple) else (quantity,)
