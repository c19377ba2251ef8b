"""Signals by which a run was measured, and which are not at hand when it is measured again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from batsched_py.reporting.metrics.machine_groups import EnergySignals
from batsched_py.results.run_file import RunFile
from batsched_py.text.display import displayed

# The description of a run names these files. They are not opened: results may come from anybody, and their text must
# not choose what is read on this machine.

#: Role of a file in the description of a run -> its metric.
_METRICS: Final[Mapping[str, str]] = {"carbon": "carbon", "price": "energy_cost"}


def missing_signals(run: RunFile | None, chosen: EnergySignals) -> Iterator[str]:
    """Yield a line for each file of a signal that a run names, if none was chosen for its metric."""
    for file in () if run is None else run.files:
        metric = _METRICS.get(file.role)
        if metric is not None and getattr(chosen, file.role) is None:
            yield f"{metric} is not measured: the run had {displayed(file.path)}, which metrics --{file.role} takes"
