"""Batsim's keys, and the JSON objects that stand under them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from batsched_py.errors import StoreError
from batsched_py.metadata.store import Members

#: What Batsim uses without --redis-prefix.
DEFAULT_PREFIX: Final = "default"


def job_key(prefix: str, job_id: str) -> str:
    """Of a job `workload!name`."""
    return f"{prefix}:job_{job_id}"


def profile_key(prefix: str, workload: str, name: str) -> str:
    """Of a profile; Batsim's document leaves the workload out, its source does not."""
    return f"{prefix}:profile_{workload}!{name}"


def host_count_key(prefix: str) -> str:
    """Of the number of hosts."""
    return f"{prefix}:nb_res"


def read_object(text: bytes, place: str) -> dict[str, Any]:
    """The object in a value; StoreError names the place and the rule."""
    try:
        members = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise StoreError(f"{place}: must be JSON: {error}") from None
    if type(members) is not dict:
        raise StoreError(f"{place}: must be a JSON object")
    return members


def write_object(members: Members) -> bytes:
    """The value for an object; TypeError if it is no JSON."""
    return orjson.dumps(members, _plain, orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS)


def _plain(value: Any) -> dict[str, Any]:
    """Any Mapping may stand for an object; orjson knows dict alone."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is no JSON")
