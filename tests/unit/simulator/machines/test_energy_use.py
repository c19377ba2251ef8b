"""Host hours of jobs that draw no more than idle hosts are told where energy is counted."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.model.settings import Settings
from batsched_py.simulator.simulation import Simulation
from tests.unit.simulator.scenario import SLEEPER, SLEEPER_SPEEDS, Fcfs, job, platform, workload

LINE = "%s of %s host hours of jobs were delays, or computed nothing: counted at idle power"
HOUR = 3600
#: Name -> a profile that takes an hour, whatever it does.
PROFILES: dict[str, dict[str, Any]] = {
    "delay": {"type": "delay", "delay": HOUR},
    "computes": {"type": "parallel_homogeneous", "cpu": HOUR * 1e9, "com": 0},
    "no flops": {"type": "parallel_homogeneous", "cpu": 0, "com": 0},
    "half": {"type": "composed", "repeat": 2, "seq": ["short", "delay"]},
    "short": {"type": "parallel_homogeneous", "cpu": HOUR * 1e9, "com": 0},
}


def told(*profiles: str, network: str = "alone", energy: bool = True, walltime: float | None = None) -> list[str]:
    """The lines on idle power of a run in which these jobs run one after the other, on two hosts each."""
    jobs = [job(str(k), name, res=2, at=4.0 * HOUR * k, walltime=walltime) for k, name in enumerate(profiles)]
    settings = Settings(energy=energy, network=network)  # type: ignore[arg-type]
    machine = platform(4, SLEEPER_SPEEDS, **SLEEPER)
    result = Simulation(machine, [workload(*jobs, profiles=PROFILES)], settings).run(Fcfs(4))
    return [line for line in result.approximations if "idle power" in line]


@pytest.mark.parametrize("network", ["alone", "sharing"])
@pytest.mark.parametrize(
    ("profiles", "hours"),
    [
        (["delay"], ("2.0", "2.0")),
        (["delay", "computes", "computes"], ("2.0", "6.0")),
        (["no flops"], None),  # it takes no time
        (["half"], ("4.0", "8.0")),
        (["computes"], None),
    ],
)
def test_host_hours_that_cost_no_more_than_idle_ones_are_told(
    network: str, profiles: list[str], hours: tuple[str, str] | None
) -> None:
    """Steps of composed profiles count one by one."""
    assert told(*profiles, network=network) == ([] if hours is None else [LINE % hours])


def test_only_the_time_that_jobs_ran_counts() -> None:
    """A walltime ends a delay after half an hour."""
    assert told("delay", walltime=HOUR / 2) == [LINE % ("1.0", "1.0")]


def test_nothing_is_told_where_no_energy_is_counted() -> None:
    """It has no part in the result then."""
    assert told("delay", energy=False) == []
