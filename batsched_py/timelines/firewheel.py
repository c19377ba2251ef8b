"""The schedules of FIREWHEEL's VMs, as its plugin `misc.print_schedule` prints them, as timelines (F35)."""

from __future__ import annotations

import math
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn

from batsched_py.errors import WorkloadError
from batsched_py.reading.members import Members, UnknownNames
from batsched_py.reading.notes import Notes
from batsched_py.text.display import shown
from batsched_py.text.wording import counted

_ENTRY: Final = Members(
    "an entry",
    frozenset({"name", "executable", "arguments", "data", "pause", "ignore_failure", "on_host"}),
    {"reboot": "a program requests a reboot by its exit code, the member exit"},
    UnknownNames.REPORTED,
)
_CONTENT: Final = "files have no content here"
_ITEM: Final = Members(
    "a data item",
    frozenset({"location", "interval"}),
    {
        "content": _CONTENT,
        "filename": _CONTENT,
        "executable": "any file can be run",
        "destination": "files that are pulled go nowhere",
    },
    UnknownNames.REPORTED,
)
_PAUSE: Final = Members("a pause", frozenset({"pause_duration"}), unknown=UnknownNames.REPORTED)
#: FIREWHEEL's time of a pause at 0, and the offset by which pauses follow the other entries of their time.
_TINY: Final = sys.float_info.min

Written = dict[str, Any]


class ScheduleConverter:
    """Converter of a printed schedule of all VMs to entries of timelines: each entry names its VM.

    Args:
        file: named in messages.
        vm: name of the VM if no entry has one.
    """

    def __init__(self, file: str, vm: str) -> None:
        self._file, self._vm = file, vm
        self._notes = Notes(file)
        #: VM -> data items of entries with a program: files that are there before it begins.
        self._preloaded: Counter[str] = Counter()

    def convert(self, schedule: Mapping[str, Any]) -> dict[str, list[Written]]:
        """Return the entries of each VM in the form of timeline files, in order of time.

        WorkloadError names the place and the rule.
        """
        found = sorted(self._places(schedule), key=lambda each: each[0])  # the sort is stable
        named = any(entry.get("name") is not None for _, _, entry in found)
        vms: dict[str, list[Written]] = {}
        for time, place, entry in found:
            vm = entry.get("name") if named else self._vm
            if not isinstance(vm, str) or not vm:
                self._refuse(f"{place}.name", f"must be the name of a VM, as other entries have it, not {shown(vm)}")
            vms.setdefault(vm, []).extend(self._entries(place, time, entry, vm))
        return vms

    def notes(self) -> list[str]:
        """Return a line for each kind of member without a counterpart."""
        files = [
            f"{vm}: {counted(number, 'file')} of programs: loaded before they begin"
            for vm, number in self._preloaded.items()
        ]
        return [*self._notes.lines(), *files]

    def _places(self, schedule: Mapping[str, Any]) -> Iterator[tuple[float, str, Mapping[str, Any]]]:
        """Yield each entry with its time and its place."""
        for text, entries in schedule.items():
            try:
                time = float(text)
            except ValueError:
                time = math.nan
            if math.isnan(time) or time == math.inf:
                self._refuse(text, "must be a time: seconds, or -Infinity")
            if not isinstance(entries, list):
                self._refuse(text, f"must be a list of entries, not {shown(entries)}")
            for index, entry in enumerate(entries):
                place = f"{text}[{index}]"
                if not isinstance(entry, dict):
                    self._refuse(place, f"must be an object, not {shown(entry)}")
                yield time, place, entry

    def _entries(self, place: str, time: float, entry: Mapping[str, Any], vm: str) -> list[Written]:
        """Convert one entry: its program, or each of its independent data items."""
        _ENTRY.check(_set_names(entry), self._notes, place)
        data = entry.get("data") or []
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            self._refuse(f"{place}.data", f"must be a list of objects, not {shown(data)}")
        for item in data:
            kind = _PAUSE if "pause_duration" in item else _ITEM
            kind.check(_set_names(item), self._notes, f"{place}.data")
        found = [_hold(time, duration) for duration in self._durations(place, entry, data)]
        executable = entry.get("executable")
        items = [item for item in data if "pause_duration" not in item]
        if executable:
            files = sum("interval" not in item for item in items)
            if files:
                self._preloaded[vm] += files
            return [self._program(place, time, entry), *found]
        return [*(self._item(place, time, item) for item in items), *found]

    def _program(self, place: str, time: float, entry: Mapping[str, Any]) -> Written:
        executable, arguments = entry["executable"], entry.get("arguments") or ""
        if isinstance(arguments, list) and all(isinstance(one, str) for one in arguments):
            arguments = shlex.join(arguments)
        if not isinstance(executable, str) or not isinstance(arguments, str):
            self._refuse(f"{place}.executable", "and its arguments must be texts")
        written: Written = {"at": time, "run": f"{executable} {arguments}".strip()}
        for flag in ("ignore_failure", "on_host"):
            if entry.get(flag):
                written[flag] = True
        return written

    def _item(self, place: str, time: float, item: Mapping[str, Any]) -> Written:
        """Convert a data item: a transfer if it has an interval, otherwise a file to copy."""
        location = item.get("location")
        if not isinstance(location, str) or not location:
            self._refuse(f"{place}.data", f"each must have a location, which is a text, not {shown(location)}")
        if "interval" not in item:
            return {"at": time, "drop": location}
        interval = item["interval"]
        return {"at": time, "transfer": location, **({"interval": interval} if interval else {})}

    def _durations(self, place: str, entry: Mapping[str, Any], data: Sequence[Mapping[str, Any]]) -> list[float]:
        """Return the durations of the pauses of an entry."""
        given = [item["pause_duration"] for item in data if "pause_duration" in item]
        pause = entry.get("pause")
        if isinstance(pause, dict):
            _PAUSE.check(_set_names(pause), self._notes, f"{place}.pause")
            given.append(pause.get("pause_duration"))
        elif pause not in (None, False, True):
            given.append(pause)
        elif pause and not given:
            self._refuse(f"{place}.pause", "has no pause_duration")
        for duration in given:
            if isinstance(duration, bool) or not isinstance(duration, int | float) or math.isnan(duration):
                self._refuse(f"{place}.pause", f"a pause_duration must be a number, not {shown(duration)}")
            if duration < 0:
                self._refuse(f"{place}.pause", f"a pause_duration must be at least 0, not {shown(duration)}")
        return [float(duration) for duration in given]

    def _refuse(self, place: str, rule: str) -> NoReturn:
        raise WorkloadError(self._file, place, rule)


def _set_names(members: Mapping[str, Any]) -> list[str]:
    """Return the names of members that are set: most unused members are null or false."""
    return [name for name, value in members.items() if value not in (None, False, "", [])]


def _hold(time: float, duration: float) -> Written:
    """Return a pause, or a break if it has no end; FIREWHEEL offsets those at 0 by epsilon."""
    at: float | str = "-inf" if time == -math.inf else 0 if 0 <= time <= 2 * _TINY else time
    return {"at": at, "break": True} if math.isinf(duration) else {"at": at, "pause": duration}
