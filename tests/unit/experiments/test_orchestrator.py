"""Orchestrator: the acceptance cases of BonFIRE's manager, with a resource manager whose answers are a script."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest

from batsched_py.experiments.api import (
    DeploymentSettings,
    ManagedExperiment,
    Orchestrator,
    OrchestratorSettings,
    ReservationState,
    ReservedInstances,
    deployment_order,
    read_descriptor,
)
from tests.scripted_manager import ScriptedManager

MINUTES = 120
SECONDS = 60.0 * MINUTES
RESERVING = OrchestratorSettings(reservations="on")
#: States of an experiment that goes well.
WELL = ["READY", "DEPLOYABLE", "DEPLOYING", "DEPLOYED"]


def compute(name: str, *needed: str, **members: Any) -> dict[str, Any]:
    """A compute at epcc that needs the addresses of others."""
    contexts = [{f"{one}_ip": [one, "wan"]} for one in needed]
    return {"compute": {"name": name, "locations": ["epcc"], "contexts": contexts, **members}}


def chain(*names: str) -> list[dict[str, Any]]:
    """Computes of which each comes after the one before."""
    return [compute(name, after=[before] if before else []) for before, name in zip(("", *names), names, strict=False)]


class Play:
    """An orchestrator and its script, in simulated time."""

    def __init__(self, manager: ScriptedManager, settings: OrchestratorSettings = OrchestratorSettings()) -> None:  # noqa: B008  # frozen
        self.manager, self.orchestrator, self.now = manager, Orchestrator(manager, settings), 0.0

    def accept(self, *resources: dict[str, Any], owner: str = "", **members: Any) -> ManagedExperiment:
        """Accept an experiment of two hours, now."""
        content = {"name": "e", "duration": MINUTES, "resources": list(resources), **members}
        experiment = read_descriptor("e.json", json.dumps(content).encode())
        one = self.orchestrator.accept(experiment, deployment_order(experiment), self.now, owner=owner)
        self.orchestrator.advance(self.now)
        return one

    def until(self, time: float) -> None:
        """Let time pass, up to and with this instant."""
        while (following := self.orchestrator.next_time()) <= time:
            assert following >= self.now
            self.now = following
            self.orchestrator.advance(following)
            if following == math.inf:
                return
        self.now = time if time < math.inf else self.now

    def delete(self, one: ManagedExperiment) -> None:
        """Delete an experiment, now."""
        self.orchestrator.delete(one.id, self.now)
        self.orchestrator.advance(self.now)


def states(one: ManagedExperiment) -> list[tuple[float, str]]:
    """When it entered which state."""
    return [(time, state.value) for time, state in one.history]


def texts(one: ManagedExperiment) -> str:
    """All messages of its log."""
    return "\n".join(message.text for message in one.log.messages)


def failed(one: ManagedExperiment) -> None:
    """It failed, and holds nothing."""
    assert one.status == "FAILED"
    assert not one.held
    assert one.log.messages[-1].level == "error"


def test_an_experiment_is_deployed_and_logged() -> None:
    """MA-1: two computes; each state once, in the log too."""
    play = Play(ScriptedManager())
    one = play.accept(compute("Server"), compute("Client", "Server"))
    assert states(one) == [(0.0, state) for state in WELL]
    assert [each.name for each in one.order] == ["Server", "Client"]
    told = [message.text.partition(":")[0] for message in one.log.messages]
    assert [text for text in told if text in WELL] == WELL
    assert play.manager.asked("create_resource") == [(0.0, "Server"), (0.0, "Client")]


def test_instances_are_requested_one_after_the_other() -> None:
    """MA-2: three instances of a template."""
    play = Play(ScriptedManager())
    play.accept(compute("c", min=3), compute("d"))
    assert [name for _, name in play.manager.asked("create_resource")] == ["c-1", "c-2", "c-3", "d"]


def test_addresses_are_waited_for() -> None:
    """MA-4: a needs b's, b needs c's."""
    play = Play(ScriptedManager(delay=10.0, address_delay={"epcc": 5.0}))
    one = play.accept(compute("a", "b"), compute("b", "c"), compute("c"))
    play.until(100.0)
    assert play.manager.asked("create_resource") == [(0.0, "c"), (15.0, "b"), (30.0, "a")]
    assert states(one)[-1] == (40.0, "DEPLOYED")  # nobody needs the address of a


def test_a_creation_that_fails_rolls_back() -> None:
    """MA-7: the second of three; the third is never requested. MA-52: the log in its order."""
    play = Play(ScriptedManager(delay=10.0, broken=["b"]))
    one = play.accept(*chain("a", "b", "c"))
    play.until(math.inf)
    failed(one)
    assert play.manager.asked() == [
        (0.0, "create_experiment e"),
        (0.0, "create_resource a"),
        (10.0, "create_resource b"),
        (20.0, "delete_resource a"),
        (20.0, "delete_experiment /experiments/1"),
    ]
    assert [message.text.partition(" at ")[0] for message in one.log.messages] == [
        "READY",
        "DEPLOYABLE: deployment order: a, b, c",
        "DEPLOYING",
        "a requested",
        "a created",
        "b requested",
        "b failed: no such image",
        "a removed",
        "FAILED: b: no such image",
    ]
    assert [message.time for message in one.log.messages] == [0.0] * 4 + [10.0] * 2 + [20.0] * 3


def test_a_call_that_is_refused_rolls_back() -> None:
    """M10: any error."""
    play = Play(ScriptedManager(refused={"create_resource": [2]}))
    one = play.accept(*chain("a", "b", "c"))
    failed(one)
    assert "call 2 of create_resource is refused" in one.failure
    assert play.manager.held == []
    other = Play(ScriptedManager(refused={"create_experiment": [1]}))
    refused = other.accept(compute("a"))
    failed(refused)
    assert other.manager.asked("create_resource") == []


def test_a_start_is_reserved() -> None:
    """MA-8; MA-56: there was no reservation before."""
    play = Play(ScriptedManager(), RESERVING)
    one = play.accept(compute("a"), start=3600)
    play.until(4000.0)
    assert states(one) == [
        (0.0, "READY"),
        (0.0, "DEPLOYABLE"),
        (0.0, "RESERVED"),
        (3600.0, "DEPLOYING"),
        (3600.0, "DEPLOYED"),
    ]
    assert one.ends == 3600.0 + SECONDS
    play.until(math.inf)
    assert states(one)[-1] == (3600.0 + SECONDS, "ENDED")
    assert play.manager.held == []


def test_without_a_start_the_earliest_is_reserved() -> None:
    """MA-36."""
    play = Play(ScriptedManager(free_at=500.0), RESERVING)
    one = play.accept(compute("a"))
    play.until(600.0)
    assert states(one)[2:] == [(0.0, "RESERVED"), (500.0, "DEPLOYING"), (500.0, "DEPLOYED")]


def test_a_start_is_kept_without_machines() -> None:
    """M16: there is nothing to reserve, and networks come at the start none the less; DELETE may come before."""
    network = {"network": {"name": "n", "location": "epcc"}}
    play = Play(ScriptedManager(), RESERVING)
    one, deleted, late = (play.accept(network, start=start) for start in (3600, 3600, 0))
    assert [each.status for each in (one, deleted, late)] == ["DEPLOYABLE", "DEPLOYABLE", "DEPLOYED"]
    play.delete(deleted)
    play.until(math.inf)
    assert states(one)[2:] == [(3600.0, "DEPLOYING"), (3600.0, "DEPLOYED"), (3600.0 + SECONDS, "ENDED")]
    assert play.manager.asked("create_resource") == [(0.0, "n"), (3600.0, "n")]


@pytest.mark.parametrize("state", [ReservationState.TERMINATED, ReservationState.FAILED])
def test_a_reservation_that_is_lost_fails_the_experiment(state: ReservationState) -> None:
    """MA-9: nothing was asked for."""
    play = Play(ScriptedManager(), RESERVING)
    play.manager.happen(100.0, "/reservations/1", state)
    one = play.accept(compute("a"), start=3600)
    play.until(math.inf)
    failed(one)
    assert states(one)[-1] == (100.0, "FAILED")
    assert state.value in one.failure
    assert play.manager.asked("create_resource") == []


@pytest.mark.parametrize("deployed", [False, True])
def test_a_reservation_that_is_terminated_takes_what_was_made(deployed: bool) -> None:
    """MA-27: while DEPLOYING two of three are rolled back in reverse; while DEPLOYED all are released."""
    play = Play(ScriptedManager(delay=10.0), RESERVING)
    play.manager.happen(100.0 if deployed else 25.0, "/reservations/1", ReservationState.TERMINATED)
    one = play.accept(*chain("a", "b", "c"))
    play.until(math.inf)
    failed(one)
    removed = [name for _, name in play.manager.asked("delete_resource")]
    assert removed == ["c", "b", "a"]  # c was on its way
    assert ("DEPLOYED" in [state for _, state in states(one)]) == deployed


def test_an_own_reservation_is_deleted_when_a_deployment_fails() -> None:
    """MA-10."""
    play = Play(ScriptedManager(broken=["a"]), RESERVING)
    one = play.accept(compute("a"))
    failed(one)
    assert play.manager.asked("delete_reservation") == [(0.0, "/reservations/1")]


def test_an_experiment_is_deleted_while_reserved() -> None:
    """MA-11: its reservation is gone, and nobody knows it any more."""
    play = Play(ScriptedManager(), RESERVING)
    one = play.accept(compute("a"), start=3600)
    play.until(100.0)
    play.delete(one)
    assert play.manager.asked("delete_reservation") == [(100.0, "/reservations/1")]
    assert play.orchestrator.experiments == {}
    assert not play.orchestrator.busy
    assert play.manager.asked("create_resource") == []
    with pytest.raises(KeyError):
        play.orchestrator.delete(one.id, 100.0)


def test_a_reservation_of_ones_own_is_looked_up() -> None:
    """MA-12: unknown; MA-57: another's. FAILED before RESERVED, the id in the log, nothing created, nothing deleted."""
    for owner in ("", "alice"):
        play = Play(ScriptedManager(), RESERVING)
        play.manager.reserve("/r/7", owner="bob", start=0.0, end=100.0)
        one = play.accept(compute("a"), owner=owner, reservation="/r/8" if not owner else "/r/7")
        failed(one)
        assert [state for _, state in states(one)] == ["READY", "DEPLOYABLE", "FAILED"]
        assert ("/r/7" if owner else "/r/8") in texts(one)
        assert play.manager.asked() == []


