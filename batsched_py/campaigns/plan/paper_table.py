"""The table `paper` of a study file: the statistics and the figures of the folder for a paper."""

from __future__ import annotations

import re
from typing import Any, Final, Literal

from msgspec import Struct, field

from batsched_py.campaigns.bootstrap import LEVEL, RESAMPLES
from batsched_py.campaigns.plan.study_tables import StudyFile, StudyFileTable, member
from batsched_py.reading.shares import parse_share
from batsched_py.text.display import shown

#: Names of files, without their endings.
_NAME: Final = re.compile(r"[A-Za-z0-9][\w-]{0,99}")
#: Limits of the number of resamples: fewer make no interval, more are a typing error.
LEAST_RESAMPLES: Final = 100
MOST_RESAMPLES: Final = 1_000_000


class PaperFigure(StudyFileTable, frozen=True):
    """A figure: its file's name without ending, and the options of `campaign figure`."""

    name: str
    kind: Literal["curve", "heat", "forest", "boxes"] = "curve"
    x: str | None = None
    y: str | None = None
    group: str | None = None
    width: float | None = None
    height: float | None = None
    title: str = ""


class PaperChoice(Struct, frozen=True):
    """The content of the folder for a paper.

    Attributes:
        tests: True for effect sizes and p values.
        precision: the wanted precision of differences, as a share of the baseline's mean; None for none.
        level, resamples: of the intervals.
        figures: the figures; empty for the usual ones.
    """

    tests: bool = False
    precision: float | None = None
    level: float = LEVEL
    resamples: int = RESAMPLES
    figures: tuple[PaperFigure, ...] = ()


class _PaperTable(StudyFileTable, frozen=True):
    tests: bool = False
    precision: str | float | None = None
    level: float = LEVEL
    resamples: int = RESAMPLES
    figures: list[Any] = field(default_factory=list)


def read_paper(file: StudyFile, raw: Any) -> PaperChoice:
    """Read the table. ConfigurationError."""
    table = file.convert(raw, _PaperTable, "paper")
    precision = table.precision
    share = None if precision is None else file.parsed(lambda: parse_share(str(precision)), "paper.precision")
    if not 0 < table.level < 1:
        raise file.error("paper.level", f"must be between 0 and 1, not {table.level:g}")
    if not LEAST_RESAMPLES <= table.resamples <= MOST_RESAMPLES:
        rule = f"must be from {LEAST_RESAMPLES} to {MOST_RESAMPLES}, not {table.resamples}"
        raise file.error("paper.resamples", rule)
    figures = tuple(_figure(file, one, f"paper.figures[{number}]") for number, one in enumerate(table.figures))
    names = [one.name for one in figures]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise file.error(f"paper.figures[{number}].name", f"two are called {shown(name)}")
    return PaperChoice(table.tests, share, table.level, table.resamples, figures)


def _figure(file: StudyFile, raw: Any, place: str) -> PaperFigure:
    figure = file.convert(raw, PaperFigure, place)
    if not _NAME.fullmatch(figure.name):
        rule = f"must be a name of letters, digits, - and _, not {shown(figure.name)}"
        raise file.error(member(place, "name"), rule)
    for name, least in (("width", 1.0), ("height", 0.5)):
        value = getattr(figure, name)
        if value is not None and not least <= value <= 100:
            raise file.error(member(place, name), f"must be from {least:g} to 100 inches, not {value:g}")
    return figure
