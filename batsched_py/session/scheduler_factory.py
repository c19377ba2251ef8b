"""Creation of the algorithm of a session from the options of users, recordings and Batsim, and its needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from msgspec.structs import replace

from batsched_py.errors import ExtraError, OptionError, PluginError
from batsched_py.interruption import is_interruption
from batsched_py.model.features import Features
from batsched_py.protocol.events import Config
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.options import FreeOptions, describe_options
from batsched_py.scheduling.view import View
from batsched_py.session.error_context import where
from batsched_py.session.option_values import Origin, make_options, read_values
from batsched_py.text.display import displayed


def read_options(scheduler: type[Scheduler[Any]], texts: Mapping[str, Any], origin: Origin) -> dict[str, Any]:
    """Return the values of options that were given as text or as JSON values. OptionError."""
    return read_values(scheduler.options_type, texts, scheduler.name, origin)


def make_scheduler(scheduler: type[Scheduler[Any]], values: Mapping[str, Any]) -> Scheduler[Any]:
    """Create the algorithm.

    OptionError if values contradict each other, ExtraError if it needs an extra, PluginError if its constructor fails.
    """
    options = make_options(scheduler.options_type, values, scheduler.name)
    try:
        return scheduler(options)
    except ExtraError:
        raise
    except BaseException as error:
        if is_interruption(error):
            raise
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise PluginError(f"algorithm {scheduler.name}: {why}{where(error)}") from error


def make_configured(
    scheduler: type[Scheduler[Any]], sent: Mapping[str, Any], preferred: Mapping[str, Any]
) -> Scheduler[Any]:
    """Create the algorithm with options of `sched-config`; `preferred` values take precedence. OptionError."""
    try:
        values = read_options(scheduler, sent, Origin.PEER)
    except OptionError as error:
        raise OptionError(f"sched-config: {error}") from error
    return make_scheduler(scheduler, {**values, **preferred})


def sent_options(config: Config, scheduler: type[Scheduler[Any]], warn: Callable[[str], None]) -> dict[str, Any]:
    """Read Batsim's `sched-config`, a JSON object, and return the options that the algorithm has. OptionError.

    Other members cause a warning and are ignored: the configuration may be shared with other schedulers. An algorithm
    that declares no options is given none: it can read the text in the configuration.
    """
    if not config.scheduler_config.strip() or scheduler.options_type is FreeOptions:
        return {}
    try:
        sent = orjson.loads(config.scheduler_config)
    except orjson.JSONDecodeError as error:
        raise OptionError(f"sched-config: must be a JSON object of options: {error}") from None
    if not isinstance(sent, dict):
        raise OptionError("sched-config: must be a JSON object of options")
    known = {known.name for known in describe_options(scheduler.options_type)}
    for name in sorted(sent.keys() - known):
        warn(f"sched-config: option {displayed(name)}: {scheduler.name} has no such option; it is ignored")
    return {name: value for name, value in sent.items() if name in known}


def check_needs(scheduler: Scheduler[Any], config: Config, view: View) -> None:
    """Raise OptionError if the simulation does not offer what the algorithm needs."""
    if scheduler.needs_dynamic_jobs and not config.dynamic_jobs:
        rule = "run Batsim with --enable-dynamic-jobs (or simulate, which has the same option)"
        raise OptionError(f"{scheduler.name} submits jobs of its own: {rule}")
    if scheduler.needs_energy and not all(host.pstate_count for host in view.hosts.values()):
        raise OptionError(f"{scheduler.name} needs hosts that describe their power (property wattage_per_state)")


def needed_features(scheduler: type[Scheduler[Any]], features: Features, *, takes_requests: bool) -> Features:
    """Return the features to request from Batsim 5: `features`, and those that the algorithm needs.

    With `takes_requests`, external events may submit jobs.
    """
    if scheduler.needs_dynamic_jobs or takes_requests or features.dynamic_registration:
        features = replace(features, dynamic_registration=True, profile_reuse=True)
    # rc2 crashes if it sends profiles at the beginning and one is unused: only algorithms that need them request them.
    if scheduler.needs_profiles or features.dynamic_registration:
        return replace(features, forward_profiles_on_simulation_begins=True)
    return replace(features, forward_profiles_on_job_submission=True)
