"""Classes of objects: requirements that all jobs of a kind share, and hosts on which they are not created (L27)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from batsched_py.collection.arrangements import ARRANGEMENTS, Arrange
from batsched_py.errors import QueryError, WorkloadError
from batsched_py.queries.expression import Attribute, Comparison, Expression, Junction, Literal, both
from batsched_py.queries.parser import parse
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import unknown

#: Names of hosts, vaults or jobs that one class may list.
_MOST: Final = 10_000


class JobClass(NamedTuple):
    """A class of jobs, which name it in their member `class`.

    Attributes:
        constraint: constraint on hosts in addition to the jobs' own; None for none.
        hosts: names of the eligible hosts; empty for all.
        vaults: names of the eligible vaults; empty for all.
        duration: seconds for which hosts are reserved if a job has no walltime.
        after: ids of jobs that must have ended before.
        placer: the order in which hosts are proposed; None for that of the algorithm.
        veto: no object of the class is created on hosts for which it is true; None for none.
    """

    constraint: Expression | None = None
    hosts: tuple[str, ...] = ()
    vaults: tuple[str, ...] = ()
    duration: float = math.inf
    after: tuple[str, ...] = ()
    placer: Arrange | None = None
    veto: Expression | None = None

    def restrict(self, query: Expression) -> Expression:
        """Return a job's query combined with the constraint of its class."""
        if self.constraint is not None:
            query = both(self.constraint, query)
        return both(query, named_one_of(self.hosts)) if self.hosts else query

    def restrict_vault(self, query: Expression) -> Expression:
        """Return a job's query for a vault combined with the restriction of its class."""
        return both(query, named_one_of(self.vaults)) if self.vaults else query


def named_one_of(names: tuple[str, ...]) -> Expression:
    """Return the query for records of these names, at least one."""
    each: list[Expression] = [Comparison(Attribute("name"), "==", Literal(name)) for name in names]
    return each[0] if len(each) == 1 else Junction(tuple(each), decisive=True)


def parse_classes(file: str, document: Mapping[str, Any]) -> Mapping[str, JobClass]:
    """Return the classes of a document by their names; WorkloadError names the file, the field and the rule."""
    found = {}
    for name, members in document.items():
        place = displayed(name)
        if not isinstance(members, dict):
            raise WorkloadError(file, place, f"must be an object, not {shown(members)}")
        values = {}
        for member, value in members.items():
            where = f"{place}.{displayed(member)}"
            if member not in _READERS:
                raise WorkloadError(file, where, unknown(member, _READERS))
            try:
                values[member] = _READERS[member](value)
            except (ValueError, QueryError) as error:
                raise WorkloadError(file, where, str(error)) from None
        found[name] = JobClass(**values)
    return found


def _query(value: object) -> Expression:
    if not isinstance(value, str):
        raise ValueError(f"must be a text, not {shown(value)}")  # the caller names the place
    return parse(value)


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > _MOST or not all(isinstance(name, str) for name in value):
        raise ValueError(f"must be a list of at most {_MOST} names, not {shown(value)}")
    return tuple(value)


def _duration(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ValueError(f"must be seconds, more than 0, not {shown(value)}")
    return float(value)


def _placer(value: object) -> Arrange:
    if not isinstance(value, str):
        raise ValueError(f"must be {ARRANGEMENTS.choices}, not {shown(value)}")  # as above
    return ARRANGEMENTS.find(value, None)


_READERS: Final[Mapping[str, Callable[[object], Any]]] = {
    "constraint": _query,
    "hosts": _names,
    "vaults": _names,
    "duration": _duration,
    "after": _names,
    "placer": _placer,
    "veto": _query,
}
