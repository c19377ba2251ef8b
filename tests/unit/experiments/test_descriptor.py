"""Descriptors of experiments: the model that JSON and OVF fill, and what is refused, with all faults at once."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from batsched_py.experiments.api import (
    AddressOf,
    Compute,
    DescriptorError,
    DescriptorSizeError,
    DescriptorSyntaxError,
    Experiment,
    InstanceType,
    InvalidDescriptorError,
    Location,
    Metric,
    Reference,
    Situation,
    Storage,
    Testbed,
    deployment_order,
    descriptor_schema,
    read_descriptor,
)
from batsched_py.reading.faults import MOST_FAULTS

EXPERIMENTS = Path(__file__).parents[2] / "data" / "experiments"
WAN = Reference("BonFIRE WAN", exists=True)


def compute(name: str, **members: Any) -> dict[str, Any]:
    """A compute at uk-epcc."""
    return {"compute": {"name": name, "locations": ["uk-epcc"], **members}}


def document(*resources: dict[str, Any], **members: Any) -> dict[str, Any]:
    """A document of two hours."""
    return {"name": "test", "duration": 120, "resources": list(resources), **members}


def read(content: Any, situation: Situation = Situation(), **options: Any) -> Experiment:  # noqa: B008  # frozen
    """The experiment of a document."""
    return read_descriptor("e.json", json.dumps(content).encode(), situation, **options)


def faults(content: Any, situation: Situation = Situation()) -> dict[str, str]:  # noqa: B008  # frozen
    """Path -> message of all that is wrong."""
    with pytest.raises(InvalidDescriptorError) as found:
        read(content, situation)
    return {fault.path: fault.rule for fault in found.value.faults}


def test_both_forms_of_an_experiment_are_one_model() -> None:
    """MA-14: JSON and OVF give identical models and orders, MA-1's."""
    models = [read_descriptor(path.name, path.read_bytes()) for path in sorted(EXPERIMENTS.glob("ma-1.*"))]
    assert len(models) == 2
    assert models[0] == models[1]
    server, client = models[0].resources
    assert isinstance(server, Compute)
    assert isinstance(client, Compute)
    assert server.storages == (Reference("BonFIRE Debian Squeeze v5", exists=True),)
    assert client.contexts == {"server_ip": AddressOf("Server", "BonFIRE WAN"), "role": "client"}
    assert [one.name for one in deployment_order(models[0])] == ["Server", "Client"]
    assert models[0].duration == 7200


def test_both_forms_have_storages_networks_and_order() -> None:
    """The larger pair: images and disks, a network, explicit order, an aggregator, metrics, a timeline."""
    models = [read_descriptor(path.name, path.read_bytes()) for path in sorted(EXPERIMENTS.glob("all.*"))]
    assert len(models) == 2
    assert models[0] == models[1]
    names = [one.name for one in deployment_order(models[0])]
    assert names == ["BonFIRE-Monitor", "data", "lan", "Server", "Client-1", "Client-2", "Last"]


@pytest.mark.parametrize("value", [120, "120", "PT2H", "PT120M"])
def test_durations_are_minutes_or_iso_8601(value: Any) -> None:
    """MA-33."""
    assert read(document(duration=value)).duration == 7200


@pytest.mark.parametrize("value", [0, -1, "2h", True, None, "", "PT0S", "-PT1H", 1.5, 10**12, "P1Y", [120]])
def test_other_durations_are_refused(value: Any) -> None:
    """MA-33, MA-6."""
    assert list(faults(document(duration=value))) == ["duration"]


def test_a_cycle_is_named() -> None:
    """MA-5, MA-40."""
    a = compute("a", contexts=[{"b_ip": ["b", "BonFIRE WAN"]}])
    b = compute("b", contexts=[{"a_ip": ["a", "BonFIRE WAN"]}])
    assert faults(document(a, b)) == {"resources[0].compute": "cycle a -> b -> a"}
    server = compute("Server", after=["Client"])
    client = compute("Client", contexts=[{"server_ip": ["Server", "BonFIRE WAN"]}])
    assert faults(document(server, client)) == {"resources[0].compute": "cycle Server -> Client -> Server"}
    assert faults(document(compute("a", contexts=[{"ip": ["a", "n"]}]))) == {"resources[0].compute": "cycle a -> a"}


