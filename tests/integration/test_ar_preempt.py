"""Advance reservations and preemption: what is promised, on any workload, whoever plays Batsim."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.api import HostSet, Job, Profile
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.profile import Delay, parse_profile
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.session.session import Session
from batsched_py.traces.simgrid_xml import read_platform
from tests.builders import begins_data, completed_data, message, submitted_data
from tests.clone import ROOT
from tests.integration.lease_case import HOSTS, Run, lease_cases
from tests.platforms import plain_platform
from tests.recorded_run import RecordedRun

VARIANTS: list[dict[str, Any]] = [
    {},
    {"preempt": "none"},
    {"victims": "oldest", "margin": 3.0, "depth": 2},
    {"depth": 0, "margin": 0.5},
    {"order": "asc_area"},
]


@pytest.mark.parametrize("peer", ["simulator", "messages", "torn", "late"])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_each_lease_has_what_it_was_promised(peer: Any, data: st.DataObject) -> None:
    """A reservation starts at its instant, nobody else is killed, whoever is killed begins again, all end once."""
    case = data.draw(lease_cases(peer=peer))
    for options in VARIANTS:
        run = Run(case, **options)
        assert not run.played.deadlock, options
        run.check()
        for job_id in run.accepted:
            assert job_id not in run.rejections or peer == "late", "no host failed: an accepted reservation starts"


@pytest.mark.parametrize("peer", ["simulator", "messages", "torn", "late"])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_a_reservation_whose_hosts_fail_moves_or_is_rejected(peer: Any, data: st.DataObject) -> None:
    """Never silently late: it starts at its instant on other hosts, or is rejected with the reason."""
    run = Run(data.draw(lease_cases(peer=peer, failing=True)))
    if not run.played.deadlock:
        run.check()
    else:  # a best-effort job is left that needs more hosts than will ever be there
        done = {name.partition("#")[0] for name, end in run.endings().items() if end.state != "COMPLETED_KILLED"}
        left = [size for job_id, (_, size, _, _) in run.case.job_ids().items() if job_id not in done]
        assert max(left) > HOSTS - len(run.case.lost)
        assert all(job_id in run.endings() for job_id in run.accepted)


#: (name, submission, hosts, run time, walltime, lease)
Spec = tuple[str, float, int, float, float, Any]
DYNAMIC = Settings(dynamic_jobs=True)
#: Two jobs that run when a reservation of all four hosts begins, the second one younger.
TWO: list[Spec] = [("old", 0, 1, 90, 100, None), ("young", 10, 1, 80, 100, None)]


def leased(specs: list[Spec], profiles: Mapping[str, Profile] | None = None) -> Workload:
    """Delay jobs, or of these profiles."""
    delays = {
        f"d{run:g}": Delay(f"d{run:g}", "delay", {"type": "delay", "delay": run}, run) for _, _, _, run, *_ in specs
    }
    jobs = []
    for name, submit, size, run, walltime, lease in specs:
        profile = name if name in (profiles or {}) else f"d{run:g}"
        extra = {} if lease is None else {"lease": lease}
        jobs.append(Job.create(name, size=size, profile=profile, submit_time=submit, walltime=walltime, extra=extra))
    return Workload("test", 4, tuple(jobs), {**delays, **(profiles or {})})


class Told(RecordedRun):
    """A run on four hosts, and what was said in it."""

    def __init__(
        self,
        specs: list[Spec],
        settings: Settings = DYNAMIC,
        profiles: Mapping[str, Profile] | None = None,
        **options: Any,
    ) -> None:
        super().__init__("ar_preempt", options)
        self.run([leased(specs, profiles)], settings, on=plain_platform(4))
        self.records = {record.job.name: record for record in self.jobs}

    def spans(self) -> dict[str, tuple[float, float]]:
        """Name -> start and finish of what ran."""
        return {name: (record.start, record.finish) for name, record in self.records.items() if not record.rejected}

    def states(self) -> dict[str, str]:
        """Name -> how it ended, in short."""
        return {name: record.state.removeprefix("COMPLETED_") for name, record in self.records.items()}


def test_a_job_gives_way_and_begins_again_where_it_was_in_the_queue() -> None:
    """Haizea's example without suspension: 3600 s from 0, all hosts from 1800 to 3600; one that came later waits."""
    told = Told(
        [
            ("1", 0, 1, 3500, 3600, None),
            ("2", 900, 4, 1700, 1800, {"start": 1800, "preemptible": False}),
            ("3", 1000, 4, 100, 1000, None),
        ]
    )
    assert told.spans() == {"1": (0, 1800), "2": (1800, 3500), "1#1": (3500, 7000), "3": (7000, 7100)}
    assert told.records["1"].state == "COMPLETED_KILLED"
    assert not told.warnings


