"""Jobs that replay traces, beside the recordings of real Batsim: what these do not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from batsched_py.errors import BatschedError, WorkloadError
from batsched_py.model.settings import Network, Settings
from batsched_py.results.records import JobRecord
from batsched_py.simulator.inputs import REPLAYED_AS_V4, check_inputs
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.simgrid_xml import read_platform
from tests.recorded_run import RecordedRun
from tests.simgrid_cases import Placed, play

SMPI = "{rank} init\n{rank} compute 1e9\n{rank} sendRecv 1000 {other} 1000 {other}\n{rank} finalize\n"
USAGE = "{rank} m_usage 1 1e9\n{rank} m_usage 0 1e9\n"
TRACES = {"smpi": SMPI, "usage_trace": USAGE}


def files(folder: Path, kind: str, *, composed: bool = False, ranks: int = 2, **members: Any) -> tuple[Path, Path]:
    """Write four hosts of two cores, and one job on two of them: platform, workload."""
    for rank in range(ranks):
        (folder / f"r{rank}.txt").write_text(TRACES[kind].format(rank=rank, other=(rank ^ 1) % ranks))
    (folder / "list.txt").write_text("".join(f"r{rank}.txt\n" for rank in range(ranks)))
    profiles: dict[str, Any] = {"p": {"type": kind, "trace": "list.txt", "ret": members.pop("ret", 0)}}
    if composed:
        profiles |= {
            "d": {"type": "delay", "delay": 1},
            "c": {"type": "composed", "seq": ["d", "p", "d"], "repeat": 2},
        }
    job = {"id": "0", "subtime": 0, "res": 2, "profile": "c" if composed else "p", "hosts": "0-1", **members}
    workload, platform = folder / "workload.json", folder / "platform.xml"
    workload.write_bytes(orjson.dumps({"nb_res": 4, "jobs": [job], "profiles": profiles}))
    hosts = "".join(f'<host id="h{number}" speed="1Gf" core="2"/>' for number in range(4))
    link = '<link id="l" bandwidth="1MBps"/>'
    routes = "".join(
        f'<route src="h{a}" dst="h{b}"><link_ctn id="l"/></route>' for a in range(4) for b in range(a + 1, 4)
    )
    zone = f'<zone id="z" routing="Full">{hosts}<host id="master_host" speed="1f"/>{link}{routes}</zone>'
    platform.write_text(f'<platform version="4.1">{zone}</platform>')
    return platform, workload


def record(folder: Path, kind: str, network: Network = "sharing", **members: Any) -> JobRecord:
    """Run the job."""
    platform, workload = files(folder, kind, **members)
    run = RecordedRun(Placed)
    run.run([read_workload(workload)], Settings(network=network), read_platform(platform))
    (job,) = run.jobs
    return job


@pytest.mark.parametrize("network", ["sharing", "alone"])
@pytest.mark.parametrize("kind", TRACES)
def test_a_trace_lasts_as_long_with_and_without_contention(tmp_path: Path, kind: str, network: Network) -> None:
    """Its ranks share links either way: two messages of 1016 bytes on one link, or two steps of a second."""
    seconds = 1.002036 if kind == "smpi" else 2.000004
    assert record(tmp_path, kind, network).execution == pytest.approx(seconds, abs=1e-5)


@pytest.mark.parametrize("kind", TRACES)
@pytest.mark.parametrize(("ret", "state"), [(5, "COMPLETED_FAILED"), (-4, "COMPLETED_WALLTIME_REACHED")])
def test_a_trace_has_a_return_code(tmp_path: Path, kind: str, ret: int, state: str) -> None:
    """As other profiles."""
    assert record(tmp_path, kind, ret=ret).state == state


def test_a_trace_of_usages_is_a_step(tmp_path: Path) -> None:
    """Between two delays, repeated."""
    assert record(tmp_path, "usage_trace", composed=True).execution == pytest.approx(8.0, abs=1e-4)


def test_a_killed_trace_has_no_progress(tmp_path: Path) -> None:
    """Batsim says step -1; inside of a sequence, the step is that of the sequence."""
    platform, workload = files(tmp_path, "usage_trace", composed=True, kill_at=1.5)
    run = RecordedRun(Placed)
    run.run([read_workload(workload)], Settings(network="sharing"), read_platform(platform))
    ((_, _, killed),) = run.told("JOB_KILLED")
    inner = {"profile_name": "p", "current_task_index": -1}
    assert killed["job_progress"] == {"w0!0": {"profile_name": "c", "current_task_index": 1, "current_task": inner}}


@pytest.mark.parametrize(
    ("positions", "rule"),
    [
        ([0], "has hosts for 1 rank in smpi_ranks_to_hosts_mapping, and p has 2"),
        ([0, 2], "must be below 2, the number of hosts, not 2"),
        ([0, -1], "is no list of positions from 0"),
        ("0", "is no list of positions from 0"),
    ],
)
def test_a_mapping_of_ranks_that_does_not_fit_is_refused(tmp_path: Path, positions: Any, rule: str) -> None:
    """Where Batsim reads past the end of a list, or another host."""
    platform, workload = files(tmp_path, "smpi", smpi_ranks_to_hosts_mapping=positions)
    with pytest.raises(BatschedError, match=rule):
        play(platform, [read_workload(workload)], Settings(network="sharing"))


def test_ranks_share_the_cores_of_their_host(tmp_path: Path) -> None:
    """A rank alone uses two cores, then one; two or four of them have the same two."""
    seconds = [
        record(tmp_path, "usage_trace", ranks=ranks, smpi_ranks_to_hosts_mapping=[0] * ranks).execution
        for ranks in (1, 2, 4)
    ]
    assert seconds == pytest.approx([2.0, 3.0, 6.0], abs=1e-4)


def test_the_rules_of_other_versions_are_reported_to_be_those_of_batsim_4(tmp_path: Path) -> None:
    """How Batsim 5 and 1.4 replay traces is unknown."""
    platform, workload = files(tmp_path, "usage_trace")
    for protocol, reported in (("v4", False), ("v1.4", True)):
        inputs = check_inputs(read_platform(platform), [read_workload(workload)], Settings(protocol=protocol))
        assert (REPLAYED_AS_V4 in inputs.notes) == reported


def test_a_trace_in_a_job_that_talks_is_refused(tmp_path: Path) -> None:
    """Its end would be taken for known at the start."""
    platform, path = files(tmp_path, "usage_trace")
    document = orjson.loads(path.read_bytes())
    document["profiles"] |= {
        "say": {"type": "send", "msg": {}, "sleeptime": 1},
        "both": {"type": "composed", "seq": ["say", "p"], "repeat": 1},
    }
    document["jobs"][0]["profile"] = "both"
    path.write_bytes(orjson.dumps(document))
    with pytest.raises(WorkloadError, match=r"profiles\.both\.seq\.type: is a trace, which is not simulated"):
        play(platform, [read_workload(path)], Settings(network="sharing"))
