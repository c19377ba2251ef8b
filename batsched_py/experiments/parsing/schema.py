"""JSON schema of descriptors, derived from the tables of their readers."""

from __future__ import annotations

from typing import Any, Final

from batsched_py.experiments.parsing.json_form import DOCUMENT_MEMBERS
from batsched_py.experiments.parsing.quantities import LONGEST_NAME, LONGEST_TEXT
from batsched_py.experiments.parsing.resources import CAPACITY, MEMBERS, METRIC_MEMBERS
from batsched_py.reading.limits import LONGEST

_TEXT: Final = {"type": "string", "maxLength": LONGEST_TEXT}
_NAME: Final = {
    "type": "string",
    "pattern": '^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029,"]*$',
    "maxLength": LONGEST_NAME,
}
_NAMES: Final = {"type": "array", "items": _NAME}
_NUMBER: Final = {
    "anyOf": [
        {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST},
        {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?$"},
    ]
}
_COUNT: Final = {
    "anyOf": [{"type": "integer", "minimum": 1, "maximum": LONGEST}, {"type": "string", "pattern": "^[0-9]+$"}]
}
_TRUTH: Final = {"enum": [True, False, "true", "false"]}
_REFERENCE: Final = {
    **_NAME,
    "description": "@NAME or a URI of what exists, or the name of a resource of this document",
}
_PAIR: Final = {"type": "array", "items": _NAME, "minItems": 2, "maxItems": 2}
#: Member of a resource -> its schema.
_VALUES: Final[dict[str, Any]] = {
    "name": _NAME,
    "description": _TEXT,
    "locations": _NAMES,
    "constraint": _TEXT,
    "instanceType": _NAME,
    **dict.fromkeys(CAPACITY, _NUMBER),
    "min": _COUNT,
    "host": _NAME,
    "cluster": _NAME,
    "resources": {
        "type": "array",
        "items": {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
            "properties": {"storage": _REFERENCE, "network": _REFERENCE},
        },
    },
    "contexts": {
        "type": "array",
        "items": {"type": "object", "propertyNames": _NAME, "additionalProperties": {"anyOf": [_TEXT, _PAIR]}},
    },
    "after": _NAMES,
    "metrics": {
        "type": "array",
        "items": {
            "type": "object",
            "required": list(METRIC_MEMBERS),
            "additionalProperties": False,
            "properties": {"name": _NAME, "command": _TEXT, "rate": _NUMBER},
        },
    },
    "reserved": _NAMES,
    "timeline": {"type": "array", "items": {"type": "object"}, "description": "entries, as of `timeline schema`"},
    "location": _NAME,
    "persistent": _TRUTH,
    "address": {"type": "string", "description": "an IP address"},
    "endpoints": _PAIR,
    "bandwidth": _NUMBER,
    "networks": {"type": "array", "items": _REFERENCE},
}
#: The size of a storage in MB, and of a network in addresses.
_SIZES: Final = {"storage": _NUMBER, "network": _COUNT}
_REQUIRED: Final = {
    "compute": ("name",),
    "storage": ("name", "location", "size"),
    "network": ("name", "location"),
    "site_link": ("name", "endpoints", "bandwidth"),
    "router": ("name", "location", "networks"),
}
#: Member of the document -> its schema.
_DOCUMENT: Final[dict[str, Any]] = {
    "name": _NAME,
    "description": _TEXT,
    "duration": {
        "anyOf": [
            {"type": "integer", "minimum": 1, "description": "minutes"},
            {"type": "string", "description": "an ISO 8601 duration, or minutes"},
        ]
    },
    "start": {
        "anyOf": [
            {"type": "number", "minimum": 0, "maximum": LONGEST, "description": "second of the simulation"},
            {"type": "string", "description": "an ISO 8601 instant, or seconds"},
        ]
    },
    "reservation": _NAME,
    "best_effort_allocation": {"enum": [True, False, "true", "false", "", None, {}]},
    "resource_set": {
        "anyOf": [{"type": "object", "propertyNames": _NAME, "additionalProperties": _NAMES}, {"enum": ["", None]}]
    },
    "aggregator": {"anyOf": [{"type": "boolean"}, _NAME]},
    "resources": {
        "type": "array",
        "items": {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
            "properties": {kind: {"$ref": f"#/$defs/{kind}"} for kind in MEMBERS},
        },
    },
}


def schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12).

    It cannot express rules between members: that names are unique and known, and that dependencies have no cycle.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A managed experiment",
        "type": "object",
        "required": ["name", "duration", "resources"],
        "additionalProperties": False,
        "properties": {member: _DOCUMENT[member] for member in DOCUMENT_MEMBERS},
        "$defs": {kind: _resource(kind) for kind in MEMBERS},
    }


def _resource(kind: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(_REQUIRED[kind]),
        "additionalProperties": False,
        "properties": {member: _SIZES[kind] if member == "size" else _VALUES[member] for member in MEMBERS[kind]},
    }