def test_reserved_resources_of_ones_own_are_used() -> None:
    """M27: each id by its compute; the user's reservation is never deleted. A wrong id fails that creation."""
    reserved = [ReservedInstances("epcc", "small", ("x", "y", "z"))]
    play = Play(ScriptedManager(), RESERVING)
    play.manager.reserve("/r/7", owner="alice", start=50.0, end=1000.0, instances=reserved)
    one = play.accept(compute("a", min=3, reserved=["z", "x", "y"]), owner="alice", reservation="/r/7")
    play.until(math.inf)
    assert play.manager.reserved == {"a-1": "z", "a-2": "x", "a-3": "y"}
    assert states(one)[3:] == [(50.0, "DEPLOYING"), (50.0, "DEPLOYED"), (1000.0, "ENDED")]
    wrong = Play(ScriptedManager(), RESERVING)
    wrong.manager.reserve("/r/7", owner="alice", start=0.0, end=1000.0, instances=reserved)
    other = wrong.accept(compute("a", min=2, reserved=["x", "w"]), owner="alice", reservation="/r/7")
    failed(other)
    assert [name for _, name in wrong.manager.asked("delete_resource")] == ["a-1"]
    for each in (play, wrong):
        assert each.manager.asked("delete_reservation") == []


def test_experiments_are_deployed_at_the_same_time() -> None:
    """MA-15."""
    play = Play(ScriptedManager(delay=10.0))
    both = [play.accept(compute("a")), play.accept(compute("b"))]
    assert [one.status for one in both] == ["DEPLOYING", "DEPLOYING"]
    play.until(10.0)
    assert [one.status for one in both] == ["DEPLOYED", "DEPLOYED"]


