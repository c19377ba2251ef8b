"""The simulation: time passes, the scheduler hears what happened, and what it decides is applied, to the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from batsched_py.errors import DeadlockError, OptionError, PlatformError, WorkloadError
from batsched_py.metadata.store import JobStore
from batsched_py.model.platform import Platform, PlatformHost
from batsched_py.model.workload import Workload
from batsched_py.protocol.codec import Message
from batsched_py.protocol.commands import SetResourceState
from batsched_py.protocol.events import Event, SimulationEnds
from batsched_py.protocol.fields import is_job_number
from batsched_py.simulator.context import Context
from batsched_py.simulator.generation import (
    FORMER_IN_V4,
    NAMED_JOBS,
    PRESENT_IN_V14,
    dialect_of,
    foreign_name,
    natural_key,
    workload_names,
)
from batsched_py.simulator.jobs.ended import EndedJobs
from batsched_py.simulator.jobs.execution import Execution
from batsched_py.simulator.jobs.lifecycle import Jobs
from batsched_py.simulator.jobs.profiles import ProfileStore
from batsched_py.simulator.jobs.registration import Registration
from batsched_py.simulator.jobs.submissions import Submissions
from batsched_py.simulator.jobs.transfers import TransferModel
from batsched_py.simulator.machines.energy_meter import EnergyMeter
from batsched_py.simulator.machines.external_events import check_events
from batsched_py.simulator.machines.happenings import Happenings
from batsched_py.simulator.machines.machines import Machines
from batsched_py.simulator.machines.power_model import read_power_model
from batsched_py.simulator.machines.switching import Switching
from batsched_py.simulator.outputs.tracing import Tracer
from batsched_py.simulator.progress import ProgressReport
from batsched_py.simulator.records import JobRecord, Result, RunProgress, RunStatus
from batsched_py.simulator.referee.deadlock import describe_deadlock
from batsched_py.simulator.referee.livelock import LivelockGuard
from batsched_py.simulator.referee.referee import Referee
from batsched_py.simulator.referee.strictness import refused_files
from batsched_py.simulator.settings import Settings
from batsched_py.simulator.time.correspondence import Correspondence
from batsched_py.simulator.time.event_queue import EventQueue
from batsched_py.simulator.time.mailbox import InstantMailbox, NetworkMailbox, latencies
from batsched_py.simulator.wire.scheduler_link import Exchange, SchedulerLink
from batsched_py.simulator.wire.simulation_begins import opening
from batsched_py.simulator.wire.store_link import StoreLink
from batsched_py.wording import counted

#: Batsim without any option.
DEFAULTS: Final = Settings()


class Simulation:
    """Batsim's part in one run: construct it, then call `run` once."""

    def __init__(
        self,
        platform: Platform,
        workloads: Sequence[Workload],
        settings: Settings = DEFAULTS,
        *,
        store: JobStore | None = None,
        trace: bool = False,
        pass_on: Callable[[Sequence[JobRecord]], object] | None = None,
    ) -> None:
        """PlatformError, WorkloadError or OptionError if this cannot be simulated, in the words of the user's files.

        With a `store` jobs are described there instead of in messages (--enable-redis). `trace` keeps the rows of the
        trace files: machine states, and with energy what was consumed and the pstates. `pass_on` receives the records
        of jobs soon after they end, some at a time, instead of the result, which then has their numbers alone: for runs
        of very many jobs.
        """
        platform = platform.with_roles(settings.roles) if settings.roles else platform
        self._source = platform.source
        computing, storages = _compute_hosts(platform, settings), platform.storage_hosts(settings.master_host)
        hosts = computing + storages
        dialect = dialect_of(settings)
        profile_store = ProfileStore(workloads, workload_names(workloads, settings), keep_unused=settings.is_v14)
        if not settings.allow_oversized:
            _check_sizes(workloads, len(computing))
        machines = Machines(len(computing), len(storages))
        check_events(settings.external_events, machines.all)
        meter = _meter(platform, hosts) if settings.energy else None
        stored = None
        if store is not None:
            stored = StoreLink(store, forward_profiles=settings.forward_profiles, is_v14=settings.is_v14)
        self._queue, outbox = EventQueue(), list[Event]()
        queue = self._queue
        self._network_mailbox: NetworkMailbox | None = None
        if settings.message_latency:
            self._network_mailbox = NetworkMailbox(queue, outbox, latencies(platform, hosts, settings.master_host))
        tracer = None
        if trace:
            tracer = Tracer(machines, meter, queue, machine_states=settings.trace_machine_states)
            tracer.begin([host.pstate for host in hosts])
        mailbox = self._network_mailbox or InstantMailbox()
        self._context = context = Context(
            settings, machines, meter, tracer, queue, stored, outbox, mailbox, dialect=dialect
        )
        _note_foreign_types(profile_store, context)
        if context.is_v14 and not all(is_job_number(job.id) for workload in workloads for job in workload.jobs):
            context.approximations.add(NAMED_JOBS)
        context.approximations.update(refused_files(platform, workloads, settings.master_host))
        self._switching = Switching(context, hosts)
        execution = Execution(TransferModel(platform, hosts), context.approximations, machines.storages)
        self._ended = EndedJobs(machines.compute_count, pass_on)
        self._jobs = Jobs(context, profile_store, execution, self._switching, self._ended)
        self._submissions = Submissions(context, workloads, profile_store, self._jobs)
        self._registration = Registration(context, profile_store, self._jobs, self._submissions)
        self._referee = Referee(context, self._jobs, self._switching, self._registration)
        Happenings(context)
        self._begins = opening(computing, storages, profile_store, settings, stored=store is not None)

    @property
    def records(self) -> Sequence[JobRecord]:
        """The jobs that have ended so far, in order of their ends: all that a run leaves that deadlocks.

        Few of them, or none, if they are passed on.
        """
        return tuple(self._ended.records)

    @property
    def job_count(self) -> int:
        """Jobs of the workloads, and those that were registered so far."""
        return self._submissions.count + self._registration.count

    def status(self) -> RunStatus:
        """Where the run stands; to be asked between two messages. Takes longer the more jobs wait."""
        unfinished, ended, waiting = self._jobs.unfinished, self._ended.count, self._jobs.count_waiting()
        machines = self._context.machines
        *_, idle, computing = machines.census()
        return RunStatus(
            now=self._queue.stamp,
            total=self.job_count,
            submitted=unfinished + ended,
            waiting=waiting,
            running=unfinished - waiting,
            ended=ended,
            hosts=machines.compute_count,
            computing=computing,
            idle=idle,
        )

    def run(
        self,
        exchange: Exchange,
        progress: Callable[[RunProgress], None] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> Result:
        """Play the whole run against `exchange`, the only contact with the scheduler.

        `progress` is called about a hundred times; `clock` measures wall-clock seconds. RefusedError or
        RemoteProtocolError if the scheduler does what makes Batsim abort, DeadlockError if nothing will ever happen
        again although not everything is over, or if it happens over and over while no time passes; StoreError if the
        store fails. A PlatformError of a scheduler that only knows the host is raised with the platform's file.
        """
        try:
            return self._play(exchange, progress, clock)
        except PlatformError as error:
            raise PlatformError(error.file or self._source, error.field, error.rule) from error

    def _play(
        self, exchange: Exchange, progress: Callable[[RunProgress], None] | None, clock: Callable[[], float]
    ) -> Result:
        link = SchedulerLink(exchange, clock, self._context.dialect)
        report = ProgressReport(progress, self._submissions.count)
        if self._context.stored is not None:
            self._context.stored.begin(len(self._begins.resources) + len(self._begins.storages))
        self._context.outbox.append(self._begins)
        if self._network_mailbox is not None:
            ask = partial(self._ask, link, report, LivelockGuard())
            Correspondence(self._queue, self._network_mailbox, ask, self._referee.apply)
            while self._queue.step():
                pass
        elif self._context.is_v14:
            self._run_as_batsim_1(link, report)
        else:
            self._run_at_once(link, report)
        if self._jobs.unfinished or self._registration.open:
            raise DeadlockError(describe_deadlock(self._queue, self._jobs, self._context.machines, self._registration))
        now = self._queue.stamp
        self._obey_last(link.request(now, [*self._context.outbox, SimulationEnds(now)]))
        return self._result(link)

    def _run_at_once(self, link: SchedulerLink, report: ProgressReport) -> None:
        """Messages take no time: all that happens at one instant is one message."""
        outbox, queue, patience = self._context.outbox, self._queue, LivelockGuard()
        while outbox or queue.run_next():
            if outbox:
                self._apply(self._ask(link, report, patience))

    def _run_as_batsim_1(self, link: SchedulerLink, report: ProgressReport) -> None:
        """The same until all is over: the last events stay, to be told with the end, and no call is waited for."""
        outbox, queue, patience = self._context.outbox, self._queue, LivelockGuard()
        while not self._over() and (outbox or queue.run_next()):
            if outbox and not self._over():
                self._apply(self._ask(link, report, patience))

    def _ask(self, link: SchedulerLink, report: ProgressReport, patience: LivelockGuard) -> Message:
        """Tell the scheduler what is in the outbox; its reply."""
        jobs, queue = self._jobs, self._queue
        events = tuple(self._context.outbox)
        self._context.outbox.clear()
        reply = link.request(queue.stamp, events)
        if self._context.stored is not None:
            self._context.stored.read(reply.events)
        if jobs.told or jobs.leaving:
            jobs.forget_ended()
        if queue.now == patience.instant:
            patience.wear(events, self._ended.count, jobs.unfinished)
        else:
            patience.instant = queue.now
        if self._ended.count >= report.next:
            report.ended(self._ended.count, self._registration.count, queue.stamp)
        return reply

    def _over(self) -> bool:
        """True if no job is left, none will come and no host is switching; calls may be pending."""
        jobs_left = self._jobs.unfinished or self._registration.open or not self._submissions.over
        return not jobs_left and not self._switching.busy

    def _obey_last(self, reply: Message) -> None:
        """Commands in the last reply (v1.4): Batsim still switches hosts, until they are done, and ignores the rest."""
        for position, command in enumerate(reply.events):
            if isinstance(command, SetResourceState):
                self._referee.apply(position, command)
        while self._switching.busy:
            self._queue.run_next()

    def _apply(self, reply: Message) -> None:
        """Apply the commands in turn, each not before its time; time passes until the reply's `now`.

        The scheduler knows the clock as messages round it: what is not later than that is now.
        """
        queue = self._queue
        for position, command in enumerate(reply.events):
            if command.timestamp > queue.stamp:
                queue.run_until(command.timestamp)
            self._referee.apply(position, command)
        if reply.now > queue.stamp:
            queue.run_until(reply.now)

    def _result(self, link: SchedulerLink) -> Result:
        tally = self._ended.tally()
        first, last = self._submissions.joules_at_first, self._jobs.joules_at_last_end
        return Result(
            jobs=tuple(self._ended.records),
            tally=tally,
            host_count=self._context.machines.compute_count,
            storage_count=self._context.machines.storages.bit_count(),
            makespan=max((record.finish for record in self._ended.records), default=0.0)
            if tally is None
            else tally.makespan,
            end=self._queue.now,
            messages=link.messages,
            host_seconds=self._context.machines.seconds(),
            joules=max(0.0, last) - max(0.0, first) if last >= 0 else 0.0,
            switch_requests=self._switching.requests,
            host_switches=self._switching.host_switches,
            approximations=tuple(sorted(self._context.approximations)),
            deciding_seconds=link.deciding_seconds,
            simulating_seconds=link.total_seconds() - link.deciding_seconds,
            trace=None if self._context.tracer is None else self._context.tracer.trace,
            lists_rejected=not self._context.is_v14,
            consumed_joules=last - first,
        )


def _note_foreign_types(profile_store: ProfileStore, context: Context) -> None:
    """Workload files may use either Batsim's names of profile types; real ones know their own."""
    for profiles in profile_store.by_workload.values():
        if any(foreign_name(context.dialect, profile) for profile in profiles.by_name.values()):
            context.approximations.add(PRESENT_IN_V14 if context.is_v14 else FORMER_IN_V4)


def _compute_hosts(platform: Platform, settings: Settings) -> tuple[PlatformHost, ...]:
    if settings.machines is not None and settings.machines < 1:
        raise OptionError(f"the number of machines must be from 1, not {settings.machines}")
    hosts = platform.compute_hosts(settings.master_host)
    if settings.is_v14:
        hosts = tuple(sorted(hosts, key=lambda host: natural_key(host.name)))
    hosts = hosts[: settings.machines]
    if not hosts:
        raise PlatformError(platform.source, "", f"must have a compute host besides the master {settings.master_host}")
    for host in hosts:
        if min(host.speeds) <= 0:
            raise PlatformError(platform.source, f"host {host.name}.speed", "must be more than 0 flop/s: it computes")
    return hosts


def _check_sizes(workloads: Sequence[Workload], host_count: int) -> None:
    for workload in workloads:
        for number, (_, size) in enumerate(workload.requests()):
            if size > host_count:
                rule = f"asks for {counted(size, 'host')}, the platform has {host_count}"
                raise WorkloadError(workload.source, f"job {workload.jobs[number].id}.res", rule)


def _meter(platform: Platform, hosts: Sequence[PlatformHost]) -> EnergyMeter:
    models = [read_power_model(platform.source, host) for host in hosts]
    return EnergyMeter(models, [host.pstate for host in hosts])
