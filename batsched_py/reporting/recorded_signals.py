"""The carbon intensity and the price by which a run was measured, read again from the files that it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from batsched_py.errors import InputError
from batsched_py.model.step_signal import CARBON, StepSignal
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reporting.metrics.machine_groups import NO_SIGNALS, EnergySignals
from batsched_py.results.run_file import OtherFile, RunFile, content_hash
from batsched_py.text.display import displayed
from batsched_py.traces.signal_file import read_signal

#: Role of a file in the description of a run -> its quantity, and the metric.
_ROLES: Final[Mapping[str, tuple[str, str]]] = {"carbon": (CARBON, "carbon"), "price": ("", "energy_cost")}


def recorded_signals(
    run: RunFile | None,
    chosen: EnergySignals = NO_SIGNALS,
    *,
    warn: Callable[[str], None] | None = None,
    limits: Limits = LIMITS,
) -> EnergySignals:
    """Return the chosen signals, and for missing ones those of the files in the description of a run.

    A file that is not there or whose content has changed is not read: `warn` is called with a line that names it, and
    its metric is undefined. Relative paths are those of the current folder.
    """
    files = {file.role: file for file in (() if run is None else run.files)}

    def signal(role: str, known: StepSignal | None) -> StepSignal | None:
        if known is not None or role not in files:
            return known
        quantity, metric = _ROLES[role]
        try:
            return _read(files[role], quantity, limits)
        except InputError as error:
            if warn is not None:
                warn(f"{error}; so {metric} is not measured: give the file by --{role}")
            return None

    return EnergySignals(signal("carbon", chosen.carbon), signal("price", chosen.price))


def _read(file: OtherFile, quantity: str, limits: Limits) -> StepSignal | None:
    """Read a signal. InputError if its content is not that of the run."""
    path = Path(file.path)
    if content_hash(path) != file.sha256:
        raise InputError(displayed(file.path), "", "is not as it was in the run: its SHA-256 is another")
    return read_signal(path, quantity, limits)
