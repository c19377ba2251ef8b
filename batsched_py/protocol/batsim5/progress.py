"""The progress of killed jobs on the wire of Batsim 5."""

from __future__ import annotations

from typing import Any, Final

from batsched_py.protocol.batsim5.envelope import only
from batsched_py.protocol.batsim5.profiles import profile_id, profile_name
from batsched_py.protocol.events import JobKilled, Progress
from batsched_py.protocol.fields import Data, array, integer, mapping, rest, text, texts
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

_MEMBERS: Final = frozenset({"job_ids", "progresses"})
_ATOMIC: Final = "KillProgressAtomicProfile"
_SEQUENTIAL: Final = "KillProgressSequentialProfile"
#: Deeper trees are refused: composed profiles are not nested like that, but a hostile message might be.
_DEEPEST: Final = 100


def read_killed(timestamp: float, data: Data) -> JobKilled:
    """Read JobsKilledEvent."""
    progress = {}
    for position, item in enumerate(array(data, "progresses")):
        if type(item) is not dict:
            raise FieldError(f"progresses[{position}]", f"must be an object, not {shown(item)}")
        job_id = text(item, "job_id")
        try:
            progress[job_id] = _read_node(job_id.partition("!")[0], mapping(item, "wrapper"))
        except FieldError as error:
            raise FieldError(f"progresses[{position}].wrapper.{error.path}", error.rule) from None
    return JobKilled(timestamp, texts(data, "job_ids"), progress, rest(data, _MEMBERS))


def write_killed(event: JobKilled) -> dict[str, Any]:
    """Write the form that `read_killed` reads."""
    progresses = [
        {"job_id": job_id, "wrapper": _write_node(job_id.partition("!")[0], node)}
        for job_id, node in event.progress.items()
    ]
    return {"job_ids": list(event.job_ids), "progresses": progresses, **event.extra}


def _read_node(workload: str, wrapper: Data, depth: int = 0) -> Progress:
    if depth == _DEEPEST:
        raise FieldError("kill_progress", f"must not nest deeper than {_DEEPEST}")
    kind, data = text(wrapper, "kill_progress_type"), mapping(wrapper, "kill_progress")
    profile = profile_name(workload, text(data, "profile_id"))
    if kind == _ATOMIC:
        share = data.get("progress", 0.0)
        if type(share) is not float and type(share) is not int:
            raise FieldError("kill_progress.progress", f"must be a number, not {shown(share)}")
        return Progress(profile, share)
    if kind != _SEQUENTIAL:
        raise FieldError("kill_progress_type", f"must be {_ATOMIC} or {_SEQUENTIAL}, not {shown(kind)}")
    only(data, frozenset({"profile_id", "current_repetition", "current_task_index", "current_task_progress"}))
    step, repetition = integer(data, "current_task_index"), integer(data, "current_repetition")
    current = None
    if "current_task_progress" in data:
        current = _read_node(workload, mapping(data, "current_task_progress"), depth + 1)
    return Progress(profile, None, step, current, repetition)


def _write_node(workload: str, node: Progress) -> dict[str, Any]:
    about: dict[str, Any] = {"profile_id": profile_id(workload, node.profile)}
    if node.step is None:
        about["progress"] = node.progress
        return {"kill_progress_type": _ATOMIC, "kill_progress": about}
    about["current_repetition"], about["current_task_index"] = node.repetition or 0, max(node.step, 0)
    if node.current is not None:
        about["current_task_progress"] = _write_node(workload, node.current)
    return {"kill_progress_type": _SEQUENTIAL, "kill_progress": about}
