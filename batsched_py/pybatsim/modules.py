"""The modules `batsim.*` for files written for pybatsim, which replace those of pybatsim."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final

from procset import ProcSet

from batsched_py.pybatsim.base import BatsimScheduler
from batsched_py.pybatsim.hook_job import HookJob
from batsched_py.pybatsim.stand_in import BatsimStandIn

#: The version of pybatsim whose names and behaviour they have.
VERSION: Final = "3.2.1"
#: Module -> name -> object.
_CONTENT: Final[Mapping[str, Mapping[str, Any]]] = {
    "batsim": {"__version__": VERSION},
    "batsim.batsim": {
        "Batsim": BatsimStandIn,
        "BatsimScheduler": BatsimScheduler,
        "Job": HookJob,
        "ProcSet": ProcSet,
    },
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


@contextmanager
def served_modules() -> Iterator[None]:
    """Let `import batsim.batsim` find our modules.

    They stay afterwards, for imports inside functions, unless pybatsim itself was imported before.
    """
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
