"""Media types of bodies: of requests, and of the answers that callers accept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

JSON: Final = "application/json"
XML: Final = "application/xml"
#: The option of a handler with the media types that it reads; JSON by default.
TYPES: Final = "body_types"
#: Types in `Accept` that ask for JSON.
_JSON_TYPES: Final = frozenset({JSON, "application/*+json"})


def body_type(headers: Mapping[str, str]) -> str:
    """Return the media type of a request's body, in lower case, without parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def wants_json(headers: Mapping[str, str]) -> bool:
    """Return True if `Accept` names JSON before XML; False, for XML, also if it names neither."""
    for accepted in headers.get("accept", "").lower().split(","):
        kind = accepted.partition(";")[0].strip()
        if kind in _JSON_TYPES:
            return True
        if kind in (XML, "text/xml"):
            return False
    return False
