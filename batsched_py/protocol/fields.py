"""Typed readers of JSON members, and of the job object that several messages share.

A reader returns the value of a member, or raises FieldError with the member's path and the rule.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from batsched_py.bits import MAX_HOST, parse_bits
from batsched_py.hostset import HostSet
from batsched_py.model.demand_members import DEMAND, read_job_demand
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.reading.faults import FieldError
from batsched_py.reading.limits import SHORTEST
from batsched_py.text.display import shown

# One small function for each type of member, called by the readers of all messages: the rule and the wording of its
# error exist once. Types are compared by `type(...)`, because `true` is an int for `isinstance` and would pass as a
# number. The path of a plain member is built only when it is wrong, so that correct messages pay nothing for good
# errors.
#
# orjson writes null in the place of NaN and infinity, without an error, and fails on deep nesting; both are refused
# before (`check_finite`), with the path, wherever members of users go into a message.

#: A parsed JSON object.
Data = dict[str, Any]

#: Maximum nesting of user data in a message; orjson writes about 250 levels in total.
_DEEPEST: Final = 200
#: The largest number that Batsim 1 can read (a C int).
_LARGEST: Final = 2**31 - 1


def wrong(key: str, expected: str, data: Data) -> FieldError:
    """Return the error for a member that is missing or not of the type `expected`."""
    if key not in data:
        return FieldError(key, f"is missing; it must be {expected}")
    return FieldError(key, f"must be {expected}, not {shown(data[key])}")


def text(data: Data, key: str) -> str:
    value = data.get(key)
    if type(value) is not str:
        raise wrong(key, "a text", data)
    return value


def number(data: Data, key: str) -> float:
    value = data.get(key)
    if type(value) is not float and type(value) is not int:
        raise wrong(key, "a number", data)
    return float(value)


def integer(data: Data, key: str) -> int:
    value = data.get(key)
    if type(value) is not int:
        raise wrong(key, "a whole number", data)
    return value


def boolean(data: Data, key: str, default: bool | None = None) -> bool:
    value = data.get(key, default)
    if type(value) is not bool:
        raise wrong(key, "true or false", data)
    return value


def mapping(data: Data, key: str) -> dict[str, Any]:
    value = data.get(key)
    if type(value) is not dict:
        raise wrong(key, "an object", data)
    return value


def optional_mapping(data: Data, key: str) -> dict[str, Any] | None:
    return mapping(data, key) if key in data else None


def array(data: Data, key: str) -> list[Any]:
    value = data.get(key)
    if type(value) is not list:
        raise wrong(key, "a list", data)
    return value


def texts(data: Data, key: str) -> tuple[str, ...]:
    values = array(data, key)
    if not all(type(value) is str for value in values):
        raise wrong(key, "a list of texts", data)
    return tuple(values)


def hosts(data: Data, key: str, highest: int = MAX_HOST) -> HostSet:
    """Read a set of hosts, none of them above `highest`."""
    value = data.get(key)
    if type(value) is not str:
        raise wrong(key, 'a text of intervals like "0-3 7"', data)
    try:
        return HostSet(parse_bits(value, highest))
    except ValueError as error:
        raise FieldError(key, str(error)) from None


def check_finite(value: object, path: str, depth: int = 0) -> None:
    """Refuse NaN and Infinity, which orjson writes as null, and values nested too deeply to be written."""
    if depth > _DEEPEST:
        raise FieldError(path[:60], f"must not nest deeper than {_DEEPEST}")
    if isinstance(value, float) and not math.isfinite(value):
        raise FieldError(path, f"must be a number, not {value!r}")
    if isinstance(value, Mapping):
        for key, item in value.items():
            check_finite(item, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            check_finite(item, f"{path}[{position}]", depth + 1)


def finite(members: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return a copy of an object of the user; FieldError as from `check_finite`."""
    check_finite(members, path)
    return dict(members)


def check_pstate(state: str) -> None:
    """Require the digits of a pstate's number below 1e9."""
    if not (state.isascii() and state.isdigit() and len(state) < 10):
        raise FieldError("state", f"must be the number of a pstate, not {shown(state)}")


def rest(data: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """Return the members that are not in `known`."""
    return {key: value for key, value in data.items() if key not in known}


def check_job_id(job_id: str) -> None:
    """Require a job's id of the form `workload!name` (E7)."""
    workload, mark, name = job_id.partition("!")
    if not (workload and mark and name):
        raise FieldError("job_id", f"must be workload!name, not {shown(job_id)}")


def is_job_number(name: str) -> bool:
    """Return whether this name of a job is an integer that Batsim 1 reads and writes unchanged."""
    if not (name.isascii() and name.isdecimal() and len(name) <= len(str(_LARGEST))):
        return False
    return int(name) <= _LARGEST and str(int(name)) == name


def read_job(job_id: str, data: Data, submitted: float = 0.0) -> Job:
    """Read the `job` object of a message; `walltime` absent or -1 means none.

    A job without `subtime` was submitted at `submitted`, the time of its event.
    """
    size = data.get("res")
    if type(size) is not int or size < 0:
        raise FieldError("job.res", f"must be a whole number from 0, not {shown(size)}")
    profile = data.get("profile")
    if type(profile) is not str:
        raise FieldError("job.profile", f"must be a text, not {shown(profile)}")
    submit_time = data.get("subtime", submitted)
    if (type(submit_time) is not float and type(submit_time) is not int) or submit_time < 0:
        raise FieldError("job.subtime", f"must be a number of seconds from 0, not {shown(submit_time)}")
    walltime = data.get("walltime")
    if walltime is not None:
        if type(walltime) is not float and type(walltime) is not int:
            raise FieldError("job.walltime", f"must be a number of seconds, not {shown(walltime)}")
        if walltime < SHORTEST:
            if walltime > 0:
                raise FieldError("job.walltime", f"must be at least {SHORTEST:g} s, not {shown(walltime)}")
            if walltime != -1:
                raise FieldError("job.walltime", f"must be greater than 0 s, or -1 for none, not {shown(walltime)}")
            walltime = None
    return Job(job_id, submit_time, size, walltime, profile, data, read_demand(data, size) if DEMAND in data else None)


def read_demand(members: Mapping[str, Any], size: int) -> JobDemand | None:
    """Read the demand among the members of a job."""
    try:
        return read_job_demand(members, size)
    except FieldError as error:
        raise FieldError(f"job.{error.path}", error.rule) from None