def test_resources_are_released_at_the_end() -> None:
    """MA-18: 120 minutes from its deployment."""
    play = Play(ScriptedManager(delay=20.0))
    one = play.accept(compute("a"), compute("b"))
    play.until(math.inf)
    assert states(one)[-2:] == [(20.0, "DEPLOYED"), (20.0 + 7200.0, "ENDED")]
    assert play.manager.asked("delete_resource") == [(7220.0, "b"), (7220.0, "a")]


def test_reserved_instances_match() -> None:
    """MA-20: by location, type and number; each once."""
    play = Play(ScriptedManager(), RESERVING)
    listed = [ReservedInstances("epcc", "large", ("r1", "r2")), ReservedInstances("epcc", "small", ("r3", "r4"))]
    play.manager.reserve("/r/1", owner="", start=0.0, end=1000.0, instances=listed)
    resources = [compute("Server", min=2), compute("Client", min=2, instanceType="large")]
    play.accept(*resources, reservation="/r/1")
    assert play.manager.reserved == {"Server-1": "r3", "Server-2": "r4", "Client-1": "r1", "Client-2": "r2"}


def test_a_reservation_without_a_match_fails() -> None:
    """MA-22: the compute is named, and nothing created."""
    play = Play(ScriptedManager(), RESERVING)
    listed = [ReservedInstances("epcc", "small", ("r3",))]
    play.manager.reserve("/r/1", owner="", start=0.0, end=1000.0, instances=listed)
    one = play.accept(compute("Server", min=2), reservation="/r/1")
    failed(one)
    assert "Server" in one.failure
    assert play.manager.asked() == []


