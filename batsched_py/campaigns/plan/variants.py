"""The variants of a campaign: each algorithm with each combination of its options, checked and uniquely named."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from batsched_py.campaigns.execution.user_modules import forgotten_modules
from batsched_py.campaigns.plan.campaign import AlgorithmSweep, Campaign
from batsched_py.campaigns.plan.campaign_plan import PlannedVariant
from batsched_py.campaigns.variant import Variant, label_variant
from batsched_py.errors import ConfigurationError, OptionError, PluginError
from batsched_py.plugins import find_code, load
from batsched_py.reporting.algorithm_files import files_of_algorithm
from batsched_py.runs.choice import Choice, make_session


def plan_variants(campaign: Campaign) -> tuple[PlannedVariant, ...]:
    """Return all variants in the order of the study file. ConfigurationError names the file and the field."""
    found = []
    folder = campaign.source.parent
    for number, sweep in enumerate(campaign.algorithms):
        try:
            found += list(_variants(sweep, folder))
        except (OptionError, PluginError) as error:
            raise ConfigurationError(str(campaign.source), f"algorithms[{number}]", str(error)) from error
    if campaign.seeds and not any(variant.takes_seed for variant in found):
        raise ConfigurationError(str(campaign.source), "seeds", "no algorithm has an option seed that is not given")
    twice = [name for name, count in Counter(variant.name for variant in found).items() if count > 1]
    if twice:
        rule = f"two are called {twice[0]}: give them names of their own"
        raise ConfigurationError(str(campaign.source), "algorithms", rule)
    return tuple(found)


def _variants(sweep: AlgorithmSweep, folder: Path) -> Iterator[PlannedVariant]:
    algorithm = find_code(sweep.algorithm, folder)
    for values in product(*sweep.options.values()):
        shown = dict(zip(sweep.options, values, strict=True))
        options = {name: find_code(value, folder) for name, value in shown.items()}
        with forgotten_modules(Variant(sweep.name, algorithm, options), str(folder.resolve())):
            variant = _variant(sweep, algorithm, shown, options, folder)
        yield variant


def _variant(
    sweep: AlgorithmSweep, algorithm: str, shown: Mapping[str, Any], options: Mapping[str, Any], folder: Path
) -> PlannedVariant:
    """Return a variant that shows the options `shown` and runs with `options`, in which paths are absolute."""
    before = set(sys.modules)
    scheduler = load(algorithm)
    session = make_session(Choice(algorithm, options), scheduler)
    loaded = [name for name in sys.modules if name not in before and os.sep not in name]
    found = files_of_algorithm(algorithm, options, folder=folder, loaded=loaded, find_class=lambda _: scheduler)
    files = {file.role: file.sha256 for file in found}
    named = shown if not sweep.name else {name: shown[name] for name in shown if len(sweep.options[name]) > 1}
    name = label_variant(sweep.name or scheduler.name, named)
    variant = Variant(name, algorithm, options)
    moved = {name: shown[name] for name, value in options.items() if value != shown[name]}
    held = {**session.options, **moved}
    return PlannedVariant(name, sweep.algorithm, variant, held, tuple(shown), variant.takes_seed, files)
