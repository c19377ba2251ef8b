"""Options of the algorithm `leases` for a live site, from a configuration with the real clock (H105)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Final

from batsched_py.errors import ConfigurationError
from batsched_py.haizea.config import HaizeaConfig
from batsched_py.haizea.policies import find_policies
from batsched_py.leases.options import LeasesOptions
from batsched_py.leases.policies.catalogue import ADMISSION, HOSTS, PREEMPTION
from batsched_py.text.display import shown

#: Setting -> the option of `leases` by another name.
_NAMES: Final = {
    "override_suspend": "override_suspend_time",
    "override_resume": "override_resume_time",
    "exclusion": "suspendresume_exclusion",
    "threshold_factor": "scheduling_threshold_factor",
    "forced_threshold": "force_scheduling_threshold",
}
#: A lease that is planned again keeps its place, although in Haizea, and by default in its files, it may lose it.
_KEPT: Final = "never_later"
_SIMULATED: Final = "needs simulation.clock: simulated; a live site uses the default"
_BACKFILLING: Final = {0: "off", 1: "aggressive", math.inf: "conservative"}


def live_options(config: HaizeaConfig) -> Mapping[str, Any]:
    """Return the options of `leases` for the scheduling of the configuration, except defaults.

    ConfigurationError names options that only simulations support: deviations of the original, and user policies.
    """
    settings = _settings(config)
    had = asdict(LeasesOptions(**settings).settings(stoppable=True))
    for name, value in asdict(config.settings).items():
        if had[name] != value and name != _KEPT:
            raise ConfigurationError(str(config.file), f"scheduling.{name.replace('_', '-')}", _SIMULATED)
    return {**settings, **_policies(config), **_transfers(config)}


def _settings(config: HaizeaConfig) -> dict[str, Any]:
    ahead = config.settings.future_leases
    backfilling = _BACKFILLING.get(ahead, "intermediate")
    given: dict[str, Any] = {_NAMES.get(name, name): value for name, value in asdict(config.settings).items()}
    given |= {
        "backfilling": backfilling,
        "backfilling_reservations": int(ahead) if backfilling == "intermediate" else None,
        "unneeded_victims": "spare" if config.settings.drop_unneeded_victims else "stop",
    }
    default = {field.name: field.default for field in fields(LeasesOptions)}
    return {name: value for name, value in given.items() if name in default and value != default[name]}


def _policies(config: HaizeaConfig) -> dict[str, str]:
    find_policies(config)  # check that they exist
    names = config.policies
    given: Mapping[str, tuple[str, Mapping[str, str], str]] = {
        "policy_admission": (names.admission, ADMISSION.spellings, "accept-all"),
        "policy_preemption": (names.preemption, PREEMPTION.spellings, "no-preemption"),
        "policy_host_selection": (names.hosts, HOSTS.spellings, "greedy"),
    }
    for option, (name, known, _) in given.items():
        if name not in known:
            where = f"scheduling.{option.replace('_', '-')}"
            raise ConfigurationError(str(config.file), where, f"must be built-in at a live site, not {shown(name)}")
    return {option: known[name] for option, (name, known, default) in given.items() if known[name] != default}


def _transfers(config: HaizeaConfig) -> dict[str, Any]:
    transfers = config.transfers
    if transfers is None:
        return {}
    cache = transfers.cache
    return {
        "lease_preparation": "imagetransfer",
        "imagetransfer_bandwidth": transfers.bandwidth,
        "transfer_mechanism": transfers.mechanism,
        "avoid_redundant_transfers": transfers.share,
        "force_imagetransfer_time": transfers.forced_time,
        "diskimage_reuse": "none" if cache is None else "image-caches",
        "diskimage_cache_size": -1.0 if cache is None or math.isinf(cache) else cache,
    }
