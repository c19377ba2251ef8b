"""The mark of the best values of a metric."""

from __future__ import annotations

import pytest

from batsched_py.reporting.metrics.best import find_best
from batsched_py.reporting.metrics.catalogue import METRIC_INFO


@pytest.mark.parametrize(
    ("name", "values", "best"),
    [
        ("mean_wait", (100.0, 50.0, 200.0), (False, True, False)),
        ("utilisation", (0.25, 0.5, 0.1), (False, True, False)),
        ("killed", (0, 1), (True, False)),
        ("mean_wait", (50.0, 50.02, 100.0), (True, True, False)),
        ("mean_wait", (None, 50.0, 100.0), (False, True, False)),
        ("mean_wait", (None, 50.0), (False, False)),
        ("mean_wait", (100.0,), (False,)),
        ("mean_wait", (), ()),
        ("mean_wait", (100.0, 100.0 + 1e-9), (False, False)),
        ("mean_wait", (100.0, 100.04), (False, False)),
        ("utilisation", (0.5, 0.5004), (False, False)),
        ("idle_time", (10.0, 20.0), (False, False)),
        ("jobs", (10, 20), (False, False)),
    ],
)
def test_the_best_is_marked_if_it_is_visibly_so(
    name: str, values: tuple[float | None, ...], best: tuple[bool, ...]
) -> None:
    """In the metric's direction; nothing is if there is none, or nothing to compare."""
    assert find_best(METRIC_INFO[name], values) == best
