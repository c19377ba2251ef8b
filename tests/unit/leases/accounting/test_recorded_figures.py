"""Figures that the original's probes wrote, for recorded cases in which leases do what they did there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from batsched_py.leases.accounting.accounting import Accounting
from batsched_py.leases.accounting.catalogue import PROBES
from batsched_py.leases.accounting.ledger import Ledger
from batsched_py.leases.lease import Lease
from tests.haizea_cases import NAMES, PREEMPTION, HaizeaCase, recorded_times, times_of

#: Cases in which the original was stopped half-way.
STOPPED = ("overhead-mem",)


def counters(accounting: Accounting) -> dict[str, list[list[Any]]]:
    """Entries as they are recorded."""
    found = {}
    for name, counter in accounting.counters.items():
        averages: Sequence[float | None] = counter.averages() or [None] * len(counter.entries)
        found[name] = [[*entry, average] for entry, average in zip(counter.entries, averages, strict=True)]
    return found


def close_to(recorded: dict[str, list[list[Any]]]) -> dict[str, list[Any]]:
    """Recorded entries, to be compared in spite of their last digit."""
    return {name: [[near(cell) for cell in entry] for entry in entries] for name, entries in recorded.items()}


def near(cell: Any) -> Any:
    """A recorded number; numbers have six digits after the point at most."""
    return cell if cell is None else pytest.approx(cell, abs=1.1e-6)


def played(case: HaizeaCase, recorded: dict[str, Any]) -> Ledger | None:
    """The ledger of a case; None if leases do otherwise than recorded."""
    if case.config.policies.preemption not in PREEMPTION or recorded.get("problems"):
        return None
    ledger = Ledger(PROBES["ar immediate best-effort cpu-utilization"], "original")
    driver = case.driver(ledger, drop_unneeded_victims=False)
    leases = {lease.id: lease for lease in driver.leases}
    ledger.close(driver.run().now)
    return ledger if all(_as_recorded(leases[one["id"]], one) for one in recorded.get("leases", [])) else None


def _as_recorded(lease: Lease, recorded: dict[str, Any]) -> bool:
    return lease.state.label == recorded["state"] and times_of(lease) == recorded_times(recorded)


def test_figures_are_those_of_the_original_where_leases_do_the_same() -> None:
    """Counters with averages, statistics of the run, waits and slowdowns of best-effort leases."""
    compared = with_counters = 0
    for name in NAMES:
        case = HaizeaCase(name)
        recorded = case.recorded()
        ledger = None if name in STOPPED else played(case, recorded)
        if ledger is None:
            continue
        compared += 1
        assert ledger.accounting.run_stats == recorded["stats"], name
        fates = {row.lease: (row.waiting_time, pytest.approx(row.slowdown, abs=1e-6)) for row in ledger.lease_rows()}
        if recorded["haizea"] == "1.0":
            best_effort = [one for one in recorded["leases"] if one["type"] == "BE" and one["state"] == "Done"]
            assert {one["id"]: (one["wait"], one["slowdown"]) for one in best_effort} == {
                one["id"]: fates[one["id"]] for one in best_effort
            }, name
        if "counters" in recorded:
            with_counters += 1
            assert counters(ledger.accounting) == close_to(recorded["counters"]), name
    assert compared >= 66
    assert with_counters >= 48


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("ar-vs-ar-hetero", {"all-best-effort": 402, "run-end": 800}),
        ("stop-be-done", {"all-best-effort": 2700}),
        ("ar-exact", {"Total accepted AR": 4, "Total rejected AR": 3}),
        ("too-big-im", {"Total accepted Immediate": 0, "Total rejected Immediate": 2}),
    ],
)
def test_figures_in_which_the_original_is_mistaken_are_corrected(name: str, figures: dict[str, float]) -> None:
    """HA-41 and HA-43."""
    ledger = Ledger(PROBES["ar immediate best-effort"])
    ledger.close(HaizeaCase(name).driver(ledger).run().now)
    assert {key: ledger.accounting.run_stats[key] for key in figures} == figures
