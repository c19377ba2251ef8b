"""The algorithm `experiments`: managed experiments on leases, through real messages of both dialects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run as command
from batsched_py.errors import ConfigurationError, OptionError, WorkloadError
from batsched_py.experiments.api import ManagedExperiment
from batsched_py.model.job import Job
from batsched_py.model.new_profile import delay
from batsched_py.model.profile import parse_profile
from batsched_py.model.workload import Workload
from batsched_py.reporting.api import read_schedule
from batsched_py.schedulers.experiments import ExperimentsScheduler
from tests.clone import ROOT
from tests.integration.experiment_runs import ExperimentSimulation, located_platform
from tests.integration.timeline_runs import PROMPT, SETTINGS, happens
from tests.recorded_run import recording

DATA = ROOT / "tests" / "data" / "experiments"
RECORDINGS = sorted(DATA.glob("*.jsonl"))
#: Two sites with two hosts each; a host has 200 % of CPU and 2 GB.
SITES = located_platform({"epcc": 2, "hp": 2})
DELAYS = {"locations": {"epcc": {"creation_delay": 10}, "hp": {"creation_delay": 10, "address_delay": 300}}}


def compute(name: str, *needed: str, **members: Any) -> dict[str, Any]:
    """A compute at epcc that needs the addresses of others."""
    contexts = [{f"{one}_ip": [one, "wan"]} for one in needed]
    return {"compute": {"name": name, "locations": ["epcc"], "contexts": contexts, **members}}


def document(*resources: dict[str, Any], **members: Any) -> dict[str, Any]:
    """An experiment of two hours."""
    return {"name": "e", "duration": 120, "resources": list(resources), **members}


def states(one: ManagedExperiment) -> list[tuple[float, str]]:
    """When it entered which state."""
    return [(time, state.value) for time, state in one.history]


def nothing_left(simulated: ExperimentSimulation) -> None:
    """No lease, no resource, no experiment at the resource manager."""
    algorithm = simulated.algorithm(ExperimentsScheduler)
    assert not algorithm.scheduler.leases
    assert not [one for experiment in simulated.experiments for one in experiment.held]
    assert not algorithm.orchestrator.leaks
    assert not algorithm.orchestrator.busy


@pytest.mark.parametrize("peer", PROMPT)
def test_an_experiment_is_deployed_and_ends(peer: str, tmp_path: Path) -> None:
    """MA-28, MA-31 and MA-53 to the second, on every kind of Batsim."""
    resources = [compute("A", locations=["hp"]), compute("B"), compute("C", "A")]
    simulated = ExperimentSimulation(tmp_path, document(*resources), SITES, SETTINGS[peer], testbed=DELAYS)
    (one,) = simulated.experiments
    assert states(one)[2:] == [(0, "DEPLOYING"), (320, "DEPLOYED"), (7520, "ENDED")]
    found = {
        row["resource"]: (row["requested"], row["created"], row["hosts"])
        for row in simulated.tables["experiment_resources"]
    }
    assert found == {"A": (0, 10, "2"), "B": (0, 10, "0"), "C": (310, 320, "1")}
    assert one.resources["C"].contexts == {"A_ip": "10.0.0.1"}
    leases = [(row["type"], row["state"], row["end_time"]) for row in simulated.tables["leases"]]
    assert leases == [("IM", "Done", 7520)] * 3
    nothing_left(simulated)


@pytest.mark.parametrize("peer", ["latency", "v5 latency"])
def test_messages_that_take_time_cost_that_time(peer: str, tmp_path: Path) -> None:
    """They cost nothing else."""
    resources = [compute("A", locations=["hp"]), compute("C", "A")]
    simulated = ExperimentSimulation(tmp_path, document(*resources), SITES, SETTINGS[peer], testbed=DELAYS)
    (one,) = simulated.experiments
    assert [state for _, state in states(one)][-2:] == ["DEPLOYED", "ENDED"]
    assert [time for time, _ in states(one)][-2:] == pytest.approx([320, 7520], rel=0, abs=0.01)
    nothing_left(simulated)


def test_a_start_is_a_reservation(tmp_path: Path) -> None:
    """MA-8 and MA-32: all machines in one lease, which jobs give way to."""
    long = Job.create("1", size=4, walltime=5000, profile="d")
    jobs = Workload("w", 4, (long,), {"d": parse_profile("d", delay(4000))})
    simulated = ExperimentSimulation(
        tmp_path,
        document(compute("a", min=2, locations=["epcc", "hp"]), start=3600),
        SITES,
        SETTINGS["booked"],
        testbed=DELAYS,
        workload=jobs,
        reservations="on",
        policy_preemption="ar-preempts-everything",
        suspension="all",
    )
    (one,) = simulated.experiments
    assert states(one)[2:] == [(0, "RESERVED"), (3600, "DEPLOYING"), (3610, "DEPLOYED"), (10800, "ENDED")]
    assert [row["reserved"] for row in simulated.tables["experiment_resources"]] == [
        "/reservations/1/1",
        "/reservations/1/2",
    ]
    nothing_left(simulated)


def test_the_earliest_start_is_reserved(tmp_path: Path) -> None:
    """MA-36: hosts are free at 500."""
    first = Job.create("1", size=4, walltime=500, profile="d", extra={"lease": {"start": 0}})
    jobs = Workload("w", 4, (first,), {"d": parse_profile("d", delay(500))})
    content = {"experiments": [{"time": 10, "descriptor": document(compute("a"))}]}
    simulated = ExperimentSimulation(
        tmp_path, content, SITES, SETTINGS["booked"], workload=jobs, reservations="on", suspension="none"
    )
    (one,) = simulated.experiments
    assert states(one)[2:] == [(10, "RESERVED"), (500, "DEPLOYING"), (500, "DEPLOYED"), (7700, "ENDED")]


@pytest.mark.parametrize(("best_effort", "outcome"), [(False, "FAILED"), (True, "ENDED")])
def test_what_fits_is_reserved(best_effort: bool, outcome: str, tmp_path: Path) -> None:
    """MA-38: five large instances on hosts of which each takes one, at two hosts of epcc."""
    wanted = compute("c", min=3, instanceType="medium")
    simulated = ExperimentSimulation(
        tmp_path, document(wanted, start=100, best_effort_allocation=best_effort), SITES, reservations="on"
    )
    (one,) = simulated.experiments
    assert one.state.value == outcome
    if best_effort:
        assert [row["state"] for row in simulated.tables["experiment_resources"]] == ["removed", "removed", "left out"]
        assert "c-3 has no place in the reservation" in " ".join(message.text for message in one.log.messages)
    else:
        assert "it would not fit on the empty site" in one.failure
    nothing_left(simulated)


def test_what_fits_beside_others_is_reserved(tmp_path: Path) -> None:
    """M30: a machine of another experiment is there at that time; jobs would give way, but not that."""
    long = Job.create("1", size=4, walltime=500, profile="d")
    jobs = Workload("w", 4, (long,), {"d": parse_profile("d", delay(400))})
    first = document(compute("a", instanceType="medium"), start=100)
    second = document(compute("c", min=3, instanceType="medium"), start=200, best_effort_allocation=True)
    simulated = ExperimentSimulation(
        tmp_path,
        {"experiments": [{"descriptor": first}, {"descriptor": second}]},
        SITES,
        SETTINGS["booked"],
        workload=jobs,
        reservations="on",
        policy_preemption="ar-preempts-everything",
        suspension="all",
    )
    assert [row["state"] for row in simulated.tables["experiment_resources"]] == ["removed"] * 2 + ["left out"] * 2
    leases = sorted((row["type"], row["state"]) for row in simulated.tables["leases"])
    assert leases == [("AR", "Done"), ("AR", "Done"), ("BE", "Done"), ("IM", "Rejected"), ("IM", "Rejected")]
    nothing_left(simulated)


def test_machines_share_hosts_and_wait_for_them(tmp_path: Path) -> None:
    """M23: two small machines fit on a host; the fifth at epcc is refused, or waits for one of an experiment before."""
    many = [
        {"time": float(number), "descriptor": document(compute("c", min=4 if number == 0 else 1))} for number in (0, 1)
    ]
    hosts = dict.fromkeys(range(2), "epcc")
    refused = ExperimentSimulation(tmp_path, {"experiments": many}, SITES)
    assert [one.state.value for one in refused.experiments] == ["ENDED", "FAILED"]
    assert "it cannot start at once" in refused.experiments[1].failure
    assert {row["hosts"] for row in refused.tables["experiment_resources"]} == {*map(str, hosts), None}
    waited = ExperimentSimulation(tmp_path, {"experiments": many}, SITES, no_capacity="wait")
    assert [one.deployed for one in waited.experiments] == [0, 7200]
    impatient = ExperimentSimulation(tmp_path, {"experiments": many}, SITES, no_capacity="wait", capacity_wait=60)
    assert impatient.experiments[1].failure == "c: no host within 60 s"
    assert states(impatient.experiments[1])[-1] == (61, "FAILED")
    for simulated in (refused, waited, impatient):
        nothing_left(simulated)


def test_machines_that_wait_for_each_other_fail(tmp_path: Path) -> None:
    """M23: three machines never have two hosts; of two that hold what the other needs, the later one ends.

    The one before then finds the hosts that it waits for.
    """
    whole = {"instanceType": "medium", "locations": ["epcc"]}
    large = ExperimentSimulation(tmp_path, document(compute("c", min=3, **whole)), SITES, no_capacity="wait")
    assert large.experiments[0].failure == "its machines wait for hosts that will never be free"
    first, second = (document(compute("a", **whole), compute("b", "a", **whole)) for _ in range(2))
    for setting in ("v4", "static"):
        both = ExperimentSimulation(
            tmp_path,
            {"experiments": [{"descriptor": first}, {"time": 5, "descriptor": second}]},
            SITES,
            SETTINGS[setting],
            testbed={"locations": {"epcc": {"creation_delay": 10}, "hp": {}}},
            no_capacity="wait",
        )
        assert [states(one)[-1] for one in both.experiments] == [(7225, "ENDED"), (15, "FAILED")]
        nothing_left(both)


def test_machines_beside_a_reservation_do_not_hold_up_the_next(tmp_path: Path) -> None:
    """M30: those without a place are gone at the end of it, do not wait, and let others reserve what is free then."""
    first = document(compute("c", min=3, instanceType="medium"), best_effort_allocation=True, duration=1)
    second = {"time": 10, "descriptor": document(compute("d", min=2, instanceType="medium"), duration=1)}
    files = {"experiments": [{"descriptor": first}, second]}
    simulated = ExperimentSimulation(tmp_path, files, SITES, reservations="on", no_capacity="wait")
    rows = [(row["resource"], row["state"]) for row in simulated.tables["experiment_resources"]]
    assert rows == [(name, "removed") for name in ("c-1", "c-2")] + [("c-3", "left out")] + [
        (name, "removed") for name in ("d-1", "d-2")
    ]
    assert [states(one)[-3:] for one in simulated.experiments] == [
        [(0, "DEPLOYING"), (0, "DEPLOYED"), (60, "ENDED")],
        [(60, "DEPLOYING"), (60, "DEPLOYED"), (120, "ENDED")],
    ]
    nothing_left(simulated)


def test_constraints_choose_hosts(tmp_path: Path) -> None:
    """MA-43: the location is chosen when the machine is, and logged; no host that suits is an error."""
    chosen = {"compute": {"name": "a", "constraint": '$location == "hp"'}}
    simulated = ExperimentSimulation(tmp_path, document(chosen), SITES)
    assert [(row["location"], row["hosts"]) for row in simulated.tables["experiment_resources"]] == [("hp", "2")]
    assert "a created at hp, address 10.0.0.1" in [one.text for one in simulated.experiments[0].log.messages]
    none = {"compute": {"name": "a", "constraint": "$mem >= 4096"}}
    refused = ExperimentSimulation(tmp_path, document(none), SITES)
    assert refused.experiments[0].failure == "a: no host has constraint '$mem >= 4096'"


def test_a_machine_without_an_address_gives_its_host_back(tmp_path: Path) -> None:
    """The network has one address: the second machine fails, with its experiment, and the next one finds all hosts."""
    lan = {"network": {"name": "lan", "location": "epcc", "address": "10.1.0.0", "size": 1}}
    short = document(lan, compute("c", min=2, instanceType="medium", resources=[{"network": "lan"}]))
    next_one = {"time": 10, "descriptor": document(compute("c", min=2, instanceType="medium"))}
    simulated = ExperimentSimulation(tmp_path, {"experiments": [{"descriptor": short}, next_one]}, SITES)
    assert [one.state.value for one in simulated.experiments] == ["FAILED", "ENDED"]
    assert simulated.experiments[0].failure == "c-2: network lan has no address left"
    nothing_left(simulated)


def test_a_host_that_fails_takes_its_experiment(tmp_path: Path) -> None:
    """All is released, also what runs elsewhere."""
    entries = [{"at": 10, "run": "load", "takes": 1000}]
    resources = [compute("a", timeline=entries), compute("b", locations=["hp"], timeline=entries)]
    failure = happens(500, "event_machine_unavailable", [0])
    simulated = ExperimentSimulation(tmp_path, document(*resources), SITES, events=[failure])
    (one,) = simulated.experiments
    assert states(one)[-1] == (500, "FAILED")
    assert one.failure == "a was lost: its host has failed"
    assert {job.job.id.partition(":")[2].partition("@")[0]: (job.state, job.finish) for job in simulated.jobs} == {
        "a:load": ("COMPLETED_KILLED", 500),
        "b:load": ("COMPLETED_KILLED", 500),
    }
    nothing_left(simulated)


def test_an_entry_that_ends_as_its_host_fails_is_done(tmp_path: Path) -> None:
    """The end of its job, and the loss of its VM, come in the same message; so is the deletion of the experiment."""
    content = document(compute("a", timeline=[{"at": -10, "run": "install", "takes": 5}]), compute("b"))
    for happening in (happens(5, "event_machine_unavailable", [0]), happens(5, "delete_experiment", experiment="1")):
        events = [happens(0, "submit_experiment", descriptor=content), happening]
        simulated = ExperimentSimulation(tmp_path, None, SITES, events=events)
        run = simulated.algorithm(ExperimentsScheduler).timelines.run_of("1")
        assert run is not None
        assert [job.state for job in simulated.jobs if "install" in job.job.id] == ["COMPLETED_SUCCESSFULLY"]
        assert (run.vms["a"].records["install"].outcome, run.vms["a"].state.value) == ("done", "failed")
        nothing_left(simulated)


def test_a_timeline_that_fails_fails_its_experiment(tmp_path: Path) -> None:
    """M39: on_failed=abort."""
    entries = [{"at": -10, "run": "install", "takes": 30, "exit": 1}]
    content = document(compute("a", timeline=entries), compute("b"))
    simulated = ExperimentSimulation(tmp_path, content, SITES, on_failed="abort", on_exit="fail")
    (one,) = simulated.experiments
    assert states(one)[-2:] == [(0, "DEPLOYED"), (30, "FAILED")]
    assert one.failure == "timelines: a failed: install exited with 1"
    nothing_left(simulated)


@pytest.mark.parametrize("peer", ["v4", "v5"])
def test_events_hand_in_resume_and_delete(peer: str, tmp_path: Path) -> None:
    """Descriptors of both forms; a break is resumed; an experiment is deleted; what is wrong is told."""
    held = document(compute("a", timeline=[{"at": 10, "break": True}, {"at": 20, "run": "r", "takes": 5}]))
    events = [
        happens(100, "submit_experiment", descriptor=held, owner="alice"),
        happens(110, "submit_experiment", descriptor=(DATA / "located.ovf").read_text()),
        happens(120, "submit_experiment", descriptor={"name": "x"}),
        happens(130, "submit_experiment", descriptor=7),
        happens(300, "resume", experiment="1", vms=["a"]),
        happens(400, "resume", experiment="1", vms=["b"]),
        happens(500, "delete_experiment", experiment="2"),
        happens(600, "delete_experiment", experiment="2"),
        happens(700, "delete_experiment", experiment=9),
    ]
    simulated = ExperimentSimulation(tmp_path, None, SITES, SETTINGS[peer], events=events)
    first, second = simulated.experiments
    assert (first.owner, first.accepted, second.accepted) == ("alice", 100, 110)
    assert states(second)[-1] == (500, "DELETED")
    run = simulated.algorithm(ExperimentsScheduler).timelines.run_of("1")
    assert run is not None
    assert run.start == 160
    assert run.vms["a"].records["r"].time == 150
    assert simulated.warnings == [
        "t=120: submit_experiment: duration: is missing (and 1 other error); it is ignored",
        "t=130: submit_experiment: descriptor: must be an object, or a text, not 7; it is ignored",
        "t=400: resume: VM 'b': unknown; there are: a",
        "t=600: delete_experiment: there is no experiment 2",
        "t=700: delete_experiment: there is no experiment 9",
    ]
    nothing_left(simulated)


def test_metrics_are_sampled(tmp_path: Path) -> None:
    """M38: each rate seconds from the creation on, with the entries that ran then."""
    metrics = [{"name": "load", "command": "uptime", "rate": 1800}]
    timeline = [{"at": 1000, "run": "r", "takes": 1000}]
    simulated = ExperimentSimulation(tmp_path, document(compute("a", metrics=metrics, timeline=timeline)), SITES)
    assert [(row["time"], row["busy"]) for row in simulated.tables["experiment_metrics"]] == [
        (0, 0),
        (1800, 1),
        (3600, 0),
        (5400, 0),
    ]


def test_files_are_checked_before_the_run(tmp_path: Path) -> None:
    """One line with the file, the field and the rule."""
    with pytest.raises(
        OptionError, match=r"experiments\[0\]\.descriptor: resources\[0\]\.compute\.locations\[0\]: nowhere: unknown"
    ):
        ExperimentSimulation(
            tmp_path, {"experiments": [{"descriptor": document(compute("a", locations=["nowhere"]))}]}, SITES
        )
    with pytest.raises(OptionError, match="start: needs reservations, which are off here"):
        ExperimentSimulation(tmp_path, document(compute("a"), start=10), SITES)
    with pytest.raises(WorkloadError, match=r"experiments\[0\]\.time"):
        ExperimentSimulation(tmp_path, {"experiments": [{"time": -1, "descriptor": {}}]}, SITES)
    with pytest.raises(ConfigurationError, match="address_delay: must be a number of seconds from 0, not 'x'"):
        ExperimentSimulation(tmp_path, None, SITES, testbed={"locations": {"epcc": {"address_delay": "x"}}})
    kind = document(compute("a", timeline=[{"at": 1, "run": "r", "kind": "evil.py:Kind"}]))
    with pytest.raises(OptionError, match=r"kind 'evil\.py:Kind': unknown"):
        ExperimentSimulation(tmp_path, kind, SITES)


def test_a_persistent_storage_is_offered_to_later_experiments(tmp_path: Path) -> None:
    """MA-24: where the catalogue is known, `@data` is in it from then on, and was not before."""
    storage = {"storage": {"name": "data", "location": "epcc", "size": 1, "persistent": True}}
    uses = document(compute("a", resources=[{"storage": "@data"}]), duration=1)
    events = [
        happens(10, "submit_experiment", descriptor=uses),
        happens(20, "submit_experiment", descriptor=document(storage, duration=1)),
        happens(500, "submit_experiment", descriptor=uses),
    ]
    testbed: dict[str, Any] = {"locations": {"epcc": {"storages": []}}}
    simulated = ExperimentSimulation(tmp_path, None, SITES, events=events, testbed=testbed)
    assert [states(one)[-1] for one in simulated.experiments] == [(80, "ENDED"), (560, "ENDED")]
    assert simulated.tables["experiment_resources"][0]["state"] == "kept"
    assert ["@data: there is no such storage at epcc" in one for one in simulated.warnings] == [True]


def test_a_file_may_refer_to_what_it_leaves(tmp_path: Path) -> None:
    """MA-24: a descriptor of a file is no error for a storage that one before it keeps; one that keeps none is."""
    keeps = document({"storage": {"name": "data", "location": "epcc", "size": 1, "persistent": True}}, duration=1)
    uses = {"time": 500, "descriptor": document(compute("a", resources=[{"storage": "@data"}]), duration=1)}
    testbed: dict[str, Any] = {"locations": {"epcc": {"storages": []}}}
    files = {"experiments": [uses, {"descriptor": keeps}]}
    simulated = ExperimentSimulation(tmp_path, files, SITES, testbed=testbed)
    assert [states(one)[-1] for one in simulated.experiments] == [(60, "ENDED"), (560, "ENDED")]
    keeps["resources"][0]["storage"]["persistent"] = False
    with pytest.raises(OptionError, match="@data: there is no such storage at epcc"):
        ExperimentSimulation(tmp_path, files, SITES, testbed=testbed)


def test_phases_of_resources_are_drawn(tmp_path: Path) -> None:
    """In reports and charts: a row for each resource, with what it waited for."""
    platform = str(ROOT / "platforms" / "cluster32.xml")
    given = ["-p", platform, "-w", str(ROOT / "workloads" / "first.json"), "-e", str(tmp_path / "out"), "--quiet"]
    files = ["-o", f"file={DATA / 'whole.json'}", "-o", f"testbed={DATA / 'testbed.json'}", "-o", "reservations=on"]
    assert command(["simulate", *given, "-s", "experiments", *files, "--enable-dynamic-jobs"]) == 0
    chart = read_schedule(tmp_path / "out").timelines
    assert chart is not None
    assert (chart.experiments, chart.start, list(chart.vms)[:3]) == (2, None, ["1/data", "1/lan", "1/Server"])
    mine = [(bar.kind, bar.name, bar.begin, bar.end) for bar in chart.bars if bar.vm == "1/Client-1"]
    assert mine[:4] == [
        ("creation", "created, after lan Server", 3635, 3645),
        ("address", "waits for its address", 3645, 3665),
        ("there", "there", 3665, 10800),
        ("barrier", "waits for the others", 3665, 3795),
    ]
    assert command(["report", str(tmp_path / "out"), "-o", str(tmp_path / "out.html")]) == 0
    page = (tmp_path / "out.html").read_text()
    assert "9 resources, 2 experiments" in page
    assert [(need.needs, need.time) for need in chart.needs if need.name == "1/Client-1"] == [
        ("1/lan", 3635),
        ("1/Server", 3635),
    ]
    assert "1/Client-1 is asked for after 1/Server: 01:00:35" in page


def test_a_reservation_of_ones_own(tmp_path: Path) -> None:
    """M15, M19, M27: by its id, each instance a machine; it is never deleted; another's, and an unknown one fail."""
    machines = [compute("Server"), compute("Client", min=2)]
    lab = {"name": "lab", "duration": 120, "start": 3600, "resources": machines}
    mine = {"name": "mine", "duration": 120, "resources": machines, "reservation": "lab"}
    files = {
        "experiments": [
            {"time": 0, "owner": "ann", "descriptor": lab, "reserve": "lab"},
            {"time": 10, "owner": "ann", "descriptor": mine},
            {"time": 20, "owner": "bob", "descriptor": {**mine, "name": "other"}},
            {"time": 30, "owner": "ann", "descriptor": {**mine, "name": "unknown", "reservation": "labs"}},
            {"time": 40, "owner": "ann", "descriptor": lab, "reserve": "lab"},
        ]
    }
    simulated = ExperimentSimulation(tmp_path, files, SITES, reservations="on")
    one, other, unknown = simulated.experiments
    assert states(one)[2:] == [(10, "RESERVED"), (3600, "DEPLOYING"), (3600, "DEPLOYED"), (10800, "ENDED")]
    rows = {row["resource"]: row for row in simulated.tables["experiment_resources"] if row["experiment"] == "1"}
    assert [rows[name]["reserved"] for name in ("Server", "Client-1", "Client-2")] == ["lab/1", "lab/2", "lab/3"]
    assert "it belongs to another owner" in other.failure
    assert "there is no reservation with this id" in unknown.failure
    (told,) = simulated.warnings
    assert told.endswith("experiments[4].descriptor: there is a reservation lab already; it is ignored")
    nothing_left(simulated)


