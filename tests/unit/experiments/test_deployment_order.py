"""Deployment orders: each resource after those it needs, otherwise as the document has them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.experiments.api import (
    AddressOf,
    Compute,
    DependencyCycleError,
    Experiment,
    Network,
    Reference,
    Resource,
    Router,
    SiteLink,
    Storage,
    deployment_order,
)


def compute(name: str, *needed: str, count: int = 1, after: tuple[str, ...] = (), **members: object) -> Compute:
    """A compute that needs the addresses of others."""
    contexts = {f"{one}_ip": AddressOf(one, "BonFIRE WAN") for one in needed}
    members.setdefault("locations", ("uk-epcc",))
    return Compute(name, count=count, contexts=contexts, after=after, **members)  # type: ignore[arg-type]


def order(*resources: Resource) -> list[str]:
    """Names in the order of deployment."""
    return [one.name for one in deployment_order(Experiment("e", 60.0, resources=resources))]


def test_instances_of_a_template_stand_together_in_turn_at_its_locations() -> None:
    """MA-2, M31: a compute of three becomes three."""
    experiment = Experiment(
        "e", 60.0, resources=(compute("Client", count=3, locations=("a", "b"), reserved=("x", "y", "z")),)
    )
    planned = deployment_order(experiment)
    assert [(one.name, one.location, one.reserved) for one in planned] == [
        ("Client-1", "a", "x"),
        ("Client-2", "b", "y"),
        ("Client-3", "a", "z"),
    ]


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        pytest.param(
            (
                compute("c", networks=(Reference("n"),), storages=(Reference("s"),)),
                Storage("s", "uk-epcc", 1.0),
                Network("n", "uk-epcc"),
            ),
            ["s", "n", "c"],
            id="MA-3",
        ),
        pytest.param((compute("a", "b"), compute("b", "c"), compute("c")), ["c", "b", "a"], id="MA-4"),
        pytest.param((compute("Client", after=("Server",)), compute("Server")), ["Server", "Client"], id="MA-39"),
        pytest.param((compute("c"), compute("a"), compute("b")), ["c", "a", "b"], id="MA-41"),
        pytest.param((compute("a", "b"), compute("b", count=3)), ["b-1", "b-2", "b-3", "a"], id="MA-44"),
        pytest.param(
            (
                compute("c", networks=(Reference("r"), Reference("l"))),
                SiteLink("l", ("x", "y"), 100.0),
                Router("r", "x", (Reference("n"), Reference("m"))),
                Network("n", "x"),
                Network("m", "y"),
            ),
            ["n", "m", "l", "r", "c"],
            id="M20",
        ),
    ],
)
def test_a_resource_comes_after_those_that_it_needs(resources: tuple[Resource, ...], expected: list[str]) -> None:
    """Independent resources come in the document's order."""
    assert order(*resources) == expected


@pytest.mark.parametrize(
    ("resources", "cycle"),
    [
        pytest.param((compute("a", "b"), compute("b", "a")), "cycle a -> b -> a", id="MA-5"),
        pytest.param(
            (compute("Server", after=("Client",)), compute("Client", "Server")),
            "cycle Server -> Client -> Server",
            id="MA-40",
        ),
        pytest.param((compute("a", "a"),), "cycle a -> a", id="itself"),
        pytest.param(
            (compute("z"), compute("a", "c"), compute("b", "a"), compute("c", "b")),
            "cycle a -> c -> b -> a",
            id="three",
        ),
    ],
)
def test_a_cycle_is_named(resources: tuple[Resource, ...], cycle: str) -> None:
    """Each needs the next; it begins with the first of the document."""
    with pytest.raises(DependencyCycleError) as error:
        order(*resources)
    assert str(error.value) == cycle


def test_who_depends_on_a_template_needs_all_addresses() -> None:
    """MA-44: all instances, in their order."""
    experiment = Experiment("e", 60.0, resources=(compute("a", "b"), compute("b", count=3)))
    assert deployment_order(experiment)[-1].addresses == ("b-1", "b-2", "b-3")


@st.composite
def experiments(draw: st.DrawFn) -> Experiment:
    """Experiments without cycles: each compute needs only those of a hidden order before it."""
    names = [f"c{number}" for number in range(draw(st.integers(1, 12)))]
    hidden = draw(st.permutations(names))
    resources = []
    for number, name in enumerate(hidden):
        before = hidden[:number]
        needed = draw(st.lists(st.sampled_from(before), max_size=3, unique=True)) if before else []
        after = draw(st.lists(st.sampled_from(before), max_size=3, unique=True)) if before else []
        resources.append(compute(name, *needed, count=draw(st.integers(1, 3)), after=tuple(after)))
    return Experiment("e", 60.0, resources=tuple(draw(st.permutations(resources))))


@given(experiments())
def test_every_edge_is_respected(experiment: Experiment) -> None:
    """Nothing is lost, and each comes after what it needs."""
    planned = deployment_order(experiment)
    at = {one.name: number for number, one in enumerate(planned)}
    assert len(at) == len(planned) == sum(one.count for one in experiment.resources if isinstance(one, Compute))
    for one in planned:
        assert all(at[name] < at[one.name] for name in (*one.after, *one.addresses))
        assert set(one.addresses) <= set(one.after)
