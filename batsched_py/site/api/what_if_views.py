"""The answers of the call `what-if`: each lease and job of the caller, and counts of those of others."""

from __future__ import annotations

import math
from typing import Final

from msgspec import Struct

from batsched_py.site.api.identity import Identity
from batsched_py.site.inbox import Inbox
from batsched_py.site.what_if.comparison import WhatIfCounts, count, difference
from batsched_py.site.what_if.future import LeaseFuture, PlayedAhead

#: The largest number of leases in an answer.
MOST_LISTED: Final = 1000


class LeaseWhatIf(Struct, frozen=True):
    """A lease or job that has not ended, without and under the change. Times are in simulated seconds.

    Attributes:
        number: the number of the lease.
        user: the user who requested it.
        state: its present state.
        start, end: when it starts and ends without the change; None if not before the horizon.
        changed_start, changed_end: the same under the change.
        outcome: its state at the horizon without the change.
        changed_outcome: the same under the change.
        difference: how much later it starts under the change, in seconds; for one that has started, how much later it
            ends. None if that is unknown, or if it is refused or fails.
    """

    number: int
    user: str
    state: str
    start: float | None
    end: float | None
    changed_start: float | None
    changed_end: float | None
    outcome: str
    changed_outcome: str
    difference: float | None


class AddedLease(Struct, frozen=True):
    """The lease that was added.

    Attributes:
        outcome: its state at the horizon.
        start, end: when it starts and ends; None if not before the horizon.
        why: why it is refused; "" if it is not.
    """

    outcome: str
    start: float | None
    end: float | None
    why: str


class WhatIfAnswer(Struct, frozen=True):
    """The future of a site without and under a change. Times are in simulated seconds.

    Attributes:
        now: the time at which the change takes effect.
        until: the horizon.
        leases: the leases and jobs of the caller and of the caller's group that have not ended, by number; for an
            operator, all. At most 1000.
        left_off: how many more there are.
        own: the numbers of all these.
        mean_difference: their mean difference; None if no difference is known.
        others: the numbers of the leases and jobs of others.
        added: the lease of the change; None without one.
    """

    now: float
    until: float
    leases: list[LeaseWhatIf]
    left_off: int
    own: WhatIfCounts
    mean_difference: float | None
    others: WhatIfCounts
    added: AddedLease | None


def what_if_of(played: PlayedAhead, inbox: Inbox, who: Identity, now: float, until: float) -> WhatIfAnswer:
    """Return the answer for a caller."""
    own, others = list[tuple[LeaseFuture, str]](), list[LeaseFuture]()
    for future in played.leases:
        entry = inbox.entries[future.number]
        if who.may_read(entry.user, entry.group):
            own.append((future, entry.user))
        else:
            others.append(future)
    known = [found for future, _ in own if (found := difference(future)) is not None]
    added = played.added
    return WhatIfAnswer(
        now,
        until,
        [_view(future, user) for future, user in own[:MOST_LISTED]],
        max(0, len(own) - MOST_LISTED),
        count([future for future, _ in own]),
        round(math.fsum(known) / len(known), 6) if known else None,
        count(others),
        None if added is None else AddedLease(added.state, added.start, added.end, added.why),
    )


def _view(future: LeaseFuture, user: str) -> LeaseWhatIf:
    kept, changed = future.kept, future.changed
    return LeaseWhatIf(
        number=future.number,
        user=user,
        state=future.now.state,
        start=kept.start,
        end=kept.end,
        changed_start=changed.start,
        changed_end=changed.end,
        outcome=kept.state,
        changed_outcome=changed.state,
        difference=difference(future),
    )
