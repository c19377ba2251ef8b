"""The folder of a campaign for a paper: figures, tables, methods with their sources, data, and hashes of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import batsched_py
from batsched_py.campaigns.comparison import AlgorithmComparison, Inference
from batsched_py.campaigns.comparison_files import latex_tabular
from batsched_py.campaigns.execution.stored_run import StoredRun
from batsched_py.campaigns.inference import with_inference
from batsched_py.campaigns.methods.description import Methods, changed_settings, methods_text
from batsched_py.campaigns.methods.forms import Latex
from batsched_py.campaigns.methods.path_names import PathNames
from batsched_py.campaigns.methods.references import bibliography
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan
from batsched_py.campaigns.plan.paper_table import PaperFigure
from batsched_py.campaigns.points import axes_of
from batsched_py.campaigns.results.campaign_figures import FigureChoice, draw_campaign
from batsched_py.campaigns.results.dimensions import find_points, series_of
from batsched_py.campaigns.results.groups import GroupComparison, compare_groups, group_studies
from batsched_py.campaigns.results.run_rows import run_columns
from batsched_py.campaigns.results.table_files import table_rows
from batsched_py.errors import ConfigurationError, OptionError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.files.table_file import csv_rows
from batsched_py.reporting.metrics.catalogue import MetricInfo
from batsched_py.results.run_file import OtherFile, content_hash
from batsched_py.text.display import displayed
from batsched_py.text.latex import latex

USE: Final = "campaign paper"
#: Formats of each figure.
_FORMATS: Final = ("pdf", "svg")
#: A width in LaTeX: that of the content, but not more than that of the lines.
_FITTING: Final = r"\ifdim\width>\linewidth\linewidth\else\width\fi"
_README: Final = "README.md"
_SUMS: Final = "SHA256SUMS"


def compare_for_paper(
    plan: CampaignPlan, ended: Mapping[str, StoredRun], metrics: Sequence[MetricInfo]
) -> list[GroupComparison]:
    """Compare the groups of a campaign as its table `paper` says. ExtraError."""
    paper, baseline = plan.campaign.paper, plan.campaign.baseline
    studies = group_studies(plan, ended)
    groups = compare_groups(studies, metrics, baseline, level=paper.level, resamples=paper.resamples)
    tested = with_inference([one.comparison for one in groups], Inference(paper.tests, paper.precision), USE)
    return [GroupComparison(one.group, comparison) for one, comparison in zip(groups, tested, strict=True)]


def paper_files(
    plan: CampaignPlan, ended: Mapping[str, StoredRun], groups: Sequence[GroupComparison], name: str
) -> dict[str, bytes]:
    """Return path -> content of the files of the folder, which is called `name`; the same runs give the same bytes.

    ConfigurationError names a figure that cannot be drawn, ExtraError what is missing.
    """
    comparisons = [one.comparison for one in groups]
    names = _names(plan)
    methods = methods_text(_methods(plan, groups, names), Latex())
    columns = {name: _named(values, names) for name, values in run_columns(plan.runs, ended).items()}
    study = plan.campaign.source
    choices = plan.campaign.paper.figures or usual_figures(plan, groups)
    figures = dict(_figures(plan, groups, choices))
    files = {
        "main.tex": _document(plan.campaign.title or study.stem, choices, comparisons[0]).encode(),
        "methods.tex": methods.text.encode(),
        "references.bib": bibliography(methods.keys).encode(),
        "tables/results.tex": _table(groups).encode(),
        **figures,
        "data/runs.csv": csv_rows([columns, *zip(*columns.values(), strict=True)]),
        "data/means.csv": csv_rows(table_rows(groups)),
        "study.toml": study.read_bytes(),
    }
    files[_README] = _readme(plan, groups, files, name, names).encode()
    sums = "".join(f"{sha256(content).hexdigest()}  {path}\n" for path, content in sorted(files.items()))
    return {**files, _SUMS: sums.encode()}


def write_paper(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files into a folder, each whole or not at all. OSError."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / path, content)


def usual_figures(plan: CampaignPlan, groups: Sequence[GroupComparison]) -> tuple[PaperFigure, ...]:
    """Return curves if something varies that is a number, ratios if there is a baseline to compare with, and boxes."""
    figures = [PaperFigure(name="ratios", kind="forest"), PaperFigure(name="values", kind="boxes")]
    if len(plan.variants) == 1:
        figures = figures[1:]
    try:
        axes_of(find_points(plan, groups), [None])
    except OptionError:  # nothing varies that is a number
        return tuple(figures)
    return (PaperFigure(name="curves"), *figures)


def _figures(
    plan: CampaignPlan, groups: Sequence[GroupComparison], choices: Sequence[PaperFigure]
) -> Iterator[tuple[str, bytes]]:
    for number, one in enumerate(choices):
        choice = FigureChoice(one.kind, one.x, one.y, one.group, one.width, one.height, one.title)
        try:
            picture = draw_campaign(plan, groups, choice)
        except OptionError as error:
            place = f"paper.figures[{number}]" if plan.campaign.paper.figures else f"the figure {one.name}"
            raise ConfigurationError(str(plan.campaign.source), place, str(error)) from error
        for form in _FORMATS:
            yield f"figures/{one.name}.{form}", picture.content(form)


def _table(groups: Sequence[GroupComparison]) -> str:
    return latex_tabular([(part.name, part.comparison) for part in series_of(groups)])


def _names(plan: CampaignPlan) -> PathNames:
    """Return the names of the inputs in the folder: the same wherever the study is."""
    settings = (path for one in plan.campaign.settings for path in (one.events, one.carbon, one.price) if path)
    code = (str(variant.loaded.algorithm).rpartition(":")[0] for variant in plan.variants)
    files = (setting.file.path for setting in plan.settings)
    workloads = (run.source.origin.path for run in plan.runs if not run.source.origin.generator)
    return PathNames.below(plan.campaign.source.parent, filter(None, (*settings, *code, *files, *workloads)))


def _named(values: Sequence[Any], names: PathNames) -> list[Any]:
    """Return the values of a column, with the names of files instead of their paths."""
    return [names.text(names.of(value)) if isinstance(value, str) else value for value in values]


def _methods(plan: CampaignPlan, groups: Sequence[GroupComparison], names: PathNames) -> Methods:
    environments = [setting.environment for setting in plan.settings]
    changed: dict[str, list[object]] = {}
    for environment in environments:
        for name, value in changed_settings(environment.settings).items():
            found = changed.setdefault(name, [])
            if value not in found:
                found.append(value)
    return Methods(
        series_of(groups),
        code={variant.name: _code(variant.algorithm, variant.files) for variant in plan.variants},
        settings={name: " or ".join(map(str, values)) for name, values in changed.items()},
        simulators=list(dict.fromkeys("embedded" if one.batsim is None else "batsim" for one in environments)),
        clock=list(dict.fromkeys(one.clock for one in environments)),
        names=names,
    )


def _code(algorithm: str, files: Mapping[str, str | None]) -> list[OtherFile]:
    return [
        OtherFile(algorithm.rpartition(":")[0] or algorithm if role == "algorithm" else role, digest, role)
        for role, digest in files.items()
    ]


def _document(title: str, figures: Sequence[PaperFigure], first: AlgorithmComparison) -> str:
    """Return a document that shows everything, to copy from."""
    intervals = f"{100 * first.level:g} % intervals"
    caption = f"Means, ratios to {first.baseline} and differences from it, with {intervals}."
    lines = [
        r"\documentclass{article}",
        r"\usepackage{booktabs,graphicx}",
        rf"\title{{{latex(displayed(title))}}}",
        r"\author{}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
        r"\section{Methods}",
        r"{\raggedright\input{methods}\par}  % lines of long names",
        r"\section{Results}",
        r"\begin{table}[htbp]\centering",
        rf"\caption{{{latex(displayed(caption))}}}",
        rf"\resizebox{{{_FITTING}}}{{!}}{{\input{{tables/results}}}}",
        r"\end{table}",
        *(_figure(one, first.baseline, intervals) for one in figures),
        r"\bibliographystyle{plain}",
        r"\bibliography{references}",
        r"\end{document}",
        "",
    ]
    return "\n".join(lines)


def _figure(one: PaperFigure, baseline: str, intervals: str) -> str:
    """Return a figure, with a caption that says what its kind shows."""
    match one.kind:
        case "forest":
            shown = f"Means divided by those of {baseline}, with {intervals}."
        case "boxes":
            shown = "Values on all workloads: quartiles and median; whiskers within 1.5 times the box."
        case "heat":
            shown = "Means."
        case "curve":
            shown = f"Means with {intervals}."
    return "\n".join(
        [
            r"\begin{figure}[htbp]\centering",
            rf"\resizebox{{{_FITTING}}}{{!}}{{\includegraphics{{figures/{one.name}}}}}",
            rf"\caption{{{latex(displayed(shown))}}}",
            r"\end{figure}",
        ]
    )


def _readme(
    plan: CampaignPlan, groups: Sequence[GroupComparison], files: Mapping[str, bytes], name: str, names: PathNames
) -> str:
    study = plan.campaign.source.name
    inputs = dict.fromkeys((names.of(path), digest) for path, digest in _inputs(plan, groups, names))
    lines = [
        f"# {displayed(plan.campaign.title or plan.campaign.source.stem)}",
        "",
        f"Made from `{displayed(study)}` by batsched-py {batsched_py.__version__}:",
        "",
        "```console",
        f"$ batsched-py campaign paper {displayed(study)} {displayed(name)}",
        "```",
        "",
        "The same inputs, program and packages give the same bytes. `main.tex` shows all parts; `data/runs.csv` has",
        "a row for each run, `data/means.csv` one for each mean, in SI units. Check the files with",
        "`sha256sum -c SHA256SUMS`.",
        "",
        "| input | SHA-256 |",
        "|---|---|",
        *(f"| `{displayed(path)}` | `{digest or 'unknown'}` |" for path, digest in inputs),
        "",
        "| file | bytes |",
        "|---|---|",
        *(f"| `{path}` | {len(content)} |" for path, content in sorted(files.items())),
        "",
    ]
    return "\n".join(lines)


def _inputs(
    plan: CampaignPlan, groups: Sequence[GroupComparison], names: PathNames
) -> Iterator[tuple[str, str | None]]:
    """Yield the names of all inputs with their hashes; of generated workloads, their parameters are in the data."""
    yield plan.campaign.source.name, sha256(plan.campaign.source.read_bytes()).hexdigest()
    for setting in plan.settings:
        yield setting.file.path, setting.file.sha256
    signals = (path for one in plan.campaign.settings for path in (one.events, one.carbon, one.price) if path)
    for path in dict.fromkeys(signals):
        yield str(path), content_hash(path)
    for one in groups:
        for workload, origin in one.comparison.study.origins.items():
            if origin.generator:
                continue
            whole = content_hash(Path(origin.path)) if Path(origin.path).is_file() else None
            yield origin.path, whole
            if origin.sha256 != whole:  # a part of a log, or what the rules of cleaning keep of it
                yield f"{workload} of {names.of(origin.path)}, as converted", origin.sha256
    for variant in plan.variants:
        for role, digest in variant.files.items():
            yield f"{variant.name}: {role}", digest
