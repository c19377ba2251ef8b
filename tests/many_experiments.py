"""Many managed experiments on hosts that fail, and a checker of their runs that knows no scheduler."""

from __future__ import annotations

import csv
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from batsched_py.traces.platform_writer import write_homogeneous

#: Computes of an experiment, and MB of one; a host has 1024.
COMPUTES: Final = 10
MEMORY: Final = 512
_HOST_MEMORY: Final = 1024
#: Seconds between two failures of a host, on average: five days.
_MTBF: Final = 432_000
#: Seconds by which instants may differ.
_ROUNDING: Final = 1e-3


class Files(NamedTuple):
    """The files that a run needs."""

    platform: Path
    experiments: Path
    testbed: Path
    events: Path


def write_experiments(folder: Path, experiments: int, hosts: int) -> Files:
    """Write so many experiments with timelines, at some load, and hosts that fail and come back, seeded."""
    rng = random.Random(3)
    files = Files(*(folder / name for name in ("platform.xml", "experiments.json", "testbed.json", "events.txt")))
    write_homogeneous(files.platform, hosts)
    files.testbed.write_text(json.dumps({"locations": {"here": {"creation_delay": 30, "address_delay": 20}}}))
    made, clock = [], 0.0
    for number in range(experiments):
        clock += rng.expovariate(hosts / (COMPUTES * 4000))
        made.append({"time": round(clock), "descriptor": _descriptor(number, rng)})
    files.experiments.write_text(json.dumps({"experiments": made}))
    events = []
    for host in range(hosts):
        down = rng.expovariate(1 / _MTBF)
        while down < clock:
            back = down + rng.uniform(600, 7200)
            events += [(down, "machine_unavailable", host), (back, "machine_available", host)]
            down = back + rng.expovariate(1 / _MTBF)
    lines = (
        json.dumps({"timestamp": round(time), "type": kind, "resources": str(host)})
        for time, kind, host in sorted(events)
    )
    files.events.write_text("\n".join(lines) + "\n")
    return files


def _descriptor(number: int, rng: random.Random) -> dict[str, object]:
    """Return an experiment: a network, a storage, a server that needs both, clients that need its address."""
    server = {
        "name": "Server",
        "locations": ["here"],
        "instanceType": "custom",
        "cpu": 0.5,
        "vcpu": 1,
        "memory": MEMORY,
        "resources": [{"network": "lan"}, {"storage": "data"}],
        "timeline": [{"at": -10, "run": "install", "takes": 60}, {"at": 10, "run": "serve", "takes": 900}],
    }
    client = {
        **server,
        "name": "Client",
        "min": COMPUTES - 1,
        "resources": [{"network": "lan"}],
        "contexts": [{"server": ["Server", "lan"]}],
        "timeline": [
            {"at": -5, "run": "join ${ctx.server}", "takes": rng.randint(5, 50)},
            {"at": 30, "run": "load", "takes": rng.randint(100, 900)},
        ],
    }
    return {
        "name": f"experiment {number}",
        "duration": rng.choice((60, 90, 120)),
        "resources": [
            {"compute": client},
            {"compute": server},
            {"network": {"name": "lan", "location": "here"}},
            {"storage": {"name": "data", "location": "here", "size": 100}},
        ],
    }


def violations(prefix: Path) -> list[str]:
    """Return what is wrong in a run: what outlives its experiment, and hosts that give more than they have."""
    ended, found = dict[str, float](), list[str]()
    for row in _rows(prefix, "experiments"):
        if row["state"] not in ("ENDED", "FAILED") or not row["ended"]:
            found.append(f"experiment {row['experiment']} is {row['state']}")
        else:
            ended[row["experiment"]] = float(row["ended"])
    changes: dict[str, list[tuple[float, int]]] = defaultdict(list)
    places = dict[tuple[str, str], tuple[float, float, str]]()
    for row in _rows(prefix, "experiment_resources"):
        found += _outlived(row, ended)
        if row["hosts"]:
            begin, end = float(row["created"] or row["requested"]), float(row["removed"])
            places[row["experiment"], row["resource"]] = begin, end, row["hosts"]
            changes[row["hosts"]] += [(begin, MEMORY), (end, -MEMORY)]
    for host, steps in changes.items():
        used = 0
        for time, change in sorted(steps):
            used += change
            if used > _HOST_MEMORY:
                found.append(f"host {host} gives {used} MB at {time}")
    for row in _rows(prefix, "jobs"):
        if row["workload_name"].startswith("experiment") and row["starting_time"]:
            found += _stray(row, places)
    return found


def _outlived(row: dict[str, str], ended: dict[str, float]) -> Iterator[str]:
    """Yield what is wrong with a resource of an experiment that has ended."""
    name = f"{row['resource']} of experiment {row['experiment']}"
    if row["state"] not in ("removed", "left out", "failed"):
        yield f"{name} is {row['state']}"
    elif row["requested"] and not row["removed"]:
        yield f"{name} was never removed"
    elif row["removed"] and float(row["removed"]) > ended.get(row["experiment"], 0.0) + _ROUNDING:
        yield f"{name} outlives it"


def _stray(row: dict[str, str], places: dict[tuple[str, str], tuple[float, float, str]]) -> Iterator[str]:
    """Yield what is wrong with the job of an entry: it runs in its machine, while that is there."""
    vm = row["job_id"].split(":")[1]
    begin, end, host = places[row["workload_name"].removeprefix("experiment"), vm]
    first, last = float(row["starting_time"]), float(row["finish_time"])
    if row["allocated_resources"] != host:
        yield f"{row['job_id']} runs on {row['allocated_resources']}, its machine on {host}"
    if first < begin - _ROUNDING or last > end + _ROUNDING:
        yield f"{row['job_id']} runs from {first} to {last}, its machine from {begin} to {end}"


def _rows(prefix: Path, table: str) -> Iterator[dict[str, str]]:
    with prefix.with_name(f"{prefix.name}_{table}.csv").open(newline="") as file:
        yield from csv.DictReader(file)
