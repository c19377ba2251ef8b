"""The configuration of one run of Haizea, as typed values."""

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
    """Names of the policies: built-in ones of `leases.policies.catalogue`, or user classes.

    A class is named as `package.module.Class` or `file.py:Class`. `mapper` is greedy or deadline.
    """

    admission: str = "accept-all"
    preemption: str = "no-preemption"
    hosts: str = "greedy"
    mapper: str = "greedy"


@dataclass(frozen=True, slots=True)
class TraceFiles:
    """Files of requests, and additions to their durations.

    Attributes:
        trace: a lease workload, or a log in SWF.
        images: file of images for the requests; None for those that they name.
        injection: file of additional requests; None for none.
        slowdown: percent added to durations.
        boot: seconds added to durations.
        overhead: kinds of leases to which these are added.
        memory: MB of each node; None for the requested memory.
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
        datafile: file of all figures; None for none.
        probes: names, as in the configuration.
        attributes: (name, value) pairs that identify the run.
        stats: computation of figures that Haizea computes incorrectly.
    """

    datafile: Path | None = None
    probes: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    stats: Literal["corrected", "original"] = "corrected"


@dataclass(frozen=True, slots=True)
class HaizeaConfig:
    """A configuration. Times are in seconds, paths from the current folder.

    Attributes:
        file: the file that was read.
        log_level: level of the log.
        on_failure: effect of a failed lease on the run.
        clock: simulated or real.
        start_time: of the simulated clock; None with the real one.
        site: the hosts; None for those of the trace.
        settings: of the scheduler.
        policies: by name.
        transfers: of images; None if leases are not prepared.
        traces: files of requests; None with the real clock.
        stop_when: the condition that ends the simulation.
        status_interval: after which the summary is printed again; None for never.
        wakeup_interval: interval of the real clock.
        non_schedulable_interval: from a request to the start of its lease, with the real clock.
        accounting: settings of the accounting.
        notes: sentences about options without a counterpart.
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
    notes: tuple[str, ...] = ()
