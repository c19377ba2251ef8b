"""The modules `batsim.*` for files written for pybatsim, which replace those of pybatsim."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final

import procset

from batsched_py.pybatsim.base import BatsimScheduler
from batsched_py.pybatsim.bit_procset import BitProcSet
from batsched_py.pybatsim.hook_job import HookJob
from batsched_py.pybatsim.objects import algorithms, filters
from batsched_py.pybatsim.objects.allocation import ResourceAllocation
from batsched_py.pybatsim.objects.jobs import JobList, ObjectJob
from batsched_py.pybatsim.objects.lists import ElementList, filter_list, just_after
from batsched_py.pybatsim.objects.resource_list import ResourceList
from batsched_py.pybatsim.objects.resources import AllocatedResource, HostResource, ResourceRequirement
from batsched_py.pybatsim.objects.scheduler import (
    EnergyReply,
    ObjectScheduler,
    ReceivedMessage,
    as_scheduler,
)
from batsched_py.pybatsim.objects.workloads import DescribedJob, DescribedWorkload, ObjectProfile, ObjectProfiles
from batsched_py.pybatsim.stand_in import BatsimStandIn

#: The version of pybatsim whose names and behaviour they have.
VERSION: Final = "3.2.1"
#: The names of `batsim.sched`.
_SCHED: Final[Mapping[str, Any]] = {
    "Scheduler": ObjectScheduler,
    "as_scheduler": as_scheduler,
    "Job": ObjectJob,
    "Jobs": JobList,
    "ComputeResource": HostResource,
    "Resource": AllocatedResource,
    "Resources": ResourceList,
    "ResourceRequirement": ResourceRequirement,
    "Profiles": ObjectProfiles,
    "Profile": ObjectProfile,
    "Allocation": ResourceAllocation,
    "JobDescription": DescribedJob,
    "WorkloadDescription": DescribedWorkload,
}
_UTILS: Final = {"filter_list": filter_list, "increment_float": just_after, "ObserveList": ElementList}
_ALGORITHMS: Final = {name: value for name, value in vars(algorithms).items() if not name.startswith("_")}
_FILTERS: Final = {name: value for name, value in vars(filters).items() if not name.startswith("_")}
#: Module -> name -> object.
_CONTENT: Final[Mapping[str, Mapping[str, Any]]] = {
    "batsim": {"__version__": VERSION},
    "batsim.batsim": {
        "Batsim": BatsimStandIn,
        "BatsimScheduler": BatsimScheduler,
        "Job": HookJob,
        "ProcSet": BitProcSet,
    },
    "batsim.sched": {**_SCHED, "__all__": list(_SCHED)},
    "batsim.sched.scheduler": _SCHED,
    "batsim.sched.job": _SCHED,
    "batsim.sched.resource": _SCHED,
    "batsim.sched.alloc": _SCHED,
    "batsim.sched.profiles": _SCHED,
    "batsim.sched.workloads": _SCHED,
    "batsim.sched.reply": {"ConsumedEnergyReply": EnergyReply},
    "batsim.sched.messages": {"Message": ReceivedMessage},
    "batsim.sched.utils": _UTILS,
    "batsim.sched.algorithms": {},
    "batsim.sched.algorithms.filling": _ALGORITHMS,
    "batsim.sched.algorithms.backfilling": _ALGORITHMS,
    "batsim.sched.algorithms.utils": {**_ALGORITHMS, **_FILTERS},
}


def _make(name: str) -> ModuleType:
    module = ModuleType(name, "Part of pybatsim's interface, provided by batsched-py.")
    vars(module).update(_CONTENT[name], __path__=[])
    return module


#: Name -> module; packages have their modules as attributes.
_MODULES: Final = {name: _make(name) for name in _CONTENT}
for _name, _module in _MODULES.items():
    _parent, _, _child = _name.rpartition(".")
    if _parent:
        setattr(_MODULES[_parent], _child, _module)


#: The package `procset` with the faster set.
_PROCSET: Final = ModuleType("procset", "The package procset, with sets that are kept as bits.")
vars(_PROCSET).update(
    {name: value for name, value in vars(procset).items() if not name.startswith("__")}, ProcSet=BitProcSet
)


@contextmanager
def served_modules() -> Iterator[None]:
    """Let `import batsim.batsim` find our modules, and `procset` have the faster set.

    The first stay afterwards, for imports inside functions, unless pybatsim itself was imported before.
    """
    real = sys.modules["procset"]
    sys.modules["procset"] = _PROCSET
    try:
        with _served_batsim():
            yield
    finally:
        sys.modules["procset"] = real


@contextmanager
def _served_batsim() -> Iterator[None]:
    before = {name: module for name, module in sys.modules.items() if name == "batsim" or name.startswith("batsim.")}
    for name in before:
        del sys.modules[name]
    sys.modules.update(_MODULES)
    try:
        yield
    finally:
        if before.get("batsim", _MODULES["batsim"]) is not _MODULES["batsim"]:
            for name in _MODULES:
                sys.modules.pop(name, None)
            sys.modules.update(before)
