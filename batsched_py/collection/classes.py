"""Classes of objects: requirements that all jobs of a kind share, and hosts on which they are not created (L27)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from batsched_py.collection.arrangements import ARRANGEMENTS, Arrange
from batsched_py.errors import QueryError, WorkloadError
from batsched_py.queries.expression import Attribute, Comparison, Expression, Junction, Literal, both
from batsched_py.queries.parser import parse
from batsched_py.reading.faults import refused
from batsched_py.reading.objects import list_of, mapping_of, object_of, read_whole
from batsched_py.reading.values import TEXT, Reader, number


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
    """Return the classes of a document by their names; WorkloadError names the file and each fault."""
    return read_whole(_CLASSES, document, WorkloadError, file)


def parse_query(text: str) -> Expression:
    """Return the query in a text; ValueError with the rule."""
    try:
        return parse(text)
    except QueryError as error:
        raise ValueError(str(error)) from None  # the caller names the place


def _arrangement(name: Any) -> Arrange:
    if not isinstance(name, str):
        raise refused(ARRANGEMENTS.choices, name)
    return ARRANGEMENTS.find(name, None)


#: The reader of queries.
QUERY: Final = TEXT.then(parse_query)
_NAMES: Final = list_of(TEXT, "names", most=10_000)
_CLASSES: Final = mapping_of(
    object_of(
        JobClass,
        {
            "constraint": QUERY,
            "hosts": _NAMES,
            "vaults": _NAMES,
            "duration": number("seconds", above=0),
            "after": _NAMES,
            "placer": Reader(_arrangement, {"type": "string"}),
            "veto": QUERY,
        },
    ),
    TEXT,
)
