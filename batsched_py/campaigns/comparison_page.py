"""A comparison as a self-contained HTML page: inputs, means and intervals, pictures, results by workload."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Final

import batsched_py
from batsched_py.campaigns.comparison import (
    AlgorithmComparison,
    MetricComparison,
    find_best_algorithms,
    find_cautions,
)
from batsched_py.campaigns.comparison_table import legend, metric_headings, metric_rows
from batsched_py.campaigns.figures import Kind, draw_comparison
from batsched_py.campaigns.group_tables import explain_groups, group_parts
from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.series import ComparisonSeries, dimensions
from batsched_py.campaigns.study import Study, group_lines
from batsched_py.errors import OptionError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.reporting.pictures.html import markup
from batsched_py.reporting.pictures.html.assets import asset, template
from batsched_py.text.display import displayed
from batsched_py.text.wording import NOTHING, counted, spelled, unlike

#: Inches: the pictures of a page.
_WIDTH: Final = 9.0
#: Characters of a hash that are shown to identify a file.
_HASH: Final = 12
#: Kind of a picture -> its caption and its description.
_CAPTIONS: Final[Mapping[Kind, tuple[str, str]]] = {
    "curve": ("Means over an option", "bands and bars are confidence intervals of the mean"),
    "forest": ("Ratios", "means divided by those of the baseline, with confidence intervals"),
    "boxes": ("Values on all workloads", "quartiles and median; whiskers within 1.5 times the box"),
}


def comparison_page(content: AlgorithmComparison | ComparisonSeries, title: str = "") -> bytes:
    """Return the page; the same comparison gives the same bytes. ExtraError without matplotlib (`plot`).

    Several parts are rows of the same tables, with a column for what distinguishes them, such as the load.
    """
    series = _series_of(content)
    names = ", ".join(variant.name for variant in series.study.variants)
    sections = [(name, heading, list(parts)) for name, heading, parts in _sections(series)]
    shown = [(name, heading, parts) for name, heading, parts in sections if any(parts)]
    return (
        template("comparison.html")
        .substitute(
            version=escape(batsched_py.__version__),
            title=escape(displayed(title or names)),
            style=asset("page.css"),
            subtitle=markup.paragraph(_subtitle(series)),
            links="".join(f'<li><a href="#{name}">{heading}</a></li>' for name, heading, _ in shown),
            sections="\n".join(markup.section(name, heading, *parts) for name, heading, parts in shown),
        )
        .encode()
    )


def write_page(path: Path, content: AlgorithmComparison | ComparisonSeries) -> None:
    """Write the page, whole or not at all; OSError, ExtraError."""
    write_atomically(path, comparison_page(content))


def results_html(content: AlgorithmComparison | ComparisonSeries) -> str:
    """Return the tables of the metrics, for a notebook."""
    return "\n".join(_results(_series_of(content)))


def _series_of(content: AlgorithmComparison | ComparisonSeries) -> ComparisonSeries:
    return ComparisonSeries.of(content) if isinstance(content, AlgorithmComparison) else content


def _subtitle(series: ComparisonSeries) -> str:
    study, parts = series.study, series.parts
    text = (
        f"{counted(len(study.variants), 'algorithm')} on {counted(len(study.workloads), 'workload')}, compared "
        f"with {displayed(parts[0].comparison.baseline)}"
    )
    return text if len(parts) == 1 else f"{text}, for {'; '.join(displayed(part.name) for part in parts)}"


def _sections(series: ComparisonSeries) -> Iterator[tuple[str, str, Iterator[str]]]:
    yield "results", "Results", _results(series)
    yield "groups", "Groups of jobs", _groups(series)
    yield "pictures", "Pictures", _pictures(series)
    yield "runs", "What was run", _provenance(series.study)
    yield "workloads", "Workload by workload", _workloads(series)
    yield "notes", "Notes", _notes(series)


def _results(series: ComparisonSeries) -> Iterator[str]:
    first = series.comparisons[0]
    yield markup.paragraph(f"{legend(*series.comparisons)} {_explain_marks(first)}")
    yield markup.grouped(_result(series, place) for place in range(len(first.metrics)))


def _result(series: ComparisonSeries, place: int) -> str:
    """Return the table of a metric: a row for each algorithm of each part, filled up with empty cells.

    The values that distinguish the parts are in columns after the algorithm.
    """
    most = max(series.comparisons, key=lambda one: one.study.observations)
    metric, names = most.metrics[place].metric, dimensions(series.parts)
    first, *others = metric_headings(most, metric)
    rows = []
    for part in series.parts:
        comparison, one = part.comparison, part.comparison.metrics[place]
        values = [spelled(part.values.get(name, NOTHING)) for name in names]
        best = find_best_algorithms(comparison, one)
        for mean, (name, *texts) in zip(one.means, metric_rows(comparison, one), strict=True):
            cells = [escape(displayed(cell)) for cell in (name, *values, *texts)]
            value = 1 + len(names)
            cells[value] = f"{markup.BEST}{cells[value]}" if mean.variant in best else cells[value]
            rows.append([*cells, *[""] * (1 + len(names) + len(others) - len(cells))])
    better = "more is better" if metric.more_is_better else "less is better"
    return markup.plain_table(f"{first}: {better}", ["algorithm", *map(displayed, names), *others], rows)


def _explain_marks(comparison: AlgorithmComparison) -> str:
    if comparison.study.observations == 1:
        return "★ marks the best value of a metric."
    return "★ marks the best mean of a metric, if the interval shows that it differs from the baseline."


def _groups(series: ComparisonSeries) -> Iterator[str]:
    if any(one.groups for one in series.comparisons):
        yield markup.paragraph(explain_groups(series.comparisons[0].baseline))
    for part in series.parts:
        if part.name and part.comparison.groups:
            yield f"<h3>{escape(displayed(part.name))}</h3>"
        for one in part.comparison.groups:
            yield from group_parts(one)


def _pictures(series: ComparisonSeries) -> Iterator[str]:
    for kind, (caption, what) in _CAPTIONS.items():
        try:
            picture = draw_comparison(series.parts, kind, width=_WIDTH)
        except OptionError:
            continue  # there is nothing of the kind to draw
        image = b64encode(picture.content("svg")).decode("ascii")
        source = f"data:image/svg+xml;base64,{image}"
        over = ", ".join(map(displayed, dimensions(series.parts)))
        heading = f"Means over {escape(over)}" if kind == "curve" and over else caption
        yield (
            f'<figure><figcaption><h3>{heading}</h3><p>{what}</p></figcaption><div class="wide">'
            f'<img alt="{heading}: the numbers are in the tables" src="{source}"></div></figure>'
        )


def _provenance(study: Study) -> Iterator[str]:
    rows = [
        [
            escape(displayed(variant.name)),
            escape(displayed(variant.scheduler.name)),
            markup.words(_options(study, variant.name)),
        ]
        for variant in study.variants
    ]
    yield markup.plain_table("Algorithms, with all their options", ["name", "algorithm", "options"], rows)
    if study.platform is not None:
        yield markup.paragraph(f"Platform: {displayed(study.platform.path)}, SHA-256 {_short(study.platform.sha256)}.")
    if study.seeds:
        yield markup.paragraph(f"Seeds: {', '.join(map(str, study.seeds))}.")


def _options(study: Study, variant: str) -> str:
    """Return the options of a variant as they held, defaults included."""
    options = next((outcome.options for outcome in study.of(variant) if outcome.options), {})
    return displayed(", ".join(f"{name}={value}" for name, value in options.items())) or NOTHING


def _short(sha256: str | None) -> str:
    return NOTHING if sha256 is None else f"{sha256[:_HASH]}..."


def _workloads(series: ComparisonSeries) -> Iterator[str]:
    study = series.study
    if study.origins:
        rows = [
            [escape(displayed(name)), markup.words(displayed(origin.path)), _short(origin.sha256)]
            for name, origin in study.origins.items()
        ]
        yield _folded("Where they are from", markup.plain_table("Workloads", ["workload", "from", "SHA-256"], rows))
    for one in series.comparisons[0].metrics:
        yield _folded(one.metric.heading, _by_workload(study, one))


def _by_workload(study: Study, one: MetricComparison) -> str:
    """Return the table of a metric with a row for each workload and a column for each algorithm."""
    cells: dict[str, dict[str, str]] = {name: {} for name in study.workloads}
    for outcome in study.outcomes:
        cells[outcome.workload][outcome.variant] = _value(outcome, one)
    variants = [variant.name for variant in study.variants]
    rows = [
        [escape(displayed(name)), *(row.get(variant, NOTHING) for variant in variants)] for name, row in cells.items()
    ]
    return markup.plain_table(one.metric.heading, ["workload", *map(displayed, variants)], rows)


def _value(outcome: Outcome, one: MetricComparison) -> str:
    value = None if outcome.metrics is None else one.metric.of(outcome.metrics)
    return NOTHING if value is None else one.metric.text(value)


def _folded(summary: str, content: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def _notes(series: ComparisonSeries) -> Iterator[str]:
    study = series.study
    for line in dict.fromkeys(line for one in series.comparisons for line in find_cautions(one)):
        yield markup.paragraph(displayed(line))
    for where, line in group_lines((outcome, line) for outcome in study.outcomes for line in outcome.warnings):
        yield markup.paragraph(f"{displayed(where)}: {displayed(line)}")
    for line in unlike(line for outcome in study.outcomes for line in outcome.approximations):
        yield markup.paragraph(f"approximation: {displayed(line)}")
    for where, line in group_lines((outcome, outcome.error) for outcome in study.failures):
        yield markup.paragraph(f"{displayed(where)} failed: {displayed(line)}", "none")
