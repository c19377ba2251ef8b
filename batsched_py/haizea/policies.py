"""Policies that a configuration names (H54, H93)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from batsched_py.errors import OptionError
from batsched_py.haizea.config import PolicyNames
from batsched_py.leases.policies.admission import Admission, NoReservations
from batsched_py.leases.policies.hosts import GreedyHosts, HostOrder
from batsched_py.leases.policies.preemption import DeadlinesGiveWay, Preemptability, ReservationsFirst
from batsched_py.leases.scheduler import Policies
from batsched_py.text.display import displayed
from batsched_py.text.wording import unknown

_ADMISSION: Final[Mapping[str, Callable[[], Admission]]] = {"accept-all": Admission, "no-ARs": NoReservations}
_PREEMPTION: Final[Mapping[str, Callable[[], Preemptability]]] = {
    "no-preemption": Preemptability,
    "ar-preempts-everything": ReservationsFirst,
    "deadline": DeadlinesGiveWay,
}
_HOSTS: Final[Mapping[str, Callable[[Any], HostOrder]]] = {"greedy": GreedyHosts, "no-policy": HostOrder}


def find_policies(names: PolicyNames, folder: Path) -> Policies:
    """Return the policies of these names; OptionError for one that is unknown.

    Classes of the user's own are looked for in the folder of the configuration first.
    """
    del folder
    admission = _find("policy-admission", names.admission, _ADMISSION)
    preemption = _find("policy-preemption", names.preemption, _PREEMPTION)
    hosts = _find("policy-host-selection", names.hosts, _HOSTS)
    return Policies(lambda _: admission(), lambda _: preemption(), hosts)


def _find(option: str, name: str, known: Mapping[str, Any]) -> Any:
    if name not in known:
        raise OptionError(f"scheduling.{option}: {displayed(name)} is {unknown(name, known)}")
    return known[name]