def test_a_reservation_of_ones_own_is_taken_back(tmp_path: Path) -> None:
    """By an event; who is deployed in it loses its machines (MA-27)."""
    lab = {"name": "lab", "duration": 120, "resources": [compute("Server")]}
    events = [
        happens(0, "submit_experiment", owner="ann", reserve="lab", descriptor=lab),
        happens(10, "submit_experiment", owner="ann", descriptor={**lab, "name": "mine", "reservation": "lab"}),
        happens(100, "delete_reservation", reservation="lab"),
        happens(110, "delete_reservation", reservation="lab"),
        happens(120, "delete_reservation", reservation="labs"),
        happens(130, "submit_experiment", reserve="/reservations/1", descriptor=lab),
    ]
    simulated = ExperimentSimulation(tmp_path, None, SITES, events=events, reservations="on")
    (one,) = simulated.experiments
    assert states(one)[-2:] == [(10, "DEPLOYED"), (100, "FAILED")]
    assert simulated.warnings == [
        "t=110: delete_reservation: reservation lab has ended",
        "t=120: delete_reservation: there is no reservation labs of a user",
        "t=130: submit_experiment: reserve: must not begin with /: such ids are assigned; it is ignored",
    ]
    nothing_left(simulated)


@pytest.mark.parametrize(
    ("resources", "options", "rule"),
    [
        ([compute("Server")], {}, "reserve needs reservations=on"),
        ([{"network": {"name": "lan", "location": "epcc"}}], {"reservations": "on"}, "there is no compute to reserve"),
    ],
)
def test_what_cannot_be_reserved(tmp_path: Path, resources: list[Any], options: Mapping[str, Any], rule: str) -> None:
    """It is told before the run."""
    lab = {"descriptor": {"name": "lab", "duration": 120, "resources": resources}, "reserve": "lab"}
    with pytest.raises(OptionError, match=rule):
        ExperimentSimulation(tmp_path, {"experiments": [lab]}, SITES, **options)


