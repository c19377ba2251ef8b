"""The algorithms that are there to try things out: what each promises."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

from batsched_py.errors import AlgorithmError, OptionError
from batsched_py.interruption import Interruption
from batsched_py.model.settings import Settings
from batsched_py.plugins import load
from batsched_py.results.records import Result
from batsched_py.session.session import Session
from batsched_py.testing import Case
from batsched_py.testing.case import Outage
from tests.builders import begins_data, begun, message, submitted_data
from tests.integration.programs import ROOT, run
from tests.integration.variants import HOSTS, PLATFORM, SPECS, workload
from tests.recorded_run import RecordedRun

Specs = list[tuple[int, int, int, int]]


def play(
    name: str, options: Mapping[str, Any], specs: Specs, outages: Sequence[Outage] = (), **settings: Any
) -> tuple[Result, RecordedRun]:
    case = Case(hosts=HOSTS, jobs=tuple(specs), outages=tuple(outages), energy=True)
    talk = RecordedRun(name, options)
    given = Settings(external_events=case.external_events(), **settings)
    return talk.run([case.workload()], given, case.platform()), talk


@pytest.mark.parametrize(
    ("name", "options"),
    [("submitter", {"jobs": 3}), ("submitter", {"jobs": 0}), ("energy_watcher", {"interval": 2})],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_those_that_ask_batsim_for_more_do_so_in_its_older_version_too(name: str, options: dict[str, Any]) -> None:
    """All jobs end, and as many of their own as were asked for: none, too."""
    specs = [(0, 3, 5, 9), (0, 2, 7, 9), (1, 6, 3, 3), (2, 1, 8, 9)]
    result, _ = play(name, options, specs, protocol="v1.4", energy=True, dynamic_jobs=name == "submitter")
    assert len(result.jobs) == len(specs) + options.get("jobs", 0)
    assert all(record.state.startswith("COMPLETED_") for record in result.jobs)


@pytest.mark.parametrize("at_once", [("sequencer", {}), ("sleeper", {"at_once": "one"})], ids=["sequencer", "sleeper"])
@given(specs=SPECS)
def test_jobs_that_run_one_at_a_time_run_in_order_of_arrival(at_once: tuple[str, dict[str, Any]], specs: Specs) -> None:
    """None overlaps another, and a sequencer leaves no time between them."""
    result, _ = play(*at_once, specs, energy=True)
    ran = sorted(result.jobs, key=lambda record: (record.job.submit_time, record.job.id))
    for one, other in pairwise(ran):
        assert one.finish <= other.start
        if at_once[0] == "sequencer":
            assert other.start == max(one.finish, other.job.submit_time)


def test_a_sequencer_runs_jobs_in_the_order_that_is_asked_for() -> None:
    """Found again whenever a job has ended: the one that came last is the smallest."""
    specs = [(0, 3, 5, 9), (0, 2, 5, 9), (1, 4, 5, 9), (6, 1, 5, 9)]
    result, _ = play("sequencer", {"order": "asc_size"}, specs)
    assert {record.job.name: record.start for record in result.jobs} == {"001": 0, "000": 5, "003": 10, "002": 15}


def test_chance_depends_on_the_seed() -> None:
    """Another seed, other hosts, and another order."""
    specs = [(0, 2, 5, 9)] * 9
    runs = [play("random", {"seed": seed}, specs)[1].details("EXECUTE_JOB") for seed in range(4)]
    assert len({str(sorted((told["job_id"], told["alloc"]) for told in said)) for said in runs}) == 4
    assert len({str([told["job_id"] for told in said[:3]]) for said in runs}) > 1


@given(SPECS)
def test_random_leaves_no_job_waiting_that_would_fit(specs: Specs) -> None:
    """On free hosts: whenever a job ends or comes, every waiting job is larger than what is free then."""

    def watch(session: Session, request: bytes, reply: bytes) -> None:
        free = len(session.view.free)
        assert all(waiting.size > free for waiting in session.view.queue)

    RecordedRun("random", watch=watch).run([workload(specs)], on=PLATFORM)


def test_on_any_hosts_a_job_starts_as_soon_as_it_comes() -> None:
    """Hosts that work for others, too, but none that have failed; without sharing that is refused at once."""
    specs = [(0, HOSTS, 50, 60), (1, 2, 5, 9), (2, HOSTS, 5, 9), (3, HOSTS - 1, 9, 9), (4, HOSTS, 9, 9)]
    result, _ = play("random", {"hosts": "any"}, specs, compute_sharing=True, outages=[(2.5, "0", 12.5)])
    assert sorted(record.start for record in result.jobs) == [0.0, 1.0, 2.0, 3.0, 12.5]
    with pytest.raises(OptionError, match="--enable-compute-sharing"):
        play("random", {"hosts": "any"}, specs)


@pytest.mark.parametrize(
    ("options", "rejected", "why"),
    [
        ({}, ["000", "001", "002", "003"], "every job is rejected"),
        ({"probability": 0}, [], ""),
        ({"larger_than": 2}, ["002", "003"], "needs more than 2 hosts"),
        ({"probability": 0.5, "seed": 2}, None, r"chance rejected it (probability 0.5)"),
    ],
)
def test_the_rejecter_says_why(options: dict[str, Any], rejected: list[str] | None, why: str) -> None:
    """All of them, those above a size, or some: the others run."""
    specs = [(0, size, 5, 9) for size in (1, 2, 3, 4)] * (5 if rejected is None else 1)
    result, talk = play("rejecter", options, specs)
    refused = [record.job.name for record in result.jobs if record.rejected]
    assert set(talk.session.rejections.values()) == ({why} if why else set())
    if rejected is None:
        assert 0 < len(refused) < 20
    else:
        assert sorted(refused) == rejected


@given(SPECS)
def test_the_killer_kills_what_runs_for_too_long(specs: Specs) -> None:
    """A job ends by itself if it is over by then, and is killed four seconds after its start if not."""
    result, talk = play("killer", {"after": 4}, specs)
    for record in result.jobs:
        _, _, length, walltime = specs[int(record.job.name)]
        ends = min(length, walltime, 4)
        assert record.finish - record.start == ends
        assert (record.state == "COMPLETED_KILLED") == (min(length, walltime) > 4)
    asked = [job_id for said in talk.details("KILL_JOB") for job_id in said["job_ids"]]
    assert len(asked) == len(set(asked))


def test_the_killer_makes_room_for_the_next() -> None:
    """As batsched's killer2: a job runs until another needs its hosts, and the oldest goes first."""
    specs = [(0, 4, 100, 200), (1, 2, 100, 200), (5, 3, 100, 200), (6, 1, 100, 200)]
    result, talk = play("killer", {"rule": "arrival"}, specs)
    ends = {record.job.name: (record.start, record.finish, record.state) for record in result.jobs}
    assert ends["000"] == (0.0, 5.0, "COMPLETED_KILLED")
    assert ends["001"] == (1.0, 101.0, "COMPLETED_SUCCESSFULLY")
    assert (ends["002"][0], ends["003"][0]) == (5.0, 6.0)
    assert len(talk.details("KILL_JOB")) == 1


