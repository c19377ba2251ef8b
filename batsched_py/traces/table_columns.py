"""The meaning of the columns of a table of jobs: which quantity each one has, and in which form.

A table of jobs is a text with a line of names and a line for each job. Its columns have any names, so a user, or a
preset, says what they mean.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Final

from msgspec import Struct

from batsched_py.text.display import shown
from batsched_py.text.wording import unknown

#: Instants, durations, sizes and amounts of demands among the quantities, and the texts that become members of jobs.
INSTANTS: Final = ("submit", "start", "end")
DURATIONS: Final = ("wait", "run", "request")
SIZES: Final = ("size", "used")
AMOUNTS: Final = ("cores", "memory", "gpus", "gpu_share")
TEXTS: Final = ("user", "group", "account", "queue", "partition", "qos")
#: All quantities; `id` names a job, `state` says how it ended.
QUANTITIES: Final = ("id", *INSTANTS, *DURATIONS, *SIZES, *AMOUNTS, "state", *TEXTS)
#: Delimiters that a table may have, in the order in which they are tried.
DELIMITERS: Final = ",;\t|"
#: Unit of a duration, or of an instant since 1970 or since the start of the log -> its length in seconds.
UNITS: Final[Mapping[str, float]] = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1,
    "min": 60,
    "h": 3600,
    "d": 86_400,
}
#: The form of an amount of the whole job, of which each host has an equal part.
TOTAL: Final = "total"
#: Quantity that is an amount -> its forms with their factors; memory is in MiB. GPUs may have a share.
FACTORS: Final[Mapping[str, Mapping[str, float]]] = {
    "cores": {"": 1, TOTAL: 1, "milli": 1e-3, "percent": 1e-2},
    "memory": {"": 1, TOTAL: 1, "KiB": 1 / 1024, "MiB": 1, "GiB": 1024},
    "gpus": {"": 1, TOTAL: 1, "percent": 1e-2},
    "gpu_share": {"": 1, "milli": 1e-3, "percent": 1e-2},
}


class TableColumn(Struct, frozen=True):
    """A column.

    Attributes:
        name: its name in the table.
        form: a unit of UNITS, or of FACTORS for an amount; a pattern of `strptime` with a "%"; "" for a date in the
            form of ISO 8601, a clock time, or a number of seconds.
    """

    name: str
    form: str = ""

    @property
    def text(self) -> str:
        """The column as options name it: "QUEUED:ms"."""
        return f"{self.name}:{self.form}" if self.form else self.name


class TableColumns(Struct, frozen=True):
    """The columns that are read.

    Attributes:
        columns: quantity -> its column.
        zone: name of the time zone of dates without an offset.
        preset: name of the public data whose columns these are; "" for those of a user.
        header: the names of all columns, if the table has no line with them.
        parent: the column whose text precedes ids, if these are only unique within it; "" if they are unique.
        states: word in lower case -> status of a log, for words with another meaning than usual.
        zero_is_unknown: whether an instant of 0 means that it is unknown.
        assumed: a sentence for each statement that the data do not make.
        ignored: a sentence for each statement of the data without effect.
    """

    columns: Mapping[str, TableColumn]
    zone: str = "UTC"
    preset: str = ""
    header: tuple[str, ...] = ()
    parent: str = ""
    states: Mapping[str, int] = {}
    zero_is_unknown: bool = False
    assumed: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names of the columns that are read."""
        return frozenset(column.name for column in self.columns.values()) | ({self.parent} if self.parent else set())

    @property
    def text(self) -> str:
        """The columns as options name them: "submit=QUEUED:ms,size=NODES", after the name of a preset."""
        named = [f"{quantity}={column.text}" for quantity, column in self.columns.items()]
        return ",".join([self.preset, *named] if self.preset else named)

    def lacking(self) -> str:
        """Return what is missing to know when a job was submitted, how long it ran, and its size; "" if nothing is."""
        known = set(self.columns)
        if not known & {"submit"} and not known >= {"start", "wait"}:
            return "submit, or start and wait"
        if "run" not in known and not known >= {"start", "end"}:
            return "run, or start and end"
        return "" if known & set(SIZES) else "size or used"


def column_names(header: str, delimiter: str) -> list[str]:
    """Return the names in the first line of a table; none if the line has no such form."""
    try:
        return [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    except csv.Error:
        return []


def read_columns(texts: Iterable[str]) -> dict[str, TableColumn]:
    """Parse assignments like "submit=QUEUED:ms", separated by commas. ValueError names the rule.

    The form of a column is what follows its last colon, if it is a unit, or a pattern with a "%": names of columns
    may have colons.
    """
    found: dict[str, TableColumn] = {}
    for piece in chain.from_iterable(map(_pieces, texts)):
        quantity, _, column = piece.partition("=")
        quantity = quantity.strip()
        if quantity not in QUANTITIES:
            raise ValueError(f"{shown(quantity)}: {unknown(quantity, QUANTITIES)}")
        if quantity in found:
            raise ValueError(f"{quantity} has two columns")
        found[quantity] = _column(quantity, column.strip())
    return found


def _pieces(text: str) -> list[str]:
    """Split at the commas that precede a quantity: names of columns and patterns may contain others."""
    pieces: list[str] = []
    for piece in text.split(","):
        if pieces and piece.partition("=")[0].strip() not in QUANTITIES and ":%" in pieces[-1]:
            pieces[-1] += f",{piece}"
        else:
            pieces.append(piece)
    return pieces


def _column(quantity: str, text: str) -> TableColumn:
    units = FACTORS.get(quantity, UNITS)
    name, colon, form = text.rpartition(":")
    at = text.find(":%")
    if at > 0:
        name, form = text[:at], text[at + 1 :]
    elif not colon or (form not in units and form not in UNITS):
        name, form = text, ""
    if not name:
        raise ValueError(f"{quantity} has no column: write {quantity}=NAME")
    if form.startswith("%") and quantity not in INSTANTS:
        raise ValueError(f"{quantity} is no date: {shown(form)} has no effect")
    if form and quantity in FACTORS and form not in units:
        raise ValueError(f"{quantity} is no time: {shown(form)} has no effect")
    if form and quantity not in (*INSTANTS, *DURATIONS, *AMOUNTS):
        raise ValueError(f"{quantity} has no unit: {shown(form)} has no effect")
    return TableColumn(name, form)