def test_all_faults_are_found_at_once() -> None:
    """MA-6: unknown reference, duplicate name, missing locations, each with its path."""
    first = {"compute": {"name": "a", "resources": [{"storage": "nope"}]}}
    assert faults(document(first, compute("Server", after=["Serve"]))) == {
        "resources[0].compute.locations": "is missing: name a location, or give a constraint",
        "resources[0].compute.resources": "nope: the experiment has no such storage",
        "resources[1].compute.after[0]": "Serve: the experiment has no such resource; did you mean Server?",
    }
    assert faults(document(compute("a"), compute("a"))) == {
        "resources[1].compute.name": "a is the name of another resource"
    }


def test_members_that_are_unknown_or_missing_are_all_noted() -> None:
    """M17: with a question for one that is like a known one."""
    found = faults({"nam": "x", "duration": 0, "resources": [{"compute": {"locations": "uk"}}, {"disk": {}}, 3]})
    assert list(found) == [
        "nam",
        "duration",
        "resources[0].compute.locations",
        "resources[0].compute.name",
        "resources[1].disk",
        "resources[2]",
        "name",
    ]
    assert "did you mean name?" in found["nam"]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"{", "line 1"),
        (b"", "line 1"),
        (b'{"duration": NaN}', "duration"),
        (b"<Envelope>", "XML"),
        (b"<!DOCTYPE a [<!ENTITY b 'c'>]><Envelope>&b;</Envelope>", "document type"),
        (b"<a>" * 21 + b"</a>" * 21, "deeper than 20"),
        (b"\xff\xfe", "JSON"),
    ],
)
def test_broken_syntax_is_told_apart(content: bytes, place: str) -> None:
    """MA-19: another error than that of an invalid model."""
    with pytest.raises(DescriptorSyntaxError, match=place):
        read_descriptor("e", content)


@pytest.mark.parametrize("content", ["[]", "3", '{"name": "a", "name": "b"}', '{"a":' * 150 + "1" + "}" * 150])
def test_what_is_no_such_object_is_invalid(content: str) -> None:
    """JSON, but no descriptor."""
    with pytest.raises(InvalidDescriptorError):
        read_descriptor("e", content.encode())


def test_a_document_over_1_mb_is_refused() -> None:
    """M18."""
    with pytest.raises(DescriptorSizeError, match="at most 1000000 bytes"):
        read_descriptor("e", b" " * 1_000_001)


def test_faults_are_not_listed_without_end() -> None:
    """At most 100, in little time, whatever the document."""
    with pytest.raises(InvalidDescriptorError, match="99 other errors") as found:
        read(document(*({} for _ in range(10_000))))
    assert len(found.value.faults) == MOST_FAULTS


@pytest.mark.parametrize("start", [3600, "3600", "2026-01-01T01:00:00Z", "2026-01-01T02:00:00+01:00"])
def test_a_start_is_seconds_or_an_instant(start: Any) -> None:
    """M17; the origin is the instant of second 0."""
    assert read(document(start=start), origin=datetime(2026, 1, 1, tzinfo=UTC)).start == 3600


def test_a_start_in_the_past_is_refused() -> None:
    """MA-37."""
    assert faults(document(start=99), Situation(now=100)) == {"start": "second 99 is in the past: now is second 100"}
    assert read(document(start=100), Situation(now=100)).start == 100
    assert list(faults(document(start="2026-01-01T00:00:00Z"))) == ["start"]  # no origin


def test_reservations_can_be_off() -> None:
    """M28."""
    off = Situation(reservations=False)
    assert list(faults(document(start=10, reservation="/r/1"), off)) == ["start", "reservation"]


def test_each_instance_has_its_reserved_resource() -> None:
    """MA-34: three ids for three instances, and none of them twice."""

    def reserved(*ids: str) -> dict[str, Any]:
        return document(compute("a", min=3, reserved=list(ids)), reservation="/r/1")

    assert [one.reserved for one in deployment_order(read(reserved("x", "y", "z")))] == ["x", "y", "z"]
    place = "resources[0].compute.reserved"
    assert faults(reserved("x", "y")) == {place: "must name 3, one for each instance, not 2"}
    assert faults(reserved("x", "y", "x")) == {f"{place}[2]": "x is used already"}
    assert list(faults(document(compute("a", reserved=["x"])))) == [place]


