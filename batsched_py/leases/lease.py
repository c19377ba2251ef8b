"""Leases and their reservations, which refer to each other (H12, H13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Literal

from batsched_py.leases.capacity import Amounts, add, total
from batsched_py.leases.lifecycle import FINAL, SUSPENDED, TRANSITIONS
from batsched_py.leases.task_columns import NO_GPUS, TaskNeeds
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.lease_terms import DiskImage
from batsched_py.results.lease_rows import LeaseState, ReservationUse
from batsched_py.text.wording import seconds

#: Node -> the numbers of its GPUs.
Gpus = Mapping[int, tuple[int, ...]]


class Lease:
    """A lease of one or more machines, its nodes, which are numbered from 1.

    Attributes:
        id: the number of the lease, from 1, in the order of requests.
        kind: best effort, immediate, advance reservation or deadline.
        submit: the time of the request.
        start: the required start, or the earliest one of a lease with a deadline; None for the others.
        duration: the requested duration in seconds.
        demands: the demand of each node on its host.
        size: the number of nodes.
        preemptible: True if it may be stopped for another lease.
        deadline: the latest end; None for none.
        repeatable: True if its machines can be stopped, and started again later.
        software: the disk image that its hosts need; None for none.
        suitable: node -> bits of the hosts that it may use; None if all nodes may use all hosts.
        apart: True if all nodes must be on different hosts.
        user: the user who requests it; "" if unknown.
        needs: GPUs, licences and the spread of its nodes; None for nodes that are amounts alone.
        held: who holds it, "user" or "operator": it is not planned; "" if it is not held.
        priority: best-effort leases with a greater one come first in the queue.
        accumulated: seconds that its machines have run, without discarded runs.
        runs: planned, under way and over, in order of time.
        transfers: the transfers of its image.
        executed: reservations that have begun, in the order of their starts.
        location: node -> host with the memory of a suspended lease.
        history: (time, state) of each state change.
    """

    __slots__ = (
        "accumulated",
        "alternative_start",
        "apart",
        "deadline",
        "demands",
        "duration",
        "end",
        "executed",
        "held",
        "history",
        "id",
        "kind",
        "location",
        "needs",
        "order",
        "preemptible",
        "priority",
        "repeatable",
        "runs",
        "size",
        "software",
        "start",
        "started",
        "state",
        "submit",
        "suitable",
        "transfers",
        "uniform",
        "user",
    )

    def __init__(
        self,
        id: int,
        kind: LeaseKind,
        submit: float,
        duration: float,
        demands: tuple[Amounts, ...],
        *,
        start: float | None = None,
        preemptible: bool = True,
        deadline: float | None = None,
        software: DiskImage | None = None,
        repeatable: bool = True,
        suitable: Mapping[int, int] | None = None,
        apart: bool = False,
        user: str = "",
        needs: TaskNeeds | None = None,
    ) -> None:
        self.id, self.kind, self.submit, self.duration, self.demands = id, kind, submit, duration, demands
        self.start, self.preemptible, self.deadline, self.software = start, preemptible, deadline, software
        self.repeatable, self.suitable, self.size = repeatable, suitable, len(demands)
        self.apart, self.user, self.needs = apart, user, needs
        self.held: Literal["", "user", "operator"] = ""
        self.priority = 0
        self.state = LeaseState.NEW
        self.accumulated = 0.0
        #: The latest start of a run that is not a resumption; None before.
        self.started: float | None = None
        #: The time at which it was done; None before.
        self.end: float | None = None
        self.runs: list[LeaseRun] = []
        self.transfers: list[LeaseReservation] = []
        self.executed: list[LeaseReservation] = []
        #: When it could have started; None unless it requested a time and was refused.
        self.alternative_start: float | None = None
        self.location: dict[int, int] = {}
        self.history: list[tuple[float, LeaseState]] = []
        #: Nodes, the most demanding first: the order in which they are mapped.
        self.order = _by_demand(demands)
        #: True if all nodes have the same demand.
        self.uniform = demands.count(demands[0]) == len(demands) if demands else True

    def __repr__(self) -> str:
        return f"<lease {self.id}, {self.kind.value}, {self.state.label}>"

    @property
    def remaining(self) -> float:
        """The rest of its duration, in seconds."""
        return self.duration - self.accumulated

    @property
    def unplanned(self) -> float:
        """The rest of its duration without the runs that are planned or under way, in seconds."""
        left = self.remaining
        for run in reversed(self.runs):
            if run.phase is Phase.OVER:
                break
            left -= run.end - run.start
        return left

    @property
    def to_be_suspended(self) -> bool:
        """True if its last run ends in a suspension that is not over."""
        return bool(self.runs) and self.runs[-1].suspends and self.runs[-1].after[-1].phase is not Phase.OVER

    @property
    def resuming(self) -> bool:
        """True if it is suspended after its last run, now or as planned: the next run begins with a resumption."""
        return self.state in SUSPENDED or self.to_be_suspended

    @property
    def memory_hosts(self) -> Mapping[int, int]:
        """Node -> host that keeps the memory of its machine after the last run."""
        return self.runs[-1].nodes if self.to_be_suspended else self.location

    @property
    def running(self) -> LeaseRun | None:
        """The run under way; None if there is none."""
        for run in self.runs:
            if run.phase is Phase.UNDER_WAY:
                return run
        return None

    @property
    def ended(self) -> bool:
        """True if it never runs again."""
        return self.state in FINAL

    def shares(self, nodes: Mapping[int, int], gpus: Gpus = NO_GPUS) -> dict[int, Amounts]:
        """Return host -> total demand of the given nodes (node -> host), on these GPUs (node -> their numbers)."""
        found: dict[int, Amounts] = {}
        for node, host in nodes.items():
            demand = self.demands[node - 1]
            if gpus and self.needs is not None and node in gpus:
                demand = self.needs.gpus[node].on(demand, gpus[node])
            found[host] = add(found[host], demand) if host in found else demand
        return found

    def run_shares(self, nodes: Mapping[int, int], gpus: Gpus = NO_GPUS) -> dict[int, Amounts]:
        """Return the shares of a run: those of its nodes, and the licences of the lease."""
        found = self.shares(nodes, gpus)
        return found if self.needs is None else {**found, **self.needs.licences}

    def presence(self, hosts: Iterable[int]) -> dict[int, Amounts]:
        """Return empty shares of hosts that are busy with its files, which makes other hosts preferred."""
        return dict.fromkeys(hosts, tuple(0.0 for _ in self.demands[0]))

    def change(self, state: LeaseState, now: float) -> None:
        """Enter a state; AssertionError with the lease's history if the transition is not allowed."""
        assert state in TRANSITIONS[self.state], self._history_text(state)  # noqa: S101
        self.state = state
        self.history.append((now, state))

    def _history_text(self, state: LeaseState) -> str:
        history = ", ".join(f"{past.label} at {seconds(time)}" for time, past in self.history)
        return f"{self!r} cannot become {state.label}: {history}"


