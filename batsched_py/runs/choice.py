"""A choice of an algorithm with its options, and the session that it leads to."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.metadata.store import JobStore
from batsched_py.model.features import NO_FEATURES, Features
from batsched_py.model.settings import Settings
from batsched_py.plugins import load
from batsched_py.protocol.events import Config
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.scheduling.base import Scheduler
from batsched_py.session.clock import parse_clock
from batsched_py.session.decision_log import PassOn
from batsched_py.session.session import Session
from batsched_py.transcripts.lines import Header

NO_OPTIONS: Final[Mapping[str, Any]] = MappingProxyType({})


class Choice(Struct, frozen=True):
    """An algorithm with its options, in the words of the commands.

    Attributes:
        algorithm: a name as after `-s`.
        options: its options; texts as after `-o`, or values.
        clock: the time that decisions take, as after `--clock`.
        requests: True if external events may request jobs, as with `--requests`.
        call_every: maximum simulated seconds between calls while they may; 0 for no calls.
        compute_sharing: True if several jobs may run on one host of Batsim 5; earlier versions specify it themselves.
    """

    algorithm: str
    options: Mapping[str, Any] = NO_OPTIONS
    clock: str = "zero"
    requests: bool = False
    call_every: float = 0.0
    compute_sharing: bool = False

    def header(self) -> Header:
        """Return the header of a recording of the run."""
        return Header(
            self.algorithm, dict(self.options), self.clock, self.requests, self.call_every, self.compute_sharing
        )


def settings_of(choice: Choice, settings: Settings) -> Settings:
    """Return the settings of a simulation with this choice: requests arrive as events, and become jobs."""
    return replace(settings, dynamic_jobs=True, forward_unknown_events=True) if choice.requests else settings


def make_session(
    choice: Choice,
    scheduler: type[Scheduler[Any]] | None = None,
    *,
    recorded: Mapping[str, Any] = NO_OPTIONS,
    features: Features = NO_FEATURES,
    open_store: Callable[[Config], JobStore] | None = None,
    warn: Callable[[str], None] | None = None,
    limits: Limits = LIMITS,
    log: PassOn | None = None,
) -> Session:
    """Create the session of a choice; `scheduler` is its class, if it is loaded already.

    The other arguments are those of `Session`. PluginError or OptionError for an unknown algorithm, option or clock.
    """
    return Session(
        load(choice.algorithm) if scheduler is None else scheduler,
        choice.options,
        recorded=recorded,
        clock=parse_clock(choice.clock, time.perf_counter),
        open_store=open_store,
        warn=warn,
        limits=limits,
        requests=choice.requests,
        call_every=choice.call_every or None,
        log=log,
        features=features,
        compute_sharing=choice.compute_sharing,
    )
