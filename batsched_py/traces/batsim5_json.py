"""Workloads of Batsim 5: other names for profile types, and user-defined members of jobs in `extra_data`.

Workloads in memory use the names of Batsim 4. A file is one of Batsim 5 if a profile in it has a type of Batsim 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isqrt
from typing import Any, Final

import orjson

from batsched_py.errors import WorkloadError
from batsched_py.model.job import KNOWN_MEMBERS, Job
from batsched_py.model.profile import FORMER_TYPES, Composed, Profile
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import counted

_STRATEGY: Final = "generation_strategy"
_SPREAD: Final = "DefinedAmountsSpreadUniformly"
_EACH: Final = "DefinedAmountsUsedForEachValue"
_HOMOGENEOUS: Final = "ParallelTaskHomogeneousProfile"
#: Type of Batsim 5 -> type of Batsim 4, for those that have the same members in a file.
_TYPES: Final[Mapping[str, str]] = {
    "DelayProfile": "delay",
    "ParallelTaskProfile": "parallel",
    _HOMOGENEOUS: "parallel_homogeneous",
    "SequentialCompositionProfile": "composed",
    "ParallelTaskOnStorageHomogeneousProfile": "parallel_homogeneous_pfs",
    "ParallelTaskDataStagingBetweenStoragesProfile": "data_staging",
}
#: `trace_type` of a TraceReplayProfile -> type of Batsim 4.
_TRACES: Final = {"SMPI": "smpi", "FractionalComputation": "usage_trace"}
_REPLAY: Final = "TraceReplayProfile"
#: Types that the documentation of Batsim 5 describes, but its version rc2 does not run.
_NOT_YET: Final = frozenset({"ForkJoinCompositionProfile", "ParallelTaskMergeCompositionProfile"})
_NAMES: Final = {present: name for name, present in _TYPES.items()}


def is_batsim5(profiles: Mapping[str, Any]) -> bool:
    """Return whether these profiles are from a file of Batsim 5."""
    known = [*_TYPES, *_NOT_YET, _REPLAY]  # a list, because the type in a file may be unhashable
    return any(isinstance(members, dict) and members.get("type") in known for members in profiles.values())


def present_profiles(file: str, profiles: Mapping[str, Any]) -> dict[str, Any]:
    """Convert profiles of Batsim 5 to the names of Batsim 4; WorkloadError for types that Batsim 5 cannot run."""
    return {name: _present_profile(file, name, members) for name, members in profiles.items()}


def present_job(members: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a job with those of its `extra_data`, if that is an object or the text of one."""
    extra = members.get("extra_data")
    parsed = _object(extra)
    if parsed is None:
        return members
    own = {name: value for name, value in parsed.items() if name not in KNOWN_MEMBERS and name != "extra_data"}
    kept = {} if len(own) == len(parsed) else {"extra_data": extra}
    return {**{name: value for name, value in members.items() if name != "extra_data"}, **own, **kept}


def write_profile(file: str, profile: Profile) -> dict[str, Any]:
    """Return a profile as Batsim 5 reads it; WorkloadError if it has no such type."""
    kind, members = FORMER_TYPES.get(profile.type, profile.type), dict(profile.members)
    del members["type"]
    for present, trace_type in ((present, name) for name, present in _TRACES.items()):
        if kind == present:
            return {"type": _REPLAY, "trace_type": trace_type, **_renamed(members, "trace", "filename")}
    if kind == "parallel_homogeneous_total":
        return {"type": _HOMOGENEOUS, "com": 0, **members, _STRATEGY: _SPREAD}
    if kind not in _NAMES:
        rule = f"is {shown(kind)}, which Batsim 5 has no type for"
        raise WorkloadError(file, f"profiles.{displayed(profile.name)}.type", rule)
    if isinstance(profile, Composed):
        members = _renamed(members, "nb", "repeat")
    if kind == "parallel_homogeneous":
        members = {"com": 0, **members}
    if kind == "parallel_homogeneous_pfs":
        members = {"bytes_to_read": 0, "bytes_to_write": 0, **_renamed(members, "host", "storage")}
    return {"type": _NAMES[kind], **members}


