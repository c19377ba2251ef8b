"""Haizea's modules, importable while a user's file is loaded (H91).

They replace installed modules with these names: Haizea and mx.DateTime need Python 2, and only the clock of batsched-py
knows the time of the run. After loading, the former modules are restored; the file keeps the names that it has
imported, and therefore must import them at its top.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final

from batsched_py.leases.accounting.accounting import Accounting
from batsched_py.leases.haizea_interface.bases import (
    HaizeaProbe,
    HostSelectionPolicy,
    LeaseAdmissionPolicy,
    PreemptabilityPolicy,
)
from batsched_py.leases.haizea_interface.times import TimeDelta, get_clock
from batsched_py.leases.haizea_interface.views import Duration, LeaseView, Timestamp
from batsched_py.named import Load

#: Module -> names that can be imported from it.
_CONTENTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "haizea.core.scheduler.policy": {
        "LeaseAdmissionPolicy": LeaseAdmissionPolicy,
        "PreemptabilityPolicy": PreemptabilityPolicy,
        "HostSelectionPolicy": HostSelectionPolicy,
    },
    "haizea.core.leases": {"Lease": LeaseView, "Timestamp": Timestamp, "Duration": Duration},
    "haizea.core.accounting": {"AccountingProbe": HaizeaProbe, "AccountingDataCollection": Accounting},
    "haizea.common.utils": {"get_clock": get_clock},
    "mx.DateTime": {"TimeDelta": TimeDelta},
}


@contextmanager
def haizea_modules() -> Iterator[None]:
    """Make Haizea's modules importable within the context; modules loaded there keep the imported names."""
    replaced = _modules()
    roots = tuple({name.partition(".")[0] for name in replaced})
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in roots}
    for name in before:
        del sys.modules[name]
    sys.modules.update(replaced)
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] in roots]:
            del sys.modules[name]
        sys.modules.update(before)


def loading_haizea_modules(load: Load | None) -> Load | None:
    """Return a loader that makes Haizea's modules importable for the files that it loads; None for None."""
    if load is None:
        return None
    loader = load

    def load_with_modules(target: str, what: str) -> Any:
        with haizea_modules():
            return loader(target, what)

    return load_with_modules


def class_target(name: str) -> str:
    """Return the path of a class in the form of loaders, `module:Class`, from that or from Haizea's `module.Class`."""
    module, dot, last = name.rpartition(".")
    return f"{module}:{last}" if dot and ":" not in name else name


def _modules() -> dict[str, ModuleType]:
    """Return new modules by their full names, with their packages."""
    found: dict[str, ModuleType] = {}
    for full_name, contents in _CONTENTS.items():
        parts = full_name.split(".")
        for at in range(1, len(parts) + 1):
            name = ".".join(parts[:at])
            if name in found:
                continue
            module = found[name] = ModuleType(name, "Haizea's names, as batsched-py has them.")
            module.__path__ = []  # a package: errors about missing modules then show full names
            if at > 1:
                setattr(found[".".join(parts[: at - 1])], parts[at - 1], module)
        vars(found[full_name]).update(contents)
    return found
