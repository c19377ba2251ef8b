"""A comparison as a self-contained HTML page: the result, panels of metrics, inputs, results by workload."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Final

from msgspec.structs import replace

import batsched_py
from batsched_py.campaigns.comparison import AlgorithmComparison, MetricComparison, find_cautions
from batsched_py.campaigns.comparison_table import legend
from batsched_py.campaigns.figure_kinds import Kind
from batsched_py.campaigns.figures import draw_comparison
from batsched_py.campaigns.group_tables import explain_groups, group_parts
from batsched_py.campaigns.metric_panels import metric_panel
from batsched_py.campaigns.option_tables import option_tables, variant_list
from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.result_sentences import explain_result, result_sentences
from batsched_py.campaigns.series import ComparisonSeries, SeriesPart, dimensions
from batsched_py.campaigns.study import Study, group_lines
from batsched_py.errors import OptionError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.reporting.metrics.best import find_best
from batsched_py.reporting.pictures.html import markup
from batsched_py.reporting.pictures.html.assets import asset, template
from batsched_py.text.display import displayed
from batsched_py.text.wording import NOTHING, counted, unlike

#: Inches: the width of the picture of one metric. The page shows it at 320 to 460 pixels, so that its text is legible.
_WIDTH: Final = 3.2
#: Characters of a hash that are shown to identify a file.
_HASH: Final = 12
#: Kind of a picture -> its caption and its description; ratios are drawn in the tables.
_CAPTIONS: Final[Mapping[Kind, tuple[str, str]]] = {
    "curve": ("Means over an option", "with the confidence intervals of the means"),
    "boxes": ("Values on all workloads", "quartiles and median; whiskers within 1.5 times the box"),
}
#: Name in links, heading, and parts of a section.
_Section = tuple[str, str, Iterator[str]]


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
            style=asset("page.css") + asset("comparison.css"),
            subtitle=markup.paragraph(_subtitle(series)),
            script=asset("scrolling.js"),
            links="".join(f'<li><a href="#{name}">{escape(heading)}</a></li>' for name, heading, _ in shown),
            sections="\n".join(markup.section(name, heading, *parts) for name, heading, parts in shown),
        )
        .encode()
    )


def write_page(path: Path, content: AlgorithmComparison | ComparisonSeries) -> None:
    """Write the page, whole or not at all; OSError, ExtraError."""
    write_atomically(path, comparison_page(content))


def _sections(series: ComparisonSeries) -> Iterator[_Section]:
    yield "result", "Result", _results(series)
    yield "metrics", "Metrics", _metrics(series)
    yield "groups", "Groups of jobs", _groups(series)
    yield "pictures", "Pictures", _pictures(series.parts)
    yield "runs", "What was run", _provenance(series.study)
    yield "workloads", "Workload by workload", _workloads(series)
    yield "notes", "Notes", _notes(series)


def results_html(content: AlgorithmComparison | ComparisonSeries) -> str:
    """Return the result in words and the tables of the metrics, for a notebook."""
    series = _series_of(content)
    return "\n".join([*_sentences(series), *_metrics(series)])


def _series_of(content: AlgorithmComparison | ComparisonSeries) -> ComparisonSeries:
    return ComparisonSeries.of(content) if isinstance(content, AlgorithmComparison) else content


def _subtitle(series: ComparisonSeries) -> str:
    study, parts = series.study, series.parts
    text = (
        f"{counted(len(study.variants), 'algorithm')} on {counted(len(study.workloads), 'workload')}, compared "
        f"with {displayed(parts[0].comparison.baseline)}"
    )
    return text if len(parts) == 1 else f"{text}, for {'; '.join(displayed(part.name) for part in parts)}"


def _results(series: ComparisonSeries) -> Iterator[str]:
    """Yield the result in words, and the options that were set."""
    yield from _sentences(series)
    yield variant_list(series.study)


def _sentences(series: ComparisonSeries) -> Iterator[str]:
    """Yield the result of each part under its heading."""
    for part in series.parts:
        if part.name:
            yield f"<h3>{escape(displayed(part.name))}</h3>"
        yield from result_sentences(part.comparison)
    if len(series.study.variants) > 1:
        yield from dict.fromkeys(explain_result(one) for one in series.comparisons)


def _metrics(series: ComparisonSeries) -> Iterator[str]:
    first = series.comparisons[0]
    panels = "\n".join(metric_panel(series.parts, place) for place in range(len(first.metrics)))
    yield f'<div class="panels">{panels}</div>' if panels else ""
    yield markup.paragraph(f"{legend(*series.comparisons)} {_explain_marks(first)}")


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


def _pictures(parts: Sequence[SeriesPart]) -> Iterator[str]:
    """Yield a picture of each metric for each kind of which there is something to draw."""
    for kind, (caption, what) in _CAPTIONS.items():
        pictures = [
            picture for place in range(len(parts[0].comparison.metrics)) if (picture := _picture(parts, place, kind))
        ]
        if pictures:
            inside, over = "".join(pictures), ", ".join(map(displayed, dimensions(parts)))
            heading = f"Means over {escape(over)}" if kind == "curve" and over else caption
            yield (
                f"<figure><figcaption><h3>{heading}</h3><p>{what}</p></figcaption>"
                f'<div class="pictures">{inside}</div></figure>'
            )


def _picture(parts: Sequence[SeriesPart], place: int, kind: Kind) -> str:
    """Return the picture of the metric at this place; "" if there is nothing of the kind to draw."""
    metric = parts[0].comparison.metrics[place].metric
    single = [
        replace(part, comparison=replace(part.comparison, metrics=(part.comparison.metrics[place],))) for part in parts
    ]
    try:
        picture = draw_comparison(single, kind, width=_WIDTH)
    except OptionError:
        return ""
    for patch in (picture.figure.patch, *(axes.patch for axes in picture.figure.axes)):
        patch.set_visible(False)  # the page's own ground is behind it
    image = b64encode(picture.content("svg")).decode("ascii")
    alternative = escape(f"{metric.heading}: the numbers are in the tables")
    return f'<img alt="{alternative}" src="data:image/svg+xml;base64,{image}">'


def _provenance(study: Study) -> Iterator[str]:
    yield from option_tables(study)
    if study.platform is not None:
        yield markup.paragraph(f"Platform: {displayed(study.platform.path)}, SHA-256 {_short(study.platform.sha256)}.")
    if study.seeds:
        yield markup.paragraph(f"Seeds: {', '.join(map(str, study.seeds))}.")


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
    for one in series.parts[0].comparison.metrics:
        yield _folded(one.metric.heading, _by_workload(study, one))


def _by_workload(study: Study, one: MetricComparison) -> str:
    """Return the table of a metric with a row for each workload and a column for each algorithm."""
    cells: dict[str, dict[str, float | None]] = {name: {} for name in study.workloads}
    for outcome in study.outcomes:
        cells[outcome.workload][outcome.variant] = _value(outcome, one)
    variants = [variant.name for variant in study.variants]
    rows = []
    for name, row in cells.items():
        values = [row.get(variant) for variant in variants]
        marks = find_best(one.metric, values)
        rows.append(
            f'<tr><th scope="row">{escape(displayed(name))}</th>'
            + "".join(
                f"<td{' class=best' if marked else ''}>{NOTHING if value is None else one.metric.text(value)}</td>"
                for value, marked in zip(values, marks, strict=True)
            )
            + "</tr>"
        )
    heads = "".join(f'<th scope="col">{escape(displayed(name))}</th>' for name in ("workload", *variants))
    return markup.table(f"{one.metric.heading}; the best of each workload is bold", f"<tr>{heads}</tr>", rows)


def _value(outcome: Outcome, one: MetricComparison) -> float | None:
    return None if outcome.metrics is None else one.metric.of(outcome.metrics)


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
