"""Sums of what executors send each other: equal, to the last bit, to those of the pairs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import inf, ldexp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.simulator.contention.exchanges import AllToAll, Exchange, Matrix, add_repeatedly

UNEVEN = Matrix((3, 5, 8), (0.0, 0.1, 0.2, 0.3, 0.0, 0.7, 1.1, 1.3, 0.0))
TO_ITSELF = Matrix((3, 5), (0.1, 0.2, 0.3, 0.7))


def one_by_one(total: float, amounts: Sequence[float]) -> float:
    """The sum, rounded each time (which the builtin `sum` is not, from Python 3.12 on)."""
    for amount in amounts:
        total += amount
    return total


@pytest.mark.parametrize("exchange", [UNEVEN, TO_ITSELF, AllToAll((3, 5, 8, 13), 0.1)])
def test_sums_are_those_of_the_pairs(exchange: Exchange) -> None:
    """They are the bytes sent, received and both, added to the earlier load of a link."""
    pairs = list(exchange)
    assert exchange.all().added_to(0.3) == one_by_one(0.3, [amount for *_, amount in pairs])
    assert exchange.all().largest() == max(amount for *_, amount in pairs)
    for position, host in enumerate(exchange.hosts):
        sent = [amount for source, _, amount in pairs if source == host]
        received = [amount for _, target, amount in pairs if target == host]
        both = [amount for source, target, amount in pairs if host in {source, target}]
        for amounts, expected in [
            (exchange.sent(position), sent),
            (exchange.received(position), received),
            (exchange.passed(position), both),
        ]:
            assert amounts.added_to(0.3) == one_by_one(0.3, expected)
            assert amounts.largest() == max(expected)


def test_who_sends_to_itself() -> None:
    """A matrix may say so."""
    assert UNEVEN.is_to_others
    assert AllToAll((1, 2), 5.0).is_to_others
    assert not TO_ITSELF.is_to_others


@given(st.floats(0, 1e300), st.floats(0, 1e300), st.integers(0, 2000))
def test_many_additions_are_rounded_one_by_one(total: float, amount: float, times: int) -> None:
    """This holds for any magnitudes."""
    assert add_repeatedly(total, amount, times) == one_by_one(total, [amount] * times)


def test_many_additions_are_rounded_one_by_one_where_sums_are_halfway_between_two_numbers() -> None:
    """Amounts with all bits set or not, totals some powers of two above them."""
    rng = random.Random(20)
    for _ in range(3000):
        amount = ldexp(rng.getrandbits(53) | 1, rng.randint(-60, 60))
        total = rng.choice([0.0, amount * rng.random() * 2 ** rng.randint(0, 55)])
        times = rng.randint(0, 600)
        assert add_repeatedly(total, amount, times) == one_by_one(total, [amount] * times)


def test_too_many_additions_are_infinite() -> None:
    """As a sum one by one is, which would take days here."""
    assert add_repeatedly(0.0, 1e300, 10**12) == inf
