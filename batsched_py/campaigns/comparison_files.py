"""A comparison as files: the runs as CSV, everything as JSON, the table of a paper as LaTeX."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any, Final

import msgspec
import orjson
from msgspec.structs import asdict

import batsched_py
from batsched_py.campaigns.bootstrap import Estimate
from batsched_py.campaigns.comparison import Comparison, Entry, Section
from batsched_py.campaigns.figures import Figure
from batsched_py.campaigns.study import Outcome, Variant
from batsched_py.display import spreadsheet_cell
from batsched_py.reporting.metrics.run_figures import RunFigures
from batsched_py.traces.atomic_file import write_atomically

#: What LaTeX takes for something else.
_SPECIAL: Final = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    character: f"\\{character}" for character in "&%$#_{}"
}


def write_csv(path: Path, comparison: Comparison) -> None:
    """A row for each run, with all figures, in SI units; the file is replaced whole or not at all. OSError."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["workload", "algorithm", *RunFigures.__struct_fields__, "error"])
    for outcome in comparison.study.outcomes:
        figures = dict.fromkeys(RunFigures.__struct_fields__) if outcome.figures is None else asdict(outcome.figures)
        values = ["" if value is None else repr(value) for value in figures.values()]
        names = map(spreadsheet_cell, (outcome.workload, outcome.variant))
        rows.writerow([*names, *values, spreadsheet_cell(outcome.error)])
    write_atomically(path, text.getvalue().encode())


def write_json(path: Path, comparison: Comparison) -> None:
    """Algorithms, runs, figures and intervals; the file is replaced whole or not at all. OSError."""
    content = {
        "batsched_py": batsched_py.__version__,
        "baseline": comparison.baseline,
        "level": comparison.level,
        "resamples": comparison.resamples,
        "workloads": comparison.study.workloads,
        **({"seeds": comparison.study.seeds} if comparison.study.seeds else {}),
        "algorithms": [_variant(variant) for variant in comparison.study.variants],
        "figures": {section.figure.name: _json_section(section) for section in comparison.sections},
        "runs": [_json_run(outcome) for outcome in comparison.study.outcomes],
    }
    write_atomically(path, orjson.dumps(msgspec.to_builtins(content), option=orjson.OPT_INDENT_2) + b"\n")


def _variant(variant: Variant) -> dict[str, Any]:
    algorithm = variant.algorithm
    known = algorithm if isinstance(algorithm, str) else f"{algorithm.__module__}:{algorithm.__qualname__}"
    return {"name": variant.name, "algorithm": known, "options": variant.options}


def _json_section(section: Section) -> list[dict[str, Any]]:
    return [
        {"algorithm": entry.variant, "mean": entry.mean, "against_baseline": entry.pairs} for entry in section.entries
    ]


def _json_run(outcome: Outcome) -> dict[str, Any]:
    content: dict[str, Any] = {"workload": outcome.workload, "algorithm": outcome.variant}
    if outcome.figures is not None:
        content["figures"] = outcome.figures
    told = {"warnings": outcome.warnings, "approximations": outcome.approximations, "error": outcome.error}
    return content | {key: value for key, value in told.items() if value}


def write_latex(path: Path, comparison: Comparison) -> None:
    """A tabular for the package booktabs; the file is replaced whole or not at all. OSError."""
    lines = [r"\begin{tabular}{lrrrr}", r"\toprule", _header(comparison)]
    for section in comparison.sections:
        lines += [r"\midrule", rf"\multicolumn{{5}}{{l}}{{{_escaped(section.figure.heading)}}} \\"]
        lines += [_latex_row(section.figure, entry) for entry in section.entries]
    lines += [r"\bottomrule", r"\end{tabular}", ""]
    write_atomically(path, "\n".join(lines).encode())


def _header(comparison: Comparison) -> str:
    base = _escaped(comparison.baseline)
    return rf"Algorithm & Mean & Ratio to {base} & Difference & Better/same/worse \\"


def _latex_row(figure: Figure, entry: Entry) -> str:
    cells = [rf"\quad {_escaped(entry.variant)}", "--" if entry.mean is None else figure.text(entry.mean.value)]
    pairs = entry.pairs
    if pairs is None:
        cells += ["", "", ""]
    else:
        better, worse = (pairs.larger, pairs.smaller) if figure.more_is_better else (pairs.smaller, pairs.larger)
        ratio = "--" if pairs.ratio is None else _latex_estimate(pairs.ratio, 1.0, 3)
        difference = _latex_estimate(pairs.difference, figure.scale, figure.digits)
        cells += [ratio, difference, f"{better}/{pairs.equal}/{worse}"]
    return " & ".join(cells) + r" \\"


def _latex_estimate(estimate: Estimate, scale: float, digits: int) -> str:
    numbers = [number for number in (estimate.value, estimate.low, estimate.high) if number is not None]
    value, *interval = (f"${number * scale:z.{digits}f}$" for number in numbers)
    return f"{value} [{', '.join(interval)}]" if interval else value


def _escaped(text: str) -> str:
    return re.sub(r"[\\~^&%$#_{}]", lambda found: _SPECIAL[found[0]], text)
