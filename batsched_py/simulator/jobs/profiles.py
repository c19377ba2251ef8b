"""The profile store: workloads by name, their profiles, and the number of jobs that still need each."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from msgspec import Struct, field

from batsched_py.errors import WorkloadError
from batsched_py.model.profile import (
    ALL_TRANSFERS,
    Composed,
    Delay,
    Parallel,
    Profile,
    Receive,
    parse_profile,
)
from batsched_py.model.replay import Smpi, UsageTrace
from batsched_py.model.workload import Workload
from batsched_py.reading.faults import FieldError
from batsched_py.reading.limits import DEEPEST
from batsched_py.simulator.generation import Generation
from batsched_py.simulator.jobs.execution import SIMULATED, TALKING
from batsched_py.simulator.referee.errors import BrokenRuleError
from batsched_py.text.wording import counted

FORGOTTEN: Final = "was forgotten when the first of its jobs had ended"
DYNAMIC_COMPOSED: Final = "profiles: a composed profile that was registered runs here; real Batsim 4.2.1 crashes on it"


class WorkloadProfiles(Struct):
    """The profiles of one workload."""

    source: str
    by_name: dict[str, Profile]
    #: Profile name -> number of jobs that use it and have not ended, plus that of profiles composed of it; only
    #: maintained if profiles can be removed.
    needed: dict[str, int] = field(default_factory=dict)
    #: Names of removed profiles, which may be neither referenced nor reused.
    forgotten: set[str] = field(default_factory=set)
    #: Names of profiles that communicate with the scheduler, or are composed of profiles that do.
    talking: set[str] = field(default_factory=set)

    def check_known(self, name: str) -> None:
        """Raise FieldError if the profile was removed."""
        if name in self.forgotten:
            raise FieldError(f"profiles.{name}", FORGOTTEN)


class ProfileStore:
    """Static workloads by name, in the order of the command line, and those that a scheduler registers."""

    def __init__(
        self, workloads: Sequence[Workload], names: Sequence[str], generation: Generation, approximations: set[str]
    ) -> None:
        """Raise WorkloadError if a job's profile is missing, unsupported, or made for another size.

        Unused profiles are left out if the generation removes them anyway. `approximations` receives a line for each
        condition on which real Batsim would crash.
        """
        self._generation, self._approximations = generation, approximations
        #: Names of the static workloads.
        self.names = tuple(names)
        #: Workload name -> its profiles.
        self.by_workload = {name: _stock(workload) for name, workload in zip(names, workloads, strict=True)}
        if not generation.forgets:
            for name, workload in zip(names, workloads, strict=True):
                self.by_workload[name].by_name.update(workload.profiles)

    def add(self, workload: str, name: str, members: Mapping[str, Any]) -> Profile:
        """Add and return a profile of a workload, new or not; BrokenRuleError if the profile exists or cannot run."""
        profiles = self.by_workload.setdefault(workload, WorkloadProfiles("the scheduler", {}))
        path = f"profile {workload}!{name}"
        if name in profiles.forgotten:
            raise BrokenRuleError(f"{path} existed before: it {FORGOTTEN}, its name is taken")
        if name in profiles.by_name:
            raise BrokenRuleError(f"{path} exists already")
        try:
            profile = parse_profile(name, members)
            for part in parts(profile):
                profiles.check_known(part)
            check_profile(ChainMap({name: profile}, profiles.by_name), name)
        except FieldError as error:
            raise BrokenRuleError(f"{path}: {error.path} {error.rule}") from None
        generation = self._generation
        if known_as := generation.foreign_types.get(profile.type):
            rule = f"type {profile.type!r} is called {known_as!r} in protocol {generation.protocol}"
            raise BrokenRuleError(f"{path}: {rule}")
        if profile.lacks_transfers:
            raise BrokenRuleError(f"{path}: com {ALL_TRANSFERS}")
        if isinstance(profile, Composed) and generation.crashes_on_composed:
            self._approximations.add(DYNAMIC_COMPOSED)
        profiles.by_name[name] = profile
        for part in parts(profile):
            self.need(workload, part)
        return profile

    def need(self, workload: str, profile: str, *, talks: bool = False) -> None:
        """Count one more job that uses the profile, or one more profile composed of it."""
        profiles = self.by_workload[workload]
        profiles.needed[profile] = profiles.needed.get(profile, 0) + 1
        if talks:
            profiles.talking.add(profile)

    def forget(self, workload: str, profile: str) -> None:
        """Remove a profile after the end of a job that used it; it and its parts may not be referenced any more (E8).

        Other jobs that use it keep it until the last one ends.
        """
        profiles = self.by_workload[workload]
        if not self._generation.keeps_needed_profiles or profiles.needed[profile] == 1:
            _forget(profiles, profile)
        _drop(profiles, profile)


def check_profile(profiles: Mapping[str, Profile], name: str, size: int | None = None) -> bool:
    """Check a profile; return True if it communicates with the scheduler.

    FieldError if it, or one it is composed of, cannot run (on `size` hosts, if known).
    """
    if type(profiles.get(name)) is Delay:  # runs on any number of hosts, and has no parts
        return False
    talks, replayed = False, ""
    for path, profile in _reach(profiles, name, f"profiles.{name}"):
        talks = talks or isinstance(profile, TALKING)
        replayed = path if isinstance(profile, (Smpi, UsageTrace)) else replayed
        if not isinstance(profile, SIMULATED):
            raise FieldError(f"{path}.type", f"{profile.type!r} is not simulated here")
        if size is not None and isinstance(profile, Parallel) and len(profile.cpu) != size:
            raise FieldError(
                f"{path}.cpu", f"is for {counted(len(profile.cpu), 'host')}, a job that runs it asks for {size}"
            )
    if talks and replayed:
        raise FieldError(f"{replayed}.type", "is a trace, which is not simulated in a job that sends or receives")
    return talks


def _reach(profiles: Mapping[str, Profile], name: str, path: str) -> Iterator[tuple[str, Profile]]:
    """Yield the profile, its parts and its possible continuations, each once, with its path.

    A continuation may be an enclosing profile, and may be registered later.
    """
    heights: dict[str, int] = {}
    following, seen = [(name, path)], {name}
    while following:
        first, where = following.pop()
        for path_of_one, profile in _parts_of(profiles, first, where, (), heights):
            yield path_of_one, profile
            if isinstance(profile, Receive):
                for member, other in profile.continuations.items():
                    if other in profiles and other not in seen:
                        seen.add(other)
                        following.append((other, f"profiles.{profile.name}.{member}"))


def _parts_of(
    profiles: Mapping[str, Profile], name: str, path: str, above: tuple[str, ...], heights: dict[str, int]
) -> Generator[tuple[str, Profile], None, int]:
    """Yield the profile and its parts; return the number of levels.

    `heights` stores the levels of visited profiles, each of which is visited only once: the number of paths can grow
    exponentially with the number of profiles.
    """
    if name in above:
        raise FieldError(path, f"is part of itself: {' > '.join((*above, name))}")
    if name not in profiles:
        raise FieldError(path, f"names the profile {name!r}, which does not exist")
    if name not in heights:
        profile = profiles[name]
        yield path, profile
        height = 0
        for step in parts(profile):
            height = max(
                height, 1 + (yield from _parts_of(profiles, step, f"profiles.{name}.seq", (*above, name), heights))
            )
        heights[name] = height
    if len(above) + heights[name] > DEEPEST:
        raise FieldError(path, f"is one of more than {DEEPEST} composed profiles inside each other")
    return heights[name]


def _stock(workload: Workload) -> WorkloadProfiles:
    kept: dict[str, Profile] = {}
    talking: set[str] = set()
    # Each pair once, in the order of the jobs; sizes matter to `parallel` profiles only.
    for name, size in dict.fromkeys(workload.requests()):
        try:
            if check_profile(workload.profiles, name, size):
                talking.add(name)
        except FieldError as error:
            raise WorkloadError(workload.source, error.path, error.rule) from None
        if type(workload.profiles[name]) is Delay:
            kept[name] = workload.profiles[name]
        elif name not in kept:
            kept.update((profile.name, profile) for _, profile in _reach(workload.profiles, name, ""))
    needed = Counter(map(itemgetter(0), workload.requests()))
    for profile in kept.values():
        for part in parts(profile):
            needed[part] += 1
    return WorkloadProfiles(workload.source, kept, needed, talking=talking)


def parts(profile: Profile) -> Sequence[str]:
    """Return the names of the profiles that it references directly, each once."""
    return profile.parts if isinstance(profile, Composed) else ()


def _forget(profiles: WorkloadProfiles, name: str) -> None:
    if name not in profiles.forgotten:
        profiles.forgotten.add(name)
        for part in parts(profiles.by_name[name]):
            _forget(profiles, part)


def _drop(profiles: WorkloadProfiles, name: str) -> None:
    """Decrement the number of uses; a removed composed profile no longer uses its parts."""
    profiles.needed[name] -= 1
    if profiles.needed[name]:
        return
    del profiles.needed[name]
    profiles.talking.discard(name)
    for part in parts(profiles.by_name.pop(name)):
        _drop(profiles, part)
