"""Experiments in OVF, the Open Virtualization Format of DMTF (DSP0243), as BonFIRE uses it (M5, M29).

Elements and attributes are identified by their local names. Properties describe a compute: each one is a member of the
JSON format, or otherwise a context; therefore the same rules apply to both formats. By the standard, an unknown section
is ignored only if it is not required.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any, Final
from xml.etree.ElementTree import Element

import msgspec

from batsched_py.experiments.descriptor_errors import DescriptorSyntaxError
from batsched_py.experiments.model import Resource
from batsched_py.experiments.parsing.json_form import DOCUMENT_MEMBERS, Parsed, parse_members
from batsched_py.experiments.parsing.ovf_parts import INSIDE, PASSED_OVER, attributes_of, local_name, report_parts
from batsched_py.experiments.parsing.quantities import COUNT, NAME, NUMBER, TEXT
from batsched_py.experiments.parsing.resources import MEMBERS, READERS
from batsched_py.reading.faults import FieldError, Place, inside, refused
from batsched_py.reading.notes import Notes
from batsched_py.reading.xml_document import parse_root
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import unknown

#: Maximum depth of elements; the format needs seven.
_DEEPEST: Final = 20
#: Kinds of resources that the format cannot express (M5), in lower case.
_ONLY_IN_JSON: Final[Mapping[str, str]] = {"sitelink": "a site link", "site_link": "a site link", "router": "a router"}
#: Properties of a compute -> members; those with several words are lists.
_COMPUTE_PROPERTIES: Final = frozenset(MEMBERS["compute"]) - {"name", "resources", "contexts", "after"}
_LISTS: Final = frozenset({"locations", "reserved"})
#: Properties whose text is JSON.
_IN_JSON: Final = frozenset({"metrics", "timeline", "resource_set"})
_PROPERTIES: Final = frozenset(DOCUMENT_MEMBERS) - {"resources"}
#: Unit of a disk's capacity -> MB.
_UNITS: Final[Mapping[str, float]] = {
    "byte": 2.0**-20,
    "byte*2^10": 2.0**-10,
    "byte*2^20": 1.0,
    "byte*2^30": 2.0**10,
    "byte*2^40": 2.0**20,
}


def parse_ovf(file: str, content: bytes, origin: datetime | None, notes: Notes) -> Parsed:
    """Return the experiment of an envelope. FieldError; DescriptorSyntaxError if it is not XML.

    `notes` receives a line for each kind of part without effect.
    """
    try:
        root = parse_root(content, _DEEPEST)
    except ValueError as error:
        raise DescriptorSyntaxError(file, "", str(error)) from None
    parsed = _Envelope(Place(), root).read(origin)
    report_parts(root, notes)
    return parsed


class _Envelope:
    """The reader of one envelope."""

    def __init__(self, place: Place, root: Element) -> None:
        self._place, self._root = place, root
        #: Id of a file, or of a disk based on one -> its reference.
        self._images = dict[str, str]()
        self._found: list[tuple[str, Resource]] = []

    def read(self, origin: datetime | None) -> Parsed:
        """Return the experiment."""
        if local_name(self._root.tag) != "Envelope":
            raise refused("an Envelope, or JSON", local_name(self._root.tag))
        collections = []
        for child in _inside(self._place, self._root):
            match local_name(child.tag):
                case "References":
                    self._read_files(child)
                case "DiskSection":
                    self._read_disks(child)
                case "NetworkSection":
                    self._read_networks(child)
                case _:
                    collections.append(child)
        if len(collections) != 1:
            (self._place / "VirtualSystemCollection").note(f"must occur once, not {len(collections)} times")
            self._place.refuse()
        members = self._read_collection(collections[0])
        parsed = self._place.read(lambda values: parse_members(values, self._found, origin), members, None)
        self._place.refuse()
        assert parsed is not None  # noqa: S101  # else there are faults
        return parsed

    def _read_files(self, section: Element) -> None:
        for place, file in _numbered(self._place, section, "File"):
            attributes = attributes_of(file)
            id, reference = _named(place, attributes, "id"), _named(place, attributes, "href")
            if id and reference:
                if not reference.startswith("@") and "/" not in reference:
                    (place / "href").note(f"must be an existing image, by @name or URI, not {shown(reference)}")
                self._images[id] = reference

    def _read_disks(self, section: Element) -> None:
        for place, disk in _numbered(self._place, section, "Disk"):
            attributes = attributes_of(disk)
            id = _named(place, attributes, "diskId")
            if "fileRef" in attributes:
                image = self._images.get(attributes["fileRef"])
                if image is None:
                    (place / "fileRef").note(f"{displayed(attributes['fileRef'])}: there is no such File")
                self._images[id] = image or ""
                continue
            members: dict[str, Any] = {"name": id} | _chosen(attributes, ("location", "persistent"))
            members["size"] = place.read(_capacity, attributes, None)
            if members["size"] is not None:
                self._add(place, "storage", members)

    def _read_networks(self, section: Element) -> None:
        for place, network in _numbered(self._place, section, "Network"):
            attributes = attributes_of(network)
            name = _named(place, attributes, "name")
            if not name.startswith("@"):
                members = {"name": name} | _chosen(attributes, ("location", "address", "size"))
                self._add(place, "network", members | _annotation(network, "Description"))

    def _read_collection(self, collection: Element) -> dict[str, Any]:
        """Read the computes, and return the members of the document."""
        place = self._place / "VirtualSystemCollection"
        members: dict[str, Any] = {"name": _named(place, attributes_of(collection), "id")}
        systems, orders = [], list[tuple[Place, Element]]()
        for child in _inside(place, collection):
            match local_name(child.tag):
                case "VirtualSystem":
                    systems.append(child)
                case "AnnotationSection":
                    self._describe(place, members, child)
                case "StartupSection":
                    orders += _numbered(place, child, "Item")
                case _:
                    for where, key, value in _properties(place, child):
                        if key not in _PROPERTIES:
                            where.note(unknown(key, sorted(_PROPERTIES)))
                        elif key == "description" and key in members:
                            where.note("is given twice, here and in an AnnotationSection")
                        else:
                            members[key] = _from_json(where, value) if key in _IN_JSON else value
        before = _startup(orders, {attributes_of(one).get("id", "") for one in systems})
        for index, system in enumerate(systems):
            self._read_system((self._place / "VirtualSystem")[index], system, before)
        return members

    def _read_system(self, place: Place, system: Element, before: Mapping[str, list[str]]) -> None:
        members: dict[str, Any] = {"name": _named(place, attributes_of(system), "id")}
        if members["name"] in before:
            members["after"] = before[members["name"]]
        contexts, attached = list[dict[str, Any]](), list[dict[str, Any]]()
        for child in _inside(place, system):
            match local_name(child.tag):
                case "AnnotationSection":
                    self._describe(place, members, child)
                case "VirtualHardwareSection":
                    for where, item in _numbered(place, child, "Item"):
                        attached += self._read_hardware(where, item)
                case _:
                    for where, key, value in _properties(place, child):
                        member = "locations" if key == "location" else key
                        if member not in _COMPUTE_PROPERTIES:
                            contexts.append({key: value})
                        elif member in {"description", "locations"} and member in members:
                            where.note("is given twice")
                        else:
                            members[member] = _split(member, _from_json(where, value) if key in _IN_JSON else value)
        if contexts:
            members["contexts"] = contexts
        self._add(place, "compute", members | ({"resources": attached} if attached else {}))

    @staticmethod
    def _describe(place: Place, members: dict[str, Any], section: Element) -> None:
        """Use the description of an AnnotationSection."""
        found = _annotation(section, "Annotation")
        if found and "description" in members:
            (place / "AnnotationSection").note("the description is given twice")
        members |= found

    def _read_hardware(self, place: Place, item: Element) -> Iterator[dict[str, Any]]:
        """Yield the storages and networks to which items attach a compute."""
        texts = {local_name(one.tag): (one.text or "").strip() for one in item}
        if "Connection" in texts:
            yield {"network": texts["Connection"]}
        elif "HostResource" in texts:
            name = texts["HostResource"]
            for prefix in ("ovf:/disk/", "ovf:/file/", "/disk/", "/file/"):
                name = name.removeprefix(prefix)
            yield {"storage": self._images.get(name, name)}
        elif attributes_of(item).get("required") != "false":
            place.note("must have a HostResource or a Connection: CPU and memory are those of the instanceType")

    def _add(self, place: Place, kind: str, members: Mapping[str, Any]) -> None:
        resource = place.read(READERS[kind], members, None)
        if resource is not None:
            self._found.append((place.path, resource))


def _inside(place: Place, element: Element) -> Iterator[Element]:
    """Yield the known child elements; note faults for others that must not be ignored."""
    known = INSIDE[local_name(element.tag)]
    for child in element:
        name = local_name(child.tag)
        if name in known:
            yield child
        elif name.lower() in _ONLY_IN_JSON:
            id = attributes_of(child).get("id") or attributes_of(child).get("name") or ""
            named = f" {displayed(id)}" if id else ""
            (place / name).note(f"{_ONLY_IN_JSON[name.lower()]}{named} is available in JSON only, not in OVF")
        elif name not in PASSED_OVER and attributes_of(child).get("required") != "false":
            (place / name).note(unknown(name, known))


def _numbered(place: Place, section: Element, tag: str) -> Iterator[tuple[Place, Element]]:
    for index, element in enumerate(_inside(place, section)):
        yield (place / tag)[index], element


def _named(place: Place, attributes: Mapping[str, str], attribute: str) -> str:
    """Return a required attribute with a name; "" if it is invalid."""
    if attribute not in attributes:
        (place / attribute).note("is missing")
        return ""
    return (place / attribute).read(NAME, attributes[attribute], "")


def _chosen(attributes: Mapping[str, str], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: attributes[name] for name in names if name in attributes}


def _annotation(element: Element, tag: str) -> dict[str, Any]:
    """Return the description in a section as a member."""
    found = next((child.text or "" for child in element if local_name(child.tag) == tag), "").strip()
    return {"description": found} if found else {}


def _properties(place: Place, section: Element) -> Iterator[tuple[Place, str, str]]:
    """Yield place, key and value of the properties of a section; repeated keys are faults."""
    taken = set[str]()
    for where, one in _numbered(place, section, "Property"):
        attributes = attributes_of(one)
        key = _named(where, attributes, "key")
        if key in taken:
            (place / key).note("is given twice")
        elif key:
            taken.add(key)
            yield place / key, key, attributes.get("value", "")


def _split(member: str, value: Any) -> Any:
    """Split a text with commas into a list, if the member is a list."""
    return [name.strip() for name in value.split(",")] if member in _LISTS else value


def _from_json(place: Place, text: str) -> Any:
    try:
        return msgspec.json.decode(TEXT(text))
    except (msgspec.DecodeError, RecursionError, FieldError):
        place.note("is not JSON")
        return None


def _capacity(attributes: Mapping[str, str]) -> float:
    """Return the capacity of a disk in MB; the default unit is bytes."""
    if "capacity" not in attributes:
        raise FieldError("capacity", "is missing")
    unit = attributes.get("capacityAllocationUnits", "byte").replace(" ", "").lower()
    if unit not in _UNITS:
        raise refused(f"one of {', '.join(_UNITS)}", unit, "capacityAllocationUnits")
    try:
        return NUMBER(attributes["capacity"]) * _UNITS[unit]
    except FieldError as error:
        raise inside("capacity", error) from None


def _startup(items: list[tuple[Place, Element]], systems: set[str]) -> dict[str, list[str]]:
    """Return the computes after which a compute starts: those of the next smaller order; order 0 is none."""
    groups = dict[int, list[str]]()
    for place, item in items:
        attributes = attributes_of(item)
        id = _named(place, attributes, "id")
        if id and id not in systems:
            (place / "id").note(f"{displayed(id)}: there is no such VirtualSystem")
        elif id and attributes.get("order") != "0":
            order = (place / "order").read(COUNT, attributes.get("order", ""), 0)
            if order:
                groups.setdefault(order, []).append(id)
    ordered = sorted(groups)
    return {id: groups[before] for before, order in pairwise(ordered) for id in groups[order]}
