"""The fit of a replay to its log: figures by hand, and the classes of jobs that deviate most."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.errors import InputError, WorkloadError
from batsched_py.reporting.api import Schedule
from batsched_py.reporting.metrics.wait_fit import ClassFit, WaitFigures, WaitFit, fit_waits
from batsched_py.results.records import JobRecord
from tests.unit.reporting.records import record, rejected


def replayed(job_id: str, wait: float, recorded: float | None, **members: Any) -> JobRecord:
    """A job of one host for 10 s that waited in the replay, and in the log."""
    job = record(job_id, submit=0.0, start=wait, finish=wait + 10.0, hosts="0")
    own = members if recorded is None else {**members, "recorded_wait": recorded}
    return replace(job, job=replace(job.job, members=own))


def fit(*jobs: JobRecord) -> WaitFit:
    return fit_waits(Schedule("run", jobs, 4, {}, source="log"))


def classes(found: WaitFit) -> dict[tuple[str, str], ClassFit]:
    return {(one.by, one.group): one for one in found.classes}


#: Three of four jobs are within 2 s or 5 %: by 2 s, by 5 % of 100 s, and exactly. The partition slow has the fourth.
JOBS = (
    replayed("1", 2.0, 0.0, user="ada", slurm={"partition": "fast"}),
    replayed("2", 95.0, 100.0, user="bob", slurm={"partition": "fast"}),
    replayed("3", 50.0, 50.0, user="bob", slurm={"partition": "slow"}),
    replayed("4", 0.0, 93.0, user="bob", slurm={"partition": "slow"}),
)


def test_figures_of_waits() -> None:
    """Differences are replayed - recorded; quantiles are interpolated."""
    found = fit(*JOBS)
    assert (found.jobs, found.without_record, found.did_not_run) == (4, 0, 0)
    assert (found.within, found.within_share) == (3, 0.75)
    assert found.mean_difference == (2 - 5 + 0 - 93) / 4
    assert found.mean_deviation == (2 + 5 + 0 + 93) / 4
    assert found.recorded == WaitFigures(243 / 4, 71.5, 93 + 0.7 * 7, 93 + 0.85 * 7, 100.0)
    assert (found.replayed.mean, found.replayed.median, found.replayed.max) == (147 / 4, 26.0, 95.0)
    assert (found.replayed.p90, found.replayed.p95) == pytest.approx((81.5, 88.25))


def test_classes_have_their_part_of_the_deviation() -> None:
    """Slow has 93 of 100 s with half of the jobs: the largest excess, so it is first."""
    found = fit(*JOBS)
    slow, ada = classes(found)["partition", "slow"], classes(found)["user", "ada"]
    assert found.classes[0] == slow
    assert (slow.jobs, slow.jobs_share, slow.deviation, slow.deviation_share, slow.within) == (2, 0.5, 93.0, 0.93, 1)
    assert (slow.recorded_mean_wait, slow.replayed_mean_wait, slow.mean_difference) == (71.5, 25.0, -46.5)
    assert (ada.deviation_share, ada.excess) == (0.02, 0.02 - 0.25)
    assert [(one.by, one.group) for one in found.deviating] == [("partition", "slow"), ("user", "bob")]
    assert {one.by for one in found.classes} == {"partition", "user", "size", "runtime"}


def test_jobs_that_cannot_be_compared_are_counted() -> None:
    """Those without a recorded wait, and those that were rejected in the replay."""
    lost = rejected("9")
    found = fit(*JOBS, replayed("5", 7.0, None), replace(lost, job=replace(lost.job, members={"recorded_wait": 1.0})))
    assert (found.jobs, found.without_record, found.did_not_run) == (4, 1, 1)


def test_a_perfect_replay_names_no_class() -> None:
    """Without deviation there are no parts of it."""
    found = fit(replayed("1", 5.0, 5.0, user="ada"), replayed("2", 0.0, 0.0, user="bob"))
    assert (found.within_share, found.mean_deviation, found.deviating) == (1.0, 0.0, [])


def test_nothing_to_compare_is_an_error() -> None:
    """And so is a wait that is none."""
    with pytest.raises(InputError, match="log: no job with a recorded wait ran"):
        fit(replayed("1", 5.0, None))
    with pytest.raises(WorkloadError, match=r"log: job w0!1\.recorded_wait: must be a number of seconds"):
        fit(replayed("1", 5.0, -1.0))
