"""Adapters of users' own policies, which check their answers (H54, H91)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from numbers import Real
from typing import Any

from batsched_py.errors import PlanError
from batsched_py.leases.haizea_interface.times import Instant, clock_at
from batsched_py.leases.haizea_interface.views import LeaseView, SlotTableView
from batsched_py.leases.lease import Lease
from batsched_py.leases.policies.admission import Admission
from batsched_py.leases.policies.hosts import HostOrder
from batsched_py.leases.policies.preemption import Preemptability
from batsched_py.leases.table import LeaseTable, numbers
from batsched_py.named import failed
from batsched_py.text.display import shown
from batsched_py.text.wording import seconds

#: A user's class, or a function that returns a policy.
Make = Callable[..., Any]


class UserAdmission(Admission):
    """A user's admission policy.

    Args:
        name: the name of its class, for messages.
        make: makes the policy, given the slot table.
        table: the slot table.
    """

    def __init__(self, name: str, make: Make, table: LeaseTable) -> None:
        self.name = name
        self._policy = _Policy(f"admission policy {name}", make, table)

    def accepts(self, lease: Lease, leases: Collection[Lease]) -> bool:  # noqa: ARG002  # Haizea's have the slot table
        """Return the answer of the user's policy; PlanError if it raises."""
        policy = self._policy
        answer = policy.ask("accept_lease", lease, policy.seen(lease))
        if answer not in (True, False):
            raise PlanError(f"{policy.asked('accept_lease', lease)}: it must return True or False, not {shown(answer)}")
        return bool(answer)


class UserPreemptability(Preemptability):
    """A user's preemption policy."""

    def __init__(self, name: str, make: Make, table: LeaseTable) -> None:
        self._policy = _Policy(f"preemption policy {name}", make, table)

    def score(self, preemptor: Lease, preemptee: Lease, time: float) -> float:
        """Return the score of the user's policy; PlanError if it raises, or returns no number."""
        seen = self._policy.seen
        return self._policy.score(
            "get_lease_preemptability_score", preemptee, seen(preemptor), seen(preemptee), Instant(time)
        )


class UserHostOrder(HostOrder):
    """A user's selection of hosts."""

    total = False

    def __init__(self, name: str, make: Make, table: LeaseTable) -> None:
        super().__init__(table)
        self._policy = _Policy(f"host selection policy {name}", make, table)

    def sort(self, lease: Lease, hosts: int, time: float, count: int | None = None) -> Sequence[int]:
        """Return hosts by the scores of the user's policy; exclude those with negative scores."""
        seen, when = self._policy.seen(lease), Instant(time)
        scores = {host: self._policy.score("get_host_score", lease, host + 1, when, seen) for host in numbers(hosts)}
        return sorted((host for host, score in scores.items() if score >= 0), key=lambda host: -scores[host])[:count]


class _Policy:
    """A user's policy of any kind."""

    def __init__(self, what: str, make: Make, table: LeaseTable) -> None:
        self._what, self._table = what, table
        try:
            with clock_at(0.0):
                self._policy = make(SlotTableView(table))
        except BaseException as error:
            raise failed(what, error) from error

    def seen(self, lease: Lease) -> LeaseView:
        """Return the view of a lease for the policy."""
        return LeaseView(lease, self._table.types)

    def asked(self, method: str, lease: Lease) -> str:
        """Return a description of a call about a lease, for messages."""
        return f"{self._what}: {method} of lease {lease.id} at t={seconds(self._table.now)}"

    def ask(self, method: str, lease: Lease, *arguments: Any) -> Any:
        """Call a method of the policy and return its answer; PlanError, which names the lease, if it raises."""
        try:
            with clock_at(self._table.now):
                return getattr(self._policy, method)(*arguments)
        except BaseException as error:
            raise failed(self.asked(method, lease), error) from error

    def score(self, method: str, lease: Lease, *arguments: Any) -> float:
        """Call a method of the policy and return its answer; PlanError if it is not a number."""
        answer = self.ask(method, lease, *arguments)
        if not isinstance(answer, Real) or math.isnan(answer):
            raise PlanError(f"{self.asked(method, lease)}: it must return a number, not {shown(answer)}")
        try:
            return float(answer)
        except OverflowError:
            raise PlanError(f"{self.asked(method, lease)}: it returned a number that is too large") from None
