"""A reader of the `profiles` object of a workload file: typed profiles, and the checks of their references."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from batsched_py.errors import WorkloadError
from batsched_py.model.profile import FORMER_TYPES, Composed, Delay, Profile, Receive, Send, parse_profile
from batsched_py.reading.faults import FieldError, Place, of_file
from batsched_py.reading.limits import LIMITS, LONGEST, NAME_RULE, TOO_LONG, Limits, breaks_csv, check_depth
from batsched_py.reading.objects import mapping
from batsched_py.text.display import displayed, shown

#: The types that the embedded simulator executes, under their current names.
SIMULATED_TYPES: Final = (
    *("delay", "parallel", "parallel_homogeneous", "parallel_homogeneous_total", "composed"),
    *("parallel_homogeneous_pfs", "data_staging", "send", "recv", "smpi", "usage_trace"),
)
#: The types that only Batsim executes.
BATSIM_TYPES: Final = ("trace", "msg_par_hg_pfs", "msg_par_hg_pfs_tiers")
#: Name of a type before Batsim 5.0.0-rc2 -> its name there.
EARLIER_TYPES: Final[Mapping[str, str]] = {
    "ptask": "ParallelTaskProfile",
    "ptask_homogeneous": "ParallelTaskHomogeneousProfile",
    "sequential_composition": "SequentialCompositionProfile",
    "forkjoin_composition": "ForkJoinCompositionProfile",
    "ptask_merge_composition": "ParallelTaskMergeCompositionProfile",
    "ptask_on_storage_homogeneous": "ParallelTaskOnStorageHomogeneousProfile",
    "ptask_data_staging_between_storages": "ParallelTaskDataStagingBetweenStoragesProfile",
    "trace_replay": "TraceReplayProfile",
}


def read_profiles(
    file: str, profiles: Mapping[str, Any], *, simulated_only: bool, limits: Limits = LIMITS
) -> dict[str, Profile]:
    """Read all profiles, used or not, by name; WorkloadError names `profiles.NAME.FIELD` and the rule of each fault."""
    place, table = Place("profiles"), dict[str, Profile]()
    try:
        for name, members in profiles.items():
            try:
                table[name] = _read_profile(name, members, simulated_only, limits)
            except ValueError as error:
                (place / name).add(error)
        place.refuse()
        _check_references(table, place, limits)
        place.refuse()
    except FieldError as error:
        raise of_file(WorkloadError, file, error) from None
    return table


def _check_references(table: Mapping[str, Profile], place: Place, limits: Limits) -> None:
    """Note references to profiles that do not exist, and composed profiles that contain themselves or nest deeply."""
    composed = {name: profile.sequence for name, profile in table.items() if isinstance(profile, Composed)}
    references = [(name, "seq", step) for name, sequence in composed.items() for step in sequence]
    for name, profile in table.items():
        if isinstance(profile, Receive):  # it may continue with itself
            references += [(name, member, following) for member, following in profile.continuations.items()]
    for name, member, other in dict.fromkeys(references):
        if other not in table:
            (place / name / member).note(f"names profile {shown(other)}, which does not exist")
    try:
        TopologicalSorter(composed).prepare()
    except CycleError as error:
        cycle = list(reversed(error.args[1]))
        (place / cycle[0] / "seq").note(f"must not contain itself: {displayed(' > '.join(cycle))}")
        return
    levels: dict[str, int] = {}
    for name in TopologicalSorter(composed).static_order():
        inner = (levels[step] for step in composed.get(name, ()))
        levels[name] = max(inner, default=-1) + 1
        if levels[name] > limits.depth:
            (place / name / "seq").note(limits.rule("depth"))


def _read_profile(name: str, members: Any, simulated_only: bool, limits: Limits) -> Profile:
    if breaks_csv(name):
        raise FieldError("", f"{NAME_RULE}, not {shown(name)}")
    check_depth(mapping(members), limits)
    profile = parse_profile(name, members)
    if rule := _type_rule(profile.type, simulated_only):
        raise FieldError("type", rule)
    if isinstance(profile, Delay) and profile.delay > LONGEST:
        raise FieldError("delay", f"{TOO_LONG} not {shown(profile.delay)}")
    if isinstance(profile, Send) and profile.sleep > LONGEST:
        raise FieldError("sleeptime", f"{TOO_LONG} not {shown(profile.sleep)}")
    return profile


def _type_rule(kind: str, simulated_only: bool) -> str | None:
    """Return the rule that a type violates; None if it is accepted."""
    if kind in SIMULATED_TYPES or kind in FORMER_TYPES or (kind in BATSIM_TYPES and not simulated_only):
        return None
    simulated = f"the types simulated here are {', '.join(SIMULATED_TYPES)}"
    if kind in BATSIM_TYPES:
        return f"{kind!r} is executed by Batsim only: run the workload there, or write the profile anew; {simulated}"
    if kind in EARLIER_TYPES:
        named = f"is the name of a type in an earlier release candidate of Batsim 5, which is now {EARLIER_TYPES[kind]}"
        return f"{kind!r} {named}; {simulated}"
    return f"{shown(kind)} is not a type of profile; {simulated}"
