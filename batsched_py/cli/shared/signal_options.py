"""The options --carbon and --price: files of the carbon intensity and the price of energy over time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from batsched_py.cli.shared.command import current_limits
from batsched_py.cli.shared.parameters import option, together
from batsched_py.model.settings import Settings
from batsched_py.model.step_signal import CARBON, StepSignal
from batsched_py.traces.signal_file import read_signal


class SignalType(click.ParamType[Any, Any]):
    """The path of a signal, which is read, so that its errors are those of an input file."""

    name = "path"

    def __init__(self, quantity: str) -> None:
        self._quantity = quantity

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the file. WorkloadError."""
        del param, ctx
        return read_signal(Path(value), self._quantity, current_limits())


#: As `carbon` and `price`, signals.
signal_options = together(
    option(
        "--carbon", "FILE", "Carbon intensity over time, for the emissions: CSV with time,gCO2/kWh.",
        type=SignalType(CARBON),
    ),
    option("--price", "FILE", "Price over time, for the cost of energy: CSV with time,EUR/kWh.", type=SignalType("")),
)  # fmt: skip
#: Settings that are signals -> the metric of each.
SIGNAL_METRICS: Final[Mapping[str, str]] = {"carbon": "carbon", "price": "energy_cost"}


def signals_of(settings: Settings) -> Mapping[str, StepSignal]:
    """Return the signals of the settings by their names. UsageError for one without energy."""
    found = {name: signal for name in SIGNAL_METRICS if (signal := getattr(settings, name)) is not None}
    for name in found if not settings.energy else ():
        raise click.UsageError(f"'--{name}' goes with '-E': it measures energy")
    return found


def signal_files(settings: Settings) -> Mapping[str, Path]:
    """Return the files of the signals by their names. UsageError."""
    return {name: Path(signal.name) for name, signal in signals_of(settings).items()}
