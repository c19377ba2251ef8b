"""`batsched-py campaign`: thousands of runs that a study file describes, on one machine or many, and their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Final

import click
from msgspec.structs import replace

from batsched_py.campaigns.execution.campaign_runner import CampaignState, ShowRun, Workers, forget_failed, run_missing
from batsched_py.campaigns.execution.dask_workers import dask_workers
from batsched_py.campaigns.execution.local_workers import LocalWorkers
from batsched_py.campaigns.execution.stored_run import StoredRun
from batsched_py.campaigns.execution.worker_place import WorkerPlace
from batsched_py.campaigns.pair_tests import require_scipy
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan, PlannedRun
from batsched_py.campaigns.results.campaign_figures import FIGURE_KINDS, FigureChoice, draw_campaign
from batsched_py.campaigns.results.dataset import check_jobs_possible, write_dataset
from batsched_py.campaigns.results.paper import USE as PAPER_USE
from batsched_py.campaigns.results.paper import compare_for_paper, paper_files, write_paper
from batsched_py.campaigns.results.table_files import write_table_csv, write_table_latex
from batsched_py.campaigns.run_limits import RunLimits
from batsched_py.campaigns.tuning.trials_file import TRIALS, write_trials
from batsched_py.campaigns.tuning.tuner import read_tuning
from batsched_py.campaigns.tuning.tuner import tune as search
from batsched_py.cli.shared.algorithm import Warnings
from batsched_py.cli.shared.campaign_tables import (
    GroupsCompared,
    InferenceChoice,
    comparison_options,
    infer,
    inference_options,
    metrics_of,
    progress_text,
    report_approximations,
    report_failures,
    show_groups,
    state_table,
    trials_table,
    warn_of_groups,
)
from batsched_py.cli.shared.campaigns import (
    CampaignFiles,
    check_outputs,
    check_place,
    folder_option,
    open_campaign,
    place_options,
    study_argument,
)
from batsched_py.cli.shared.command import COMMON, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.output_paths import check_writable
from batsched_py.cli.shared.parameters import FOLDER, PATH, Number, flag, option
from batsched_py.cli.shared.progress import campaign_bar, trials_bar
from batsched_py.cli.shared.repetition import OnceGroup
from batsched_py.cli.shared.run_limit_options import over, run_limit_options
from batsched_py.cli.shared.runs import read_picture, save_picture
from batsched_py.cli.shared.terminal import say, say_all, warn
from batsched_py.files.output_file import naming_errors, writing
from batsched_py.interruption import Interruption
from batsched_py.loading import require
from batsched_py.text.wording import counted

#: The command, as messages about missing extras name it.
_TUNE: Final = "campaign tune"


@click.group(cls=OnceGroup, no_args_is_help=True)
def command() -> None:
    """Run the campaign that a study file describes, and show its results.

    Every combination of platforms, workloads, algorithms, options and settings is a run. Each run is kept under a key
    of what determines its result, so that an interrupted or extended campaign only runs what is missing.
    """


command.params += COMMON


quiet_flag: Final = flag("--quiet", "No progress bar and no summary.")


@typed_command()
@study_argument
@folder_option
@place_options
@run_limit_options
@flag("--dry-run", "Show what would be run.")
@quiet_flag
def run(files: CampaignFiles, place: WorkerPlace, limits: RunLimits, *, dry_run: bool, quiet: bool) -> int:
    """Run what is missing of the campaign, and write its dataset.

    Results are stored as they come; a run that fails is kept with its error and does not stop the others. If one
    failed, the exit code is 3.

    Other machines, and results in Parquet, need the extra `campaign`: pip install '.[campaign]' in a clone.
    """
    check_place(place)
    if dry_run:
        _show_progress(*open_campaign(files))
        return 0
    return _run(files, place, limits, quiet=quiet, again=False)


@typed_command()
@study_argument
@folder_option
@place_options
@run_limit_options
@quiet_flag
def retry(files: CampaignFiles, place: WorkerPlace, limits: RunLimits, *, quiet: bool) -> int:
    """Run what failed again, and what is missing."""
    check_place(place)
    return _run(files, place, limits, quiet=quiet, again=True)


@typed_command()
@study_argument
@folder_option
def status(files: CampaignFiles) -> None:
    """Show how many runs are done, failed and missing, and why they failed."""
    plan, state = open_campaign(files)
    _show_progress(plan, state)
    report_failures(plan, state)


@typed_command()
@study_argument
@folder_option
@flag("--failed", "Remove the runs that failed, too.")
@flag("--all", "Remove all runs.")
def clean(files: CampaignFiles, *, failed: bool, all: bool) -> None:
    """Remove runs that the study file no longer describes, and what killed programs left behind.

    After a change of an input, an option or the program, the former runs are no longer part of the campaign.
    """
    store = files.store
    with store.locked():
        _, state = open_campaign(files)
        kept = {} if all else state.done if failed else state.ended
        keys = sorted(store.keys() - set(kept))
        for key in keys:
            store.remove(key)
        remains = store.remove_remains()
    say(f"removed {counted(len(keys), 'run')} and {counted(remains, 'unfinished file')}")


@typed_command()
@study_argument
@folder_option
@comparison_options
@inference_options
@flag("--differences", "Show differences from the baseline instead of ratios.")
@option("--csv", "FILE", "Write a row for each algorithm, group and metric.", type=PATH)
@option("--latex", "FILE", "Write the tables for a paper (booktabs).", type=PATH)
@flag("--quiet", "No tables.")
def table(
    files: CampaignFiles,
    compared: GroupsCompared,
    inference: InferenceChoice,
    csv: Path | None,
    latex: Path | None,
    *,
    differences: bool,
    quiet: bool,
) -> int:
    """Compare the algorithms in each group of workloads, as `compare` does, with the runs that are there.

    The workloads of a group are its observations: the seeds of a model with the same parameters, the parts of a log, or
    the files of one table of the study file.
    """
    outputs = {"csv": csv, "latex": latex}
    check_outputs(files, outputs)
    check_writable(outputs.values())
    inference.check("campaign table")
    plan, state = open_campaign(files)
    groups = infer(compared.of(plan, state), inference.wanted, "campaign table")
    writers = {"csv": write_table_csv, "latex": write_table_latex}
    for name, path in outputs.items():
        if path is not None:
            with writing(path):
                writers[name](path, groups)
    if not quiet:
        show_groups(groups, differences=differences)
    warn_of_groups(groups)
    if state.missing:
        warn(f"{counted(len(state.missing), 'run is', 'runs are')} missing: batsched-py campaign run")
    return report_failures(plan, state)


@typed_command()
@study_argument
@click.argument("figure", type=PATH, metavar="FIGURE", callback=read_picture)
@folder_option
@option(
    "--kind",
    None,
    "Kind of figure: means against what varies, a heat map over two things, or ratios or values of one group.",
    type=click.Choice(FIGURE_KINDS),
    default="curve",
)
@option("--x", "NAME", "Horizontal axis: an option, a model parameter or a setting.  [default: what varies most]")
@option("--y", "NAME", "Vertical axis of a heat map.")
@option("--group", "NAME", "Draw only this group of workloads.")
@comparison_options
@option("--width", "INCHES", "Width of the figure. Default: 3.5, one column.", type=Number(1.0, 100.0))
@option("--height", "INCHES", "Height of the figure. Default: depends on its content.", type=Number(0.5, 100.0))
@option("--title", "TEXT", "Title above the figure.", default="")
def figure(files: CampaignFiles, figure: Path, choice: FigureChoice, compared: GroupsCompared) -> None:
    """Draw the campaign in FIGURE (.pdf, .svg, .png), with a panel for each metric.

    Needs the extra `plot`: pip install '.[plot]' in a clone.
    """
    require("matplotlib", "campaign figure", "plot")
    check_outputs(files, {"figure": figure})
    check_writable([figure])
    plan, state = open_campaign(files)
    save_picture(figure, draw_campaign(plan, compared.of(plan, state), choice))
    say(f"wrote {figure}")


@typed_command()
@study_argument
@folder_option
@place_options
@run_limit_options
@option("--trials", "N", "Number of trials.  [default: as in the study file]", type=click.IntRange(1, 100_000))
@quiet_flag
def tune(files: CampaignFiles, place: WorkerPlace, limits: RunLimits, trials: int | None, *, quiet: bool) -> None:
    """Search for the best options of an algorithm, as the table [tune] of the study file says, with Optuna.

    Each trial runs the algorithm on all workloads of the study file. The runs are stored, so that the same command
    continues a search that was stopped, and extends it with more --trials.

    Needs the extra `tune`: pip install '.[tune]' in a clone.
    """
    check_place(place)
    require("optuna", _TUNE, "tune")
    store = files.store
    with store.locked():
        plan = files.plan()
        limits = over(limits, plan.campaign.limits)
        plan = replace(plan, campaign=replace(plan.campaign, limits=limits))
        tuning = read_tuning(plan.campaign)
        tuning = replace(tuning, trials=trials or tuning.trials)
        with trials_bar(tuning, wanted=not quiet) as show, _open_workers(place, _TUNE) as workers:
            found = search(tuning, plan, store, workers, show, warn=Warnings())
        path = files.results / TRIALS
        with writing(path):
            write_trials(path, found, tuning.metric)
    if not quiet:
        show_table(trials_table(found, tuning.metric))
        say(f"wrote {path}")


@typed_command()
@study_argument
@click.argument("paper", type=FOLDER, metavar="PAPER")
@folder_option
@place_options
@run_limit_options
@quiet_flag
def paper(files: CampaignFiles, paper: Path, place: WorkerPlace, limits: RunLimits, *, quiet: bool) -> int:
    """Run what is missing, and write the folder PAPER: figures, LaTeX, methods with BibTeX, data, hashes.

    The table [paper] of the study file has its statistics and figures.

    Needs the extra `plot`, and `statistics` for tests: pip install '.[plot,statistics]' in a clone.
    """
    check_place(place)
    require("matplotlib", PAPER_USE, "plot")
    choice = files.campaign().paper
    if choice.tests or choice.precision is not None:
        require_scipy(PAPER_USE)
    check_outputs(files, {"paper": paper / "study.toml"})
    code = _run(files, place, limits, quiet=quiet, again=False)
    plan, state = open_campaign(files)
    groups = compare_for_paper(plan, state.ended, metrics_of(plan))
    written = paper_files(plan, state.ended, groups, paper.name)
    with naming_errors(paper):
        write_paper(paper, written)
    warn_of_groups(groups)
    if not quiet:
        say(f"wrote {paper}: {counted(len(written), 'file')}")
    return code


for _each in (run, status, retry, clean, table, figure, paper, tune):
    command.add_command(_each)


def _show_progress(plan: CampaignPlan, state: CampaignState) -> None:
    show_table(state_table(plan, state), folded=1)
    say(progress_text(plan, state))


def _run(files: CampaignFiles, place: WorkerPlace, limits: RunLimits, *, quiet: bool, again: bool) -> int:
    """Run the missing runs, and on request the failed ones, and return the exit code."""
    if place.needs_dask:
        require("distributed", "campaign run on other machines", "campaign")
    if files.campaign().jobs:
        check_jobs_possible()  # before the runs, which may be long
    store = files.store
    with store.locked():
        plan, state = open_campaign(files)
        state = forget_failed(plan, state, store) if again else state
        before, count = len(state.ended), len(plan.keys)
        if state.missing:
            with (
                _progress_reported(before, count) as note,
                campaign_bar(before, count, wanted=not quiet) as show,
                _open_workers(place, "campaign run") as workers,
            ):
                jobs, limits = plan.campaign.jobs, over(limits, plan.campaign.limits)
                state = run_missing(state, store, workers, jobs=jobs, limits=limits, show=note(show))
        with naming_errors(files.results):
            written = write_dataset(files.results, plan, state.ended, store)
    if not quiet:
        say(f"{progress_text(plan, state)}; {before} were there before")
        say_all(f"wrote {path}" for path in written)
    report_approximations(plan, state)
    return report_failures(plan, state)


@contextmanager
def _progress_reported(before: int, count: int) -> Iterator[Callable[[ShowRun | None], ShowRun]]:
    """Yield a decorator that counts the runs a function shows; an interruption reports their number."""
    over = before

    def counting(show: ShowRun | None) -> ShowRun:
        def note(run: PlannedRun, ended: StoredRun) -> None:
            nonlocal over
            over += 1
            if show is not None:
                show(run, ended)

        return note

    try:
        yield counting
    except Interruption as interruption:
        interruption.add_note(f": {over} of {counted(count, 'run')} done; the same command continues")
        raise


def _open_workers(place: WorkerPlace, use: str) -> AbstractContextManager[Workers]:
    """Start the workers of a place, for a command that is called `use`. ExtraError, OptionError, TransportError."""
    if place.needs_dask:
        return dask_workers(place, use)
    return nullcontext(LocalWorkers(place.workers))
