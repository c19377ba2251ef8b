"""Checker of a run with managed experiments, by its tables and jobs alone: it knows no orchestrator and no lease."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from batsched_py.model.job import Job
from batsched_py.model.new_profile import delay
from batsched_py.model.profile import parse_profile
from batsched_py.model.workload import Workload
from batsched_py.results.records import JobRecord
from batsched_py.schedulers.experiments import ExperimentsScheduler
from tests.experiment_workloads import SITES, TYPES, ExperimentCase
from tests.integration.experiment_runs import ExperimentSimulation, located_platform
from tests.integration.timeline_runs import SETTINGS, happens

Row = Mapping[str, Any]
#: Seconds by which instants may differ.
_ROUNDING: Final = 1e-3
#: What a host has: percent of CPU, MB.
_HOST: Final = (200.0, 2048.0)
#: What a job takes of each of its hosts: all of it.
_JOB: Final = _HOST
_SITE_OF: Final = [name for name, hosts in SITES.items() for _ in range(hosts)]
#: State -> states that may follow it.
_FOLLOWING: Final = {
    "READY": {"DEPLOYABLE", "FAILED", "DELETED"},
    "DEPLOYABLE": {"RESERVED", "DEPLOYING", "FAILED", "DELETED"},
    "RESERVED": {"DEPLOYING", "FAILED", "DELETED"},
    "DEPLOYING": {"DEPLOYED", "FAILED", "DELETED"},
    "DEPLOYED": {"ENDED", "FAILED", "DELETED"},
    "ENDED": {"DELETED"},
    "FAILED": {"DELETED"},
}
_LEFT: Final = {"removed", "failed", "left out", "kept"}


class ExperimentChecks:
    """The properties that each run must have.

    Args:
        tables: of the run, rows by column.
        jobs: those that Batsim has run.
        descriptors: number of an experiment -> what was asked for.
        workers: an experiment may have waited for one, while its reservation ran.
    """

    def __init__(
        self,
        tables: Mapping[str, Sequence[Row]],
        jobs: Sequence[JobRecord],
        descriptors: Mapping[str, Mapping[str, Any]],
        *,
        workers: bool,
    ) -> None:
        self._tables, self._jobs, self._descriptors, self._workers = tables, jobs, descriptors, workers
        self._experiments = {row["experiment"]: row for row in tables["experiments"]}
        self._resources: dict[str, dict[str, Row]] = defaultdict(dict)
        for row in tables["experiment_resources"]:
            self._resources[row["experiment"]][row["resource"]] = row

    def violations(self) -> Iterator[str]:
        """Yield all that is wrong."""
        for one in self._experiments.values():
            for told in self._of_experiment(one):
                yield f"experiment {one['experiment']}: {told}"
        for experiment, resources in self._resources.items():
            for row in resources.values():
                for told in self._of_resource(self._experiments[experiment], row, resources):
                    yield f"{row['resource']} of experiment {experiment}: {told}"
        yield from self._capacities()
        yield from self._logs()
        yield from self._entries()

    def _of_experiment(self, one: Row) -> Iterator[str]:
        if one["state"] not in ("ENDED", "FAILED", "DELETED") or one["ended"] is None:
            yield f"is {one['state']}, and the run is over"
            return
        wanted = self._descriptors[one["experiment"]]
        seconds = wanted["duration"] * 60
        times = [one[name] for name in ("accepted", "reserved", "deploying", "deployed", "ended")]
        known = [time for time in times if time is not None]
        if known != sorted(known):
            yield f"its instants are {times}"
        if one["state"] == "ENDED":
            yield from self._lasted(one, seconds)
        if (one["state"] == "FAILED") != (one["failure"] is not None) and one["state"] != "DELETED":
            yield f"is {one['state']}, and its failure is {one['failure']}"
        start = wanted.get("start")
        if start is not None and one["deploying"] is not None and one["deploying"] < start - _ROUNDING:
            yield f"is deployed at {one['deploying']}, before its start at {start}"
        if one["deployed"] is not None:
            yield from self._deployed(one)

    def _lasted(self, one: Row, seconds: float) -> Iterator[str]:
        """Yield what is wrong with the time of one that has ended: from its deployment, or that of its reservation."""
        begin = one["deployed"] if one["reservation"] is None else one["deploying"]
        if begin is None or one["deployed"] is None:
            yield "ended, and was never deployed"
            return
        lasts, may_be_late = one["ended"] - begin, self._workers and one["reservation"] is not None
        if lasts > seconds + _ROUNDING or (lasts < seconds - _ROUNDING and not may_be_late):
            yield f"lasts from {begin} to {one['ended']}, not {seconds}"

    def _deployed(self, one: Row) -> Iterator[str]:
        """Yield what was missing when it was deployed."""
        for row in self._resources[one["experiment"]].values():
            if row["state"] == "left out" or (row["state"] == "failed" and row["created"] is None):
                if not self._descriptors[one["experiment"]].get("best_effort_allocation"):
                    yield f"is deployed without {row['resource']}"
            elif row["created"] is None or row["created"] > one["deployed"] + _ROUNDING:
                yield f"is deployed at {one['deployed']}, before {row['resource']} at {row['created']}"

    def _of_resource(self, one: Row, row: Row, resources: Mapping[str, Row]) -> Iterator[str]:
        if row["state"] not in _LEFT:
            yield f"is {row['state']}"
        times = [row[name] for name in ("requested", "created", "addressed", "removed")]
        known = [time for time in times if time is not None]
        if known != sorted(known):
            yield f"its instants are {times}"
        if row["requested"] is not None and row["requested"] < one["deploying"]:
            yield "was asked for before the deployment"
        if row["state"] in ("removed", "failed") and row["requested"] is not None and row["removed"] is None:
            yield "was never removed"
        if row["removed"] is not None and row["removed"] > one["ended"] + _ROUNDING:
            yield f"outlives it: {row['removed']}"
        if row["state"] == "kept" and not (
            row["kind"] == "storage" and (one["deployed"] is not None or one["state"] == "DELETED")
        ):
            yield "was kept"
        for name in (row["after"] or "").split():
            other, asked = resources[name], row["requested"]
            late = other["created"] is None or (asked is not None and other["created"] > asked + _ROUNDING)
            if asked is not None and other["state"] != "left out" and late:
                yield f"is asked for at {asked}, before {name} at {other['created']}"
        placed = row["kind"] == "compute" and row["hosts"] is not None and row["location"] is not None
        if placed and _SITE_OF[int(row["hosts"])] != row["location"]:
            yield f"is at {row['location']}, and on host {row['hosts']}"

    def _capacities(self) -> Iterator[str]:
        changes: dict[str, list[tuple[float, int, tuple[float, float]]]] = defaultdict(list)
        for experiment, resources in self._resources.items():
            kinds = _kinds(self._descriptors[experiment])
            for row in resources.values():
                if row["kind"] != "compute" or row["hosts"] is None or row["created"] is None:
                    continue
                name = row["resource"] if row["resource"] in kinds else row["resource"].rpartition("-")[0]
                cpu, memory = TYPES[kinds[name]]
                changes[row["hosts"]] += [(row["created"], 1, (cpu, memory)), (row["removed"], 0, (-cpu, -memory))]
        for job in self._jobs:
            if not job.workload.startswith("experiment") and not job.rejected and job.start < job.finish:
                for number in job.hosts:
                    changes[str(number)] += [(job.start, 1, _JOB), (job.finish, 0, (-_JOB[0], -_JOB[1]))]
        for host, steps in changes.items():
            used = (0.0, 0.0)
            for time, _, change in sorted(steps):
                used = used[0] + change[0], used[1] + change[1]
                if used[0] > _HOST[0] or used[1] > _HOST[1]:
                    yield f"host {host} gives {used} at {time}"

    def _logs(self) -> Iterator[str]:
        logs: dict[str, list[Row]] = defaultdict(list)
        for row in self._tables["experiment_log"]:
            logs[row["experiment"]].append(row)
        for experiment, rows in logs.items():
            times = [row["time"] for row in rows]
            if times != sorted(times):
                yield f"experiment {experiment}: the times of its log are {times}"
            states = list(dict.fromkeys(row["state"] for row in rows))
            for before, after in pairwise(states):
                if after not in _FOLLOWING[before]:
                    yield f"experiment {experiment}: {after} follows {before}"
            if states[-1] != self._experiments[experiment]["state"]:
                yield f"experiment {experiment}: its log ends with {states[-1]}"

    def _entries(self) -> Iterator[str]:
        for row in self._tables.get("timeline", ()):
            experiment, _, name = row["vm"].partition("/")
            machine = self._resources[experiment][name]
            if row["begin"] is None:
                continue
            if machine["created"] is None or row["begin"] < machine["created"] - _ROUNDING:
                yield f"{row['vm']} runs {row['entry']} at {row['begin']}, and is created at {machine['created']}"
            if (
                row["end"] is not None
                and machine["removed"] is not None
                and row["end"] > machine["removed"] + _ROUNDING
            ):
                yield f"{row['vm']} runs {row['entry']} until {row['end']}, and is removed at {machine['removed']}"


def _kinds(descriptor: Mapping[str, Any]) -> dict[str, str]:
    computes = [one["compute"] for one in descriptor["resources"] if "compute" in one]
    return {"BonFIRE-Monitor": "small", **{one["name"]: one["instanceType"] for one in computes}}


def violations(case: ExperimentCase, folder: Path) -> list[str]:
    """Return what is wrong in a run of a case."""
    jobs = [
        Job.create(str(number), size=size, walltime=walltime, profile=f"d{runtime}", submit_time=float(time))
        for number, (time, size, walltime, runtime) in enumerate(case.jobs, 1)
    ]
    profiles = {
        job.profile: parse_profile(job.profile, delay(one[3])) for job, one in zip(jobs, case.jobs, strict=True)
    }
    simulated = ExperimentSimulation(
        folder,
        {"experiments": list(case.experiments)},
        located_platform(SITES),
        SETTINGS[case.peer],
        testbed=case.testbed,
        events=[
            happens(time, kind, [members["host"]]) if "host" in members else happens(time, kind, **members)
            for time, kind, members in case.events
        ],
        workload=Workload("w", 4, tuple(sorted(jobs, key=lambda job: job.submit_time)), profiles),
        **case.options,
    )
    tables = simulated.tables
    submitted = [members["descriptor"] for _, _, members in case.events if "descriptor" in members]
    named = {one["name"]: one for one in [*(each["descriptor"] for each in case.experiments), *submitted]}
    descriptors = {row["experiment"]: named[row["name"]] for row in tables["experiments"]}
    found = list(
        ExperimentChecks(tables, simulated.jobs, descriptors, workers="deployments" in case.options).violations()
    )
    algorithm = simulated.algorithm(ExperimentsScheduler)
    found += [f"lease {one} is left" for one in algorithm.scheduler.leases]
    return [*found, *(f"{leak} has leaked" for leak in algorithm.orchestrator.leaks)]
