"""Constraints: user functions that limit the hosts on which a job may run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from batsched_py.errors import PlanError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.named import Named, failed
from batsched_py.planning.machine import MachineHost

#: A user function: (job, hosts by number) -> hosts on which the job may run; hosts are `batsched_py.api.Host`.
Rule = Callable[[Job, Mapping[int, Any]], HostSet | Iterable[int]]


class Constraint(Struct, frozen=True):
    """A rule that limits the hosts of each job, or no rule, for no limit."""

    name: str
    rule: Rule | None = None

    def hosts(self, job: Job, hosts: Mapping[int, MachineHost], everywhere: HostSet) -> HostSet:
        """Return the hosts in `everywhere`, the numbers of `hosts`, on which the job may run.

        PlanError if the user's function raises, or returns anything but numbers of hosts.
        """
        if self.rule is None:
            return everywhere
        what = f"constraint {self.name} for {job.id}"
        try:
            given = self.rule(job, hosts)
            if isinstance(given, Iterator):  # it may raise during iteration
                given = list(given)
        except BaseException as error:
            raise failed(what, error) from error
        try:
            eligible = given if type(given) is HostSet else HostSet.from_ids(given)
        except (TypeError, ValueError):
            raise PlanError(f"{what}: it must give a HostSet or numbers of hosts, not {given!r}") from None
        if not eligible <= everywhere:
            raise PlanError(f"{what}: it gave {eligible}, of which {eligible - everywhere} is not in the platform")
        return eligible


def _ask(job: Job, hosts: Mapping[int, Any]) -> HostSet:  # noqa: ARG001  # as a user's function
    raise AssertionError(f"{job.id}: queries are asked by the placement")


#: The constraint that each job gives as a query in its member `constraint`.
QUERY: Final = Constraint("query", _ask)


def adopt(name: str, function: Callable[..., Any]) -> Constraint:
    """Return a user's function(job, hosts) as a constraint."""
    return Constraint(name, function)


#: "none", "query", or a user function.
CONSTRAINTS: Final[Named[Constraint]] = Named(
    "constraint", {"none": Constraint("none"), "query": QUERY}, ("job", "hosts"), adopt
)