def test_the_killer_kills_nobody_for_a_job_that_finds_too_few_hosts_anyhow() -> None:
    """Hosts that failed are missing, not those of the others."""
    result, talk = play("killer", {"rule": "arrival"}, [(1, 2, 20, 90), (5, HOSTS, 5, 90)], outages=[(0.5, "0", 50.5)])
    assert talk.details("KILL_JOB") == []
    assert [record.start for record in result.jobs] == [1.0, 50.5]


@pytest.mark.parametrize("acknowledge", [False, True])
def test_the_submitter_submits_at_an_interval(acknowledge: bool) -> None:
    """Each job when it is time, in a workload of its own, with what it was told to be."""
    options = {"jobs": 3, "interval": 20, "size": 2, "seconds": 4, "longer": 1, "slack": 2, "metadata": True}
    result, talk = play("submitter", options, [(1, 1, 5, 9)], dynamic_jobs=True, acknowledge_dynamic_jobs=acknowledge)
    own = [record for record in result.jobs if record.workload == "dynamic"]
    assert [(record.job.name, record.start, record.finish) for record in own] == [
        ("0", 0.0, 4.0),
        ("1", 20.0, 25.0),
        ("2", 40.0, 46.0),
    ]
    assert [(len(record.hosts), record.job.walltime) for record in own] == [(2, 6.0), (2, 7.0), (2, 8.0)]
    assert own[2].metadata == "number 2 of submitter"
    assert len(talk.told("JOB_SUBMITTED")) == (4 if acknowledge else 1)
    assert len(talk.details("NOTIFY")) == 1


def test_the_submitter_names_shared_profiles_by_their_length() -> None:
    """One profile for all; Batsim forgets it with its last job, which the Plan says, unless it may be used again."""
    options = {"jobs": 3, "interval": 20, "profiles": "shared"}
    result, talk = play("submitter", options, [(1, 1, 5, 9)], dynamic_jobs=True, profile_reuse=True)
    assert len(result.jobs) == 4
    assert [said["profile_name"] for said in talk.details("REGISTER_PROFILE")] == ["delay_10.000000"]
    with pytest.raises(AlgorithmError, match="run with --enable-profile-reuse"):
        play("submitter", options, [(1, 1, 5, 9)], dynamic_jobs=True)


