"""SIMULATION_BEGINS, compared with what real Batsim wrote."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.errors import DeadlockError
from batsched_py.model.settings import Settings
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT
from tests.unit.simulator.scenario import Script

DATA = ROOT / "tests" / "data" / "batsim"


@pytest.mark.parametrize(
    ("run", "platform", "workload", "settings"),
    [
        ("o01_fcfs_delays", "energy16.xml", "delays60.json", Settings()),
        ("o07_easy_bf_mixed_cluster", "cluster32.xml", "mixed40.json", Settings()),
        ("o12_submitter_ack", "energy16.xml", "edge4.json", Settings(dynamic_jobs=True, acknowledge_dynamic_jobs=True)),
        (
            "o27_mmax8_sched_cfg",
            "energy16.xml",
            "burst60.json",
            Settings(machines=8, scheduler_config='{"depth": 2}'),
        ),
        ("o25_sharing_random", "energy16.xml", "burst60.json", Settings(compute_sharing=True)),
    ],
)
def test_the_first_message_says_what_real_batsim_said(
    run: str, platform: str, workload: str, settings: Settings
) -> None:
    """Member by member and in its order; only the path of the workload is another."""
    peer = Script({})
    jobs = read_workload(DATA / "inputs" / workload)
    settings = replace(settings, allow_oversized=True)
    with pytest.raises(DeadlockError):
        Simulation(read_platform(DATA / "inputs" / platform), [jobs], settings).run(peer)
    with (DATA / run / "transcript.jsonl").open() as file:
        recorded = json.loads(json.loads(file.readline())["bytes"])
    ours, real = peer.heard[0], recorded
    assert ours["events"][0]["data"].pop("workloads") == {"w0": str(DATA / "inputs" / workload)}
    del real["events"][0]["data"]["workloads"]
    assert ours == real
    assert _keys(ours["events"][0]["data"]) == _keys(real["events"][0]["data"])


def _keys(value: Any) -> Any:
    """The names of members in their order, all the way down; profiles have no order in Batsim."""
    return [(key, _keys(item)) for key, item in value.items() if key != "profiles"] if isinstance(value, dict) else None