@pytest.mark.parametrize("acknowledge", [True, False])
def test_registration_is_finished_once_when_nobody_can_be_preempted_any_more(acknowledge: bool) -> None:
    """One call for the instant that matters, the kill at it, the job again, and then nothing more."""
    told = Told(
        [("1", 0, 1, 90, 100, None), ("2", 5, 4, 10, 10, {"start": 50})],
        Settings(dynamic_jobs=True, acknowledge_dynamic_jobs=acknowledge),
    )
    said = [(time, kind) for time, kind, _ in told.said() if kind != "EXECUTE_JOB"]
    assert said == [
        (5, "CALL_ME_LATER"),
        (50, "KILL_JOB"),
        (50, "REGISTER_PROFILE"),
        (50, "REGISTER_JOB"),
        (50, "NOTIFY"),
    ]
    assert told.details("NOTIFY") == [{"type": "registration_finished"}]
    assert told.spans()["1#1"] == (60, 150)


def test_a_call_is_asked_for_the_next_instant_only() -> None:
    """Calls cannot be taken back, and delay the end of the run (E14)."""
    told = Told([(f"{n}", 0, 1, 5, 5, {"start": 10 * n}) for n in range(1, 6)], preempt="none")
    assert [(time, data["timestamp"]) for time, _, data in told.said("CALL_ME_LATER")] == [
        (0, 10),
        (10, 20),
        (20, 30),
        (30, 40),
        (40, 50),
    ]


@pytest.mark.parametrize(("victims", "killed"), [("youngest", "young"), ("oldest", "old")])
def test_the_option_says_who_gives_way(victims: str, killed: str) -> None:
    """No more than needed: one host is missing."""
    told = Told([*TWO, ("r", 20, 3, 10, 10, {"start": 50})], victims=victims)
    assert [name for name, state in told.states().items() if state == "KILLED"] == [killed]
    assert told.spans()["r"] == (50, 60)


def test_nobody_gives_way_if_other_hosts_have_become_free_by_then() -> None:
    """It was reserved over the host of a job; then another job ended early."""
    told = Told([("a", 0, 2, 100, 100, None), ("b", 0, 2, 20, 100, None), ("r", 10, 2, 10, 10, {"start": 50})])
    assert "KILLED" not in told.states().values()
    assert told.spans()["r"] == (50, 60)


def test_with_a_margin_hosts_are_free_before_the_instant() -> None:
    """The kill comes two seconds before, and a short job may use them."""
    told = Told([("a", 0, 4, 90, 100, None), ("r", 10, 4, 10, 10, {"start": 50}), ("s", 20, 1, 1, 2, None)], margin=2)
    assert told.spans() == {"a": (0, 48), "s": (48, 49), "r": (50, 60), "a#1": (60, 150)}


def test_a_job_that_is_not_preemptible_stays() -> None:
    """So the reservation is rejected, with the numbers."""
    told = Told([("a", 0, 2, 90, 100, {"preemptible": False}), TWO[1], ("r", 20, 3, 10, 10, {"start": 50})])
    why = "it needs 3 hosts in [50, 60), 1 is free, 1 more could be taken from best-effort jobs"
    assert told.warnings == [f"t=20: w0!r rejected: {why}"]
    assert told.records["r"].metadata == why


def test_without_dynamic_jobs_nobody_is_preempted_and_the_user_is_told_once() -> None:
    """A job that was killed could not begin again."""
    told = Told([*TWO, ("r", 20, 4, 10, 10, {"start": 50}), ("s", 20, 2, 10, 10, {"start": 50})], Settings())
    assert told.warnings == [
        "t=20: no job is preempted: to submit it again needs Batsim's option --enable-dynamic-jobs",
        "t=20: w0!r rejected: it needs 4 hosts in [50, 60), 2 are free",
    ]
    assert told.spans()["s"] == (50, 60)


def test_a_run_without_reservations_is_not_bothered() -> None:
    """No warning, and registration is finished as soon as all jobs have come."""
    assert Told(TWO, Settings()).warnings == []
    assert [time for time, _, _ in Told(TWO).said("NOTIFY")] == [10]


