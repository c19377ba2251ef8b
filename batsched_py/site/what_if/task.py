"""The task of playing a simulated site ahead: plain data, handed to another process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from batsched_py.model.platform import Platform
from batsched_py.model.settings import Settings
from batsched_py.runs.choice import Choice
from batsched_py.scheduling.base import Scheduler
from batsched_py.site.what_if.future import SitePlan


class SiteSetup(Struct, frozen=True):
    """Everything that determines a simulated site apart from its requests.

    Attributes:
        platform: the hosts.
        settings: the settings of the simulation, as given.
        choice: the algorithm and its options, as given.
        scheduler: the class of the algorithm.
        journal, transcript: its files.
    """

    platform: Platform
    settings: Settings
    choice: Choice
    scheduler: type[Scheduler[Any]]
    journal: Path
    transcript: Path


class WhatIfTask(Struct, frozen=True):
    """A site, and how it is to be played ahead."""

    setup: SiteSetup
    plan: SitePlan
