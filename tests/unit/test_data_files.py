"""The files of platforms/ and workloads/: each can be read, and is what its README says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from batsched_py.model.platform import DEFAULT_MASTER
from batsched_py.model.profile import FORMER_TYPES
from batsched_py.model.settings import Settings
from batsched_py.plugins import load
from batsched_py.results.records import JobRecord
from batsched_py.session.session import Session
from batsched_py.simulator.referee.strictness import refused_files
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT, files

PLATFORMS = files("platforms/*.xml")
WORKLOADS = files("workloads/*.json")
#: All hosts on one switch.
FLAT = [path for path in PLATFORMS if path.stem != "rooms16"]
HOSTS = {"tiny4": 4, "energy16": 16, "cluster32": 32, "rooms16": 16}


@pytest.mark.parametrize("path", PLATFORMS, ids=lambda path: path.name)
def test_each_platform_has_its_hosts_in_the_order_of_their_numbers_and_a_master(path: Path) -> None:
    """Padded names keep the order of numbers."""
    platform = read_platform(path)
    hosts = [host.name for host in platform.compute_hosts()]
    assert len(hosts) == HOSTS[path.stem]
    assert path not in FLAT or [int(name[1:]) for name in hosts] == list(range(len(hosts)))
    assert platform.master() is not None


@pytest.mark.parametrize("path", FLAT, ids=lambda path: path.name)
def test_each_platform_has_a_way_between_all_its_hosts(path: Path) -> None:
    """Up the host's own link, over the switch, and down."""
    platform = read_platform(path)
    first, last = platform.compute_hosts()[0].name, platform.compute_hosts()[-1].name
    for ends in ((first, last), (last, first), (first, DEFAULT_MASTER)):
        assert [link.name for link in platform.route(*ends).links] == [
            f"link_{ends[0]}_UP",
            "switch",
            f"link_{ends[1]}_DOWN",
        ]


def test_racks_of_the_rooms_are_joined_as_the_readme_says() -> None:
    """Zone properties say rack and room; the way to another room crosses both rooms' links."""
    platform = read_platform(ROOT / "platforms" / "rooms16.xml")
    hosts = platform.compute_hosts()
    assert [host.zone_properties for host in hosts[::4]] == [
        {"rack": f"{room}{rack}", "room": room} for room in "ab" for rack in "12"
    ]
    assert [link.name for link in platform.route("a2n1", "b2n3").links] == [
        "rack_a2_link_1_UP",
        "room_a_link",
        "between_rooms",
        "room_b_link",
        "rack_b2_link_3_DOWN",
    ]
    assert [link.name for link in platform.route(DEFAULT_MASTER, "a1n0").links] == [
        "to_the_office",
        "rack_a1_link_0_DOWN",
    ]


def test_hosts_of_the_energy_platform_have_a_wattage_for_each_power_state() -> None:
    """They have their true speed; each sleep state names three of them."""
    for host in read_platform(ROOT / "platforms" / "energy16.xml").compute_hosts():
        assert len(host.properties["wattage_per_state"].split(",")) == len(host.speeds)
        assert tuple(map(float, host.properties["speed_per_state"].split(","))) == tuple(host.speeds)
        for triple in host.properties["sleep_pstates"].split(","):
            assert all(int(pstate) < len(host.speeds) for pstate in triple.split(":"))
            assert len(triple.split(":")) == 3


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.name)
def test_each_workload_can_be_read_and_fits_its_machine(path: Path) -> None:
    """No job is larger than `nb_res`; no profile is there for nothing."""
    workload = read_workload(path)
    assert workload.jobs
    assert all(0 < job.size <= workload.host_count for job in workload.jobs)
    used = {job.profile for job in workload.jobs}
    composed = {step for name in used for step in workload.profiles[name].members.get("seq", ())}
    assert used | composed == set(workload.profiles)


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda path: path.name)
@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda path: path.name)
def test_batsim_refuses_nothing_of_them(platform: Path, workload: Path) -> None:
    """By its rules that the simulator does not keep, and in the names of its present version."""
    jobs = read_workload(workload)
    assert [*refused_files(read_platform(platform), [jobs])] == []
    assert not any(profile.type in FORMER_TYPES for profile in jobs.profiles.values())


def test_the_mixed_workload_has_every_type_of_profile_that_is_simulated() -> None:
    """As its README promises."""
    profiles = read_workload(ROOT / "workloads" / "mixed.json").profiles.values()
    assert {profile.type for profile in profiles} == {
        "delay",
        "parallel",
        "parallel_homogeneous",
        "parallel_homogeneous_total",
        "composed",
    }


def test_the_generated_workload_is_what_its_readme_makes(tmp_path: Path) -> None:
    """The code in the README writes the same bytes."""
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "workloads" / "README.md").read_text(), re.DOTALL)
    made = tmp_path / "lublin200.json"
    exec(code.replace('"workloads/lublin200.json"', repr(str(made))))
    assert made.read_bytes() == (ROOT / "workloads" / "lublin200.json").read_bytes()


def simulated(platform: str, workload: str, algorithm: str) -> dict[str, JobRecord]:
    """Run a simulation and return the record of each job by its name."""
    machine, jobs = read_platform(ROOT / "platforms" / platform), read_workload(ROOT / "workloads" / workload)
    result = Simulation(machine, [jobs]).run(Session(load(algorithm)).answer)
    return {record.job.name: record for record in result.jobs}


def test_the_first_workload_shows_what_its_readme_says() -> None:
    """C and G are backfilled, D is not although it could start, B starts at once when A ends early."""
    starts = {
        algorithm: {name: record.start for name, record in simulated("tiny4.xml", "first.json", algorithm).items()}
        for algorithm in ("easy", "fcfs")
    }
    assert starts["easy"] == {"A": 0, "B": 40, "C": 10, "D": 60, "E": 60, "F": 90, "G": 70, "H": 110}
    assert (starts["fcfs"]["C"], starts["fcfs"]["B"]) == (60, 40)


def test_the_reservations_show_what_their_readme_says() -> None:
    """The demonstration starts at its instant, and who was in its way begins again."""
    machine, jobs = (
        read_platform(ROOT / "platforms" / "tiny4.xml"),
        read_workload(ROOT / "workloads" / "reservations.json"),
    )
    result = Simulation(machine, [jobs], Settings(dynamic_jobs=True)).run(Session(load("ar_preempt")).answer)
    starts = {record.job.name: record.start for record in result.jobs if not record.rejected}
    assert starts == {"long": 0, "keep": 0, "fill": 15, "quick": 50, "demo": 60, "wide": 85, "long#1": 85}
    assert {record.job.name for record in result.jobs if record.rejected} == {"clash", "typo", "hasty"}


def test_the_mixed_workload_ends_in_the_ways_its_readme_says() -> None:
    """On 32 hosts the switch takes twice as long as the computation on 16."""
    records = simulated("cluster32.xml", "mixed.json", "easy")
    others = {"m11": "COMPLETED_WALLTIME_REACHED", "m12": "COMPLETED_FAILED", "m14": "REJECTED"}
    assert {name: record.state for name, record in records.items() if not record.success} == others
    assert records["m02"].execution == pytest.approx(60, abs=0.1)
    assert records["m13"].execution == pytest.approx(119, abs=0.1)


@pytest.mark.parametrize("path", [*PLATFORMS, *WORKLOADS], ids=lambda path: path.name)
def test_each_file_has_a_paragraph_in_its_readme(path: Path) -> None:
    """Nobody must guess what a file shows."""
    assert f"**`{path.name}`**" in (path.parent / "README.md").read_text()
