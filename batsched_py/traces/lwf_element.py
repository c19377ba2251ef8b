"""Elements of a lease workload (LWF): the table of valid elements, and a streaming reader.

The tree of a large trace would need a hundred times the memory of its requests. Therefore parser events are kept only
from the beginning to the end of one request, or of the site. An element that is not in the table is an error at once:
nesting is never deeper than in the format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Final

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser
from msgspec import Struct, field

from batsched_py.errors import WorkloadError
from batsched_py.reading.members import Members, UnknownNames
from batsched_py.reading.notes import Notes
from batsched_py.reading.xml_document import XML_ERRORS, xml_rule
from batsched_py.text.display import shown

ROOT: Final = "lease-workload"
REQUEST: Final = "lease-request"
SITE: Final = "site"
DESCRIPTION: Final = "description"
#: The root of files of annotations (.lwfa), which belong to those of leases.
_ANNOTATIONS: Final = "lease-annotations"
#: Element -> its child elements and their number: "1" one, "?" at most one, "+" at least one, "*" any number.
_INSIDE: Final[Mapping[str, Mapping[str, str]]] = {
    "": {ROOT: "1"},
    ROOT: {DESCRIPTION: "?", SITE: "?", "lease-requests": "1"},
    SITE: {"resource-types": "1", "nodes": "1"},
    "nodes": {"node-set": "+"},
    "node-set": {"res": "*"},
    "res": {"instance": "*"},
    "lease-requests": {REQUEST: "*"},
    REQUEST: {"realduration": "?", "lease": "1"},
    "lease": {"nodes": "1", "start": "1", "duration": "1", "deadline": "?", "software": "1", "extra": "?"},
    "extra": {"attr": "*"},
    "start": {"exact": "?", "now": "?"},
    "software": {"none": "?", "disk-image": "?"},
}
#: Element -> its valid attributes; elements that are not in the table have none.
_ATTRIBUTES: Final[Mapping[str, Set[str]]] = {
    ROOT: {"name"},
    "resource-types": {"names"},
    "node-set": {"numnodes"},
    "res": {"type", "amount"},
    "instance": {"amount"},
    REQUEST: {"arrival"},
    "realduration": {"time"},
    "lease": {"id", "preemptible"},
    "exact": {"time"},
    "duration": {"time"},
    "deadline": {"time"},
    "disk-image": {"id", "size"},
    "attr": {"name", "value"},
}
#: Element of Haizea 1.1 -> why it has no effect.
_EXPLAINED: Final[Mapping[str, str]] = {"extra": "its attributes are for policies of Haizea 1.1"}
_NONE: Final[Set[str]] = frozenset()
#: Number of bytes passed to the parser at a time.
_PIECE: Final = 1 << 14
#: Elements that are yielded at their end, and not kept in the surrounding element.
_WHOLE: Final = (REQUEST, SITE, DESCRIPTION, ROOT)


class LwfElement(Struct):
    """An element, and its place for messages.

    Attributes:
        file: its file.
        line: the line on which it begins, from 1.
        request: the number of the request around it, from 1; 0 for none.
        tag: its name.
        attributes: the attributes as written.
        inside: its child elements.
        text: the text between them.
    """

    file: str
    line: int
    request: int
    tag: str
    attributes: Mapping[str, str]
    inside: list[LwfElement] = field(default_factory=list)
    text: str = ""

    def children(self, tag: str) -> Iterator[LwfElement]:
        """Iterate over the child elements of this name, in the file's order."""
        return iter([child for child in self.inside if child.tag == tag])

    def child(self, tag: str) -> LwfElement | None:
        """Return the child element of this name; None if there is none."""
        for child in self.inside:
            if child.tag == tag:
                return child
        return None

    def the(self, tag: str) -> LwfElement:
        """Return the child element of this name, which the table of elements requires."""
        found = self.child(tag)
        assert found is not None, f"{self.tag} without {tag}"  # noqa: S101  # the reader refuses it
        return found

    def error(self, attribute: str, rule: str) -> WorkloadError:
        """Return an error with the file, the place of this element, the attribute and the rule."""
        where = f"line {self.line}, " + (f"{REQUEST} {self.request}, " if self.request else "")
        return WorkloadError(self.file, f"{where}{self.tag}.{attribute}" if attribute else f"{where}{self.tag}", rule)

    def attribute(self, name: str) -> str:
        """Return the attribute as written; WorkloadError if it is absent."""
        value = self.attributes.get(name)
        if value is None:
            raise self.error(name, "is missing")
        return value


