"""XML documents of experiments, in the format of BonFIRE's clients (M2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from batsched_py.experiments.log import LogMessage
from batsched_py.experiments.resource_manager import RESERVATIONS
from batsched_py.experiments.states import ENDED_STATES
from batsched_py.experiments.views import ExperimentView
from batsched_py.text.wording import seconds

#: Characters that XML does not allow.
_FORBIDDEN: Final = re.compile("[^\\t\\n\\r -\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
_OVER: Final = frozenset(state.value for state in ENDED_STATES)
PATH: Final = "/managed_experiments"


def collection_xml(experiments: Sequence[ExperimentView]) -> bytes:
    """Return a list of experiments."""
    root = Element("collection")
    items = SubElement(root, "items")
    for one in experiments:
        items.append(_summary(one))
    return _written(root)


def experiment_xml(one: ExperimentView) -> bytes:
    """Return an experiment with its resources."""
    root = _summary(one)
    for tag, time in (("deployed", one.deployed), ("ends", one.ends), ("start", one.start)):
        if time is not None:
            SubElement(root, tag).text = seconds(time)
    if one.failure:
        SubElement(root, "failure").text = _text(one.failure)
    resources = SubElement(root, "resources")
    for each in one.resources:
        attributes = {"name": each.name, "kind": each.kind, "state": each.state}
        attributes |= {"location": each.location} if each.location else {}
        resource = SubElement(resources, "resource", {name: _text(text) for name, text in attributes.items()})
        for network, address in each.addresses.items():
            SubElement(resource, "address", {"network": _text(network)}).text = _text(address)
        for key, text in each.contexts.items():
            SubElement(resource, "context", {"key": _text(key)}).text = _text(text)
    return _written(root)


def log_xml(messages: Sequence[LogMessage]) -> bytes:
    """Return messages of the log of an experiment; times are simulated seconds."""
    root = Element("log")
    for message in messages:
        attributes = {"time": seconds(message.time), "level": message.level, "state": message.state}
        attributes["resource"] = message.resource
        child = SubElement(root, "message", {name: _text(text) for name, text in attributes.items()})
        child.text = _text(message.text)
    return _written(root)


def uses_reservation(one: ExperimentView) -> bool:
    """Return whether an experiment has a reservation with an address; one of its own is deleted when it ends."""
    return (one.reservation or "").startswith(RESERVATIONS) and one.status not in _OVER


def _summary(one: ExperimentView) -> Element:
    root = Element("managed_experiment", {"href": f"{PATH}/{one.id}"})
    for tag, text in (("name", one.name), ("description", one.description), ("status", one.status)):
        SubElement(root, tag).text = _text(text)
    if one.link is not None:
        SubElement(root, "link", {"rel": "experiment", "href": _text(one.link)})
    if uses_reservation(one):
        SubElement(root, "link", {"rel": "reservation", "href": _text(str(one.reservation))})
    SubElement(root, "link", {"rel": "log", "href": f"{PATH}/{one.id}/log"})
    if one.timelines:
        SubElement(root, "link", {"rel": "timelines", "href": f"{PATH}/{one.id}/timelines"})
    return root


def _text(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def _written(root: Element) -> bytes:
    found: bytes = tostring(root, "utf-8", xml_declaration=True)
    return found
