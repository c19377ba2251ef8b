"""Options of `convert` for leases: changes of the requests, and hosts that serve them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

import click
from msgspec import Struct

from batsched_py.bits import MAX_HOST
from batsched_py.cli.shared.parameters import PATH, Number, Seconds, flag, option, together
from batsched_py.errors import OptionError
from batsched_py.traces.lease_changes import LeaseChanges, VmOverheads
from batsched_py.traces.lease_request import LeaseSite, read_site

#: Maximum slowdown in percent: a factor of a hundred is a typing error.
_MOST_SLOWDOWN: Final = 10_000
_MOST_MEMORY: Final = 10**12
_DATES: Final = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S")

lease_options = together(
    flag("--leases", "Convert the jobs of LOG to leases, by Haizea's rules for logs; implied by -o FILE.lwf."),
    option(
        "--ar-share", "SHARE", "Fraction of leases to make advance reservations.", type=Number(min=0, max=1), default=0
    ),
    option("--seed", "N", "Seed of the random choice of reservations.", type=int, default=0),
    option("--injectionfile injection", "FILE.lwf", "Requests to add, numbered after those of LOG.", type=PATH),
    option("--imagefile images", "FILE", "Haizea's file of images, one for each lease.", type=PATH),
    option(
        "--add-overhead of",
        None,
        "The leases that take longer because they are virtual machines.",
        type=click.Choice(["none", "all", "besteffort"]),
        default="none",
    ),
    option(
        "--runtime-slowdown-overhead slowdown",
        "PERCENT",
        "How much longer.",
        type=Number(min=0, max=_MOST_SLOWDOWN),
        default=0,
    ),
    option("--bootshutdown-overhead boot", "S", "Seconds on top of that.", type=Seconds(min=0), default=0),
    option("--override-memory memory", "MB", "What each node asks for.", type=click.IntRange(1, _MOST_MEMORY)),
    option("--resources", "TEXT", 'The hosts, as "4 CPU:100 Memory:1024". Default: as LOG has them.'),
    option("--starttime", "DATE", "When LOG starts, if it has dates.", type=click.DateTime(_DATES)),
)


class LeaseOptions(Struct, frozen=True):
    """The options for leases; `changes` returns the changes of the requests, except for images, which are in a file."""

    ar_share: float
    seed: int
    overheads: VmOverheads
    memory: int | None
    injection: Path | None
    images: Path | None
    resources: str | None
    starttime: datetime | None

    def supplied(self) -> Iterator[str]:
        """Yield the names of supplied options that have an effect only on leases."""
        options = {
            "--ar-share": self.ar_share,
            "--injectionfile": self.injection,
            "--imagefile": self.images,
            "--add-overhead": self.overheads.of != "none",
            "--override-memory": self.memory,
            "--resources": self.resources,
            "--starttime": self.starttime,
        }
        return (name for name, value in options.items() if value)

    def site(self) -> LeaseSite | None:
        """Return the hosts described by --resources; OptionError."""
        try:
            return None if self.resources is None else read_site(self.resources, MAX_HOST)
        except ValueError as error:
            raise OptionError(f"--resources: {error}") from error

    def changes(self) -> LeaseChanges:
        """Return the changes without images; OptionError for overheads without leases that have them."""
        if self.overheads.of == "none" and (self.overheads.slowdown or self.overheads.boot):
            raise OptionError("--add-overhead: must be all or besteffort if overheads are given, not none")
        return LeaseChanges(self.ar_share, self.seed, self.overheads, self.memory)
