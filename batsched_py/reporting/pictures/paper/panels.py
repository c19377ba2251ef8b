"""Panels below a Gantt chart, on its time axis: quantities of a schedule over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes

from batsched_py.errors import InputError
from batsched_py.reporting.metrics.over_time import host_states, power, queue_length, utilisation
from batsched_py.reporting.metrics.resource_use import resource_curves, resource_title
from batsched_py.reporting.metrics.steps import Steps, means
from batsched_py.reporting.pictures.colouring import HOST_COLOURS, LINES
from batsched_py.reporting.pictures.paper.timeline_figure import draw_timelines
from batsched_py.reporting.pictures.window import Window
from batsched_py.reporting.schedules.job_uses import GPUS
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.tracing import HOST_STATES

#: The largest number of steps of an exact line, and the number of intervals over which a longer one is averaged.
MOST_STEPS: Final = 2000
_PARTS: Final = 500

#: States of hosts, from the axis upwards.
_STACK: Final = ("computing", "idle", "switching_on", "switching_off", "sleeping")
#: The total height of the names of VMs in a panel, in points.
_NAMES_POINTS: Final = 60
#: Dash patterns of resources with the same colour.
_DASHES: Final = ("-", "--", ":")


def line_of(steps: Steps, begin: float, end: float, parts: int = _PARTS) -> tuple[list[float], list[float]]:
    """Return the times and values of a quantity for a step line.

    If there are more than MOST_STEPS steps, the values are means over `parts` equal intervals.
    """
    inside = [(time, value) for time, value in steps if begin < time < end]
    if len(inside) > MOST_STEPS:
        width = (end - begin) / parts
        values = means(steps, begin, end, parts)
        return [*[begin + number * width for number in range(parts)], end], [*values, values[-1]]
    first = next((value for time, value in reversed(steps) if time <= begin), 0.0)
    instants, heights = zip((begin, first), *inside, strict=True)
    return [*instants, end], [*heights, heights[-1]]


def draw_utilisation(axes: Axes, schedule: Schedule, window: Window) -> None:
    """Draw the share of the window's hosts that jobs occupy, in percent."""
    shares = _area(axes, utilisation(window.through(schedule)), window, LINES[0], 100)
    axes.set_ylim(0, max(100.0, *shares))
    axes.set_yticks([0, 50, 100])
    axes.set_ylabel("busy (%)")


def draw_resources(axes: Axes, schedule: Schedule, window: Window) -> None:
    """Draw the allocated share of each resource, in percent; InputError if jobs have whole hosts only."""
    curves = [curve for curve in resource_curves(schedule) if not (curve.resource.kind == GPUS and curve.resource.name)]
    if not curves:
        raise InputError(
            schedule.source, "", "has no _places.csv, which says what jobs had of hosts: none has a demand"
        )
    for number, curve in enumerate(curves):
        times, values = line_of(curve.allocated, window.begin, window.end)
        axes.step(
            times, [100 * value for value in values], where="post", color=LINES[number % len(LINES)],
            linestyle=_DASHES[number // len(LINES) % len(_DASHES)], linewidth=0.8, label=resource_title(curve.resource),
        )  # fmt: skip
    axes.set_ylim(0, 103)
    axes.set_yticks([0, 50, 100])
    axes.set_ylabel("allocated (%)")
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.5, 0.98), ncols=len(curves), handlelength=1.2, handletextpad=0.4,
        columnspacing=1.0, borderaxespad=0.1,
    )  # fmt: skip


def draw_queue(axes: Axes, schedule: Schedule, window: Window) -> None:
    """Draw the number of waiting jobs, regardless of their hosts."""
    _scale(axes, _area(axes, queue_length(schedule), window, LINES[1]))
    axes.set_ylabel("waiting jobs")


def draw_power(axes: Axes, schedule: Schedule, window: Window) -> None:
    """Draw the power of all hosts in watts; InputError if energy was not traced."""
    if schedule.consumed_energy is None:
        raise InputError(schedule.source, "", "has no _consumed_energy.csv in its folder; runs with -E write it")
    steps = power(schedule)
    factor, unit = (1e-3, "kW") if max((watts for _, watts in steps), default=0.0) >= 2000 else (1.0, "W")
    _scale(axes, _area(axes, [(time, watts * factor) for time, watts in steps], window, LINES[3]))
    axes.set_ylabel(f"power ({unit})")


def draw_states(axes: Axes, schedule: Schedule, window: Window) -> None:
    """Draw the number of hosts in each state as stacked areas; InputError if states were not traced."""
    if schedule.machine_states is None:
        raise InputError(schedule.source, "", "has no _machine_states.csv in its folder, which has the states of hosts")
    states = host_states(schedule)
    order = [name for name in _STACK if any(value for _, value in states.get(name, []))]
    instants = sorted({time for name in order for time in line_of(states[name], window.begin, window.end)[0]})
    floor = np.zeros(len(instants))
    for name in order:
        times, values = line_of(states[name], window.begin, window.end)
        places = np.clip(np.searchsorted(times, instants, side="right") - 1, 0, None)
        top = floor + np.asarray(values)[places]
        label = HOST_STATES[name]
        axes.fill_between(instants, floor, top, step="post", color=HOST_COLOURS[name][0], linewidth=0, label=label)
        floor = top
    axes.set_ylim(0, max(schedule.hosts, 1))
    axes.set_ylabel("hosts")
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.5, 0.98), ncols=len(HOST_STATES), handlelength=0.8, handletextpad=0.4,
        columnspacing=1.0, borderaxespad=0.1,
    )  # fmt: skip


def draw_vms(axes: Axes, schedule: Schedule, window: Window) -> None:
    """Draw the timelines of VMs, a row for each; InputError if the run has none."""
    if schedule.timelines is None:
        raise InputError(schedule.source, "", "has no _timeline.csv in its folder; the algorithm timelines writes it")
    draw_timelines(axes, schedule.timelines, window.begin, window.end)
    axes.tick_params(axis="y", labelsize=max(2.5, min(6.0, _NAMES_POINTS / max(len(schedule.timelines.vms), 1))))


#: Name after `--with` -> its drawing.
PANELS: Final[Mapping[str, Callable[[Axes, Schedule, Window], None]]] = {
    "utilisation": draw_utilisation,
    "resources": draw_resources,
    "queue": draw_queue,
    "power": draw_power,
    "states": draw_states,
    "timelines": draw_vms,
}


def _area(axes: Axes, steps: Steps, window: Window, colour: str, factor: float = 1) -> list[float]:
    """Draw a filled line of values times a factor; return them."""
    times, values = line_of(steps, window.begin, window.end)
    values = [factor * value for value in values]
    axes.fill_between(times, values, step="post", color=colour, alpha=0.35, linewidth=0)
    axes.step(times, values, where="post", color=colour, linewidth=0.6)
    return values


def _scale(axes: Axes, values: Sequence[float]) -> None:
    axes.set_ylim(0, 1.05 * max([*values, 1e-9]))
    axes.locator_params(axis="y", nbins=3, integer=True)
