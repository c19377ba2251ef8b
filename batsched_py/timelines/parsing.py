"""Reader of timelines: members of a JSON or YAML document, each checked by its rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NoReturn, get_args

from msgspec import Struct

from batsched_py.errors import WorkloadError
from batsched_py.reading.limits import LONGEST, NAME_RULE, TOO_LONG, breaks_csv
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import seconds, unknown
from batsched_py.timelines.entries import (
    FIXED,
    Action,
    Drop,
    Entry,
    Hold,
    OnExit,
    OnFailed,
    Program,
    Resume,
    TimelineRules,
    Timelines,
    Transfer,
    VmTimeline,
)

#: The key whose entries every managed VM has after its own (F26).
EVERY_VM: Final = "*"
#: Members of an entry by its kind, in addition to `at`, `name` and `added`.
ENTRY_MEMBERS: Final[Mapping[str, tuple[str, ...]]] = {
    "run": ("takes", "exit", "ignore_failure", "on_host", "size", "kind", "with"),
    "drop": ("takes", "size"),
    "transfer": ("interval",),
    "pause": (),
    "break": (),
    "resume": (),
}
_COMMON: Final = ("at", "name", "added")
VM_MEMBERS: Final = ("launch", "managed", "lease", "entries")
MOST_EXIT_CODE: Final = 255


class _Place(Struct, frozen=True):
    """A place in a file, for messages."""

    file: str
    field: str = ""

    def __truediv__(self, member: str) -> _Place:
        return _Place(self.file, f"{self.field}.{displayed(member)}" if self.field else displayed(member))

    def __getitem__(self, index: int) -> _Place:
        return _Place(self.file, f"{self.field}[{index}]")

    def refuse(self, rule: str) -> NoReturn:
        raise WorkloadError(self.file, self.field, rule)


def parse_timelines(file: str, document: Mapping[str, Any], others: Collection[str] = ()) -> Timelines:
    """Return the timelines of a document; WorkloadError names the file, the field and the rule.

    `others` are names of VMs that are not in the document and that its entries may name.
    """
    place = _Place(file)
    _check_members(place, document, (*TimelineRules.__struct_fields__, "vms"))
    vms = document.get("vms")
    if not isinstance(vms, dict):
        (place / "vms").refuse(f"must be an object of VMs, not {shown(vms)}")
    own = [name for name in vms if name != EVERY_VM]
    known = [*own, *others]
    shared = _listed(place / "vms" / EVERY_VM, vms.get(EVERY_VM, []))
    for index, one in enumerate(shared):  # also without a VM that has it
        _read_entry((place / "vms" / EVERY_VM)[index], one, index, known, {})
    read = [_read_vm(place / "vms", name, vms[name], known, shared) for name in own]
    return Timelines(tuple(read), _read_rules(place, document))


def parse_entry(source: str, members: Any, number: int, vms: Sequence[str], taken: Collection[str] = ()) -> Entry:
    """Return an entry that becomes known while its VM runs; WorkloadError names the member and the rule.

    Args:
        source: name of the source in messages.
        members: the entry, in the form of a file.
        number: its place in the list of its VM.
        vms: names of all VMs.
        taken: names that other entries of its VM have.
    """
    place = _Place(source)
    if isinstance(members, dict) and "added" in members:
        (place / "added").refuse("must not be given for an entry that is added during the run")
    return _read_entry(place, members, number, vms, dict.fromkeys(taken, 1))


def _read_rules(place: _Place, document: Mapping[str, Any]) -> TimelineRules:
    readers: Mapping[str, Callable[[_Place, Any], Any]] = {
        "buffer": _duration,
        "on_exit": lambda where, value: _choice(where, value, get_args(OnExit)),
        "on_failed": lambda where, value: _choice(where, value, get_args(OnFailed)),
        "reboot_delay": _duration,
        "reboot_limit": _count,
        "preload_rate": _positive,
    }
    return TimelineRules(
        **{name: read(place / name, document[name]) for name, read in readers.items() if name in document}
    )


def _read_vm(place: _Place, name: str, value: Any, known: Sequence[str], shared: Sequence[Any]) -> VmTimeline:
    inside = place / name
    if not name or breaks_csv(name):
        inside.refuse(f"the name of a VM {NAME_RULE}" if name else "the name of a VM must not be empty")
    members: Mapping[str, Any] = {"entries": value} if isinstance(value, list) else value
    if not isinstance(members, dict):
        inside.refuse(f"must be a list of entries, or an object with them, not {shown(value)}")
    _check_members(inside, members, VM_MEMBERS)
    where = inside if isinstance(value, list) else inside / "entries"
    own = [(where[index], one) for index, one in enumerate(_listed(where, members.get("entries", [])))]
    managed = _truth(inside / "managed", members.get("managed", True))
    if managed:
        own += [((place / EVERY_VM)[index], one) for index, one in enumerate(shared)]
    taken = dict[str, int]()
    return VmTimeline(
        name,
        tuple(_read_entry(at, one, number, known, taken) for number, (at, one) in enumerate(own)),
        launch=_time(inside / "launch", members.get("launch", 0.0)),
        managed=managed,
        lease=_duration(inside / "lease", members["lease"]) if members.get("lease") is not None else None,
    )


def _read_entry(place: _Place, value: Any, number: int, known: Sequence[str], taken: dict[str, int]) -> Entry:
    """Read an entry; its name is made unique among the `taken` ones of its VM, whose uses are counted."""
    if not isinstance(value, dict):
        place.refuse(f"must be an object, not {shown(value)}")
    kinds = [kind for kind in ENTRY_MEMBERS if kind in value]
    if len(kinds) != 1:
        given = " and ".join(kinds)
        place.refuse(f"must have one of {', '.join(ENTRY_MEMBERS)}" + (f", not {given}" if given else ""))
    _check_members(place, value, (*_COMMON, kinds[0], *ENTRY_MEMBERS[kinds[0]]))
    action = _read_action(place, kinds[0], value, known)
    at = _read_at(place / "at", value.get("at"), action)
    name = _text(place / "name", value["name"]) if "name" in value else _default_name(at, action)
    unique = name
    while unique in taken:
        taken[name] += 1
        unique = f"{name}#{taken[name]}"
    taken[unique] = 1
    added = None if value.get("added") is None else _time(place / "added", value["added"])
    return Entry(at, number, unique, action, added)


def _read_action(place: _Place, kind: str, members: Mapping[str, Any], known: Sequence[str]) -> Action:
    value, where = members[kind], place / kind
    if kind == "pause":
        return Hold(_pause(where, value))
    if kind == "break":
        return Hold(math.inf) if value is True else where.refuse(f"must be true, not {shown(value)}")
    if kind == "resume":
        return Resume(_vms(where, value, known))
    text = _text(where, value)
    if kind == "transfer":
        interval = members.get("interval")
        return Transfer(text, None if interval is None else _positive(place / "interval", interval))
    takes = _duration(place / "takes", members.get("takes", 0.0))
    size = _duration(place / "size", members.get("size", 0.0))
    if kind == "drop":
        return Drop(text, takes, size)
    return Program(
        text,
        takes,
        exits=_exits(place / "exit", members.get("exit", 0)),
        ignore_failure=_truth(place / "ignore_failure", members.get("ignore_failure", False)),
        on_host=_truth(place / "on_host", members.get("on_host", False)),
        size=size,
        kind=_text(place / "kind", members.get("kind", FIXED)),
        arguments=_arguments(place / "with", members.get("with", {})),
    )


def _read_at(place: _Place, value: Any, action: Action) -> float:
    at = -math.inf if value == "-inf" else _float(place, value)
    if isinstance(action, Hold):
        if at == -math.inf:
            return at
        if at < 0:
            place.refuse(f"a pause or break must be at -inf, 0 or a positive time, not {shown(value)}")
    elif at == 0:
        place.refuse("must not be 0: that is the global barrier")
    elif at == -math.inf:
        place.refuse("only a pause or break may be at -inf")
    return _time(place, value)


def _default_name(at: float, action: Action) -> str:
    time = "-inf" if at == -math.inf else seconds(at) if abs(at) >= 1e-6 or not at else f"{at:g}"
    match action:
        case Program(program=text) | Drop(file=text) | Transfer(path=text):
            return text
        case Hold():
            return f"{'break' if action.is_break else 'pause'}@{time}"
        case Resume():
            return f"resume@{time}"


def _check_members(place: _Place, value: Mapping[str, Any], known: Sequence[str]) -> None:
    for member in value:
        if member not in known:
            (place / str(member)).refuse(unknown(str(member), known))


def _listed(place: _Place, value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else place.refuse(f"must be a list of entries, not {shown(value)}")


def _float(place: _Place, value: Any) -> float:
    """Return a float, which may be infinite; finite numbers above LONGEST become 2 * LONGEST, which fits in a float."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and math.isnan(value)):
        place.refuse(f"must be a number, not {shown(value)}")
    if abs(value) > LONGEST and abs(value) != math.inf:
        return 2.0 * LONGEST if value > 0 else -2.0 * LONGEST
    return float(value)


