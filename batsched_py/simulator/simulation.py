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
from batsched_py.protocol.jobs import is_job_number
from batsched_py.simulator.context import Stage
from batsched_py.simulator.generation import (
    FORMER_IN_V4,
    NAMED_JOBS,
    PRESENT_IN_V14,
    dialect_of,
    foreign_name,
    natural_key,
    workload_names,
)
from batsched_py.simulator.jobs.ended import Ended
from batsched_py.simulator.jobs.execution import Execution
from batsched_py.simulator.jobs.lifecycle import Jobs
from batsched_py.simulator.jobs.network import Network
from batsched_py.simulator.jobs.profiles import Library
from batsched_py.simulator.jobs.registration import Registration
from batsched_py.simulator.jobs.submissions import Submissions
from batsched_py.simulator.machines.energy_meter import Meter
from batsched_py.simulator.machines.external_events import check_events
from batsched_py.simulator.machines.happenings import Happenings
from batsched_py.simulator.machines.machines import Machines
from batsched_py.simulator.machines.power_model import read_power_model
from batsched_py.simulator.machines.switching import Switching
from batsched_py.simulator.outputs.tracing import Tracer
from batsched_py.simulator.progress import ProgressReport
from batsched_py.simulator.records import JobRecord, Progress, Result, Standing
from batsched_py.simulator.referee.deadlock import standstill
from batsched_py.simulator.referee.livelock import Patience
from batsched_py.simulator.referee.referee import Referee
from batsched_py.simulator.referee.strictness import refused_files
from batsched_py.simulator.settings import Settings
from batsched_py.simulator.time.correspondence import Correspondence
from batsched_py.simulator.time.event_queue import Timeline
from batsched_py.simulator.time.mailbox import InstantMailbox, NetworkMailbox, latencies
from batsched_py.simulator.wire.scheduler_link import Exchange, Talk
from batsched_py.simulator.wire.simulation_begins import opening
from batsched_py.simulator.wire.stored_jobs import StoredJobs
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
        library = Library(workloads, workload_names(workloads, settings), keep_unused=settings.is_v14)
        if not settings.allow_oversized:
            _check_sizes(workloads, len(computing))
        machines = Machines(len(computing), len(storages))
        check_events(settings.external_events, machines.all)
        meter = _meter(platform, hosts) if settings.energy else None
        stored = None
        if store is not None:
            stored = StoredJobs(store, forward_profiles=settings.forward_profiles, is_v14=settings.is_v14)
        self._timeline, outbox = Timeline(), list[Event]()
        timeline = self._timeline
        self._network_mailbox: NetworkMailbox | None = None
        if settings.message_latency:
            self._network_mailbox = NetworkMailbox(timeline, outbox, latencies(platform, hosts, settings.master_host))
        tracer = None
        if trace:
            tracer = Tracer(machines, meter, timeline, machine_states=settings.trace_machine_states)
            tracer.begin([host.pstate for host in hosts])
        mailbox = self._network_mailbox or InstantMailbox()
        self._stage = stage = Stage(
            settings, machines, meter, tracer, timeline, stored, outbox, mailbox, dialect=dialect
        )
        _note_foreign_types(library, stage)
        if stage.is_v14 and not all(is_job_number(job.id) for workload in workloads for job in workload.jobs):
            stage.approximations.add(NAMED_JOBS)
        stage.approximations.update(refused_files(platform, workloads, settings.master_host))
        self._switching = Switching(stage, hosts)
        execution = Execution(Network(platform, hosts), stage.approximations, machines.storages)
        self._ended = Ended(machines.compute_count, pass_on)
        self._jobs = Jobs(stage, library, execution, self._switching, self._ended)
        self._submissions = Submissions(stage, workloads, library, self._jobs)
        self._registration = Registration(stage, library, self._jobs, self._submissions)
        self._referee = Referee(stage, self._jobs, self._switching, self._registration)
        Happenings(stage)
        self._begins = opening(computing, storages, library, settings, stored=store is not None)

    @property
    def records(self) -> Sequence[JobRecord]:
        """The jobs that have ended so far, in order of their ends: all that a run leaves that comes to a standstill.

        Few of them, or none, if they are passed on.
        """
        return tuple(self._ended.records)

    @property
    def job_count(self) -> int:
        """Jobs of the workloads, and those that were registered so far."""
        return self._submissions.count + self._registration.count

    def standing(self) -> Standing:
        """Where the run stands; to be asked between two messages. Takes longer the more jobs wait."""
        unfinished, ended, waiting = self._jobs.unfinished, self._ended.count, self._jobs.count_waiting()
        machines = self._stage.machines
        *_, idle, computing = machines.census()
        return Standing(
            now=self._timeline.stamp,
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
        progress: Callable[[Progress], None] | None = None,
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
        self, exchange: Exchange, progress: Callable[[Progress], None] | None, clock: Callable[[], float]
    ) -> Result:
        talk = Talk(exchange, clock, self._stage.dialect)
        report = ProgressReport(progress, self._submissions.count)
        if self._stage.stored is not None:
            self._stage.stored.begin(len(self._begins.resources) + len(self._begins.storages))
        self._stage.outbox.append(self._begins)
        if self._network_mailbox is not None:
            ask = partial(self._ask, talk, report, Patience())
            Correspondence(self._timeline, self._network_mailbox, ask, self._referee.apply)
            while self._timeline.step():
                pass
        elif self._stage.is_v14:
            self._run_as_batsim_1(talk, report)
        else:
            self._run_at_once(talk, report)
        if self._jobs.unfinished or self._registration.open:
            raise DeadlockError(standstill(self._timeline, self._jobs, self._stage.machines, self._registration))
        now = self._timeline.stamp
        self._obey_last(talk.say(now, [*self._stage.outbox, SimulationEnds(now)]))
        return self._result(talk)

    def _run_at_once(self, talk: Talk, report: ProgressReport) -> None:
        """Messages take no time: all that happens at one instant is one message."""
        outbox, timeline, patience = self._stage.outbox, self._timeline, Patience()
        while outbox or timeline.run_next():
            if outbox:
                self._apply(self._ask(talk, report, patience))

    def _run_as_batsim_1(self, talk: Talk, report: ProgressReport) -> None:
        """The same until all is over: the last events stay, to be told with the end, and no call is waited for."""
        outbox, timeline, patience = self._stage.outbox, self._timeline, Patience()
        while not self._over() and (outbox or timeline.run_next()):
            if outbox and not self._over():
                self._apply(self._ask(talk, report, patience))

    def _ask(self, talk: Talk, report: ProgressReport, patience: Patience) -> Message:
        """Tell the scheduler what is in the outbox; its reply."""
        jobs, timeline = self._jobs, self._timeline
        events = tuple(self._stage.outbox)
        self._stage.outbox.clear()
        reply = talk.say(timeline.stamp, events)
        if self._stage.stored is not None:
            self._stage.stored.read(reply.events)
        if jobs.told or jobs.leaving:
            jobs.forget_ended()
        if timeline.now == patience.instant:
            patience.wear(events, self._ended.count, jobs.unfinished)
        else:
            patience.instant = timeline.now
        if self._ended.count >= report.next:
            report.ended(self._ended.count, self._registration.count, timeline.stamp)
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
            self._timeline.run_next()

    def _apply(self, reply: Message) -> None:
        """Apply the commands in turn, each not before its time; time passes until the reply's `now`.

        The scheduler knows the clock as messages round it: what is not later than that is now.
        """
        timeline = self._timeline
        for position, command in enumerate(reply.events):
            if command.timestamp > timeline.stamp:
                timeline.run_until(command.timestamp)
            self._referee.apply(position, command)
        if reply.now > timeline.stamp:
            timeline.run_until(reply.now)

    def _result(self, talk: Talk) -> Result:
        tally = self._ended.tally()
        first, last = self._submissions.joules_at_first, self._jobs.joules_at_last_end
        return Result(
            jobs=tuple(self._ended.records),
            tally=tally,
            host_count=self._stage.machines.compute_count,
            storage_count=self._stage.machines.storages.bit_count(),
            makespan=max((record.finish for record in self._ended.records), default=0.0)
            if tally is None
            else tally.makespan,
            end=self._timeline.now,
            messages=talk.messages,
            host_seconds=self._stage.machines.seconds(),
            joules=max(0.0, last) - max(0.0, first) if last >= 0 else 0.0,
            switch_requests=self._switching.requests,
            host_switches=self._switching.host_switches,
            approximations=tuple(sorted(self._stage.approximations)),
            deciding_seconds=talk.deciding_seconds,
            simulating_seconds=talk.total_seconds() - talk.deciding_seconds,
            trace=None if self._stage.tracer is None else self._stage.tracer.trace,
            lists_rejected=not self._stage.is_v14,
            consumed_joules=last - first,
        )


def _note_foreign_types(library: Library, stage: Stage) -> None:
    """Workload files may use either Batsim's names of profile types; real ones know their own."""
    for shelf in library.shelves.values():
        if any(foreign_name(stage.dialect, profile) for profile in shelf.profiles.values()):
            stage.approximations.add(PRESENT_IN_V14 if stage.is_v14 else FORMER_IN_V4)


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


def _meter(platform: Platform, hosts: Sequence[PlatformHost]) -> Meter:
    models = [read_power_model(platform.source, host) for host in hosts]
    return Meter(models, [host.pstate for host in hosts])
