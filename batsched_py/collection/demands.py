"""Demands: requirements of jobs for hosts and vaults, from their members and their classes (L26, L27, L36)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

from batsched_py.collection.alternatives import Schedule, read_alternatives
from batsched_py.collection.classes import QUERY, JobClass, named_one_of
from batsched_py.collection.tokens import Request, ReservationType
from batsched_py.model.job import Job
from batsched_py.model.profile import ParallelHomogeneousPfs, Profile
from batsched_py.queries.expression import Attribute, Comparison, Expression, Literal, both
from batsched_py.queries.host_attributes import HOST, VAULT
from batsched_py.queries.records import Requester
from batsched_py.reading.faults import FieldError, inside
from batsched_py.reading.objects import take
from batsched_py.reading.values import TEXT, number, optional
from batsched_py.text.wording import unknown

_NO_CLASS: Final = JobClass()
_ANY: Final = Literal(True)
_OPTIONAL_TEXT: Final = optional(TEXT)
_AMOUNT: Final = number(least=0)
#: Maximum number of schedules in a job.
MOST_ALTERNATIVES: Final = 1000
#: Queries for vaults, for resources that are up and have room, and for hosts among these.
IS_VAULT: Final = Comparison(Attribute("kind"), "==", Literal(VAULT))
FREE: Final = both(Comparison(Attribute("load"), "<", Literal(1)), Attribute("up"))
IS_HOST: Final = Comparison(Attribute("kind"), "==", Literal(HOST))
FREE_HOST: Final = both(IS_HOST, FREE)
#: Queries for hosts that tasks may share, whatever runs there.
UP: Final = Attribute("up")
UP_HOST: Final = both(IS_HOST, UP)


class Demand(NamedTuple):
    """The demand of a job.

    Attributes:
        query: the query that each of its hosts must satisfy.
        kind: its class.
        requester: its user, class and origin.
        cpus: amount of each host that it takes, if hosts are shared.
        vault: the query for the vault of its data; None if it needs none.
        space: amount of the vault that it takes.
        label: name of the vault in its profile; None if the profile does not name one.
        alternatives: its own schedules, in order of preference; empty to have them proposed.
    """

    query: Expression
    kind: JobClass
    requester: Requester
    cpus: float = 1.0
    vault: Expression | None = None
    space: float = 0.0
    label: str | None = None
    alternatives: tuple[Schedule, ...] = ()

    def request(self, job: Job, now: float, time_out: float, *, shared: bool) -> Request:
        """Return the terms of a reservation of a host that begins now; of a task, if the job has a demand."""
        end = now + (job.limit if job.limit < math.inf else self.kind.duration)
        task = None if job.demand is None else job.demand.task
        how = ReservationType.ONE_SHOT_TIME if shared or task is not None else ReservationType.ONE_SHOT_SPACE
        amount = self.cpus if shared and task is None else 1.0
        return Request(job.id, now, end, how, amount, time_out, *self.requester, task=task)

    def vault_request(self, request: Request) -> Request:
        """Return the terms of the reservation of its vault, given those of its hosts."""
        return request._replace(type=ReservationType.ONE_SHOT_TIME, amount=self.space, task=None)


def read_demand(job: Job, profile: Profile | None, classes: Mapping[str, JobClass]) -> Demand:
    """Return the demand of a job; FieldError names the member that breaks a rule.

    Jobs with `space` or a query `vault`, and jobs whose profile uses a storage, need a vault.
    """
    members = job.members
    name = take(members, "class", _OPTIONAL_TEXT, None)
    if name is not None and name not in classes:
        raise FieldError("class", unknown(name, classes))
    kind = _NO_CLASS if name is None else classes[name]
    query = kind.restrict(take(members, "constraint", QUERY, _ANY))
    label = profile.storage if isinstance(profile, ParallelHomogeneousPfs) else None
    vault = None
    if label is not None or "vault" in members or "space" in members:
        vault = kind.restrict_vault(both(IS_VAULT, take(members, "vault", QUERY, _ANY)))
    if label is not None and job.demand is not None:
        raise FieldError("demand", "cannot be combined with a profile that uses a storage")
    requester = Requester(job.user, name, _text(members, "origin"))
    space, cpus = take(members, "space", _AMOUNT, 0.0), take(members, "cpus", _AMOUNT, 1.0)
    alternatives = _alternatives(job)
    stored = [any(one.vault is not None for one in schedule) for schedule in alternatives]
    if vault is not None and any(stored) and not all(stored):
        rule = "names no vault, which the job needs and others name"
        raise FieldError(f"alternatives[{stored.index(False)}]", rule)
    if alternatives:
        query = both(query, named_one_of(tuple({one.host: None for schedule in alternatives for one in schedule})))
    return Demand(query, kind, requester, cpus, vault, space, label, alternatives)


def _alternatives(job: Job) -> tuple[Schedule, ...]:
    """Return a job's own schedules; FieldError."""
    given = job.members.get("alternatives")
    if given is None:
        return ()
    try:
        if isinstance(given, list) and len(given) > MOST_ALTERNATIVES:
            raise ValueError(f"must be at most {MOST_ALTERNATIVES} schedules, not {len(given)}")
        schedules = read_alternatives(given)
    except ValueError as error:
        raise inside("alternatives", error) from None
    for index, schedule in enumerate(schedules):
        hosts = {placement.host for placement in schedule}
        apart = job.demand is None or job.demand.spread
        if len(schedule) != job.size or (apart and len(hosts) != job.size):
            rule = f"must place as many objects as the job has hosts, {job.size}, each on another one"
            if not apart:
                rule = f"must place as many objects as the job has tasks, {job.size}"
            raise FieldError(f"alternatives[{index}]", rule)
    return tuple(schedules)


def _text(members: Mapping[str, object], name: str) -> str | None:
    value = members.get(name)
    return None if value is None else str(value)
