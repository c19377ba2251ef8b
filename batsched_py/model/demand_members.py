"""A reader of the member `demand` of a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from batsched_py.model.demand import MOST, MOST_CORES, MOST_GPUS, WHOLE, NamedAmounts, TaskDemand
from batsched_py.model.job_demand import JobDemand
from batsched_py.model.resources import check_type
from batsched_py.reading.faults import FieldError, inside, refused
from batsched_py.text.display import displayed
from batsched_py.text.wording import unknown

# The readers are not those of the kit, because jobs are read at the end of long chains of imports.

#: The member of a job with its demand.
DEMAND: Final = "demand"
#: Maximum number of models, of licences and of other resources that a job names.
_MOST_NAMES: Final = 1000
#: Largest difference of an amount in thousandths from a whole number that is due to rounding.
_ROUNDED: Final = 1e-6


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


def _read(value: Any) -> dict[str, Any]:
    """Return the typed values of the members that are given."""
    if not isinstance(value, Mapping):
        raise refused("an object", value)
    found = dict[str, Any]()
    for name, item in value.items():
        if name not in _READERS:
            raise FieldError(displayed(str(name)), unknown(str(name), _READERS))
        try:
            found[name] = _READERS[name](item)
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


def _whole(value: Any, unit: str = "", least: int = 0, most: int = MOST) -> int:
    """Read a whole number within these bounds."""
    if type(value) is not int or not least <= value <= most:
        raise refused(f"a whole number{unit} from {least} to {most}", value)
    return value


def _thousandths(value: Any, unit: str = "", most: int = MOST_CORES) -> int:
    """Read an amount with at most three decimals, and return it in thousandths."""
    if (type(value) is not int and type(value) is not float) or not 0 <= value <= most:
        raise refused(f"a number{unit} from 0 to {most}", value)
    thousandths = round(value * WHOLE)
    if abs(value * WHOLE - thousandths) > _ROUNDED:
        raise refused("a number with at most three decimals", value)
    return thousandths


def _share(value: Any) -> int:
    share = _thousandths(value, most=1)
    if not share:
        raise refused("a number greater than 0", value)
    return share


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise refused("true or false", value)
    return value


def _models(value: Any) -> tuple[str, ...]:
    if type(value) is not list or not 0 < len(value) <= _MOST_NAMES or not all(type(one) is str for one in value):
        raise refused(f"a list of 1 to {_MOST_NAMES} texts", value)
    return tuple(value)


def _amounts(value: Any) -> NamedAmounts:
    """Read an object of amounts by name."""
    if not isinstance(value, Mapping):
        raise refused("an object of amounts by name", value)
    if len(value) > _MOST_NAMES:
        raise FieldError("", f"must have at most {_MOST_NAMES} names, not {len(value)}")
    for name, amount in value.items():
        try:
            check_type(str(name))
            _whole(amount, least=1)
        except ValueError as error:
            raise inside(displayed(str(name)), error) from None
    return tuple(sorted(value.items()))


_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "cores": partial(_thousandths, unit=" of cores"),
    "memory": partial(_whole, unit=" of MiB"),
    "gpus": partial(_whole, unit=" of GPUs", most=MOST_GPUS),
    "gpu_share": _share,
    "gpu_models": _models,
    "others": _amounts,
    "exclusive": _truth,
    "spread": _truth,
    "licences": _amounts,
}
