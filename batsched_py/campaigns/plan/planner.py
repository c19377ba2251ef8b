"""The plan of a campaign: all its runs with their keys, from inputs that were read and checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from batsched_py.campaigns.comparison import find_baseline
from batsched_py.campaigns.plan.campaign import Campaign, SimulatorSettings
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan, PlannedRun, PlannedVariant, Setting
from batsched_py.campaigns.plan.run_spec import BatsimFiles, RunEnvironment
from batsched_py.campaigns.plan.sources import SourceReader, WorkloadSource
from batsched_py.campaigns.plan.variants import plan_variants
from batsched_py.errors import ConfigurationError, OptionError, PlatformError, WorkloadError
from batsched_py.example_files import display_path
from batsched_py.files.bounded_file import read_raw, reported
from batsched_py.model.platform import Platform
from batsched_py.model.step_signal import CARBON
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.results.run_file import InputFile, content_hash
from batsched_py.text.wording import spelled
from batsched_py.traces.event_file import read_events
from batsched_py.traces.lublin import MOST_JOBS, Drawn
from batsched_py.traces.signal_file import read_signal
from batsched_py.traces.simgrid_xml import read_platform

#: Jobs of a model that are drawn to check it.
_SAMPLE: Final = 1000


def plan_campaign(campaign: Campaign, limits: Limits = LIMITS) -> CampaignPlan:
    """Read and check the inputs of a campaign, and plan its runs.

    Of the workloads drawn from a model, only the first of each kind is checked, so planning thousands of them is cheap.
    InputError names a file; ConfigurationError names the study file and the field.
    """
    variants = plan_variants(campaign)
    with _naming(campaign, "results.baseline"):
        find_baseline([variant.name for variant in variants], campaign.baseline)
    settings = tuple(_settings(campaign, limits))
    reader = SourceReader(limits)
    found = [(setting, source) for setting in settings for source in _sources(campaign, setting, reader)]
    if len(found) * (len(campaign.seeds) or 1) * len(variants) > limits.runs:
        raise ConfigurationError(str(campaign.source), "", limits.rule("runs"))
    return CampaignPlan(campaign, settings, variants, tuple(_runs(campaign, found, variants)))


def plan_algorithms(plan: CampaignPlan, campaign: Campaign) -> CampaignPlan:
    """Plan the algorithms of another campaign on the inputs of a plan, which are not read again. ConfigurationError."""
    variants = plan_variants(campaign)
    found = {(id(run.setting), id(run.source)): (run.setting, run.source) for run in plan.runs}
    return CampaignPlan(campaign, plan.settings, variants, tuple(_runs(campaign, list(found.values()), variants)))


@contextmanager
def _naming(campaign: Campaign, place: str) -> Iterator[None]:
    """Convert OptionErrors to ConfigurationErrors that name the study file and the place."""
    try:
        yield
    except OptionError as error:
        raise ConfigurationError(str(campaign.source), place, str(error)) from error


def _settings(campaign: Campaign, limits: Limits) -> Iterator[Setting]:
    varied = _varied([one.given for one in campaign.settings])
    for choice in campaign.platforms:
        platform = read_platform(choice.path, limits=limits)
        file = InputFile(display_path(choice.path), content_hash(choice.path))
        for one in campaign.settings:
            environment = _environment(campaign, platform, one, limits)
            label = ", ".join(f"{name}={spelled(one.given.get(name))}" for name in varied)
            digest = None if one.events is None else content_hash(one.events)
            signals = {"carbon": one.carbon, "price": one.price}
            hashes = {name: content_hash(path) or "" for name, path in signals.items() if path is not None}
            yield Setting(choice.name, label, file, one.given, environment, digest, hashes)


def _environment(campaign: Campaign, platform: Platform, one: SimulatorSettings, limits: Limits) -> RunEnvironment:
    settings = one.settings
    if "master_host" in one.given and all(host.name != settings.master_host for host in platform.hosts):
        rule = f"{platform.source} has no host {settings.master_host!r}"
        raise ConfigurationError(str(campaign.source), "settings.master_host", rule)
    if one.events is not None:
        events = read_events(one.events, hosts=len(platform.hosts), limits=limits)
        settings = replace(settings, external_events=events)
    carbon = read_signal(one.carbon, CARBON, limits)
    price = read_signal(one.price, limits=limits)
    settings = replace(settings, carbon=carbon, price=price)
    folder = str(campaign.source.parent.resolve())
    files = None if one.simulator == "embedded" else _batsim_files(platform, one, limits)
    return RunEnvironment(
        platform, settings, one.clock, campaign.window, files, folder, warm_up_jobs=campaign.warm_up_jobs
    )


def _batsim_files(platform: Platform, one: SimulatorSettings, limits: Limits) -> BatsimFiles:
    """Read the input files of real Batsim. InputError."""
    path = Path(platform.source)
    with reported(path, PlatformError):
        content = read_raw(path, limits)
    if one.events is None:
        return BatsimFiles(content)
    with reported(one.events, WorkloadError):
        return BatsimFiles(content, read_raw(one.events, limits))


def _varied(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names whose values differ."""
    names = dict.fromkeys(name for one in tables for name in one)
    return [name for name in names if len({repr(one.get(name)) for one in tables}) > 1]


def _runs(
    campaign: Campaign, inputs: Sequence[tuple[Setting, WorkloadSource]], variants: Sequence[PlannedVariant]
) -> Iterator[PlannedRun]:
    seeds = campaign.seeds or (None,)
    identities = {id(setting): setting.identity for setting, _ in inputs}
    for setting, source in inputs:
        identity = identities[id(setting)]
        for seed, variant in product(seeds, variants):
            name = source.name if seed is None else f"{source.name}-seed-{seed}"
            spec = replace(
                identity,
                workload=source.identity,
                algorithm=variant.algorithm,
                options=variant.options_with(seed),
                files={**identity.files, **variant.files},
            )
            yield PlannedRun(spec.key, setting, source, name, seed, variant)


def _sources(campaign: Campaign, setting: Setting, reader: SourceReader) -> list[WorkloadSource]:
    """Return all workloads for a platform, after checking that they can run there. ConfigurationError, InputError."""
    environment = setting.environment
    settings = environment.settings
    hosts = environment.platform.with_roles(settings.roles).compute_hosts(settings.master_host)[: settings.machines]
    found: list[WorkloadSource] = []
    for number, choice in enumerate(campaign.workloads):
        with _naming(campaign, f"workloads[{number}]"):
            sources = reader.read(choice, len(hosts))
            _check(environment, sources)
        found += sources
    for name, count in Counter(source.name for source in found).items():
        if count > 1:
            rule = f"two are called {name}: give them names of their own"
            raise ConfigurationError(str(campaign.source), "workloads", rule)
    return found


def _check(environment: RunEnvironment, sources: Sequence[WorkloadSource]) -> None:
    """Check that workloads can be simulated, and measured in the window. InputError, OptionError."""
    groups = set()
    for source in sources:
        workload = source.workload
        if isinstance(workload, Drawn):
            if source.group in groups:
                continue
            workload = _sample(workload, more_than=environment.warm_up_jobs).draw()
        groups.add(source.group)
        environment.check(source.name, workload)


def _sample(drawn: Drawn, more_than: int) -> Drawn:
    """Return the model with a few jobs, if possible more than so many: enough to check that it can be simulated."""
    jobs = max(_SAMPLE, more_than + 1)
    return replace(drawn, jobs=jobs) if jobs < drawn.jobs <= MOST_JOBS else drawn
