"""Examples of Hypothesis, drawn once for all variants of a test.

Drawing a case takes as long as playing it, and the test-suite plays each on dozens of algorithms.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis.strategies import SearchStrategy

from tests.thoroughness import thorough

Drawn = TypeVar("Drawn")

#: Number of examples for each test.
EXAMPLES = 40

#: (strategy, number of examples) -> what was drawn; a strategy is looked up as itself, not as what it draws.
_found: dict[tuple[SearchStrategy[Any], int], tuple[Any, ...]] = {}


def drawn(strategy: SearchStrategy[Drawn], examples: int = EXAMPLES) -> tuple[Drawn, ...]:
    """As many values, or more if asked for, in the order in which Hypothesis draws them."""
    examples = thorough(examples)
    if (strategy, examples) not in _found:
        values: list[Drawn] = []

        @settings(max_examples=examples, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
        @given(strategy)
        def keep(value: Drawn) -> None:
            values.append(value)

        keep()
        _found[strategy, examples] = tuple(values)
    return _found[strategy, examples]


def given_once(
    strategy: SearchStrategy[Drawn], *examples: Drawn, count: int = EXAMPLES
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """`given(strategy)` for the last argument of a test that has many variants and leaves it as it is.

    These examples are tried first, as with `example`. What fails is searched for again by Hypothesis, which makes it
    small and tells it as always.
    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        searched = given(strategy)(test)
        for each in examples:
            searched = example(each)(searched)
        last = list(inspect.signature(test).parameters)[-1]

        @wraps(searched, updated=())
        def tried(**others: Any) -> None:
            try:
                for value in (*examples, *drawn(strategy, count)):
                    test(**others, **{last: value})
            except Exception:
                searched(**others)
                raise

        return tried

    return decorate