def test_instances_have_names_of_their_own() -> None:
    """M32."""
    found = faults(document(compute("Client", min=2), compute("Client-1")))
    assert found == {"resources[1].compute.name": "Client-1 is the name of instance Client-1 of Client"}
    assert len(deployment_order(read(document(compute("Client"), compute("Client-1"))))) == 2


def test_there_is_a_bound_on_instances() -> None:
    """A short document does not cost memory without end."""
    assert len(read(document(compute("a", min=10_000))).resources) == 1
    assert list(faults(document(compute("a", min=10_001)))) == ["resources"]
    squared = document(compute("a", min=320), compute("b", min=320, after=["a"]))
    assert faults(squared) == {"resources": "must have at most 100000 dependencies between instances, not 102400"}


def test_hosts_are_named_or_constrained() -> None:
    """MA-43, M31."""
    one = {"compute": {"name": "a", "constraint": "$mem>=512"}}
    resource = read(document(one)).resources[0]
    assert isinstance(resource, Compute)
    assert resource.constraint == "$mem>=512"
    assert list(faults(document(compute("a", constraint="$mem>=512")))) == ["resources[0].compute.constraint"]
    wrong = {"compute": {"name": "a", "constraint": "$mem>="}}
    assert "ends too early" in faults(document(wrong))["resources[0].compute.constraint"]


def test_catalogues_say_what_exists_where() -> None:
    """MA-45: an unknown name; an image elsewhere, with both locations; the wrong kind."""
    testbed = Testbed(
        {
            "uk-epcc": Location(storages=frozenset({"Squeeze"}), networks=frozenset({"BonFIRE WAN"})),
            "fr-inria": Location(storages=frozenset({"Wheezy"}), networks=frozenset({"BonFIRE WAN"})),
            "hp": Location(),
        }
    )

    def wrong(storage: str, *locations: str) -> dict[str, str]:
        one = compute("a", resources=[{"storage": storage}]) | {}
        one["compute"]["locations"] = list(locations)
        return faults(document(one), Situation(testbed))

    place = "resources[0].compute.resources"
    assert wrong("@Nope", "uk-epcc") == {place: "@Nope: there is no such storage at uk-epcc"}
    assert wrong("@Wheezy", "fr-inria", "uk-epcc") == {
        place: "@Wheezy: there is no such storage at uk-epcc; it is at fr-inria"
    }
    assert wrong("@BonFIRE WAN", "uk-epcc") == {place: "@BonFIRE WAN is a network at uk-epcc, and must be a storage"}
    assert wrong("@Squeeze", "uk-epc") == {
        "resources[0].compute.locations[0]": "uk-epc: unknown; did you mean uk-epcc? There are: uk-epcc, fr-inria, hp"
    }
    known = compute("a", resources=[{"storage": "@Squeeze"}, {"network": "https://api/networks/7"}])
    assert read(document(known), Situation(testbed)).resources
    nobody_knows = {"compute": {"name": "a", "locations": ["hp"], "resources": [{"storage": "@Any"}]}}
    assert read(document(nobody_knows), Situation(testbed)).resources


def test_a_suggestion_from_a_large_catalogue_is_the_same_in_every_process() -> None:
    """The first names are compared, and the order of a set depends on the process."""
    catalogue = Location(storages=frozenset(f"disk{number:04}" for number in range(5_000)))
    one = {"compute": {"name": "a", "locations": ["hp"], "resources": [{"storage": "@disc0000"}]}}
    assert faults(document(one), Situation(Testbed({"hp": catalogue}))) == {
        "resources[0].compute.resources": "@disc0000: there is no such storage at hp; did you mean disk0000?"
    }


def test_references_name_resources_of_the_right_kind() -> None:
    """M4."""
    storage = {"storage": {"name": "s", "location": "uk-epcc", "size": 10}}
    assert faults(document(storage, compute("a", resources=[{"network": "s"}]))) == {
        "resources[1].compute.resources": "s is a storage, and must be a network or site link or router"
    }
    assert faults(document(storage, compute("a", contexts=[{"ip": ["s", "n"]}]))) == {
        "resources[1].compute.contexts.ip": "s is a storage, and must be a compute"
    }


def test_an_address_is_in_a_network_of_its_compute() -> None:
    """An address that could never come is refused."""
    server = compute("Server", resources=[{"network": "@BonFIRE WAN"}])

    def needs(network: str) -> dict[str, Any]:
        return document(server, compute("Client", contexts=[{"ip": ["Server", network]}]))

    assert read(needs("@BonFIRE WAN")) == read(needs("BonFIRE WAN"))
    assert list(faults(needs("lan"))) == ["resources[1].compute.contexts.ip"]


