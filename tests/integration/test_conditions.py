"""Jobs with conditions on other jobs: every algorithm, against a checker that knows nothing of the engine."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from batsched_py.api import NoOptions, Plan, Scheduler, View
from batsched_py.cli.main import run
from batsched_py.errors import RemoteProtocolError
from batsched_py.model.job import Job
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.results.records import JobRecord
from batsched_py.schedulers.easy import Easy
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.session.session import Session
from batsched_py.testing import Bench, Case
from tests.builders import begins_data, begun, completed_data, message, said, submitted_data
from tests.clone import ROOT
from tests.drawing import given_once
from tests.integration.variants import EACH, HOSTS, LIBERTIES, liberties
from tests.recorded_run import RecordedRun

TINY = ROOT / "platforms" / "tiny4.xml"
WHEN = ("start", "end", "success", "failure")
TOLERANCE = 1e-4  # a job that is killed when it starts ends 1e-5 s later
#: Algorithms that may end a job for reasons of their own, end a run, or continue a job under another id.
OWN_ENDS = {*LIBERTIES, "ar_preempt", "sequencer", "submitter", "placer"}

#: Algorithm -> beginnings of the reasons for which it refuses conditions that it documents as not supported.
REFUSALS = {"slurm": ("depends_on.delay: must be whole minutes", "array: must have tasks that differ only")}

#: (submission, hosts, run time, walltime) and, of each, pairs of a job before it and a state, a delay, a row.
JOBS = st.lists(
    st.tuples(
        st.tuples(st.integers(0, 9), st.integers(1, HOSTS), st.integers(1, 9), st.integers(1, 12)),
        st.lists(st.tuples(st.integers(0, 19), st.sampled_from(WHEN), st.sampled_from((0, 0, 3))), max_size=2),
        st.sampled_from(("", "", "", "singleton", "array")),
    ),
    min_size=1,
    max_size=20,
)
Drawn = list[tuple[tuple[int, int, int, int], list[tuple[int, str, int]], str]]


def conditional(drawn: Drawn) -> Workload:
    """The workload of these jobs; each depends on jobs before it in the list, whenever those are submitted."""
    plain = Case(hosts=HOSTS, jobs=tuple(spec for spec, _, _ in drawn)).workload()
    return replace(plain, jobs=tuple(_with(job, *drawn[int(job.id)][1:]) for job in plain.jobs))


def _with(job: Job, others: list[tuple[int, str, int]], row: str) -> Job:
    number = int(job.id)
    wanted = [{"job": f"{other % number:03d}", "when": when, "delay": delay} for other, when, delay in others if number]
    members: dict[str, Any] = {"depends_on": wanted} if wanted else {}
    members |= {"singleton": "one"} if row == "singleton" else {}
    members |= {"array": {"id": "t", "limit": 2}} if row == "array" else {}
    return replace(job, members={**job.members, **members})


def check_dependencies(records: Mapping[str, JobRecord]) -> None:
    """No job starts before the jobs that it depends on are where they must be."""
    for record in records.values():
        for wanted in record.job.members.get("depends_on", ()):
            other, when = records[f"w0!{wanted['job']}"], wanted["when"]
            well, ran = other.state == "COMPLETED_SUCCESSFULLY", bool(other.hosts)
            if record.hosts:
                since = other.start if when == "start" and ran else other.finish if ran else 0.0
                assert record.start >= since + wanted["delay"] - TOLERANCE
                assert when not in ("success", "failure") or well == (when == "success")


def check_rows(records: Mapping[str, JobRecord]) -> None:
    """At most one singleton of a user runs, and at most two jobs of the array."""
    ran = sorted((record for record in records.values() if record.hosts), key=lambda record: record.start)
    for user in {record.job.user for record in ran}:
        row = [record for record in ran if "singleton" in record.job.members and record.job.user == user]
        assert all(after.start >= before.finish - TOLERANCE for before, after in pairwise(row))
    tasks = [record for record in ran if "array" in record.job.members]
    for record in tasks:
        now = record.start + TOLERANCE
        assert sum(other.start <= now < other.finish - TOLERANCE for other in tasks) <= 2


@pytest.mark.parametrize(("name", "options"), [each for each in EACH if not liberties(*each).get("fails_on_purpose")])
@given_once(JOBS, count=10)
def test_no_condition_is_broken(name: str, options: dict[str, str], drawn: Drawn) -> None:
    """An algorithm that runs all it can leaves out only what can never start."""
    algorithm, played = load(name), RecordedRun(name, options)
    case = Case(hosts=HOSTS, energy=algorithm.needs_energy, dynamic=algorithm.needs_dynamic_jobs)
    played.run([conditional(drawn)], case.settings(), on=case.platform())
    records = {record.job.id: record for record in played.jobs}
    check_dependencies(records)
    check_rows(records)
    if name not in OWN_ENDS:
        reasons = played.session.plan.rejections
        for record in records.values():
            if reasons.get(record.job.id, "").startswith(REFUSALS.get(name, ("?",))):
                continue
            if name != "slurm" or not _depends_on_rejected(record, records):  # there it waits for ever, as in Slurm
                assert (record.state == "REJECTED") == _impossible(record, records)


def _depends_on_rejected(record: JobRecord, records: Mapping[str, JobRecord]) -> bool:
    """Whether a job depends on one that was rejected."""
    return any(records[f"w0!{one['job']}"].state == "REJECTED" for one in record.job.members.get("depends_on", ()))


def _impossible(record: JobRecord, records: Mapping[str, JobRecord]) -> bool:
    """Whether a job depends on a success that was a failure, or the opposite."""
    for wanted in record.job.members.get("depends_on", ()):
        well = records[f"w0!{wanted['job']}"].state == "COMPLETED_SUCCESSFULLY"
        if (wanted["when"] == "success" and not well) or (wanted["when"] == "failure" and well):
            return True
    return False


def with_members(name: str, subtime: float = 0, **members: Any) -> tuple[str, dict[str, Any]]:
    """The submission of a job with these members."""
    data = submitted_data(name, subtime=subtime)
    return "JOB_SUBMITTED", {**data, "job": {**data["job"], **members}}


def kinds(reply: bytes) -> list[tuple[str, Any]]:
    """Each command, with its job."""
    return [(kind, data.get("job_id") or data.get("timestamp")) for kind, data in said(reply)]


def test_a_job_that_depends_on_a_start_starts_in_the_same_message() -> None:
    """The algorithm decides again, as often as its decisions release jobs."""
    session = begun()
    chain = [with_members("1"), with_members("2", depends_on=[{"job": "1", "when": "start"}])]
    chain.append(with_members("3", depends_on=[{"job": "2", "when": "start"}]))
    reply = session.answer(message(1, *chain))
    assert [job for _, job in kinds(reply)] == ["w0!1", "w0!2", "w0!3"]
    session.check()


def test_a_delay_asks_for_a_call() -> None:
    """And the job starts with it."""
    session = begun()
    session.answer(message(1, with_members("1"), with_members("2", depends_on=[{"job": "1", "delay": 30}])))
    assert kinds(session.answer(message(5, ("JOB_COMPLETED", completed_data("1", "0"))))) == [("CALL_ME_LATER", 35.0)]
    assert kinds(session.answer(message(35, ("REQUESTED_CALL", {})))) == [("EXECUTE_JOB", "w0!2")]


def test_what_can_never_start_is_rejected_with_all_that_follows() -> None:
    """A job that no one submits, a circle; once nothing else can happen, and not before."""
    session = begun()
    lost = [
        with_members("1"),
        with_members("2", depends_on=["nobody"]),
        with_members("3", depends_on=["2"]),
        with_members("4", depends_on=["5"]),
        with_members("5", depends_on=["4"]),
        with_members("6", depends_on=[{"job": "5", "when": "end"}]),
    ]
    session.answer(message(1, *lost))
    assert session.view.job("w0!3") is not None
    assert list(session.view.held) == [f"w0!{number}" for number in range(2, 7)]
    assert kinds(session.answer(message(2, ("NOTIFY", {"type": "no_more_static_job_to_submit"})))) == []
    reply = session.answer(message(5, ("JOB_COMPLETED", completed_data("1", "0"))))
    assert kinds(reply) == [
        ("REJECT_JOB", "w0!2"), ("REJECT_JOB", "w0!3"), ("REJECT_JOB", "w0!4"), ("REJECT_JOB", "w0!5"),
        ("EXECUTE_JOB", "w0!6"),
    ]  # fmt: skip
    assert session.rejections["w0!2"] == "it depends on w0!nobody, and no such job was submitted"
    assert session.rejections["w0!3"] == "it depends on the success of w0!2, which has not succeeded"
    assert session.rejections["w0!4"] == "it depends on jobs that depend on it"
    session.check()


def test_a_start_of_a_held_job_is_refused_with_its_reason() -> None:
    """By the Plan, before anything is sent."""

    class Hasty(Scheduler[NoOptions]):
        """Starts what it must not."""

        name = "hasty"

        def decide(self, view: View, plan: Plan) -> None:
            """Start the first held job."""
            for job in view.held.values():
                plan.start(job, plan.free)

    bench = Bench(Hasty, hosts=1)
    bench.submit("b", depends_on=["a"])
    with pytest.raises(Exception, match="start w0!b on 0: it waits for the success of w0!a"):
        bench.decide()


def test_an_algorithm_may_obey_conditions_on_its_own() -> None:
    """Then all jobs are in its queue."""

    class Own(Fcfs):
        """Reads the members."""

        heeds_conditions = True

    bench = Bench(Own, hosts=1)
    bench.submit("b", depends_on=["a"])
    bench.decide()
    assert "w0!b" in bench.running


def test_a_wrong_condition_in_a_message_is_one_line() -> None:
    """With its place."""
    session = begun()
    with pytest.raises(RemoteProtocolError, match=r"depends_on\[0\]\.when.*must be one of start, end"):
        session.answer(message(1, with_members("1", depends_on=[{"job": "2", "when": "later"}])))


def test_a_held_job_can_be_cancelled() -> None:
    """And others that depend on its failure start."""
    session = Session(Fcfs, requests=True)
    config = {"dynamic-jobs-enabled": True, "dynamic-jobs-acknowledged": False, "profile-reuse-enabled": True}
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(config=config))))
    after = {"job": "2", "when": "failure"}
    session.answer(message(1, with_members("2", depends_on=["9"]), with_members("3", depends_on=[after])))
    reply = session.answer(message(2, ("NOTIFY", {"type": "cancel_job", "job_id": "w0!2"})))
    assert [job for kind, job in kinds(reply) if kind != "CALL_ME_LATER"] == ["w0!2", "w0!3"]


@pytest.mark.parametrize("acknowledged", [False, True])
def test_a_wrong_condition_in_a_request_costs_that_request(acknowledged: bool) -> None:
    """It is reported and ignored; its id stays free, and the run goes on."""
    warnings = list[str]()
    session = Session(Fcfs, requests=True, warn=warnings.append)
    config = {"dynamic-jobs-enabled": True, "dynamic-jobs-acknowledged": acknowledged, "profile-reuse-enabled": True}
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(config=config))))
    wanted = {"res": 1, "walltime": 5, "profile": "p"}
    wrong = {"type": "submit_job", "job_id": "w0!7", "job": {**wanted, "depends_on": [{"job": "1", "when": "later"}]}}
    assert "REGISTER_JOB" not in dict(kinds(session.answer(message(1, ("NOTIFY", wrong)))))
    assert any("submit w0!7: depends_on[0].when: must be one of start" in line for line in warnings)
    right = {"type": "submit_job", "job_id": "w0!7", "job": wanted}
    assert "REGISTER_JOB" in dict(kinds(session.answer(message(2, ("NOTIFY", right)))))
    session.check()


def test_the_first_held_job_is_told() -> None:
    """Waits contain the time for which jobs are held: once, in one line."""
    warnings = list[str]()
    session = Session(Fcfs, warn=warnings.append)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data())))
    session.answer(message(1, with_members("1"), with_members("2", depends_on=["1"])))
    session.answer(message(2, with_members("3", subtime=2, depends_on=["1"])))
    [line] = [line for line in warnings if "held" in line]
    assert line == (
        "t=1: jobs are held until their conditions on other jobs are fulfilled: waits and slowdowns contain that time"
    )


def test_no_wait_of_a_held_job_is_estimated() -> None:
    """Its answer has none, and a line says so."""
    warnings = list[str]()
    session = Session(Easy, warn=warnings.append)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data())))
    asked = {"requests": {"estimate_waiting_time": {"job_id": "w0!2"}}}
    reply = session.answer(message(1, with_members("2", depends_on=["9"]), ("QUERY", asked)))
    assert ("ANSWER", {"estimate_waiting_time": {"job_id": "w0!2"}}) in said(reply)
    assert any("cannot estimate its wait" in line for line in warnings)


@pytest.mark.parametrize("protocol", ["v1.4", "v4", "v5"])
def test_the_protocol_makes_no_difference(protocol: str) -> None:
    """In Batsim 5 the members are in extra_data."""
    drawn: Drawn = [
        ((0, 6, 5, 9), [], ""),
        ((0, 1, 5, 9), [(0, "success", 3)], ""),
        ((0, 1, 5, 9), [(1, "start", 0)], "array"),
        ((1, 1, 5, 9), [], "array"),
        ((1, 1, 5, 9), [], "array"),
    ]
    played = RecordedRun("easy")
    played.run([conditional(drawn)], Settings(protocol=protocol), on=Case(hosts=HOSTS).platform())
    assert [round(record.start, 3) for record in played.by_submission()] == [0, 8, 10, 5, 5]


def test_the_command_explains_a_wait(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The reason is the job that it depends on."""
    jobs = [
        {"id": "a", "subtime": 0, "res": 1, "walltime": 20, "profile": "p"},
        {"id": "b", "subtime": 0, "res": 1, "walltime": 20, "profile": "p", "depends_on": ["a"]},
    ]
    workload, out = tmp_path / "w.json", str(tmp_path / "out")
    workload.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 10}}}))
    assert run(["simulate", "-p", str(TINY), "-w", str(workload), "-s", "easy", "-e", out]) == 0
    capsys.readouterr()
    assert run(["explain", out, "w0!b", "--json"]) == 0
    [step] = json.loads(capsys.readouterr().out)["intervals"]
    assert step["reason"] == "condition"


