"""Changes of requests: images, overheads, memory and reservations."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.errors import WorkloadError
from batsched_py.model.lease_terms import DiskImage, NodeSet
from batsched_py.traces.image_file import ImageList
from batsched_py.traces.lease_changes import (
    FARTHEST_START,
    NEAREST_START,
    LeaseChanges,
    VmOverheads,
    add_overheads,
    assign_images,
    draw_reservations,
    override_memory,
)
from batsched_py.traces.lease_request import LeaseRequest
from batsched_py.traces.lwf import read_lwf
from tests.clone import ROOT
from tests.unit.traces.lwf_files import REQUESTS, request

CASE = ROOT / "tests" / "data" / "haizea" / "overhead-be" / "leases.lwf"


@pytest.mark.parametrize(
    ("of", "durations"),
    [
        ("none", [(1000, None), (1000, 500), (1000, 800), (333, None)]),
        ("besteffort", [(1120, None), (1120, 570), (1000, 800), (333, None)]),
        ("all", [(1120, None), (1120, 570), (1120, 900), (387, None)]),
    ],
)
def test_overheads_of_the_recorded_case(of: str, durations: list[tuple[float, float | None]]) -> None:
    """Percent first, then booting, in whole seconds: of the request as of the real duration (not as in D18)."""
    requests = read_lwf(CASE).requests
    changed = add_overheads("", requests, VmOverheads(of, slowdown=10, boot=20))  # type: ignore[arg-type]
    assert [(one.duration, one.real) for one in changed] == durations


def test_deadline_leases_are_not_best_effort() -> None:
    """They have overheads if all have."""
    one = request(duration=100, deadline=900)
    assert add_overheads("", [one], VmOverheads("besteffort", boot=5)) == (one,)
    assert add_overheads("", [one], VmOverheads("all", boot=5)) == (one._replace(duration=105),)


def test_overheads_that_are_too_long() -> None:
    """The lease is named by its number."""
    with pytest.raises(WorkloadError, match=r"trace: lease 2: a duration with overheads must be at most 60000000000 s"):
        add_overheads("trace", [request(), request(duration=6e10)], VmOverheads("all", slowdown=1))


@given(duration=st.integers(1, 10**9), percent=st.integers(0, 1000))
def test_overheads_are_exact(duration: int, percent: int) -> None:
    """A product that is whole is not rounded up because of a float."""
    assert VmOverheads("all", slowdown=float(percent)).add(duration * 100) == duration * (100 + percent)


def test_memory() -> None:
    """Each node asks for it, whatever it had."""
    one = request()._replace(nodes=(NodeSet(1, {"CPU": 50, "Memory": (1, 2), "Disk": 3}), NodeSet(2, {"Memory": 4})))
    (changed,) = override_memory([one], 512)
    assert [dict(nodes.resources) for nodes in changed.nodes] == [
        {"CPU": 50, "Memory": 512, "Disk": 3},
        {"Memory": 512},
    ]


def test_images_in_order_of_submission() -> None:
    """H108: injected requests, which come last, have their places among the others."""
    images = ImageList("images", tuple(DiskImage(name, 1) for name in "abc"))
    changed = assign_images([request(50), request(0), request(50)], images)
    assert [one.image and one.image.name for one in changed] == ["b", "a", "c"]


@given(requests=st.lists(REQUESTS, max_size=8), share=st.floats(0, 1), seed=st.integers(0, 99))
def test_reservations_are_drawn(requests: list[LeaseRequest], share: float, seed: int) -> None:
    """Exactly the share of the best-effort leases, an hour to a day ahead; nothing else changes."""
    changed = draw_reservations(requests, share, Random(seed))
    drawn = [(old, new) for old, new in zip(requests, changed, strict=True) if old != new]
    assert len(drawn) == round(share * sum(one.best_effort for one in requests))
    for old, new in drawn:
        assert old.best_effort
        assert isinstance(new.start, float | int)
        assert NEAREST_START <= round(new.start - old.arrival, 3) <= FARTHEST_START
        assert new == old._replace(start=new.start, preemptible=False)
    assert changed == draw_reservations(requests, share, Random(seed))


def test_seeds_draw_others() -> None:
    """All over the trace, not only at its beginning."""
    requests = [request(at) for at in range(100)]
    drawn = Counter(
        number
        for seed in range(40)
        for number, one in enumerate(draw_reservations(requests, 0.2, Random(seed)))
        if not one.best_effort
    )
    assert drawn.total() == 800
    assert len(drawn) > 90


def test_changes_in_their_order() -> None:
    """Reservations are drawn before overheads are added, so that those of best-effort leases spare them."""
    images = ImageList("images", (DiskImage("a", 1),))
    changes = LeaseChanges(ar_share=1, overheads=VmOverheads("besteffort", boot=9), memory=7, images=images)
    (changed,) = changes.apply("", [request()])
    assert (changed.duration, changed.image, changed.nodes[0].resources["Memory"]) == (3600, DiskImage("a", 1), 7)
    assert LeaseChanges().apply("", [request()]) == (request(),)
