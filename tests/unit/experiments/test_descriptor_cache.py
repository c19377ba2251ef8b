"""Reading of large descriptors: the cost grows as their size, and nothing is read twice."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from batsched_py.experiments.api import InvalidDescriptorError, Situation, deployment_order, read_descriptor
from batsched_py.experiments.descriptor_cache import DescriptorReader


def compute(name: str, **members: Any) -> dict[str, Any]:
    """Return a compute of a descriptor."""
    return {"compute": {"name": name, "locations": ["here"], **members}}


def descriptor(*resources: dict[str, Any], **members: Any) -> bytes:
    """Return a descriptor."""
    return json.dumps({"name": "large", "duration": 60, "resources": resources, **members}).encode()


def independent(number: int) -> bytes:
    """Return a descriptor of computes that need nothing."""
    return descriptor(*(compute(f"c{index}") for index in range(number)))


def chained(number: int) -> bytes:
    """Return a descriptor of computes each of which needs the one before."""
    return descriptor(
        *(compute(f"c{index}", **({"after": [f"c{index - 1}"]} if index else {})) for index in range(number))
    )


def joined(number: int) -> bytes:
    """Return a descriptor of networks at two locations, and one link between these."""
    networks = [{"network": {"name": f"n{index}", "location": "ab"[index % 2]}} for index in range(number)]
    return descriptor({"site_link": {"name": "link", "endpoints": ["b", "a"], "bandwidth": 10}}, *networks)


def calls(work: Callable[[], object]) -> int:
    """Count the calls, of Python and of C, that some work makes."""
    counted = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counted


@pytest.mark.parametrize("make", [independent, chained])
def test_a_descriptor_of_twice_the_size_costs_twice_as_much(make: Callable[[int], bytes]) -> None:
    """It would be four times as much if each resource looked at all others."""
    small, large = make(300), make(600)
    reader = DescriptorReader(lambda _: None)
    ratio = calls(lambda: reader.read(large, Situation(), None, "")) / calls(
        lambda: reader.read(small, Situation(), None, "")
    )
    assert ratio < 2.2


def test_a_link_needs_the_networks_at_its_ends_in_the_order_of_the_document() -> None:
    """The order of its ends does not matter."""
    needs = {one.name: one.after for one in deployment_order(read_descriptor("", joined(6)))}
    assert needs["link"] == tuple(f"n{index}" for index in range(6))
    assert needs["n0"] == ()


def test_what_was_checked_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the situation, or the time of the site's beginning, is another one; small ones are not worth it."""
    read = list[bytes]()

    def counted(place: str, content: bytes, *rest: Any, **named: Any) -> Any:
        read.append(content)
        return read_descriptor(place, content, *rest, **named)

    monkeypatch.setattr("batsched_py.experiments.descriptor_cache.read_descriptor", counted)
    reader, content, situation = DescriptorReader(lambda _: None), independent(50), Situation()
    checked = reader.check(content, situation, None, "")
    assert reader.read(content, Situation(now=7.0), None, "") is checked
    assert len(read) == 1
    assert reader.read(content, situation, None, "").experiment == checked.experiment
    assert len(read) == 2  # only once is it submitted
    reader.check(content, situation, None, "")
    reader.read(content, Situation(reservations=False), None, "")
    assert len(read) == 4
    begins = descriptor(*(compute(f"c{index}") for index in range(50)), start=10)
    reader.check(begins, situation, None, "")
    with pytest.raises(InvalidDescriptorError, match="in the past"):
        reader.read(begins, Situation(now=20.0), None, "")


def test_entries_with_all_instances_are_limited() -> None:
    """Before they are made: a small document could ask for millions."""
    entries = [{"at": index + 1, "run": "x", "takes": 1} for index in range(1001)]
    with pytest.raises(InvalidDescriptorError) as caught:
        read_descriptor("", descriptor(compute("c", min=100, timeline=entries)))
    assert [str(fault) for fault in caught.value.faults] == [
        "resources: must have timelines of at most 100000 entries with all instances, not 100100"
    ]
    read_descriptor("", descriptor(compute("c", min=100, timeline=entries[:10])))
