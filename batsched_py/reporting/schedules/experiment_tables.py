"""Phases of the resources of managed experiments, as bars in the chart of timelines, with a row for each resource."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reporting.schedules.file_notes import OTHER_COLUMNS, FileNotes
from batsched_py.reporting.schedules.tabular import Tabular
from batsched_py.reporting.schedules.timeline_tables import TimelineBar, TimelineChart, TimelineNeed
from batsched_py.results.experiment_rows import ResourceRow

#: Suffix of the file name.
EXPERIMENT_RESOURCES: Final = "_experiment_resources.csv"
#: Kinds of bars: a resource is being created, has no address yet, waits for the start, exists.
CREATION, ADDRESS, BARRIER, THERE = "creation", "address", "barrier", "there"
_NOTHING: Final = TimelineChart({}, (), None, None)


def add_phases(
    chart: TimelineChart | None, path: Path, *, notes: FileNotes, limits: Limits = LIMITS
) -> TimelineChart | None:
    """Return the chart with the phases of all resources in a `_experiment_resources.csv`; InputError.

    The chart is returned unchanged if the file has other columns: a user's own algorithm may use this name.
    """
    table = Tabular(path, limits)
    if not set(ResourceRow._fields) <= set(table.header):
        notes.add(f"{path.name} is left out: {OTHER_COLUMNS}")
        return chart
    table.report_unknown("a table of resources", notes.of(path), ResourceRow._fields)
    timelines = chart or _NOTHING
    vms, bars, needs, experiments = dict[str, float | None](), list[TimelineBar](), list[TimelineNeed](), set[str]()
    columns = {name: table.column(name) for name in ResourceRow._fields}
    for row in table.rows():
        experiment, after = row[columns["experiment"]], row[columns["after"]]
        experiments.add(experiment)
        name = f"{experiment}/{row[columns['resource']]}"
        times = {
            phase: table.number(row, columns[phase]) if row[columns[phase]] else None
            for phase in ("requested", "created", "addressed", "removed")
        }
        vms[name] = timelines.vms.get(name)
        bars += _phases(name, after, times)
        if (asked := times["requested"]) is not None:
            needs += [TimelineNeed(name, f"{experiment}/{other}", asked) for other in after.split()]
        if vms[name] is not None and (start := timelines.starts.get(name)) is not None:
            bars.append(TimelineBar(name, BARRIER, "waits for the others", vms[name] or 0.0, start))
    launched = min((bar.begin for bar in bars), default=None)
    start = timelines.start if len(experiments) == 1 else None
    return TimelineChart(
        vms, (*bars, *timelines.bars), start, launched, timelines.starts, len(experiments), tuple(needs)
    )


def _phases(name: str, after: str, times: dict[str, float | None]) -> Iterator[TimelineBar]:
    """Yield the phases of a resource from its request to its end."""
    requested, created, addressed, removed = times.values()
    if requested is None:
        return
    needs = f"created, after {after}" if after else "created"
    yield TimelineBar(name, CREATION, needs, requested, removed if created is None else created)
    if created is None:
        return
    if addressed is not None and addressed > created:
        yield TimelineBar(name, ADDRESS, "waits for its address", created, addressed)
    yield TimelineBar(name, THERE, "there", created if addressed is None else max(created, addressed), removed)
