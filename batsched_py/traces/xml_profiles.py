"""Validation of a platform file's profiles, the changes over time of hosts and links.

They are not simulated, and `simgrid_dtd` contains the notes on that; but a file at which SimGrid stops is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from pathlib import Path
from typing import Final

from batsched_py.errors import PlatformError
from batsched_py.files.bounded_file import read_file, reported
from batsched_py.reading.limits import Limits
from batsched_py.text.display import shown
from batsched_py.traces.simgrid_dtd import FILES
from batsched_py.traces.xml_changes import changes_fault
from batsched_py.traces.xml_element import Element

_FILES: Final = frozenset(FILES)
_KINDS: Final = ("HOST_AVAIL", "SPEED", "LINK_AVAIL", "BANDWIDTH", "LATENCY")
#: Kinds that SimGrid refuses, because links are already sealed when traces are connected.
_TOO_LATE: Final = {"BANDWIDTH": "bandwidth_file", "LATENCY": "latency_file"}


def check_profiles(root: Element, hosts: Collection[str], links: Container[str], limits: Limits) -> None:
    """Raise PlatformError for a profile at which SimGrid stops, in a platform with these hosts and links."""
    traces, files = set[str](), set[str]()
    for xml in root.xml.iter():
        if xml.tag == "trace":
            trace = Element(root.file, xml, root.notes)
            _check_trace(trace, files, limits)
            traces.add(trace.name())
        elif xml.tag == "trace_connect":
            _check_connection(Element(root.file, xml, root.notes), traces, hosts, links)
        elif not _FILES.isdisjoint(xml.attrib):
            for attribute in FILES:
                if xml.get(attribute):
                    _check_file(Element(root.file, xml, root.notes), attribute, files, limits)


def _check_trace(trace: Element, files: set[str], limits: Limits) -> None:
    try:
        period = float(trace.text("periodicity"))
    except ValueError as error:
        rule = f"must be a number of seconds, not {shown(trace.text('periodicity'))}"
        raise trace.error("periodicity", rule) from error
    if trace.xml.get("file"):
        _check_file(trace, "file", files, limits)
        return
    text = trace.xml.text or ""
    if not text.strip():
        raise trace.error("", "must have either contents or a file")
    if fault := changes_fault(text, period):
        raise trace.error("", fault)


def _check_connection(
    connection: Element, traces: Collection[str], hosts: Collection[str], links: Container[str]
) -> None:
    kind, trace, name = connection.choice("kind", _KINDS, "HOST_AVAIL"), connection.text("trace"), ""
    if kind in _TOO_LATE:
        rule = f"cannot be {kind}: SimGrid stops at it; use the attribute {_TOO_LATE[kind]} of the link"
        raise connection.error("kind", rule)
    if trace not in traces:
        raise connection.error("trace", f"names {shown(trace)}, which is not defined before")
    name = connection.text("element")
    if name not in (links if kind == "LINK_AVAIL" else hosts):
        what = "link" if kind == "LINK_AVAIL" else "host"
        raise connection.error("element", f"names {shown(name)}, which is not a {what} of the platform")


def _check_file(element: Element, attribute: str, files: set[str], limits: Limits) -> None:
    """Check a file, which only one element may name; search the platform's folder, then the current folder."""
    name = element.text(attribute)
    if name in files:
        raise element.error(attribute, f"names {shown(name)}, which another element names: SimGrid reads it only once")
    files.add(name)
    paths = [folder / name for folder in (Path(element.file).parent, Path())]
    try:
        found = next((path for path in paths if path.is_file()), None)
    except (OSError, ValueError):
        found = None
    if found is None:
        raise element.error(attribute, f"names {shown(name)}, which cannot be opened")
    with reported(found, PlatformError):
        content = read_file(found, limits)
    if fault := changes_fault(content.decode(errors="replace")):
        raise PlatformError(str(found), "", fault)
