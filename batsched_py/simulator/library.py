"""The library: workloads by name, their profiles and how many jobs still need each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from batsched_py.errors import WorkloadError
from batsched_py.model.job import Job
from batsched_py.model.profile import Composed, Parallel, Profile
from batsched_py.model.workload import Workload
from batsched_py.simulator.execution import SIMULATED


class LibraryError(ValueError):
    """A profile or a job cannot be simulated; `field` names the member."""

    def __init__(self, field: str, rule: str) -> None:
        self.field, self.rule = field, rule
        super().__init__(f"{field} {rule}")


class Shelf(Struct):
    """The profiles of one workload."""

    source: str
    profiles: dict[str, Profile]
    #: Profile name -> jobs that name it and have not ended; only kept up where profiles can be forgotten.
    needed: dict[str, int] = field(default_factory=dict)
    #: Names of the profiles that were forgotten: nothing may have one of them again.
    forgotten: set[str] = field(default_factory=set)


class Library:
    """Static workloads under their names, in the order of the command line, and those a scheduler registers."""

    __slots__ = ("names", "shelves")

    def __init__(self, workloads: Sequence[Workload], names: Sequence[str], *, keep_unused: bool = False) -> None:
        """WorkloadError if a job's profile is missing, of a type that is not simulated, or made for another size.

        Profiles that no job needs are left out unless `keep_unused`.
        """
        #: Names of the static workloads.
        self.names = tuple(names)
        #: Workload name -> its profiles.
        self.shelves = {name: _stock(workload) for name, workload in zip(names, workloads, strict=True)}
        if keep_unused:
            for name, workload in zip(names, workloads, strict=True):
                self.shelves[name].profiles.update(workload.profiles)

    def need(self, workload: str, profile: str) -> None:
        """One more job names the profile."""
        needed = self.shelves[workload].needed
        needed[profile] = needed.get(profile, 0) + 1

    def release(self, workload: str, profile: str) -> None:
        """A job that named the profile has ended; the last one takes the profile along (E8)."""
        shelf = self.shelves[workload]
        shelf.needed[profile] -= 1
        if not shelf.needed[profile]:
            del shelf.needed[profile]
            shelf.profiles.pop(profile, None)
            shelf.forgotten.add(profile)


def check_profile(profiles: Mapping[str, Profile], name: str, size: int | None = None) -> None:
    """LibraryError if the profile `name`, or one it is composed of, cannot run (on `size` hosts, if that is known)."""
    for path, profile in _reach(profiles, name, f"profiles.{name}", ()):
        if not isinstance(profile, SIMULATED):
            raise LibraryError(f"{path}.type", f"{profile.type!r} is not simulated here")
        if size is not None and isinstance(profile, Parallel) and len(profile.cpu) != size:
            raise LibraryError(f"{path}.cpu", f"is for {len(profile.cpu)} hosts, a job that runs it asks for {size}")


def _reach(
    profiles: Mapping[str, Profile], name: str, path: str, above: tuple[str, ...]
) -> Iterator[tuple[str, Profile]]:
    """The profile and all that it is composed of, each with its path."""
    if name in above:
        raise LibraryError(path, f"is part of itself: {' > '.join((*above, name))}")
    if name not in profiles:
        raise LibraryError(path, f"names the profile {name!r}, which does not exist")
    profile = profiles[name]
    yield path, profile
    if isinstance(profile, Composed):
        for step in dict.fromkeys(profile.sequence):
            yield from _reach(profiles, step, f"profiles.{name}.seq", (*above, name))


def _stock(workload: Workload) -> Shelf:
    kept: dict[str, Profile] = {}
    # Each pair once, in the order of the jobs; sizes matter to `parallel` profiles only.
    for name, size in dict.fromkeys([(job.profile, job.size) for job in workload.jobs]):
        try:
            check_profile(workload.profiles, name, size)
        except LibraryError as error:
            raise WorkloadError(workload.source, error.field, error.rule) from None
        if name not in kept:
            kept.update((profile.name, profile) for _, profile in _reach(workload.profiles, name, "", ()))
    return Shelf(workload.source, kept, Counter([job.profile for job in workload.jobs]))


#: Types that JSON and Batsim write alike.
_AS_IT_IS: Final = frozenset({int, str})


def wire_members(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members with every float rounded to the six decimals that Batsim prints; integers stay integers."""
    return {key: value if type(value) in (int, str) else _wire(value) for key, value in members.items()}


def wire_job(job: Job, job_id: str) -> Job:
    """The job under the id it has in messages, its members as Batsim sends them; its own times stay exact."""
    members = {**job.members, "id": job_id}
    if not _AS_IT_IS.issuperset(map(type, members.values())):
        members = wire_members(members)
    return Job(job_id, job.submit_time, job.size, job.walltime, job.profile, members)


def _wire(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, Mapping):
        return wire_members(value)
    if isinstance(value, (list, tuple)):
        return [_wire(item) for item in value]
    return value
