"""Options of `placer`: of queries, of proposals, and of the hosts that are asked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from batsched_py.api import document, named, option
from batsched_py.collection.classes import JobClass, parse_classes
from batsched_py.collection.placers import PLACERS, PlacerKind
from batsched_py.collection.policies import POLICIES_OF_HOSTS, MakePolicy


@dataclass(frozen=True, slots=True)
class PlacerOptions:
    """Options of queries, of proposals, and of the hosts that are asked."""

    place: PlacerKind = named("best", "who proposes, and in which order", PLACERS)
    alternatives: int = option(4, "schedules of one proposal, each a difference from the one before", minimum=1)
    staleness: float = option(0.0, "seconds for which the placer knows nothing new of hosts", minimum=0)
    keep: Literal["any", "next", "none"] = option(
        "any", "which grants of a schedule that failed are kept: what a later one needs, or the next one, or none"
    )
    retries: int = option(3, "proposals for a job at a time, each without hosts that have refused", minimum=1)
    time_out: float = option(math.inf, "seconds after which a grant that is not used expires", minimum=0)
    refuse: float = option(0.0, "share of requests and starts that each host refuses, at random", minimum=0, maximum=1)
    pause: float = option(
        60.0, "seconds after which a job is tried again that hosts do not want; then each time twice as long", minimum=1
    )
    patience: float = option(
        86400.0, "seconds in which nothing runs after which jobs are rejected that no hosts want", minimum=0
    )
    foresight: bool = option(True, "leave out hosts whose properties say that they will refuse the user")
    seed: int = option(0, "the same seed makes the same decisions")
    classes: Mapping[str, JobClass] | None = document(  # as `option`, which makes a field
        parse_classes, "classes of jobs by name, JSON or YAML; without it there are none"
    )
    share: Literal["space", "time"] = option(
        "space", "a job has its hosts to itself, or `cpus` of each, which needs compute sharing"
    )
    max_jobs: int | None = option(None, "reservations that each host has at a time, at most", minimum=0)
    allowed_users: str | None = option(
        None, "the users that hosts admit, separated by blanks", peer_text=r"[\w.@ -]{1,200}"
    )
    allowed_hours: str | None = option(
        None, "hours of the day, as 8-18, outside of which nothing starts", peer_text=r"\d{1,2}-\d{1,2}"
    )
    policy: MakePolicy = named("none", "a rule of each host in addition to those of its properties", POLICIES_OF_HOSTS)
    on_loss: Literal["ignore", "fail", "replace"] = option(
        "ignore", "jobs some of whose hosts go down run on, are killed, or are killed and placed again"
    )
