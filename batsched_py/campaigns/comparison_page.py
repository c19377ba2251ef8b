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
from batsched_py.campaigns.study import Study, group_lines
from batsched_py.errors import OptionError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.reporting.pictures.html import markup
from batsched_py.reporting.pictures.html.assets import asset, template
from batsched_py.text.display import displayed
from batsched_py.text.wording import NOTHING, counted, unlike

#: Inches: the pictures of a page.
_WIDTH: Final = 9.0
#: Characters of a hash that are shown to identify a file.
_HASH: Final = 12
#: Kind of a picture -> its caption and its description.
_CAPTIONS: Final[Mapping[Kind, tuple[str, str]]] = {
    "curve": ("Means over an option", "a band is the confidence interval of the mean"),
    "forest": ("Ratios", "means divided by those of the baseline, with confidence intervals"),
    "boxes": ("Values on all workloads", "quartiles and median; whiskers within 1.5 times the box"),
}


def comparison_page(comparison: AlgorithmComparison, title: str = "") -> bytes:
    """Return the page; the same comparison gives the same bytes. ExtraError without matplotlib (`plot`)."""
    study = comparison.study
    names = ", ".join(variant.name for variant in study.variants)
    sections = [(name, heading, list(parts)) for name, heading, parts in _sections(comparison)]
    shown = [(name, heading, parts) for name, heading, parts in sections if any(parts)]
    return (
        template("comparison.html")
        .substitute(
            version=escape(batsched_py.__version__),
            title=escape(displayed(title or names)),
            style=asset("page.css"),
            subtitle=markup.paragraph(
                f"{counted(len(study.variants), 'algorithm')} on {counted(len(study.workloads), 'workload')}, compared "
                f"with {displayed(comparison.baseline)}"
            ),
            links="".join(f'<li><a href="#{name}">{heading}</a></li>' for name, heading, _ in shown),
            sections="\n".join(markup.section(name, heading, *parts) for name, heading, parts in shown),
        )
        .encode()
    )


def write_page(path: Path, comparison: AlgorithmComparison) -> None:
    """Write the page, whole or not at all; OSError, ExtraError."""
    write_atomically(path, comparison_page(comparison))


def _sections(comparison: AlgorithmComparison) -> Iterator[tuple[str, str, Iterator[str]]]:
    yield "results", "Results", _results(comparison)
    yield "groups", "Groups of jobs", _groups(comparison)
    yield "pictures", "Pictures", _pictures(comparison)
    yield "runs", "What was run", _provenance(comparison.study)
    yield "workloads", "Workload by workload", _workloads(comparison)
    yield "notes", "Notes", _notes(comparison)


def results_html(comparison: AlgorithmComparison) -> str:
    """Return the tables of the metrics, for a notebook."""
    return "\n".join(_results(comparison))


def _results(comparison: AlgorithmComparison) -> Iterator[str]:
    yield markup.paragraph(f"{legend(comparison)} {_explain_marks(comparison)}")
    yield markup.grouped(_result(comparison, one) for one in comparison.metrics)


def _result(comparison: AlgorithmComparison, one: MetricComparison) -> str:
    """Return the table of a metric: a row for each algorithm; the baseline's row is padded with empty cells."""
    first, *others = metric_headings(comparison, one.metric)
    better = "more is better" if one.metric.more_is_better else "less is better"
    best = find_best_algorithms(comparison, one)
    rows = [[escape(displayed(cell)) for cell in row] for row in metric_rows(comparison, one)]
    for row, mean in zip(rows, one.means, strict=True):
        row[1] = f"{markup.BEST}{row[1]}" if mean.variant in best else row[1]
    filled = [[*row, *[""] * (1 + len(others) - len(row))] for row in rows]
    return markup.plain_table(f"{first}: {better}", ["algorithm", *others], filled)


def _explain_marks(comparison: AlgorithmComparison) -> str:
    if comparison.study.observations == 1:
        return "★ marks the best value of a metric."
    return "★ marks the best mean of a metric, if the interval shows that it differs from the baseline."


def _groups(comparison: AlgorithmComparison) -> Iterator[str]:
    if comparison.groups:
        yield markup.paragraph(explain_groups(comparison.baseline))
    for one in comparison.groups:
        yield from group_parts(one)


def _pictures(comparison: AlgorithmComparison) -> Iterator[str]:
    for kind, (caption, what) in _CAPTIONS.items():
        try:
            picture = draw_comparison(comparison, kind, width=_WIDTH)
        except OptionError:
            continue  # there is nothing of the kind to draw
        image = b64encode(picture.content("svg")).decode("ascii")
        source = f"data:image/svg+xml;base64,{image}"
        yield (
            f'<figure><figcaption><h3>{caption}</h3><p>{what}</p></figcaption><div class="wide">'
            f'<img alt="{caption}: the numbers are in the tables" src="{source}"></div></figure>'
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


def _workloads(comparison: AlgorithmComparison) -> Iterator[str]:
    study = comparison.study
    if study.origins:
        rows = [
            [escape(displayed(name)), markup.words(displayed(origin.path)), _short(origin.sha256)]
            for name, origin in study.origins.items()
        ]
        yield _folded("Where they are from", markup.plain_table("Workloads", ["workload", "from", "SHA-256"], rows))
    for one in comparison.metrics:
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


def _notes(comparison: AlgorithmComparison) -> Iterator[str]:
    study = comparison.study
    for line in find_cautions(comparison):
        yield markup.paragraph(displayed(line))
    for where, line in group_lines((outcome, line) for outcome in study.outcomes for line in outcome.warnings):
        yield markup.paragraph(f"{displayed(where)}: {displayed(line)}")
    for line in unlike(line for outcome in study.outcomes for line in outcome.approximations):
        yield markup.paragraph(f"approximation: {displayed(line)}")
    for where, line in group_lines((outcome, outcome.error) for outcome in study.failures):
        yield markup.paragraph(f"{displayed(where)} failed: {displayed(line)}", "none")
