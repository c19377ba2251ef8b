"""Texts of configurations, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from batsched_py.haizea.config import HaizeaConfig
from batsched_py.haizea.ini import format_sections
from batsched_py.haizea.reader import read_config

#: A configuration that is complete: all that is required, and nothing else.
LEAST = {
    "general.mode": "simulated",
    "scheduling.suspension": "all",
    "scheduling.suspend-rate": "32",
    "scheduling.resume-rate": "32",
    "simulation.clock": "simulated",
    "simulation.starttime": "2006-11-25 13:00:00",
    "simulation.resources": "4 CPU:100 Memory:1024",
    "simulation.imagetransfer-bandwidth": "100",
    "tracefile.tracefile": "leases.lwf",
}


def sections(options: Mapping[str, str | None]) -> dict[str, dict[str, str]]:
    """These options, by their sections; those that are None are left out."""
    found: dict[str, dict[str, str]] = {}
    for key, text in options.items():
        if text is not None:
            section, _, name = key.partition(".")
            found.setdefault(section, {})[name] = text
    return found


def written(folder: Path, options: Mapping[str, str | None]) -> Path:
    """A file with the least options and these; None leaves one out."""
    path = folder / "haizea.conf"
    path.write_text(format_sections(sections({**LEAST, **options})))
    return path


def config(folder: Path, options: Mapping[str, str | None] | None = None) -> HaizeaConfig:
    """Read a configuration of the least options and these."""
    return read_config(written(folder, options or {}))
