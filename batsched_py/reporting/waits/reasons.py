"""The closed set of reasons in explanations of waits, and states of jobs that did not end."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

#: States of jobs without an end, in addition to Batsim's final states.
RUNNING: Final = "RUNNING"
WAITING: Final = "WAITING"


class Reason(StrEnum):
    """The reason why a job did not start; the value is its name in JSON."""

    CONDITION = "condition"
    HOSTS_BUSY = "hosts_busy"
    HOSTS_UNAVAILABLE = "hosts_unavailable"
    PROMISE = "promise"
    RESERVATION = "reservation"
    CONSTRAINT = "constraint"
    RESOURCE = "resource"
    OWN_START = "own_start"
    QUEUE = "queue"
    ALGORITHM = "algorithm"
    DELIVERY = "delivery"
    UNKNOWN = "unknown"


#: Reason -> its text.
WORDS: Final[Mapping[Reason, str]] = {
    Reason.CONDITION: "other jobs had to start or end first",
    Reason.HOSTS_BUSY: "too few hosts were free",
    Reason.HOSTS_UNAVAILABLE: "too few hosts could be used: some were down, asleep or switching",
    Reason.PROMISE: "it would have delayed jobs that were promised a start",
    Reason.RESERVATION: "it would have run into a reservation",
    Reason.CONSTRAINT: "the free hosts did not suit it",
    Reason.RESOURCE: "no host had enough of a resource free",
    Reason.OWN_START: "it was to start at a later instant",
    Reason.QUEUE: "a job before it waited, and it could not overtake",
    Reason.ALGORITHM: "the algorithm held it back",
    Reason.DELIVERY: "its hosts were free, the decision was on its way",
    Reason.UNKNOWN: "enough hosts were free; the reason is unknown",
}
