"""Submissions of jobs: the options of sbatch, as one frozen request."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from batsched_py.slurm.conf_values import duration, gres, licences, megabytes, minutes, whole
from batsched_py.slurm.configuration import GresCount
from batsched_py.slurm.hostlist import MOST_NODES


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """The options of sbatch that decisions depend on: None is not named; limits in minutes, other times in seconds."""

    name: str = ""
    user: str = "root"
    account: str | None = None
    qos: str | None = None
    partitions: tuple[str, ...] = ()
    time_limit: int | None = None
    time_min: int | None = None
    min_nodes: int | None = None
    max_nodes: int | None = None
    tasks: int | None = None
    cpus_per_task: int = 1
    tasks_per_node: int | None = None
    mem_per_cpu: int | None = None
    mem_per_node: int | None = None
    gres: tuple[GresCount, ...] = ()
    #: GPUs of the whole job.
    gpus: int | None = None
    gpus_per_task: int | None = None
    constraint: str = ""
    licences: tuple[tuple[str, int], ...] = ()
    dependency: str = ""
    kill_on_invalid_dependency: bool | None = None
    array: tuple[int, ...] = ()
    array_limit: int | None = None
    #: After the submission.
    begin: float | None = None
    deadline: float | None = None
    reservation: str | None = None
    nice: int = 0
    hold: bool = False
    #: "", "node" or "user".
    exclusive: str = ""
    switches: int | None = None
    switches_wait: float | None = None
    requeue: bool = True
    whole_cores: bool = False
    #: May other jobs have its cores, too, where the partition allows it?
    share: bool = False


def _nodes(text: str) -> dict[str, Any]:
    least, _, most = text.partition("-")
    return {"min_nodes": whole(least), "max_nodes": whole(most or least)}


def _array(text: str) -> dict[str, Any]:
    span, _, limit = text.partition("%")
    tasks: list[int] = []
    for part in span.split(","):
        first, _, last = part.partition("-")
        if whole(last or first) - whole(first) > MOST_NODES:
            raise ValueError(f"must have at most {MOST_NODES} tasks")
        tasks += range(whole(first), whole(last or first) + 1)
    return {"array": tuple(tasks), "array_limit": whole(limit) if limit else None}


def _switches(text: str) -> dict[str, Any]:
    count, _, wait = text.partition("@")
    return {"switches": whole(count), "switches_wait": duration(wait) if wait else None}


def _after(text: str) -> float:
    match = re.fullmatch(r"now\+(\d{1,8})(minutes?|hours?)?", text)
    if match is None:
        raise ValueError("must be now+SECONDS")
    return float(match[1]) * {"m": 60, "h": 3600}.get((match[2] or "s")[0], 1)


def _one(field: str, reader: Callable[[str], Any]) -> Callable[[str], dict[str, Any]]:
    return lambda text: {field: reader(text)}


_OPTIONS: Final[Mapping[str, Callable[[str], dict[str, Any]]]] = {
    "-J": _one("name", str),
    "-N": _nodes,
    "-n": _one("tasks", whole),
    "-c": _one("cpus_per_task", whole),
    "-t": _one("time_limit", minutes),
    "-p": _one("partitions", lambda text: tuple(text.split(","))),
    "-q": _one("qos", str),
    "-A": _one("account", str),
    "-C": _one("constraint", str),
    "-L": _one("licences", licences),
    "--ntasks-per-node": _one("tasks_per_node", whole),
    "--mem-per-cpu": _one("mem_per_cpu", megabytes),
    "--mem": _one("mem_per_node", megabytes),
    "--gres": _one("gres", gres),
    "--gpus": _one("gpus", whole),
    "--gpus-per-task": _one("gpus_per_task", whole),
    "--dependency": _one("dependency", str),
    "--kill-on-invalid-dep": _one("kill_on_invalid_dependency", lambda text: text == "yes"),
    "--array": _array,
    "--begin": _one("begin", _after),
    "--deadline": _one("deadline", _after),
    "--time-min": _one("time_min", minutes),
    "--reservation": _one("reservation", str),
    "--nice": _one("nice", lambda text: whole(text) if text else 100),
    "--switches": _switches,
    "--hint": _one("whole_cores", lambda text: text == "nomultithread"),
    "--exclusive": _one("exclusive", lambda text: text or "node"),
}
_FLAGS: Final[Mapping[str, dict[str, Any]]] = {
    "--requeue": {"requeue": True},
    "--no-requeue": {"requeue": False},
    "--hold": {"hold": True},
    "-H": {"hold": True},
    "--exclusive": {"exclusive": "node"},
    "--oversubscribe": {"share": True},
}
#: Options with a value that have no effect on decisions.
_IGNORED: Final = frozenset({"-o", "-e", "-D", "--wrap"})


def read_request(arguments: Iterable[str], user: str) -> BatchRequest:
    """Return the request in arguments of sbatch.

    Raises:
        ValueError: an option is unknown, or its value breaks a rule.
    """
    values: dict[str, Any] = {"user": user}
    rest = iter(arguments)
    for word in rest:
        option, is_joined, text = word.partition("=") if word.startswith("--") else (word, "", "")
        if word in _FLAGS:
            values |= _FLAGS[word]
        elif option in _IGNORED:
            next(rest, None)
        elif option in _OPTIONS:
            values |= _OPTIONS[option](text if is_joined else next(rest, ""))
        else:
            raise ValueError(f"sbatch {option[:40]!r} is not supported")
    return BatchRequest(**values)
