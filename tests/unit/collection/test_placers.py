"""Placers: what they propose of what a collection knows, and users' own (L22, L38)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.collection.alternatives import ObjectPlacement, Schedule, read_alternatives, write_alternatives
from batsched_py.collection.classes import JobClass
from batsched_py.collection.collection import Collection
from batsched_py.collection.enactor import Enactor
from batsched_py.collection.placers import PLACERS, PlacementRequest, Placer, PlacerSettings
from batsched_py.collection.resources import CollectionResource
from batsched_py.collection.tokens import Request
from batsched_py.errors import PlanError
from batsched_py.loading import load_object
from batsched_py.queries.parser import parse

EVERYWHERE = parse("true")


def collection(*names: str, **attributes: Any) -> Collection:
    """Idle hosts of these names."""
    hosts = Collection()
    for name in names:
        hosts.join(name, {"kind": "host", "name": name, "load": 0.0, "up": True, **attributes})
    return hosts


def placer(hosts: Collection, resources: dict[str, CollectionResource] | None = None, **settings: Any) -> Placer:
    """One over these hosts."""
    return Placer(hosts, Enactor((resources or {}).get), PlacerSettings(**settings))


def hosts_of(schedules: Sequence[Schedule]) -> list[list[str]]:
    """The hosts of schedules."""
    return [[placement.host for placement in schedule] for schedule in schedules]


def test_a_placer_proposes_what_suits() -> None:
    """Each schedule after the first differs in one host, until there are no others or enough."""
    request = PlacementRequest(["a", "b"], parse('$name != "B"'), without=["C"])
    assert hosts_of(placer(collection(*"ABCDEF"), alternatives=3).schedule(request)) == [
        ["A", "D"],
        ["A", "E"],
        ["F", "E"],
    ]
    assert placer(collection(*"ABC")).schedule(request) == []


def test_candidates_are_shown_and_nothing_is_reserved() -> None:
    """Hosts that are free now, in the order of the class, and vaults with the class's names."""
    hosts = collection(*"ABC")
    hosts.update("B", {"load": 1.0})
    for name, space in (("VA", 10), ("VB", 20), ("VC", 30)):
        hosts.join(name, {"kind": "vault", "name": name, "free_space": space})
    resources = {name: CollectionResource(name) for name in ("A", "B", "C", "VA", "VB", "VC")}
    one = placer(hosts, resources)
    found = one.candidate_placements(JobClass(vaults=("VA", "VC")))
    assert (list(found.hosts), list(found.vaults)) == (["A", "C"], ["VC", "VA"])
    assert list(one.candidate_placements(JobClass(hosts=("C", "B"))).hosts) == ["C"]
    assert one.enactor.requests == 0
    assert not any(resource.tokens(0) for resource in resources.values())


def test_collection_and_enactor_may_be_replaced() -> None:
    """From the next request on."""
    one = placer(collection("A"))
    assert hosts_of(one.schedule(PlacementRequest(["o"], EVERYWHERE))) == [["A"]]
    one.collection, one.enactor = collection("B"), Enactor({"B": CollectionResource("B")}.get)
    schedules = one.schedule(PlacementRequest(["o"], EVERYWHERE))
    assert hosts_of(schedules) == [["B"]]
    assert one.enactor.negotiate(schedules, Request("me", 0, 10)).reserve(0)


def test_several_placers_run_at_once() -> None:
    """With collections and enactors of their own, over hosts of which some are the same: these are granted to one."""
    resources = {name: CollectionResource(name) for name in "ABC"}
    first, second = placer(collection("A", "B"), resources), placer(collection("B", "C"), resources)
    granted = []
    for turn, one in enumerate((first, second, first, second)):
        schedules = one.schedule(PlacementRequest(["o"], EVERYWHERE, turn=turn))
        talk = one.enactor.negotiate(schedules, Request(f"holder {turn}", 0, 10))
        granted.append(talk.granted[0].placement.host if talk.reserve(0) else None)
    assert granted == ["A", "B", None, "C"]
    assert [len(resource.tokens(0)) for resource in resources.values()] == [1, 1, 1]


