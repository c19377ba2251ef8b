"""The run of a configuration: its requests and its site in the embedded simulator, with its scheduling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from batsched_py.errors import AlgorithmError, OptionError
from batsched_py.haizea.config import HaizeaConfig, TraceFiles
from batsched_py.haizea.log import HaizeaLog
from batsched_py.haizea.policies import find_policies, find_probes
from batsched_py.haizea.summary import StatusSummary
from batsched_py.leases.accounting.ledger import Ledger
from batsched_py.leases.accounting.rows import unheard_row
from batsched_py.leases.actions import LeaseFailedError
from batsched_py.leases.lease import Lease
from batsched_py.leases.observer import LeaseSchedule, Observer, Observers
from batsched_py.leases.options import LeasesOptions
from batsched_py.leases.policies.makers import Policies
from batsched_py.leases.scheduler import LeaseScheduler
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.settings import Settings
from batsched_py.model.table import Table
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.runs.choice import Choice, make_session
from batsched_py.schedulers.leases import Leases
from batsched_py.scheduling.view import View
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.cleaning import CleaningRules, clean_jobs
from batsched_py.traces.image_file import read_images
from batsched_py.traces.lease_changes import LeaseChanges, VmOverheads
from batsched_py.traces.lease_log import log_requests
from batsched_py.traces.lease_request import LeaseRequest, LeaseSite, LeaseTrace, uniform_site
from batsched_py.traces.lease_workload import lease_inputs
from batsched_py.traces.lwf import read_lwf
from batsched_py.traces.swf import read_swf

#: Leases may share a host, be suspended, and have more nodes than there are hosts.
_SETTINGS = Settings(compute_sharing=True, dynamic_jobs=True, allow_oversized=True, forward_unknown_events=True)


class HaizeaRun(NamedTuple):
    """A run that has ended.

    Attributes:
        ledger: outcomes of leases and reservations, and figures of the probes; closed.
        summary: the figures at the end.
        end: seconds at which the run stopped.
        tables: tables of the run.
        failure: failure of the lease that ended the run, if the configuration demands it; None for none.
    """

    ledger: Ledger
    summary: StatusSummary
    end: float
    tables: tuple[Table, ...] = ()
    failure: AlgorithmError | None = None


class _Stopped(Exception):  # noqa: N818  # no error: the stop condition is reached
    """The configuration's stop condition is reached."""


class _StopCondition(Observer):
    """The condition that ends a run, and the leases that it counts (H22, H103)."""

    def __init__(self, when: str, best_effort: int) -> None:
        self._when, self._best_effort = when, best_effort
        self._requested = self._ended = 0
        self.reached = False
        self.now = 0.0

    def requested(self, lease: Lease, now: float) -> None:
        """Count a best-effort lease that has arrived."""
        del now
        self._requested += lease.kind is LeaseKind.BEST_EFFORT

    def ended(self, lease: Lease, now: float) -> None:
        """Count a best-effort lease that has ended."""
        del now
        self._ended += lease.kind is LeaseKind.BEST_EFFORT

    def stepped(self, scheduler: LeaseSchedule, now: float) -> None:
        """End the run if the condition is met."""
        del scheduler
        self.now = now
        counts = {"besteffort-submitted": self._requested, "besteffort-done": self._ended}
        self.reached = self.reached or counts.get(self._when, -1) >= self._best_effort


