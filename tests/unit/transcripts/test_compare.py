"""Two runs are the same if the same happened in them, however it is told; what differs is found and named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from batsched_py.transcripts.compare import ORDER, TIME, FactDifference, Tolerance, alike, compare_transcripts
from batsched_py.transcripts.facts import FactKind
from batsched_py.transcripts.transcript import Exchange
from tests.builders import begins_data, completed_data, submitted_data
from tests.clone import files
from tests.unit.transcripts import runs
from tests.unit.transcripts.runs import RETOLD, Said, exchange, in_v14, late, real

RUNS = [path.parent.name for path in files("tests/data/batsim/*/transcript.jsonl")]
OPENING: Said = ("SIMULATION_BEGINS", begins_data())


def run(*exchanges: tuple[float, list[Said], list[Said]]) -> list[Exchange]:
    """A run that opens with SIMULATION_BEGINS."""
    said = [(0.0, [OPENING], []), *exchanges]
    return [exchange(number, *one) for number, one in enumerate(said)]


def execute(name: str, alloc: str, **more: Any) -> Said:
    return ("EXECUTE_JOB", {"job_id": f"w0!{name}", "alloc": alloc, **more})


def differences(left: list[Exchange], right: list[Exchange]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Kind, subject and what differs of each."""
    found, mirrored = compare_transcripts(left, right).differences, compare_transcripts(right, left).differences
    assert len(found) == len(mirrored)
    assert all(_mirrored(one) in mirrored for one in found)
    return [(one.fact.kind, one.fact.subject, one.what) for one in found]


def _mirrored(difference: FactDifference) -> FactDifference:
    return FactDifference(difference.right, difference.left, difference.what)


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("way", RETOLD)
def test_a_run_that_is_told_in_another_way_is_the_same(name: str, way: str) -> None:
    """Spelling, order inside an instant and split into messages are no differences."""
    told = real(name)
    comparison = compare_transcripts(told, RETOLD[way](told))
    assert comparison.differences == ()
    assert comparison.shared > 20
    assert comparison.same


@pytest.mark.parametrize("name", sorted(set(RUNS) - {"o13_submitter_noack_reuse"}))
def test_a_run_that_batsim_1_tells_is_the_same(name: str) -> None:
    """Other names of workloads, events and members; things that are not told. One run has metadata, a v4 word."""
    told = real(name)
    comparison = compare_transcripts(told, in_v14(told))
    assert comparison.differences == ()
    assert comparison.shared > 20
    assert compare_transcripts(in_v14(told), told).same


