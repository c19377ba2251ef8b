"""Shared parts of the campaign commands: the study file, the folder of results, and the machines for the runs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click
from msgspec import Struct

from batsched_py.campaigns.execution.campaign_runner import CampaignState, read_state
from batsched_py.campaigns.execution.run_store import RunStore
from batsched_py.campaigns.execution.worker_place import CLUSTERS, WorkerPlace
from batsched_py.campaigns.plan.campaign import Campaign
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan
from batsched_py.campaigns.plan.planner import plan_campaign
from batsched_py.campaigns.plan.study_file import read_study
from batsched_py.cli.shared.algorithm import Warnings
from batsched_py.cli.shared.command import current_limits
from batsched_py.cli.shared.output_paths import check_apart
from batsched_py.cli.shared.parameters import PATH, option, together

#: Suffix of the folder of results, after the name of the study file.
_RESULTS: Final = "-results"
_STORE: Final = "store"
#: Upper limit: more are a typing error.
_MOST_WORKERS: Final = 100_000

study_argument: Final = click.argument("study", type=PATH, metavar="STUDY.toml")
folder_option: Final = option(
    "-o --output folder",
    "FOLDER",
    "Folder of the results.  [default: STUDY-results, in the folder of the study file]",
    type=PATH,
)
place_options: Final = together(
    option(
        "--workers",
        "N",
        "Number of processes here, or of jobs of the batch system.  [default: one for each core, or one job]",
        type=click.IntRange(1, _MOST_WORKERS),
    ),
    option("--scheduler", "ADDRESS", "Use the workers of a running Dask scheduler, such as tcp://10.0.0.1:8786."),
    option(
        "--cluster",
        None,
        "Submit workers as jobs of a batch system, as the configuration of dask-jobqueue says.",
        type=click.Choice(list(CLUSTERS)),
    ),
)


class CampaignFiles(Struct, frozen=True):
    """The study file of a campaign, and the folder of its results; None for the default one."""

    study: Path
    folder: Path | None

    @property
    def results(self) -> Path:
        """The folder of the results."""
        return self.folder or self.study.with_name(self.study.stem + _RESULTS)

    @property
    def store(self) -> RunStore:
        """The store of existing runs."""
        return RunStore(self.results / _STORE)

    def campaign(self) -> Campaign:
        """Read the study file. InputError."""
        return read_study(self.study, current_limits())

    def plan(self) -> CampaignPlan:
        """Read the study file and all files that it names. InputError."""
        return plan_campaign(self.campaign(), current_limits())


def open_campaign(files: CampaignFiles) -> tuple[CampaignPlan, CampaignState]:
    """Read the plan of a campaign and its existing runs; warn of damaged files. InputError."""
    plan = files.plan()
    return plan, read_state(plan, files.store, Warnings())


def check_place(place: WorkerPlace) -> None:
    """Check that the options for machines are compatible. UsageError."""
    if place.scheduler is not None and (place.cluster is not None or place.workers is not None):
        other = "--cluster" if place.cluster is not None else "--workers"
        raise click.UsageError(f"'{other}' does not go with '--scheduler', whose workers run already")


def check_outputs(files: CampaignFiles, outputs: dict[str, Path | None]) -> None:
    """Check that no file is read and written. UsageError."""
    check_apart([("STUDY.toml", files.study)], [(f"--{name}", path) for name, path in outputs.items()])
