"""Profiles on the wire of Batsim 5: typed tables, converted to members with the names of Batsim 4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from batsched_py.protocol.batsim5.envelope import only
from batsched_py.protocol.fields import Data, finite, mapping, rest, text
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

_MEMBERS: Final = frozenset({"id", "profile_type", "profile", "extra_data"})
_STRATEGY: Final = "generation_strategy"
_EACH: Final = "DefinedAmountsUsedForEachValue"
_SPREAD: Final = "DefinedAmountsSpreadUniformly"
_TRACES: Final = {"SMPI": "smpi", "FractionalComputation": "usage_trace"}
#: Table of Batsim 5 -> (type of Batsim 4, member there -> member here).
_TABLES: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "DelayProfile": ("delay", {"delay": "delay"}),
    "ParallelTaskProfile": ("parallel", {"computation_vector": "cpu", "communication_matrix": "com"}),
    "ParallelTaskHomogeneousProfile": (
        "parallel_homogeneous",
        {"computation_amount": "cpu", "communication_amount": "com"},
    ),
    "SequentialCompositionProfile": ("composed", {"repetition_count": "repeat", "profile_ids": "seq"}),
    "ParallelTaskOnStorageHomogeneousProfile": (
        "parallel_homogeneous_pfs",
        {"storage_name": "storage", "bytes_to_read": "bytes_to_read", "bytes_to_write": "bytes_to_write"},
    ),
    "ParallelTaskDataStagingBetweenStoragesProfile": (
        "data_staging",
        {"bytes_to_transfer": "nb_bytes", "emitter_storage_name": "from", "receiver_storage_name": "to"},
    ),
    "TraceReplayProfile": ("trace_replay", {"filename": "trace"}),
    "ForkJoinCompositionProfile": ("ForkJoinCompositionProfile", {"profile_ids": "profile_ids"}),
    "ParallelTaskMergeCompositionProfile": ("ParallelTaskMergeCompositionProfile", {"profile_ids": "profile_ids"}),
}
#: Type of Batsim 4 -> table of Batsim 5.
_TABLE_OF: Final[Mapping[str, str]] = {
    **{kind: table for table, (kind, _) in _TABLES.items()},
    "parallel_homogeneous_total": "ParallelTaskHomogeneousProfile",
    **dict.fromkeys(_TRACES.values(), "TraceReplayProfile"),
}
#: Members that Batsim 5 requires and that Batsim 4's files may omit -> their default.
_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "composed": {"repeat": 1},
    "parallel_homogeneous": {"com": 0},
    "parallel_homogeneous_total": {"com": 0},
    "parallel_homogeneous_pfs": {"storage": "pfs", "bytes_to_read": 0, "bytes_to_write": 0},
}
#: Members of the type itself, which are not extra data. Batsim does not send `ret`.
_TYPE_MEMBERS: Final = frozenset({"type", "ret", "extra_data", _STRATEGY})


def profile_name(workload: str, profile_id: str) -> str:
    """Return the name of a profile within `workload`; the whole id if it is another workload's."""
    owner, mark, name = profile_id.partition("!")
    return name if mark and owner == workload else profile_id


def profile_id(workload: str, name: str) -> str:
    """Return the id of a profile, which is its name if that has a workload already."""
    return name if "!" in name else f"{workload}!{name}"


def read_profile(item: Any, path: str) -> tuple[str, str, dict[str, Any]]:
    """Return (workload, name, members with Batsim 4's names) of a `ProfileAndId`; FieldError."""
    if type(item) is not dict:
        raise FieldError(path, f"must be an object with a profile, not {shown(item)}")
    try:
        only(item, _MEMBERS)
        workload, _, name = text(item, "id").partition("!")
        members = _read_table(workload, text(item, "profile_type"), mapping(item, "profile"))
        if "extra_data" in item:
            members |= read_extra(text(item, "extra_data"), frozenset(members))
    except FieldError as error:
        raise FieldError(f"{path}.{error.path}", error.rule) from None
    return workload, name, members


