"""An allowance of energy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.schedulers.energy.token_bucket import TokenBucket


def test_joules_come_in_at_a_rate_less_what_is_drawn_anyway() -> None:
    """10 s at 100 W, of which 40 W are drawn: 600 J."""
    bucket = TokenBucket(0, 100, 1000)
    bucket.accrue(10, 40)
    assert bucket.joules == 600
    bucket.accrue(15, 140)
    assert bucket.joules == 400


def test_at_most_the_limit_is_kept() -> None:
    """Tokens that are not spent in time are lost, and so are returned ones."""
    bucket = TokenBucket(0, 100, 1000)
    bucket.accrue(60, 0)
    assert bucket.joules == 1000
    bucket.pay(300)
    assert bucket.joules == 700
    bucket.pay(-500)
    assert bucket.joules == 1000


def test_it_tells_when_so_much_can_be_paid() -> None:
    """500 J at 60 W net take 25/3 s; never more than the limit, never without an income, at once what is there."""
    bucket = TokenBucket(5, 100, 1000)
    assert bucket.ready(500, 40) == pytest.approx(5 + 500 / 60)
    assert bucket.ready(0, 40) == 5
    assert bucket.ready(1001, 40) == math.inf
    assert bucket.ready(1, 100) == math.inf


def test_it_tells_what_will_be_left() -> None:
    """After a payment now, and no more than the limit."""
    bucket = TokenBucket(0, 100, 1000)
    bucket.accrue(8, 0)
    assert bucket.after(1, 50, 200) == 650
    assert bucket.after(100, 50, 200) == 1000


@given(st.lists(st.tuples(st.floats(0.1, 50), st.floats(0, 90), st.floats(0, 500), st.floats(0, 1)), max_size=30))
def test_what_was_spent_never_exceeds_what_came_in(steps: list[tuple[float, float, float, float]]) -> None:
    """This holds if only present tokens are paid, and a part of them is returned."""
    bucket, spent, now = TokenBucket(0, 100, 1000), 0.0, 0.0
    for seconds, watts, joules, unused in steps:
        now += seconds
        bucket.accrue(now, watts)
        spent += watts * seconds
        if bucket.ready(joules, watts) <= now:
            bucket.pay(joules)
            bucket.pay(-joules * unused)
            spent += joules * (1 - unused)
        assert spent <= 100 * now + 1e-6
