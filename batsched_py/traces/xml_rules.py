"""The check of a platform file against SimGrid's DTD, before its elements are read."""

from __future__ import annotations

from batsched_py.errors import PlatformError
from batsched_py.text.display import shown
from batsched_py.text.wording import did_you_mean
from batsched_py.traces.simgrid_dtd import ELEMENTS, Contents, ElementRule, follow
from batsched_py.traces.xml_element import Element

#: Descriptions of the required order of elements.
_ORDERS = {
    "platform": "config first, then one zone or cluster",
    "zone": "hosts, routers and links, then routes; or zones, clusters and peers, then zoneRoutes",
}

#: Elements, and the routing of the only zones in which they are allowed.
_HOMES = (("cabinet", "Cluster"), ("host_link", "Cluster"), ("backbone", "Cluster"), ("peer", "Vivaldi"))


def check_elements(root: Element) -> None:
    """Raise PlatformError where SimGrid's reader stops; add notes on known elements and attributes without effect."""
    waiting = [root.xml]
    while waiting:
        xml = waiting.pop()
        rule = ELEMENTS[xml.tag]
        if not (rule.is_plain and rule.required <= xml.attrib.keys() <= rule.attributes.obeyed):
            _check_element(Element(root.file, xml, root.notes), rule)
        if not rule.has_text and ((xml.text and not xml.text.isspace()) or len(xml)):
            _check_text(Element(root.file, xml, root.notes))
        if len(xml):
            _check_contents(Element(root.file, xml, root.notes), rule)
            waiting.extend(reversed(xml))


def _check_element(element: Element, rule: ElementRule) -> None:
    if rule.refused:
        raise element.error("", rule.refused)
    _check_attributes(element, rule)
    if rule.ignored:
        element.notes.add(f"element {element.tag} is not obeyed: {rule.ignored}", element.name_of())


def check_zone(zone: Element, routing: str, *, is_graph: bool) -> None:
    """Raise PlatformError for elements that belong in a zone of another routing; add notes on parts without effect."""
    for tag, home in _HOMES:
        for element in zone.children(tag) if routing != home else ():
            raise element.error("", f"belongs in a zone of routing {home}, not {routing}")
    for xml in zone.xml if routing != "Vivaldi" else ():
        if xml.get("coordinates"):
            element = Element(zone.file, xml, zone.notes)
            element.coordinates()
            what = f"attribute coordinates of element {element.tag} is not obeyed: they count in Vivaldi zones only"
            zone.notes.add(f"{what}, as in SimGrid", element.name_of())
    for route in zone.children("route") if is_graph else ():
        if route.text("src") == route.text("dst") and route.text("symmetrical", "YES").upper() == "YES":
            rule = f"must be NO for a way to itself in a zone of routing {routing}, where SimGrid stops at it"
            raise route.error("symmetrical", rule)


def _check_attributes(element: Element, rule: ElementRule) -> None:
    attributes = element.xml.attrib
    for name in sorted(rule.required - attributes.keys()):
        raise element.error(name, "is missing")
    # An empty attribute is the same as an absent one: empty is the DTD's default.
    names = [name for name, value in attributes.items() if value or name not in rule.attributes.explained]
    refused = rule.attributes.check(names, element.notes, element.name_of())
    if refused is not None:
        raise element.error(*refused)


def _check_text(element: Element) -> None:
    for text in (element.xml.text, *(child.tail for child in element.xml)):
        if text and not text.isspace():
            raise element.error("", f"cannot have text inside, as {shown(text.strip())}")


def _check_contents(element: Element, rule: ElementRule) -> None:
    positions, before = dict.fromkeys(range(len(rule.contents)), 0), ""
    for xml in element.xml:
        if xml.tag == before:
            continue
        child = Element(element.file, xml, element.notes)
        if child.tag not in ELEMENTS:
            suggestion = did_you_mean(child.tag, ELEMENTS)
            raise child.error("", f"is not an element of a SimGrid platform; {suggestion}".rstrip("; "))
        positions = follow(positions, rule.contents, child.tag)
        if not positions:
            raise _misplaced(child, element, before, rule.contents)
        before = child.tag
        if child.tag in rule.ignored_inside:
            what = f"element {child.tag} of {element.tag} is not obeyed: {rule.ignored_inside[child.tag]}"
            element.notes.add(what, element.name_of())


def _misplaced(child: Element, parent: Element, before: str, contents: tuple[Contents, ...]) -> PlatformError:
    if not any(child.tag in group for groups in contents for group in groups):
        return child.error("", f"must not be inside {parent.tag}: SimGrid stops at it")
    order = _ORDERS["platform" if parent.tag == "platform" else "zone"]
    return child.error("", f"must not follow {before} in a {parent.tag}: SimGrid reads {order}")
