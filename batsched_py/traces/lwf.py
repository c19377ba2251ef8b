"""Reader and writer of lease workloads (LWF), the traces of Haizea.

B. Sotomayor, "The Haizea manual", 2009, appendix "LWF file format". Where the manual and the program differ (`yes` and
`true`, instances of a type), both are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, TypeVar

from batsched_py.errors import WorkloadError
from batsched_py.files.atomic_file import write_pieces_atomically
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.model.lease_terms import DiskImage, NodeSet
from batsched_py.model.resources import CPU, MEMORY, PLENTY, Quantity, check_type
from batsched_py.reading.limits import LIMITS, LONGEST, NAME_RULE, TOO_LONG, Limits, breaks_csv
from batsched_py.reading.notes import Notes
from batsched_py.text.display import escaped, shown
from batsched_py.traces.formats import ReadOptions, WriteOptions
from batsched_py.traces.lease_request import LeaseRequest, LeaseSite, LeaseTrace, check_types
from batsched_py.traces.lwf_element import DESCRIPTION, REQUEST, ROOT, SITE, LwfElement, read_elements
from batsched_py.traces.lwf_time import format_time, read_time

# A trace is read and written element by element, so that memory holds the requests and not the document. Everything
# that Haizea's program accepts is accepted, even if its manual disagrees; unsupported content is an error with its
# line.
#
# Writing is the inverse of reading: the same requests give the same bytes, and what the format cannot express
# (fractions of MB, names with control characters) is an error and not rounded. Dates need a start of the workload,
# which the file does not have, so that it is an argument.

_Value = TypeVar("_Value")
_FLAGS: Final = {"true": True, "yes": True, "false": False, "no": False}
#: Maximum number of digits of a whole number.
_MOST_DIGITS: Final = 15
#: Characters that texts, and attributes, cannot contain. (xml.sax.saxutils has them, but imports urllib and ssl.)
_IN_TEXT: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_IN_ATTRIBUTE: Final = _IN_TEXT | str.maketrans({"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
#: Number of lines in one write.
_LINES: Final = 1000


def read(path: Path, options: ReadOptions) -> LeaseTrace:
    """Read a lease workload as `read_lwf` does."""
    return read_lwf(path, starttime=options.starttime, limits=options.limits)


def write(path: Path, trace: LeaseTrace, _: WriteOptions) -> None:
    """Write a lease workload as `write_lwf` does."""
    write_lwf(path, trace)


def read_lwf(path: Path, *, starttime: datetime | None = None, limits: Limits = LIMITS) -> LeaseTrace:
    """Read a lease workload, plain or compressed by gzip.

    `starttime` is the date of the workload's start, required by requests with dates. WorkloadError names the file, the
    line, the request, the element and the broken rule. Attributes and texts without effect are no errors, as with
    Haizea: `notes` lists them.
    """
    file, requests, root, notes = str(path), list[LeaseRequest](), None, Notes(str(path))
    reader, description, site = LwfReader(limits, starttime), "", None
    with reported(path, WorkloadError):
        for element in read_elements(file, read_lines(path, limits, encoded=True), notes):
            if element.tag == REQUEST:
                requests.append(reader.request(element))
                if len(requests) > limits.jobs:
                    raise element.error("", f"is one too many: a workload {limits.rule('jobs')}")
            elif element.tag == SITE:
                site = reader.site(element)
            elif element.tag == DESCRIPTION:
                description = element.text.strip()
            else:
                root = element
    name = root.attributes.get("name", "") if root is not None else ""
    return LeaseTrace(file, tuple(requests), site, name, description, notes.lines())


def write_lwf(path: Path, trace: LeaseTrace) -> None:
    """Write a lease workload, one request a line: the same requests give the same bytes.

    The file is replaced completely or not at all. WorkloadError names a request that the format cannot express.
    """
    try:
        write_pieces_atomically(path, _format_trace(path, trace))
    except OSError as error:
        raise WorkloadError(str(path), "", f"cannot be written: {error.strerror or error}") from error


def lwf_text(trace: LeaseTrace) -> str:
    """Return the content that `write_lwf` writes. WorkloadError names a request that the format cannot express."""
    return b"".join(_format_trace(Path(trace.source), trace)).decode()


class LwfReader:
    """A reader of the elements of one file, with its limits, its start date, and the types of its site."""

    def __init__(self, limits: Limits, starttime: datetime | None) -> None:
        """Take the date of the start; None if it is unknown."""
        self._limits, self._starttime = limits, starttime
        #: Resource types that nodes may request; None for any, in a file without a site.
        self._types: frozenset[str] | None = None

    def site(self, element: LwfElement) -> LeaseSite:
        """Return the site of an element; from now on requests may only name its resource types. WorkloadError."""
        declared = element.the("resource-types")
        types = tuple(declared.attribute("names").replace(",", " ").split())
        _parsed(declared, "names", check_types, types)
        if len(set(types)) < len(types):
            raise declared.error("names", f"must name each type once, not {shown(declared.attribute('names'))}")
        self._types = frozenset(types)
        hosts = self._nodes(element.the("nodes"))
        self._types |= frozenset(PLENTY)
        return LeaseSite(types, hosts)

    def request(self, element: LwfElement) -> LeaseRequest:
        """Return the request of an element. WorkloadError."""
        lease, real = element.the("lease"), element.child("realduration")
        arrival = _time(element, "arrival")
        deadline, start = lease.child("deadline"), self._start(lease.the("start"), arrival)
        if deadline is not None and start == "now":
            raise deadline.error("", "cannot be combined with an immediate start")
        return LeaseRequest(
            arrival=arrival,
            duration=_duration(lease.the("duration")),
            nodes=self._nodes(lease.the("nodes")),
            start=start,
            preemptible=_flag(lease, "preemptible"),
            real=None if real is None else _duration(real),
            deadline=None if deadline is None else self._instant(deadline, arrival),
            image=self._image(lease.the("software")),
        )

    def _start(self, element: LwfElement, arrival: float) -> float | Literal["now"] | None:
        exact = element.child("exact")
        if exact is None:
            return None if element.child("now") is None else "now"
        if element.child("now") is not None:
            raise element.error("", "must be empty, or have one of exact and now, not both")
        return self._instant(exact, arrival)

    def _instant(self, element: LwfElement, arrival: float) -> float:
        """Read a time since the workload's start, "+" and a delay after the arrival, or a date."""
        text = element.attribute("time").strip()
        if text.startswith("+"):
            instant = arrival + _parsed(element, "time", read_time, text[1:])
            if instant > LONGEST:
                raise element.error("time", f"{TOO_LONG} not {shown(text)}")
            return instant
        return self._date(element, text) if "-" in text else _parsed(element, "time", read_time, text)

    def _date(self, element: LwfElement, text: str) -> float:
        try:
            date = datetime.fromisoformat(text)
        except ValueError:
            date = None
        if date is None or date.tzinfo is not None:
            raise element.error("time", f"must be like 2006-11-25 15:00:00, not {shown(text)}")
        if self._starttime is None:
            raise element.error("time", f"is a date, {shown(text)}, and it is not known on which the workload starts")
        seconds = (date - self._starttime).total_seconds()
        if seconds > LONGEST:
            raise element.error("time", f"{TOO_LONG} not {shown(text)}")
        return int(seconds) if seconds.is_integer() else seconds

    def _nodes(self, element: LwfElement) -> tuple[NodeSet, ...]:
        sets, total = list[NodeSet](), 0
        for one in element.children("node-set"):
            count = _whole(one, "numnodes")
            total += count
            if total > self._limits.hosts:
                raise one.error("numnodes", f"makes {total} nodes; they {self._limits.rule('hosts')}")
            sets.append(NodeSet(count, self._resources(one)))
        return tuple(sets)

    def _resources(self, element: LwfElement) -> dict[str, Quantity]:
        found: dict[str, Quantity] = {}
        for one in element.children("res"):
            name = one.attribute("type")
            _parsed(one, "type", check_type, name)
            if name in found:
                raise one.error("type", f"is given twice in {element.tag}: {shown(name)}")
            if self._types is not None and name not in self._types:
                raise one.error("type", f"must be one of the site's resource-types, not {shown(name)}")
            found[name] = _quantity(one)
        for name in (CPU, MEMORY):
            if name not in found:
                raise element.error("", f"must have a res of type {name}")
        return found

    def _image(self, element: LwfElement) -> DiskImage | None:
        image, none = element.child("disk-image"), element.child("none")
        if (image is None) == (none is None):
            raise element.error("", "must have one of none and disk-image")
        if image is None:
            return None
        name = image.attribute("id")
        if not name or breaks_csv(name):
            raise image.error("id", f"{NAME_RULE if name else 'must not be empty'}, not {shown(name)}")
        if len(name) > self._limits.name_size:
            raise image.error("id", self._limits.rule("name_size"))
        return DiskImage(name, _whole(image, "size"))