def test_a_key_is_given_once() -> None:
    """MA-53."""
    assert faults(document(compute("a", contexts=[{"k": "1"}, {"k": "2"}]))) == {
        "resources[0].compute.contexts[1].k": "is given twice"
    }
    keys = [f"k{number}" for number in range(20)]
    assert list(faults(document(compute("a", contexts=[dict.fromkeys(keys, "1"), dict.fromkeys(keys, "2")])))) == [
        f"resources[0].compute.contexts[1].{key}" for key in keys
    ]


def test_the_aggregator_is_first_and_needed_by_all() -> None:
    """MA-23's model (M21): at a location, or at that of the first compute."""
    one = compute("a", contexts=[{"aggregator_ip": "10.0.0.1"}])
    for where in ("uk-epcc", True, "true"):
        experiment = read(document(one, compute("b"), aggregator=where))
        monitor, first, second = experiment.resources
        assert isinstance(monitor, Compute)
        assert isinstance(first, Compute)
        assert isinstance(second, Compute)
        assert (monitor.name, monitor.locations, monitor.instance_type) == ("BonFIRE-Monitor", ("uk-epcc",), "small")
        assert monitor.storages == (Reference("BonFIRE Zabbix Aggregator v8", exists=True),)
        assert monitor.networks == (WAN,)
        assert first.contexts == {"aggregator_ip": "10.0.0.1"}
        assert second.contexts == {"aggregator_ip": AddressOf("BonFIRE-Monitor", "BonFIRE WAN")}
    assert len(read(document(one, aggregator=False)).resources) == 1
    assert list(faults(document(compute("BonFIRE-Monitor"), aggregator=True))) == ["resources[0].compute.name"]
    assert list(faults(document(aggregator=True))) == ["aggregator.locations"]
    unknown = faults(document(aggregator="nowhere"), Situation(Testbed({"uk-epcc": Location()})))
    assert list(unknown) == ["aggregator.locations[0]"]


def test_instances_of_ones_own_type_state_their_capacity() -> None:
    """M17: numbers or texts."""
    custom = compute("a", instanceType="custom", cpu="0.5", vcpu=1, memory="512")
    resource = read(document(custom)).resources[0]
    assert isinstance(resource, Compute)
    assert resource.instance_type == InstanceType(0.5, 1.0, 512.0)
    place = "resources[0].compute"
    assert list(faults(document(compute("a", instanceType="custom", cpu=1)))) == [f"{place}.vcpu", f"{place}.memory"]
    assert list(faults(document(compute("a", cpu=1)))) == [f"{place}.cpu"]
    assert "did you mean small?" in faults(document(compute("a", instanceType="smal")))[f"{place}.instanceType"]


@pytest.mark.parametrize("tag", [True, "", {}, None, "true"])
def test_an_empty_tag_says_true(tag: Any) -> None:
    """M30."""
    assert read(document(best_effort_allocation=tag)).best_effort_allocation
    assert not read(document(best_effort_allocation=False)).best_effort_allocation


def test_resource_sets_are_of_computes() -> None:
    """M30."""
    resources = (compute("a"), compute("b"), {"storage": {"name": "s", "location": "uk", "size": 1}})
    assert read(document(*resources, resource_set={"x": ["a", "b"]})).resource_sets == {"x": ("a", "b")}
    assert read(document(*resources, resource_set="")).resource_sets == {}
    assert faults(document(*resources, resource_set={"x": ["a", "s"], "y": ["a", "b", "b"]})) == {
        "resource_set.x[1]": "s is a storage, and must be a compute",
        "resource_set.y[0]": "a is in the set x already",
        "resource_set.y[2]": "b is in the set y already",
    }


