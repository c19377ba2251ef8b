"""The recordings that the project carries: both sides agree with real Batsim, or differ where it is known why."""

from pathlib import Path

import pytest

from tests.differential.explained import EXPLAINED, FACTS, MESSAGES
from tests.differential.our_side import follow
from tests.differential.recorded import Recorded, recordings
from tests.differential.their_side import fact_by_fact, message_by_message

RUNS = {run.name: run for run in recordings(Path(__file__).parents[1] / "data" / "batsim")}

#: Those that differ, and it is known why.
EXPLAINED_MESSAGES = {name for name, comparison in EXPLAINED if comparison == MESSAGES}
EXPLAINED_FACTS = {name for name, comparison in EXPLAINED if comparison == FACTS}


def test_all_recordings_are_there() -> None:
    """So that no check below is empty."""
    assert len(RUNS) == 18


@pytest.mark.parametrize("name", sorted(RUNS.keys() - EXPLAINED_MESSAGES))
def test_the_simulator_sends_the_recorded_messages(name: str) -> None:
    """One by one, with messages that take time as in Batsim; told what was replied."""
    assert message_by_message(RUNS[name]).why == ()


@pytest.mark.parametrize("name", sorted(RUNS.keys() - EXPLAINED_FACTS))
def test_the_simulator_tells_the_recorded_facts(name: str) -> None:
    """At the same times, with messages that take no time."""
    assert fact_by_fact(RUNS[name]).why == ()


def test_a_job_as_long_as_its_walltime_ends_by_itself_where_messages_take_no_time() -> None:
    """The one fact of the one recording that is told otherwise."""
    (why,) = fact_by_fact(RUNS["o07_easy_bf_mixed_cluster"]).why
    assert why == (
        "t=240 ends w0!m2: state 'COMPLETED_SUCCESSFULLY', recorded 'COMPLETED_WALLTIME_REACHED'; "
        "return_code 0, recorded -1"
    )


@pytest.mark.parametrize("name", sorted(RUNS))
def test_a_session_understands_the_requests_and_may_say_what_was_said(name: str) -> None:
    """Through State, View and Plan, with their checks."""
    assert follow(RUNS[name]).why == ()


def test_another_decision_is_noticed(tmp_path: Path) -> None:
    """A recording that somebody has changed agrees no longer, on either side."""
    recorded = RUNS["o01_fcfs_delays"]
    changed = tmp_path / recorded.name
    changed.mkdir()
    (tmp_path / "inputs").symlink_to(recorded.folder.parent / "inputs")
    (changed / "run.json").write_bytes((recorded.folder / "run.json").read_bytes())
    text = (recorded.folder / "transcript.jsonl").read_text()
    later = text.replace(
        '\\"job_id\\":\\"w0!1\\",\\"job_state\\":\\"COMPLETED_SUCCESSFULLY\\"',
        '\\"job_id\\":\\"w0!1\\",\\"job_state\\":\\"COMPLETED_FAILED\\"',
    )
    assert later != text
    (changed / "transcript.jsonl").write_text(later)
    assert [line for line in message_by_message(Recorded(changed)).why if "COMPLETED_FAILED" in line]
    assert [line for line in fact_by_fact(Recorded(changed)).why if "COMPLETED_FAILED" in line]
