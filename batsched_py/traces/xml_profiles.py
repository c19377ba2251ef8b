"""Reader of a platform file's profiles, the changes over time of hosts and links.

A file at which SimGrid stops is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from batsched_py.errors import PlatformError
from batsched_py.files.bounded_file import read_file, reported
from batsched_py.model.changes import Changing, TimedChanges
from batsched_py.reading.limits import Limits
from batsched_py.text.display import shown
from batsched_py.traces.simgrid_dtd import FILES
from batsched_py.traces.xml_changes import Pattern, read_pattern
from batsched_py.traces.xml_element import Element
from batsched_py.traces.xml_network import LinkTable

#: Attribute -> the quantity that its file changes.
_QUANTITIES: Final = {
    "speed_file": Changing.SPEED,
    "availability_file": Changing.SPEED,
    "state_file": Changing.STATE,
    "bandwidth_file": Changing.BANDWIDTH,
    "latency_file": Changing.LATENCY,
}
#: Kind of a connection -> the quantity that the trace changes.
_KINDS: Final = {
    "HOST_AVAIL": Changing.STATE,
    "SPEED": Changing.SPEED,
    "LINK_AVAIL": Changing.STATE,
    "BANDWIDTH": Changing.BANDWIDTH,
    "LATENCY": Changing.LATENCY,
}
#: Kinds that SimGrid refuses, because links are already sealed when traces are connected.
_TOO_LATE: Final = {"BANDWIDTH": "bandwidth_file", "LATENCY": "latency_file"}
_NEGATIVE: Final = "must not change to a negative value, as {}"


def read_profiles(root: Element, hosts: Collection[str], links: LinkTable, limits: Limits) -> tuple[TimedChanges, ...]:
    """Read the profiles of a platform with these hosts and links; PlatformError where SimGrid stops."""
    return tuple(_Profiles(root, hosts, links, limits).read())


class _Profiles:
    """A reader of one file."""

    def __init__(self, root: Element, hosts: Collection[str], links: LinkTable, limits: Limits) -> None:
        self._root, self._hosts, self._links, self._limits = root, hosts, links, limits
        #: Name of a trace -> its pattern; files that an element names; (trace, kind) that are connected.
        self._traces: dict[str, Pattern] = {}
        self._files: set[str] = set()
        self._connected: set[tuple[str, str]] = set()

    def read(self) -> Iterator[TimedChanges]:
        """Yield the changes in the order of the file."""
        root = self._root
        for xml in root.xml.iter():
            if xml.tag == "trace":
                trace = Element(root.file, xml, root.notes)
                self._traces[trace.name()] = self._trace(trace)
            elif xml.tag == "trace_connect":
                yield from self._connection(Element(root.file, xml, root.notes))
            elif not xml.attrib.keys().isdisjoint(_QUANTITIES):
                element = Element(root.file, xml, root.notes)
                for attribute in FILES:
                    if xml.get(attribute):
                        pattern = self._file(element, attribute)
                        yield self._changes(element, attribute, _QUANTITIES[attribute], element.name(), pattern)

    def _trace(self, trace: Element) -> Pattern:
        try:
            period = float(trace.text("periodicity"))
        except ValueError as error:
            rule = f"must be a number of seconds, not {shown(trace.text('periodicity'))}"
            raise trace.error("periodicity", rule) from error
        if trace.xml.get("file"):
            return self._file(trace, "file")
        text = trace.xml.text or ""
        if not text.strip():
            raise trace.error("", "must have either contents or a file")
        try:
            return read_pattern(text, period)
        except ValueError as error:
            raise trace.error("", str(error)) from error

    def _connection(self, connection: Element) -> Iterator[TimedChanges]:
        kind, trace = connection.choice("kind", tuple(_KINDS), "HOST_AVAIL"), connection.text("trace")
        if kind in _TOO_LATE:
            rule = f"cannot be {kind}: SimGrid stops at it; use the attribute {_TOO_LATE[kind]} of the link"
            raise connection.error("kind", rule)
        if trace not in self._traces:
            raise connection.error("trace", f"names {shown(trace)}, which is not defined before")
        name = connection.text("element")
        if name not in (self._links if kind == "LINK_AVAIL" else self._hosts):
            what = "link" if kind == "LINK_AVAIL" else "host"
            raise connection.error("element", f"names {shown(name)}, which is not a {what} of the platform")
        if (trace, kind) in self._connected:
            what = "a second element trace_connect with a trace is not obeyed: only the first element has it"
            connection.notes.add(f"{what}, as in SimGrid", f"trace {trace}")
            return
        self._connected.add((trace, kind))
        yield self._changes(connection, "", _KINDS[kind], name, self._traces[trace])

    def _changes(
        self, element: Element, attribute: str, quantity: Changing, name: str, pattern: Pattern
    ) -> TimedChanges:
        for _, value in pattern.points:
            if not pattern.drawn and value.parameters[0] < 0 and quantity is not Changing.STATE:
                raise element.error(attribute, _NEGATIVE.format(value.parameters[0]))
        of_link = element.tag == "link" or element.xml.get("kind") == "LINK_AVAIL"
        targets = self._links.halves(name) if of_link else (name,)
        return TimedChanges(quantity, targets, of_link, pattern.points, pattern.period, pattern.drawn, pattern.again)

    def _file(self, element: Element, attribute: str) -> Pattern:
        """Read a file, which only one element may name; search the platform's folder, then the current folder."""
        name = element.text(attribute)
        if name in self._files:
            rule = f"names {shown(name)}, which another element names: SimGrid reads it only once"
            raise element.error(attribute, rule)
        self._files.add(name)
        paths = [folder / name for folder in (Path(element.file).parent, Path())]
        try:
            found = next((path for path in paths if path.is_file()), None)
        except (OSError, ValueError):
            found = None
        if found is None:
            raise element.error(attribute, f"names {shown(name)}, which cannot be opened")
        with reported(found, PlatformError):
            content = read_file(found, self._limits)
        try:
            return read_pattern(content.decode(errors="replace"))
        except ValueError as error:
            raise PlatformError(str(found), "", str(error)) from error