def write_job(job: Job) -> dict[str, Any]:
    """Return a job's members in Batsim 5's format: user-defined ones in `extra_data`, `walltime` only if limited."""
    members = job.members
    written: dict[str, Any] = {"id": members.get("id", job.id) if job.name == "" else job.name}
    written |= {"subtime": job.submit_time, "res": job.size}
    if job.walltime is not None:
        written["walltime"] = job.walltime
    written["profile"] = job.profile
    own = {name: value for name, value in members.items() if name not in KNOWN_MEMBERS}
    extra = own.pop("extra_data", None)
    if not own and extra is not None:
        written["extra_data"] = extra
    elif own:
        written["extra_data"] = {**own, **(_object(extra) or ({} if extra is None else {"extra_data": extra}))}
    return written


def lost_in_4(profiles: Sequence[Profile]) -> Iterator[str]:
    """Yield a line for each feature of profiles from a Batsim 5 file that Batsim 4 cannot express."""
    spread = [profile.name for profile in profiles if profile.members.get(_STRATEGY) == _SPREAD]
    if spread:
        names = ", ".join(map(displayed, spread))
        yield f"{names}: in Batsim 4 each host reads and writes all bytes, they are not spread over the hosts"


def lost_in_5(workload_profiles: Sequence[Profile], jobs: Sequence[Job]) -> Iterator[str]:
    """Yield a line for each change of meaning when a workload is converted for Batsim 5."""
    own = sum(1 for job in jobs if job.members.keys() - KNOWN_MEMBERS - {"extra_data"})
    if own:
        yield f"{counted(own, 'job')} with members of their own: they are in extra_data, Batsim 5 forwards no others"
    staging = [profile.name for profile in workload_profiles if profile.type == "data_staging"]
    if staging:
        yield f"{', '.join(map(displayed, staging))}: Batsim 5.0.0-rc2 aborts when it runs a data staging"


def _present_profile(file: str, name: str, members: Any) -> Any:
    kind = members.get("type") if isinstance(members, dict) else None
    if kind in _NOT_YET:
        rule = f"is {shown(kind)}, which Batsim 5.0.0-rc2 does not run, nor anybody else"
        raise WorkloadError(file, f"profiles.{displayed(name)}.type", rule)
    if kind == _REPLAY:
        trace_type = members.get("trace_type", "SMPI")
        if trace_type not in _TRACES:
            rule = f"must be {' or '.join(_TRACES)}, not {shown(trace_type)}"
            raise WorkloadError(file, f"profiles.{displayed(name)}.trace_type", rule)
        kept = {key: value for key, value in members.items() if key != "trace_type"}
        return {**_renamed(kept, "filename", "trace"), "type": _TRACES[trace_type]}
    if type(kind) is not str or kind not in _TYPES:
        return members
    present = {**present_job(members), "type": _TYPES[kind]}
    if (strategy := present.get(_STRATEGY, _SPREAD)) not in (_SPREAD, _EACH):
        rule = f"must be {_EACH} or {_SPREAD}, not {shown(strategy)}"
        raise WorkloadError(file, f"profiles.{displayed(name)}.{_STRATEGY}", rule)
    if kind == _HOMOGENEOUS:
        strategy = present.pop(_STRATEGY, "")
        present["type"] = "parallel_homogeneous_total" if strategy == _SPREAD else present["type"]
    if kind == "ParallelTaskProfile" and "cpu" not in present and isinstance(present.get("com"), list):
        present["cpu"] = [0] * isqrt(len(present["com"]))
    if kind == "ParallelTaskProfile" and "com" not in present and isinstance(present.get("cpu"), list):
        present["com"] = [0] * len(present["cpu"]) ** 2
    return present


def _object(extra: Any) -> dict[str, Any] | None:
    """Return `extra_data` as an object; None if it is not the text of one."""
    if isinstance(extra, str) and extra.startswith("{"):
        try:
            extra = orjson.loads(extra)
        except orjson.JSONDecodeError:
            return None
    return extra if isinstance(extra, dict) else None


def _renamed(members: dict[str, Any], name: str, other: str) -> dict[str, Any]:
    return {other if key == name else key: value for key, value in members.items()}
