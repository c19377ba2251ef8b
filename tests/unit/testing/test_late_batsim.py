"""The late Batsim: what it refuses, whoever asks; no algorithm of ours comes so far, its Plan refuses before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from batsched_py.errors import ContractError, DeadlockError
from batsched_py.testing.case import Case
from batsched_py.testing.late_batsim import PROMPT, LateBatsim

#: (type, data) of a command.
Command = tuple[str, dict[str, Any]]


def answering(script: dict[str, list[Command]]) -> Callable[[bytes], bytes]:
    """Says what stands for the first event of a message, once for each type of event."""
    left = dict(script)

    def answer(request: bytes) -> bytes:
        heard = orjson.loads(request)
        kinds = [event["type"] for event in heard["events"]]
        said = [command for kind in kinds for command in left.pop(kind, [])]
        now = heard["now"]
        events = [{"timestamp": now, "type": kind, "data": data} for kind, data in said]
        return orjson.dumps({"now": now, "events": events})

    return answer


def start(job: str, hosts: str) -> Command:
    return "EXECUTE_JOB", {"job_id": f"w0!{job}", "alloc": hosts}


def switch(hosts: str, pstate: str) -> Command:
    return "SET_RESOURCE_STATE", {"resources": hosts, "state": pstate}


OWN: Command = (
    "REGISTER_JOB",
    {"job_id": "d!1", "job": {"id": "d!1", "subtime": 0, "res": 1, "profile": "p"}},
)
ONE = Case(hosts=2, jobs=((0, 1, 5, 9),))
TWO = Case(hosts=2, jobs=((0, 1, 5, 9), (1, 1, 5, 9)))


@pytest.mark.parametrize(
    ("case", "script", "words"),
    [
        (ONE, {"JOB_SUBMITTED": [start("000", "0-1")]}, "starts w0!000 on 0-1 at t=.*: it needs 1 host$"),
        (ONE, {"JOB_SUBMITTED": [start("000", "2")]}, "hosts 2 are not there"),
        (ONE, {"SIMULATION_BEGINS": [start("000", "0")]}, "it does not wait, according to the messages sent"),
        (
            ONE,
            {"JOB_SUBMITTED": [start("000", "0"), start("000", "1")]},
            "it does not wait, according to the messages sent",
        ),
        (
            ONE,
            {"SIMULATION_BEGINS": [("REJECT_JOB", {"job_id": "w0!000"})]},
            "rejects w0!000 at t=.*: it does not wait",
        ),
        (ONE, {"JOB_SUBMITTED": [("KILL_JOB", {"job_ids": ["w0!000"]})]}, "kills w0!000 at t=.*: it was never started"),
        (ONE, {"JOB_SUBMITTED": [("CALL_ME_LATER", {"timestamp": 0.0})]}, "to be called at 0.0: Batsim aborts"),
        (ONE, {"JOB_SUBMITTED": [switch("0", "2")]}, "switches hosts 0 to pstate 2 at t=.*: they have no power states"),
        (
            Case(hosts=2, jobs=ONE.jobs, energy=True),
            {"SIMULATION_BEGINS": [switch("0", "2")], "JOB_SUBMITTED": [switch("0-1", "0")]},
            "hosts 0 are switching already",
        ),
        (
            Case(hosts=2, jobs=ONE.jobs, energy=True),
            {"JOB_SUBMITTED": [start("000", "1"), switch("0-1", "2")]},
            "hosts 1 work, or sleep already",
        ),
        (
            Case(hosts=2, jobs=ONE.jobs, energy=True),
            {"SIMULATION_BEGINS": [switch("0", "2")], "JOB_SUBMITTED": [start("000", "0")]},
            "hosts 0 are switching",
        ),
        (
            Case(hosts=2, jobs=((9, 1, 5, 9),), energy=True),
            {"SIMULATION_BEGINS": [switch("0", "2")], "JOB_SUBMITTED": [start("000", "0")]},
            "hosts 0 sleep",
        ),
        (
            Case(hosts=2, jobs=((9, 1, 5, 9),), outages=((1, "0", 20),)),
            {"JOB_SUBMITTED": [start("000", "0")]},
            "hosts 0 have failed",
        ),
        (
            ONE,
            {
                "JOB_SUBMITTED": [
                    ("REGISTER_JOB", {"job_id": "d!1", "job": {"id": "d!1", "subtime": 0, "res": 1, "profile": "p"}})
                ]
            },
            "registers d!1 at t=.*: registration is not open",
        ),
    ],
)
def test_what_batsim_would_abort_on_is_refused(case: Case, script: dict[str, list[Command]], words: str) -> None:
    """With the command, the time and the rule."""
    with pytest.raises(ContractError, match=words):
        LateBatsim(case, PROMPT).run(answering(script))


def test_a_job_works_until_it_ends_whatever_was_told() -> None:
    """The second job is told while the first works; its walltime has nothing to say about that."""
    batsim = LateBatsim(Case(hosts=2, jobs=((0, 1, 9, 20), (1, 1, 5, 9))), PROMPT)
    heard: list[str] = []

    def answer(request: bytes) -> bytes:
        document = orjson.loads(request)
        heard.extend(event["data"].get("job_id", "") for event in document["events"])
        job = heard[-1]
        events = [start(job[3:], "0")] if document["events"][0]["type"] == "JOB_SUBMITTED" else []
        said = [{"timestamp": document["now"], "type": kind, "data": data} for kind, data in events]
        return orjson.dumps({"now": document["now"], "events": said})

    with pytest.raises(ContractError, match=r"starts w0!001 on 0 at t=1.*: hosts 0 work"):
        batsim.run(answer)


def test_a_kill_that_comes_too_late_ends_nothing() -> None:
    """Its job ends by itself; the kill is told to be done, without progress."""
    told: list[dict[str, Any]] = []
    script = answering({"JOB_SUBMITTED": [start("000", "0")], "JOB_COMPLETED": [("KILL_JOB", {"job_ids": ["w0!000"]})]})

    def answer(request: bytes) -> bytes:
        told.extend(orjson.loads(request)["events"])
        return script(request)

    batsim = LateBatsim(ONE, PROMPT)
    batsim.run(answer)
    assert [(ending.job.id, ending.state) for ending in batsim.records] == [("w0!000", "COMPLETED_SUCCESSFULLY")]
    [killed] = [event["data"] for event in told if event["type"] == "JOB_KILLED"]
    assert killed == {"job_ids": ["w0!000"], "job_progress": {}}


def test_a_killed_job_ends_once() -> None:
    """At the kill, and its hosts are free then."""
    script = answering(
        {"JOB_SUBMITTED": [start("000", "0"), ("CALL_ME_LATER", {"timestamp": 2.0})]}
        | {"REQUESTED_CALL": [("KILL_JOB", {"job_ids": ["w0!000"]})]}
    )
    batsim = LateBatsim(ONE, PROMPT)
    batsim.run(script)
    [ending] = batsim.records
    assert (ending.job.id, ending.state) == ("w0!000", "COMPLETED_KILLED")
    assert ending.finish == pytest.approx(2.0, abs=1e-3)


def test_joules_never_go_down() -> None:
    """Answers are as of the message that has them, in whatever order they come."""
    joules: list[float] = []

    def answer(request: bytes) -> bytes:
        heard = orjson.loads(request)
        now = heard["now"]
        joules.extend(event["data"]["consumed_energy"] for event in heard["events"] if event["type"] == "ANSWER")
        asks: list[Command] = []
        if heard["events"][0]["type"] == "JOB_SUBMITTED":
            asks = [("QUERY", {"requests": {"consumed_energy": {}}})]
        starts = [
            start(event["data"]["job_id"][3:], event["data"]["job_id"][-1])
            for event in heard["events"]
            if event["type"] == "JOB_SUBMITTED"
        ]
        said = [{"timestamp": now, "type": kind, "data": data} for kind, data in [*starts, *asks]]
        last = any(event["type"] == "SIMULATION_ENDS" for event in heard["events"])
        return orjson.dumps({"now": now, "events": [] if last else said})

    for seed in range(20):
        joules.clear()
        LateBatsim(Case(hosts=2, jobs=TWO.jobs, energy=True, seed=seed)).run(answer)
        assert joules == sorted(joules)
        assert joules


def test_who_waits_when_nothing_is_left_is_told() -> None:
    """As a standstill."""
    with pytest.raises(DeadlockError, match=r"nothing will ever happen again, yet w0!000 wait$"):
        LateBatsim(ONE, PROMPT).run(answering({}))
    with pytest.raises(DeadlockError, match="registration was never finished"):
        LateBatsim(Case(hosts=2, dynamic=True), PROMPT).run(answering({}))
