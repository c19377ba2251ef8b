"""Makers of the policies of a run, which take the slot table."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from batsched_py.leases.policies.admission import Admission
from batsched_py.leases.policies.hosts import GreedyHosts, HostOrder
from batsched_py.leases.policies.preemption import Preemptability
from batsched_py.leases.table import LeaseTable


class Policies(NamedTuple):
    """Makers of the policies of admission, preemption and host selection; each takes the slot table."""

    admission: Callable[[LeaseTable], Admission]
    preemption: Callable[[LeaseTable], Preemptability]
    hosts: Callable[[LeaseTable], HostOrder]


#: Haizea's defaults.
DEFAULT_POLICIES = Policies(lambda _: Admission(), lambda _: Preemptability(), GreedyHosts)