def test_the_aggregator_comes_first() -> None:
    """MA-23: nobody is created before its address is known."""
    play = Play(ScriptedManager(delay=10.0, address_delay={"epcc": 5.0}))
    play.accept(compute("Server"), compute("Client"), aggregator="epcc")
    play.until(100.0)
    assert play.manager.asked("create_resource") == [(0.0, "BonFIRE-Monitor"), (15.0, "Server"), (15.0, "Client")]


def test_a_persistent_storage_survives() -> None:
    """MA-24: the end and DELETE, and is offered then; after a failed deployment it is removed."""
    storage = {"storage": {"name": "data", "location": "epcc", "size": 10, "persistent": True}}
    play = Play(ScriptedManager())
    one = play.accept(storage, compute("a"))
    play.delete(one)
    assert [(kept.name, kept.location) for kept in play.orchestrator.kept] == [("data", "epcc")]
    assert play.manager.held == ["data"]
    assert play.manager.asked("delete_resource") == [(0.0, "a")]
    broken = Play(ScriptedManager(broken=["a"]))
    failed(broken.accept(storage, compute("a", after=["data"])))
    assert broken.manager.held == []
    assert broken.orchestrator.kept == []


def late_address() -> tuple[ScriptedManager, list[dict[str, Any]]]:
    """MA-28: creation 10 everywhere; addresses after 300 at hp; C needs that of A."""
    manager = ScriptedManager(delay=10.0, address_delay={"hp": 300.0})
    return manager, [compute("A", locations=["hp"]), compute("B"), compute("C", "A")]


def test_only_needed_addresses_are_waited_for() -> None:
    """MA-28; MA-31: the duration counts from DEPLOYED; MA-53: C's context is A's address."""
    manager, resources = late_address()
    play = Play(manager)
    one = play.accept(*resources)
    play.until(math.inf)
    assert manager.asked("create_resource") == [(0.0, "A"), (0.0, "B"), (310.0, "C")]
    assert one.resources["A"].addressed == 310.0
    assert one.resources["C"].contexts == {"A_ip": one.resources["A"].addresses[""]}
    assert states(one)[-2:] == [(320.0, "DEPLOYED"), (7520.0, "ENDED")]


def test_deployments_can_be_sequential() -> None:
    """MA-28, as BonFIRE did it (M10, M11)."""
    manager, resources = late_address()
    play = Play(manager, OrchestratorSettings(DeploymentSettings(deploy="sequential")))
    one = play.accept(*resources)
    play.until(1000.0)
    assert manager.asked("create_resource") == [(0.0, "A"), (310.0, "B"), (320.0, "C")]
    assert states(one)[-1] == (330.0, "DEPLOYED")


def test_an_address_that_never_comes() -> None:
    """MA-30: rolled back after ip-timeout; one that nobody needs is not missed."""
    _, resources = late_address()
    settings = OrchestratorSettings(DeploymentSettings(ip_timeout=60.0))
    play = Play(ScriptedManager(delay=10.0, address_delay={"hp": math.inf}), settings)
    one = play.accept(*resources)
    play.until(math.inf)
    failed(one)
    assert states(one)[-1] == (70.0, "FAILED")
    assert "A: no address after 60 s" in one.failure
    other = Play(ScriptedManager(address_delay={"hp": math.inf}), settings)
    assert other.accept(*resources[:2]).status == "DEPLOYED"


def test_a_reservation_ends_an_experiment() -> None:
    """MA-32: at its own end, not a duration after the deployment."""
    play = Play(ScriptedManager(delay=320.0), RESERVING)
    one = play.accept(compute("a"), start=3600)
    play.until(math.inf)
    assert states(one)[-2:] == [(3920.0, "DEPLOYED"), (10800.0, "ENDED")]


