"""The timelines of a run for charts: the entries of each VM with their times, and the global barrier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from batsched_py.model.table import Table
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reporting.schedules.file_notes import OTHER_COLUMNS, FileNotes
from batsched_py.reporting.schedules.tabular import Tabular
from batsched_py.results.timeline_rows import KINDS, EntryRow, VmRow
from batsched_py.text.display import shown

#: Suffixes of the file names.
TIMELINE: Final = "_timeline.csv"
TIMELINE_VMS: Final = "_timeline_vms.csv"


class TimelineBar(Struct, frozen=True):
    """A run of an entry, a pause, a break or a reboot in wall time; `end` is None if it was not over."""

    vm: str
    kind: str
    name: str
    begin: float
    end: float | None
    late: float = 0.0


class TimelineNeed(Struct, frozen=True):
    """A dependency: a resource that could be requested only when another one existed, from the wall time `time` on."""

    name: str
    needs: str
    time: float


class TimelineChart(Struct, frozen=True):
    """All VMs of a run.

    Attributes:
        vms: name -> the wall time at which it was configured, None if it never was; in order.
        bars: the bars in the order of the VMs.
        start: the wall time of the start; None if there was none, or if each experiment has its own.
        launched: the wall time of the first launch; None if no VM was launched.
        starts: VM -> the start of its experiment.
        experiments: the number of managed experiments, whose resources are the rows; 0 if all rows are VMs.
        needs: the dependencies between resources of experiments.
    """

    vms: dict[str, float | None]
    bars: tuple[TimelineBar, ...]
    start: float | None
    launched: float | None
    starts: Mapping[str, float] = {}
    experiments: int = 0
    needs: tuple[TimelineNeed, ...] = ()

    @property
    def end(self) -> float:
        """The wall time of the last known event."""
        times = [bar.begin if bar.end is None else bar.end for bar in self.bars]
        return max([*times, *(time for time in (self.start, self.launched) if time is not None)], default=0.0)


def chart_of_tables(tables: Iterable[Table]) -> TimelineChart | None:
    """Return the timelines of a run in this process, from the tables of its algorithm; None if there are none."""
    named = {table.name: table for table in tables}
    entries, vms = named.get("timeline"), named.get("timeline_vms")
    if entries is None or vms is None or not _have_columns(entries.header, vms.header):
        return None
    return _chart([VmRow(*row) for row in vms.rows], [bar for row in entries.rows if (bar := _bar(EntryRow(*row)))])


def read_timeline_tables(
    entries: Path, vms: Path, *, notes: FileNotes, limits: Limits = LIMITS
) -> TimelineChart | None:
    """Read a `_timeline.csv` and a `_timeline_vms.csv`; InputError names file, line and rule.

    None if they have other columns: a user's own algorithm may use these names. `notes` receives notes on ignored
    contents.
    """
    table, known = Tabular(entries, limits), Tabular(vms, limits)
    if not _have_columns(table.header, known.header):
        notes.add(f"{entries.name} is left out: {OTHER_COLUMNS}")
        return None
    table.report_unknown("a table of timelines", notes.of(entries), EntryRow._fields)
    known.report_unknown("a table of VMs", notes.of(vms), VmRow._fields)
    states = [_read(known, row, VmRow, ("launched", "configured", "start", "end")) for row in known.rows()]
    names = {state.vm for state in states}
    bars = list[TimelineBar]()
    for row in table.rows():
        one = _read(table, row, EntryRow, ("begin", "end", "late"))
        if one.kind not in KINDS:
            raise table.error(f"must be one of {', '.join(KINDS)}, not {shown(one.kind)}", column=table.column("kind"))
        if one.vm not in names:
            raise table.error(f"is none of {vms.name}: {shown(one.vm)}", column=table.column("vm"))
        if (bar := _bar(one)) is not None:
            bars.append(bar)
    return _chart(states, bars)


def _have_columns(entries: Iterable[str], vms: Iterable[str]) -> bool:
    return set(EntryRow._fields) <= set(entries) and set(VmRow._fields) <= set(vms)


def _read(table: Tabular, row: list[str], kind: Any, times: tuple[str, ...]) -> Any:
    """Return a row with numbers in the columns `times`, None for empty cells, and text in the other columns."""
    cells = dict[str, Any]()
    for name in kind._fields:
        column = table.column(name)
        text = row[column]
        cells[name] = (table.number(row, column) if text else None) if name in times else text
    return kind(**cells)


def _bar(row: EntryRow) -> TimelineBar | None:
    """Return the bar of a row; None for an entry that did not begin."""
    if row.begin is None:
        return None
    return TimelineBar(row.vm, row.kind, row.entry or row.kind, row.begin, row.end, row.late or 0.0)


def _chart(vms: Iterable[VmRow], bars: Iterable[TimelineBar]) -> TimelineChart:
    rows = list(vms)
    launches = [row.launched for row in rows if row.launched is not None]
    return TimelineChart(
        {row.vm: row.configured for row in rows},
        tuple(bars),
        next((row.start for row in rows if row.start is not None), None),
        min(launches, default=None),
        {row.vm: row.start for row in rows if row.start is not None},
    )
