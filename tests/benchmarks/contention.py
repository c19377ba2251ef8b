"""Jobs that share the backbone of a cluster: what contention costs as more run at once, and on a large machine."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from batsched_py.traces.simgrid_xml import read_platform
from tests.benchmarks.timing import apart

JOBS: Final = 10_000
#: Hosts of each job, and jobs that run at once.
SIZE: Final = 4
RUNNING: Final = (8, 16, 32, 64, 128)

#: The large machine: its hosts, its jobs, the hosts of each job, seconds between two submissions.
LARGE_HOSTS: Final = 80_640
LARGE_JOBS: Final = 2_000
LARGE_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128)
LARGE_INTERVAL: Final = 0.2

#: The machines of one size with different networks: hosts, jobs of LARGE_SIZES, seconds between two submissions, and
#: network -> attributes of its cluster.
NETWORK_HOSTS: Final = 1_008
NETWORK_JOBS: Final = 1_000
NETWORK_INTERVAL: Final = 1.0
NETWORKS: Final = {
    "backbone": 'bb_bw="100GBps" bb_lat="10us"',
    "fat tree": 'topology="FAT_TREE" topo_parameters="3;12,12,7;1,6,4;1,1,1"',
    "dragonfly": 'topology="DRAGONFLY" topo_parameters="7,3;3,4;12,5;4"',
    "torus": 'topology="TORUS" topo_parameters="12,12,7"',
}
#: The cluster of which the reading is measured.
READ_HOSTS: Final = 80_640
READ_TREE: Final = 'topology="FAT_TREE" topo_parameters="3;48,42,40;1,48,42;1,1,1"'

_PLATFORM: Final = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <zone id="m" routing="Full"><host id="master_host" speed="1Gf"/></zone>
    <cluster id="c" prefix="c" suffix="" radical="0-{last}" speed="1Gf"
             bw="1GBps" lat="10us" {network}/>
    <link id="uplink" bandwidth="1GBps" latency="10us"/>
    <zoneRoute src="c" dst="m" gw_src="{gateway}" gw_dst="master_host"><link_ctn id="uplink"/></zoneRoute>
  </zone>
</platform>
"""


@dataclass(frozen=True, slots=True)
class Contended:
    """One machine.

    Attributes:
        running: jobs that run at once.
        sharing, alone: CPU seconds of the process with --network sharing and alone, from start to end: the least.
    """

    running: int
    sharing: float
    alone: float


def measure_contention(jobs: int = JOBS, repeats: int = 3) -> list[Contended]:
    """Run each machine with and without contention by turns, so often."""
    found: list[Contended] = []
    for running in RUNNING:
        with TemporaryDirectory() as name:
            files = apart(write_contended, Path(name), jobs, running)
            pairs = [[_run(name, files, network) for network in ("sharing", "alone")] for _ in range(repeats)]
        sharing, alone = map(min, zip(*pairs, strict=True))
        found.append(Contended(running, sharing, alone))
    return found


def measure_large(repeats: int = 3) -> tuple[float, float]:
    """Return the least CPU seconds of the large machine with --network sharing, and alone, by turns."""
    with TemporaryDirectory() as name:
        files = apart(write_large, Path(name))
        pairs = [[_run(name, files, network) for network in ("sharing", "alone")] for _ in range(repeats)]
    sharing, alone = map(min, zip(*pairs, strict=True))
    return sharing, alone


def measure_networks(repeats: int = 3) -> dict[str, float]:
    """Return the least CPU seconds of the same jobs on each network, by turns."""
    with TemporaryDirectory() as name:
        files = {network: apart(write_network, Path(name), network) for network in NETWORKS}
        rounds = [{network: _run(name, pair, "sharing") for network, pair in files.items()} for _ in range(repeats)]
    return {network: min(each[network] for each in rounds) for network in NETWORKS}


def measure_reading(repeats: int = 3) -> tuple[float, float]:
    """Return the least CPU seconds to read a flat cluster, and a fat tree of as many hosts, by turns."""
    with TemporaryDirectory() as name:
        paths = [Path(name) / "flat.xml", Path(name) / "tree.xml"]
        for path, network in zip(paths, (NETWORKS["backbone"], READ_TREE), strict=True):
            path.write_text(_platform(READ_HOSTS, network))
        rounds = [[_reading(path) for path in paths] for _ in range(repeats)]
    flat, tree = map(min, zip(*rounds, strict=True))
    return flat, tree


