"""The section of timelines in a report: a table of the VMs, and an SVG picture with a row for each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final

from msgspec import Struct

from batsched_py.reporting.formatting import clock
from batsched_py.reporting.pictures.colouring import OTHERS, job_colour
from batsched_py.reporting.pictures.html import markup
from batsched_py.reporting.pictures.time_axis import tick_step, ticks
from batsched_py.reporting.schedules.experiment_tables import ADDRESS, BARRIER, CREATION, THERE
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.schedules.timeline_tables import TimelineBar, TimelineChart, TimelineNeed
from batsched_py.text.display import displayed
from batsched_py.text.wording import NOTHING, counted, seconds

#: The largest numbers of VMs and bars that are drawn, and of VMs in the table; the first ones are kept.
MOST_VMS: Final = 100
MOST_BARS: Final = 4000
_WIDTH, _GUTTER, _ROW, _FOOT = 1200, 150, 24, 28
_LONGEST_NAME: Final = 20
#: Kind of a bar without a colour of its own -> its colour and its meaning.
_SHADES: Final[Mapping[str, tuple[str, str]]] = {
    "pause": ("var(--same)", "paused"),
    "break": ("var(--later)", "held"),
    "reboot": ("var(--new)", "reboots"),
    "load": ("var(--earlier)", "loads files"),
    CREATION: ("var(--new)", "is created"),
    ADDRESS: ("var(--later)", "has no address yet"),
    BARRIER: ("var(--same)", "waits for the start"),
    THERE: ("var(--grid)", "is there"),
}
#: The style of a line from a resource to one that needs it.
_NEED: Final = 'fill="none" stroke="currentColor" stroke-opacity="0.6"'
#: The smallest distance of ticks on the time axis, in pixels.
_SPACING: Final = 90


class _TimeScale(Struct, frozen=True):
    """The range of wall times of a picture."""

    begin: float
    end: float

    @property
    def pixels(self) -> float:
        """Pixels per second."""
        return (_WIDTH - _GUTTER - 10) / (self.end - self.begin)

    def x(self, time: float) -> float:
        return _GUTTER + (time - self.begin) * self.pixels


def timeline_parts(schedules: Sequence[Schedule]) -> list[str]:
    """Return the parts of the section for each run with timelines; empty if no run has any."""
    return [part for one in schedules if one.timelines is not None for part in _parts(one.name, one.timelines)]


def _parts(name: str, chart: TimelineChart) -> Iterator[str]:
    late = [bar.late for bar in chart.bars]
    start = "no start: the barrier stayed closed" if chart.start is None else f"start at {clock(chart.start)}"
    rows = "resource" if chart.experiments else "VM"
    if chart.experiments > 1 or (chart.start is None and chart.experiments):
        start = counted(chart.experiments, "experiment")
    lateness = f"; an entry was {seconds(max(late))} s late at most, 99 of 100 {seconds(_p99(late))} s" if late else ""
    yield markup.paragraph(f"{name}: {counted(len(chart.vms), rows)}, {start}{lateness}.")
    yield _table(name, chart)
    yield _picture(name, chart)
    hidden = max(len(chart.bars) - MOST_BARS, 0), max(len(chart.vms) - MOST_VMS, 0)
    if any(hidden):
        text = f"{counted(hidden[0], 'entry', 'entries')} and {counted(hidden[1], rows)} are not shown."
        yield markup.paragraph(text, "none")


def _p99(values: Sequence[float]) -> float:
    return sorted(values)[math.ceil(0.99 * len(values)) - 1]


def _table(name: str, chart: TimelineChart) -> str:
    bars: dict[str, list[TimelineBar]] = {vm: [] for vm in list(chart.vms)[:MOST_VMS]}
    for bar in chart.bars:
        if bar.vm in bars:
            bars[bar.vm].append(bar)
    rows, title = [], "VMs"
    for vm, vm_bars in bars.items():
        configured = chart.vms[vm]
        late = [bar.late for bar in vm_bars]
        figures = (seconds(max(late)), seconds(_p99(late))) if late else (NOTHING, NOTHING)
        runs = sum(bar.kind == "run" for bar in vm_bars)
        held = sum((chart.end if bar.end is None else bar.end) - bar.begin for bar in vm_bars if bar.kind == "break")
        rows.append([_name(vm), NOTHING if configured is None else clock(configured), str(runs), clock(held), *figures])
    heads = ["VM", "configured", "runs of programs", "held", "late at most (s)", "99 of 100 (s)"]
    if chart.experiments:
        waited = dict[str, list[str]]()
        for need in chart.needs:
            waited.setdefault(need.name, []).append(_name(need.needs.partition("/")[2]))
        heads, title = ["resource", *heads[1:], "after"], "Resources"
        for vm, row in zip(bars, rows, strict=True):
            row.append(", ".join(waited.get(vm, ())) or NOTHING)
    return markup.plain_table(f"{title} of {name}", heads, rows)


def _picture(name: str, chart: TimelineChart) -> str:
    """Return the picture as inline SVG."""
    begin = chart.launched or 0.0
    scale = _TimeScale(begin, chart.end + max((chart.end - begin) * 0.03, 1.0))
    names = list(chart.vms)[:MOST_VMS]
    places = {vm: number * _ROW for number, vm in enumerate(names)}
    colours = _colours(chart)
    lines = list(_axis(chart, scale, len(names) * _ROW))
    for vm, top in places.items():
        lines.append(f'<text x="{_GUTTER - 8}" y="{top + 16}" text-anchor="end">{_name(vm)}</text>')
    for bar in chart.bars[:MOST_BARS]:
        if bar.vm in places:
            lines.append(_bar(bar, places[bar.vm], colours, scale))
    lines += [
        _need(need, places[need.needs], places[need.name], scale)
        for need in chart.needs[:MOST_BARS]
        if need.needs in places and need.name in places
    ]
    height = len(names) * _ROW + _FOOT
    legend = "".join(
        f'<li><span class="swatch" data-kind="{kind}"></span>{meaning}</li>'
        for kind, (_, meaning) in _SHADES.items()
        if any(bar.kind == kind for bar in chart.bars)
    )
    inside = "\n".join(lines)
    return (
        f'<div class="wide"><svg class="timelines" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="what the VMs of {escape(displayed(name))} do when">\n{inside}\n</svg></div>'
        + (f'<ul class="legend">{legend}</ul>' if legend else "")
    )


def _axis(chart: TimelineChart, scale: _TimeScale, foot: int) -> Iterator[str]:
    """Yield ticks in experiment time, or in wall time if there was no start, and the line of the start."""
    zero = chart.start or 0.0
    for time in ticks(scale.begin - zero, scale.end - zero, tick_step(_SPACING / scale.pixels)):
        x = scale.x(time + zero)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{foot}" stroke="var(--grid)"/>'
        yield f'<text x="{x:.1f}" y="{foot + 18}" text-anchor="middle">{seconds(time)} s</text>'
    if chart.start is not None:
        x = scale.x(chart.start)
        yield (
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{foot}" stroke="currentColor" stroke-dasharray="4 3">'
            "<title>start</title></line>"
        )


def _bar(bar: TimelineBar, top: int, colours: Mapping[str, str], scale: _TimeScale) -> str:
    until = scale.end if bar.end is None else bar.end
    x, width = scale.x(bar.begin), max((until - bar.begin) * scale.pixels, 2.0)
    shade = _SHADES.get(bar.kind)
    over = NOTHING if bar.end is None else clock(bar.end)
    late = f", {seconds(bar.late)} s late" if bar.late else ""
    text = f"{displayed(bar.name)} ({bar.kind}): {clock(bar.begin)} to {over}{late}"
    looks = (
        f'y="{top + 3}" height="18" fill="{colours.get(bar.name, OTHERS)}"'
        if shade is None
        else f'y="{top + 7}" height="10" fill="{shade[0]}" fill-opacity="0.5"'
    )
    return f'<rect x="{x:.1f}" width="{width:.1f}" {looks}><title>{escape(text)}</title></rect>'


def _need(need: TimelineNeed, above: int, below: int, scale: _TimeScale) -> str:
    """Return an arrow from the row of a needed resource to the row of the one that needs it."""
    x, begin = scale.x(need.time), above + _ROW // 2
    end, head = below + _ROW // 2, 4 if below > above else -4
    text = f"{displayed(need.name)} is asked for after {displayed(need.needs)}: {clock(need.time)}"
    return (
        f'<path d="M{x:.1f} {begin}V{end}M{x - 3:.1f} {end - head}L{x:.1f} {end}L{x + 3:.1f} {end - head}" {_NEED}>'
        f"<title>{escape(text)}</title></path>"
    )


def _name(vm: str) -> str:
    return escape(displayed(vm, _LONGEST_NAME))


def _colours(chart: TimelineChart) -> dict[str, str]:
    """Return entry's name -> colour, the same in all VMs."""
    names = dict.fromkeys(bar.name for bar in chart.bars if bar.kind not in _SHADES)
    return {name: job_colour(number) for number, name in enumerate(names)}
