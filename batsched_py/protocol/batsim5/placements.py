"""ExecuteJobEvent of Batsim 5: the hosts of a job, and the hosts of its executors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from batsched_py.bits import MAX_HOST, format_bits
from batsched_py.hostset import HostSet
from batsched_py.protocol.batsim5.envelope import only
from batsched_py.protocol.batsim5.profiles import profile_id, profile_name
from batsched_py.protocol.commands import ExecuteJob, ExecutorPlacement, PlacedProfile
from batsched_py.protocol.fields import Data, array, hosts, mapping, rest, text
from batsched_py.protocol.task_gpus import TASK_GPUS, read_task_gpus, write_task_gpus
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

_TASK_MEMBERS: Final = frozenset({TASK_GPUS})
_MEMBERS: Final = frozenset({"job_id", "allocation", "profile_allocation_override", "storage_placement"})
_PLACED: Final = frozenset({"host_allocation", "executor_placement_type", "executor_placement"})
_PREDEFINED: Final = "PredefinedExecutorPlacementStrategyWrapper"
_CUSTOM: Final = "CustomExecutorToHostMapping"
_STRATEGIES: Final[Mapping[str, ExecutorPlacement]] = {
    "SpreadOverHostsFirst": "spread",
    "FillOneHostCoresFirst": "fill",
}
_NAMES: Final = {placement: name for name, placement in _STRATEGIES.items()}

#: Hosts of a profile, the mapping of its executors to them, and the strategy without a mapping.
_Placed = tuple[HostSet, Mapping[int, int] | None, ExecutorPlacement]


def read_execute(timestamp: float, data: Data, highest: int = MAX_HOST) -> ExecuteJob:
    """Read the command; FieldError for anything that makes Batsim abort or crash."""
    if TASK_GPUS in data:
        command = read_execute(timestamp, rest(data, _TASK_MEMBERS), highest)
        return replace(command, places=read_task_gpus(data[TASK_GPUS], command.hosts, command.mapping))
    only(data, _MEMBERS)
    job_id = text(data, "job_id")
    allocation = mapping(data, "allocation")
    only(allocation, _PLACED, "allocation")
    allocated, executors, placement = _read_placed(allocation, "allocation", highest)
    overrides: tuple[PlacedProfile, ...] = ()
    storages = None
    if len(data) > 2:
        overrides = tuple(_read_overrides(job_id.partition("!")[0], data, highest))
        storages = _read_storages(data)
    return ExecuteJob(timestamp, job_id, allocated, executors, storages, None, placement, overrides)


def write_execute(command: ExecuteJob) -> dict[str, Any]:
    """Write the form that `read_execute` reads."""
    if command.additional_io is not None:
        raise FieldError("", "cannot have additional_io: Batsim 5 has no such jobs")
    data: dict[str, Any] = {
        "job_id": command.job_id,
        "allocation": _write_placed(command.hosts, command.mapping, command.placement, "allocation"),
    }
    if command.overrides:
        workload = command.job_id.partition("!")[0]
        data["profile_allocation_override"] = [
            {
                "profile_id": profile_id(workload, placed.name),
                **_write_placed(placed.hosts, placed.mapping, placed.placement, "profile_allocation_override"),
            }
            for placed in command.overrides
        ]
    if command.storage_mapping is not None:
        if not command.storage_mapping:
            raise FieldError("storage_placement", "must give at least one label its host")
        data["storage_placement"] = [
            {"storage_name": label, "host_id": host} for label, host in command.storage_mapping.items()
        ]
    if command.places:
        data[TASK_GPUS] = write_task_gpus(command.places)
    return data


def _read_placed(data: Data, path: str, highest: int) -> _Placed:
    try:
        allocated = hosts(data, "host_allocation", highest)
        if not allocated.bits:
            raise FieldError("host_allocation", "must name at least one host")
        kind, about = text(data, "executor_placement_type"), mapping(data, "executor_placement")
        if kind == _PREDEFINED:
            only(about, frozenset({"strategy"}), "executor_placement")
            strategy = about.get("strategy", "SpreadOverHostsFirst")
            if type(strategy) is not str or strategy not in _STRATEGIES:
                rule = f"must be {' or '.join(_STRATEGIES)}, not {shown(strategy)}"
                raise FieldError("executor_placement.strategy", rule)
            return allocated, None, _STRATEGIES[strategy]
        if kind != _CUSTOM:
            rule = f"must be {_PREDEFINED} or {_CUSTOM}, not {shown(kind)}"
            raise FieldError("executor_placement_type", rule)
        only(about, frozenset({"mapping"}), "executor_placement")
        return allocated, _read_mapping(about), "spread"
    except FieldError as error:
        raise FieldError(f"{path}.{error.path}", error.rule) from None


def _write_placed(
    allocated: HostSet, executors: Mapping[int, int] | None, placement: ExecutorPlacement, path: str
) -> dict[str, Any]:
    if not allocated.bits:
        raise FieldError(f"{path}.host_allocation", "must name at least one host")
    written = format_bits(allocated.bits)
    if executors is None:
        return {
            "host_allocation": written,
            "executor_placement_type": _PREDEFINED,
            "executor_placement": {"strategy": _NAMES[placement]},
        }
    if not executors or sorted(executors) != list(range(len(executors))):
        raise FieldError(f"{path}.executor_placement.mapping", "must place the executors 0, 1, 2... without a gap")
    positions = [executors[executor] for executor in range(len(executors))]
    for position in positions:
        if not 0 <= position < len(allocated):
            rule = f"must be positions in the allocation, from 0 to {len(allocated) - 1}, not {position}"
            raise FieldError(f"{path}.executor_placement.mapping", rule)
    return {
        "host_allocation": written,
        "executor_placement_type": _CUSTOM,
        "executor_placement": {"mapping": positions},
    }


def _read_mapping(data: Data) -> Mapping[int, int]:
    positions = array(data, "mapping")
    if not positions or not all(type(position) is int and position >= 0 for position in positions):
        raise FieldError("executor_placement.mapping", f"must be positions in the allocation, not {shown(positions)}")
    return dict(enumerate(positions))


def _read_overrides(workload: str, data: Data, highest: int) -> list[PlacedProfile]:
    found = []
    items = array(data, "profile_allocation_override") if "profile_allocation_override" in data else ()
    for number, item in enumerate(items):
        path = f"profile_allocation_override[{number}]"
        if type(item) is not dict:
            raise FieldError(path, f"must be an object, not {shown(item)}")
        only(item, _PLACED | {"profile_id"}, path)
        name = profile_name(workload, text(item, "profile_id"))
        found.append(PlacedProfile(name, *_read_placed(item, path, highest)))
    return found


def _read_storages(data: Data) -> Mapping[str, int] | None:
    if "storage_placement" not in data:
        return None
    storages = {}
    for number, item in enumerate(array(data, "storage_placement")):
        path = f"storage_placement[{number}]"
        if type(item) is not dict:
            raise FieldError(path, f"must be an object, not {shown(item)}")
        only(item, frozenset({"storage_name", "host_id"}), path)
        host = item.get("host_id", 0)
        if type(host) is not int or host < 0:
            raise FieldError(f"{path}.host_id", f"must be a host's number, not {shown(host)}")
        storages[text(item, "storage_name")] = host
    return storages
