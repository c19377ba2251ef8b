"""Rows of the tables of leases (docs/lease-tables.md), and their words: states, uses of hosts, kinds of leases."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from batsched_py.model.lease_kind import LeaseKind

#: Kind -> its abbreviation.
KINDS: Final = {
    LeaseKind.BEST_EFFORT: "BE",
    LeaseKind.ADVANCE: "AR",
    LeaseKind.IMMEDIATE: "IM",
    LeaseKind.DEADLINE: "DL",
}


class LeaseState(Enum):
    """The state of a lease: the `label` that users see, and its number, the `code`, in Haizea's interfaces."""

    NEW = "New", 0
    PENDING = "Pending", 1
    REJECTED = "Rejected", 2
    SCHEDULED = "Scheduled", 3
    QUEUED = "Queued", 4
    CANCELLED = "Cancelled", 5
    PREPARING = "Preparing", 6
    READY = "Ready", 7
    ACTIVE = "Active", 8
    SUSPENDING = "Suspending", 9
    SUSPENDED_PENDING = "Suspended-Pending", 10
    SUSPENDED_QUEUED = "Suspended-Queued", 11
    SUSPENDED_SCHEDULED = "Suspended-Scheduled", 12
    MIGRATING = "Migrating", 13
    RESUMING = "Resuming", 14
    RESUMED_READY = "Resumed-Ready", 15
    DONE = "Done", 16
    FAIL = "Fail", 17

    __hash__ = object.__hash__  # faster than Enum's; the order of sets of states is never used

    def __init__(self, label: str, code: int) -> None:
        self.label, self.code = label, code


class ReservationUse(Enum):
    """The purpose of a reservation, as spelled in files."""

    VM = "vm"
    SHUTDOWN = "shutdown"
    SUSPEND = "suspend"
    RESUME = "resume"
    MIGRATE_DISK = "migrate-disk"
    MIGRATE_MEMORY = "migrate-memory"
    TRANSFER = "transfer"


class LeaseRow(NamedTuple):
    """The terms and the outcome of a lease; times in seconds, None if undefined.

    Attributes:
        lease: the number of the lease.
        type: BE, AR, IM or DL.
        state: the latest state, in Haizea's spelling.
        start_time: the start of its first run, without discarded runs.
        end_time: when it was done, cancelled or failed.
        requested_start, deadline: None unless in its terms.
        nodes: the number of nodes.
        requested_duration: the duration in its terms.
        run_time: the time that its machines ran, without discarded runs.
        waiting_time: from submission to start.
        slowdown: the bounded slowdown relative to the requested duration, as in Haizea; None unless it is done.
        real_slowdown: the same relative to the run time.
        suspensions: the number of suspensions.
        suspended_time: the total time between a suspension and its resumption, without either.
        migrations: the number of migrations to other hosts.
        requeues: the number of times that it was stopped for another lease and its work discarded.
        lost_time: the total duration of discarded runs.
        alternative_start: when it could have started, if it requested a time and was refused.
    """

    lease: int
    type: str
    state: str
    submit_time: float
    start_time: float | None
    end_time: float | None
    requested_start: float | None
    deadline: float | None
    nodes: int
    requested_duration: float
    run_time: float
    waiting_time: float | None
    slowdown: float | None
    real_slowdown: float | None
    suspensions: int
    suspended_time: float
    migrations: int
    requeues: int
    lost_time: float
    alternative_start: float | None


class ReservationRow(NamedTuple):
    """A reservation that has begun.

    Attributes:
        lease: the number of its lease; for a shared transfer, the lease for which it was planned.
        kind: vm, shutdown, suspend, resume, migrate-disk, migrate-memory or transfer.
        end: None while it is under way.
        hosts: an interval set of numbers from 0, such as "0-3 7"; the targets of a transfer or migration.
        lost: 1 for a discarded run.
    """

    lease: int
    kind: str
    start: float
    end: float | None
    hosts: str
    lost: int


class PredictionRow(NamedTuple):
    """A predicted start of a lease that waits.

    Attributes:
        lease: the number of the lease.
        time: when it was predicted.
        planned: 1 for the first planned start, 0 for an estimate from the work ahead of the lease.
        predicted: the predicted start.
        start: the first start of the lease; None if it has not started.
    """

    lease: int
    time: float
    planned: int
    predicted: float
    start: float | None


class ImageRow(NamedTuple):
    """An image in the cache of a host, now or earlier.

    Attributes:
        image: the name of the image.
        host: the number of the host, from 0.
        start: when it was stored, in seconds.
        end: when it was evicted, in seconds; None if it is still stored.
    """

    image: str
    host: int
    start: float
    end: float | None
