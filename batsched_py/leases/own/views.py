"""Views that policies and probes of users' own have: of a lease, and of the slot table (H91)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from batsched_py.leases.capacity import Amounts, Quantity, total
from batsched_py.leases.lease import Lease
from batsched_py.leases.lifecycle import State
from batsched_py.leases.own.times import Instant, TimeDelta
from batsched_py.leases.table import LeaseTable
from batsched_py.leases.terms import Kind


@dataclass(frozen=True, slots=True)
class Timestamp:
    """Start of a lease: as it was requested, and as it came; None if it has not.

    An immediate lease requests `NOW`, a best-effort lease nothing, which is `UNSPECIFIED`.
    """

    requested: Instant | str
    actual: Instant | None

    UNSPECIFIED: ClassVar = "Unspecified"
    NOW: ClassVar = "Now"


@dataclass(frozen=True, slots=True)
class Duration:
    """Duration of a lease: as it was requested, and what of it is over."""

    requested: TimeDelta
    accumulated: TimeDelta


class Capacity:
    """Amounts of resources by type."""

    def __init__(self, types: Sequence[str], amounts: Amounts) -> None:
        self._amounts: Mapping[str, Quantity] = dict(zip(types, amounts, strict=True))

    def get_resource_types(self) -> list[str]:
        """Return the types, as the site spells them."""
        return list(self._amounts)

    def get_ninstances(self, type: str) -> int:
        """Return how many instances there are of a type."""
        return len(self._instances(type))

    def get_quantity(self, type: str) -> float:
        """Return the amount of a type, of all instances together; KeyError if the site has no such type."""
        return total(self._amounts[type])

    def get_quantity_instance(self, type: str, instance: int) -> float:
        """Return the amount of one instance, which are numbered from 1."""
        return self._instances(type)[instance - 1]

    def __repr__(self) -> str:
        return " ".join(f"{type}:{quantity}" for type, quantity in self._amounts.items())

    def _instances(self, type: str) -> tuple[float, ...]:
        quantity = self._amounts[type]
        return quantity if isinstance(quantity, tuple) else (quantity,)


class LeaseView:
    """Lease as policies and probes see it; nothing in it can be changed.

    Times are in seconds since the start of the run. `STATE_PENDING` and so on are the numbers of states.
    """

    BEST_EFFORT: Final = Kind.BEST_EFFORT
    ADVANCE_RESERVATION: Final = Kind.ADVANCE
    IMMEDIATE: Final = Kind.IMMEDIATE
    DEADLINE: Final = Kind.DEADLINE

    __slots__ = ("_lease", "_types")

    def __init__(self, lease: Lease, types: Sequence[str]) -> None:
        self._lease, self._types = lease, types

    def __repr__(self) -> str:
        return repr(self._lease)

    @property
    def id(self) -> int:
        """Its number, from 1, in the order of requests."""
        return self._lease.id

    def get_type(self) -> Kind:
        """Return its type: `BEST_EFFORT`, `ADVANCE_RESERVATION`, `IMMEDIATE` or `DEADLINE`."""
        return self._lease.kind

    def get_state(self) -> int:
        """Return the number of its state: `STATE_PENDING`, `STATE_ACTIVE`..."""
        return self._lease.state.code

    @property
    def submit_time(self) -> Instant:
        """When it was requested."""
        return Instant(self._lease.submit)

    @property
    def start(self) -> Timestamp:
        """Its start."""
        lease = self._lease
        requested = Timestamp.NOW if lease.kind is Kind.IMMEDIATE else Timestamp.UNSPECIFIED
        actual = None if lease.started is None else Instant(lease.started)
        return Timestamp(requested if lease.start is None else Instant(lease.start), actual)

    @property
    def duration(self) -> Duration:
        """Its duration."""
        return Duration(TimeDelta(seconds=self._lease.duration), TimeDelta(seconds=self._lease.accumulated))

    @property
    def deadline(self) -> Instant | None:
        """When it must have ended; None if there is no such time."""
        return None if self._lease.deadline is None else Instant(self._lease.deadline)

    @property
    def end(self) -> Instant | None:
        """When it was done; None before."""
        return None if self._lease.end is None else Instant(self._lease.end)

    @property
    def preemptible(self) -> bool:
        """Its hosts may be taken for another."""
        return self._lease.preemptible

    @property
    def numnodes(self) -> int:
        """The number of its nodes."""
        return self._lease.size

    @property
    def requested_resources(self) -> dict[int, Capacity]:
        """The capacity that each node asks for; nodes are numbered from 1."""
        return {node: Capacity(self._types, demand) for node, demand in enumerate(self._lease.demands, start=1)}


for _state in State:
    setattr(LeaseView, f"STATE_{_state.name}", _state.code)


class SlotTable:
    """Slot table as policies see it: what is reserved on the hosts, which are numbered from 1.

    Attributes:
        nodes: number of a host -> what it has.
    """

    def __init__(self, table: LeaseTable) -> None:
        self._table = table
        self.nodes = {number: Capacity(table.types, host.capacity) for number, host in enumerate(table.hosts, start=1)}

    def get_free(self, node: int, time: float) -> Capacity:
        """Return what is free on a host at a time."""
        return Capacity(self._table.types, self._table.hosts[node - 1].free_at(time))

    def get_number_of_leases(self, node: int, time: float) -> int:
        """Return how many leases are on a host at a time."""
        return self._table.hosts[node - 1].outlook(time)[0]

    def get_next_change(self, node: int, time: float) -> Instant:
        """Return when that, or what is free, changes next after a time; infinity if never."""
        return Instant(self._table.hosts[node - 1].next_change(time))
