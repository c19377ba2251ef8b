"""Configuration of one run of Haizea, as its file says it, in types."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.leases.settings import LeaseSettings
from batsched_py.traces.lease_request import LeaseSite

LogLevel = Literal["STATUS", "INFO", "DEBUG", "VDEBUG"]


@dataclass(frozen=True, slots=True)
class PolicyNames:
    """Names of the policies: built-in ones, or a user's `package.module.Class` or `file.py:Class`.

    Attributes:
        admission: accept-all or no-ARs.
        preemption: no-preemption, ar-preempts-everything or deadline.
        hosts: greedy or no-policy.
        mapper: greedy or deadline.
    """

    admission: str = "accept-all"
    preemption: str = "no-preemption"
    hosts: str = "greedy"
    mapper: str = "greedy"


@dataclass(frozen=True, slots=True)
class TraceFiles:
    """Files of requests, and what is added to their durations.

    Attributes:
        trace: a lease workload, or a log in SWF.
        images: of images for the requests; None for those that they name.
        injection: of more requests; None for no more.
        slowdown: percent that are added to durations.
        boot: seconds that are added to them.
        overhead: whose durations these are.
        memory: MB of each node; None for what is asked for.
    """

    trace: Path
    images: Path | None = None
    injection: Path | None = None
    slowdown: float = 0.0
    boot: float = 0.0
    overhead: Literal["none", "all", "besteffort"] = "none"
    memory: float | None = None


@dataclass(frozen=True, slots=True)
class AccountingSettings:
    """Settings of the accounting of a run.

    Attributes:
        datafile: all that was counted; None for no such file.
        probes: names, as the configuration spells them.
        attributes: (name, value) of what tells this run from others.
        stats: how figures are computed in which Haizea is mistaken.
    """

    datafile: Path | None = None
    probes: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    stats: Literal["corrected", "original"] = "corrected"


@dataclass(frozen=True, slots=True)
class HaizeaConfig:
    """A configuration. Times are in seconds, paths from the current folder.

    Attributes:
        file: where it was read.
        log_level: how much is logged.
        on_failure: what a failed lease does to the run.
        clock: whether time is simulated.
        start_time: of the simulated clock; None with the real one.
        site: the hosts; None for those of the trace.
        settings: of the scheduler.
        policies: by name.
        transfers: of images; None if leases are not prepared.
        traces: files of requests; None with the real clock.
        stop_when: the condition that ends the simulation.
        status_interval: after which the summary is printed again; None for never.
        wakeup_interval: of the real clock.
        non_schedulable_interval: from a request to the start of its lease, with the real clock.
        accounting: what is counted.
        told: sentences on what has no counterpart here.
    """

    file: Path
    log_level: LogLevel
    on_failure: Literal["cancel", "exit", "exit-raise"]
    clock: Literal["real", "simulated"]
    start_time: datetime | None
    site: LeaseSite | None
    settings: LeaseSettings
    policies: PolicyNames
    transfers: TransferSettings | None
    traces: TraceFiles | None
    stop_when: Literal["all-leases-done", "besteffort-submitted", "besteffort-done"]
    status_interval: float | None
    wakeup_interval: float
    non_schedulable_interval: float
    accounting: AccountingSettings
    told: tuple[str, ...] = ()
