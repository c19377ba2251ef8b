"""Machines of reservations: when they are free again, and how many hosts they need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.integration.experiment_runs import ExperimentSimulation, located_platform
from tests.integration.timeline_runs import SETTINGS, happens

SITES = located_platform({"epcc": 2, "hp": 2})
#: An address takes 100 s, and is waited for 20 s.
TESTBED = {"locations": {"epcc": {"creation_delay": 5, "address_delay": 100}, "hp": {}}}


def compute(name: str, location: str = "epcc", **members: Any) -> dict[str, Any]:
    """A compute at a location."""
    return {"compute": {"name": name, "locations": [location], **members}}


def experiment(name: str, *resources: dict[str, Any], **members: Any) -> dict[str, Any]:
    """An experiment of an hour in the reservation `lab`."""
    return {"name": name, "duration": 60, "resources": list(resources), "reservation": "lab", **members}


LAB = {"name": "lab", "duration": 60, "start": 100, "resources": [compute("S"), compute("T"), compute("U", "hp")]}


def run(folder: Path, *documents: tuple[float, dict[str, Any]], deleted: float | None = None) -> ExperimentSimulation:
    """Reserve the lab and hand in documents; the first of them is deleted at a time."""
    given = [{"time": time, "owner": "al", "descriptor": one} for time, one in documents]
    events = [] if deleted is None else [happens(deleted, "delete_experiment", experiment="1")]
    files = {"experiments": [{"time": 0, "owner": "al", "descriptor": LAB, "reserve": "lab"}, *given]}
    return ExperimentSimulation(
        folder, files, SITES, testbed=TESTBED, events=events, reservations="on", ip_timeout=20.0
    )


def outcomes(simulated: ExperimentSimulation) -> list[str]:
    """The reason for which each experiment has failed; empty of one that has ended."""
    return [one.failure for one in simulated.experiments]


def reserved(simulated: ExperimentSimulation) -> list[tuple[str, str]]:
    """(resource, its reserved machine) of all computes."""
    return [(row["resource"], row["reserved"]) for row in simulated.tables["experiment_resources"]]


NEEDS = compute("B", "hp", contexts=[{"x": ["A", "wan"]}])


def test_a_machine_of_a_failed_experiment_is_free_again(tmp_path: Path) -> None:
    """It was rolled back since its address was not known in time; both machines at epcc are used by the next."""
    again = experiment("again", compute("C"), compute("D"))
    simulated = run(tmp_path, (50, experiment("e", compute("A"), NEEDS)), (400, again))
    assert outcomes(simulated) == ["A: no address after 20 s", ""]
    assert reserved(simulated)[-2:] == [("C", "lab/1"), ("D", "lab/2")]


def test_a_machine_of_a_deleted_experiment_is_free_again(tmp_path: Path) -> None:
    """It is not free before."""
    first, both = experiment("e", compute("A")), [compute("C"), compute("D")]
    early, late = experiment("early", *both), experiment("late", *both)
    simulated = run(tmp_path, (50, first), (180, early), (400, late), deleted=200)
    assert outcomes(simulated) == ["", "D: the reserved resource lab/1 is used already", ""]


def test_a_machine_that_never_got_an_address_is_free_again(tmp_path: Path) -> None:
    """Its network has no address left: it was never created, and nobody deletes it."""
    lan = {"network": {"name": "lan", "location": "epcc", "address": "10.0.0.0", "size": 1}}
    full = [lan, compute("A", resources=[{"network": "lan"}]), compute("B", resources=[{"network": "lan"}])]
    again = experiment("again", compute("C"), compute("D"))
    simulated = run(tmp_path, (50, experiment("full", *full)), (400, again))
    failed, ended = outcomes(simulated)
    assert failed.startswith("B: ")
    assert ended == ""


def test_experiments_at_one_time_get_machines_that_nobody_uses(tmp_path: Path) -> None:
    """The second does not ask for the one that the first has."""
    one, other = experiment("one", compute("A")), experiment("other", compute("B"))
    simulated = run(tmp_path, (150, one), (200, other))
    assert outcomes(simulated) == ["", ""]
    assert reserved(simulated) == [("A", "lab/1"), ("B", "lab/2")]


@pytest.mark.parametrize("sharing", ["v4", "booked"])
@pytest.mark.parametrize("reservations", ["on", "off"])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_document_needs_as_many_hosts_with_reservations_as_without(
    tmp_path: Path, sharing: str, reservations: str, count: int
) -> None:
    """If hosts are not shared, each machine has one of the two; otherwise two of these fit on a host."""
    asked = {"name": "e", "duration": 60, "resources": [compute("C", min=count)]}
    simulated = ExperimentSimulation(tmp_path, asked, SITES, SETTINGS[sharing], reservations=reservations)
    (one,) = simulated.experiments
    assert (one.deployed is not None) is (sharing == "v4" or count == 2)
    hosts = {row["hosts"] for row in simulated.tables["experiment_resources"]}
    assert sharing == "v4" or one.deployed is None or len(hosts) == count
