"""Metrics of leases, by hand for the quickstart of Haizea's manual."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.campaigns.metrics import METRICS
from batsched_py.reporting.api import RunMetrics, measure_run, read_schedule
from batsched_py.reporting.metrics.catalogue import METRIC_INFO
from batsched_py.reporting.metrics.lease_metrics import lease_hosts
from batsched_py.reporting.metrics.steps import mean_over
from batsched_py.reporting.metrics.tables import metrics_table
from tests.unit.reporting import lease_runs, sample_schedules

FIELDS = tuple(METRIC_INFO)
OF_LEASES = FIELDS[FIELDS.index("leases") : FIELDS.index("placement_success")]


def measured(name: str = "quickstart") -> RunMetrics:
    """The metrics of a run."""
    return measure_run(lease_runs.schedule(name))


def test_the_quickstart_to_the_second() -> None:
    """A lease of an hour on one host, cut from 1768 to 3632 for a reservation of half an hour on all four."""
    run = measured()
    assert (run.leases, run.accepted_reservations, run.rejected_reservations) == (2, 1, 0)
    assert (run.best_effort_done, run.best_effort_completion) == (1, 5464)
    assert run.mean_best_effort_wait == 0
    assert run.mean_best_effort_slowdown == pytest.approx(5464 / 3600)
    assert run.lease_utilisation == pytest.approx((3600 + 4 * 1800) / (4 * 5464))
    assert run.lease_utilisation_with_overheads == pytest.approx((3600 + 64 + 4 * 1800) / (4 * 5464))
    assert (run.suspensions, run.time_suspended, run.migrations) == (1, 1800, 0)
    assert (run.requeues, run.lost_work) == (0, 0)


def test_with_overheads_it_is_what_the_probe_counts() -> None:
    """Haizea's figure for the quickstart (docs/lease-tables.md)."""
    assert round(measured().lease_utilisation_with_overheads or 0, 6) == 0.497072


def test_work_that_is_thrown_away_is_lost_and_waited_for() -> None:
    """HA-3: without suspension the lease begins anew at 3600, when 900 s are lost."""
    run = measured("requeue")
    assert (run.lost_work, run.requeues, run.suspensions) == (900, 1, 0)
    assert (run.mean_best_effort_wait, run.mean_best_effort_slowdown) == (3600, 2)
    assert run.lease_utilisation == pytest.approx((3600 + 4 * 1800) / (4 * 7200))
    assert run.lease_utilisation_with_overheads == pytest.approx((900 + 3600 + 4 * 1800) / (4 * 7200))


def test_a_rejected_reservation_is_not_accepted() -> None:
    """HA-7: nobody gives way."""
    run = measured("rejected")
    assert (run.accepted_reservations, run.rejected_reservations, run.best_effort_completion) == (0, 1, 3600)


def test_moves_are_counted() -> None:
    """One lease resumes elsewhere; transfers hold no CPU."""
    run = measured("images")
    assert (run.migrations, run.suspensions) == (1, 1)
    useful = 1686 + 1914 + 4 * 1740 + 2 * 1800
    assert run.lease_utilisation == pytest.approx(useful / (4 * 5770))
    shut_down = 60 * (4 + 2 + 1)
    assert run.lease_utilisation_with_overheads == pytest.approx((useful + 64 + shut_down) / (4 * 5770))


@pytest.mark.parametrize("name", lease_runs.RUNS)
def test_files_give_the_same(tmp_path: Path, name: str) -> None:
    """To their six digits."""
    read = measure_run(read_schedule(lease_runs.write(tmp_path, lease_runs.result(name)), hosts=4)).by_name
    told = measured(name).by_name
    assert {field: read[field] for field in OF_LEASES} == pytest.approx({field: told[field] for field in OF_LEASES})


def test_runs_without_leases_have_none() -> None:
    """Nothing is 0 that has no meaning."""
    run = measure_run(sample_schedules.schedule())
    assert {getattr(run, field) for field in OF_LEASES} == {None}
    assert not any("lease" in str(cell) for cell in metrics_table(["run"], [run]).columns[0].cells)


def test_runs_that_differ_are_compared_by_them() -> None:
    """`compare --metrics` takes those that have a better direction, under the same names."""
    assert {name for name in OF_LEASES if name in METRICS} == set(OF_LEASES) - {
        "leases", "lease_utilisation_with_overheads", "predictions",
    }  # fmt: skip


def test_the_hosts_of_leases_over_time() -> None:
    """A lease works on one host until it is suspended; a reservation has all four."""
    series = lease_hosts(lease_runs.schedule())
    assert series["working_hosts"] == [(0, 1), (1768, 0), (1800, 4), (3600, 0), (3632, 1), (5464, 0)]
    assert series["overhead_hosts"] == [(0, 0), (1768, 1), (1800, 0), (3600, 1), (3632, 0)]
    assert series["losing_hosts"] == [(0, 0)]
    assert lease_hosts(lease_runs.schedule("requeue"))["losing_hosts"] == [(0, 1), (900, 0)]
    assert lease_hosts(sample_schedules.schedule()) == {}


@pytest.mark.parametrize("name", lease_runs.RUNS)
def test_series_and_figures_agree(name: str) -> None:
    """The means over time are the utilisations."""
    run = lease_runs.schedule(name)
    assert run.leases is not None
    series = lease_hosts(run)
    means = {part: (mean_over(steps, 0, run.leases.end) or 0) / 4 for part, steps in series.items()}
    found = measure_run(run)
    assert means["working_hosts"] == pytest.approx(found.lease_utilisation)
    assert sum(means.values()) == pytest.approx(found.lease_utilisation_with_overheads)
