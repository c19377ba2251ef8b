"""Parts of OVF documents: elements, attributes and texts that are read, and others without effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from xml.etree.ElementTree import Element

from batsched_py.reading.members import Members, UnknownNames
from batsched_py.reading.notes import Notes

#: Element -> child elements that are read.
INSIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "Envelope": ("References", "DiskSection", "NetworkSection", "VirtualSystemCollection"),
    "References": ("File",),
    "DiskSection": ("Disk",),
    "NetworkSection": ("Network",),
    "VirtualSystemCollection": ("ProductSection", "AnnotationSection", "StartupSection", "VirtualSystem"),
    "VirtualSystem": ("ProductSection", "AnnotationSection", "VirtualHardwareSection"),
    "ProductSection": ("Property",),
    "StartupSection": ("Item",),
    "VirtualHardwareSection": ("Item",),
    "AnnotationSection": ("Annotation",),
    "Network": ("Description",),
    "Item": ("HostResource", "Connection"),
}
#: Elements for readers, or for hypervisors, without effect here, which are not reported.
PASSED_OVER: Final = frozenset(
    {
        *("Info", "Name", "Product", "Vendor", "Version", "FullVersion", "Category", "Description", "License"),
        *("Label", "OperatingSystemSection", "System", "InstanceID", "ElementName", "ResourceType", "Caption"),
    },
)
#: Elements whose text is read.
_TEXTS: Final = frozenset({"Annotation", "Description", "HostResource", "Connection"})
_EXISTS: Final = "the image exists already"
_AT_ONCE: Final = "computes start when they are created"
#: Element -> attributes that are read, and others of the standard.
_ATTRIBUTES: Final[Mapping[str, tuple[tuple[str, ...], Mapping[str, str]]]] = {
    "Envelope": (("version", "lang", "schemaLocation"), {}),
    "File": (("id", "href"), dict.fromkeys(("size", "compression", "chunkSize"), _EXISTS)),
    "Disk": (
        ("diskId", "capacity", "capacityAllocationUnits", "fileRef", "location", "persistent"),
        dict.fromkeys(("format", "populatedSize", "parentRef"), "a storage has a size alone"),
    ),
    "Network": (("name", "location", "address", "size"), {}),
    "VirtualSystemCollection": (("id",), {}),
    "VirtualSystem": (("id",), {}),
    "ProductSection": ((), dict.fromkeys(("class", "instance"), "all properties of a section are read alike")),
    "Property": (
        ("key", "value", "type"),
        dict.fromkeys(("qualifiers", "userConfigurable", "password"), "a value is read as its member"),
    ),
    "Item": (
        ("id", "order"),
        dict.fromkeys(("startDelay", "waitingForGuest", "startAction", "stopDelay", "stopAction"), _AT_ONCE),
    ),
}
#: Attributes of sections that the reader uses, or that are for readers.
_COMMON: Final = ("required", "msgid", "bound")
#: Only the name of an existing image, or of a network, has an effect.
_OF_EXISTING: Final = {
    "Disk": Members(
        "a Disk with a fileRef",
        frozenset({"diskId", "fileRef", *_COMMON}),
        dict.fromkeys(("capacity", "capacityAllocationUnits", "location", "persistent"), _EXISTS),
        UnknownNames.REPORTED,
        "attribute",
    ),
    "Network": Members(
        "a Network whose name begins with @",
        frozenset({"name", *_COMMON}),
        dict.fromkeys(("location", "address", "size"), "the network exists already"),
        UnknownNames.REPORTED,
        "attribute",
    ),
}


def report_parts(element: Element, notes: Notes, path: str = "") -> None:
    """Note attributes, elements and texts without effect; refused parts are reported elsewhere."""
    name = local_name(element.tag)
    place = f"{path}/{name}" if path else name
    attributes = attributes_of(element)
    _members_of(name, attributes).check(attributes, notes, place)
    texts = [element.text, *(child.tail for child in element)]
    if name not in _TEXTS and any((text or "").strip() for text in texts):
        notes.add(f"text in element {name} has no effect", place)
    known = INSIDE.get(name, ())
    for child in element:
        inside = local_name(child.tag)
        if inside in known:
            report_parts(child, notes, place)
        elif inside not in PASSED_OVER:
            _members_of_elements(name, known).check([inside], notes, place)


def _members_of(name: str, attributes: Mapping[str, str]) -> Members:
    if attributes.get("fileRef") or (name == "Network" and attributes.get("name", "").startswith("@")):
        return _OF_EXISTING.get(name, _OF_EXISTING["Disk"])
    obeyed, explained = _ATTRIBUTES.get(name, ((), {}))
    return Members(f"element {name}", frozenset({*obeyed, *_COMMON}), explained, UnknownNames.REPORTED, "attribute")


def _members_of_elements(name: str, known: tuple[str, ...]) -> Members:
    explained: Mapping[str, str] = {}
    if name == "Item":
        hardware = ("VirtualQuantity", "AllocationUnits", "Reservation", "Limit", "Weight")
        explained = dict.fromkeys(hardware, "CPU and memory are those of the instanceType")
    return Members(f"element {name}", frozenset(known), explained, UnknownNames.REPORTED, "element")


def local_name(tag: str) -> str:
    """Return a name without its namespace."""
    return tag.rpartition("}")[2]


def attributes_of(element: Element) -> dict[str, str]:
    """Return attributes by their local names."""
    return {local_name(name): value for name, value in element.attrib.items()}
