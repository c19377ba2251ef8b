"""Reservations of a lease: when its machines run, and what comes before and after (H12, H13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from batsched_py.leases.capacity import Amounts

if TYPE_CHECKING:
    from batsched_py.leases.lease import Lease


class Phase(Enum):
    """A reservation is planned, under way or over; one that was taken away is over too."""

    PLANNED = "planned"
    UNDER_WAY = "under way"
    OVER = "over"


class Use(Enum):
    """Purpose of a reservation, as it is spelled in files."""

    VM = "vm"
    SHUTDOWN = "shutdown"
    SUSPEND = "suspend"
    RESUME = "resume"
    MIGRATE_DISK = "migrate-disk"
    MIGRATE_MEMORY = "migrate-memory"
    TRANSFER = "transfer"


class LeaseReservation:
    """Shares of hosts for [start, end).

    Attributes:
        nodes: the machines of the lease that it is about: node -> host.
        shares: what it takes of each host; nothing for transfers and migrations, which use the network alone.
        order: position among all reservations that were ever put into the table; ties in time follow it.
        run: the run that it is, leads to or follows; None for transfers, and before it is planned.
    """

    __slots__ = ("end", "lease", "nodes", "order", "phase", "run", "shares", "start", "use")

    def __init__(
        self,
        lease: Lease,
        use: Use,
        start: float,
        end: float,
        *,
        nodes: Mapping[int, int],
        shares: Mapping[int, Amounts],
    ) -> None:
        self.lease, self.use = lease, use
        self.start, self.end = start, end
        self.nodes, self.shares = nodes, shares
        self.phase = Phase.PLANNED
        self.order = -1
        self.run: Run | None = None

    def __repr__(self) -> str:
        return f"<{self.use.value} of lease {self.lease.id}, [{self.start:g}, {self.end:g}), {self.phase.value}>"


class Run(LeaseReservation):
    """A run of all machines of a lease, with the reservations that lead to it and follow it.

    Attributes:
        before: migrations, then resumptions, in order of time.
        after: suspensions in order of time, or one shutdown.
    """

    __slots__ = ("after", "before")

    def __init__(
        self, lease: Lease, start: float, end: float, nodes: Mapping[int, int], shares: Mapping[int, Amounts]
    ) -> None:
        super().__init__(lease, Use.VM, start, end, nodes=nodes, shares=shares)
        self.before: list[LeaseReservation] = []
        self.after: list[LeaseReservation] = []

    @property
    def first_start(self) -> float:
        """The start of whatever comes first."""
        return self.before[0].start if self.before else self.start

    @property
    def final_end(self) -> float:
        """The end of whatever comes last."""
        return self.after[-1].end if self.after else self.end

    @property
    def suspends(self) -> bool:
        """True if the lease is suspended at its end."""
        return bool(self.after) and self.after[0].use is Use.SUSPEND

    @property
    def begun(self) -> bool:
        """True if it, or something that leads to it, is under way or over."""
        return self.phase is not Phase.PLANNED or any(one.phase is not Phase.PLANNED for one in self.before)

    def all(self) -> Sequence[LeaseReservation]:
        """Return it and all that belongs to it, in order of time."""
        return [*self.before, self, *self.after]