@pytest.mark.parametrize("best_effort", [False, True])
def test_what_fits_is_reserved(best_effort: bool) -> None:
    """MA-38: two of three fit; the log names the third, which is left out or made without."""
    play = Play(ScriptedManager(room=2), RESERVING)
    one = play.accept(compute("c", min=3), best_effort_allocation=best_effort, start=100)
    if not best_effort:
        failed(one)
        assert play.manager.asked() == [(0.0, "create_reservation c-1, c-2, c-3")]
        return
    assert one.status == "RESERVED"
    assert "c-3 has no place in the reservation" in texts(one)
    play.until(100.0)
    assert play.manager.reserved == {"c-1": "c-1'", "c-2": "c-2'", "c-3": None}


def test_what_does_not_fit_is_left_out() -> None:
    """M30: the rest is created without a reservation, or left out with all that need it."""
    play = Play(ScriptedManager(room=1, broken=["b"]), RESERVING)
    needing = (compute("d", "b"), compute("f", "d", after=["a"]))
    one = play.accept(compute("a"), compute("b"), *needing, best_effort_allocation=True)
    assert one.status == "DEPLOYED"
    found = {name: (each.state.value, each.reason) for name, each in one.resources.items()}
    assert found == {
        "a": ("created", ""),
        "b": ("left out", "no such image"),
        "d": ("left out", "it needs b"),
        "f": ("left out", "it needs b"),
    }
    nothing = Play(ScriptedManager(room=0), RESERVING)
    failed(nothing.accept(compute("a"), best_effort_allocation=True))


def test_what_needs_two_that_are_left_out_is_left_out_once() -> None:
    """M30: the second one to be left out must not leave it out again."""
    play = Play(ScriptedManager(room=1, broken=["b-1", "b-2"]), RESERVING)
    one = play.accept(compute("a"), compute("b", min=2), compute("d", "b"), best_effort_allocation=True)
    assert one.status == "DEPLOYED"
    assert [each.reason for each in one.resources.values()] == ["", "no such image", "no such image", "it needs b-1"]
    assert texts(one).count("d left out") == 1


def test_what_fits_is_found_without_asking_for_more() -> None:
    """M30: not a request for each number of machines, which took minutes where thousands did not fit."""
    play = Play(ScriptedManager(room=300), RESERVING)
    one = play.accept(compute("c", min=1000), best_effort_allocation=True, start=100)
    names = ", ".join(f"c-{number}" for number in range(1, 301))
    assert play.manager.asked() == [(0.0, f"create_reservation {names}")]
    assert one.reservation is not None
    assert len(one.reservation.names) == 300


def test_room_is_no_promise() -> None:
    """M30: a reservation that is refused although there seemed to be room for it is asked for with one machine less."""
    play = Play(ScriptedManager(room=3, refused={"create_reservation": [1, 2]}), RESERVING)
    one = play.accept(compute("c", min=4), best_effort_allocation=True, start=100)
    asked = [about.count(",") + 1 for _, about in play.manager.asked("create_reservation")]
    assert (one.status, asked) == ("RESERVED", [3, 2, 1])


def test_resource_sets_are_reserved_whole() -> None:
    """M30: a set whose members do not all fit has no place at all."""
    play = Play(ScriptedManager(room=2), RESERVING)
    resources = [compute("a"), compute("b"), compute("c")]
    one = play.accept(*resources, best_effort_allocation=True, resource_set={"pair": ["b", "c"]}, start=10)
    assert one.reservation is not None
    assert one.reservation.names == {"a"}


def test_an_experiment_is_deleted_while_deploying() -> None:
    """MA-46: B is stopped, A removed, C never asked for."""
    play = Play(ScriptedManager(delay=10.0))
    one = play.accept(*chain("A", "B", "C"))
    play.until(15.0)
    play.delete(one)
    assert play.manager.asked()[1:] == [
        (0.0, "create_resource A"),
        (10.0, "create_resource B"),
        (15.0, "delete_resource B"),
        (15.0, "delete_resource A"),
        (15.0, "delete_experiment /experiments/1"),
    ]
    assert play.manager.experiments == set()
    play.until(math.inf)
    assert play.orchestrator.experiments == {}


@pytest.mark.parametrize("delay", [0.0, 30.0])
def test_a_step_of_a_roll_back_is_tried_again(delay: float) -> None:
    """MA-48: it fails twice, then works."""
    settings = OrchestratorSettings(undo_delay=delay)
    play = Play(ScriptedManager(broken=["b"], refused={"delete_resource": [1, 2]}), settings)
    one = play.accept(*chain("a", "b"))
    play.until(math.inf)
    failed(one)
    assert [time for time, _ in play.manager.asked("delete_resource")] == [0.0, delay, 2 * delay]
    assert (play.manager.held, play.orchestrator.leaks) == ([], [])


