"""Terms of a lease as options: what a live site is to be asked for."""

from __future__ import annotations

import math
from typing import Any

import click
from msgspec import Struct

from batsched_py.cli.shared.parameters import Number, flag, option, together
from batsched_py.cli.shared.site_options import with_offset
from batsched_py.errors import WorkloadError
from batsched_py.reading.json_document import parse_object, refuse_doubled

#: The options under the names of LeaseTerms.
lease_term_options = together(
    option("-n --nodes", "N", "Number of machines.", type=click.IntRange(1)),
    option("-d --duration", "TIME", "Duration: seconds, [DD:]HH:MM:SS or unlimited."),
    option(
        "-t --start",
        "TIME",
        "Start: best_effort (the default), now, +HH:MM:SS from now, seconds, or a date (local time).",
    ),
    option("--deadline", "TIME", "Latest end: +HH:MM:SS from now, seconds, or a date (local time)."),
    flag(
        "--preemptible/--non-preemptible",
        "Whether it may be suspended for other leases; default: it may not.",
        default=None,
    ),
    option(
        "-c --cpu",
        "PERCENT",
        "Share of a CPU for each machine; default: a whole host.",
        type=Number(min=0, min_open=True),
    ),
    option("-m --memory", "MB", "Memory of each machine.", type=click.IntRange(1)),
    option("-i --image", "NAME", "Disk image of the machines."),
    option("-z --image-size", "MB", "Size of the image.", type=click.IntRange(0)),
    option(
        "--capacity", "JSON", 'Instead of -c and -m: resources of each machine, such as \'{"cpu": 50, "gpus": 1}\'.'
    ),
    option("--constraint", "QUERY", "A query that must be true for each host, such as '$mem >= 1024'."),
)


class LeaseTerms(Struct, frozen=True):
    """The terms of a lease as given by the user."""

    nodes: int | None
    start: str | None
    duration: str | None
    deadline: str | None
    preemptible: bool | None
    cpu: float | None
    memory: int | None
    image: str | None
    image_size: int | None
    capacity: str | None
    constraint: str | None

    def supplied(self) -> list[str]:
        """Return the names of the terms that are given."""
        return [name for name in self.__struct_fields__ if getattr(self, name) is not None]

    def body(self) -> dict[str, Any]:
        """Return the request for the site. UsageError."""
        if self.nodes is None or self.duration is None:
            missing = "'-n' / '--nodes'" if self.nodes is None else "'-d' / '--duration'"
            raise click.UsageError(f"Missing option {missing}, or '-f' / '--file'.")
        if (self.image is None) != (self.image_size is None):
            raise click.UsageError("'-i' and '-z' must be given together")
        body: dict[str, Any] = {"nodes": self.nodes, "duration": duration_of("-d", self.duration)}
        body["start"] = _instant("-t", self.start or "best_effort")
        if self.deadline is not None:
            body["deadline"] = _instant("--deadline", self.deadline)
        body["preemptible"] = bool(self.preemptible)
        shares = {"cpu": self.cpu, "memory": self.memory}
        if any(shares.values()):
            if self.capacity is not None:
                raise click.UsageError("'--capacity' cannot be combined with '-c' and '-m'")
            body["capacity"] = {name: value for name, value in shares.items() if value is not None}
        elif self.capacity is not None:
            body["capacity"] = _read_capacity(self.capacity)
        if self.constraint is not None:
            body["constraint"] = self.constraint
        if self.image is not None:
            body["software"] = {"image": self.image, "size": self.image_size}
        return body


def _read_capacity(text: str) -> Any:
    """Return the capacity in JSON: an object, or a list of objects. UsageError, WorkloadError."""
    content = b'{"capacity": %b}' % text.encode()
    try:
        capacity = parse_object("--capacity", content)["capacity"]
    except WorkloadError:
        raise click.UsageError(f"'--capacity' must be an object or a list of objects in JSON, not {text!r}") from None
    refuse_doubled("--capacity", content)
    return capacity


def _instant(option: str, text: str) -> float | str:
    """Return an instant for the site: as `duration_of`, or a date with its offset. UsageError."""
    return duration_of(option, with_offset(option, text))


def duration_of(option: str, text: str) -> float | str:
    """Return seconds as a number, and other texts unchanged: the site parses them. UsageError for nan and inf."""
    try:
        seconds = float(text)
    except ValueError:
        return text
    if not math.isfinite(seconds):
        raise click.UsageError(f"'{option}' must be a finite number of seconds, or [DD:]HH:MM:SS, not {text!r}")
    return seconds
