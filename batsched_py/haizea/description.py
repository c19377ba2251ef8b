"""The description of a configuration for the file that describes a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import msgspec

from batsched_py.haizea.config import HaizeaConfig

#: Members of a configuration that control the run, not the scheduling of leases.
_SETTINGS: Final = ("log_level", "on_failure", "clock", "start_time", "stop_when", "status_interval")


def plain_options(config: HaizeaConfig) -> dict[str, Any]:
    """Return the options of the scheduler as JSON values: policies, settings, transfers of images."""
    policies = {f"policy_{name}": value for name, value in asdict(config.policies).items()}
    transfers = {} if config.transfers is None else asdict(config.transfers)
    return _plain(
        {**policies, **asdict(config.settings), **{f"transfer_{name}": transfers[name] for name in transfers}}
    )


def plain_settings(config: HaizeaConfig) -> dict[str, Any]:
    """Return the settings of the run as JSON values: its clock, its end, and additions to the requests."""
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
    return {**plain, **infinite}  # JSON has no infinity
