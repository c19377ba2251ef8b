"""Elements of a lease workload (LWF): those that there are, and reading them one request after another.

The tree of a large trace would take a hundred times the memory of its requests. So the parser's events are kept only
from the beginning of a request, or of the site, to its end; what is not in the table of elements ends the reading where
it stands, so that nothing nests deeper than the format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Final
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser
from msgspec import Struct, field

from batsched_py.errors import WorkloadError
from batsched_py.reading.members import Members, Unknown
from batsched_py.reading.notes import Notes
from batsched_py.text.display import shown

ROOT: Final = "lease-workload"
REQUEST: Final = "lease-request"
SITE: Final = "site"
DESCRIPTION: Final = "description"
#: The root of files of annotations (.lwfa), which belong to those of leases.
_ANNOTATIONS: Final = "lease-annotations"
#: Element -> those that may be directly inside, and how often: "1" once, "?" at most once, "+" at least, "*" any times.
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
#: Element -> attributes that it may have; those that are not in the table have none.
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
#: Bytes that are parsed at a time.
_PIECE: Final = 1 << 14
#: Elements that are handed out once they have ended, rather than kept in the one around them.
_WHOLE: Final = (REQUEST, SITE, DESCRIPTION, ROOT)


class LwfElement(Struct):
    """An element, and its place for messages.

    Attributes:
        file: its file.
        line: the line on which it begins, from 1.
        request: the number of the request that it belongs to, from 1; 0 for none.
        tag: its name.
        attributes: as they are written.
        inside: the elements directly inside.
        text: what is written between them.
    """

    file: str
    line: int
    request: int
    tag: str
    attributes: Mapping[str, str]
    inside: list[LwfElement] = field(default_factory=list)
    text: str = ""

    def children(self, tag: str) -> Iterator[LwfElement]:
        """Iterate over the elements of this name directly inside, in the file's order."""
        return iter([child for child in self.inside if child.tag == tag])

    def child(self, tag: str) -> LwfElement | None:
        """Return the element of this name directly inside; None if there is none."""
        for child in self.inside:
            if child.tag == tag:
                return child
        return None

    def the(self, tag: str) -> LwfElement:
        """Return the element of this name directly inside, which the table of elements demands."""
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
    """Yield the site, the description and each request once it has ended, and at last the root; WorkloadError.

    A document type is accepted and not fetched; entities are refused. Attributes and texts that nothing reads are
    noted.
    """
    collector = _Collector(file, notes)
    parser = DefusedXMLParser(target=collector, forbid_dtd=False, forbid_entities=True, forbid_external=True)
    collector.follow(parser.parser)
    try:
        for piece in _gathered(pieces):
            try:
                parser.feed(piece)
            finally:  # what ended before a mistake may have one of its own, which comes first
                yield from collector.taken()
        parser.close()
    except DefusedXmlException as error:
        raise WorkloadError(file, collector.place, "must not define or fetch entities") from error
    except (ParseError, LookupError, ValueError) as error:
        raise WorkloadError(file, "", f"is not XML: {error}") from error
    yield from collector.taken()


def _gathered(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield several lines at a time: the parser takes them much faster than one by one."""
    found, size = list[bytes](), 0
    for line in lines:
        found.append(line)
        size += len(line)
        if size >= _PIECE:
            yield b"".join(found)
            found, size = [], 0
    yield b"".join(found)


class _Position(Struct):
    """The line that is read, before there is a parser that knows it."""

    CurrentLineNumber: int = 1


class _Collector:
    """The target of the parser: elements that have begun and not ended, and those to hand out."""

    def __init__(self, file: str, notes: Notes) -> None:
        self._file, self._notes = file, notes
        #: Elements around the place that is read, the outermost first; the first is no element.
        self._open = [LwfElement(file, 1, 0, "", {})]
        self._ready: list[LwfElement] = []
        self._requests = 0
        #: Names of the elements that have begun inside each of the open ones.
        self._begun: list[set[str]] = [set()]
        self._position: object = _Position()

    @property
    def place(self) -> str:
        """The line that is read."""
        return f"line {self._line}"

    @property
    def _line(self) -> int:
        return int(getattr(self._position, "CurrentLineNumber", 1))

    def follow(self, position: object) -> None:
        """Ask this parser for the line from now on."""
        self._position = position

    def taken(self) -> list[LwfElement]:
        """Return what has ended since the last call."""
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
            self._tell(element)
        self._open.append(element)
        self._begun.append(set())

    def end(self, tag: str) -> None:
        """End an element: what it must have is there."""
        element, begun = self._open.pop(), self._begun.pop()
        for inner, often in _INSIDE.get(tag, {}).items():
            if often in "1+" and inner not in begun:
                raise element.error(inner, "is missing")
        if tag in _WHOLE:
            self._ready.append(element)
        else:
            self._open[-1].inside.append(element)

    def data(self, text: str) -> None:
        """Keep the text of the description; other text means nothing."""
        if self._open[-1].tag == DESCRIPTION:
            self._open[-1].text += text
        elif not text.isspace():
            self._notes.add(f"text in element {self._open[-1].tag} has no effect", self.place)

    def close(self) -> None:
        """Do nothing: what has ended was handed out."""

    def _tell(self, element: LwfElement) -> None:
        """Tell which attributes of an element are passed over."""
        known = frozenset(_ATTRIBUTES.get(element.tag, _NONE))
        members = Members(f"element {element.tag}", known, unknown=Unknown.TOLD, word="attribute")
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