def is_job(lease: Lease) -> bool:
    """Return whether a lease is no more than a job that waits or runs: any algorithm could go on with it."""
    plain = lease.suitable is None and lease.software is None and lease.needs is None and not lease.held
    if lease.state is LeaseState.ACTIVE:
        return plain and not lease.to_be_suspended
    return plain and lease.kind is LeaseKind.BEST_EFFORT and not lease.executed


class Phase(Enum):
    """The phase of a reservation: planned, under way or over; a removed one is over."""

    PLANNED = "planned"
    UNDER_WAY = "under way"
    OVER = "over"


class LeaseReservation:
    """Shares of hosts for [start, end).

    Attributes:
        nodes: node -> host, for the machines concerned.
        shares: host -> reserved amounts; nothing for transfers and migrations, which use the network only.
        order: the position among all reservations ever put into the table; it breaks ties in time.
        run: the run that it is, precedes or follows; None for transfers, and before it is planned.
    """

    __slots__ = ("end", "lease", "nodes", "order", "phase", "run", "shares", "start", "use")

    def __init__(
        self,
        lease: Lease,
        use: ReservationUse,
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
        self.run: LeaseRun | None = None

    def __repr__(self) -> str:
        slot = f"[{seconds(self.start)}, {seconds(self.end)})"
        return f"<{self.use.value} of lease {self.lease.id}, {slot}, {self.phase.value}>"


class LeaseRun(LeaseReservation):
    """A run of all machines of a lease, with its preceding and following reservations.

    Attributes:
        gpus: node -> the numbers of its GPUs, only for nodes with any.
        before: migrations, then resumptions, in order of time.
        after: suspensions in order of time, or one shutdown.
    """

    __slots__ = ("after", "before", "gpus")

    def __init__(self, lease: Lease, start: float, end: float, nodes: Mapping[int, int], gpus: Gpus = NO_GPUS) -> None:
        shares = lease.run_shares(nodes, gpus)
        super().__init__(lease, ReservationUse.VM, start, end, nodes=nodes, shares=shares)
        self.gpus = gpus
        self.before: list[LeaseReservation] = []
        self.after: list[LeaseReservation] = []

    @property
    def first_start(self) -> float:
        """The start of its first reservation."""
        return self.before[0].start if self.before else self.start

    @property
    def final_end(self) -> float:
        """The end of its last reservation."""
        return self.after[-1].end if self.after else self.end

    @property
    def suspends(self) -> bool:
        """True if the run ends with a suspension of the lease."""
        return bool(self.after) and self.after[0].use is ReservationUse.SUSPEND

    @property
    def begun(self) -> bool:
        """True if the run or a preceding reservation is under way or over."""
        return self.phase is not Phase.PLANNED or any(one.phase is not Phase.PLANNED for one in self.before)

    def all(self) -> Sequence[LeaseReservation]:
        """Return the run and its reservations, in order of time."""
        return [*self.before, self, *self.after]


@lru_cache(maxsize=1 << 12)  # many leases have the same demands
def _by_demand(demands: tuple[Amounts, ...]) -> tuple[int, ...]:
    """Return node numbers by decreasing demand, each type relative to its largest demand (H59)."""
    totals = [[total(quantity) for quantity in demand] for demand in demands]
    largest = [max(column) for column in zip(*totals, strict=True)]
    weights = [sum(quantity / most for quantity, most in zip(row, largest, strict=True) if most > 0) for row in totals]
    return tuple(sorted(range(1, len(demands) + 1), key=lambda node: -weights[node - 1]))
