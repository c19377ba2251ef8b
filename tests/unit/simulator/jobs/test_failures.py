"""Jobs on hosts that fail: they go on, end as failed, or are submitted again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from batsched_py.campaigns import simulate
from batsched_py.cli.main import run
from batsched_py.errors import OptionError, RefusedError
from batsched_py.hostset import HostSet
from batsched_py.model.external_event import MACHINE_AVAILABLE, MACHINE_UNAVAILABLE, ExternalEvent
from batsched_py.model.settings import OnFailure, Settings
from batsched_py.model.workload import Workload
from batsched_py.protocol.events import COMPLETED_FAILED, COMPLETED_SUCCESSFULLY
from batsched_py.results.records import JobRecord
from batsched_py.traces.failures import parse_failures
from batsched_py.traces.lublin import generate
from tests.platforms import plain_platform
from tests.unit.simulator.scenario import execute, job, play, workload


def fails(hosts: str, at: float, until: float) -> tuple[ExternalEvent, ExternalEvent]:
    """Return a failure of hosts, and their return."""
    ids = HostSet.parse(hosts)
    return (
        ExternalEvent(at, MACHINE_UNAVAILABLE, ids, {}, "test"),
        ExternalEvent(until, MACHINE_AVAILABLE, ids, {}, "test"),
    )


def settings(on_failure: OnFailure, *events: ExternalEvent) -> Settings:
    """Return settings with these events."""
    return Settings(external_events=events, on_failure=on_failure)


def drawn(hosts: int) -> tuple[ExternalEvent, ...]:
    """Return failures from a model."""
    found = parse_failures("mtbf=2h,repair=10m").draw(hosts, 4e4, 3)
    types = {False: MACHINE_UNAVAILABLE, True: MACHINE_AVAILABLE}
    return tuple(ExternalEvent(time, types[back], HostSet.from_ids([host]), {}, "test") for time, back, host in found)


def told(records: tuple[JobRecord, ...]) -> list[tuple[str, str, float, float]]:
    """Return (name, state, start, finish) of each job in order of their ends."""
    return [(record.job.name, record.state, record.start, record.finish) for record in records]


@pytest.mark.parametrize(
    ("on_failure", "ends"),
    [
        ("ignore", [("a", COMPLETED_SUCCESSFULLY, 1, 21), ("b", COMPLETED_SUCCESSFULLY, 1, 101)]),
        ("kill", [("a", COMPLETED_SUCCESSFULLY, 1, 21), ("b", COMPLETED_FAILED, 1, 50)]),
    ],
)
def test_only_jobs_on_hosts_that_fail_are_lost(
    on_failure: OnFailure, ends: list[tuple[str, str, float, float]]
) -> None:
    """At the instant of the failure, and told in the message that tells of it."""
    jobs = workload(job("a", "d20", res=2, at=1), job("b", "d100", res=2, at=1))
    script = {1.0: [execute("a", "0-1"), execute("b", "2-3")]}
    result, peer = play(jobs, script, settings=settings(on_failure, *fails("3", 50, 120)))
    assert told(result.jobs) == ends
    if on_failure == "kill":
        [message] = [heard for heard in peer.heard if heard["now"] == 50]
        assert [event["type"] for event in message["events"]] == ["JOB_COMPLETED", "NOTIFY"]
        data = message["events"][0]["data"]
        assert (data["job_id"], data["job_state"], data["return_code"], data["alloc"]) == (
            "w0!b", COMPLETED_FAILED, 1, "2-3",
        )  # fmt: skip


def test_a_job_is_submitted_again_from_its_beginning() -> None:
    """As often as its hosts fail, under the next name each time, with the time at which it comes."""
    jobs = workload(job("b", "d100", res=2, at=1, walltime=150))
    script = {1.0: [execute("b", "2-3")], 50.0: [execute("b~1", "0-1")], 90.0: [execute("b~2", "2-3")]}
    failing = (*fails("3", 50, 80), *fails("0-1", 90, 300))
    result, peer = play(jobs, script, settings=settings("requeue", *failing))
    assert told(result.jobs) == [
        ("b", COMPLETED_FAILED, 1, 50),
        ("b~1", COMPLETED_FAILED, 50, 90),
        ("b~2", COMPLETED_SUCCESSFULLY, 90, 190),
    ]
    submitted = peer.told("JOB_SUBMITTED")
    assert [(time, data["job_id"], data["job"]["subtime"], data["job"]["walltime"]) for time, data in submitted] == [
        (1, "w0!b", 1, 150),
        (50, "w0!b~1", 50, 150),
        (90, "w0!b~2", 90, 150),
    ]


def test_a_name_of_the_workload_is_not_given_again() -> None:
    """The next one that is free is."""
    jobs = workload(job("b", "d100", res=2, at=1), job("b~1", at=500))
    script = {1.0: [execute("b", "2-3")], 50.0: [execute("b~2", "0-1")], 500.0: [execute("b~1", "0")]}
    result, _ = play(jobs, script, settings=settings("requeue", *fails("3", 50, 80)))
    assert [name for name, *_ in told(result.jobs)] == ["b", "b~2", "b~1"]


@pytest.mark.parametrize("algorithm", ["fcfs", "easy", "conservative", "filler", "leases", "placer"])
@pytest.mark.parametrize("others", [Settings(), Settings(message_latency=True), Settings(dynamic_jobs=True)])
def test_every_job_is_done_once_in_the_end(algorithm: str, others: Settings) -> None:
    """By algorithms that decide for themselves, while hosts fail and return; the same run has the same records."""
    jobs, machine = lublin(), plain_platform(16)
    given = replace(others, external_events=drawn(16), on_failure="requeue")
    first, again = (simulate(machine, jobs, algorithm, settings=given).result.jobs for _ in range(2))
    assert told(first) == told(again)
    done = Counter(record.job.name.partition("~")[0] for record in first if record.success)
    assert done == Counter(one.id for one in jobs.jobs)
    lost = [record for record in first if record.state == COMPLETED_FAILED]
    assert len(lost) > 5
    if algorithm != "leases":  # which stops and goes on with leases by jobs of its own
        assert len(first) == len(jobs.jobs) + len(lost)


def lublin() -> Workload:
    """Return a workload whose jobs all fit."""
    return generate(60, 16, Random(1), load=0.7)


def test_names_of_batsim_14_are_numbers() -> None:
    """So that there is no name for another attempt."""
    with pytest.raises(OptionError, match="requeued in protocol v4 only"):
        play(workload(job("1")), {}, settings=Settings(protocol="v1.4", on_failure="requeue"))


def test_hosts_cannot_fail_without_events(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The option would do nothing."""

    assert (
        run(
            [
                "simulate",
                "-p",
                "platforms/tiny4.xml",
                "-w",
                "workloads/first.json",
                "-s",
                "easy",
                "--on-failure",
                "kill",
            ]
        )
        == 2
    )
    assert "'--on-failure' goes with '--events', or a platform that changes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("on_failure", "ends"),
    [
        ("kill", [("a", COMPLETED_FAILED, 13, 13.00001), ("b", COMPLETED_SUCCESSFULLY, 13, 33)]),
        (
            "requeue",
            [
                ("a", COMPLETED_FAILED, 13, 13.00001),
                ("b", COMPLETED_SUCCESSFULLY, 13, 33),
                ("a~1", COMPLETED_SUCCESSFULLY, 36, 56),
            ],
        ),
    ],
)
def test_a_job_whose_host_fails_during_the_decision_fails_when_it_starts(
    on_failure: OnFailure, ends: list[tuple[str, str, float, float]]
) -> None:
    """The decision of 10 s takes 3 s; the host fails after one of these, and is back at 40 s."""
    jobs = workload(job("a", "d20", res=2, at=10), job("b", "d20", at=10))
    run = simulate(plain_platform(3), jobs, "fcfs", settings=settings(on_failure, *fails("1", 11, 40)), clock="fixed:3")
    found = [(name, state, round(start, 5), round(finish, 5)) for name, state, start, finish in told(run.result.jobs)]
    assert found == ends


