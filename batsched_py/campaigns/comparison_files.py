"""A comparison as files: its runs as CSV, everything as JSON, its tables for a paper as LaTeX.

Each file is replaced whole or not at all; writing may raise OSError.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import orjson

import batsched_py
from batsched_py.campaigns.comparison import AlgorithmComparison, AlgorithmMean, Inference
from batsched_py.campaigns.group_waits import GROUP_COLUMNS
from batsched_py.campaigns.inference_texts import test_texts
from batsched_py.campaigns.metrics import RATIO_DIGITS, balance
from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.series import ComparisonSeries, dimensions
from batsched_py.campaigns.study import Study
from batsched_py.campaigns.variant import Variant
from batsched_py.files.atomic_file import write_atomically
from batsched_py.files.table_file import csv_rows
from batsched_py.reporting.metrics.catalogue import MetricInfo, metric_names
from batsched_py.text.latex import latex
from batsched_py.text.wording import spelled


def write_csv(path: Path, series: ComparisonSeries) -> None:
    """Write a row for each run: all metrics in SI units, then its inputs."""
    study = series.study
    origins = [_origin_cells(study, outcome) for outcome in study.outcomes]
    columns = list(dict.fromkeys(name for cells in origins for name in cells))
    names = metric_names(outcome.metrics for outcome in study.outcomes if outcome.metrics is not None)
    rows: list[list[Any]] = [["workload", "algorithm", *names, "error", *columns]]
    for outcome, origin in zip(study.outcomes, origins, strict=True):
        run = outcome.metrics
        metrics = [None if run is None else getattr(run, name) for name in names]
        where = map(origin.get, columns)
        rows.append([outcome.workload, outcome.variant, *metrics, outcome.error, *where])
    write_atomically(path, csv_rows(rows))


def _origin_cells(study: Study, outcome: Outcome) -> dict[str, str | None]:
    """Return the columns that identify a run, column -> text: seed, options, workload and its generator, platform."""
    origin, machine = study.origins.get(outcome.workload), study.platform
    cells: dict[str, Any] = {"seed": study.seed_of(outcome)}
    cells |= {f"option_{name}": value for name, value in outcome.options.items()}
    if origin is not None:
        cells["workload_sha256"] = origin.sha256
        cells |= {f"generator_{name}": value for name, value in origin.generator.items()}
    if machine is not None:
        cells["platform_sha256"] = machine.sha256
    return {name: None if value is None else spelled(value) for name, value in cells.items()}


def write_json(path: Path, series: ComparisonSeries) -> None:
    """Write algorithms, runs, metrics and intervals; of several parts, metrics and intervals of each."""
    study, first = series.study, series.parts[0].comparison
    parts = [{"values": one.values, "workloads": one.comparison.study.workloads} for one in series.parts]
    content = {
        "batsched_py": batsched_py.__version__,
        "baseline": first.baseline,
        "level": first.level,
        "resamples": first.resamples,
        **({"inference": first.inference} if first.inference.wanted else {}),
        "workloads": study.workloads,
        **({} if study.window.whole else {"window": study.window}),
        **({} if study.warm_up is None else {"warm_up": study.warm_up}),
        **({"seeds": study.seeds} if study.seeds else {}),
        **({} if study.platform is None else {"platform": study.platform}),
        "origins": study.origins,
        "algorithms": [_json_variant(variant) for variant in study.variants],
        **(
            _json_results(first)
            if len(parts) == 1
            else {
                "parts": [part | _json_results(one.comparison) for part, one in zip(parts, series.parts, strict=True)]
            }
        ),
        "runs": [_json_run(study, outcome) for outcome in study.outcomes],
    }
    write_atomically(path, orjson.dumps(msgspec.to_builtins(content), option=orjson.OPT_INDENT_2) + b"\n")


def _json_results(comparison: AlgorithmComparison) -> dict[str, Any]:
    figures = {one.metric.name: [_json_mean(mean) for mean in one.means] for one in comparison.metrics}
    groups = [_json_group(cells) for one in comparison.groups for cells in one.cells()]
    return {"figures": figures, **({"groups": groups} if groups else {})}


def _json_variant(variant: Variant) -> dict[str, Any]:
    algorithm = variant.algorithm
    known = algorithm if isinstance(algorithm, str) else f"{algorithm.__module__}:{algorithm.__qualname__}"
    return {"name": variant.name, "algorithm": known, "options": variant.options}


def _json_mean(one: AlgorithmMean) -> dict[str, Any]:
    tests = {} if one.tests is None else {"tests": one.tests}
    return {"algorithm": one.variant, "mean": one.mean, "against_baseline": one.pairs, **tests}


def _json_group(cells: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(GROUP_COLUMNS, cells, strict=True))


def write_groups(path: Path, series: ComparisonSeries) -> None:
    """Write a row for each group of jobs and each algorithm, after the values of its part: times in seconds."""
    names = dimensions(series.parts)
    rows: list[Sequence[Any]] = [[*names, *GROUP_COLUMNS]]
    for part in series.parts:
        values = [part.values.get(name) for name in names]
        rows += ([*values, *cells] for one in part.comparison.groups for cells in one.cells())
    write_atomically(path, csv_rows(rows))


def _json_run(study: Study, outcome: Outcome) -> dict[str, Any]:
    content: dict[str, Any] = {"workload": outcome.workload, "algorithm": outcome.variant}
    content |= {"options": outcome.options, "seed": study.seed_of(outcome)}
    if outcome.metrics is not None:
        content["figures"] = outcome.metrics
    notes = {"warnings": outcome.warnings, "approximations": outcome.approximations, "error": outcome.error}
    return content | {key: value for key, value in notes.items() if value}


def write_latex(path: Path, series: ComparisonSeries) -> None:
    """Write a tabular for the package booktabs, with a part for each part of the series."""
    write_atomically(path, latex_tabular([(part.name, part.comparison) for part in series.parts]).encode())


def latex_tabular(parts: Sequence[tuple[str, AlgorithmComparison]]) -> str:
    """Return a tabular for the package booktabs, with a heading above each comparison that has one."""
    columns = len(_headings(parts[0][1]))
    lines = [rf"\begin{{tabular}}{{l{'r' * (columns - 1)}}}", r"\toprule"]
    for number, (heading, comparison) in enumerate(parts):
        lines += [r"\midrule"] if number else []
        lines += [_spanning(rf"\textbf{{{latex(heading)}}}", columns)] if heading else []
        lines += _latex_lines(comparison, columns)
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _spanning(text: str, columns: int) -> str:
    return rf"\multicolumn{{{columns}}}{{l}}{{{text}}} \\"


def _latex_lines(comparison: AlgorithmComparison, columns: int) -> list[str]:
    lines = [" & ".join(_headings(comparison)) + r" \\"]
    for one in comparison.metrics:
        lines += [r"\midrule", _spanning(latex(one.metric.heading), columns)]
        lines += [_latex_row(one.metric, mean, comparison.inference) for mean in one.means]
    study = comparison.study
    if study.warm_up is not None or not study.window.whole:
        cut = f"Warm-up cut: {study.warm_up}." if study.warm_up else f"Measured: jobs submitted {study.window}."
        measured = latex(cut)
        lines += [r"\midrule", _spanning(measured, columns)]
    return lines


def _headings(comparison: AlgorithmComparison) -> list[str]:
    inference = comparison.inference
    headings = ["Algorithm", "Mean", f"Ratio to {latex(comparison.baseline)}", "Difference", "Better/same/worse"]
    headings += ["Effect", "$p$ (Holm)"] if inference.tests else []
    return [*headings, *(["Needed"] if inference.precision is not None else [])]


def _latex_row(metric: MetricInfo, one: AlgorithmMean, inference: Inference) -> str:
    cells = [rf"\quad {latex(one.variant)}", "--" if one.mean is None else metric.text(one.mean.value)]
    pairs, tests = one.pairs, test_texts(inference, one.tests)
    if pairs is None:
        cells += [""] * (3 + len(tests))
    else:
        ratio = "--" if pairs.ratio is None else _latex_estimate(pairs.ratio.texts(RATIO_DIGITS))
        difference = _latex_estimate(pairs.difference.texts(metric.digits, metric.unit.factor))
        cells += [ratio, difference, balance(metric, pairs), *(f"${text}$" for text in tests)]
    return " & ".join(cells) + r" \\"


def _latex_estimate(texts: Sequence[str]) -> str:
    value, *interval = (f"${text}$" for text in texts)
    return f"{value} [{', '.join(interval)}]" if interval else value
