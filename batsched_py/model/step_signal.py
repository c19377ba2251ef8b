"""A quantity for each kilowatt-hour over time, such as the carbon intensity of a grid or the price of energy.

The file is CSV. Its header is `time` and the unit, which is a quantity per kWh such as gCO2/kWh or EUR/kWh; each row
has a time in seconds since the start of the simulation, and the value from then until the next row. The last value has
no end, and the first row is at 0.
"""

from __future__ import annotations

import csv
import math
from bisect import bisect_right
from collections.abc import Sequence
from io import StringIO
from typing import Final

from msgspec import Struct

from batsched_py.errors import WorkloadError
from batsched_py.text.display import displayed, shown

#: Joules of a kilowatt-hour.
KWH: Final = 3.6e6
#: The quantity of a carbon intensity.
CARBON: Final = "gCO2"
#: The ending of units.
_PER_KWH: Final = "/kWh"
#: The largest absolute value, which keeps sums finite.
_LARGEST: Final = 1e12


class StepSignal(Struct, frozen=True):
    """A step function of time.

    Attributes:
        name: the name of its file.
        unit: of the values, such as "gCO2/kWh".
        times: in seconds since the start of the simulation, ascending, the first is 0.
        values: one from each of the times until the next.
    """

    name: str
    unit: str
    times: Sequence[float]
    values: Sequence[float]

    @property
    def quantity(self) -> str:
        """The unit of a value times energy, such as "gCO2"."""
        return self.unit.removesuffix(_PER_KWH)

    def at(self, time: float) -> float:
        """Return the value at a time."""
        return self.values[max(0, bisect_right(self.times, time) - 1)]

    def first_low(self, time: float, threshold: float) -> float:
        """Return the first time from `time` on at which the value is at most the threshold; infinity for never."""
        if self.at(time) <= threshold:
            return time
        later = range(bisect_right(self.times, time), len(self.times))
        return next((self.times[place] for place in later if self.values[place] <= threshold), math.inf)


def parse_signal(name: str, content: bytes) -> StepSignal:
    """Read a signal from the content of a file; WorkloadError names line and rule."""
    try:
        rows = list(csv.reader(StringIO(content.decode("utf-8-sig"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise WorkloadError(name, "", f"must be comma-separated values in UTF-8: {error}") from None
    header = [cell.strip() for cell in rows[0]] if rows else []
    if len(header) != 2 or header[0] != "time" or not header[1].endswith(_PER_KWH) or header[1] == _PER_KWH:
        raise WorkloadError(name, "line 1", 'must be "time" and a unit per kWh, such as time,gCO2/kWh or time,EUR/kWh')
    if displayed(header[1]) != header[1]:
        raise WorkloadError(name, "line 1", f"must have a short unit of printable characters, not {shown(header[1])}")
    times, values = list[float](), list[float]()
    for line, row in enumerate(rows[1:], 2):
        if not row:
            continue
        if len(row) != 2:
            raise WorkloadError(name, f"line {line}", f"must have a time and a value, not {len(row)} cells")
        time, value = (_number(name, line, cell) for cell in row)
        if not times and time != 0.0:
            raise WorkloadError(name, f"line {line}", f"must be at time 0, as the first, not at {shown(row[0])}")
        if times and time <= times[-1]:
            rule = f"must come after the time before, {times[-1]:g}, not {shown(row[0])}"
            raise WorkloadError(name, f"line {line}", rule)
        times.append(time)
        values.append(value)
    if not times:
        raise WorkloadError(name, "", "must have at least one row, at time 0")
    return StepSignal(name, header[1], tuple(times), tuple(values))


def _number(name: str, line: int, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not abs(value) <= _LARGEST:
        raise WorkloadError(name, f"line {line}", f"must have numbers up to {_LARGEST:g}, not {shown(cell)}")
    return value
