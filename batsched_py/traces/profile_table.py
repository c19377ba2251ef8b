"""A reader of the `profiles` object of a workload file: typed profiles, and the checks of their references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from batsched_py.errors import WorkloadError
from batsched_py.model.profile import FORMER_TYPES, Composed, Delay, Profile, Receive, Send, parse_profile
from batsched_py.reading.faults import FieldError
from batsched_py.reading.limits import LIMITS, LONGEST, NAME_RULE, TOO_LONG, LimitError, Limits, breaks_csv, check_depth
from batsched_py.text.display import shown

#: The types that the embedded simulator executes, under their current names.
SIMULATED_TYPES: Final = (
    *("delay", "parallel", "parallel_homogeneous", "parallel_homogeneous_total", "composed"),
    *("parallel_homogeneous_pfs", "data_staging", "send", "recv"),
)
#: The types that only Batsim executes.
BATSIM_TYPES: Final = (*("smpi", "usage_trace", "trace"), *("msg_par_hg_pfs", "msg_par_hg_pfs_tiers"))
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
    """Read all profiles, used or not, by name; WorkloadError names `profiles.NAME.FIELD` and the rule."""
    table = {name: _read_profile(file, name, members, simulated_only, limits) for name, members in profiles.items()}
    composed = {name: profile.sequence for name, profile in table.items() if isinstance(profile, Composed)}
    for name, sequence in composed.items():
        for step in sequence:
            if step not in table:
                raise WorkloadError(file, f"profiles.{name}.seq", f"names profile {shown(step)}, which does not exist")
    try:
        TopologicalSorter(composed).prepare()
    except CycleError as error:
        cycle = list(reversed(error.args[1]))
        rule = f"must not contain itself: {' > '.join(cycle)}"
        raise WorkloadError(file, f"profiles.{cycle[0]}.seq", rule) from error
    _check_levels(file, composed, limits)
    _check_continuations(file, table)
    return table


def _check_levels(file: str, composed: Mapping[str, Sequence[str]], limits: Limits) -> None:
    """Raise WorkloadError if composed profiles are nested deeper than the limit, or contain themselves."""
    levels: dict[str, int] = {}
    for name in TopologicalSorter(composed).static_order():
        inner = (levels[step] for step in composed.get(name, ()))
        levels[name] = max(inner, default=-1) + 1
        if levels[name] > limits.depth:
            raise WorkloadError(file, f"profiles.{name}.seq", limits.rule("depth"))


def _check_continuations(file: str, table: Mapping[str, Profile]) -> None:
    """Raise WorkloadError if a `recv` continues with a profile that does not exist; it may continue with itself."""
    for name, profile in table.items():
        if isinstance(profile, Receive):
            for member, following in profile.continuations.items():
                if following not in table:
                    rule = f"names profile {shown(following)}, which does not exist"
                    raise WorkloadError(file, f"profiles.{name}.{member}", rule)


def _read_profile(file: str, name: str, members: Any, simulated_only: bool, limits: Limits) -> Profile:
    if breaks_csv(name):
        raise WorkloadError(file, "profiles", f"a name {NAME_RULE}, not {shown(name)}")
    if not isinstance(members, dict):
        raise WorkloadError(file, f"profiles.{name}", f"must be an object, not {shown(members)}")
    try:
        check_depth(members, limits)
        profile = parse_profile(name, members)
    except LimitError as error:
        raise WorkloadError(file, f"profiles.{name}", str(error)) from error
    except FieldError as error:
        raise WorkloadError(file, f"profiles.{name}.{error.path}", error.rule) from error
    if rule := _type_rule(profile.type, simulated_only):
        raise WorkloadError(file, f"profiles.{name}.type", rule)
    if isinstance(profile, Delay) and profile.delay > LONGEST:
        raise WorkloadError(file, f"profiles.{name}.delay", f"{TOO_LONG} not {shown(profile.delay)}")
    if isinstance(profile, Send) and profile.sleep > LONGEST:
        raise WorkloadError(file, f"profiles.{name}.sleeptime", f"{TOO_LONG} not {shown(profile.sleep)}")
    return profile


def _type_rule(kind: str, simulated_only: bool) -> str | None:
    """Return the rule that a type violates; None if it is accepted."""
    if kind in SIMULATED_TYPES or kind in FORMER_TYPES or (kind in BATSIM_TYPES and not simulated_only):
        return None
    ours = f"the types simulated here are {', '.join(SIMULATED_TYPES)}"
    if kind in BATSIM_TYPES:
        return f"{kind!r} is executed by Batsim only: run the workload there, or write the profile anew; {ours}"
    if kind in EARLIER_TYPES:
        named = f"is the name of a type in an earlier release candidate of Batsim 5, which is now {EARLIER_TYPES[kind]}"
        return f"{kind!r} {named}; {ours}"
    return f"{shown(kind)} is not a type of profile; {ours}"
