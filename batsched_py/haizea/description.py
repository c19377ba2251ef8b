"""The description of a configuration for the file that tells what was run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import msgspec

from batsched_py.haizea.config import HaizeaConfig

#: Members of a configuration that say how a run goes on, not how leases are scheduled.
_SETTINGS: Final = ("log_level", "on_failure", "clock", "start_time", "stop_when", "status_interval")


def plain_options(config: HaizeaConfig) -> dict[str, Any]:
    """Return what the scheduler is told, as JSON has it: policies, its settings, transfers of images."""
    policies = {f"policy_{name}": value for name, value in asdict(config.policies).items()}
    transfers = {} if config.transfers is None else asdict(config.transfers)
    return _plain(
        {**policies, **asdict(config.settings), **{f"transfer_{name}": transfers[name] for name in transfers}}
    )


def plain_settings(config: HaizeaConfig) -> dict[str, Any]:
    """Return what the run is told, as JSON has it: its clock, its end, and what is added to the requests."""
    settings = {name: getattr(config, name) for name in _SETTINGS}
    accounting = {"probes": config.accounting.probes, "stats": config.accounting.stats}
    attributes = {"attributes": dict(config.accounting.attributes)}
    traces = config.traces
    added = (
        {} if traces is None else {name: getattr(traces, name) for name in ("slowdown", "boot", "overhead", "memory")}
    )
    return _plain({**settings, **added, **accounting, **attributes})


def _plain(members: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(members)
    infinite = {name: str(value) for name, value in plain.items() if isinstance(value, float) and math.isinf(value)}
    return {**plain, **infinite}  # which JSON has not