def _parsed(element: LwfElement, attribute: str, read: Callable[..., _Value], value: object) -> _Value:
    """Parse a value; convert its ValueError into an error of the element."""
    try:
        return read(value)
    except ValueError as error:
        raise element.error(attribute, str(error)) from None


def _time(element: LwfElement, attribute: str) -> float:
    return _parsed(element, attribute, read_time, element.attribute(attribute))


def _duration(element: LwfElement) -> float:
    duration = _time(element, "time")
    if duration <= 0:
        raise element.error("time", f"must be greater than 0 s, not {shown(element.attribute('time'))}")
    return duration


def _flag(element: LwfElement, attribute: str) -> bool:
    flag = _FLAGS.get(element.attribute(attribute).strip().lower())
    if flag is None:
        raise element.error(attribute, f"must be true or false, not {shown(element.attribute(attribute))}")
    return flag


def _whole(element: LwfElement, attribute: str) -> int:
    text = element.attribute(attribute).strip()
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else 0
    if number < 1:
        raise element.error(attribute, f"must be a whole number from 1, not {shown(text)}")
    return number


def _quantity(element: LwfElement) -> Quantity:
    instances = [_whole(one, "amount") for one in element.children("instance")]
    if instances and "amount" in element.attributes:
        raise element.error("amount", "cannot be combined with instances, which have their own")
    if len(instances) > 1:
        return tuple(instances)
    return instances[0] if instances else _whole(element, "amount")