@pytest.mark.parametrize(
    ("lease", "why"),
    [
        ({"start": 5}, "it must start at 5, which is past"),
        ({"start": "soon"}, "lease.start: must be null"),
        ({"start": 50, "software": {}}, "lease.software: unknown; "),
        ({"start": "now"}, "it must start now on 3 hosts, 2 are free for its walltime"),
    ],
)
def test_a_lease_that_cannot_be_kept_rejects_its_job_alone(lease: Any, why: str) -> None:
    """With the reason, for the user and in the jobs file."""
    told = Told([*TWO, ("r", 20, 3, 10, 10, lease)])
    assert told.states() == {"r": "REJECTED", "old": "SUCCESSFULLY", "young": "SUCCESSFULLY"}
    assert told.records["r"].metadata.replace("'", '"').startswith(why)


def test_an_immediate_lease_starts_at_once_if_nothing_is_in_its_way() -> None:
    """Not into a reservation."""
    told = Told(
        [
            ("r", 0, 2, 10, 10, {"start": 30}),
            ("i", 5, 3, 10, 20, {"start": "now"}),
            ("j", 21, 3, 5, 10, {"start": "now"}),
        ]
    )
    assert told.spans() == {"i": (5, 15), "r": (30, 40)}
    assert told.states()["j"] == "REJECTED"


def test_best_effort_jobs_are_backfilled_before_a_reservation_and_not_into_it() -> None:
    """One that ends by then runs now, the other after."""
    told = Told([("r", 0, 4, 10, 10, {"start": 30}), ("a", 1, 1, 5, 40, None), ("b", 2, 1, 5, 28, None)])
    assert told.spans() == {"b": (2, 7), "r": (30, 40), "a": (40, 45)}


def test_batsim_1_has_registration_reopened_for_the_kill() -> None:
    """It never says when all jobs have come."""
    settings = Settings(dynamic_jobs=True, protocol="v1.4", forward_profiles=True, workload_names=("w0",))
    told = Told([*TWO, ("r", 20, 4, 10, 10, {"start": 50})], settings)
    kinds = [data["type"] for _, _, data in told.said("NOTIFY")]
    assert kinds == ["submission_finished", "continue_submission", "submission_finished"]
    assert told.spans() == {"old": (0, 50), "young": (10, 50), "r": (50, 60), "0": (60, 140), "1": (60, 150)}
    assert [data["job_id"] for _, _, data in told.said("SUBMIT_JOB")] == ["segments!0", "segments!1"]


def test_a_job_whose_profile_is_unknown_is_no_victim() -> None:
    """Batsim 1 without forwarding tells no profiles: what was killed could not begin again."""
    settings = Settings(dynamic_jobs=True, protocol="v1.4", workload_names=("w0",))
    assert Told([*TWO, ("r", 20, 4, 10, 10, {"start": 50})], settings).states()["r"] == "REJECTED"


TASK = {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0}
COMPOSED = {
    "old": parse_profile("old", {"type": "composed", "repeat": 2, "seq": ["d80", "task"]}),
    "task": parse_profile("task", TASK),
}


@pytest.mark.parametrize(("reuse", "state"), [(True, "SUCCESSFULLY"), (False, "REJECTED")])
def test_a_composed_job_begins_again_only_where_batsim_keeps_profiles(reuse: bool, state: str) -> None:
    """Batsim 4 takes no composed profile under a new name, and may have forgotten the old one."""
    settings = Settings(dynamic_jobs=True, profile_reuse=reuse)
    told = Told([("old", 0, 4, 80, 200, None), ("r", 20, 4, 10, 11, {"start": 50})], settings, COMPOSED)
    assert told.states()["r"] == state
    assert ("old#1" in told.records) is reuse


def test_a_job_may_give_way_more_than_once() -> None:
    """Each segment has the next number, and a profile of its own; one number is somebody else's."""
    told = Told(
        [
            ("a", 0, 4, 30, 40, None),
            ("a#1", 1, 1, 3, 10, None),
            ("r", 2, 4, 5, 5, {"start": 20}),
            ("s", 30, 4, 5, 5, {"start": 40}),
        ]
    )
    assert told.states()["a"] == told.states()["a#2"] == "KILLED"
    assert told.spans()["a#3"] == (45, 75)
    assert told.spans()["a#1"] == (75, 78)


def test_a_job_that_ends_at_the_instant_of_the_reservation_is_not_killed() -> None:
    """It had 10 s more by its walltime, and was to give way."""
    told = Told([("a", 0, 4, 50, 60, None), ("r", 20, 4, 5, 6, {"start": 50})])
    assert told.states() == {"a": "SUCCESSFULLY", "r": "SUCCESSFULLY"}
    assert told.spans()["r"] == (50, 55)


def outage(begin: float, hosts: str) -> ExternalEvent:
    members = {"timestamp": begin, "type": "machine_unavailable", "resources": hosts}
    return ExternalEvent(begin, "machine_unavailable", HostSet.parse(hosts), members)


