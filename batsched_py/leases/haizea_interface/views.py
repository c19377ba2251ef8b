"""Read-only views of leases and of the slot table, for users' own policies and probes (H91)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from batsched_py.leases.capacity import Amounts, total
from batsched_py.leases.haizea_interface.times import Instant, TimeDelta
from batsched_py.leases.lease import Lease
from batsched_py.leases.table import LeaseTable
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.resources import Quantity
from batsched_py.results.lease_rows import LeaseState


@dataclass(frozen=True, slots=True)
class Timestamp:
    """The start of a lease: requested and actual; the latter is None before the start.

    The requested start is `NOW` for an immediate lease, `UNSPECIFIED` for a best-effort lease.
    """

    requested: Instant | str
    actual: Instant | None

    UNSPECIFIED: ClassVar = "Unspecified"
    NOW: ClassVar = "Now"


@dataclass(frozen=True, slots=True)
class Duration:
    """The duration of a lease: requested, and accumulated so far."""

    requested: TimeDelta
    accumulated: TimeDelta


class Capacity:
    """Amounts of resources by type."""

    def __init__(self, types: Sequence[str], amounts: Amounts) -> None:
        self._amounts: Mapping[str, Quantity] = dict(zip(types, amounts, strict=False))  # without hidden columns

    def get_resource_types(self) -> list[str]:
        """Return the resource types of the site."""
        return list(self._amounts)

    def get_ninstances(self, type: str) -> int:
        """Return the number of instances of a type; KeyError if the site has no such type."""
        return len(self._instances(type))

    def get_quantity(self, type: str) -> float:
        """Return the total amount of a type over all instances; KeyError if the site has no such type."""
        return total(self._amounts[type])

    def get_quantity_instance(self, type: str, instance: int) -> float:
        """Return the amount of one instance of a type; instances are numbered from 1."""
        return self._instances(type)[instance - 1]

    def __repr__(self) -> str:
        return " ".join(f"{type}:{quantity}" for type, quantity in self._amounts.items())

    def _instances(self, type: str) -> tuple[float, ...]:
        quantity = self._amounts[type]
        return quantity if isinstance(quantity, tuple) else (quantity,)


class LeaseView:
    """A read-only view of a lease for policies and probes.

    Times are in seconds since the start of the run. `STATE_PENDING` and so on are the numbers of states.
    """

    BEST_EFFORT: Final = LeaseKind.BEST_EFFORT
    ADVANCE_RESERVATION: Final = LeaseKind.ADVANCE
    IMMEDIATE: Final = LeaseKind.IMMEDIATE
    DEADLINE: Final = LeaseKind.DEADLINE

    __slots__ = ("_lease", "_types")

    def __init__(self, lease: Lease, types: Sequence[str]) -> None:
        self._lease, self._types = lease, types

    def __repr__(self) -> str:
        return repr(self._lease)

    @property
    def id(self) -> int:
        """The number of the lease, from 1, in the order of requests."""
        return self._lease.id

    @property
    def user(self) -> str:
        """The user who requests the lease; "" if unknown."""
        return self._lease.user

    def get_type(self) -> LeaseKind:
        """Return the type: `BEST_EFFORT`, `ADVANCE_RESERVATION`, `IMMEDIATE` or `DEADLINE`."""
        return self._lease.kind

    def get_state(self) -> int:
        """Return the number of the state: `STATE_PENDING`, `STATE_ACTIVE`..."""
        return self._lease.state.code

    @property
    def submit_time(self) -> Instant:
        """The time of the request."""
        return Instant(self._lease.submit)

    @property
    def start(self) -> Timestamp:
        """The requested and the actual start."""
        lease = self._lease
        requested = Timestamp.NOW if lease.kind is LeaseKind.IMMEDIATE else Timestamp.UNSPECIFIED
        actual = None if lease.started is None else Instant(lease.started)
        return Timestamp(requested if lease.start is None else Instant(lease.start), actual)

    @property
    def duration(self) -> Duration:
        """The requested and the accumulated duration."""
        return Duration(TimeDelta(seconds=self._lease.duration), TimeDelta(seconds=self._lease.accumulated))

    @property
    def deadline(self) -> Instant | None:
        """The latest end; None without a deadline."""
        return None if self._lease.deadline is None else Instant(self._lease.deadline)

    @property
    def end(self) -> Instant | None:
        """The time at which it was done; None before."""
        return None if self._lease.end is None else Instant(self._lease.end)

    @property
    def preemptible(self) -> bool:
        """True if the lease may be stopped for another."""
        return self._lease.preemptible

    @property
    def numnodes(self) -> int:
        """The number of nodes."""
        return self._lease.size

    @property
    def requested_resources(self) -> dict[int, Capacity]:
        """The requested capacity of each node; nodes are numbered from 1."""
        return {node: Capacity(self._types, demand) for node, demand in enumerate(self._lease.demands, start=1)}


for _state in LeaseState:
    setattr(LeaseView, f"STATE_{_state.name}", _state.code)


class SlotTableView:
    """A read-only view of the slot table for policies; hosts are numbered from 1.

    Attributes:
        nodes: number of a host -> its capacity.
    """

    def __init__(self, table: LeaseTable) -> None:
        self._table = table
        self.nodes = {number: Capacity(table.types, host.capacity) for number, host in enumerate(table.hosts, start=1)}

    def get_free(self, node: int, time: float) -> Capacity:
        """Return the free capacity of a host at a time."""
        return Capacity(self._table.types, self._table.hosts[node - 1].free_at(time))

    def get_number_of_leases(self, node: int, time: float) -> int:
        """Return the number of leases on a host at a time."""
        return self._table.hosts[node - 1].outlook(time)[0]

    def get_next_change(self, node: int, time: float) -> Instant:
        """Return the next time after `time` at which leases or free capacity of a host change; infinity if never."""
        return Instant(self._table.hosts[node - 1].next_change(time))