@pytest.mark.parametrize("name", RUNS)
def test_each_exchange_that_is_missing_is_noticed(name: str) -> None:
    """Unless nothing was said in it, or only a call was asked for or made."""
    told = real(name)
    for position in range(len(told) - 1, 0, -len(told) // 7):
        said = [event for raw in (told[position].request, told[position].reply) for event in json.loads(raw)["events"]]
        comparison = compare_transcripts(told, told[:position] + told[position + 1 :])
        assert comparison.same == all(event["type"] in ("CALL_ME_LATER", "REQUESTED_CALL") for event in said)


def test_times_differ_by_more_than_the_tolerance_or_not_at_all() -> None:
    """A later report leads to a later decision."""
    told = real("o01_fcfs_delays")
    assert compare_transcripts(told, late(told, 0.0009)).same
    parted = compare_transcripts(told, late(told, 0.002))
    assert not parted.same
    assert {what for one in parted.differences for what in one.what} == {TIME}
    assert compare_transcripts(told, late(told, 0.002), Tolerance(seconds=0.01)).same
    assert compare_transcripts(told, late(told, 0.0), Tolerance(seconds=0)).same


@pytest.mark.parametrize(
    ("changed", "kind", "what"),
    [
        ([execute("1", "2-3")], FactKind.STARTS, ("hosts",)),
        ([execute("1", "0-1", mapping={"0": "1", "1": "0"})], FactKind.STARTS, ("mapping",)),
        ([], FactKind.STARTS, ()),
        ([("REJECT_JOB", {"job_id": "w0!1"})], FactKind.STARTS, ()),
    ],
)
def test_another_start_is_found(changed: list[Said], kind: FactKind, what: tuple[str, ...]) -> None:
    """Elsewhere, mapped otherwise, or not at all."""
    before = run((1.0, [("JOB_SUBMITTED", submitted_data("1", 2))], [execute("1", "0-1")]))
    after = run((1.0, [("JOB_SUBMITTED", submitted_data("1", 2))], changed))
    assert (kind, "w0!1", what) in differences(before, after)
    assert compare_transcripts(before, after).jobs == ("w0!1",)


def test_a_start_at_another_time_is_one_difference() -> None:
    """Both times are known."""
    submission: Said = ("JOB_SUBMITTED", submitted_data("1", 2))
    before = run((1.0, [submission], [execute("1", "0-1")]), (5.0, [("REQUESTED_CALL", {})], []))
    after = run((1.0, [submission], []), (5.0, [("REQUESTED_CALL", {})], [execute("1", "0-1")]))
    (found,) = compare_transcripts(before, after).differences
    assert found.left is not None
    assert found.right is not None
    assert (found.left.time, found.right.time, found.time, found.what) == (1.0, 5.0, 1.0, (TIME,))


def test_a_command_counts_when_batsim_obeys_it() -> None:
    """A timestamp before the request's is obeyed at once, a later one is waited for."""
    early = run((4.0, [], [(1.0, *execute("1", "0"))]))
    punctual = run((4.0, [], [execute("1", "0")]))
    assert compare_transcripts(early, punctual).same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            ("JOB_COMPLETED", completed_data("1", "0-1")),
            ("JOB_COMPLETED", completed_data("1", "0-1", "COMPLETED_WALLTIME_REACHED")),
        ),
        (("JOB_SUBMITTED", submitted_data("1", 2)), ("JOB_SUBMITTED", submitted_data("1", 3))),
        (("JOB_SUBMITTED", submitted_data("1", 2)), ("JOB_SUBMITTED", submitted_data("1", 2, walltime=None))),
        (
            ("JOB_KILLED", {"job_ids": ["w0!1"], "job_progress": {"w0!1": {"profile_name": "p", "progress": 0.5}}}),
            ("JOB_KILLED", {"job_ids": ["w0!1"], "job_progress": {"w0!1": {"profile_name": "p", "progress": 0.6}}}),
        ),
        (
            ("JOB_KILLED", {"job_ids": ["w0!1"], "job_progress": {"w0!1": {"profile_name": "p", "progress": 0.5}}}),
            ("JOB_KILLED", {"job_ids": ["w0!1"], "job_progress": {}}),
        ),
        (
            ("RESOURCE_STATE_CHANGED", {"resources": "0-3", "state": "13"}),
            ("RESOURCE_STATE_CHANGED", {"resources": "0-3", "state": "0"}),
        ),
        (("ANSWER", {"consumed_energy": 10.0}), ("ANSWER", {"consumed_energy": 10.1})),
        (("NOTIFY", {"type": "tea", "cups": 3}), ("NOTIFY", {"type": "tea", "cups": 4})),
        (
            ("NOTIFY", {"type": "event_machine_available", "resources": "1"}),
            ("NOTIFY", {"type": "event_machine_unavailable", "resources": "1"}),
        ),
        (("FROM_JOB_MSG", {"job_id": "w0!1", "msg": {"a": 1}}), ("FROM_JOB_MSG", {"job_id": "w0!1", "msg": {"a": 2}})),
        (("ALIENS", {"count": 3}), ("ALIENS", {"count": 4})),
        (("REQUESTED_CALL", {}), ("ALIENS", {})),
        (("QUERY", {"requests": {"tea": {}}}), ("QUERY", {"requests": {"tea": {"cups": 1}}})),
    ],
)
def test_another_thing_told_is_found(one: Said, other: Said) -> None:
    """It is for any event."""
    assert not compare_transcripts(run((3.0, [one], [])), run((3.0, [other], []))).same
    assert not compare_transcripts(run((3.0, [one], [])), run((3.0, [], []))).same
    assert compare_transcripts(run((3.0, [one], [])), run((3.0, [one], []))).same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("KILL_JOB", {"job_ids": ["w0!1", "w0!2"]}), ("KILL_JOB", {"job_ids": ["w0!1"]})),
        (
            ("SET_RESOURCE_STATE", {"resources": "0-3", "state": "13"}),
            ("SET_RESOURCE_STATE", {"resources": "0-2", "state": "13"}),
        ),
        (
            ("SET_JOB_METADATA", {"job_id": "w0!1", "metadata": "a"}),
            ("SET_JOB_METADATA", {"job_id": "w0!1", "metadata": "b"}),
        ),
        (("TO_JOB_MSG", {"job_id": "w0!1", "msg": "a"}), ("TO_JOB_MSG", {"job_id": "w0!1", "msg": "b"})),
        (
            ("REGISTER_PROFILE", {"workload_name": "d", "profile_name": "p", "profile": {"type": "delay", "delay": 1}}),
            ("REGISTER_PROFILE", {"workload_name": "d", "profile_name": "p", "profile": {"type": "delay", "delay": 2}}),
        ),
        (("REGISTER_JOB", submitted_data("1", 2)), ("REGISTER_JOB", submitted_data("1", 1))),
        (("NOTIFY", {"type": "registration_finished"}), ("NOTIFY", {"type": "continue_registration"})),
        (
            ("CHANGE_JOB_STATE", {"job_id": "w0!1", "job_state": "RUNNING"}),
            ("CHANGE_JOB_STATE", {"job_id": "w0!1", "job_state": "REJECTED"}),
        ),
        (("BATSCHED_PY_STOPPED", {"reason": "a"}), ("REJECT_JOB", {"job_id": "w0!1"})),
        (("QUERY", {"requests": {"consumed_energy": {}}}), ("ANSWER", {"estimate_waiting_time": {}})),
    ],
)
def test_another_decision_is_found(one: Said, other: Said) -> None:
    """It is for any command."""
    assert not compare_transcripts(run((3.0, [], [one])), run((3.0, [], [other]))).same
    assert not compare_transcripts(run((3.0, [], [one])), run((3.0, [], []))).same
    assert compare_transcripts(run((3.0, [], [one])), run((3.0, [], [one]))).same


