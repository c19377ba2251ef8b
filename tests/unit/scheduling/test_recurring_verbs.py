"""Verbs for what goes on until it is stopped, in the dialect of Batsim 5 and in those that have no commands for it."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.errors import PlanError
from batsched_py.hostset import HostSet
from batsched_py.model.new_profile import delay
from batsched_py.protocol.commands import (
    CallPeriodically,
    CreateProbe,
    ExecuteJob,
    KillJob,
    PlacedProfile,
    RejectJob,
    SetResourceState,
    StopCalls,
    StopProbe,
    StopSimulation,
)
from batsched_py.protocol.dialect import V4, V14, Dialect
from batsched_py.protocol.dialects import V5
from batsched_py.protocol.events import Config, RequestedCall
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.recurring_verbs import ENERGY
from batsched_py.state.state import State
from tests.builders import hosts, job, plan_for, state, submitted
from tests.unit.scheduling.test_plan import busy_sleepy_failed

EVERY = [V4, V5, V14]
each = pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)


def planned(dialect: Dialect, now: State | None = None) -> tuple[State, Plan]:
    """A state and its plan in a dialect."""
    found = state(4) if now is None else now
    plan = plan_for(found)
    plan.dialect = dialect
    return found, plan


@each
def test_periodic_calls_are_said_to_batsim_5_and_booked_for_others(dialect: Dialect) -> None:
    """The session asks the others for one call after the other."""
    now, plan = planned(dialect)
    plan.call_every(2.5, "look", 3)
    assert plan.commands == ([CallPeriodically(0.0, "look", 2.5, 3)] if dialect is V5 else [])
    assert now.periodic["look"].next == 2.5


def test_a_period_counts_its_calls() -> None:
    """The last one takes it away; multiples count from 0, whenever it begins."""
    now, plan = planned(V5)
    now.advance(4.0)
    plan.call_every(2.5, "look", 2)
    assert (now.periodic["look"].next, now.periodic["look"].left) == (5.0, 2)
    now.advance(5.0)
    now.apply(RequestedCall(5.0, call_id="look"))
    assert (now.periodic["look"].next, now.periodic["look"].left) == (7.5, 1)
    now.apply(RequestedCall(7.5, call_id="look", last=True))
    assert now.periodic == {}


@each
def test_calls_are_stopped_by_their_name(dialect: Dialect) -> None:
    """Once."""
    now, plan = planned(dialect)
    plan.call_every(1, "look")
    plan.stop_calls("look")
    assert now.periodic == {}
    assert (StopCalls(0.0, "look") in plan.commands) == (dialect is V5)
    with pytest.raises(PlanError, match=r"stop calls 'look': no such calls go on"):
        plan.stop_calls("look")


@pytest.mark.parametrize(
    ("period", "name", "times", "rule"),
    [
        (0, "x", None, "whole milliseconds"),
        (0.0005, "x", None, "whole milliseconds"),
        (1.00051, "x", None, "whole milliseconds"),
        (float("inf"), "x", None, "whole milliseconds"),
        (1, "x", 0, "from 1 to"),
        (1, "", None, "not empty"),
        (1, ENERGY, None, "another"),
        (3, "x", None, "one must be a multiple of the other"),
        (2, "two", None, "calls of this name go on"),
    ],
)
def test_what_makes_batsim_5_abort_is_refused(period: float, name: str, times: int | None, rule: str) -> None:
    """Periods that are no integers of its units, or no multiples of each other; names that are empty or in use."""
    _, plan = planned(V5)
    plan.call_every(2, "two")
    with pytest.raises(PlanError, match=rule):
        plan.call_every(period, name, times)
    assert len(plan.commands) == 1


@each
def test_energy_is_a_probe_in_batsim_5_and_calls_for_others(dialect: Dialect) -> None:
    """With a question at each."""
    now, plan = planned(dialect, busy_sleepy_failed())
    plan.watch_energy(10)
    if dialect is V5:
        assert plan.commands == [CreateProbe(0.0, ENERGY, HostSet(now.hosts.all), 10, None, "sum")]
    else:
        assert (plan.commands, now.periodic[ENERGY].next) == ([], 10.0)
    with pytest.raises(PlanError, match="it is watched already"):
        plan.watch_energy(10)
    plan.stop_watching()
    assert (StopProbe(0.0, ENERGY) in plan.commands) == (dialect is V5)
    with pytest.raises(PlanError, match="is not watched"):
        plan.stop_watching()


def test_energy_needs_hosts_that_describe_their_power_and_a_batsim_that_counts() -> None:
    """Batsim 5 aborts at the first measure otherwise; its arguments are told."""
    _, plan = planned(V5)
    with pytest.raises(PlanError, match="describes no power"):
        plan.watch_energy(10)
    now, plan = planned(V5, busy_sleepy_failed())
    now.counts_energy = False
    with pytest.raises(PlanError, match="run Batsim with --energy-host"):
        plan.watch_energy(10)


def test_stopping_batsim_5_is_one_command() -> None:
    """Batsim drops the commands after it."""
    now, plan = planned(V5, state(4, job("a"), job("b")))
    plan.start(job("a"), hosts("0"))
    plan.stop()
    assert plan.commands[1:] == [StopSimulation(0.0)]
    assert now.stopped
    with pytest.raises(PlanError, match="was stopped before"):
        plan.stop()


def test_others_are_stopped_by_ending_all_jobs() -> None:
    """Waiting and running jobs end, and so do periodic calls."""
    now, plan = planned(V4, state(4, job("a"), job("b"), job("c")))
    plan.start(job("a"), hosts("0"))
    plan.call_every(1, "look")
    plan.stop()
    assert plan.commands[1:] == [KillJob(0.0, ("w0!a",)), RejectJob(0.0, "w0!b"), RejectJob(0.0, "w0!c")]
    assert not now.queue
    assert now.periodic == {}


def test_batsim_5_tells_switching_from_changing_the_pstate() -> None:
    """Hosts of one verb that sleep, or will, are turned on or off."""
    now, plan = planned(V5, busy_sleepy_failed())
    asleep = HostSet(now.hosts.asleep)
    awake = hosts("4")
    plan.set_pstate(asleep | awake, 0)
    assert plan.commands == [
        SetResourceState(0.0, asleep, "0", turns=True),
        SetResourceState(0.0, awake, "0"),
    ]
    now.check()


@pytest.mark.parametrize(
    ("verb", "why"),
    [
        (lambda plan: plan.set_metadata(job("a"), "x"), "keeps no metadata"),
        (lambda plan: plan.change_state(job("a"), "RUNNING"), "only Batsim changes"),
        (lambda plan: plan.message(job("a"), "x"), "no job receives messages"),
        (lambda plan: plan.ask_energy(), r"answers no questions; watch_energy\(period\)"),
        (lambda plan: plan.continue_registration(), "it is final"),
        (lambda plan: plan.answer({}), "Answer does not exist in protocol v5"),
    ],
)
def test_what_batsim_5_does_not_have_is_refused_with_the_reason(verb: Any, why: str) -> None:
    """The message says what there is instead."""
    now, plan = planned(V5)
    now.config = Config(dynamic_jobs=True)
    now.apply(submitted(job("a")))
    with pytest.raises(PlanError, match=why):
        verb(plan)
    assert plan.commands == []


def test_dynamic_jobs_that_nobody_asked_for_are_refused_with_what_is_to_be_done() -> None:
    """Batsim 5 would take them; earlier versions have an option."""
    for dialect, why in (
        (V5, "Batsim was not asked for dynamic jobs: .* needs_dynamic_jobs"),
        (V4, "without --enable"),
    ):
        _, plan = planned(dialect)
        with pytest.raises(PlanError, match=why):
            plan.submit(job("b"), delay(5))


@pytest.mark.parametrize(
    "verb",
    [
        lambda plan: plan.submit(job("b"), delay(5, ret=3)),
        lambda plan: plan.register_profile("w0", "q", delay(5, ret=3)),
    ],
)
def test_batsim_5_takes_no_exit_code_with_a_profile(verb: Any) -> None:
    """It would run the job as one that succeeds."""
    now, plan = planned(V5)
    now.config, now.registration_open = Config(dynamic_jobs=True), True
    with pytest.raises(PlanError, match=r"profile\.ret: must be 0, not 3: .* workload files only"):
        verb(plan)
    assert plan.commands == []


def test_fewer_hosts_than_executors_need_a_placement() -> None:
    """Batsim 5 places them itself; a mapping says the same to others."""
    for dialect, placed in ((V5, None), (V4, {0: 0, 1: 1, 2: 0})):
        _, plan = planned(dialect, state(4, job("a", size=3)))
        plan.start(job("a", size=3), hosts("1-2"), placement="spread")
        assert plan.commands == [ExecuteJob(0.0, "w0!a", hosts("1-2"), placed)]


def test_filling_hosts_needs_their_cores() -> None:
    """Only Batsim 5 reports them."""
    _, plan = planned(V5, state(4, job("a", size=3)))
    plan.start(job("a", size=3), hosts("1"), placement="fill")
    assert plan.commands == [ExecuteJob(0.0, "w0!a", hosts("1"), placement="fill")]
    _, plan = planned(V4, state(4, job("a", size=3)))
    with pytest.raises(PlanError, match="the placement fill needs Batsim 5"):
        plan.start(job("a", size=3), hosts("1"), placement="fill")


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"placement": "heap"}, "must be spread or fill"),
        ({"placement": "spread", "mapping": {0: 0}}, "do not go together"),
        ({"placement": "spread", "hosts": "0-3"}, "3 executors cannot be placed on 4 hosts"),
        ({"overrides": [PlacedProfile("p", hosts("9"))]}, "9 not in the platform"),
        ({"overrides": [PlacedProfile("p", hosts(""))]}, "it needs a host"),
        ({"hosts": "0-3"}, "it needs 3 hosts, not 4"),
    ],
)
def test_what_batsim_5_does_not_check_is_checked(how: dict[str, Any], why: str) -> None:
    """It would run anything anywhere."""
    _, plan = planned(V5, state(4, job("a", size=3)))
    chosen = hosts(how.pop("hosts", "0-2"))
    with pytest.raises(PlanError, match=why):
        plan.start(job("a", size=3), chosen, **how)
    assert plan.commands == []


def test_profiles_of_a_sequence_get_hosts_of_their_own_in_batsim_5() -> None:
    """Earlier versions have no words for it."""
    placed = PlacedProfile("p", hosts("3"))
    _, plan = planned(V5, state(4, job("a")))
    plan.start(job("a"), hosts("0"), overrides=[placed])
    assert plan.commands == [ExecuteJob(0.0, "w0!a", hosts("0"), overrides=(placed,))]
    _, plan = planned(V4, state(4, job("a")))
    with pytest.raises(PlanError, match="Batsim 5 alone does"):
        plan.start(job("a"), hosts("0"), overrides=[placed])
