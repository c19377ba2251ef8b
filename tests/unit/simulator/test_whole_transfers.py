"""Jobs that send on drawn platforms of all kinds: their ends, against a naive computation by SimGrid's rules."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest

from batsched_py.model.settings import Settings
from batsched_py.traces.batsim_json import read_workload
from tests.drawn_platforms import KINDS, Drawing
from tests.route_rules import Area, Wire, route
from tests.simgrid_cases import Ending, play
from tests.thoroughness import thorough
from tests.unit.simulator.contention.systems import System, naive

#: Bytes of SimGrid's TCP window, flop/s of all hosts, and seconds that Batsim writes for a job without work.
WINDOW, SPEED, NO_TIME = 4194304.0, 1e9, 1e-5
SETTINGS = Settings(network="sharing", compute_sharing=True)


class DrawnJob(NamedTuple):
    """A parallel task: its hosts, the flops of each, and the bytes between them, row by row."""

    name: str
    start: float
    hosts: Sequence[str]
    flops: Sequence[float]
    sizes: Sequence[float]
    profile: Mapping[str, Any]


class Work(NamedTuple):
    """The needs of a job: what it uses, the latency before, and its largest rate."""

    start: float
    latency: float
    uses: Mapping[Wire, float]
    bound: float


def draw_jobs(rng: random.Random, hosts: Sequence[str], gap: float) -> list[DrawnJob]:
    """Return jobs of two hosts, of more with amounts of their own, and of more with equal ones, `gap` seconds apart."""
    jobs = []
    for number in range(6):
        kind = ("two", "many", "equal")[number % 3]
        used = rng.sample(sorted(hosts), 2 if kind == "two" else rng.randint(2, min(8, len(hosts))))
        count = len(used)
        used.sort()
        if kind == "equal":
            flops, size = rng.choice([0.0, 3e8]), rng.choice([1e6, 2.5e7])
            sizes = [0.0 if place % (count + 1) == 0 else size for place in range(count * count)]
            profile = {"type": "parallel_homogeneous", "cpu": flops, "com": size}
            amounts = [flops] * count
        else:
            amounts = [rng.choice([0.0, 0.0, 1e8, 2e9]) for _ in used]
            sizes = [rng.choice([0.0, 1e6, rng.uniform(1e5, 1e8)]) for _ in range(count * count)]
            profile = {"type": "parallel", "cpu": amounts, "com": sizes}
        jobs.append(DrawnJob(str(number), number * gap, used, amounts, sizes, profile))
    return jobs


def measure(job: DrawnJob, world: Area) -> Work:
    """Return what a job needs: sums of the bytes over each link, the largest over a FATPIPE."""
    uses = {Wire(host, SPEED, 0.0): flops for host, flops in zip(job.hosts, job.flops, strict=True) if flops}
    latency, bound = 0.0, min([SPEED / flops for flops in uses.values()], default=math.inf)
    pairs = [(a, b) for a in job.hosts for b in job.hosts]
    for (a, b), size in zip(pairs, job.sizes, strict=True):
        wires = route(world, a, b) if size else []
        wait = sum(wire.latency for wire in wires)
        latency = max(latency, wait)
        bound = min(bound, WINDOW / (2 * wait * size)) if wait else bound
        for wire in wires:
            if math.isfinite(wire.bandwidth):
                before = uses.get(wire, 0.0)
                uses[wire] = before + size if wire.shared else max(before, size)
    return Work(job.start, latency, uses, bound)


def ends(works: Mapping[str, Work]) -> dict[str, float] | None:
    """Return when each ends; None where SimGrid's solver goes on practically without end, at a FATPIPE link.

    Rates are computed anew at each begin, end of a latency, and end.
    """
    left, found, now = dict.fromkeys(works, 1.0), dict[str, float](), 0.0
    for name, work in works.items():
        if not work.uses:
            found[name] = work.start + (work.latency or NO_TIME)
            del left[name]
    while left:
        begins = [works[name].start + works[name].latency for name in left]
        active = {name: works[name] for name, begin in zip(left, begins, strict=True) if begin <= now}
        wires = {wire.name: wire for work in active.values() for wire in work.uses}
        rates = naive(
            System(
                {name: wire.bandwidth for name, wire in wires.items()},
                frozenset(name for name, wire in wires.items() if not wire.shared),
                {name: [(wire.name, amount) for wire, amount in work.uses.items()] for name, work in active.items()},
                {name: work.bound for name, work in active.items() if work.bound < math.inf},
            )
        )
        if rates is None:
            return None
        dates = {name: now + left[name] / rates[name] for name in active}
        then = min([*dates.values(), *(begin for begin in begins if begin > now)])
        for name in active:
            left[name] -= rates[name] * (then - now)
            if dates[name] == then or left[name] < 1e-14:
                found[name] = then
                del left[name]
        now = then
    return found


def compare(kind: str, seed: int, gap: float, folder: Path) -> None:
    """Compare the ends of drawn jobs on a drawn platform."""
    drawing = Drawing(seed)
    world = drawing.world(kind)
    ids = {host: number for number, host in enumerate(sorted(world.hosts))}
    expected = None
    while expected is None:
        jobs = draw_jobs(drawing.rng, world.hosts, gap)
        expected = ends({job.name: measure(job, world.area) for job in jobs})
    workload = {
        "nb_res": len(ids),
        "profiles": {job.name: job.profile for job in jobs},
        "jobs": [
            {
                "id": job.name,
                "profile": job.name,
                "subtime": job.start,
                "res": len(job.hosts),
                "hosts": " ".join(str(ids[host]) for host in job.hosts),
            }
            for job in jobs
        ],
    }
    (folder / "platform.xml").write_text(world.text)
    (folder / "workload.json").write_bytes(orjson.dumps(workload))
    ending, _ = play(folder / "platform.xml", [read_workload(folder / "workload.json")], SETTINGS)
    assert ending.differences(Ending(expected)) == []


@pytest.mark.parametrize("gap", [0.5, 1e4], ids=["together", "alone"])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", KINDS)
def test_jobs_in_a_zone_end_as_by_the_rules(kind: str, seed: int, gap: float, tmp_path: Path) -> None:
    """Of two hosts and many to many, one after the other and while they share links."""
    compare(kind, seed, gap, tmp_path)


@pytest.mark.parametrize("gap", [0.5, 1e4], ids=["together", "alone"])
@pytest.mark.parametrize("seed", range(thorough(20)))
def test_jobs_across_zones_end_as_by_the_rules(seed: int, gap: float, tmp_path: Path) -> None:
    """Also where gateways are hosts whose links carry all that leaves the zone."""
    compare("nested", seed, gap, tmp_path)