def test_the_submitter_refuses_jobs_larger_than_the_platform() -> None:
    """They would never run."""
    with pytest.raises(OptionError, match="size of submitter: must be at most 6"):
        play("submitter", {"size": 9}, [(1, 1, 5, 9)], dynamic_jobs=True)


def test_the_energy_watcher_asks_at_an_interval_while_there_is_something_to_watch() -> None:
    """Not before the first job, not after the last, and anew when another comes."""
    _, talk = play("energy_watcher", {"interval": 4}, [(1, 1, 10, 20), (50, 1, 2, 20)], energy=True)
    assert [time for time, _, _ in talk.said("QUERY")] == [1.0, 5.0, 9.0, 50.0]
    assert len(talk.told("ANSWER")) == 4


def test_the_energy_watcher_fails_if_energy_is_given_back() -> None:
    """A difference that is due to rounding is none."""
    session = begun(load("energy_watcher"), compute_resources=energy_hosts())
    for joules in (10.0, 12.5, 12.4999995):
        session.answer(message(1, ("ANSWER", {"consumed_energy": joules})))
    with pytest.raises(AlgorithmError, match=r"ValueError: 12\.0 J were consumed by now, and 12\.4999995 J before"):
        session.answer(message(1, ("ANSWER", {"consumed_energy": 12.0})))


def energy_hosts() -> list[dict[str, Any]]:
    (first, *others) = begins_data()["compute_resources"]
    return [{**host, "properties": {"wattage_per_state": "100:200"}} for host in (first, *others)]


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("rejecter", {"probability": "1.5"}, "option probability of rejecter: must be at most 1, not 1.5"),
        ("energy_watcher", {"interval": "0.01"}, "interval must be 0 or at least 0.1, not 0.01"),
        ("crasher", {"how": "plan", "message": "0"}, "message must not be 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(name: str, options: dict[str, str], said: str) -> None:
    """Before anything begins."""
    with pytest.raises(OptionError, match=said):
        Session(load(name), options)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (
            "raise",
            r"crasher failed on JobSubmitted w0!a: RuntimeError: failed on purpose at t=5 \(crasher.py:\d+\)",
        ),
        ("plan", r"t=5: crasher failed on JobSubmitted w0!a: wake at 5.*: it must be later than now"),
        ("exit", r"t=5: crasher failed on JobSubmitted w0!a: SystemExit: failed on purpose"),
    ],
)
def test_the_crasher_fails_at_the_message_of_ones_choice(how: str, said: str) -> None:
    """With the story, and with a reply that makes Batsim stop; before, jobs are started."""
    session = Session(load("crasher"), {"how": how, "message": 3})
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data())))
    reply = json.loads(session.answer(message(1, ("JOB_SUBMITTED", submitted_data("b", 1)))))
    assert [event["type"] for event in reply["events"]] == ["EXECUTE_JOB"]
    with pytest.raises(AlgorithmError, match=said) as caught:
        session.answer(message(5, ("JOB_SUBMITTED", submitted_data("a", 1))))
    assert b"BATSCHED_PY_STOPPED" in session.refusal(caught.value)


def test_the_crasher_fails_at_the_end() -> None:
    """On the message that ends the simulation."""
    with pytest.raises(AlgorithmError, match="crasher failed on SimulationEnds"):
        play("crasher", {"message": 0}, [(1, 1, 5, 9)])


def test_the_crasher_dies_without_a_word(tmp_path: Any) -> None:
    """As a program does that the system kills."""
    paths = [str(ROOT / "platforms" / "tiny4.xml"), str(ROOT / "workloads" / "first.json")]
    done = run(tmp_path, "simulate", "-p", paths[0], "-w", paths[1], "-s", "crasher", "-o", "how=kill")
    assert done.returncode == -signal.SIGKILL
    assert done.stderr == ""


def test_the_crasher_is_silent_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for a signal, and then again; only an exception of the signal's handler ends that."""
    woken: list[int] = []

    def pause() -> None:
        woken.append(os.getpid())
        if len(woken) == 3:
            raise Interruption(signal.SIGTERM)

    monkeypatch.setattr(signal, "pause", pause)
    session = Session(load("crasher"), {"how": "hang"})
    with pytest.raises(Interruption):
        session.answer(message(0, ("SIMULATION_BEGINS", begins_data())))
