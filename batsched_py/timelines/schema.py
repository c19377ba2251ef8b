"""JSON schema of files with timelines, generated from the tables of their reader."""

from __future__ import annotations

from typing import Any, Final, get_args

from batsched_py.reading.limits import LONGEST
from batsched_py.timelines.entries import OnExit, OnFailed
from batsched_py.timelines.parsing import ENTRY_MEMBERS, EVERY_VM, MOST_EXIT_CODE

_TIME: Final = {"type": "number", "minimum": -LONGEST, "maximum": LONGEST}
_DURATION: Final = {"type": "number", "minimum": 0, "maximum": LONGEST}
_TEXT: Final = {"type": "string", "minLength": 1}
_EXIT: Final = {"type": "integer", "minimum": 0, "maximum": MOST_EXIT_CODE}
_HOLD_TIME: Final = {"anyOf": [{**_DURATION}, {"const": "-inf"}]}
#: Member -> schema of its values.
_MEMBERS: Final[dict[str, Any]] = {
    "run": _TEXT,
    "drop": _TEXT,
    "transfer": _TEXT,
    "pause": {"anyOf": [_DURATION, {"const": "inf"}]},
    "break": {"const": True},
    "resume": {"anyOf": [{"const": "all"}, {"type": "array", "items": _TEXT, "minItems": 1}]},
    "takes": _DURATION,
    "exit": {"anyOf": [_EXIT, {"type": "array", "items": _EXIT}]},
    "ignore_failure": {"type": "boolean"},
    "on_host": {"type": "boolean"},
    "size": _DURATION,
    "kind": _TEXT,
    "with": {"type": "object"},
    "interval": {"anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST}, {"type": "null"}]},
    "name": _TEXT,
    "added": {"anyOf": [_TIME, {"type": "null"}]},
}


def schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12). It cannot express that names of VMs in a resume must be known."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Timelines of the VMs of an experiment",
        "type": "object",
        "required": ["vms"],
        "additionalProperties": False,
        "properties": {
            "buffer": _DURATION,
            "on_exit": {"enum": list(get_args(OnExit))},
            "on_failed": {"enum": list(get_args(OnFailed))},
            "reboot_delay": _DURATION,
            "reboot_limit": {"type": "integer", "minimum": 0},
            "preload_rate": {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST},
            "vms": {
                "type": "object",
                "propertyNames": {"minLength": 1, "pattern": '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029,"]*$'},
                "properties": {EVERY_VM: {"$ref": "#/$defs/entries"}},
                "additionalProperties": {"anyOf": [{"$ref": "#/$defs/entries"}, {"$ref": "#/$defs/vm"}]},
            },
        },
        "$defs": {
            "entries": {"type": "array", "items": {"oneOf": [_entry(kind) for kind in ENTRY_MEMBERS]}},
            "vm": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "launch": _TIME,
                    "managed": {"type": "boolean"},
                    "lease": {"anyOf": [_DURATION, {"type": "null"}]},
                    "entries": {"$ref": "#/$defs/entries"},
                },
            },
        },
    }


def _entry(kind: str) -> dict[str, Any]:
    at = _HOLD_TIME if kind in ("pause", "break") else {**_TIME, "not": {"const": 0}}
    members = {name: _MEMBERS[name] for name in (kind, *ENTRY_MEMBERS[kind], "name", "added")}
    return {
        "type": "object",
        "required": ["at", kind],
        "additionalProperties": False,
        "properties": {"at": at, **members},
    }
