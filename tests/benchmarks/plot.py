"""A picture of what decisions cost; needs matplotlib, which is the extra `plot`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from tests.benchmarks.decisions import Cost, Decisions

#: Colours that colour-blind people can tell apart (Okabe and Ito 2008).
_COLOURS: Final = ("#0072B2", "#E69F00", "#009E73")


def pyplot() -> ModuleType:
    """Matplotlib, without a window; ends the program with one line if it is not there."""
    try:
        importlib.import_module("matplotlib").use("svg")
    except ImportError:
        sys.exit('--plot needs matplotlib: pip install -e ".[plot]" (the extra "plot")')
    return importlib.import_module("matplotlib.pyplot")


def draw(rows: Sequence[Decisions], path: Path) -> None:
    """One panel for each algorithm; the same measurements give the same bytes."""
    plt = pyplot()
    plt.rcParams.update({"svg.hashsalt": "batsched-py", "svg.fonttype": "none", "font.size": 9})
    names = list(dict.fromkeys(row.algorithm for row in rows))
    figure, panels = plt.subplots(1, len(names), sharey=True, squeeze=False, figsize=(3.4 * len(names), 3.3))
    for panel, name in zip(panels[0], names, strict=True):
        _panel(panel, name, [row for row in rows if row.algorithm == name])
    panels[0][0].set_ylabel("CPU time of a decision, us (median)")
    panels[0][0].legend(fontsize=7, frameon=False, loc="upper left")
    figure.tight_layout()
    figure.savefig(path, format="svg", metadata={"Date": None})
    plt.close(figure)


def _panel(panel: Any, name: str, rows: Sequence[Decisions]) -> None:
    for colour, hosts in zip(_COLOURS, sorted({row.hosts for row in rows}), strict=False):
        line = [row for row in rows if row.hosts == hosts]
        queues = [row.queue for row in line]
        panel.plot(
            queues, [_us(row.completion) for row in line], "o-", ms=3, c=colour, label=f"{hosts} hosts, completion"
        )
        panel.plot(queues, [_us(row.arrival) for row in line], "s:", ms=3, c=colour, label=f"{hosts} hosts, arrival")
    panel.set(title=name, xscale="log", yscale="log", xlabel="waiting jobs")
    panel.grid(True, which="major", lw=0.3)


def _us(cost: Cost) -> float:
    return cost.median * 1e6
