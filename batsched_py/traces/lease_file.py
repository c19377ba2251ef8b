"""Reader of one request for a lease in Haizea's XML, the input of `haizea-request-lease -f FILE`."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.model.resources import CPU, MEMORY
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reading.notes import Notes
from batsched_py.text.display import displayed
from batsched_py.traces.lease_request import LeaseRequest
from batsched_py.traces.lwf import LwfReader
from batsched_py.traces.lwf_element import REQUEST, ROOT, LwfElement, read_elements
from batsched_py.traces.lwf_time import read_time

#: The text before the first element, and that element's name.
_HEAD: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>)?(?:\s|<!--.*?-->|<!DOCTYPE[^>\[]*>)*(<([\w-]+))", re.DOTALL
)
#: First element -> the elements around it in a trace.
_AROUND: Final = {
    ROOT: ("", ""),
    REQUEST: (f"<{ROOT}><lease-requests>", f"</lease-requests></{ROOT}>"),
    "lease": (
        f'<{ROOT}><lease-requests><{REQUEST} arrival="00:00:00">',
        f"</{REQUEST}></lease-requests></{ROOT}>",
    ),
}
#: Type of a resource -> its name in the terms of a lease; others keep their names.
_NAMES: Final = {CPU: "cpu", MEMORY: "memory"}
#: An arbitrary start date for validating times with a date, which are passed on as written.
_SOME_DAY: Final = datetime(1970, 1, 1)  # as dates in the format are: without an offset


class LeaseFile(NamedTuple):
    """A request: the members that a live site accepts, and a line for each part without effect."""

    members: dict[str, Any]
    notes: tuple[str, ...]


def read_lease(path: Path, limits: Limits = LIMITS) -> LeaseFile:
    """Read a `lease`, a `lease-request`, or a lease workload with one of these.

    WorkloadError names the file, the line, the element and the rule that is broken.
    """
    file, notes = str(path), Notes(str(path))
    with reported(path, WorkloadError):
        content = b"".join(read_lines(path, limits, encoded=True))
    found = [element for element in read_elements(file, _wrapped(file, content), notes) if element.tag == REQUEST]
    if len(found) != 1:
        raise WorkloadError(file, "", f"must have one request, not {len(found)}")
    request = LwfReader(limits, _SOME_DAY).request(found[0])
    if request.real is not None:
        notes.add("realduration is not obeyed: at a live site a lease lasts as long as it was asked for")
    return LeaseFile(_members(request, found[0].the("lease")), notes.lines())


def _wrapped(file: str, content: bytes) -> tuple[bytes, ...]:
    head = _HEAD.match(content)
    name = head[2].decode(errors="replace") if head is not None else ""
    if head is None or name not in _AROUND:
        rule = f"must begin with one of {', '.join(_AROUND)}" + (f", not {displayed(name)}" if name else "")
        raise WorkloadError(file, "", rule)
    before, after = _AROUND[name]
    lines = b"\n" * content.count(b"\n", 0, head.start(1))  # keeps the line numbers of messages those of the file
    return lines + before.encode(), content[head.start(1) :], after.encode()


def _members(request: LeaseRequest, lease: LwfElement) -> dict[str, Any]:
    exact, deadline = lease.the("start").child("exact"), lease.child("deadline")
    start = "best_effort" if request.start is None else "now"
    capacity = []
    for nodes in request.nodes:
        if any(isinstance(quantity, tuple) for quantity in nodes.resources.values()):
            raise lease.error("nodes", "a live site gives a node one instance of each resource")
        taken = {_NAMES.get(name, name): quantity for name, quantity in nodes.resources.items()}
        capacity.append({"count": nodes.number, **taken})
    members: dict[str, Any] = {
        "nodes": sum(nodes.number for nodes in request.nodes),
        "duration": request.duration,
        "start": start if exact is None else _instant(exact),
        "preemptible": request.preemptible,
        "capacity": capacity,
    }
    if deadline is not None:
        members["deadline"] = _instant(deadline)
    if request.image is not None:
        members["software"] = {"image": request.image.name, "size": request.image.size}
    return members


def _instant(element: LwfElement) -> float | str:
    """Return a time as a site accepts it: seconds since the site's start, "+" and a delay from now, or a date."""
    text = element.attribute("time").strip()
    return text if text.startswith("+") or "-" in text else read_time(text)
