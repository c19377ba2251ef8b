"""The recordings of Batsim 5 that the project carries: our session understands requests, and may say replies."""

from __future__ import annotations

import pytest

from batsched_py.transcripts.transcript import Exchange
from tests.clone import ROOT
from tests.differential.explained import EXPLAINED, FACTS, MESSAGES, OUR_SIDE
from tests.differential.our_side import follow
from tests.differential.recorded import UnusableError
from tests.differential.recorded5 import Recorded5, files_of_runs
from tests.differential.their_side import fact_by_fact, message_by_message, refused

FILES = {path.stem: path for path in files_of_runs(ROOT / "tests" / "data" / "batsim5")}


#: Recordings in which Batsim refused its command line or its input, and said nothing.
SILENT = {
    "err_energy_flag",
    "err_energy_link",
    "err_ext_event_machine_unavailable",
    "err_fork_profile",
    "err_old_profile",
}
ALL = {name: Recorded5(path) for name, path in FILES.items() if name not in SILENT}
RUNS = {name: run for name, run in ALL.items() if run.code == 0}
#: Those on which Batsim aborted, crashed or stood still.
BAD = ALL.keys() - RUNS.keys()
EXPLAINED_FACTS = {name for name, comparison in EXPLAINED if comparison == FACTS}
EXPLAINED_MESSAGES = {name for name, comparison in EXPLAINED if comparison == MESSAGES}
EXPLAINED_OURS = {name for name, comparison in EXPLAINED if comparison == OUR_SIDE}


def test_the_recordings_are_there() -> None:
    """The recordings of runs that Batsim ended well are complete; the others are mistakes on purpose."""
    assert (len(RUNS), len(BAD)) == (40, 52)
    assert {"fcfs_basic", "kill", "dyn_ack", "external_events", "call_me_later", "pstates_energy"} <= RUNS.keys()


@pytest.mark.parametrize("name", sorted(RUNS.keys() - EXPLAINED_OURS))
def test_a_session_understands_the_requests_and_may_say_what_was_said(name: str) -> None:
    """Through State, View and Plan, with their checks; what was said is compared as facts."""
    assert follow(RUNS[name]).why == ()


@pytest.mark.parametrize("name", sorted(RUNS.keys() & EXPLAINED_OURS))
def test_what_is_explained_is_refused_by_the_plan(name: str) -> None:
    """Batsim 5 lets it pass, and does something that nobody meant."""
    (why,) = follow(RUNS[name]).why
    assert "AlgorithmError" in why
    assert EXPLAINED[name, OUR_SIDE].split(";")[0] in why


@pytest.mark.parametrize("name", sorted(RUNS.keys() - EXPLAINED_FACTS))
def test_the_simulator_tells_the_recorded_facts(name: str) -> None:
    """At the same times, told what was replied."""
    assert fact_by_fact(RUNS[name]).why == ()


@pytest.mark.parametrize("name", sorted(RUNS.keys() - EXPLAINED_MESSAGES))
def test_the_simulator_sends_the_recorded_messages(name: str) -> None:
    """One by one, with the same events in the same order, if its messages take time."""
    outcome = message_by_message(RUNS[name])
    assert outcome.why == ()
    assert outcome.exchanges == len(RUNS[name].exchanges)


def test_a_message_that_differs_is_noticed() -> None:
    """Its event, member and both values."""
    recorded = Recorded5(FILES["fcfs_basic"])
    first, second = recorded.exchanges[1:3]
    changed = second.request.replace(b'"w0!d10"', b'"w0!d11"')
    assert changed != second.request
    others = recorded.exchanges[3:]
    recorded.exchanges = (recorded.exchanges[0], first, Exchange(second.number, changed, second.reply), *others)
    (why,) = message_by_message(recorded).why
    assert why == "message 2, t=3e-10: events.0.event.job.profile_id: 'w0!d10', recorded 'w0!d11'"


def test_what_the_simulator_tells_otherwise_is_little() -> None:
    """The one that is explained and can be simulated differs by a notice."""
    (why,) = fact_by_fact(RUNS["force_stop"]).why
    assert why == "t=2 notices no_more_static_job_to_submit: only here"


@pytest.mark.parametrize("name", sorted(BAD))
def test_the_simulator_refuses_what_batsim_did(name: str) -> None:
    """In the same message or before, and until then it sends the recorded ones."""
    outcome = refused(ALL[name])
    assert outcome.why == ()
    assert outcome.refused


def test_what_is_not_refused_is_noticed() -> None:
    """By a simulator that ends well, or asks on."""
    assert refused(RUNS["fcfs_basic"]).why == ("the run ended well",)
    cut = Recorded5(FILES["fcfs_basic"])
    cut.exchanges = cut.exchanges[:4]
    assert refused(cut).why == ("all 4 replies were obeyed",)


@pytest.mark.parametrize("name", sorted(SILENT))
def test_a_recording_in_which_nothing_was_said_is_not_compared(name: str) -> None:
    """It is of Batsim's command line, or of its inputs."""
    with pytest.raises(UnusableError, match=r"before it said anything|unknown here"):
        Recorded5(FILES[name])
