"""Files of the carbon intensity or the price of energy over time."""

from __future__ import annotations

from pathlib import Path

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_content
from batsched_py.model.step_signal import StepSignal, parse_signal
from batsched_py.reading.limits import LIMITS, Limits


def read_signal(path: Path | None, quantity: str = "", limits: Limits = LIMITS) -> StepSignal | None:
    """Read the file of a signal, of this quantity if one is named; None without a path. WorkloadError."""
    if path is None:
        return None
    signal = parse_signal(str(path), read_content(path, limits))
    if quantity and signal.quantity != quantity:
        raise WorkloadError(str(path), "line 1", f"must be in {quantity}/kWh, not in {signal.unit}")
    return signal
