"""Runs of leases with a ledger, and what it says."""

from __future__ import annotations

from typing import Any

from batsched_py.leases.accounting.accounting import Stats
from batsched_py.leases.accounting.catalogue import PROBES
from batsched_py.leases.accounting.ledger import Ledger
from batsched_py.leases.lease import Lease
from tests.lease_driver import Request, lease, play

ALL_PROBES = "ar immediate best-effort cpu-utilization disk-usage"


def booked(
    requests: list[Request | Lease], probes: str = ALL_PROBES, *, stats: Stats = "corrected", **settings: Any
) -> Ledger:
    """The ledger of a run to its end."""
    ledger = Ledger(PROBES[probes], stats)
    ledger.close(play(requests, observer=ledger, **settings).now)
    return ledger


def entries(ledger: Ledger, name: str) -> list[tuple[float, float, float]]:
    """Times, values and averages of a counter."""
    counter = ledger.accounting.counters[name]
    averages = counter.averages()
    assert averages is not None
    return [
        (entry.time, entry.value, round(average, 6)) for entry, average in zip(counter.entries, averages, strict=True)
    ]


def values(ledger: Ledger, name: str) -> list[tuple[float, float]]:
    """Times and values of a counter."""
    return [(entry.time, entry.value) for entry in ledger.accounting.counters[name].entries]


def quickstart(**terms: Any) -> list[Request | Lease]:
    """The two leases of HA-2, with terms for both."""
    return [lease(1, 0, 1, 3600, **terms), lease(2, 900, 4, 1800, start=1800.0, preemptible=False, **terms)]