def write_profile(workload: str, name: str, members: Mapping[str, Any]) -> dict[str, Any]:
    """Write the form that `read_profile` reads; FieldError for an unsupported type or a missing member."""
    kind = members.get("type")
    table = _TABLE_OF.get(kind) if type(kind) is str else None
    if table is None:
        raise FieldError("profile.type", f"must be a type that Batsim 5 has, not {shown(kind)}")
    written: dict[str, Any] = {
        "id": profile_id(workload, name),
        "profile_type": table,
        "profile": _write_table(workload, table, str(kind), members),
    }
    extra = write_extra(members, _TYPE_MEMBERS.union(_TABLES[table][1].values()))
    return {**written, "extra_data": extra} if extra else written


def read_extra(extra: str, known: frozenset[str]) -> dict[str, Any]:
    """Return the members in `extra_data`: those of an object, except `known` names; else the text itself.

    The text is kept, too, if writing the members would not reproduce it. An object that is too deeply nested to be
    written is treated as a text.
    """
    try:
        parsed = orjson.loads(extra) if extra.startswith("{") else None
        written = orjson.dumps(parsed).decode()
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        parsed, written = None, ""
    if type(parsed) is not dict:
        return {"extra_data": extra} if extra else {}
    members = rest(parsed, known | {"extra_data"})
    if members != parsed or written != extra:
        members["extra_data"] = extra
    return members


def write_extra(members: Mapping[str, Any], known: frozenset[str]) -> str:
    """Return the text of `extra_data`: the one that was read, or an object with the members that are not `known`."""
    extra = members.get("extra_data")
    if type(extra) is str:
        return extra
    own: Any = rest(members, known if extra is None else known - {"extra_data"})
    if set(own) == {"extra_data"}:
        own = extra
    if not own:
        return ""
    try:
        return orjson.dumps(finite(own, "extra_data") if type(own) is dict else own).decode()
    except TypeError as error:
        raise FieldError("extra_data", f"cannot be written as JSON: {error}") from None


def _read_table(workload: str, table: str, data: Data) -> dict[str, Any]:
    if table not in _TABLES:
        raise FieldError("profile_type", f"must be a profile of Batsim 5, not {shown(table)}")
    kind, names = _TABLES[table]
    only(data, frozenset({*names, _STRATEGY, "trace_type"}), "profile")
    members: dict[str, Any] = {"type": kind, **{names[key]: data[key] for key in data if key in names}}
    if table == "SequentialCompositionProfile":
        members["seq"] = [profile_name(workload, step) for step in _steps(data)]
    elif table == "ParallelTaskHomogeneousProfile":
        members["type"] = "parallel_homogeneous_total" if data.get(_STRATEGY) == _SPREAD else kind
    elif table == "TraceReplayProfile":
        trace = data.get("trace_type", "SMPI")
        members["type"] = _TRACES.get(trace, kind) if type(trace) is str else kind
    elif _STRATEGY in data and data[_STRATEGY] != _EACH:
        members[_STRATEGY] = data[_STRATEGY]
    return members


def _write_table(workload: str, table: str, kind: str, members: Mapping[str, Any]) -> dict[str, Any]:
    names, defaults = _TABLES[table][1], _DEFAULTS.get(kind, {})
    values = {**defaults, **members}
    data = {key: values[name] for key, name in names.items() if name in values}
    missing = [name for key, name in names.items() if key not in data and kind != "parallel"]
    if missing:
        raise FieldError(f"profile.{missing[0]}", f"is missing, and Batsim 5 needs it for type {kind}")
    if table == "SequentialCompositionProfile":
        data["profile_ids"] = [profile_id(workload, step) for step in _steps(data)]
    elif table == "ParallelTaskHomogeneousProfile":
        data[_STRATEGY] = _SPREAD if kind == "parallel_homogeneous_total" else _EACH
    elif table == "ParallelTaskOnStorageHomogeneousProfile":
        data[_STRATEGY] = members.get(_STRATEGY, _EACH)
    elif table == "TraceReplayProfile":
        data = {"trace_type": next(name for name, known in _TRACES.items() if known == kind), **data}
    return finite(data, "profile")


def _steps(data: Data) -> list[str]:
    steps = data.get("profile_ids")
    if type(steps) is not list or not all(type(step) is str for step in steps):
        raise FieldError("profile.profile_ids", f"must be a list of names, not {shown(steps)}")
    return steps