def test_timelines_are_read_with_all_others() -> None:
    """M38, M39: they may name the VMs of other computes, and contexts of their own."""
    entries = [{"at": 10, "run": "join ${ctx.server_ip}"}, {"at": 20, "resume": ["Client-2"]}]
    server = compute("Server", timeline=entries, contexts=[{"server_ip": "1"}])
    experiment = read(document(server, compute("Client", min=2)))
    resource = experiment.resources[0]
    assert isinstance(resource, Compute)
    assert resource.timeline == tuple(entries)
    place = "resources[0].compute.timeline"
    assert list(faults(document(server))) == [f"{place}[1].resume[0]"]
    no_context = compute("Server", timeline=entries[:1])
    assert faults(document(no_context)) == {place: "${ctx.server_ip}: the compute has no such context"}
    assert list(faults(document(compute("a.b[", timeline=[{"at": 0, "run": "x"}])))) == [f"{place}[0].at"]
    assert list(faults(document(compute("*", timeline=[])))) == [place]


def test_metrics_are_sampled_at_a_rate() -> None:
    """M17."""
    metric = {"name": "load", "command": "uptime", "rate": 60}
    resource = read(document(compute("a", metrics=[metric]))).resources[0]
    assert isinstance(resource, Compute)
    assert resource.metrics == (Metric("load", "uptime", 60.0),)
    assert list(faults(document(compute("a", metrics=[metric, metric])))) == ["resources[0].compute.metrics[1]"]
    assert list(faults(document(compute("a", metrics=[metric | {"rate": 0}])))) == [
        "resources[0].compute.metrics[0].rate"
    ]


def test_persistent_storages_are_read() -> None:
    """M17, M22."""
    storage = {"storage": {"name": "s", "location": "uk", "size": "100", "persistent": True}}
    assert read(document(storage)).resources == (Storage("s", "uk", 100.0, persistent=True),)


@pytest.mark.parametrize(("element", "told"), [("SiteLink", "a site link l"), ("Router", "a router l")])
def test_ovf_has_no_links_and_routers(element: str, told: str) -> None:
    """MA-25: refused by name."""
    content = f"""<Envelope><VirtualSystemCollection id="e"><ProductSection><Property key="duration" value="120"/>
        </ProductSection><{element} id="l"/></VirtualSystemCollection></Envelope>"""
    with pytest.raises(InvalidDescriptorError, match=f"{told} is available in JSON only"):
        read_descriptor("e.ovf", content.encode())


OVF_FAULTS = {
    "<Envelop/>": {"": "must be an Envelope, or JSON, not 'Envelop'"},
    "<Envelope/>": {"VirtualSystemCollection": "must occur once, not 0 times"},
}


@pytest.mark.parametrize("content", OVF_FAULTS)
def test_envelopes_have_one_collection(content: str) -> None:
    """Each of these envelopes lacks a part that all need."""
    with pytest.raises(InvalidDescriptorError) as found:
        read_descriptor("e.ovf", content.encode())
    assert {fault.path: fault.rule for fault in found.value.faults} == OVF_FAULTS[content]


def test_all_faults_of_an_envelope_are_found() -> None:
    """Each with its element."""
    path = EXPERIMENTS / "faults.ovf"
    with pytest.raises(InvalidDescriptorError) as found:
        read_descriptor(path.name, path.read_bytes())
    assert [str(fault) for fault in found.value.faults] == (EXPERIMENTS / "faults.txt").read_text().splitlines()


VALIDATOR = Draft202012Validator(descriptor_schema())


def test_the_schema_admits_what_is_read() -> None:
    """It is a valid schema itself."""
    Draft202012Validator.check_schema(descriptor_schema())
    for path in EXPERIMENTS.glob("*.json"):
        content = json.loads(path.read_text())
        if "resources" in content:
            assert list(VALIDATOR.iter_errors(content)) == []


_ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 1, 1.5, "", "x", "12", "PT1H", "true", "@x", [], ["x"], ["x", "y"], {}, [{}], [{"k": "v"}]]
)
_DOCUMENT_MEMBERS = descriptor_schema()["properties"]
_KINDS = _DOCUMENT_MEMBERS["resources"]["items"]["properties"]
_MEMBERS = st.sampled_from(
    [*_KINDS["compute"]["properties"], "size", "location", "persistent", "endpoints", "bandwidth", "networks"]
)
_RESOURCE = st.dictionaries(st.sampled_from(list(_KINDS)), st.dictionaries(_MEMBERS, _ODD, max_size=3), max_size=2)
_DOCUMENT = st.dictionaries(st.sampled_from(list(_DOCUMENT_MEMBERS)), st.one_of(_ODD, st.lists(_RESOURCE, max_size=2)))


