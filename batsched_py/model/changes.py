"""Changes of a platform over time: speeds and states of hosts, bandwidths, latencies and states of links."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Changing(Enum):
    """The quantity that changes."""

    #: Factor on the speed of a host's pstate.
    SPEED = "speed"
    #: Bytes per second of a link.
    BANDWIDTH = "bandwidth"
    #: Seconds of a link.
    LATENCY = "latency"
    #: Hosts and links are on if the value is greater than 0.
    STATE = "state"


class Law(Struct, frozen=True):
    """A number, or a distribution of numbers.

    Attributes:
        parameters: the number itself; or the parameters of the law.
        name: DET, NORM (mean, deviation), EXP (rate) or UNIF (bounds).
    """

    parameters: tuple[float, ...]
    name: str = "DET"


class TimedChanges(Struct, frozen=True):
    """The changes of one quantity of one host or link.

    Attributes:
        quantity: what changes.
        targets: the name of a host; or of a link, both halves of a SPLITDUPLEX one.
        of_link: True for a link.
        points: (date, value) in order. With laws, dates are intervals after the change before.
        period: seconds after which the changes begin anew; 0 for never.
        drawn: True if dates and values are drawn from laws.
        again: True if drawn changes begin anew after the last one.
    """

    quantity: Changing
    targets: tuple[str, ...]
    of_link: bool
    points: tuple[tuple[Law, Law], ...]
    period: float = 0.0
    drawn: bool = False
    again: bool = False