def test_an_object_may_bring_its_alternatives() -> None:
    """Alternatives with suitable hosts are proposed; a vault that is needed and not named is added."""
    hosts = collection(*"ABC")
    hosts.join("V", {"kind": "vault", "free_space": 5})
    given_ones = [(ObjectPlacement("o", "A"),), (ObjectPlacement("o", "B"),), (ObjectPlacement("o", "C"),)]
    request = PlacementRequest(["o"], parse('$kind == "host" and $name != "B"'), alternatives=given_ones)
    assert placer(hosts).schedule(request) == [given_ones[0], given_ones[2]]
    with_vault = request._replace(vault=parse('$kind == "vault"'), space=5)
    assert placer(hosts).schedule(with_vault) == [(ObjectPlacement("o", name, "V"),) for name in "AC"]
    named = with_vault._replace(alternatives=[(ObjectPlacement("o", "A", "V"),), (ObjectPlacement("o", "C", "W"),)])
    assert placer(hosts).schedule(named) == named.alternatives
    assert placer(hosts).schedule(named._replace(without=["V"])) == [named.alternatives[1]]


OWN = """
from batsched_py.collection.placers import Placer

class Last(Placer):
    def schedule(self, request):
        names = self.collection.names(request.query, request.now)[::-1]
        first = [{"object": one, "host": name} for one, name in zip(request.objects, names)]
        return [{"placements": first}, {"difference": [{"object": request.objects[0], "host": names[-1]}]}]

class Twice(Placer):
    def schedule(self, request):
        return [{"placements": []}, {"difference": [{"object": "none", "host": "A"}]}]

class Short(Placer):
    def schedule(self, request):
        return [()]

class Broken(Placer):
    def schedule(self, request):
        raise KeyError("no such host")

class Stranger:
    def __init__(self, records, enactor, settings):
        pass

def backwards(records, draw, turn):
    return records[::-1]
"""


@pytest.fixture
def own(tmp_path: Path) -> str:
    """A file with placers."""
    (tmp_path / "own.py").write_text(OWN)
    return str(tmp_path / "own.py")


def of_own(name: str, hosts: Collection) -> Placer:
    """A placer of a user's."""
    return PLACERS.find(name, load_object).make(hosts, Enactor(lambda _: None), PlacerSettings(alternatives=1))


def test_a_class_of_a_users_own_proposes(own: str) -> None:
    """Schedules, or objects as JSON has them; a function puts records in order."""
    request = PlacementRequest(["a", "b"], EVERYWHERE)
    assert hosts_of(of_own(f"{own}:Last", collection(*"ABC")).schedule(request)) == [["C", "B"], ["A", "B"]]
    assert hosts_of(of_own(f"{own}:backwards", collection(*"ABC")).schedule(request)) == [["C", "B"]]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("Twice", "its schedules[1].difference: there is no object 'none' in the schedule that it varies"),
        ("Short", "schedule 1 must have one placement of each object that is asked for"),
        ("Broken", "it raised KeyError: 'no such host'"),
    ],
)
def test_mistakes_of_a_users_placer_are_told_as_its_own(own: str, name: str, rule: str) -> None:
    """In one line."""
    with pytest.raises(PlanError) as caught:
        of_own(f"{own}:{name}", collection(*"ABC")).schedule(PlacementRequest(["a"], EVERYWHERE))
    assert str(caught.value) == f"placer {own}:{name}: {rule}"


def test_a_class_that_is_no_placer_is_refused(own: str) -> None:
    """When the option is read."""
    with pytest.raises(ValueError, match=r"Stranger must be a function of \(records, draw, turn\), or extend Placer"):
        of_own(f"{own}:Stranger", collection("A"))


PLACED = st.builds(
    lambda hosts, vault: tuple(
        ObjectPlacement(f"o{number}", host, vault if not number else None) for number, host in enumerate(hosts)
    ),
    st.lists(st.sampled_from("ABCD"), min_size=1, max_size=4),
    st.sampled_from([None, "VA", "VB"]),
)


@given(st.lists(PLACED, min_size=1, max_size=6))
def test_schedules_that_are_written_are_read_again(schedules: list[Schedule]) -> None:
    """As differences or whole."""
    assert read_alternatives(write_alternatives(schedules)) == schedules


def test_only_what_differs_is_written() -> None:
    """The whole schedule is written if nothing differs, or other objects are placed."""
    one = (ObjectPlacement("a", "A"), ObjectPlacement("b", "B", "V"))
    other = (ObjectPlacement("a", "A"), ObjectPlacement("b", "C", "V"))
    written = write_alternatives([one, other, other, one[:1]])
    assert [list(each) for each in written] == [["placements"], ["difference"], ["placements"], ["placements"]]
    assert written[1] == {"difference": [{"object": "b", "host": "C", "vault": "V"}]}
