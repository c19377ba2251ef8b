"""Reader of timelines: objects of a JSON or YAML document, and their JSON schema."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, get_args

from msgspec import Struct

from batsched_py.errors import WorkloadError
from batsched_py.reading.faults import FieldError, Place
from batsched_py.reading.objects import OBJECT, document_schema, list_of, mapping, members_of, read_whole
from batsched_py.reading.values import (
    TRUTH,
    Reader,
    by_type,
    exactly,
    name_text,
    one_of,
    optional,
    seconds,
    special,
    text,
    whole_number,
)
from batsched_py.text import wording
from batsched_py.text.display import shown
from batsched_py.timelines.entries import (
    Action,
    Drop,
    OnExit,
    OnFailed,
    PauseEntry,
    Program,
    Resume,
    ScheduleEntry,
    TimelineRules,
    Timelines,
    Transfer,
    VmTimeline,
)

#: The key whose entries every managed VM has after its own (F26).
EVERY_VM: Final = "*"
_TIME: Final = seconds()
_DURATION: Final = seconds(least=0)
_TEXT: Final = text(least=1)
_EXIT: Final = whole_number(most=255)
_NAME: Final = name_text()


class _Written(Struct, frozen=True):
    """An entry as written: its name may be absent, or that of another entry of its VM."""

    at: float
    action: Action
    name: str | None
    added: float | None


def _infinite(word: str, otherwise: Reader[float]) -> Reader[float]:
    """Return a reader of an infinite number, which JSON has as a word only, and of others."""
    infinite = float(word)
    words = special({word: infinite}, otherwise)
    return Reader(lambda value: infinite if value == infinite else words(value), words.schema)


def _not_now(time: float) -> float:
    if time == 0:
        raise ValueError("must not be 0: that is the global barrier")  # the reader around it adds the place
    return time


_ENTRY_TIME: Final = _TIME.then(_not_now, **{"not": {"const": 0}})
_HOLD_TIME: Final = _infinite("-inf", _DURATION)
#: Kind of entry -> its time, the members of its own, and its action.
_KINDS: Final[Mapping[str, tuple[Reader[float], Mapping[str, Reader[Any]], Callable[..., Action]]]] = {
    "run": (
        _ENTRY_TIME,
        {
            "run": _TEXT,
            "takes": _DURATION,
            "exit": by_type("an exit code, or a list of them", {float: _EXIT, list: list_of(_EXIT)}),
            "ignore_failure": TRUTH,
            "on_host": TRUTH,
            "size": _DURATION,
            "kind": _TEXT,
            "with": OBJECT,
        },
        Program,
    ),
    "drop": (_ENTRY_TIME, {"drop": _TEXT, "takes": _DURATION, "size": _DURATION}, Drop),
    "transfer": (_ENTRY_TIME, {"transfer": _TEXT, "interval": optional(seconds(above=0))}, Transfer),
    "pause": (_HOLD_TIME, {"pause": _infinite("inf", _DURATION)}, PauseEntry),
    "break": (_HOLD_TIME, {"break": exactly(True, math.inf)}, PauseEntry),
    "resume": (_ENTRY_TIME, {"resume": special({"all": None}, list_of(_TEXT, "VMs", least=1))}, Resume),
}
#: Member -> the field of its action, where they differ.
_FIELDS: Final = {
    "run": "program",
    "exit": "exits",
    "with": "arguments",
    "drop": "file",
    "transfer": "path",
    "pause": "duration",
    "break": "duration",
    "resume": "vms",
}


def _entry_of(kind: str) -> Reader[_Written]:
    time, own, make = _KINDS[kind]

    def build(found: dict[str, Any]) -> _Written:
        action = make(**{_FIELDS.get(member, member): value for member, value in found.items() if member in own})
        return _Written(found["at"], action, found.get("name"), found.get("added"))

    return members_of({"at": time, **own, "name": _TEXT, "added": optional(_TIME)}, ("at", kind)).then(build)


_READERS: Final = {kind: _entry_of(kind) for kind in _KINDS}


def _read_entry(value: Any) -> _Written:
    kinds = [kind for kind in _READERS if kind in mapping(value)]
    if len(kinds) != 1:
        given = f", not {' and '.join(kinds)}" if kinds else ""
        raise FieldError("", f"must have one of {', '.join(_READERS)}{given}")
    return _READERS[kinds[0]](value)


_ENTRY: Final = Reader(_read_entry, {"oneOf": [reader.schema for reader in _READERS.values()]})
_VM: Final[Mapping[str, Reader[Any]]] = {
    "launch": _TIME,
    "managed": TRUTH,
    "lease": optional(_DURATION),
    "entries": list_of(_ENTRY, "entries"),
}
_RULES: Final[Mapping[str, Reader[Any]]] = {
    "buffer": _DURATION,
    "on_exit": one_of(get_args(OnExit)),
    "on_failed": one_of(get_args(OnFailed)),
    "reboot_delay": _DURATION,
    "reboot_limit": whole_number(),
    "preload_rate": seconds(above=0),
}


def parse_timelines(file: str, document: Mapping[str, Any], others: Collection[str] = ()) -> Timelines:
    """Return the timelines of a document; WorkloadError names the file, and the field and rule of each fault.

    `others` are names of VMs that are not in the document and that its entries may name.
    """
    vms = document.get("vms")
    own = (name for name in vms if name != EVERY_VM) if isinstance(vms, dict) else ()
    known = dict.fromkeys((*own, *others))  # in order; entries of thousands of VMs may name them
    return read_whole(_document(known), document, WorkloadError, file)


def parse_entry(
    source: str, members: Any, number: int, vms: Sequence[str], taken: Collection[str] = ()
) -> ScheduleEntry:
    """Return an entry that becomes known while its VM runs; WorkloadError names the member and the rule.

    Args:
        source: name of the source in messages.
        members: the entry, in the form of a file.
        number: its place in the list of its VM.
        vms: names of all VMs.
        taken: names that other entries of its VM have.
    """

    def read(members: Any) -> ScheduleEntry:
        if "added" in mapping(members):
            raise FieldError("added", "must not be given for an entry that is added during the run")
        return _numbered(_known(_ENTRY(members), vms), number, dict.fromkeys(taken, 1))

    return read_whole(read, members, WorkloadError, source)


def timelines_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12). It cannot express that names of VMs in a resume must be known."""
    return document_schema("Timelines of the VMs of an experiment", _document(()))


