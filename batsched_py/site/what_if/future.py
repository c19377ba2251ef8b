"""A change of a site, and the futures of its leases without and with it: plain data that travel between processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from batsched_py.scheduling.base import Scheduler
from batsched_py.site.journal import JournalEntry

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class PlannedChange(Struct, frozen=True):
    """A change that takes effect now.

    Attributes:
        algorithm: the algorithm from now on; None for that of the site.
        options: values of its options.
        requests: requests that are made now, numbered after those of the site.
    """

    algorithm: type[Scheduler[Any]] | None = None
    options: Mapping[str, Any] = _NONE
    requests: Sequence[JournalEntry] = ()

    @property
    def changes(self) -> bool:
        """False if all remains as it is."""
        return self.hands_over or bool(self.requests)

    @property
    def hands_over(self) -> bool:
        """True if another algorithm decides from now on, or the same one by other options."""
        return self.algorithm is not None or bool(self.options)


class SitePlan(Struct, frozen=True):
    """The play of a site from now on.

    Attributes:
        requests: the number of its requests so far.
        now: the simulated time that it has reached.
        until: the simulated time at which the play ends.
        change: the change.
    """

    requests: int
    now: float
    until: float
    change: PlannedChange


class LeaseOutcome(Struct, frozen=True):
    """A requested lease or job at the end of a play; times are in simulated seconds.

    Attributes:
        state: its state, in the words of the site.
        final: whether nothing can happen to it any more.
        start, end: when it started and ended; None if it did not before the horizon.
        why: why it was rejected; "" if it was not.
    """

    state: str
    final: bool
    start: float | None = None
    end: float | None = None
    why: str = ""


class LeaseFuture(Struct, frozen=True):
    """A lease or job that has not ended now.

    Attributes:
        number: the number of its request.
        now: its present state.
        kept: the outcome without the change.
        changed: the outcome under the change.
    """

    number: int
    now: LeaseOutcome
    kept: LeaseOutcome
    changed: LeaseOutcome


class PlayedAhead(Struct, frozen=True):
    """The result of a play.

    Attributes:
        leases: the leases and jobs that have not ended now, by number.
        added: the outcome of the lease that the change requests; None if it requests none.
    """

    leases: Sequence[LeaseFuture]
    added: LeaseOutcome | None


class PlayFailure(Struct, frozen=True):
    """The reason why there is no result.

    Attributes:
        refused: True if the change is not possible; False if the site cannot be played at all.
        text: one line.
    """

    refused: bool
    text: str
