"""`batsched-py compare`: several algorithms on the same workloads, and how sure their differences are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from batsched_py.campaigns.bootstrap import FEW, LEVEL, RESAMPLES
from batsched_py.campaigns.comparison import AlgorithmComparison, compare_algorithms, find_baseline, find_different_jobs
from batsched_py.campaigns.comparison_files import write_csv, write_json, write_latex
from batsched_py.campaigns.comparison_table import comparison_tables, legend
from batsched_py.campaigns.metrics import ENERGY, METRICS, SHOWN, find_metrics
from batsched_py.campaigns.study import Outcome, Variant, repeat_for_seeds, run_study
from batsched_py.cli.shared.algorithm import Warnings
from batsched_py.cli.shared.console import Output, show_table
from batsched_py.cli.shared.examples import INPUT
from batsched_py.cli.shared.output_paths import Named, check_apart, check_writable, writing
from batsched_py.cli.shared.parameters import PATH, Number, clock_option, debug_option, limit_option, told_limits
from batsched_py.cli.shared.progress import runs_bar
from batsched_py.cli.shared.result_writer import Kept
from batsched_py.cli.shared.simulation_options import (
    behaviour_options,
    check_behaviour,
    machine_options,
    named_platform,
    platform_option,
    read_external,
)
from batsched_py.cli.shared.sources import read_seeds, read_sources
from batsched_py.cli.shared.terminal import say
from batsched_py.cli.shared.variants import VARIANT_PARAMETERS, OrderedCommand, read_variants, variant_options
from batsched_py.model.platform import Platform
from batsched_py.simulator.settings import Settings

#: More are a slip of the finger: of the first nobody sees the difference, of the second no machine has the cores.
_MOST_RESAMPLES: Final = 1_000_000
_MOST_PROCESSES: Final = 4096
#: Workloads that a line names which is told of several.
_NAMED: Final = 3
#: What writes the file of an option, by its name.
_WRITERS: Final[Mapping[str, Callable[[Path, AlgorithmComparison], None]]] = {
    "csv": write_csv,
    "json": write_json,
    "latex": write_latex,
}


@click.command("compare", cls=OrderedCommand)
@platform_option
@click.option(
    "-w",
    "--workload",
    "workloads",
    type=INPUT,
    multiple=True,
    metavar="FILE",
    help="Batsim JSON; each is a run of its own for each algorithm.",
)
@click.option(
    "--generate",
    "model",
    metavar="MODEL:KEY=VALUE,...",
    help="In place of -w: a workload for each seed, like lublin:jobs=300,load=0.9 (see generate).",
)
@click.option(
    "--seeds",
    callback=read_seeds,
    metavar="A-B,...",
    help="Of --generate, like 1-20  [default: 0]; with -w, of algorithms that have an option seed.",
)
@variant_options
@click.option("--baseline", metavar="NAME", help="What the others are compared with.  [default: the first -s]")
@click.option(
    "--metrics", metavar="NAME,...", help=f"What is shown, of {', '.join(METRICS)}.  [default: {', '.join(SHOWN)}]"
)
@click.option(
    "--level",
    type=Number(0, 1, min_open=True, max_open=True),
    default=LEVEL,
    show_default=True,
    metavar="P",
    help="Of the confidence intervals.",
)
@click.option(
    "--resamples",
    type=click.IntRange(100, _MOST_RESAMPLES),
    default=RESAMPLES,
    show_default=True,
    metavar="N",
    help="What the intervals are made of.",
)
@click.option("--differences", is_flag=True, help="Show differences from the baseline in place of ratios to it.")
@click.option(
    "--processes",
    type=click.IntRange(1, _MOST_PROCESSES),
    metavar="N",
    help="Runs at a time.  [default: one for each core]",
)
@click.option("-e", "--export", type=PATH, metavar="FOLDER", help="Write FOLDER/WORKLOAD/ALGORITHM_jobs.csv...")
@click.option("--csv", type=PATH, metavar="FILE", help="Write a row for each run.")
@click.option("--json", type=PATH, metavar="FILE", help="Write all runs, figures and intervals.")
@click.option("--latex", type=PATH, metavar="FILE", help="Write the tables for a paper (booktabs).")
@machine_options
@behaviour_options
@clock_option
@click.option("--quiet", is_flag=True, help="No progress bar and no tables.")
@limit_option
@debug_option
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    platform: Path,
    workloads: Sequence[Path],
    model: str | None,
    seeds: Sequence[int],
    baseline: str | None,
    metrics: str | None,
    level: float,
    resamples: int,
    processes: int | None,
    export: Path | None,
    events: Path | None,
    clock: str,
    differences: bool,
    quiet: bool,
    **others: Any,
) -> int:
    """Run several algorithms on the same workloads, and compare them workload by workload.

    Each -s is an algorithm; -o, --options-file and --name belong to the -s before them. Each -w, or each seed, is one
    observation: intervals are over workloads, so that one workload has none.

    An algorithm that fails is told, and the others are compared; the exit code is 3 then.
    """
    files = {name: others.pop(name) for name in _WRITERS}
    check_behaviour(others)
    parts = {name: others.pop(name) for name in VARIANT_PARAMETERS}
    variants = read_variants(context, parts)
    base = find_baseline([variant.name for variant in variants], baseline)
    figures = find_metrics(_shown(metrics, energy=others["energy"]))
    machine = named_platform(platform, others["master_host"])
    external = read_external(events, len(machine.hosts), forwarded=others["forward_unknown_events"])
    told = Settings(external_events=external, **others)
    sources = read_sources(workloads, model, seeds, _size(machine, told))
    chance = _seeds_of_algorithms(seeds, variants) if workloads else ()
    keep = None if export is None else Kept(export, told.trace_machine_states, told.energy)
    inputs = [("-p", platform), *(("-w", path) for path in workloads), ("--events", events)]
    inputs += [("--options-file", path) for path in parts["options_files"]]
    runs = {name: source for name, (source, _) in repeat_for_seeds(sources, chance).items()}
    kept = [] if keep is None else keep.paths(runs, [variant.name for variant in variants])
    _check_files(inputs, files, kept)
    with runs_bar(wanted=not quiet) as progress:
        study = run_study(
            machine,
            sources,
            variants,
            seeds=chance,
            settings=told,
            clock=clock,
            processes=processes or os.cpu_count() or 1,
            keep=keep,
            progress=progress,
            limits=told_limits(),
        )
    comparison = compare_algorithms(study, figures, baseline=base, level=level, resamples=resamples)
    _write(files, comparison)
    if keep is not None:
        keep.write_drawn(sources)
    if not quiet:
        _show(comparison, differences=differences)
    return _tell(comparison)


def _seeds_of_algorithms(seeds: Sequence[int], variants: Sequence[Variant]) -> Sequence[int]:
    """The seeds, where workloads are files: then only algorithms can take them."""
    if seeds and not any(variant.takes_seed for variant in variants):
        raise click.UsageError("'--seeds' goes with '--generate', or with an algorithm that has an option seed")
    return seeds


def _shown(names: str | None, *, energy: bool) -> list[str]:
    """The names of the figures to show."""
    if names is None:
        return [*SHOWN, ENERGY] if energy else list(SHOWN)
    asked = [name.strip() for name in names.split(",")]
    if ENERGY in asked and not energy:
        raise click.UsageError(f"'--metrics {ENERGY}' goes with '-E'")
    return asked


def _size(platform: Platform, settings: Settings) -> int:
    """Return the number of hosts that a drawn workload is for."""
    hosts = platform.with_roles(settings.roles).compute_hosts(settings.master_host)
    return len(hosts[: settings.machines])


def _check_files(inputs: Sequence[Named], files: Mapping[str, Path | None], kept: Sequence[Path]) -> None:
    """Before the runs, which may be long: no file is read and written, or written twice, and each can be written."""
    outputs: list[Named] = [(f"--{name}", path) for name, path in files.items()]
    outputs += [("-e", path) for path in kept]
    check_apart(inputs, outputs)
    check_writable([path for _, path in outputs])


def _write(files: Mapping[str, Path | None], comparison: AlgorithmComparison) -> None:
    for name, path in files.items():
        if path is not None:
            with writing(path):
                _WRITERS[name](path, comparison)


def _show(comparison: AlgorithmComparison, *, differences: bool) -> None:
    for table in comparison_tables(comparison, differences=differences):
        show_table(table, folded=0)
        say()
    Output().print(legend(comparison), highlight=False)


def _tell(comparison: AlgorithmComparison) -> int:
    """Tell what a reader of the tables has to know; return the exit code."""
    study = comparison.study
    warn = Warnings()
    for line in _cautions(comparison):
        warn(line)
    warned = [(outcome, line) for outcome in study.outcomes for line in outcome.warnings]
    for where, line in _grouped(warned):
        warn(f"{where}: {line}")
    for line in dict.fromkeys(line for outcome in study.outcomes for line in outcome.approximations):
        say(f"approximation: {line}", err=True)
    for where, line in _grouped([(outcome, outcome.error) for outcome in study.failures]):
        say(f"batsched-py: error: {where}: {line}", err=True)
    return max((outcome.exit_code for outcome in study.failures), default=0)


def _grouped(told: Iterable[tuple[Outcome, str]]) -> Iterator[tuple[str, str]]:
    """Each line of an algorithm once, with where it was heard: "easy on w1", "easy on 7 workloads (w1, w2, w3...)"."""
    workloads: dict[tuple[str, str], list[str]] = {}
    for outcome, line in told:
        workloads.setdefault((outcome.variant, line), []).append(outcome.workload)
    for (variant, line), names in workloads.items():
        distinct = list(dict.fromkeys(names))
        some = ", ".join(distinct[:_NAMED]) + ("..." if len(distinct) > _NAMED else "")
        yield f"{variant} on {some if len(distinct) == 1 else f'{len(distinct)} workloads ({some})'}", line


def _cautions(comparison: AlgorithmComparison) -> Iterator[str]:
    """Yield the reasons why metrics may not compare, or intervals be too narrow."""
    study = comparison.study
    count = len(study.workloads)
    for found in find_different_jobs(study, comparison.baseline):
        for workloads, what in ((found.ran, "ran"), (found.succeeded, "succeeded")):
            if workloads:
                yield (
                    f"not the same jobs {what} under {found.variant} as under {comparison.baseline} on "
                    f"{len(workloads)} of {count} workloads ({workloads[0]}...): their figures are of different jobs"
                )
    count = study.observations
    if 1 < count < FEW:
        yield f"{count} {study.observed} are few: below {FEW} the intervals are narrower than they say"
