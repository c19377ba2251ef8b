"""Properties of the orchestrator, on random experiments, scripts and deletions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from batsched_py.experiments.api import (
    AddressOf,
    Compute,
    DeploymentSettings,
    Experiment,
    ExperimentState,
    ManagedExperiment,
    Orchestrator,
    OrchestratorSettings,
    ReservationState,
    Resource,
    Storage,
    deployment_order,
)
from tests.scripted_manager import ScriptedManager

NAMES = "abcdef"
VERBS = ("create_experiment", "create_resource", "create_reservation", "get_reservation", "delete_resource")


@st.composite
def experiments(draw: st.DrawFn) -> Experiment:
    """Experiments whose resources need only those before them."""
    resources = list[Resource]()
    for name in NAMES[: draw(st.integers(1, len(NAMES)))]:
        before = [one for one in resources if draw(st.booleans())]
        after = tuple(one.name for one in before if draw(st.booleans()))
        if draw(st.integers(0, 3)) == 0:
            resources.append(Storage(name, "hp", 1.0, persistent=draw(st.booleans()), after=after))
            continue
        contexts = {one.name: AddressOf(one.name, "wan") for one in before if isinstance(one, Compute)}
        where = draw(st.sampled_from([("hp",), ("epcc",), ("hp", "epcc")]))
        resources.append(
            Compute(name, locations=where, count=draw(st.integers(1, 3)), contexts=contexts, after=after),
        )
    start = draw(st.sampled_from([None, 40.0]))
    return Experiment("e", 100.0, resources=tuple(resources), start=start, best_effort_allocation=draw(st.booleans()))


def scripts() -> st.SearchStrategy[dict[str, Any]]:
    """Draw the script of a manager: delays, refused calls, broken creations, addresses that come late or never."""
    calls = st.dictionaries(st.sampled_from(VERBS), st.sets(st.integers(1, 4)), max_size=2)
    return st.fixed_dictionaries(
        {
            "delay": st.sampled_from([0.0, 10.0]),
            "address_delay": st.dictionaries(st.just("hp"), st.sampled_from([7.0, 500.0, math.inf])),
            "refused": calls,
            "broken": st.sets(st.sampled_from([*NAMES, "a-1", "b-2"]), max_size=1),
            "room": st.sampled_from([math.inf, 2, 4]),
        }
    )


@st.composite
def settings_of(draw: st.DrawFn) -> OrchestratorSettings:
    """Rules of all kinds."""
    return OrchestratorSettings(
        DeploymentSettings(draw(st.sampled_from(["parallel", "sequential"])), ip_timeout=60.0),
        reservations=draw(st.sampled_from(["on", "off"])),
        deployments=draw(st.sampled_from([None, 1])),
        undo_delay=draw(st.sampled_from([0.0, 5.0])),
    )


def check_order(one: ManagedExperiment) -> None:
    """Check that no resource is requested before those that it needs."""
    for resource in one.resources.values():
        if resource.requested is None:
            continue
        needed = [(name, one.resources[name].created) for name in resource.planned.after]
        needed += [(name, one.resources[name].addressed) for name in resource.planned.addresses]
        for name, time in needed:
            left_out = one.resources[name].state.value == "left out"
            assert left_out or (time is not None and time <= resource.requested), (resource.name, name)


def check_end(one: ManagedExperiment, manager: ScriptedManager, orchestrator: Orchestrator) -> None:
    """Check that an experiment that has ended holds nothing but what is kept or has leaked."""
    known = {leak.id for leak in orchestrator.leaks} | {kept.id for kept in orchestrator.kept}
    over = (ExperimentState.ENDED, ExperimentState.FAILED, ExperimentState.DELETED)
    assert one.state in over
    assert {id for id in manager.created if id not in manager.gone} <= known
    assert manager.experiments <= known
    own = one.reservation is not None and one.reservation.created
    if own and one.reservation is not None and one.reservation.status.state is not ReservationState.ENDED:
        assert not manager.reservations - known
    times = [message.time for message in one.log.messages]
    assert times == sorted(times)
    assert [time for time, _ in one.history] == sorted(time for time, _ in one.history)


@given(experiments(), scripts(), settings_of(), st.sampled_from([math.inf, 5.0, 15.0, 45.0]))
def test_experiments_end_and_hold_nothing(
    experiment: Experiment, script: Mapping[str, Any], settings: OrchestratorSettings, deleted: float
) -> None:
    """States follow their tables, which are asserted; nobody is asked for too early; what is over holds nothing."""
    manager = ScriptedManager(**script)
    orchestrator = Orchestrator(manager, settings)
    one = orchestrator.accept(experiment, deployment_order(experiment), 0.0)
    orchestrator.advance(0.0)
    now = 0.0
    while (following := min(orchestrator.next_time(), deleted)) < math.inf:
        assert following >= now
        now = following
        if following == deleted:
            deleted = math.inf
            orchestrator.delete(one.id, now)
        orchestrator.advance(now)
    check_order(one)
    check_end(one, manager, orchestrator)
