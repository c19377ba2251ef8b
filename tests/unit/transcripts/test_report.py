"""A comparison is told so that one sees what differs, and how much."""

from __future__ import annotations

import pytest

from batsched_py.transcripts.compare import compare_transcripts
from batsched_py.transcripts.report import descriptions, summary
from batsched_py.transcripts.transcript import Exchange
from tests.builders import submitted_data
from tests.unit.transcripts.runs import Said, exchange


def run(told: list[Said], decided: list[Said]) -> list[Exchange]:
    return [exchange(0, 0.0, [], []), exchange(1, 3.5, told, decided)]


@pytest.mark.parametrize(
    ("left", "right", "story"),
    [
        (
            [("SET_RESOURCE_STATE", {"resources": "0-2 5", "state": "13"})],
            [("SET_RESOURCE_STATE", {"resources": "0", "state": "13"})],
            ("t=3.5: power state asked of host 1-2 5", "  - pstate 13", "  + (not there)"),
        ),
        (
            [("EXECUTE_JOB", {"job_id": "w0!1", "alloc": "0-1", "mapping": {"0": "0", "1": "0"}})],
            [("EXECUTE_JOB", {"job_id": "w0!1", "alloc": "0-1"})],
            ("t=3.5: start of w0!1", '  - mapping {"0":0,"1":0}', "  + mapping usual"),
        ),
        (
            [],
            [
                (
                    "EXECUTE_JOB",
                    {
                        "job_id": "w0!1",
                        "alloc": "0",
                        "additional_io_job": {"alloc": "7", "profile_name": "io", "profile": {"type": "delay"}},
                    },
                )
            ],
            (
                "t=3.5: start of w0!1",
                "  - (not there)",
                '  + hosts 0, additional_io {"hosts":"7","profile_name":"io","profile":{"type":"delay"}}',
            ),
        ),
        (
            [("REJECT_JOB", {"job_id": "w0!1"})],
            [],
            ("t=3.5: rejection of w0!1", "  - at t=3.5", "  + (not there)"),
        ),
        (
            [("NOTIFY", {"type": "registration_finished"})],
            [],
            ("t=3.5: notice to Batsim registration_finished", "  - at t=3.5", "  + (not there)"),
        ),
        (
            [("TO_JOB_MSG", {"job_id": "w0!1", "msg": "a" * 1000})],
            [("TO_JOB_MSG", {"job_id": "w0!1", "msg": "b"})],
            ("t=3.5: message to w0!1", f"  - message {'a' * 197}...", "  + message b"),
        ),
    ],
)
def test_a_difference_is_told_on_three_lines(left: list[Said], right: list[Said], story: tuple[str, ...]) -> None:
    """Hosts that differ in the same way share them; long values are cut."""
    assert list(descriptions(compare_transcripts(run([], left), run([], right)).differences)) == [story]


def test_facts_in_another_order_are_told_as_such() -> None:
    """Nothing of them differs but their place."""
    on, off = (("SET_RESOURCE_STATE", {"resources": "0", "state": state}) for state in ("0", "13"))
    (told,) = descriptions(compare_transcripts(run([], [on, off]), run([], [off, on])).differences)
    assert told == ("t=3.5: power state asked of host 0: the same, but in another place among those of its kind",)


def test_every_kind_of_fact_has_words() -> None:
    """All that can differ can be reported."""
    killed = {"job_ids": ["w0!1"], "job_progress": {"w0!1": {"profile": "p", "progress": 0.5}}}
    told: list[Said] = [
        ("JOB_SUBMITTED", submitted_data("1")),
        ("JOB_KILLED", killed),
        ("RESOURCE_STATE_CHANGED", {"resources": "0", "state": "1"}),
        ("NOTIFY", {"type": "event_machine_unavailable", "resources": "0"}),
        ("NOTIFY", {"type": "tea"}),
        ("REQUESTED_CALL", {}),
        ("QUERY", {"requests": {"estimate_waiting_time": {}}}),
        ("ANSWER", {"consumed_energy": 3}),
        ("FROM_JOB_MSG", {"job_id": "w0!1", "msg": 1}),
        ("ALIENS", {}),
        ("SIMULATION_ENDS", {}),
    ]
    decided: list[Said] = [
        ("KILL_JOB", {"job_ids": ["w0!1"]}),
        ("REGISTER_JOB", submitted_data("2")),
        ("REGISTER_PROFILE", {"workload_name": "d", "profile_name": "p", "profile": {}}),
        ("SET_JOB_METADATA", {"job_id": "w0!1", "metadata": "a"}),
        ("CHANGE_JOB_STATE", {"job_id": "w0!1", "job_state": "RUNNING"}),
        ("QUERY", {"requests": {"consumed_energy": {}}}),
        ("ANSWER", {"estimate_waiting_time": {}}),
        ("ALIENS", {}),
    ]
    comparison = compare_transcripts(run(told, decided), [*run([], []), Exchange(2, b"tea", b"tea")])
    words = [line for story in descriptions(comparison.differences) for line in story]
    assert "t=3.5: kill done of w0!1" in words
    assert "t=3.5: a request that is not a message" in words
    assert len(list(summary(comparison))) > 15


def test_the_summary_counts_and_names_jobs_up_to_a_number() -> None:
    """A long run that differs everywhere is told in a line."""
    jobs: list[Said] = [("JOB_SUBMITTED", submitted_data(str(number))) for number in range(30)]
    lines = list(summary(compare_transcripts(run(jobs, []), run([], []))))
    assert lines[0] == "submissions: 30 (30 only in the first)"
    assert lines[1].startswith("jobs that differ: 30 (w0!0, w0!1, ")
    assert lines[1].endswith(", w0!19 and 10 more)")
