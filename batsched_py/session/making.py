"""The algorithm of a session, made from the options that users, recordings and Batsim give for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from batsched_py.errors import OptionError, PluginError
from batsched_py.protocol.events import Config
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.options import Origin, make_options, read_values
from batsched_py.session.story import where


def read_given(scheduler: type[Scheduler[Any]], given: Mapping[str, Any], origin: Origin) -> dict[str, Any]:
    """Return the values of options that were given as text or as JSON values. OptionError."""
    return read_values(scheduler.options_type, given, scheduler.name, origin)


def make_scheduler(scheduler: type[Scheduler[Any]], values: Mapping[str, Any]) -> Scheduler[Any]:
    """Make the algorithm. OptionError if values contradict each other, PluginError if its constructor fails."""
    options = make_options(scheduler.options_type, values, scheduler.name)
    try:
        return scheduler(options)
    except Exception as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise PluginError(f"algorithm {scheduler.name}: {why}{where(error)}") from error


def sent_options(config: Config) -> dict[str, Any]:
    """Read Batsim's --sched-cfg, a JSON object of options. OptionError."""
    if not config.scheduler_config.strip():
        return {}
    try:
        options = orjson.loads(config.scheduler_config)
    except orjson.JSONDecodeError as error:
        raise OptionError(f"sched-config: must be a JSON object of options: {error}") from None
    if not isinstance(options, dict):
        raise OptionError("sched-config: must be a JSON object of options")
    return options
