"""Resources as texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.model.resources import (
    format_quantity,
    format_resources,
    host_properties,
    read_quantity,
    read_resources,
)

AMOUNTS = st.integers(1, 10**9) | st.integers(1, 10**6).map(lambda thousandths: thousandths / 1000)
QUANTITIES = AMOUNTS | st.lists(AMOUNTS, min_size=2, max_size=4).map(tuple)


@given(quantity=QUANTITIES)
def test_quantity_is_read_as_it_was_written(quantity: float | tuple[float, ...]) -> None:
    """Numbers, and instances."""
    assert read_quantity(format_quantity(quantity)) == quantity


@given(resources=st.dictionaries(st.sampled_from(["CPU", "Memory", "Net-in", "Ponies"]), QUANTITIES))
def test_resources_are_read_as_they_were_written(resources: dict[str, float | tuple[float, ...]]) -> None:
    """Types keep their order."""
    assert list(read_resources(format_resources(resources)).items()) == list(resources.items())


def test_instances_with_commas() -> None:
    """If no pairs need the comma, it may separate instances."""
    assert read_quantity("100,50") == (100, 50)


@pytest.mark.parametrize("text", ["CPU:100 Memory:1024", "CPU:100, Memory:1024", "CPU:100,Memory:1024"])
def test_separators(text: str) -> None:
    """H64: blanks and commas stand between pairs."""
    assert read_resources(text) == {"CPU": 100, "Memory": 1024}


def test_properties_of_a_host() -> None:
    """CPU and memory have properties of their own, all others share one."""
    resources: dict[str, float | tuple[float, ...]] = {"CPU": (100, 100), "Memory": 1024, "Ponies": 4, "Net-in": 7.5}
    assert host_properties(resources) == {"cpu": "100+100", "mem": "1024", "capacity": "Ponies:4 Net-in:7.5"}
    assert host_properties({"CPU": 100, "Memory": 1024}) == {"cpu": "100", "mem": "1024"}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("CPU", "must be pairs like CPU:100, not 'CPU'"),
        ("CPU:", "CPU must be a number above 0, or several with . between them, not ''"),
        ("CPU:0", "CPU must be a number above 0"),
        ("CPU:-1", "CPU must be a number above 0"),
        ("CPU:1e3", "CPU must be a number above 0"),
        ("CPU:nan", "CPU must be a number above 0"),
        ("CPU:100+", "CPU must be a number above 0"),
        ("CPU:1 CPU:2", "has CPU twice"),
        ("cpu:1", "must not be a type named cpu; there are CPU and Memory"),
        ("4:1", "must be a type of letters, digits"),
    ],
)
def test_broken_rules(text: str, rule: str) -> None:
    """The rule names the type and what is wrong with it."""
    with pytest.raises(ValueError, match=rule):
        read_resources(text)
