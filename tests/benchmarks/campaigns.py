"""A campaign of many short runs: what it costs besides the runs themselves."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from batsched_py.campaigns import Drawn, simulate
from batsched_py.reporting.api import measure_run, schedule_of
from batsched_py.runs.inputs import as_workload
from tests.benchmarks.timing import apart
from tests.clone import ROOT

RUNS: Final = 2_000
JOBS: Final = 1_000
WORKERS: Final = 2
PLATFORM: Final = ROOT / "platforms" / "cluster32.xml"
HOSTS: Final = 32
LOADS: Final = (0.7, 0.9)
#: Algorithm and its options.
VARIANTS: Final[Sequence[tuple[str, dict[str, str]]]] = (
    ("fcfs", {}),
    ("easy", {}),
    ("easy", {"order": "sjf"}),
    ("filler", {}),
)


@dataclass(frozen=True, slots=True)
class CampaignCost:
    """CPU seconds of a campaign with all its processes, and of its runs in processes that do nothing else.

    There are as many of these as the campaign has workers: what runs beside another is slower on many processors.

    Attributes:
        runs: simulations of the campaign.
        campaign: seconds of all its processes.
        simulated: of processes that simulate the same.
        measured: of processes that also measure what each run is judged by, as the campaign does.
    """

    runs: int
    campaign: float
    simulated: float
    measured: float


def measure_campaign(runs: int = RUNS) -> CampaignCost:
    """Run a campaign of about so many runs, then the same simulations without it, without and with their metrics."""
    seeds = max(1, runs // (len(VARIANTS) * len(LOADS)))
    with TemporaryDirectory() as name:
        campaign = _run_campaign(Path(name), seeds)
    shares = [range(first, seeds + 1, WORKERS) for first in range(1, WORKERS + 1)]
    with ThreadPoolExecutor(WORKERS) as pool:
        simulated = sum(pool.map(lambda share: apart(_run_alone, share, False), shares))
        measured = sum(pool.map(lambda share: apart(_run_alone, share, True), shares))
    return CampaignCost(seeds * len(VARIANTS) * len(LOADS), campaign, simulated, measured)


def _run_campaign(folder: Path, seeds: int) -> float:
    """Run the command in this folder; return its CPU seconds, and those of its workers."""
    algorithms = "".join(f'\n[[algorithms]]\nalgorithm = "{name}"\n{_options(given)}' for name, given in VARIANTS)
    (folder / "study.toml").write_text(
        f'platforms = "{PLATFORM}"\n\n[[workloads]]\nmodel = "lublin"\njobs = {JOBS}\n'
        f'load = [{", ".join(map(str, LOADS))}]\nseeds = "1-{seeds}"\n{algorithms}'
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "batsched_py", "campaign", "run", "study.toml", "--workers", str(WORKERS)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _options(given: dict[str, str]) -> str:
    return "".join(f'options.{name} = "{value}"\n' for name, value in given.items())


def _run_alone(seeds: Sequence[int], measures: bool) -> float:
    """Return the CPU seconds of the simulations of these seeds, start-up included; each workload is drawn once."""
    for seed in seeds:
        for load in LOADS:
            workload = as_workload(Drawn(JOBS, HOSTS, seed, load))
            for name, options in VARIANTS:
                run = simulate(PLATFORM, workload, name, options)
                if measures:
                    measure_run(schedule_of(run.result, name))
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def markdown(cost: CampaignCost) -> Iterator[str]:
    """The lines of the page's table."""
    yield "| runs | jobs of each | campaign, CPU s | simulations alone, CPU s | ratio | with metrics, CPU s | ratio |"
    yield "|---|---|---|---|---|---|---|"
    simulated, measured = (
        f"{seconds:.0f} | {cost.campaign / seconds:.2f}" for seconds in (cost.simulated, cost.measured)
    )
    yield f"| {cost.runs} | {JOBS} | {cost.campaign:.0f} | {simulated} | {measured} |"