def read_elements(file: str, pieces: Iterable[bytes], notes: Notes) -> Iterator[LwfElement]:
    """Yield the site, the description and each request at its end, and finally the root; WorkloadError.

    A document type is accepted and not fetched; entities are refused. Attributes and texts without effect are added to
    `notes`.
    """
    collector = _Collector(file, notes)
    parser = DefusedXMLParser(target=collector, forbid_dtd=False, forbid_entities=True, forbid_external=True)
    collector.follow(parser.parser)
    try:
        for piece in _gathered(pieces):
            try:
                parser.feed(piece)
            finally:  # elements that ended before this error may contain an earlier one
                yield from collector.taken()
        parser.close()
    except XML_ERRORS as error:
        place = collector.place if isinstance(error, DefusedXmlException) else ""  # other errors name the line
        raise WorkloadError(file, place, xml_rule(error)) from error
    yield from collector.taken()


def _gathered(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield several lines at a time, which is much faster to parse than single lines."""
    found, size = list[bytes](), 0
    for line in lines:
        found.append(line)
        size += len(line)
        if size >= _PIECE:
            yield b"".join(found)
            found, size = [], 0
    yield b"".join(found)


class _Position(Struct):
    """The current line before a parser exists."""

    CurrentLineNumber: int = 1


class _Collector:
    """The target of the parser: a stack of open elements, and the completed elements to yield."""

    def __init__(self, file: str, notes: Notes) -> None:
        self._file, self._notes = file, notes
        #: The open elements, the outermost first; the first entry is a placeholder.
        self._open = [LwfElement(file, 1, 0, "", {})]
        self._ready: list[LwfElement] = []
        self._requests = 0
        #: For each open element, the names of its child elements so far.
        self._begun: list[set[str]] = [set()]
        self._position: object = _Position()

    @property
    def place(self) -> str:
        """The current line."""
        return f"line {self._line}"

    @property
    def _line(self) -> int:
        return int(getattr(self._position, "CurrentLineNumber", 1))

    def follow(self, position: object) -> None:
        """Set the parser that reports the current line."""
        self._position = position

    def taken(self) -> list[LwfElement]:
        """Return the elements completed since the last call."""
        ready, self._ready = self._ready, []
        return ready

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        around, begun = self._open[-1], self._begun[-1]
        self._requests += tag == REQUEST
        request = self._requests if tag == REQUEST else around.request
        element = LwfElement(self._file, self._line, request, tag, attributes)
        often = _INSIDE.get(around.tag, {}).get(tag)
        if often is None:
            raise self._misplaced(element, around)
        if often in "1?" and tag in begun:
            raise element.error("", f"is given twice in {around.tag}")
        begun.add(tag)
        if tag in _EXPLAINED:
            self._notes.add(f"element {tag} of a {around.tag} is not obeyed: {_EXPLAINED[tag]}", self.place)
        if not attributes.keys() <= _ATTRIBUTES.get(tag, _NONE):
            self._report_unknown(element)
        self._open.append(element)
        self._begun.append(set())

    def end(self, tag: str) -> None:
        """End an element, after a check of its required parts."""
        element, begun = self._open.pop(), self._begun.pop()
        for inner, often in _INSIDE.get(tag, {}).items():
            if often in "1+" and inner not in begun:
                raise element.error(inner, "is missing")
        if tag in _WHOLE:
            self._ready.append(element)
        else:
            self._open[-1].inside.append(element)

    def data(self, text: str) -> None:
        """Keep the text of the description; note other text as without effect."""
        if self._open[-1].tag == DESCRIPTION:
            self._open[-1].text += text
        elif not text.isspace():
            self._notes.add(f"text in element {self._open[-1].tag} has no effect", self.place)

    def close(self) -> None:
        """Do nothing: completed elements have been yielded."""

    def _report_unknown(self, element: LwfElement) -> None:
        """Note the attributes of an element that are ignored."""
        known = frozenset(_ATTRIBUTES.get(element.tag, _NONE))
        members = Members(f"element {element.tag}", known, unknown=UnknownNames.REPORTED, word="attribute")
        members.check(element.attributes, self._notes, self.place)

    def _misplaced(self, element: LwfElement, around: LwfElement) -> WorkloadError:
        if not around.tag and element.tag == _ANNOTATIONS:
            return element.error("", "has annotations of leases, which are not read: give the leases' own file")
        if not around.tag:
            what = "is a platform" if element.tag == "platform" else "is not a lease workload"
            return element.error("", f"must be a {ROOT} element, not {shown(element.tag)}: this {what}")
        return WorkloadError(
            self._file, self.place, f"{shown(element.tag)} is not an element of a lease workload's {around.tag}"
        )
