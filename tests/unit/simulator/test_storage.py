"""Storage hosts: reading from them, writing to them, moving data between them, and io jobs merged with a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import PlatformError, RefusedError
from batsched_py.model.platform import Platform
from batsched_py.model.settings import Settings
from batsched_py.results.result_files import schedule_columns
from batsched_py.simulator.jobs.profiles import DYNAMIC_COMPOSED
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.simgrid_xml import read_platform
from tests.unit.simulator.scenario import DELAYS, Fcfs, Profiles, execute, job, kill, play, workload

#: Compute hosts 0 and 1, storage hosts 2 (fast) and 3 (slow); each has a link of its own, h1's is slow.
XML = """<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
  <host id="master_host" speed="1Gf"/><host id="h0" speed="1Gf"/><host id="h1" speed="1Gf"/>
  <host id="s0" speed="0f"><prop id="role" value="storage"/></host>
  <host id="s1" speed="1Gf"><prop id="role" value="{role}"/></host>
  <link id="l0" bandwidth="10MBps" latency="1ms"/><link id="l1" bandwidth="5MBps" latency="2ms"/>
  <link id="ls" bandwidth="2MBps" latency="4ms"/>
  <route src="h0" dst="s0"><link_ctn id="l0"/></route><route src="h1" dst="s0"><link_ctn id="l1"/></route>
  <route src="h0" dst="s1"><link_ctn id="l0"/></route><route src="h1" dst="s1"><link_ctn id="l1"/></route>
  <route src="h0" dst="h1"><link_ctn id="l0"/><link_ctn id="l1"/></route>
  <route src="s0" dst="s1"><link_ctn id="ls"/></route>
