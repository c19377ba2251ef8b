"""`python with_batsim_py.py PLATFORM WORKLOAD PREFIX`: a simulation by batsim-py, and the files of its monitors.

Runs in an environment of its own, with a `batsim` on PATH. Jobs start in order of arrival; hosts that are free at the
beginning are switched off. Files are named as those of Batsim with the same content.
"""

from __future__ import annotations

import sys
from typing import Final

from batsim_py import SimulatorHandler, monitors

#: Monitor -> the ending of the file of Batsim that its own replaces.
MONITORS: Final = {
    "JobMonitor": "jobs",
    "SimulationMonitor": "schedule",
    "HostStateSwitchMonitor": "machine_states",
    "HostPowerStateSwitchMonitor": "pstate_changes",
    "ConsumedEnergyMonitor": "consumed_energy",
    "SchedulerMonitor": "of_scheduler",
    "HostMonitor": "of_hosts",
}


def main(platform: str, workload: str, prefix: str) -> None:
    """Simulate to the end and write the files."""
    handler = SimulatorHandler()
    made = {ending: getattr(monitors, name)(handler) for name, ending in MONITORS.items()}
    handler.start(platform=platform, workload=workload)
    for host in handler.platform.get_not_allocated_hosts():
        handler.switch_off([host.id])
    while handler.is_running:
        for job in handler.queue:
            free = handler.platform.get_not_allocated_hosts()
            if job.name == "04":
                handler.reject_job(job.id)
            elif len(free) >= job.res:
                handler.allocate(job.id, [host.id for host in free[: job.res]])
            else:
                break
        handler.proceed_time()
    for ending, monitor in made.items():
        monitor.to_csv(f"{prefix}_{ending}.csv")


if __name__ == "__main__":
    main(*sys.argv[1:])
