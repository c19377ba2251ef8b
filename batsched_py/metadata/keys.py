"""Batsim's keys, and the JSON objects that stand under them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

import orjson

from batsched_py.errors import StoreError
from batsched_py.metadata.store import Members, ProfileName

Name = TypeVar("Name")

#: Batsim's prefix without --redis-prefix.
DEFAULT_PREFIX: Final = "default"

#: Types that orjson would write in its own way are an error, unless `_plain` converts them.
_STRICT: Final = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS


def job_keys(prefix: str, job_ids: Iterable[str]) -> list[str]:
    """Return the keys of jobs `workload!name`."""
    begin = f"{prefix}:job_"
    return [begin + job_id for job_id in job_ids]


def profile_keys(prefix: str, names: Iterable[ProfileName]) -> list[str]:
    """Return the keys of profiles; Batsim's document leaves the workload out, its source does not."""
    return [f"{prefix}:profile_{workload}!{name}" for workload, name in names]


def host_count_key(prefix: str) -> str:
    """Return the key of the number of hosts."""
    return f"{prefix}:nb_res"


def whole_key(prefix: str, key: str) -> str:
    """Return the key with its prefix: no key of another prefix can be named."""
    return key if key.startswith(f"{prefix}:") else f"{prefix}:{key}"


def read_objects(
    names: Sequence[Name], texts: Sequence[bytes | None], keys: Sequence[str], where: str
) -> dict[Name, Members]:
    """Return the objects in these values, by name; None is no value. StoreError has `where`, the key and the rule."""
    found: dict[Name, Members] = {}
    position = 0
    try:
        for position, text in enumerate(texts):
            if text is not None:
                found[names[position]] = members = orjson.loads(text)
                if type(members) is not dict:
                    raise StoreError(f"{where}: key {keys[position]}: must be a JSON object")
    except orjson.JSONDecodeError as error:
        raise StoreError(f"{where}: key {keys[position]}: must be JSON: {error}") from None
    return found


def write_objects(
    prefix: str, jobs: Mapping[str, Members], profiles: Mapping[ProfileName, Members]
) -> dict[str, bytes]:
    """Return keys and values of jobs and profiles; TypeError if one is no JSON."""
    values = [orjson.dumps(members, _plain, _STRICT) for members in (*jobs.values(), *profiles.values())]
    return dict(zip((*job_keys(prefix, jobs), *profile_keys(prefix, profiles)), values, strict=True))


def _plain(value: Any) -> dict[str, Any]:
    """Convert a Mapping, which orjson does not know, to a dict."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is no JSON")