def test_requests_for_several_hosts_or_jobs_may_be_split() -> None:
    """Each host and each job is asked for, and told, in either way."""
    together = run((3.0, [], [("SET_RESOURCE_STATE", {"resources": "0-1", "state": "13"})]))
    apart = [("SET_RESOURCE_STATE", {"resources": host, "state": "13"}) for host in ("1", "0")]
    assert compare_transcripts(together, run((3.0, [], apart))).same  # type: ignore[arg-type]


def test_where_calls_are_asked_for_is_no_difference() -> None:
    """Only when Batsim calls, and how often at one instant does not matter."""
    asked = run(
        (3.0, [], [("CALL_ME_LATER", {"timestamp": 9}), execute("1", "0")]), (9.0, [("REQUESTED_CALL", {})], [])
    )
    twice = run((3.0, [], [execute("1", "0")]), (9.0, [("REQUESTED_CALL", {}), ("REQUESTED_CALL", {})], []))
    never = run((3.0, [], [execute("1", "0")]))
    assert compare_transcripts(asked, twice).same
    (found,) = compare_transcripts(asked, never).differences
    assert (found.fact.kind, found.left is not None, found.right) == (FactKind.CALLS, True, None)
    assert compare_transcripts(asked, never, ignore={FactKind.CALLS}).same