def test_a_host_that_is_back_before_the_decision_is_taken_runs_the_job() -> None:
    """Nothing is lost."""
    jobs = workload(job("a", "d20", at=10))
    run = simulate(plain_platform(1), jobs, "fcfs", settings=settings("kill", *fails("0", 11, 12)), clock="fixed:3")
    assert told(run.result.jobs) == [("a", COMPLETED_SUCCESSFULLY, 13, 33)]


def test_where_failures_end_no_jobs_the_refusal_says_what_happened() -> None:
    """Batsim aborts; with a failure before the request, the algorithm is to blame, whatever ends jobs."""
    jobs = workload(job("a", "d20", at=10))
    why = "cannot run there now: 0 unavailable, since a failure after the request"
    with pytest.raises(RefusedError, match=why):
        simulate(plain_platform(1), jobs, "fcfs", settings=settings("ignore", *fails("0", 11, 30)), clock="fixed:3")
    with pytest.raises(RefusedError, match=r"cannot run there now: 0 unavailable$"):
        play(jobs, {10.0: [execute("a", "0")]}, settings=settings("kill", *fails("0", 9, 30)))


@pytest.mark.parametrize("algorithm", ["fcfs", "easy", "conservative"])
@pytest.mark.parametrize("on_failure", ["kill", "requeue"])
@pytest.mark.parametrize("latency", [False, True])
def test_decision_times_and_failures_go_together(algorithm: str, on_failure: OnFailure, latency: bool) -> None:
    """Every job ends, each on hosts that were there when it ran, or as failed."""
    chosen = replace(settings(on_failure, *drawn(8)), message_latency=latency)
    run = simulate(
        plain_platform(8), generate(60, 8, Random(5), load=0.7), algorithm, settings=chosen, clock="fixed:300"
    )
    states = Counter(record.state for record in run.result.jobs)
    assert states[COMPLETED_FAILED] > 0
    at_once = [record for record in run.result.jobs if record.finish - record.start < 1e-4]
    assert at_once or algorithm != "fcfs"
    assert all(record.state == COMPLETED_FAILED for record in at_once)
    failed = {record.job.name.partition("~")[0] for record in run.result.jobs if record.state == COMPLETED_FAILED}
    again = {record.job.name.partition("~")[0] for record in run.result.jobs if "~" in record.job.name}
    assert again == (failed if on_failure == "requeue" else set())
