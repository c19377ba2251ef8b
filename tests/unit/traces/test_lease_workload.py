"""Requests as Batsim's workload, and sites as its platforms; and back."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.model.job import Job
from batsched_py.model.lease_terms import DiskImage, NodeSet
from batsched_py.model.profile import Delay
from batsched_py.model.workload import Workload
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.batsim_json_writer import write_workload
from batsched_py.traces.lease_changes import LeaseChanges
from batsched_py.traces.lease_request import WHOLE_HOST, LeaseRequest, LeaseSite, read_site, uniform_site
from batsched_py.traces.lease_workload import lease_inputs, lease_workload, site_platform
from batsched_py.traces.platform_writer import write_flat_platform
from batsched_py.traces.simgrid_xml import read_platform
from batsched_py.traces.workload_leases import workload_requests
from tests.unit.traces.lwf_files import REQUESTS, SITES, request


def test_job() -> None:
    """The walltime is what was asked for, the delay what is real."""
    one = request(60, 3600, 2, start=1800, preemptible=False, real=600, image=DiskImage("a.img", 640))
    (job,) = lease_workload("trace", [one], 4).jobs
    assert job.members == {
        "id": "1", "subtime": 60, "res": 2, "walltime": 3600, "profile": "delay_600",
        "lease": {
            "start": 1800, "preemptible": False, "capacity": {"cpu": 100, "memory": 1024},
            "software": {"image": "a.img", "size": 640},
        },
    }  # fmt: skip


def test_several_sets_and_instances() -> None:
    """Sets are counted, instances are lists, other types keep their names."""
    sets = (NodeSet(2, {"CPU": (100, 50), "Memory": 512}), NodeSet(1, {"CPU": 50, "Memory": 1, "Ponies": 3}))
    one = request(deadline=9000)._replace(nodes=sets)
    (job,) = lease_workload("trace", [one]).jobs
    assert job.size == 3
    assert job.members["lease"] == {
        "preemptible": True, "deadline": 9000,
        "capacity": [{"count": 2, "cpu": [100, 50], "memory": 512}, {"count": 1, "cpu": 50, "memory": 1, "Ponies": 3}],
    }  # fmt: skip


def test_numbers_are_those_of_the_file() -> None:
    """The order of submission does not matter; they are padded, so Batsim submits equals in their order."""
    workload = lease_workload("trace", [request(9), *(request() for _ in range(9))])
    assert [job.id for job in workload.jobs] == [f"{number:02d}" for number in (*range(2, 11), 1)]


def test_inputs_of_a_run() -> None:
    """Nothing is written."""
    workload, platform = lease_inputs("trace", [request()], uniform_site(2), LeaseChanges(memory=512))
    assert (workload.host_count, len(platform.compute_hosts())) == (2, 2)
    assert workload.jobs[0].members["lease"]["capacity"] == {"cpu": 100, "memory": 512}


@given(requests=st.lists(REQUESTS, max_size=5))
def test_requests_are_read_back_from_the_workload(requests: list[LeaseRequest]) -> None:
    """Through the file, too; a deadline lease without a start may start when it is submitted."""
    requests = sorted(requests, key=lambda one: one.arrival)
    expected = [
        one._replace(
            real=None if one.real == one.duration else one.real,
            start=one.arrival if one.deadline is not None and one.start is None else one.start,
        )
        for one in requests
    ]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "w.json"
        write_workload(path, lease_workload("trace", requests))
        assert list(workload_requests(read_workload(path))) == expected


def job_of(walltime: float | None = 9, size: int = 1, **lease: object) -> Workload:
    """A workload of one job with this lease, or none."""
    extra = {"lease": lease} if lease else {}
    job = Job.create("7", size=size, profile="p", walltime=walltime, submit_time=3, extra=extra)
    return Workload("w.json", 4, (job,), {"p": Delay("p", "delay", {"type": "delay", "delay": 5}, 5)})


def test_requests_of_other_jobs() -> None:
    """A job without a lease asks for one CPU and 1 GB on each host; without a walltime it asks for its delay."""
    nodes = (NodeSet(2, WHOLE_HOST),)
    assert workload_requests(job_of(size=2)) == (LeaseRequest(3, 9, nodes, real=5),)
    assert workload_requests(job_of(None, 2)) == (LeaseRequest(3, 5, nodes),)


@pytest.mark.parametrize(
    ("workload", "message"),
    [
        (job_of(start="soon"), "w.json: job 7.lease.start: must be null"),
        (job_of(group="a"), "w.json: job 7.lease.group: cannot be written to a lease trace"),
        (job_of(capacity={"cpu": 1}), "w.json: job 7.lease.capacity: must have Memory in a lease trace"),
        (job_of(capacity={"cpu": 1, "memory": 1, "a b": 1}), "job 7.lease.capacity: must be a type of letters"),
        (job_of(size=0), "w.json: job 7.res: must be 1 or more for a lease"),
    ],
)
def test_jobs_that_are_no_requests(workload: Workload, message: str) -> None:
    """One line names the file, the job and the term."""
    with pytest.raises(WorkloadError, match=r"w\.json: job 7") as caught:
        workload_requests(workload)
    assert message in str(caught.value)


def test_all_wrong_terms_of_a_job_are_reported() -> None:
    """Not the first alone."""
    with pytest.raises(WorkloadError) as caught:
        workload_requests(job_of(start="soon", duration=-1))
    assert [fault.path for fault in caught.value.faults] == ["job 7.lease.start", "job 7.lease.duration"]


@given(site=SITES)
def test_platform_is_read_as_it_was_written(site: LeaseSite) -> None:
    """The file says what the platform in memory says, in the site's order."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "p.xml"
        platform = site_platform(str(path), site)
        write_flat_platform(path, platform)
        found = read_platform(path)
    assert [(host.name, dict(host.properties)) for host in found.hosts] == [
        (host.name, dict(host.properties)) for host in platform.hosts
    ]
    assert replace(found, zones={}) == replace(platform, zones={})
    ends = platform.compute_hosts()[0].name, "master_host"
    assert found.route(*ends) == platform.route(*ends)


def test_hosts_with_types_of_their_own() -> None:
    """HA-56: only some hosts have Ponies, and those come first."""
    ponies = {**WHOLE_HOST, "Ponies": 4}
    site = LeaseSite(("CPU", "Memory", "Ponies"), (NodeSet(4, ponies), NodeSet(4, WHOLE_HOST)))
    hosts = site_platform("p", site).compute_hosts()
    assert [host.properties.get("capacity") for host in hosts] == ["Ponies:4"] * 4 + [None] * 4


def test_hosts_have_plenty_of_what_is_asked_for() -> None:
    """H8: a million of Disk, Net-in and Net-out, unless the site names them."""
    disk = request()._replace(nodes=(NodeSet(1, {**WHOLE_HOST, "Disk": 5, "Net-in": 1}),))
    site = read_site("1 CPU:100 Memory:1024 Disk:7", 9)
    (host,) = site_platform("p", site, [disk]).compute_hosts()
    assert host.properties == {"cpu": "100", "mem": "1024", "capacity": "Disk:7 Net-in:1000000"}
    assert "capacity" not in site_platform("p", uniform_site(1), [request()]).compute_hosts()[0].properties
