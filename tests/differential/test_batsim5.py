"""The recordings of Batsim 5 that the project carries: our session understands requests, and may say replies."""

from __future__ import annotations

import pytest

from batsched_py.transcripts.transcript import Exchange
from tests.clone import ROOT
from tests.differential.explained import EXPLAINED, FACTS, MESSAGES, OUR_SIDE
from tests.differential.our_side import follow
from tests.differential.recorded import UnusableError
from tests.differential.recorded5 import Recorded5, files_of_runs
from tests.differential.their_side import fact_by_fact, message_by_message

FILES = {path.stem: path for path in files_of_runs(ROOT / "tests" / "data" / "batsim5")}


def _usable() -> dict[str, Recorded5]:
    runs = {}
    for name, path in FILES.items():
        try:
            runs[name] = Recorded5(path)
        except UnusableError:
            continue
    return runs


RUNS = _usable()
EXPLAINED_FACTS = {name for name, comparison in EXPLAINED if comparison == FACTS}
EXPLAINED_MESSAGES = {name for name, comparison in EXPLAINED if comparison == MESSAGES}
EXPLAINED_OURS = {name for name, comparison in EXPLAINED if comparison == OUR_SIDE}


def test_the_recordings_are_there() -> None:
    """Those that Batsim ended well; the others are mistakes on purpose."""
    assert len(RUNS) >= 35
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
    """Of those that are explained and can be simulated: a notice."""
    (why,) = fact_by_fact(RUNS["force_stop"]).why
    assert why == "t=2 notices no_more_static_job_to_submit: only here"


def test_a_recording_in_which_batsim_aborted_is_not_compared() -> None:
    """It is the place of other tests, which see to it that we never say that."""
    with pytest.raises(UnusableError, match="Batsim ended with -6"):
        Recorded5(FILES["err_unknown_job"])