def test_each_job_that_was_waited_for_has_an_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A new one begins when a dependency is fulfilled, although the names differ in digits only."""
    profiles = {f"d{seconds}": {"type": "delay", "delay": seconds} for seconds in (10, 20, 30)}
    jobs = [
        {"id": str(number), "subtime": 0, "res": 1, "walltime": 99, "profile": f"d{10 * number}"}
        for number in (1, 2, 3)
    ]
    jobs.append({**jobs[0], "id": "4", "depends_on": ["1", "2", {"job": "3", "when": "end"}]})
    workload, out = tmp_path / "w.json", str(tmp_path / "out")
    workload.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    assert run(["simulate", "-p", str(TINY), "-w", str(workload), "-s", "easy", "-e", out]) == 0
    capsys.readouterr()
    assert run(["explain", out, "w0!4", "--json"]) == 0
    steps = json.loads(capsys.readouterr().out)["intervals"]
    assert [(step["from"], step["to"], step["reason"], step["blocked_by"]) for step in steps] == [
        (0, 10, "condition", ["w0!1", "w0!2", "w0!3"]),
        (10, 20, "condition", ["w0!2", "w0!3"]),
        (20, 30, "condition", ["w0!3"]),
    ]
    assert run(["explain", out, "w0!4"]) == 0
    assert "waits for the success of w0!2 and 1 more" in " ".join(capsys.readouterr().out.split())


#: State that a job waits for -> the instant at which it starts, if the other one fails at 10 s, runs again from then to
#: 30 s, and then succeeds; None if it is rejected.
FOLLOWED = {"start": 0.0, "end": 30.0, "success": 30.0, "failure": None}


@pytest.mark.parametrize("when", FOLLOWED)
@pytest.mark.parametrize("name", ["fcfs", "easy", "leases"])
def test_what_depends_on_a_job_follows_its_last_attempt(name: str, when: str, tmp_path: Path) -> None:
    """A job that is submitted again after a failure of its hosts has not ended."""
    jobs = [
        {"id": "a", "subtime": 0, "res": 2, "walltime": 60, "profile": "p"},
        {"id": "b", "subtime": 0, "res": 1, "walltime": 60, "profile": "p", "depends_on": [{"job": "a", "when": when}]},
    ]
    assert _repeated(tmp_path, jobs, name).get("b") == FOLLOWED[when]


def test_a_job_that_fails_again_and_comes_late_is_followed_too(tmp_path: Path) -> None:
    """Two failures; another job that depends on it is submitted between the attempts."""
    jobs = [
        {"id": "a", "subtime": 0, "res": 4, "walltime": 60, "profile": "p"},
        {"id": "b", "subtime": 20, "res": 1, "walltime": 60, "profile": "p", "depends_on": ["a"]},
    ]
    found = _repeated(tmp_path, jobs, "fcfs", failures=(10, 25))
    assert found == {"a": 0, "a~1": 15, "a~2": 30, "b": 50}


def test_a_singleton_that_is_attempted_again_keeps_its_place(tmp_path: Path) -> None:
    """The next one waits for it, and an array does not count it twice."""
    plain = {"subtime": 0, "res": 1, "walltime": 60, "profile": "p"}
    jobs = [{**plain, "id": "a", "res": 2, "singleton": "one"}, {**plain, "id": "b", "singleton": "one"}]
    assert _repeated(tmp_path, jobs, "fcfs") == {"a": 0, "a~1": 10, "b": 30}
    jobs = [{**plain, "id": name, "res": 2, "array": {"id": "t", "limit": 1}} for name in ("a", "b")]
    assert sorted(_repeated(tmp_path, jobs, "fcfs").values()) == [0, 10, 30]


def _repeated(
    folder: Path, jobs: list[dict[str, Any]], name: str, failures: tuple[int, ...] = (10,)
) -> dict[str, float]:
    """Return the start of each job that ran, if host 0 fails at these instants, for 5 s, and jobs are requeued."""
    workload, events, out = folder / "w.json", folder / "events.txt", folder / "out"
    workload.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 20}}}))
    lines = [
        json.dumps({"timestamp": time + later, "type": f"machine_{what}", "resources": "0"})
        for time in failures
        for later, what in ((0, "unavailable"), (5, "available"))
    ]
    events.write_text("\n".join(lines))
    words = ["simulate", "-p", str(TINY), "-w", str(workload), "-s", name, "--events", str(events), "--quiet"]
    assert run([*words, "--on-failure", "requeue", "-e", str(out)]) == 0
    with Path(f"{out}_jobs.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {row["job_id"]: float(row["starting_time"]) for row in rows if row["starting_time"]}
