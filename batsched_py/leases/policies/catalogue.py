"""Catalogue of policies: built-in ones, by all names in Haizea's configurations, and users' own (H54, H93)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

from batsched_py.leases.haizea_interface.modules import class_target, loading_haizea_modules
from batsched_py.leases.policies.admission import Admission, NoReservations
from batsched_py.leases.policies.hosts import GreedyHosts, HostOrder
from batsched_py.leases.policies.preemption import DeadlinesGiveWay, Preemptability, ReservationsFirst
from batsched_py.leases.policies.user_policies import UserAdmission, UserHostOrder, UserPreemptability
from batsched_py.leases.table import LeaseTable
from batsched_py.named import Load, Named

Policy = TypeVar("Policy")
#: Maker of a policy, given the slot table.
MakePolicy = Callable[[LeaseTable], Policy]


class PolicyChoice(NamedTuple, Generic[Policy]):
    """A selected policy: its name and its maker."""

    name: str
    make: MakePolicy[Policy]


class PolicyCatalogue(Named[PolicyChoice[Policy]]):
    """Policies of one kind by name; a user selects one, or a class as `module.Class` or `file.py:Class`.

    Attributes:
        spellings: every name of a built-in policy -> its short name.
    """

    def __init__(
        self,
        kind: str,
        known: Mapping[str, MakePolicy[Policy]],
        others: Mapping[str, str],
        method: str,
        adapt: Callable[[str, Callable[..., Any], LeaseTable], Policy],
    ) -> None:
        """Create a catalogue.

        Args:
            kind: the kind of the policies, for messages.
            known: short name -> maker of a built-in policy.
            others: other name -> short name.
            method: the method that a user's class must have.
            adapt: makes a policy from a user's class.
        """
        self.spellings = {**{name: name for name in known}, **others}
        self._method, self._adapt = method, adapt
        choices = {name: PolicyChoice(name, make) for name, make in known.items()}
        super().__init__(kind, choices, ("slottable",), self._adopt_class, notation="module.Class")

    def find(self, text: str, load: Load | None) -> PolicyChoice[Policy]:
        """Return the policy with this name, or a user's own; ValueError for an unknown name, with the rule."""
        name = self.spellings.get(text, text)
        return super().find(name if load is None else class_target(name), loading_haizea_modules(load))

    def _adopt_class(self, name: str, make: Callable[..., Any]) -> PolicyChoice[Policy]:
        if isinstance(make, type) and not callable(getattr(make, self._method, None)):
            raise ValueError(f"{name} has no method {self._method}")
        return PolicyChoice(name, lambda table: self._adapt(name, make, table))


def _spelled(module: str, classes: Mapping[str, str]) -> dict[str, str]:
    """Return full class names, in the packages of both versions of Haizea -> short names."""
    packages = ("haizea.policies", "haizea.pluggable.policies")
    return {f"{package}.{module}.{name}": short for package in packages for name, short in classes.items()}


ADMISSION: Final[PolicyCatalogue[Admission]] = PolicyCatalogue(
    "admission policy",
    {"accept-all": lambda _: Admission(), "no-ARs": lambda _: NoReservations()},
    _spelled("admission", {"AcceptAllPolicy": "accept-all", "NoARsPolicy": "no-ARs"}),
    "accept_lease",
    UserAdmission,
)
PREEMPTION: Final[PolicyCatalogue[Preemptability]] = PolicyCatalogue(
    "preemption policy",
    {
        "no-preemption": lambda _: Preemptability(),
        "ar-preempts-everything": lambda _: ReservationsFirst(),
        "deadline": lambda _: DeadlinesGiveWay(),
    },
    {
        "ar-preempts-be": "ar-preempts-everything",
        **_spelled(
            "preemption",
            {"NoPreemptionPolicy": "no-preemption", "ARPreemptsEverythingPolicy": "ar-preempts-everything"},
        ),
    },
    "get_lease_preemptability_score",
    UserPreemptability,
)
HOSTS: Final[PolicyCatalogue[HostOrder]] = PolicyCatalogue(
    "host selection policy",
    {"greedy": GreedyHosts, "no-policy": HostOrder},
    _spelled("host_selection", {"GreedyPolicy": "greedy", "NoPolicy": "no-policy"}),
    "get_host_score",
    UserHostOrder,
)
