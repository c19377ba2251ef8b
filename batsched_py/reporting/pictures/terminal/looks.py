"""The display of jobs in a picture: a letter and a colour for each, and shades for cells with many jobs."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Final

from rich.style import Style

from batsched_py.model.job import Job
from batsched_py.reporting.pictures.colouring import LIGHT, job_colour
from batsched_py.reporting.pictures.raster import Cell

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

#: Styles of waiting jobs, and of busy hosts.
WAITING: Final = Style(color="#e5a05f")
BUSY: Final = Style(color="#63b8b0")
#: Colour of a job -> the styles of a cell that it fills, and of one that it shares.
_FILLED: Final = {colour: Style(color="black", bgcolor=colour) for colour in LIGHT}
_SHADED: Final = {colour: Style(color=colour) for colour in LIGHT}
_CROWDED: Final = Style(color="bright_black")

#: A character and its style.
Look = tuple[str, Style]

#: A cell that is busy to less than 1/8, to about 1/4, 1/2, 3/4, and above 7/8.
DENSITIES: Final = "·░▒▓█"


def letter(sequence: int) -> str:
    """Return the letter of a job, given its number in the order of submission, from 0."""
    return LETTERS[sequence % len(LETTERS)]


def look(cell: Cell) -> Look:
    """Return a character and its style: those of the job that occupies at least half of the cell, or its density."""
    if cell.jobs == 0:
        return " ", Style.null()
    if cell.owned >= 0.5:
        return letter(cell.owner), filled(cell.owner)
    density = DENSITIES[min(round(cell.busy * 4), 4)]
    return density, _SHADED[job_colour(cell.owner)] if cell.jobs == 1 else _CROWDED


def filled(sequence: int) -> Style:
    """Return the style of a cell that the job with this number fills."""
    return _FILLED[job_colour(sequence)]


def legend(jobs: Sequence[tuple[int, Job]], width: int, lines: int) -> list[str]:
    """Return lines with the job of each letter; empty if there are too many, or if each name is its letter.

    Each job has its sequence number; jobs of a lease share one, and only the first is listed. Ids are written in full
    only if there are several workloads.
    """
    first = dict(reversed(jobs))
    if len(first) > len(LETTERS):
        return []
    several = len({job.workload for job in first.values()}) > 1
    names = {letter(sequence): job.id if several else job.name for sequence, job in sorted(first.items())}
    if len(names) < len(first) or all(name == key for key, name in names.items()):
        return []
    pairs = [f"{key}={name.replace(' ', '_')}" for key, name in names.items()]
    wrapped = wrap("  ".join(pairs), width, break_long_words=False, break_on_hyphens=False)
    return wrapped if len(wrapped) <= lines else []
