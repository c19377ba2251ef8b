"""The conditions under which a job may wait for hosts: members `depends_on`, `singleton` and `array` of jobs.

The names are those of Slurm's options `--dependency` (after, afterany, afterok, afternotok; singleton) and `--array`
(`%limit`); the delay is the think time of the Standard Workload Format.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from batsched_py.model.job import Job
from batsched_py.reading.faults import FieldError, refused
from batsched_py.reading.objects import list_of, object_of
from batsched_py.reading.values import Reader, name_text, one_of, seconds, whole_number
from batsched_py.text.display import displayed

#: The state that a job must reach: it was started; it has ended; it has ended well, or otherwise.
When: TypeAlias = Literal["start", "end", "success", "failure"]
WHEN: Final[tuple[When, ...]] = ("start", "end", "success", "failure")
#: Members of a job that are conditions.
CONDITIONS: Final = frozenset({"depends_on", "singleton", "array"})
#: Member of a job that is another attempt of one which has just failed: the name of that one, in the same workload.
ATTEMPT_OF: Final = "attempt_of"
#: Maximum number of jobs on which one job depends: workflows with wider stages are split.
MOST: Final = 100_000


class Dependency(Struct, frozen=True):
    """The dependency of a job on another one.

    Attributes:
        job: id of the other job, or its name in the same workload.
        when: the state that it must reach.
        delay: seconds that pass after that.
    """

    job: str
    when: When = "success"
    delay: float = 0.0

    def id(self, workload: str) -> str:
        """Return the id of the other job, for a job of this workload."""
        return self.job if "!" in self.job else f"{workload}!{self.job}"


class ArrayTask(Struct, frozen=True):
    """The membership in a job array, of which at most `limit` jobs run simultaneously; None for no limit."""

    id: str
    limit: int | None = None


class Conditions(Struct, frozen=True):
    """The conditions of one job, all of which must be fulfilled.

    Attributes:
        depends_on: other jobs.
        singleton: a name: all jobs of the same user with this name, which were submitted before, must have ended.
        array: the array that it belongs to.
    """

    depends_on: tuple[Dependency, ...] = ()
    singleton: str | None = None
    array: ArrayTask | None = None


def has_conditions(job: Job) -> bool:
    """Return whether a job has one of the members."""
    return not CONDITIONS.isdisjoint(job.members)


def conditions_in(members: Mapping[str, Any]) -> Conditions:
    """Return the conditions among the members of a job. FieldError for others than documented."""
    return _CONDITIONS.read({name: members[name] for name in sorted(CONDITIONS) if name in members})


def check_graph(dependent: Mapping[str, Sequence[str]], names: Container[str]) -> None:
    """Check the dependencies of a workload's jobs: name -> names in the same workload.

    FieldError for a name that is not one of `names`, and for a cycle.
    """
    for job, others in dependent.items():
        for other in others:
            if other not in names:
                raise FieldError(f"job {displayed(job)}.depends_on", f"no job is called {displayed(other)}")
    try:
        TopologicalSorter(dependent).prepare()
    except CycleError as error:
        cycle = [displayed(str(name)) for name in error.args[1]]
        shown = cycle if len(cycle) <= _SHOWN else [*cycle[: _SHOWN - 1], "...", cycle[-1]]
        raise FieldError(f"job {cycle[0]}.depends_on", f"jobs depend on each other: {' <- '.join(shown)}") from None


#: Maximum number of jobs of a cycle in a message.
_SHOWN: Final = 6


def _name(value: Any) -> str:
    """Return the name of a job: a text, or a number as in messages of Batsim."""
    return str(value) if type(value) is int and value >= 0 else _TEXT.read(value)


def _dependency(value: Any) -> Dependency:
    if isinstance(value, Mapping):
        return _OBJECT.read(value)
    if type(value) is not str and type(value) is not int:
        raise refused("the name of a job, or an object with job, when and delay", value)
    return Dependency(_name(value))


def _typed(when: str) -> When:
    return next(word for word in WHEN if word == when)


_TEXT: Final = name_text()
_JOB: Final = Reader(_name, {"anyOf": [_TEXT.schema, {"type": "integer", "minimum": 0}]})
_OBJECT: Final = object_of(
    Dependency, {"job": _JOB, "when": one_of(WHEN).then(_typed), "delay": seconds(least=0)}, required=["job"]
)
_DEPENDENCY: Final = Reader(_dependency, {"anyOf": [_JOB.schema, _OBJECT.schema]})
_CONDITIONS: Final = object_of(
    Conditions,
    {
        "depends_on": list_of(_DEPENDENCY, "dependencies", most=MOST),
        "singleton": _TEXT,
        "array": object_of(ArrayTask, {"id": _JOB, "limit": whole_number("tasks", least=1)}, required=["id"]),
    },
)