#: The options of recorded conversations: the files stand beside them.
OPTIONS: Mapping[str, Any] = {"reservations": "on"}


def recorded(dialect: str, folder: Path) -> ExperimentSimulation:
    """Three computes with timelines, a storage and a network, reserved an hour ahead; one that is rolled back."""
    whole = json.loads((DATA / "whole.json").read_text())
    testbed = json.loads((DATA / "testbed.json").read_text())
    return ExperimentSimulation(folder, whole, SITES, SETTINGS[dialect], testbed=testbed, **OPTIONS)


@pytest.mark.parametrize("dialect", ["v4", "v1.4", "v5"])
def test_a_whole_experiment(dialect: str, tmp_path: Path) -> None:
    """From the reservation to the end, beside one whose creation fails and is rolled back."""
    simulated = recorded(dialect, tmp_path)
    first, second = simulated.experiments
    assert states(first) == [
        (0, "READY"),
        (0, "DEPLOYABLE"),
        (0, "RESERVED"),
        (3600, "DEPLOYING"),
        (3645, "DEPLOYED"),
        (10800, "ENDED"),
    ]
    assert states(second)[-1] == (75, "FAILED")
    assert second.failure == "second: network tiny has no address left"
    rows = {(row["experiment"], row["resource"]): row for row in simulated.tables["experiment_resources"]}
    assert [rows["2", name]["state"] for name in ("tiny", "first", "second", "never")] == [
        "removed",
        "removed",
        "failed",
        "left out",
    ]
    started = [(row["vm"], row["entry"], row["begin"]) for row in simulated.tables["timeline"]]
    assert ("1/Client-2", "join 192.168.0.1", 3645) in started
    assert len(simulated.jobs) == 6
    nothing_left(simulated)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recorded_conversation_has_the_same_bytes(path: Path, tmp_path: Path) -> None:
    """These are the messages of the simulator in Batsim's place, and the replies."""
    simulated = recorded(path.stem.rpartition("-")[2], tmp_path)
    assert simulated.exchanges == recording(path)


def test_both_dialects_are_recorded() -> None:
    """The test above has something to compare."""
    assert [path.stem for path in RECORDINGS] == ["whole-v1.4", "whole-v4"]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recorded_conversation_is_replayed_alone(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The user names the files: what a recording names is not opened."""
    files = ["-o", f"file={DATA / 'whole.json'}", "-o", f"testbed={DATA / 'testbed.json'}"]
    assert command(["replay", str(path), *files]) == 0
    assert "exchanges" in capsys.readouterr().out
    assert command(["replay", str(path)]) != 0
    assert "is set by the user alone" in capsys.readouterr().err