def run(
    config: HaizeaConfig,
    write: Callable[[str], None],
    *,
    events: Sequence[ExternalEvent] = (),
    limits: Limits = LIMITS,
    warn: Callable[[str], None] | None = None,
) -> HaizeaRun:
    """Simulate a configuration; `write` is called with the lines of Haizea's log. `events` affect hosts and leases.

    `warn` is called with sentences about ignored parts of the files of requests.

    Raises WorkloadError for files of requests, OptionError for a configuration that does not suit them,
    ConfigurationError for missing policies and probes, AlgorithmError for user classes that fail.
    """
    if config.traces is None or config.start_time is None:
        raise OptionError(f"{config.file}: simulation.clock must be simulated: a run has no other clock")
    policies, probes = find_policies(config), find_probes(config)
    log = HaizeaLog(config.start_time, config.log_level, write, config.status_interval)
    log.started()
    log.loading(str(config.traces.trace))
    requests, site, source, notes = _read(config, config.traces, limits)
    if warn is not None:
        for line in notes:
            warn(line)
    workload, platform = lease_inputs(source, requests, site, _changes(config.traces, limits))
    log.loaded(Counter(_kind(request) for request in requests))
    stop = _StopCondition(config.stop_when, sum(request.best_effort for request in requests))
    ledger = Ledger(probes, config.accounting.stats)
    on_failure = "cancel" if config.on_failure == "cancel" else "exit"
    algorithm = _algorithm(config, policies, ledger, Observers(ledger, log, stop))
    session = make_session(Choice("leases", {"lease_failure_handling": on_failure}), algorithm)

    def answer(message: bytes) -> bytes:
        reply = session.answer(message)
        if stop.reached:
            raise _Stopped
        return reply

    log.clock_started()
    failure: AlgorithmError | None = None
    try:
        Simulation(platform, [workload], replace(_SETTINGS, external_events=tuple(events))).run(answer)
    except _Stopped:
        pass
    except AlgorithmError as error:
        if not isinstance(error.__cause__, LeaseFailedError):
            raise
        failure = error
    ledger.close(stop.now)
    heard = {row.lease for row in ledger.lease_rows()}
    late = [job for job in workload.jobs if job.submit_time > stop.now and int(job.id) not in heard]
    ledger.note_unheard(unheard_row(int(job.id), job) for job in late)
    log.stopped(stop.now)
    return HaizeaRun(ledger, log.summary, stop.now, session.tables(), failure)


class _RunInputs(NamedTuple):
    """All requests, those of the trace before those of the injection; the site; the origins of both; warnings."""

    requests: list[LeaseRequest]
    site: LeaseSite
    source: str
    notes: tuple[str, ...]


def _read(config: HaizeaConfig, files: TraceFiles, limits: Limits) -> _RunInputs:
    trace = _read_trace(config, files, limits)
    requests, notes = list(trace.requests), trace.notes
    if files.injection is not None:
        injection = read_lwf(files.injection, starttime=config.start_time, limits=limits)
        requests += injection.requests
        notes += injection.notes
    site = config.site or trace.site
    if site is None:
        raise OptionError(f"{config.file}: simulation.resources is in-tracefile, but {files.trace} has no site")
    return _RunInputs(requests, site, trace.source, notes)


def _read_trace(config: HaizeaConfig, files: TraceFiles, limits: Limits) -> LeaseTrace:
    if files.trace.suffix != ".swf":
        return read_lwf(files.trace, starttime=config.start_time, limits=limits)
    log = read_swf(files.trace, limits=limits)
    cleaned = clean_jobs(log, CleaningRules(leases=True))
    site = uniform_site(cleaned.machine_size) if cleaned.machine_size else None
    return LeaseTrace(str(files.trace), log_requests(cleaned.jobs), site, notes=log.notes)


def _changes(files: TraceFiles, limits: Limits) -> LeaseChanges:
    return LeaseChanges(
        overheads=VmOverheads(files.overhead, files.slowdown, files.boot),
        memory=None if files.memory is None else int(files.memory),
        images=None if files.images is None else read_images(files.images, limits=limits),
    )


def _kind(request: LeaseRequest) -> LeaseKind:
    if request.deadline is not None:
        return LeaseKind.DEADLINE
    if request.best_effort:
        return LeaseKind.BEST_EFFORT
    return LeaseKind.IMMEDIATE if request.start == "now" else LeaseKind.ADVANCE


def _algorithm(config: HaizeaConfig, policies: Policies, ledger: Ledger, observer: Observer) -> type[Leases]:
    """Return the algorithm `leases`, configured by the configuration."""

    class Configured(Leases):
        """Leases of a Haizea configuration, numbered in the order of the file."""

        name = "leases"
        options_type = LeasesOptions

        def make_ledger(self) -> Ledger:
            return ledger

        def make_scheduler(self, view: View) -> LeaseScheduler:
            del view
            return LeaseScheduler(self.site, config.settings, policies, config.transfers, observer)

    return Configured