def _reading(path: Path) -> float:
    since = time.process_time()
    read_platform(path)
    return time.process_time() - since


def _platform(hosts: int, network: str) -> str:
    gateway = "c0" if "topology" in network else "cc_router"
    return _PLATFORM.format(last=hosts - 1, network=network, gateway=gateway)


def write_network(folder: Path, network: str) -> tuple[Path, Path]:
    """Write a machine with this network and its workload: platform, workload."""
    place = folder / network.replace(" ", "_")
    place.mkdir()
    shape = NETWORKS[network]
    return _write(place, NETWORK_HOSTS, NETWORK_JOBS, LARGE_SIZES, interval=NETWORK_INTERVAL, network=shape)


def write_contended(folder: Path, jobs: int, running: int) -> tuple[Path, Path]:
    """Write a platform for so many jobs at once, and a workload that keeps it full: platform, workload."""
    return _write(folder, SIZE * running, jobs, (SIZE,), interval=0.0, network=_backbone(1))


def write_large(folder: Path) -> tuple[Path, Path]:
    """Write the large machine, whose backbone is a hundred times as fast, and its workload: platform, workload."""
    return _write(folder, LARGE_HOSTS, LARGE_JOBS, LARGE_SIZES, interval=LARGE_INTERVAL, network=_backbone(100))


def _backbone(bandwidth: int) -> str:
    return f'bb_bw="{bandwidth}GBps" bb_lat="10us"'


def _write(
    folder: Path, hosts: int, jobs: int, sizes: Sequence[int], *, interval: float, network: str
) -> tuple[Path, Path]:
    rng = random.Random(20)
    platform, workload = folder / "platform.xml", folder / "workload.json"
    platform.write_text(_platform(hosts, network))
    profiles = {
        f"p{number}": {
            "type": "parallel_homogeneous",
            "cpu": rng.uniform(20, 100) * 1e9,
            "com": rng.uniform(1, 20) * 4e8 / max(sizes),
        }
        for number in range(jobs)
    }
    asked = [
        {"id": str(number), "subtime": number * interval, "res": rng.choice(sizes), "profile": f"p{number}"}
        for number in range(jobs)
    ]
    workload.write_text(json.dumps({"nb_res": hosts, "jobs": asked, "profiles": profiles}))
    return platform, workload


def _run(folder: str, files: tuple[Path, Path], network: str) -> float:
    """CPU seconds of a process."""
    options = ["-p", str(files[0]), "-w", str(files[1]), "-s", "fcfs", "--network", network]
    command = [sys.executable, "-m", "batsched_py", "simulate", *options, "-e", f"{folder}/out", "--quiet"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return used.ru_utime + used.ru_stime


def markdown(rows: Sequence[Contended], jobs: int = JOBS) -> Iterator[str]:
    """The lines of the page's table."""
    yield "| jobs at once | hosts | sharing, CPU s | alone, CPU s | ms/job of contention |"
    yield "|---|---|---|---|---|"
    for row in rows:
        each = (row.sharing - row.alone) / jobs * 1e3
        yield f"| {row.running} | {SIZE * row.running} | {row.sharing:.1f} | {row.alone:.1f} | {each:.2f} |"


def large_markdown(sharing: float, alone: float) -> Iterator[str]:
    """The lines of the page's table of the large machine."""
    yield "| hosts | jobs | hosts of a job | sharing, CPU s | alone, CPU s |"
    yield "|---|---|---|---|---|"
    yield f"| {LARGE_HOSTS} | {LARGE_JOBS} | {min(LARGE_SIZES)} to {max(LARGE_SIZES)} | {sharing:.1f} | {alone:.1f} |"


def networks_markdown(measured: Mapping[str, float], reading: tuple[float, float]) -> Iterator[str]:
    """The lines of the page's table of networks, and the times of reading."""
    yield "| network | CPU s | against the backbone |"
    yield "|---|---|---|"
    for network, seconds in measured.items():
        yield f"| {network} | {seconds:.1f} | {seconds / measured['backbone']:.1f} |"
    yield ""
    yield f"Reading {READ_HOSTS} hosts: {reading[0]:.2f} s flat, {reading[1]:.2f} s as a fat tree."