def test_a_reservation_moves_from_hosts_that_fail_even_at_the_cost_of_others() -> None:
    """Hosts 2 and 3 fail before it begins: a job on host 1 gives way."""
    settings = Settings(dynamic_jobs=True, external_events=(outage(30, "2-3"),))
    told = Told([*TWO, ("r", 20, 2, 10, 10, {"start": 50})], settings)
    assert told.spans()["r"] == (50, 60)
    assert set(told.spans()) == {"old", "young", "r", "old#1", "young#1"}


def test_a_reservation_without_enough_hosts_at_its_instant_is_rejected() -> None:
    """It waits until then, as its hosts may come back; they do not."""
    settings = Settings(dynamic_jobs=True, external_events=(outage(30, "2-3"),))
    told = Told([("r", 20, 3, 10, 10, {"start": 50})], settings)
    assert told.warnings == [
        "t=50: w0!r rejected: its hosts 0-2 cannot be had, and on others it needs 3 hosts in [50, 60), 2 are free"
    ]


def test_batsim_is_told_when_a_reservation_will_start() -> None:
    """It may ask how long a job waits."""
    session = Session(load("ar_preempt"))
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(4))))
    data = submitted_data("a")
    data["job"]["lease"] = {"start": 40}
    session.answer(message(10, ("JOB_SUBMITTED", data)))
    asked = ("QUERY", {"requests": {"estimate_waiting_time": {"job_id": "w0!a", "job": data["job"]}}})
    assert b'"estimated_waiting_time":30' in session.answer(message(10, asked))


def asked(session: Session, now: float, *events: tuple[str, dict[str, Any]]) -> list[tuple[str, Any]]:
    """(type, data) of the reply."""
    reply = json.loads(session.answer(message(now, *events)))
    return [(event["type"], event["data"]) for event in reply["events"]]


def killing(session: Session) -> None:
    """Until a kill of w0!a is on its way, which holds all hosts when w0!r is to start, at 5."""
    config = {"dynamic-jobs-enabled": True}
    asked(
        session, 0, ("SIMULATION_BEGINS", begins_data(4, config=config)), ("JOB_SUBMITTED", submitted_data("a", 4, 9))
    )
    reserved = submitted_data("r", 2, 3)
    reserved["job"]["lease"] = {"start": 5}
    asked(session, 1, ("JOB_SUBMITTED", reserved))
    assert asked(session, 5.1, ("REQUESTED_CALL", {})) == [("KILL_JOB", {"job_ids": ["w0!a"]})]


@pytest.mark.parametrize("state", ["COMPLETED_SUCCESSFULLY", "COMPLETED_KILLED"])
def test_only_who_was_really_killed_begins_again(state: str) -> None:
    """A job may end by itself on the way of the kill; Batsim tells of it in the same way."""
    session = Session(load("ar_preempt"))
    killing(session)
    said = asked(session, 5.2, ("JOB_COMPLETED", completed_data("a", "0-3", state)))
    assert said[0] == ("EXECUTE_JOB", {"job_id": "w0!r", "alloc": "0-1"})
    assert ("REGISTER_JOB" in [kind for kind, _ in said]) is (state == "COMPLETED_KILLED")


def test_a_reservation_that_comes_during_a_kill_counts_on_the_hosts_that_it_frees() -> None:
    """They are neither free nor in need of another kill."""
    session = Session(load("ar_preempt"))
    killing(session)
    reserved = submitted_data("s", 2, 3, 5.1)
    reserved["job"]["lease"] = {"start": "+0"}
    assert [kind for kind, _ in asked(session, 5.1, ("JOB_SUBMITTED", reserved))] == []
    said = asked(session, 5.2, ("JOB_COMPLETED", completed_data("a", "0-3", "COMPLETED_KILLED")))
    assert [data["job_id"] for kind, data in said if kind == "EXECUTE_JOB"] == ["w0!r", "w0!s"]


def test_a_reservation_may_follow_one_that_has_started_a_hair_late() -> None:
    """By its walltime the first ends a hair after the second begins; it is accepted all the same, and starts."""
    talk = RecordedRun("ar_preempt")
    specs: list[Spec] = [("r", 0, 32, 10, 10, {"start": 50}), ("s", 55, 32, 10, 11, {"start": 60})]
    platform = read_platform(ROOT / "platforms" / "cluster32.xml")
    result = talk.run([leased(specs)], Settings(message_latency=True), on=platform)
    starts = {record.job.name: record.start for record in result.jobs if not record.rejected}
    assert 50 < starts["r"] < 50.01
    assert 60 < starts["s"] < 60.01
