"""Failed hosts are expected back: promises survive failures, and hosts that stay away hold up nobody for long."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest

from batsched_py.errors import OptionError
from batsched_py.testing import Bench, Case
from batsched_py.testing.case import Outage
from tests.recorded_run import RecordedRun

BACKFILLING = ("easy", "conservative", "backfill")


def starts(name: str, options: dict[str, Any], case: Case) -> list[float]:
    """Starts of the jobs, in the order in which they were given."""
    talk = RecordedRun(name, options)
    result = talk.run([case.workload()], case.settings(), case.platform())
    return [record.start for record in sorted(result.jobs, key=lambda record: record.job.id)]


@pytest.mark.parametrize("name", BACKFILLING)
def test_a_job_that_needs_a_failed_host_is_promised_its_expected_return(name: str) -> None:
    """A later job that ends before overtakes; one that would not end before waits."""
    bench = Bench(name, hosts=4, options={"repair_time": 100})
    bench.fail("3")
    wide, short = bench.submit(size=4, walltime=10), bench.submit(walltime=90)
    bench.submit(walltime=110)
    decision = bench.decide()
    assert decision.promises[wide] == 100
    assert list(decision.started) == [short]


@pytest.mark.parametrize("name", BACKFILLING)
def test_without_a_repair_time_hosts_are_expected_after_the_mean_of_past_repairs(name: str) -> None:
    """Before the first repair has ended nobody is promised what needs a failed host."""
    bench = Bench(name, hosts=4)
    bench.fail("0-2")
    wide = bench.submit(size=4, walltime=10)
    assert bench.decide().promises.get(wide, math.inf) == math.inf
    bench.at(10).repair("0")
    assert bench.decide().promises[wide] == pytest.approx(10)  # the others are expected at any moment
    assert bench.call().decide().promises[wide] == 20  # and are late a second after
    bench.at(30).repair("1")
    assert bench.decide().promises[wide] == 40  # the mean of 10 s and 30 s, doubled


def test_a_host_that_is_late_is_expected_later_and_at_last_given_up() -> None:
    """After 1, 2, 4... and 64 repair times; at each of them whoever ends before the next may overtake."""
    bench = Bench("easy", hosts=4, options={"repair_time": 100})
    bench.fail("3")
    wide, patient = bench.submit(size=4, walltime=10), bench.submit(walltime=3000)
    expected = [bench.decide().promises[wide]]
    while expected[-1] < 6400:
        expected.append(bench.call().decide().promises[wide])
    assert expected == [100, 200, 400, 800, 1600, 3200, 6400]
    assert patient in bench.running
    assert bench.call().decide().promises[wide] == math.inf


def test_a_host_that_never_returns_does_not_stop_the_others() -> None:
    """Nothing runs and nothing comes: the second job starts because a call is asked for when the host is late."""
    bench = Bench("conservative", hosts=2, options={"repair_time": 20})
    bench.fail("1")
    bench.submit(size=2, walltime=5)
    other = bench.submit(walltime=50)
    assert not bench.decide().started
    while other not in bench.running:
        bench.call().decide()
    assert bench.now < 100


def test_a_repair_time_of_nothing_is_refused() -> None:
    with pytest.raises(OptionError, match="repair_time of easy: must be at least 1"):
        Bench("easy", options={"repair_time": 0})


def broken_machine(seed: int) -> Case:
    """400 jobs on 16 hosts, each of which fails once or twice for a while; three jobs need all hosts but one."""
    random, hosts = Random(seed), 16
    jobs = []
    submit = 0.0
    for number in range(400):
        submit += random.expovariate(1 / 60)
        run = float(random.randint(60, 1200))
        jobs.append((submit, hosts - 1 if number in (50, 150, 250) else random.choice((1, 1, 2, 4)), run, 1.5 * run))
    outages: list[Outage] = []
    for host in range(hosts):
        begin = random.uniform(0, submit)
        outages.append((begin, str(host), begin + 600.0))
    return Case(hosts=hosts, jobs=tuple(jobs), outages=tuple(outages))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_wide_jobs_wait_under_conservative_no_longer_than_jobs_do_under_easy(seed: int) -> None:
    """A job that needs a failed host keeps a promise, and is served before those that came later."""
    case = broken_machine(seed)
    waits = {}
    for name in ("easy", "conservative"):
        found = starts(name, {}, case)
        waits[name] = [start - job[0] for start, job in zip(found, case.jobs, strict=True)]
    wide = [number for number, job in enumerate(case.jobs) if job[1] == case.hosts - 1]
    assert max(waits["conservative"][number] for number in wide) <= max(waits["easy"])


def test_a_promise_that_a_failure_moves_still_comes_before_those_of_later_jobs() -> None:
    """The second job loses its slot at 10; the third, which was promised the time after it, gives way."""
    bench = Bench("conservative", hosts=2, options={"repair_time": 50})
    bench.run(size=2, walltime=10)
    second, third = bench.submit(size=2, walltime=100), bench.submit(size=2, walltime=100)
    assert bench.decide().promises == {second: 10, third: 110}
    bench.fail("1")
    assert bench.decide().promises == {second: 50, third: 150}