def test_what_cannot_be_removed_has_leaked() -> None:
    """M34: it is told, and a sweep removes it."""
    play = Play(ScriptedManager(broken=["b"], refused={"delete_resource": [1, 2, 3]}))
    one = play.accept(*chain("a", "b"))
    assert one.status == "FAILED"
    assert [(leak.kind, leak.name, leak.experiment) for leak in play.orchestrator.leaks] == [("resource", "a", one.id)]
    assert "a leaked" in texts(one)
    play.orchestrator.sweep(5.0)
    assert (play.manager.held, play.orchestrator.leaks) == ([], [])
    assert one.log.messages[-1].text == "a removed by a clean-up"


@pytest.mark.parametrize("verb", ["delete_resource", "delete_reservation", "delete_experiment"])
def test_what_has_leaked_is_removed_with_its_experiment(verb: str) -> None:
    """M34: DELETE tries it anew; then nothing is left for a sweep, which finds it leaked once if that fails, too."""
    for attempts, left in ((3, 0), (6, 1)):
        play = Play(ScriptedManager(broken=["b"], refused={verb: range(1, attempts + 1)}), RESERVING)
        one = play.accept(*chain("a", "b"))
        assert one.status == "FAILED"
        assert len(play.orchestrator.leaks) == 1
        play.delete(one)
        assert len(play.orchestrator.leaks) == left
        play.orchestrator.sweep(5.0)
        assert (play.manager.held, play.manager.experiments, play.manager.reservations) == ([], set(), set())
        assert play.orchestrator.leaks == []


def test_a_reservation_that_waits_occupies_no_worker() -> None:
    """MA-51: the first is RESERVED until 3600; the second is deployed at 0."""
    settings = OrchestratorSettings(reservations="on", deployments=1)
    play = Play(ScriptedManager(delay=10.0), settings)
    first, second = play.accept(compute("a"), start=3600), play.accept(compute("b"))
    third = play.accept({"network": {"name": "n", "location": "epcc"}})
    assert [one.status for one in (first, second, third)] == ["RESERVED", "DEPLOYING", "QUEUED"]
    play.until(10.0)
    assert [one.status for one in (first, second, third)] == ["RESERVED", "DEPLOYED", "DEPLOYING"]


def test_a_week_passes_in_no_time() -> None:
    """MA-55: start in seven days."""
    play = Play(ScriptedManager(), RESERVING)
    one = play.accept(*chain("a", "b", "c"), start=604800)
    play.until(604800.0)
    assert states(one)[2:4] == [(0.0, "RESERVED"), (604800.0, "DEPLOYING")]
    assert {each.state.value for each in one.resources.values()} == {"created"}


def test_what_needs_reservations_fails_without() -> None:
    """M28: where the document was not refused before."""
    play = Play(ScriptedManager())
    failed(play.accept(compute("a"), start=10))


def test_links_and_routers_are_rolled_back() -> None:
    """M20: created after their networks, and removed before them."""
    networks = [{"network": {"name": name, "location": where}} for name, where in (("m", "epcc"), ("n", "hp"))]
    joined: Sequence[dict[str, Any]] = (
        {"site_link": {"name": "l", "endpoints": ["epcc", "hp"], "bandwidth": 100}},
        {"router": {"name": "r", "location": "epcc", "networks": ["m"]}},
    )
    play = Play(ScriptedManager(broken=["c"]))
    needing = compute("c", resources=[{"network": "l"}, {"network": "r"}])
    failed(play.accept(needing, *joined, *networks))
    assert [name for _, name in play.manager.asked("create_resource")] == ["m", "n", "r", "l", "c"]
    assert [name for _, name in play.manager.asked("delete_resource")] == ["l", "n", "r", "m"]  # order: m, r, n, l, c


def test_a_resource_that_is_lost_fails_a_deployed_experiment() -> None:
    """A host that dies under a compute."""
    play = Play(ScriptedManager())
    one = play.accept(compute("a"), compute("b"))
    play.manager.lose(50.0, "a", "its host has failed")
    play.until(50.0)
    failed(one)
    assert "a was lost: its host has failed" in one.failure
    assert play.manager.held == []