def _document(known: Collection[str]) -> Reader[Timelines]:
    """Return the reader of documents whose entries may name these VMs."""
    entries = list_of(_ENTRY.then(lambda written: _known(written, known)), "entries")
    listed = entries.then(lambda written: {"entries": written})
    vm = by_type(
        "a list of entries, or an object with them", {list: listed, dict: members_of({**_VM, "entries": entries})}
    )

    def read_vms(value: Any) -> tuple[VmTimeline, ...]:
        place, found = Place(), dict[str, dict[str, Any]]()
        shared: tuple[_Written, ...] = ()
        for name, one in mapping(value, "VMs").items():
            try:
                if name == EVERY_VM:
                    shared = entries(one)
                else:
                    found[_NAME(name)] = vm(one)
            except ValueError as error:
                (place / name).add(error)
        place.refuse()
        return tuple(_vm(name, members, shared) for name, members in found.items())

    own = {"type": "object", "properties": {EVERY_VM: entries.schema}, "additionalProperties": vm.schema}
    vms = Reader(read_vms, {**own, "propertyNames": _NAME.schema})
    return members_of({**_RULES, "vms": vms}, required=("vms",)).then(
        lambda members: Timelines(members.pop("vms"), TimelineRules(**members))
    )


def _vm(name: str, members: Mapping[str, Any], shared: Sequence[_Written]) -> VmTimeline:
    written = (*members.get("entries", ()), *(shared if members.get("managed", True) else ()))
    taken = dict[str, int]()
    entries = tuple(_numbered(one, number, taken) for number, one in enumerate(written))
    return VmTimeline(name, **{**members, "entries": entries})


def _known(written: _Written, vms: Collection[str]) -> _Written:
    """Return the entry; FieldError if it resumes a VM that is not among these."""
    for index, name in enumerate((written.action.vms or ()) if isinstance(written.action, Resume) else ()):
        if name not in vms:
            raise FieldError(f"resume[{index}]", f"VM {shown(name)}: {wording.unknown(name, vms)}")
    return written


def _numbered(written: _Written, number: int, taken: dict[str, int]) -> ScheduleEntry:
    """Return an entry with a name that is unique among the `taken` ones of its VM, whose uses are counted."""
    name = unique = written.name or _default_name(written.at, written.action)
    while unique in taken:
        taken[name] += 1
        unique = f"{name}#{taken[name]}"
    taken[unique] = 1
    return ScheduleEntry(written.at, number, unique, written.action, written.added)


def _default_name(at: float, action: Action) -> str:
    time = "-inf" if at == -math.inf else wording.seconds(at) if abs(at) >= 1e-6 or not at else f"{at:g}"
    match action:
        case Program(program=text) | Drop(file=text) | Transfer(path=text):
            return text
        case PauseEntry():
            return f"{'break' if action.is_break else 'pause'}@{time}"
        case Resume():
            return f"resume@{time}"