@given(_DOCUMENT)
def test_whatever_the_document_it_is_read_or_refused(content: dict[str, Any]) -> None:
    """No other error escapes; what is read the schema admits."""
    try:
        read(content)
    except DescriptorError:
        return
    assert VALIDATOR.is_valid(content)


@given(st.binary(max_size=40), st.sampled_from(["json", "xml", None]))
def test_whatever_the_bytes_they_are_refused(content: bytes, form: Any) -> None:
    """As errors of descriptors."""
    with pytest.raises(DescriptorError):
        read_descriptor("e", content, form=form)


def envelope(collection: str, *, system: str = "", attributes: str = "") -> bytes:
    """An envelope of an experiment with one compute; these are properties of both, and attributes of the collection."""
    return f"""<Envelope><VirtualSystemCollection id="e" {attributes}><Info>for people</Info>
        <ProductSection><Property key="duration" value="120"/>{collection}</ProductSection>
        <VirtualSystem id="C"><ProductSection><Property key="location" value="here"/>{system}</ProductSection>
        </VirtualSystem></VirtualSystemCollection></Envelope>""".encode()


def test_an_envelope_says_all_members_by_properties() -> None:
    """The name and the description of the experiment, and the description of a compute."""
    collection = '<Property key="name" value="n"/><Property key="description" value="d"/>'
    system = '<Property key="description" value="c"/><Property key="mine" value="7"/>'
    found = read_descriptor("e.ovf", envelope(collection, system=system))
    assert (found.name, found.description) == ("n", "d")
    [only] = found.resources
    assert isinstance(only, Compute)
    assert (only.name, only.description, only.contexts) == ("C", "c", {"mine": "7"})


def test_a_description_is_said_once() -> None:
    """By a property or by an annotation."""
    twice = '<Property key="description" value="d"/></ProductSection><AnnotationSection><Annotation>a</Annotation>'
    content = envelope("").replace(b"</ProductSection>", f"{twice}</AnnotationSection><ProductSection>".encode(), 1)
    content = content.replace(b"</AnnotationSection><ProductSection>", b"</AnnotationSection>")
    with pytest.raises(InvalidDescriptorError, match="the description is given twice"):
        read_descriptor("e.ovf", content)


def test_what_has_no_effect_in_an_envelope_is_told() -> None:
    """Attributes, elements that are not required, and texts; not what is for people."""
    told = list[str]()
    collection = '<Property key="start" value="0" password="true"><Label>for people</Label></Property>'
    content = envelope(collection, system="lost", attributes='colour="red"')
    content = content.replace(b'<VirtualSystem id="C">', b'<VirtualSystem id="C"><Eula required="false"/>')
    with pytest.raises(InvalidDescriptorError):
        read_descriptor("e.ovf", content.replace(b"here", b""), warn=told.append)
    assert told == []  # what is refused is not obeyed at all
    read_descriptor("e.ovf", content, warn=told.append)
    assert told == [
        "e.ovf: attribute colour of element VirtualSystemCollection is unknown and has no effect"
        " (Envelope/VirtualSystemCollection)",
        "e.ovf: attribute password of element Property is not obeyed: a value is read as its member"
        " (Envelope/VirtualSystemCollection/ProductSection/Property)",
        "e.ovf: element Eula of element VirtualSystem is unknown and has no effect"
        " (Envelope/VirtualSystemCollection/VirtualSystem)",
        "e.ovf: text in element ProductSection has no effect"
        " (Envelope/VirtualSystemCollection/VirtualSystem/ProductSection)",
    ]


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ('<References><File id="i" href="@I" size="7"/></References>', "attribute size of element File is not obeyed"),
        (
            '<References><File id="i" href="@I"/></References><DiskSection><Disk diskId="d" fileRef="i" capacity="7"/>'
            "</DiskSection>",
            "attribute capacity of a Disk with a fileRef is not obeyed: the image exists already",
        ),
        (
            '<NetworkSection><Network name="@wan" size="7"/></NetworkSection>',
            "attribute size of a Network whose name begins with @ is not obeyed: the network exists already",
        ),
    ],
)
def test_what_exists_already_is_as_it_is(part: str, told: str) -> None:
    """Its size is told of, not obeyed."""
    lines = list[str]()
    read_descriptor("e.ovf", envelope("").replace(b"<Envelope>", b"<Envelope>" + part.encode()), warn=lines.append)
    assert len(lines) == 1
    assert told in lines[0]
