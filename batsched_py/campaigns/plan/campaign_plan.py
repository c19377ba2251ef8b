"""The plan of a campaign: its settings, its algorithms, and its runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.campaigns.plan.campaign import Campaign
from batsched_py.campaigns.plan.run_key import RunIdentity
from batsched_py.campaigns.plan.run_spec import RunEnvironment, RunSpec
from batsched_py.campaigns.plan.sources import WorkloadSource
from batsched_py.campaigns.variant import Variant
from batsched_py.model.settings import FROM_FILES
from batsched_py.results.run_file import InputFile


class PlannedVariant(Struct, frozen=True):
    """An algorithm with its options, under a unique name.

    Attributes:
        name: name in tables.
        algorithm: the algorithm as the study file names it.
        loaded: the same with absolute paths, to be found from any folder.
        options: options that it runs with, defaults included, as JSON values.
        given: names of the options that the study file gives.
        takes_seed: True if it has an option `seed` that is not given.
        files: role -> SHA-256 of the files of the algorithm and its options.
    """

    name: str
    algorithm: str
    loaded: Variant
    options: Mapping[str, Any]
    given: tuple[str, ...]
    takes_seed: bool
    files: Mapping[str, str | None]

    def with_seed(self, seed: int | None) -> Variant:
        """Return the variant to run with this seed."""
        if seed is None or not self.takes_seed:
            return self.loaded
        return replace(self.loaded, options={**self.loaded.options, "seed": seed})

    def options_with(self, seed: int | None) -> Mapping[str, Any]:
        """Return the options of a run with this seed."""
        return {**self.options, "seed": seed} if seed is not None and self.takes_seed else self.options


class Setting(Struct, frozen=True):
    """A platform with settings of the simulator: the conditions under which algorithms are compared.

    Attributes:
        platform: its name.
        settings: "clock=fixed:1", if the campaign has several; "" otherwise.
        file: the platform's file.
        given: the settings that the study file gives.
        environment: the environment in which runs are executed.
        events_sha256: of the file of external events; None without one.
        signals_sha256: carbon, price -> the SHA-256 of the file, if there is one.
    """

    platform: str
    settings: str
    file: InputFile
    given: Mapping[str, Any]
    environment: RunEnvironment
    events_sha256: str | None = None
    signals_sha256: Mapping[str, str] = {}

    @property
    def name(self) -> str:
        """The platform and the settings, for display."""
        return f"{self.platform}, {self.settings}" if self.settings else self.platform

    @property
    def identity(self) -> RunIdentity:
        """The part of the identity that all its runs share."""
        environment, settings = self.environment, self.environment.settings
        plain = {name: getattr(settings, name) for name in settings.__struct_fields__ if name not in FROM_FILES}
        events = {} if self.events_sha256 is None else {"events": self.events_sha256}
        return RunIdentity(
            platform=self.file.sha256 or "",
            workload={},
            algorithm="",
            options={},
            files={**events, **self.signals_sha256},
            settings=msgspec.to_builtins({**plain, "roles": dict(settings.roles)}),
            clock=environment.clock,
            window=msgspec.to_builtins(environment.window),
            warm_up_jobs=environment.warm_up_jobs,
            simulator="embedded" if environment.batsim is None else "batsim",
        )


class PlannedRun(Struct, frozen=True):
    """A run of a campaign.

    Attributes:
        key: equal for two runs whose results cannot differ.
        setting: its platform and settings.
        source: its workload.
        workload: name of the workload; with the seed of the algorithm, if it has one.
        seed: the seed of the algorithms; None without.
        variant: the algorithm with its options.
    """

    key: str
    setting: Setting
    source: WorkloadSource
    workload: str
    seed: int | None
    variant: PlannedVariant

    @property
    def spec(self) -> RunSpec:
        """The run as it is executed."""
        return RunSpec(self.workload, self.variant.with_seed(self.seed))

    @property
    def options(self) -> Mapping[str, Any]:
        """The options that the algorithm runs with."""
        return self.variant.options_with(self.seed)


class CampaignPlan(Struct, frozen=True):
    """The runs of a campaign, in the order of its study file: settings, groups, workloads, algorithms."""

    campaign: Campaign
    settings: tuple[Setting, ...]
    variants: tuple[PlannedVariant, ...]
    runs: tuple[PlannedRun, ...]

    @property
    def keys(self) -> dict[str, PlannedRun]:
        """Key -> the first run that has it: the runs to execute."""
        found: dict[str, PlannedRun] = {}
        for run in self.runs:
            found.setdefault(run.key, run)
        return found