</zone></platform>
"""

PROFILES: Profiles = {
    **DELAYS,
    "read": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1e7},
    "both": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1e7, "bytes_to_write": 5e6, "storage": "disk"},
    "host": {"type": "parallel_homogeneous_pfs", "bytes_to_write": 1e7, "host": "disk", "ret": 4},
    "move": {"type": "data_staging", "nb_bytes": 4e6, "from": "pfs", "to": "disk"},
    "cpu": {"type": "parallel", "cpu": [1e9, 1e9], "com": [0] * 4},
    "each": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0},
    "read, wait": {"type": "composed", "seq": ["read", "d5"], "repeat": 2},
    "two": {"type": "composed", "seq": ["cpu", "d5"], "repeat": 2},
    "io of two": {"type": "composed", "seq": ["io1", "io2"]},
    "io1": {"type": "parallel", "cpu": [0, 0], "com": [0, 1e7, 0, 0]},
    "io2": {"type": "parallel", "cpu": [0, 0], "com": [0, 9e9, 0, 0]},
}


@pytest.fixture
def site(tmp_path: Path) -> Platform:
    """Two compute hosts and two storage hosts."""
    return read(tmp_path, "storage")


@pytest.fixture
def one_storage(tmp_path: Path) -> Platform:
    """Three compute hosts, the third of which was the slow storage host, and one storage host, number 3."""
    return read(tmp_path, "compute_node")


def read(folder: Path, role: str) -> Platform:
    path = folder / "platform.xml"
    path.write_text(XML.format(role=role))
    return read_platform(path)


def run(on: Platform, profile: str, hosts: str = "0-1", *, res: int = 2, **extra: Any) -> tuple[float, int]:
    """(seconds, return code) of one job."""
    result, _ = play(
        workload(job("a", profile, at=1, res=res), profiles=PROFILES), {1.0: [execute("a", hosts, **extra)]}, on=on
    )
    assert not result.approximations
    return result.jobs[0].execution, result.jobs[0].return_code


@pytest.mark.parametrize(
    ("profile", "hosts", "storages", "ended"),
    [
        # The slow link of h1 carries 1e7 bytes: 2 s, and the larger latency.
        ("read", "0-1", {"pfs": 2}, (2.002, 0)),
        # Reading and writing share the link: 1.5e7 bytes.
        ("both", "0-1", {"disk": 2, "other": 3}, (3.002, 0)),
        ("host", "0-1", {"disk": 3}, (2.002, 4)),
        # Nothing but the link between the storages counts, wherever the job is.
        ("move", "0-1", {"pfs": 2, "disk": 3}, (2.004, 0)),
        ("move", "2-3", {"pfs": 3, "disk": 2}, (2.004, 0)),
        ("read, wait", "0-1", {"pfs": 2}, (14.004, 0)),
    ],
)
def test_transfers_with_storages(
    site: Platform, profile: str, hosts: str, storages: dict[str, int], ended: tuple[float, int]
) -> None:
    """All transfers of a task advance together, reads and writes share links, the latency comes on top once."""
    assert run(site, profile, hosts, storage_mapping=storages) == pytest.approx(ended, abs=1e-9)


def test_the_only_storage_needs_no_mapping(one_storage: Platform) -> None:
    """As in Batsim: also if the profile names another label."""
    assert run(one_storage, "read")[0] == pytest.approx(2.002)
    assert run(one_storage, "both")[0] == pytest.approx(3.002)


@pytest.mark.parametrize(
    ("profile", "extra", "why"),
    [
        ("read", {}, "needs the storage 'pfs': storage_mapping is missing; the platform has 2 storage hosts"),
        ("move", {"storage_mapping": {"pfs": 2}}, "needs the storage 'disk': storage_mapping gives 'pfs'"),
        ("both", {"storage_mapping": {"pfs": 2}}, "needs the storage 'disk': storage_mapping gives 'pfs'"),
        ("read", {"storage_mapping": {"pfs": 1}}, "host 1 of storage_mapping is not a storage host"),
        ("read", {"storage_mapping": {"pfs": 9}}, "host 9 of storage_mapping is not a storage host"),
        ("read", {"storage_mapping": {"pfs": -1}}, "host -1 of storage_mapping is not a storage host"),
    ],
)
def test_a_storage_that_cannot_be_found_ends_the_run(site: Platform, profile: str, extra: Any, why: str) -> None:
    """In the words of the workload: job, profile, label."""
    with pytest.raises(RefusedError, match=rf"EXECUTE_JOB: job w0!a .*{why}"):
        run(site, profile, **extra)


def test_data_staging_needs_a_mapping_even_of_the_only_storage(one_storage: Platform) -> None:
    """Batsim takes the only storage for reading and writing, not for moving."""
    with pytest.raises(RefusedError, match="needs the storage 'pfs': storage_mapping is missing; the platform has 1"):
        run(one_storage, "move")


def test_storage_hosts_compute_nothing(site: Platform) -> None:
    """A job that computes may not be placed there."""
    with pytest.raises(RefusedError, match="job w0!a on hosts 2 runs cpu, which computes on a storage host"):
        run(site, "cpu", "0 2")


def test_jobs_share_a_storage_host_unless_that_is_disabled(site: Platform) -> None:
    """Two data stagings at once share the link; the option is about hosts on which jobs are placed, as in Batsim."""
    jobs = workload(job("a", "move", at=1, res=2), job("b", "move", at=1, res=2), profiles=PROFILES)
    mapping = {"pfs": 2, "disk": 3}
    script = {1.0: [execute(name, "2-3", storage_mapping=mapping) for name in "ab"]}
    result, peer = play(jobs, dict(script), on=site)
    assert [record.execution for record in result.jobs] == [pytest.approx(4.004), pytest.approx(4.004)]
    assert peer.heard[0]["events"][0]["data"]["allow_storage_sharing"] is True
    with pytest.raises(RefusedError, match=r"w0!b on hosts 2-3 cannot run there: .*, and storage hosts are not shared"):
        play(jobs, dict(script), on=site, settings=Settings(storage_sharing=False))
    _, peer = play(workload(), {}, on=site, settings=Settings(storage_sharing=False))
    assert peer.heard[0]["events"][0]["data"]["allow_storage_sharing"] is False


def test_compute_hosts_are_not_shared_where_storage_hosts_are(site: Platform) -> None:
    """Each kind has its own option."""
    jobs = workload(job("a", at=1), job("b", at=1))
    with pytest.raises(RefusedError, match="w0!b on hosts 0 cannot run there: another job does, and hosts are not"):
        play(jobs, {1.0: [execute("a", "0"), execute("b", "0")]}, on=site)


def test_roles_are_given_by_the_settings(tmp_path: Path) -> None:
    """A host becomes a storage host, or the master; storage hosts are numbered last."""
    settings = Settings(roles={"h0": "storage", "h1": "compute_node"})
    result, peer = play(workload(), {}, on=read(tmp_path, "storage"), settings=settings)
    begins = peer.heard[0]["events"][0]["data"]
    names = [(host["id"], host["name"], host["properties"]["role"]) for host in begins["compute_resources"]]
    assert names == [(0, "h1", "")]
    assert [host["name"] for host in begins["storage_resources"]] == ["h0", "s0", "s1"]
    assert (begins["nb_compute_resources"], begins["nb_storage_resources"], begins["nb_resources"]) == (1, 3, 4)
    assert schedule_columns(result)["nb_computing_machines"] == "4"


@pytest.mark.parametrize(
    ("roles", "why"),
    [
        ({"h9": "storage"}, "host h9: is not in the platform; it was to be storage"),
        ({"h0": "disk"}, "host h0: must be one of master, storage, compute_node, not 'disk'"),
        ({"s0": "compute_node"}, r"host s0\.role: is 'storage' already, and -r makes it 'compute_node'"),
        ({"master_host": "storage", "s1": "master"}, r"host s1\.role: is 'storage' already, and -r makes it"),
        ({"h0": "master"}, "host master_host: is master, and so is h0: there must be one"),
    ],
)
def test_a_role_that_cannot_be_given_is_an_error(site: Platform, roles: dict[str, str], why: str) -> None:
    """Before anything runs."""
    with pytest.raises(PlatformError, match=why):
        Simulation(site, [workload()], Settings(roles=roles))


def io(hosts: str, profile: Any = None, name: str = "io") -> dict[str, Any]:
    """An additional io job."""
    described = {"alloc": hosts, "profile_name": name}
    return {"additional_io_job": described if profile is None else {**described, "profile": profile}}


def parallel(count: int, cpu: float = 0, **transfers: float) -> dict[str, Any]:
    """A parallel profile; `p0_2=5` sends 5 bytes from the first to the third."""
    com = [0.0] * count**2
    for pair, size in transfers.items():
        source, target = map(int, pair[1:].split("_"))
        com[source * count + target] = size
    return {"type": "parallel", "cpu": [cpu] * count, "com": com}


@pytest.mark.parametrize(
    ("profile", "extra", "duration"),
    [
        # 1e9 flops and 2e7 bytes from s0 to h0 (2 s) at once.
        ("cpu", io("0 2", parallel(2, p1_0=2e7)), 2.001),
        # The io computes too, on one of the hosts: 3e9 flops there.
        ("cpu", io("1", parallel(1, cpu=2e9)), 3.0),
        ("cpu", io("0-1", {"type": "parallel_homogeneous", "cpu": 5e8, "com": 0}), 1.5),
        ("each", io("0-1", {"type": "parallel_homogeneous_total", "cpu": 1e9, "com": 1e7}), 2.003),
        # A delay has nothing to merge it with.
        ("d5", io("0-1", parallel(2, p0_1=1e9)), 5.0),
    ],
)
def test_an_additional_io_job_is_merged_with_the_parallel_task(
    site: Platform, profile: str, extra: dict[str, Any], duration: float
) -> None:
    """One task: computation and transfers of both, and the largest latency once."""
    assert run(site, profile, **extra)[0] == pytest.approx(duration, abs=1e-9)


def test_an_io_job_is_merged_step_by_step_with_a_composed_job(site: Platform) -> None:
    """Its i-th profile with the i-th of the job, in each repetition; a delay stays one."""
    jobs = workload(job("a", "two", at=1, res=2), job("b", "io of two", at=1, res=2), profiles=PROFILES)
    script = {1.0: [execute("a", "0-1", **io("0 2", name="io of two")), ("REJECT_JOB", {"job_id": "w0!b"})]}
    result, _ = play(jobs, script, on=site)
    assert result.jobs[1].execution == pytest.approx(2 * (1.001 + 5))
    sent = {"type": "composed", "seq": ["io1", "io2"]}
    result, _ = play(jobs, {1.0: [execute("a", "0-1", **io("0 2", sent)), ("REJECT_JOB", {"job_id": "w0!b"})]}, on=site)
    assert DYNAMIC_COMPOSED in result.approximations


def test_a_composed_io_job_does_not_crash_batsim_1(site: Platform) -> None:
    """Nothing is said of a crash there."""
    jobs = workload(job("a", "two", at=1, res=2), profiles=PROFILES)
    sent = {"type": "composed", "seq": ["cpu", "d5"], "nb": 2}
    old = Settings(protocol="v1.4", workload_names=("w0",))
    result, _ = play(jobs, {1.0: [execute("a", "0-1", **io("0-1", sent))]}, on=site, settings=old)
    assert result.jobs[0].state == "COMPLETED_SUCCESSFULLY"
    assert DYNAMIC_COMPOSED not in result.approximations


@pytest.mark.parametrize(
    ("profile", "extra", "why"),
    [
        ("cpu", io("0-3", parallel(2)), "an additional_io_job on 4 hosts, io is for 2"),
        ("cpu", io("0 7", parallel(2)), "additional_io_job on hosts that do not exist: there are 4"),
        ("cpu", io("", parallel(2)), "additional_io_job on no host"),
        ("cpu", io("0-1"), "additional_io_job that names the profile 'io', which does not exist"),
        ("cpu", io("0-1", parallel(2), "cpu"), "profile w0!cpu exists already"),
        ("cpu", io("0-1", {"type": "parallel", "cpu": []}), "profile w0!io: cpu must have one number"),
        ("cpu", io("0-1", {"type": "smpi"}), "'smpi' is not simulated here"),
        ("cpu", io("0-1", {"type": "delay", "delay": 1}), "additional_io_job of type delay .*cannot be merged"),
        ("cpu", io("2-3", parallel(2, cpu=1)), "on hosts 2 runs cpu, which computes on a storage host"),
        ("cpu", io("0-1", {"type": "composed", "seq": ["cpu"]}), r"additional_io_job that is composed \(io\), and it"),
        ("two", io("0-1", parallel(2)), "composed of 2 profiles: its additional_io_job must be composed of as many"),
        ("two", io("0-1", {"type": "composed", "seq": ["cpu"]}), "composed of 2 profiles: its additional_io_job"),
    ],
)
def test_an_io_job_that_cannot_be_merged_ends_the_run(site: Platform, profile: str, extra: Any, why: str) -> None:
    """Batsim aborts there, or reads beyond the end of its tables."""
    with pytest.raises(RefusedError, match=rf"EXECUTE_JOB: .*{why}"):
        run(site, profile, **extra)


def test_an_io_job_is_not_merged_with_a_transfer_to_a_storage(one_storage: Platform) -> None:
    """Batsim gets the hosts wrong there, so that nothing sensible can be said."""
    with pytest.raises(RefusedError, match="of type parallel_homogeneous_pfs: Batsim mixes up its hosts"):
        run(one_storage, "read", **io("0-1", parallel(2)))


def test_an_io_profile_is_one_of_the_workload_from_then_on(site: Platform) -> None:
    """The next job names it without describing it, and may not describe it again."""
    jobs = workload(job("a", "cpu", at=1, res=2), job("b", "cpu", at=50, res=2), profiles=PROFILES)
    first = execute("a", "0-1", **io("0 2", parallel(2, p1_0=2e7)))
    result, _ = play(jobs, {1.0: [first], 50.0: [execute("b", "0-1", **io("0 2"))]}, on=site)
    assert [record.execution for record in result.jobs] == [pytest.approx(2.001)] * 2
    with pytest.raises(RefusedError, match="profile w0!io exists already"):
        play(jobs, {1.0: [first], 50.0: [execute("b", "0-1", **io("0 2", parallel(2)))]}, on=site)


def test_a_killed_transfer_tells_its_progress(site: Platform) -> None:
    """Like any parallel task: of the two seconds behind a latency of 2 ms, one is over."""
    script = {1.0: [execute("a", "0-1", storage_mapping={"pfs": 2}), (*kill("a"), 2.002)]}
    _, peer = play(workload(job("a", "read", at=1, res=2), profiles=PROFILES), script, on=site)
    assert peer.told("JOB_KILLED")[0][1]["job_progress"] == {"w0!a": {"profile_name": "read", "progress": 0.5}}


def test_hosts_without_an_executor_draw_what_they_draw_idle(tmp_path: Path) -> None:
    """With energy: a mapping may leave a host of the allocation out; storage hosts that say nothing draw nothing."""
    watts = '<prop id="wattage_per_state" value="10:20:100"/></host>'
    text = XML.format(role="storage").replace('"h0" speed="1Gf"/>', f'"h0" speed="1Gf">{watts}')
    path = tmp_path / "platform.xml"
    path.write_text(text.replace('"h1" speed="1Gf"/>', f'"h1" speed="1Gf">{watts}'))
    script = {1.0: [execute("a", "0-1", mapping={"0": "1", "1": "1"})]}
    jobs = workload(job("a", "cpu", at=1, res=2), profiles=PROFILES)
    result, _ = play(jobs, script, on=read_platform(path), settings=Settings(energy=True))
    assert result.jobs[0].execution == 2.0
    assert result.jobs[0].energy == pytest.approx(2 * 10 + 2 * 100)


def test_storage_hosts_are_no_free_hosts(site: Platform) -> None:
    """A scheduler that uses what SIMULATION_BEGINS calls compute resources never touches them."""
    jobs = workload(*(job(str(number), "cpu", res=2) for number in range(3)), profiles=PROFILES)
    result = Simulation(site, [jobs]).run(Fcfs(2), clock=lambda: 0.0)
    assert [str(record.hosts) for record in result.jobs] == ["0-1"] * 3
    assert (result.host_count, result.storage_count) == (2, 2)
