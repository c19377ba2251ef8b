"""Types of bodies: those that handlers read, and those that callers want."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

JSON: Final = "application/json"
XML: Final = "application/xml"
#: The option of a handler that names the types which it reads; JSON without it.
TYPES: Final = "body_types"
#: Types in `Accept` that ask for JSON.
_JSON_TYPES: Final = frozenset({JSON, "application/*+json"})


def body_type(headers: Mapping[str, str]) -> str:
    """Return the type of a request's body, in small letters, without parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def wants_json(headers: Mapping[str, str]) -> bool:
    """Return whether a caller names JSON before XML among the types that it accepts; XML if it names neither."""
    for accepted in headers.get("accept", "").lower().split(","):
        kind = accepted.partition(";")[0].strip()
        if kind in _JSON_TYPES:
            return True
        if kind in (XML, "text/xml"):
            return False
    return False
