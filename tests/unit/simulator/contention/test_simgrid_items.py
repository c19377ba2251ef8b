"""Configuration items of SimGrid."""

from __future__ import annotations

import pytest

from batsched_py.simulator.contention.simgrid_items import is_known


@pytest.mark.parametrize(
    ("item", "known"),
    [
        ("contexts/stack_size", True),
        ("contexts/stack-size", True),
        ("network/TCP-gamma", True),
        ("smpi/whatever", True),
        ("tracing", True),
        ("network/TCP-gama", False),
        ("stack_size", False),
        ("", False),
    ],
)
def test_items_of_simgrid(item: str, known: bool) -> None:
    """With hyphens, and with underscores as formerly; families of many items are not looked into."""
    assert is_known(item) is known