def _time(place: _Place, value: Any) -> float:
    number = _float(place, value)
    return number if abs(number) <= LONGEST else place.refuse(f"{TOO_LONG} not {shown(value)}")


def _duration(place: _Place, value: Any) -> float:
    number = _time(place, value)
    return number if number >= 0 else place.refuse(f"must be at least 0, not {shown(value)}")


def _positive(place: _Place, value: Any) -> float:
    number = _time(place, value)
    return number if number > 0 else place.refuse(f"must be more than 0, not {shown(value)}")


def _pause(place: _Place, value: Any) -> float:
    return math.inf if value in ("inf", math.inf) else _duration(place, value)


def _count(place: _Place, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        place.refuse(f"must be a whole number from 0, not {shown(value)}")
    return value


def _choice(place: _Place, value: Any, choices: Sequence[str]) -> Any:
    return value if value in choices else place.refuse(f"must be one of {', '.join(choices)}, not {shown(value)}")


def _truth(place: _Place, value: Any) -> bool:
    return value if isinstance(value, bool) else place.refuse(f"must be true or false, not {shown(value)}")


def _text(place: _Place, value: Any) -> str:
    return value if isinstance(value, str) and value else place.refuse(f"must be a text, not {shown(value)}")


def _arguments(place: _Place, value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else place.refuse(f"must be an object, not {shown(value)}")


def _exits(place: _Place, value: Any) -> int | tuple[int, ...]:
    if isinstance(value, list):
        return tuple(_exit(place[index], one) for index, one in enumerate(value))
    return _exit(place, value)


def _exit(place: _Place, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_EXIT_CODE:
        place.refuse(f"must be an exit code from 0 to {MOST_EXIT_CODE}, not {shown(value)}")
    return value


def _vms(place: _Place, value: Any, known: Sequence[str]) -> tuple[str, ...] | None:
    if value == "all":
        return None
    if not isinstance(value, list) or not value:
        place.refuse(f'must be a list of VMs or "all", not {shown(value)}')
    for index, name in enumerate(value):
        if name not in known:
            place[index].refuse(f"VM {shown(name)}: {unknown(str(name), known)}")
    return tuple(dict.fromkeys(value))
