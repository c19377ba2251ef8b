"""The member `slurm` of a job: the options of sbatch that no other member of a workload expresses.

Names are those of sbatch's long options, with underscores; times are in seconds, memory in MiB.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from msgspec import Struct

from batsched_py.reading.faults import FieldError, inside, refused
from batsched_py.reading.limits import LATEST
from batsched_py.reading.objects import mapping_of, object_of
from batsched_py.reading.values import (
    TEXT,
    TRUTH,
    Reader,
    name_text,
    one_of,
    seconds,
    whole_number,
)
from batsched_py.slurm.conf_values import gres
from batsched_py.slurm.configuration import GresCount
from batsched_py.slurm.dependencies import KINDS

#: The member of a job.
MEMBER: Final = "slurm"
_MOST: Final = 1_000_000_000
_LATER: Final = re.compile(r"\+(\d{1,11}(?:\.\d{1,6})?)")
_RANGE: Final = re.compile(r"(\d{1,9})-(\d{1,9})")


class JobInstant(NamedTuple):
    """An instant in seconds since time zero, or after the submission."""

    seconds: float
    is_later: bool


class SlurmMember(Struct, frozen=True):
    """The options of one job; None, and other defaults, are those of sbatch.

    Attributes:
        time_limit, time_min: seconds.
        nodes: least and largest number of nodes.
        mem_per_cpu, mem: MiB.
        gres: generic resources of each node.
        gpus: GPUs of the whole job.
        dependency: as sbatch takes it, with names of jobs for ids.
        array_task: number of the task in the job's array.
    """

    account: str | None = None
    qos: str | None = None
    partition: str = ""
    reservation: str | None = None
    constraint: str = ""
    job_name: str = ""
    time_limit: float | None = None
    time_min: float | None = None
    begin: JobInstant | None = None
    deadline: JobInstant | None = None
    nodes: tuple[int, int] | None = None
    ntasks: int | None = None
    cpus_per_task: int | None = None
    ntasks_per_node: int | None = None
    mem_per_cpu: int | None = None
    mem: int | None = None
    gres: tuple[GresCount, ...] = ()
    gpus: int | None = None
    licences: tuple[tuple[str, int], ...] | None = None
    dependency: str = ""
    kill_on_invalid_dep: bool | None = None
    array_task: int | None = None
    nice: int = 0
    hold: bool = False
    requeue: bool = True
    exclusive: str = ""
    switches: int | None = None
    switches_wait: float | None = None
    hint: str = ""


NOTHING: Final = SlurmMember()


def read_member(members: Mapping[str, Any]) -> SlurmMember:
    """Return the options in the member `slurm` of a job with these members. FieldError with all faults."""
    if MEMBER not in members:
        return NOTHING
    try:
        member = _MEMBER.read(members[MEMBER])
        _check(member)
    except FieldError as error:
        raise inside(MEMBER, error) from None
    return member


def _check(member: SlurmMember) -> None:
    """Raise FieldError for an option that another one excludes, or without which it has no effect."""
    if member.switches_wait is not None and member.switches is None:
        raise FieldError("switches_wait", "must be with switches, whose wait it is")
    if member.mem is not None and member.mem_per_cpu is not None:
        raise FieldError("mem", "cannot be combined with mem_per_cpu")
    if "singleton" in member.dependency.split(",") and not member.job_name:
        raise FieldError("dependency", "singleton must be with job_name, the name among whose jobs it is alone")


def _instant(value: Any) -> JobInstant:
    later = _LATER.fullmatch(value) if isinstance(value, str) else None
    if later is not None:
        return JobInstant(float(later[1]), is_later=True)
    if type(value) in (int, float) and 0 <= value <= LATEST:
        return JobInstant(float(value), is_later=False)
    raise refused('a number of seconds from 0, or "+" and seconds after the submission', value)


def _nodes(value: Any) -> tuple[int, int]:
    span = _RANGE.fullmatch(value) if isinstance(value, str) else None
    if span is not None and 1 <= int(span[1]) <= int(span[2]):
        return int(span[1]), int(span[2])
    if type(value) is int and 1 <= value <= _MOST:
        return value, value
    raise refused('a whole number from 1, or a range such as "2-4"', value)


def _dependency(text: str) -> str:
    if "?" in text and "," in text:
        raise ValueError("must have commas, if all parts are to be fulfilled, or ?, if one is: not both")
    parts = re.split("[,?]", text)
    if "?" in text and "singleton" in parts:
        raise ValueError("must not have singleton as an alternative")
    for part in parts:
        kind, _, references = part.partition(":")
        if part != "singleton" and (kind not in KINDS or not all(references.split(":"))):
            kinds = ", ".join(sorted(KINDS))
            raise ValueError(f"must have parts KIND:NAME, such as afterok:prepare, or singleton; kinds are {kinds}")
    return text


_COUNT: Final = whole_number(least=1, most=_MOST)
_SECONDS: Final = seconds(above=0)
_INSTANT: Final = Reader(_instant, {"type": ["number", "string"]})
_LICENCES: Final = mapping_of(_COUNT, TEXT).then(lambda found: tuple(sorted(found.items())))
_MEMBER: Final = object_of(
    SlurmMember,
    {
        **dict.fromkeys(("account", "qos", "partition", "reservation", "job_name"), name_text()),
        # Features and dependencies of sbatch have commas, which names of workloads have not.
        **dict.fromkeys(("partition", "constraint"), TEXT),
        "dependency": TEXT.then(_dependency),
        **dict.fromkeys(("time_limit", "time_min", "switches_wait"), _SECONDS),
        **dict.fromkeys(("begin", "deadline"), _INSTANT),
        "nodes": Reader(_nodes, {"type": ["integer", "string"]}),
        **dict.fromkeys(("ntasks", "cpus_per_task", "ntasks_per_node", "gpus", "switches"), _COUNT),
        **dict.fromkeys(("mem_per_cpu", "mem", "array_task"), whole_number(most=_MOST)),
        "gres": TEXT.then(gres),
        "licences": _LICENCES,
        **dict.fromkeys(("kill_on_invalid_dep", "hold", "requeue"), TRUTH),
        "nice": whole_number(least=-_MOST, most=_MOST),
        "exclusive": one_of(("node", "user")),
        "hint": one_of(("nomultithread",)),
    },
)