def _format_trace(path: Path, trace: LeaseTrace) -> Iterator[bytes]:
    """Yield the file in pieces."""
    head = [f"<{ROOT} name={_quoted(escaped(trace.name))}>\n"]
    if trace.description:
        head.append(f"<{DESCRIPTION}>{escaped(trace.description).translate(_IN_TEXT)}</{DESCRIPTION}>\n")
    if trace.site is not None:
        nodes = _format_nodes(trace.site.hosts)
        head.append(f'<{SITE}><resource-types names="{" ".join(trace.site.types)}"/>{nodes}</{SITE}>\n')
    yield "".join([*head, "<lease-requests>\n"]).encode()
    for begin in range(0, len(trace.requests), _LINES):
        yield "".join(
            _format_request(path, number, request)
            for number, request in enumerate(trace.requests[begin : begin + _LINES], begin + 1)
        ).encode()
    yield f"</lease-requests>\n</{ROOT}>\n".encode()


def _quoted(text: str) -> str:
    """Return an attribute in quotes, if possible of the kind that it does not contain."""
    text = text.translate(_IN_ATTRIBUTE)
    if '"' in text and "'" not in text:
        return f"'{text}'"
    return '"' + text.replace('"', "&quot;") + '"'


def _format_request(path: Path, number: int, request: LeaseRequest) -> str:
    try:
        real = "" if request.real is None else f'<realduration time="{format_time(request.real)}"/>'
        deadline = "" if request.deadline is None else f'<deadline time="{format_time(request.deadline)}"/>'
        return (
            f'<{REQUEST} arrival="{format_time(request.arrival)}">{real}'
            f'<lease id="{number}" preemptible="{str(request.preemptible).lower()}">{_format_nodes(request.nodes)}'
            f'{_format_start(request.start)}<duration time="{format_time(request.duration)}"/>{deadline}'
            f"<software>{_format_image(request.image)}</software></lease></{REQUEST}>\n"
        )
    except ValueError as error:
        raise WorkloadError(str(path), f"{REQUEST} {number}", f"cannot be written as LWF: {error}") from None


def _format_start(start: float | Literal["now"] | None) -> str:
    if start is None:
        return "<start/>"
    return "<start><now/></start>" if isinstance(start, str) else f'<start><exact time="{format_time(start)}"/></start>'


def _format_nodes(sets: Sequence[NodeSet]) -> str:
    written = []
    for one in sets:
        resources = "".join(_format_resource(name, quantity) for name, quantity in one.resources.items())
        written.append(f'<node-set numnodes="{one.number}">{resources}</node-set>')
    return f"<nodes>{''.join(written)}</nodes>"


def _format_resource(name: str, quantity: Quantity) -> str:
    if isinstance(quantity, tuple):
        instances = "".join(f'<instance amount="{_format_amount(name, amount)}"/>' for amount in quantity)
        return f'<res type="{name}">{instances}</res>'
    return f'<res type="{name}" amount="{_format_amount(name, quantity)}"/>'


def _format_amount(name: str, amount: float) -> str:
    if not float(amount).is_integer():
        raise ValueError(f"its {name} must be a whole number, not {amount}")
    return str(int(amount))


def _format_image(image: DiskImage | None) -> str:
    if image is None:
        return "<none/>"
    if escaped(image.name) != image.name:
        raise ValueError(f"the name of its image must be printable, not {shown(image.name)}")
    return f'<disk-image id={_quoted(image.name)} size="{_format_amount("image size", image.size)}"/>'
