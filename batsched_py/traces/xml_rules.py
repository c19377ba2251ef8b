"""The check of a platform file against SimGrid's DTD, before its elements are read."""

from __future__ import annotations

from batsched_py.errors import PlatformError
from batsched_py.text.display import shown
from batsched_py.text.wording import did_you_mean
from batsched_py.traces.simgrid_dtd import ELEMENTS, Contents, ElementRule, follow
from batsched_py.traces.xml_element import Element

#: Rules for what may follow what, in words.
_ORDERS = {
    "platform": "config first, then one zone or cluster",
    "zone": "hosts, routers and links, then routes; or zones, clusters and peers, then zoneRoutes",
}

#: Element -> the routing of the zones in which it has an effect.
_HOMES = (("cabinet", "Cluster"), ("host_link", "Cluster"), ("backbone", "Cluster"), ("peer", "Vivaldi"))


def check_elements(root: Element) -> None:
    """Raise PlatformError where SimGrid's reader stops; tell what is known and not obeyed."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        rule = ELEMENTS[element.tag]
        if rule.refused:
            raise element.error("", rule.refused)
        _check_attributes(element, rule)
        if rule.told:
            element.notes.add(f"element {element.tag} is not obeyed: {rule.told}", element.name_of())
        children = list(element.children())
        if not rule.has_text:
            _check_text(element, children)
        if children:
            _check_contents(element, rule, children)
        waiting.extend(reversed(children))


def check_zone(zone: Element, routing: str, *, is_graph: bool) -> None:
    """Raise PlatformError for parts of a zone that belong into one of another routing; tell which have no effect."""
    for tag, home in _HOMES:
        for element in zone.children(tag) if routing != home else ():
            raise element.error("", f"belongs in a zone of routing {home}, not {routing}")
    for element in zone.children("host", "router") if routing != "Vivaldi" else ():
        if element.xml.get("coordinates"):
            element.coordinates()
            what = f"attribute coordinates of element {element.tag} is not obeyed: they count in Vivaldi zones only"
            zone.notes.add(f"{what}, as in SimGrid", element.name_of())
    for route in zone.children("route") if is_graph else ():
        if route.text("src") == route.text("dst") and route.text("symmetrical", "YES").upper() == "YES":
            rule = f"must be NO for a way to itself in a zone of routing {routing}, where SimGrid stops at it"
            raise route.error("symmetrical", rule)


def _check_attributes(element: Element, rule: ElementRule) -> None:
    attributes = element.xml.attrib
    for name in rule.required:
        if name not in attributes:
            raise element.error(name, "is missing")
    if rule.attributes.obeyed.issuperset(attributes):
        return
    # An attribute without a value is as good as none: it is the DTD's default.
    names = [name for name, value in attributes.items() if value or name not in rule.attributes.explained]
    refused = rule.attributes.check(names, element.notes, element.name_of())
    if refused is not None:
        raise element.error(*refused)


def _check_text(element: Element, children: list[Element]) -> None:
    for text in (element.xml.text, *(child.xml.tail for child in children)):
        if text and not text.isspace():
            raise element.error("", f"cannot have text inside, as {shown(text.strip())}")


def _check_contents(element: Element, rule: ElementRule, children: list[Element]) -> None:
    positions, before = dict.fromkeys(range(len(rule.contents)), 0), ""
    for child in children:
        if child.tag == before:
            continue
        if child.tag not in ELEMENTS:
            suggestion = did_you_mean(child.tag, ELEMENTS)
            raise child.error("", f"is not an element of a SimGrid platform; {suggestion}".rstrip("; "))
        positions = follow(positions, rule.contents, child.tag)
        if not positions:
            raise _misplaced(child, element, before, rule.contents)
        before = child.tag
        if child.tag in rule.told_inside:
            what = f"element {child.tag} of {element.tag} is not obeyed: {rule.told_inside[child.tag]}"
            element.notes.add(what, element.name_of())


def _misplaced(child: Element, parent: Element, before: str, contents: tuple[Contents, ...]) -> PlatformError:
    if not any(child.tag in group for groups in contents for group in groups):
        return child.error("", f"must not be inside {parent.tag}: SimGrid stops at it")
    order = _ORDERS["platform" if parent.tag == "platform" else "zone"]
    return child.error("", f"must not follow {before} in a {parent.tag}: SimGrid reads {order}")
