"""Strictness: rules of real Batsim for the files of a simulation that this simulator does not enforce."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from batsched_py.model.platform import DEFAULT_MASTER, Platform
from batsched_py.model.workload import Workload
from batsched_py.protocol.fields import is_job_number
from batsched_py.simulator.contention.simgrid_items import is_known
from batsched_py.simulator.generation import NAMED_JOBS, Generation
from batsched_py.simulator.jobs.profiles import ProfileStore

NO_TRANSFERS: Final = "profiles: a parallel task without all its `com` sends nothing here; Batsim refuses the workload"
NO_SIZE: Final = "workloads: an `nb_res` that is absent or 0 is ignored here; Batsim refuses the workload"
NO_MASTER: Final = "platform: it has no master host (-m, or the role master), which is needed by real Batsim alone"
DIVIDED_BY_PAIRS: Final = "profiles: the `com` of a total is divided by the pairs of hosts, as in Batsim 5 (--protocol)"
DIVIDED_BY_HOSTS: Final = "profiles: the `com` of a total is divided by the hosts, as in Batsim 4 (--protocol)"
UNKNOWN_CONFIG: Final = "platform: items of its `config` are ignored here; SimGrid stops at those it does not know: "


def refused_files(
    platform: Platform, workloads: Sequence[Workload], master_host: str = DEFAULT_MASTER
) -> Iterator[str]:
    """Yield a line for each rule of Batsim or SimGrid that a file breaks."""
    if platform.master(master_host) is None:
        yield NO_MASTER
    unknown = [item for item, _ in platform.config if not is_known(item)]
    if unknown:
        yield UNKNOWN_CONFIG + ", ".join(unknown)
    if any(not workload.host_count for workload in workloads):
        yield NO_SIZE
    if any(profile.lacks_transfers for workload in workloads for profile in workload.profiles.values()):
        yield NO_TRANSFERS


def refused_names(generation: Generation, workloads: Sequence[Workload], store: ProfileStore) -> Iterator[str]:
    """Yield a line for each kind of name that belongs to another generation, or has another meaning there."""
    profiles = (profile for own in store.by_workload.values() for profile in own.by_name.values())
    if any(profile.type in generation.foreign_types for profile in profiles):
        yield generation.foreign_types_note
    jobs = (job for workload in workloads for job in workload.jobs)
    if any(workload.divided_otherwise(generation.protocol) for workload in workloads):
        yield DIVIDED_BY_PAIRS if generation.protocol == "v5" else DIVIDED_BY_HOSTS
    if generation.jobs_are_numbers and not all(is_job_number(job.id) for job in jobs):
        yield NAMED_JOBS