def test_a_fact_that_is_missing_among_others_of_its_kind_is_one_difference() -> None:
    """Later facts find their counterparts."""
    switches: list[tuple[float, list[Said], list[Said]]] = [
        (float(time), [("RESOURCE_STATE_CHANGED", {"resources": "0", "state": str(time % 2)})], []) for time in range(9)
    ]
    (found,) = compare_transcripts(run(*switches), run(*switches[:4], *switches[5:])).differences
    assert found.left is not None
    assert (found.left.time, found.right) == (4.0, None)


def test_order_counts_among_facts_of_one_identity() -> None:
    """A host that is switched on and off at one instant ends otherwise than if it is switched off and on."""
    on, off = (("SET_RESOURCE_STATE", {"resources": "0", "state": state}) for state in ("0", "13"))
    found = compare_transcripts(run((3.0, [], [on, off])), run((3.0, [], [off, on])))
    assert [one.what for one in found.differences] == [(ORDER,)]


def test_what_redis_holds_is_not_compared_with_what_is_told() -> None:
    """A submission without its job says less, not something else."""
    told = run((1.0, [("JOB_SUBMITTED", submitted_data("1", 2))], []))
    named = run((1.0, [("JOB_SUBMITTED", {"job_id": "w0!1"})], []))
    assert compare_transcripts(told, named).same


def test_bytes_that_are_no_message_are_compared_too() -> None:
    """In either direction."""
    broken = run((1.0, [], []))
    for one in (Exchange(1, b"tea", broken[1].reply), Exchange(1, broken[1].request, b"tea")):
        assert not compare_transcripts(broken, [broken[0], one]).same
        assert compare_transcripts([broken[0], one], [broken[0], one]).same


def test_stops_are_alike_whatever_the_reason() -> None:
    """It names files and lines of code."""
    one, other = (run((1.0, [], [("BATSCHED_PY_STOPPED", {"reason": reason})])) for reason in "ab")
    assert compare_transcripts(one, other).same


def test_runs_of_different_length_are_read_to_their_ends() -> None:
    """Also if one of them is empty."""
    told = real("o10_edge")
    comparison = compare_transcripts(told, [])
    assert comparison.exchanges == (len(told), 0)
    assert all(one.right is None for one in comparison.differences)
    assert compare_transcripts([], []).same


def test_jobs_that_differ_are_named_once_in_the_order_of_their_first_difference() -> None:
    """Under the names of the left run."""
    submissions: list[Said] = [("JOB_SUBMITTED", submitted_data(name)) for name in "123"]
    before = run((1.0, submissions, [execute("3", "0"), execute("1", "1")]), (2.0, [], [execute("2", "2")]))
    after = run((1.0, submissions, [execute("1", "1")]), (3.0, [], [execute("2", "3"), execute("3", "0")]))
    assert compare_transcripts(before, after).jobs == ("w0!3", "w0!2")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1.0, 1, True),
        (True, 1, False),
        (0.3, 0.30000001, True),
        (1e9, 1e9 + 1, True),
        ({"a": [1, {"b": 2.0}]}, {"a": [1.0, {"b": 2}]}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1], [1, 2], False),
        ("1", 1, False),
    ],
)
def test_values_are_alike_but_for_small_differences_of_numbers(one: object, other: object, same: bool) -> None:
    """Wherever the numbers stand."""
    assert alike(one, other, 1e-6) is same


def test_the_ways_to_retell_a_run_do_something() -> None:
    """Otherwise the tests above compare a run with itself."""
    told = real("o07_easy_bf_mixed_cluster")
    for retell in RETOLD.values():
        assert [one.request for one in retell(told)] != [one.request for one in told]
    assert len(runs.split(told)) > len(told)
    assert len(runs.merged(real("o05_easy_bf_burst"))) < len(real("o05_easy_bf_burst"))
