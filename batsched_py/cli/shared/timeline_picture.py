"""Timelines in a terminal: a row for each VM, a letter for each entry, shades for pauses, breaks and reboots."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec import Struct
from rich.style import Style
from rich.text import Text

from batsched_py.reporting.formatting import brief
from batsched_py.reporting.pictures.terminal.canvas import Canvas
from batsched_py.reporting.pictures.terminal.looks import LETTERS, Look, filled
from batsched_py.reporting.pictures.time_axis import time_axis
from batsched_py.text.display import displayed
from batsched_py.timelines.api import Drop, PauseEntry, Program, TimelineRun, Transfer
from batsched_py.timelines.records import Span
from batsched_py.timelines.vm import TimelineVm

#: The smallest number of columns for the time.
LEAST_COLUMNS: Final = 20
#: The largest number of VMs that are drawn; the first ones of the file are kept.
MOST_VMS: Final = 64
#: The largest number of characters of a VM's name.
_LONGEST_NAME: Final = 20
#: The largest number of entries in the legend of letters.
_MOST_IN_LEGEND: Final = 12
PAUSED, HELD, REBOOTS, LOADS, START, SEVERAL, IDLE = "░", "▓", "~", "=", "┊", "+", "·"
#: Sign -> its meaning.
MEANINGS: Final = {
    PAUSED: "paused",
    HELD: "held",
    REBOOTS: "reboots",
    LOADS: "loads files",
    SEVERAL: "several entries",
    START: "start",
}
_DIM: Final = Style(dim=True)


class _Scale(Struct, frozen=True):
    """The mapping from wall time to columns."""

    begin: float
    end: float
    columns: int

    def column(self, time: float) -> int:
        part = (time - self.begin) / (self.end - self.begin)
        return min(max(int(part * self.columns), 0), self.columns - 1)

    def cells(self, begin: float, end: float) -> range:
        """Return the columns of a half-open span, at least one."""
        first, last = self.column(begin), (min(end, self.end) - self.begin) / (self.end - self.begin) * self.columns
        return range(first, max(first + 1, min(math.ceil(last), self.columns)))


def render_timelines(run: TimelineRun, width: int = 100) -> Text:
    """Draw the timelines of all VMs, `width` characters wide, over experiment time, or wall time if it did not start.

    An entry has the letter and the colour of its name; one without duration has one character. The same run gives the
    same text.
    """
    if run.launched is None:
        return Text("Nothing to draw: there is no VM.")
    names = {name: displayed(name, _LONGEST_NAME) for name in run.vms}
    gutter = max(map(len, names.values())) + 1
    scale = _scale(run, max(width - gutter - 1, LEAST_COLUMNS))
    letters = _letters(run)
    canvas, seen = Canvas(gutter), dict[str, None]()
    zero = run.start if run.start is not None else 0.0
    clock = "experiment time" if run.start is not None else "wall time; no start"
    canvas.add_note(f"{clock}; a column is {brief((scale.end - scale.begin) / scale.columns)}")
    for name, vm in islice(run.vms.items(), MOST_VMS):
        looks = _row(vm, scale, letters, run.start)
        seen |= dict.fromkeys(sign for sign, _ in looks)
        canvas.add_row(names[name], looks)
    if len(run.vms) > MOST_VMS:
        canvas.add_note(f"{len(run.vms) - MOST_VMS} more VMs are not drawn")
    canvas.add_axis(time_axis(scale.end - zero, scale.columns, scale.begin - zero))
    legend = [f"{letter}={displayed(entry, _LONGEST_NAME)}" for entry, letter in letters.items() if letter in seen]
    if legend:
        canvas.add_note("  ".join(legend[:_MOST_IN_LEGEND]) + ("  ..." if len(legend) > _MOST_IN_LEGEND else ""))
    signs = [f"{sign} {meaning}" for sign, meaning in MEANINGS.items() if sign in seen]
    if signs:
        canvas.add_note("  ".join(signs))
    return canvas.finish()


def _letters(run: TimelineRun) -> dict[str, str]:
    """Return name of an entry -> letter, the same in all VMs, in the order of the file."""
    names = dict.fromkeys(
        record.entry.name
        for vm in run.vms.values()
        for record in vm.records.values()
        if not _is_control(record.entry.action)
    )
    return {name: LETTERS[number % len(LETTERS)] for number, name in enumerate(names)}


def _is_control(action: object) -> bool:
    return not isinstance(action, Program | Drop | Transfer)


def _scale(run: TimelineRun, columns: int) -> _Scale:
    """Return a scale from the launch to the last event, with a margin."""
    begin = run.launched if run.launched is not None else 0.0
    times = [time for vm in run.vms.values() for span in _spans(vm) for time in span if math.isfinite(time)]
    end = max([begin, *times, *([] if run.start is None else [run.start])])
    return _Scale(begin, end + max((end - begin) * 0.04, 1.0), columns)


def _spans(vm: TimelineVm) -> Iterator[tuple[float, float]]:
    for record in vm.records.values():
        for span in record.spans:
            yield span.begin, _end(span)
    yield from vm.reboots
    if vm.loading is not None:
        yield vm.loading


def _row(vm: TimelineVm, scale: _Scale, letters: dict[str, str], start: float | None) -> list[Look]:
    """Return the cells of a VM: entries in front of pauses, breaks and reboots."""
    looks: list[Look] = [(IDLE if vm.timeline.managed else " ", _DIM)] * scale.columns
    if start is not None:
        looks[scale.column(start)] = START, _DIM
    for sign, begin, end in _shades(vm):
        for column in scale.cells(begin, end) if end > begin else ():
            looks[column] = sign, _DIM
    numbers = {name: number for number, name in enumerate(letters)}
    owners: dict[int, str] = {}
    for name, record in vm.records.items():
        for span in record.spans if name in letters and not _is_control(record.entry.action) else ():
            for column in scale.cells(span.begin, _end(span)):
                alone = owners.setdefault(column, name) == name
                looks[column] = (letters[name], filled(numbers[name])) if alone else (SEVERAL, _DIM)
    return looks


def _shades(vm: TimelineVm) -> Iterator[tuple[str, float, float]]:
    """Yield (sign, begin, end) of each pause, break, reboot and load."""
    for record in vm.records.values():
        if isinstance(record.entry.action, PauseEntry):
            sign = HELD if record.entry.action.is_break else PAUSED
            yield from ((sign, span.begin, _end(span)) for span in record.spans)
    yield from ((REBOOTS, begin, until) for begin, until in vm.reboots)
    if vm.loading is not None:
        yield LOADS, *vm.loading


def _end(span: Span) -> float:
    return math.inf if span.end is None else span.end
