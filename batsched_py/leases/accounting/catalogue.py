"""Catalogue of probes: built-in ones, by all names in Haizea's configurations, and users' own (H93)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from batsched_py.leases.accounting.accounting import Accounting
from batsched_py.leases.accounting.built_in import AdmissionProbe, BestEffortProbe, CpuUtilizationProbe, DiskUsageProbe
from batsched_py.leases.accounting.probe import AccountingProbe, MakeProbe
from batsched_py.leases.haizea_interface.modules import class_target, loading_haizea_modules
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.named import Load, Named


def _reservations(accounting: Accounting) -> AccountingProbe:
    return AdmissionProbe(accounting, LeaseKind.ADVANCE, "AR")


def _immediate(accounting: Accounting) -> AccountingProbe:
    return AdmissionProbe(accounting, LeaseKind.IMMEDIATE, "Immediate")


def _deadline(accounting: Accounting) -> AccountingProbe:
    return AdmissionProbe(accounting, LeaseKind.DEADLINE, "Deadline")


#: Short name, as in configurations and options -> maker of a probe.
_SHORT: Final[dict[str, MakeProbe]] = {
    "ar": _reservations,
    "immediate": _immediate,
    "best-effort": BestEffortProbe,
    "deadline": _deadline,
    "cpu-utilization": CpuUtilizationProbe,
    "disk-usage": DiskUsageProbe,
}
_PACKAGE: Final = "haizea.pluggable.accounting"
#: Other names in Haizea's configurations -> short names.
_LONG: Final = {
    "AR": "ar",
    "utilization": "cpu-utilization",
    f"{_PACKAGE}.leases.ARProbe": "ar",
    f"{_PACKAGE}.leases.IMProbe": "immediate",
    f"{_PACKAGE}.leases.BEProbe": "best-effort",
    f"{_PACKAGE}.leases.DeadlineProbe": "deadline",
    f"{_PACKAGE}.utilization.CPUUtilizationProbe": "cpu-utilization",
    f"{_PACKAGE}.utilization.DiskUsageProbe": "disk-usage",
}


class Probes(NamedTuple):
    """A selection of probes: their names, separated by blanks, and their makers."""

    name: str
    makers: tuple[MakeProbe, ...]


NO_PROBES: Final = Probes("none", ())


class ProbeCatalogue(Named[Probes]):
    """Probes by name; a user selects none, one or several, separated by blanks or commas."""

    def __getitem__(self, name: str) -> Probes:
        return self.find(name, None)

    def find(self, text: str, load: Load | None) -> Probes:
        """Return the selected probes, each once; ValueError for an unknown name, with the rule."""
        words = text.replace(",", " ").split() or [NO_PROBES.name]
        names = dict.fromkeys(_LONG.get(word, word) for word in words)
        own = loading_haizea_modules(load)
        found = [super(ProbeCatalogue, self).find(name if load is None else class_target(name), own) for name in names]
        return Probes(" ".join(names), tuple(maker for one in found for maker in one.makers))


def _adopt(name: str, make: Callable[..., Any]) -> Probes:
    def made(accounting: Accounting) -> AccountingProbe:
        probe: Any = make(accounting)
        missing = [hook for hook in HOOKS if not callable(getattr(probe, hook, None))]
        if missing:
            raise ValueError(f"probe {name}: it has no method {missing[0]}")
        return probe  # type: ignore[no-any-return]  # it has all hooks

    return Probes(name, (made,))


#: The hooks of a probe; a user's class needs them, but not the base class.
HOOKS: Final = ("at_timestep", "at_lease_request", "at_lease_done", "finalize_accounting")

#: All probes by name; a user's own is a class whose constructor takes the accounting.
PROBES: Final[ProbeCatalogue] = ProbeCatalogue(
    "probe",
    {NO_PROBES.name: NO_PROBES, **{name: Probes(name, (make,)) for name, make in _SHORT.items()}},
    ("accounting",),
    _adopt,
    notation="module.Class",
)
