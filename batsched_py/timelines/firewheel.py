"""Schedules of FIREWHEEL's VMs, as its `print_schedule` prints them, as timelines (F35)."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from batsched_py.errors import WorkloadError
from batsched_py.text.display import shown
from batsched_py.text.wording import counted

#: Members of an entry there.
_KNOWN: Final = frozenset({"name", "executable", "arguments", "data", "pause", "ignore_failure", "on_host", "reboot"})
#: The time there of a pause at 0, and by how much pauses are moved behind what stands at their time.
_TINY: Final = sys.float_info.min

Written = dict[str, Any]


class ScheduleConverter:
    """Entries of timelines out of one VM's schedule.

    Args:
        file: named in messages.
        vm: name of the VM.

    Attributes:
        notes: a line for what has no counterpart.
    """

    def __init__(self, file: str, vm: str) -> None:
        self._file, self._vm = file, vm
        self.notes: list[str] = []
        #: Data items of entries with a program: files that are there before it begins.
        self._preloaded = 0

    def convert(self, schedule: Mapping[str, Any]) -> list[Written]:
        """Return the entries in the form of our files, in order of time; WorkloadError names the place and the rule."""
        found = list[tuple[float, list[Written]]]()
        for text, entries in schedule.items():
            try:
                time = float(text)
            except ValueError:
                self._refuse(text, "must be a time: seconds, or -inf")
            if not isinstance(entries, list):
                self._refuse(text, f"must be a list of entries, not {shown(entries)}")
            converted = [self._entries(f"{text}[{index}]", time, one) for index, one in enumerate(entries)]
            found.append((time, [one for several in converted for one in several]))
        if self._preloaded:
            self.notes.append(f"{self._vm}: {counted(self._preloaded, 'file')} of programs: loaded before they begin")
        return [one for _, several in sorted(found, key=lambda pair: pair[0]) for one in several]

    def _entries(self, place: str, time: float, entry: Any) -> list[Written]:
        """Return what becomes of one entry: its program, or each of its data items that is something by itself."""
        if not isinstance(entry, dict):
            self._refuse(place, f"must be an object, not {shown(entry)}")
        for member in entry:
            if member not in _KNOWN:
                self.notes.append(f"{self._vm}: {place}: {shown(member)} has no counterpart")
        data = entry.get("data") or []
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            self._refuse(f"{place}.data", f"must be a list of objects, not {shown(data)}")
        found = [_hold(time, duration) for duration in self._durations(place, entry, data)]
        executable = entry.get("executable")
        items = [item for item in data if "pause_duration" not in item]
        if executable:
            self._preloaded += sum("interval" not in item for item in items)
            return [self._program(place, time, entry), *found]
        return [*(self._item(place, time, item) for item in items), *found]

    def _program(self, place: str, time: float, entry: Mapping[str, Any]) -> Written:
        executable, arguments = entry["executable"], entry.get("arguments") or ""
        if isinstance(arguments, list) and all(isinstance(one, str) for one in arguments):
            arguments = shlex.join(arguments)
        if not isinstance(executable, str) or not isinstance(arguments, str):
            self._refuse(f"{place}.executable", "and its arguments must be texts")
        written: Written = {"at": time, "run": f"{executable} {arguments}".strip()}
        if entry.get("name"):
            written["name"] = str(entry["name"])
        for flag in ("ignore_failure", "on_host"):
            if entry.get(flag):
                written[flag] = True
        return written

    def _item(self, place: str, time: float, item: Mapping[str, Any]) -> Written:
        """Return what becomes of a data item: files that are pulled if it says how often, otherwise a file to put."""
        location = item.get("location")
        if not isinstance(location, str) or not location:
            self._refuse(f"{place}.data", f"each must have a location, which is a text, not {shown(location)}")
        if "interval" not in item:
            return {"at": time, "drop": location}
        interval = item["interval"]
        return {"at": time, "transfer": location, **({"interval": interval} if interval else {})}

    def _durations(self, place: str, entry: Mapping[str, Any], data: Sequence[Mapping[str, Any]]) -> list[float]:
        """Return how long the pauses of an entry are."""
        given = [item["pause_duration"] for item in data if "pause_duration" in item]
        pause = entry.get("pause")
        if isinstance(pause, dict):
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


def _hold(time: float, duration: float) -> Written:
    """Return a pause, or a break if it has no end; those at 0 stand a hair behind it there."""
    at: float | str = "-inf" if time == -math.inf else 0 if 0 <= time <= 2 * _TINY else time
    return {"at": at, "break": True} if math.isinf(duration) else {"at": at, "pause": duration}
