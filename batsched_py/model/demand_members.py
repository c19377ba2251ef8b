"""The member `demand` of a job, read and written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from batsched_py.model.demand import MOST, MOST_GPUS, WHOLE, NamedAmounts, TaskDemand
from batsched_py.model.job_demand import JobDemand
from batsched_py.model.resources import check_type
from batsched_py.reading.faults import FieldError, inside, refused
from batsched_py.reading.values import TRUTH, Reader, name_text, number, whole_number
from batsched_py.text.display import displayed
from batsched_py.text.wording import unknown

# Only the kit's readers of values are used, because jobs are read at the end of long chains of imports.

#: The member of a job with its demand.
DEMAND: Final = "demand"
#: Maximum number of models, of licences and of other resources that a job names.
_MOST_NAMES: Final = 1000


def read_job_demand(members: Mapping[str, Any], size: int) -> JobDemand | None:
    """Return the demand in the member `demand` of a job of this size; None if it has none. FieldError."""
    if DEMAND not in members:
        return None
    try:
        found = _read(members[DEMAND])
        spread, licences = found.pop("spread", False), found.pop("licences", ())
        if size < 1:
            raise FieldError("", "must be absent from a job without hosts")
        return JobDemand(tasks=size, task=_task(found), spread=spread, licences=licences)
    except ValueError as error:
        raise inside(DEMAND, error) from None


def write_demand(demand: JobDemand) -> dict[str, Any]:
    """Return the member of a job that `read_job_demand` reads; members with default values are absent."""
    task = demand.task
    written: dict[str, Any] = {
        "cores": _shortest(task.cores),
        "memory": task.memory,
        "gpus": task.gpus,
        "gpu_share": 0 if task.share == WHOLE else _shortest(task.share),
        "gpu_models": list(task.models),
        "others": dict(task.others),
        "exclusive": task.exclusive,
        "spread": demand.spread,
        "licences": dict(demand.licences),
    }
    return {name: value for name, value in written.items() if value}


def _read(value: Any) -> dict[str, Any]:
    """Return the typed values of the members that are given."""
    if not isinstance(value, Mapping):
        raise refused("an object", value)
    found = dict[str, Any]()
    for name, item in value.items():
        if name not in _READERS:
            raise FieldError(displayed(str(name)), unknown(str(name), _READERS))
        try:
            found[name] = _READERS[name].read(item)
        except ValueError as error:
            raise inside(displayed(str(name)), error) from None
    return found


def _task(found: Mapping[str, Any]) -> TaskDemand:
    names = {"gpu_share": "share", "gpu_models": "models"}
    if "gpus" not in found:
        for member in names:
            if member in found:
                raise FieldError(member, "must be absent if no GPUs are requested by gpus")
    try:
        return TaskDemand(**{names.get(name, name): value for name, value in found.items()})
    except ValueError as error:
        if found.get("gpus") == 0 and "gpu_models" in found:
            raise FieldError("gpu_models", "must be absent if gpus is 0") from None
        path, _, rule = str(error).partition(": ")
        raise FieldError(path, rule) from None


def _thousandths(amount: float) -> int:
    """Return an amount in thousandths; ValueError if it is no multiple of them."""
    thousandths = round(amount * WHOLE)
    if abs(amount * WHOLE - thousandths) > 1e-6:
        raise refused("a number with at most three decimals", amount)
    return thousandths


def _shortest(thousandths: int) -> float:
    """Return an amount as a whole number, if it is one."""
    return thousandths // WHOLE if thousandths % WHOLE == 0 else thousandths / WHOLE


def _amounts(value: Any) -> NamedAmounts:
    """Read an object of amounts by name."""
    if not isinstance(value, Mapping):
        raise refused("an object of amounts by name", value)
    if len(value) > _MOST_NAMES:
        raise FieldError("", f"must have at most {_MOST_NAMES} names, not {len(value)}")
    for name, amount in value.items():
        try:
            check_type(str(name))
            _AMOUNT.read(amount)
        except ValueError as error:
            raise inside(displayed(str(name)), error) from None
    return tuple(sorted(value.items()))


def _models(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not 0 < len(value) <= _MOST_NAMES:
        raise refused(f"a list of 1 to {_MOST_NAMES} models", value)
    return tuple(map(_NAME.read, value))


_NAME: Final = name_text()
_AMOUNT: Final = whole_number(least=1, most=MOST)
_AMOUNTS: Final = Reader(_amounts, {"type": "object"})
_READERS: Final[Mapping[str, Reader[Any]]] = {
    "cores": number("cores", least=0, most=MOST // WHOLE).then(_thousandths),
    "memory": whole_number("MiB", most=MOST),
    "gpus": whole_number("GPUs", most=MOST_GPUS),
    "gpu_share": number(above=0, most=1).then(_thousandths),
    "gpu_models": Reader(_models, {"type": "array"}),
    "others": _AMOUNTS,
    "exclusive": TRUTH,
    "spread": TRUTH,
    "licences": _AMOUNTS,
}
