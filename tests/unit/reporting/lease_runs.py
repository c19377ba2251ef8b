"""Runs with leases, for tests of what is shown of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from batsched_py.campaigns import simulate
from batsched_py.files.table_file import table_path, write_table
from batsched_py.model.job import Job
from batsched_py.model.new_profile import delay
from batsched_py.model.profile import parse_profile
from batsched_py.model.settings import Settings
from batsched_py.model.table import csv_text
from batsched_py.model.workload import Workload
from batsched_py.reporting.api import Schedule, schedule_of
from batsched_py.results.records import Result
from batsched_py.results.result_files import write_jobs
from tests.clone import ROOT

#: Reservations are preferred, images are transferred and kept, machines are shut down, and may resume elsewhere.
IMAGES = {
    "lease_preparation": "imagetransfer", "diskimage_reuse": "image-caches", "shutdown_time": 60, "migration": "yes",
}  # fmt: skip


def job(name: str, submit: float, nodes: int, seconds: float, **lease: object) -> Job:
    """A job with a lease."""
    return Job.create(
        name, size=nodes, profile=f"{seconds:g}", submit_time=submit, walltime=seconds, extra={"lease": lease}
    )


#: The quickstart of Haizea's manual: a lease that is suspended for a reservation.
QUICKSTART = (job("1", 0, 1, 3600), job("2", 900, 4, 1800, start=1800))
_IMAGE = {"image": "a", "size": 1024}
#: The same with an image, and another lease whose image takes long to come; the first one moves to make room for it.
WITH_IMAGES = (
    job("1", 0, 1, 3600, software=_IMAGE),
    job("2", 900, 4, 1800, start=1800, software=_IMAGE),
    job("3", 1000, 2, 1800, software={"image": "b", "size": 4096}),
)


#: Name of a run -> its jobs and options.
RUNS: Final[Mapping[str, tuple[tuple[Job, ...], Mapping[str, object]]]] = {
    "quickstart": (QUICKSTART, {}),
    "requeue": (QUICKSTART, {"suspension": "none"}),
    "rejected": (QUICKSTART, {"policy_preemption": "no-preemption"}),
    "images": (WITH_IMAGES, IMAGES),
}


@cache
def result(name: str = "quickstart") -> Result:
    """Return the result of a run of the algorithm `leases` on 4 hosts."""
    jobs, options = RUNS[name]
    profiles = {one.profile: parse_profile(one.profile, delay(float(one.profile))) for one in jobs}
    options = {"policy_preemption": "ar-preempts-everything", **options}
    platform, workload = ROOT / "platforms" / "tiny4.xml", Workload("a test", 4, jobs, profiles)
    return simulate(platform, workload, "leases", options, settings=Settings(dynamic_jobs=True)).result


def schedule(name: str = "quickstart") -> Schedule:
    """The schedule of such a run."""
    return schedule_of(result(name), "run")


def write(folder: Path, run: Result) -> Path:
    """Write the files of a run; the jobs file."""
    path = folder / "run_jobs.csv"
    write_jobs(path, run)
    for table in run.tables:
        write_table(table_path(str(folder / "run"), table), table)
    return path


def rows(run: Result, table: str) -> list[str]:
    """The lines of a table, without its header."""
    [found] = [one for one in run.tables if one.name == table]
    return csv_text(found).splitlines()[1:]
