"""Policies and probes of a configuration; user classes are searched in its folder first (H54, H91 to H93)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from batsched_py.errors import ConfigurationError, PluginError
from batsched_py.haizea.config import HaizeaConfig
from batsched_py.leases.accounting.catalogue import PROBES, Probes
from batsched_py.leases.policies.catalogue import ADMISSION, HOSTS, PREEMPTION
from batsched_py.leases.policies.makers import Policies
from batsched_py.loading import load_object
from batsched_py.named import Load, Named

Thing = TypeVar("Thing")


def find_policies(config: HaizeaConfig) -> Policies:
    """Return the policies of a configuration; ConfigurationError for one that does not exist."""
    names = config.policies
    return Policies(
        _find(config, "scheduling.policy-admission", names.admission, ADMISSION).make,
        _find(config, "scheduling.policy-preemption", names.preemption, PREEMPTION).make,
        _find(config, "scheduling.policy-host-selection", names.hosts, HOSTS).make,
    )


def find_probes(config: HaizeaConfig) -> Probes:
    """Return the probes of a configuration; ConfigurationError for one that does not exist."""
    return _find(config, "accounting.probes", " ".join(config.accounting.probes), PROBES)


def _find(config: HaizeaConfig, option: str, name: str, things: Named[Thing]) -> Thing:
    try:
        return things.find(name, _load_from_folder(config.file.parent))
    except (ValueError, PluginError) as error:
        raise ConfigurationError(str(config.file), option, str(error)) from error


def _load_from_folder(folder: Path) -> Load:
    """Return a loader with files relative to a folder, whose modules take precedence over installed ones."""

    def load(target: str, what: str) -> Any:
        module, _, name = target.rpartition(":")
        named_file = module.endswith(".py")
        file = folder / (Path(module).expanduser() if named_file else Path(*module.split(".")).with_suffix(".py"))
        return load_object(f"{file}:{name}" if named_file or file.is_file() else target, what)

    return load
