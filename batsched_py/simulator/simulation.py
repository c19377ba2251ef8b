"""One simulation: time passes, the scheduler is sent what happened, and its commands are applied, to the end.

The story of a run is `Simulation._play`. SIMULATION_BEGINS is put into the outbox, and the sources of jobs and external
events are started. Then a *loop* (three modules in `time`) lets time pass by the event queue and, when it is the
scheduler's turn, asks it by what is in the outbox; the loop gives each command of the reply to the *referee*, which
applies it or reports the rule it breaks. All parts leave events in the outbox and future actions in the queue. When
nothing is left in either, the run is over, or deadlocked. `assembly` makes the parts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from batsched_py.errors import DeadlockError, OptionError, PlatformError
from batsched_py.hostset import HostSet
from batsched_py.metadata.store import JobStore
from batsched_py.model.platform import Platform
from batsched_py.model.workload import Workload
from batsched_py.protocol.batsim5.greeting import Features
from batsched_py.protocol.codec import Message
from batsched_py.protocol.commands import SetResourceState
from batsched_py.protocol.dialects import DIALECTS
from batsched_py.protocol.events import Event, SimulationEnds
from batsched_py.results.progress import ProgressReport, RunProgress, RunStatus
from batsched_py.results.records import JobRecord, Result, UnavailableHosts
from batsched_py.simulator.assembly import Parts, assemble
from batsched_py.simulator.referee.deadlock import describe_deadlock, describe_standing
from batsched_py.simulator.referee.errors import StoppedError
from batsched_py.simulator.referee.idling import IN_VAIN, IdleGuard
from batsched_py.simulator.referee.livelock import MOST_IN_VAIN, LivelockGuard
from batsched_py.simulator.referee.platform_rules import check_roles
from batsched_py.simulator.settings import Settings
from batsched_py.simulator.time.event_queue import RANK_CALL
from batsched_py.simulator.time.instant_loop import InstantLoop, apply_reply
from batsched_py.simulator.time.live_loop import LiveEvents
from batsched_py.simulator.wire.scheduler_link import AnyExchange, DirectExchange, Exchange, SchedulerLink

#: Batsim without any option.
DEFAULTS: Final = Settings()
#: Seconds that a message may take without being noticed: times in messages of Batsim 4 have six decimals.
UNNOTICED: Final = 1e-6
#: Said of an algorithm that compares waits, where messages take none of the time that they take in Batsim.
WAITS: Final = "waits: messages take no time here and up to %.3g ms in Batsim, which may decide between waits"
#: Said of a run whose energy is less than that of jobs which compute: of all that jobs had, in host hours.
IDLE_JOBS: Final = "%.1f of %.1f host hours of jobs were delays, or computed nothing: counted at idle power"
_HOUR: Final = 3600.0
#: Host hours below which that is not worth a line: it would read "0.0 of".
_LEAST_IDLE: Final = 0.05
#: How to simulate it.
_WITH_LATENCY: Final = " (--message-latency)"


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
        live: LiveEvents | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        """PlatformError, WorkloadError or OptionError if this cannot be simulated, in the words of the user's files.

        With a `store` jobs are described there instead of in messages (--enable-redis). `trace` keeps the rows of the
        trace files: machine states, and with energy what was consumed and the pstates. `pass_on` receives the records
        of jobs soon after they end, some at a time, instead of the result, which then has their numbers alone: for runs
        of very many jobs. `live` brings external events while the simulation runs, which does not end before the last.
        `warn` receives a line for what is strange in the run.
        """
        check_roles(platform, settings.roles, settings.master_host)
        if settings.roles:
            platform = platform.with_roles(settings.roles)
        self._source = platform.source
        self._warn, self._live = warn, live is not None
        #: Makes the parts for some settings: Batsim 5 learns some of them from the scheduler.
        self._assemble = partial(assemble, platform, workloads, store=store, trace=trace, pass_on=pass_on, live=live)
        #: None before the run.
        self._link: SchedulerLink | None = None
        #: What the scheduler has asked Batsim 5 for.
        self._asked: Features | None = None
        self._use(self._assemble(settings))

    def _use(self, parts: Parts) -> None:
        self._parts = parts
        self._idling = self._guard(parts)
        self._context, self._queue, self._outbox = parts.context, parts.context.queue, parts.context.outbox
        self._machines, self._store = parts.context.machines, parts.context.store
        self._jobs, self._ended, self._registration = parts.jobs, parts.ended, parts.registration

    def _guard(self, parts: Parts) -> IdleGuard:
        """Return the guard against endless calls; whoever sends live events may always send more."""
        context, jobs = parts.context, parts.jobs

        return IdleGuard(
            0 if self._live else context.settings.max_calls,
            is_due=lambda: context.queue.has_others(RANK_CALL),
            describe=lambda: describe_standing(context, jobs, registering=parts.registration.open),
            warn=self._warn,
        )

    @property
    def records(self) -> Sequence[JobRecord]:
        """The jobs that have ended so far, in order of their ends: all that a run leaves that deadlocks.

        Few of them, or none, if they are passed on.
        """
        return tuple(self._ended.records)

    def records_from(self, number: int) -> Sequence[JobRecord]:
        """Return the jobs that have ended so far, without the first `number` of them."""
        return self._ended.records[number:]

    def result_so_far(self) -> Result | None:
        """Return the result of a run that was broken off, up to where it is; None if no message was answered."""
        return None if self._link is None or not self._link.messages else self._result(self._link)

    @property
    def job_count(self) -> int:
        """Jobs of the workloads, and those that were registered so far."""
        return self._parts.submissions.count + self._registration.count + self._jobs.resubmitted

    def with_latency_told(self, result: Result) -> Result:
        """Return the result of an algorithm that compares waits: it says if Batsim's messages would take time here."""
        settings, seconds = self._context.settings, self._parts.longest_message()
        if settings.message_latency or seconds <= UNNOTICED:
            return result
        line = WAITS % (seconds * 1000) + (_WITH_LATENCY if self._context.generation.waits_for_calls else "")
        return replace(result, approximations=tuple(sorted({*result.approximations, line})))

    def status(self) -> RunStatus:
        """Return where the run stands; to be called between two messages. Takes longer the more jobs wait."""
        unfinished, ended, waiting = self._jobs.unfinished, self._ended.count, self._jobs.count_waiting()
        *_, idle, computing = self._machines.census()
        return RunStatus(
            now=self._queue.stamp,
            total=self.job_count,
            submitted=unfinished + ended,
            waiting=waiting,
            running=unfinished - waiting,
            ended=ended,
            hosts=self._machines.compute_count,
            computing=computing,
            idle=idle,
        )

    def run(
        self,
        exchange: AnyExchange,
        progress: Callable[[RunProgress], None] | None = None,
        clock: Callable[[], float] = time.perf_counter,
        *,
        most_in_vain: int = MOST_IN_VAIN,
    ) -> Result:
        """Play the whole run against `exchange`, the only contact with the scheduler.

        `progress` is called about a hundred times; `clock` measures wall-clock seconds. RefusedError or
        RemoteProtocolError if the scheduler does what makes Batsim abort, DeadlockError if nothing will ever happen
        again although not everything is over, or if `most_in_vain` messages at one instant bring no job on; StoreError
        if the store fails. A PlatformError of a scheduler that only knows the host is raised with the platform's file.
        """
        try:
            self._link = link = SchedulerLink(clock, DIALECTS[self._context.generation.protocol])
            if self._context.generation.greets:
                self._greet(exchange.answer if isinstance(exchange, DirectExchange) else exchange, link)
            return self._play(exchange, link, ProgressReport(progress), LivelockGuard(most_in_vain))
        except PlatformError as error:
            raise PlatformError(error.file or self._source, error.field, error.rule) from error

    def turns(self, clock: Callable[[], float] = time.perf_counter) -> Generator[bytes, bytes, Result]:
        """Play the whole run turn by turn, for a caller who leads: yields each request and is sent its reply.

        The generator returns the result. Errors are those of `run`, and OptionError if messages take time, if external
        events come live, or in protocols v1.4 and v5: those loops cannot be left in the middle.
        """
        loop, link = self._parts.loop, SchedulerLink(clock, DIALECTS[self._context.generation.protocol])
        if not isinstance(loop, InstantLoop) or self._context.generation.greets:
            raise OptionError("messages that take time, and those of Batsim 1.4 and 5, cannot be played turn by turn")
        report, guard, apply = ProgressReport(None), LivelockGuard(MOST_IN_VAIN), self._parts.referee.apply
        self._begin()
        while loop.advance():
            events = self._take_outbox()
            reply = link.read((yield link.write(self._queue.stamp, events)))
            self._note(events, reply, report, guard)
            apply_reply(self._queue, reply, apply)
        reply = link.read((yield link.write(self._queue.stamp, self._last_events())))
        self._obey_last(reply)
        return self._result(link)

    def _play(self, exchange: AnyExchange, link: SchedulerLink, report: ProgressReport, guard: LivelockGuard) -> Result:
        def ask() -> Message:
            """Send what is in the outbox; return the reply."""
            events = self._take_outbox()
            reply = link.ask(self._queue.stamp, events, exchange)
            self._note(events, reply, report, guard)
            return reply

        self._begin()
        try:
            self._parts.loop.run(ask, self._parts.referee.apply)
            events = self._last_events()
        except StoppedError:
            events = [SimulationEnds(self._queue.stamp)]
        self._obey_last(link.ask(self._queue.stamp, events, exchange))
        return self._result(link)

    def _greet(self, exchange: Exchange, link: SchedulerLink) -> None:
        """Greet the scheduler; what it asks for decides how the simulation goes, whatever the settings have."""
        settings = self._context.settings
        self._asked = asked = link.read_hello(exchange(link.greeting(settings.scheduler_config))).features
        wanted = replace(
            settings,
            dynamic_jobs=asked.dynamic_registration,
            acknowledge_dynamic_jobs=asked.acknowledge_dynamic_jobs,
            forward_profiles=asked.forward_profiles_on_job_submission,
            profile_reuse=asked.profile_reuse,
        )
        if wanted != settings:
            self._use(self._assemble(wanted))
        self._jobs.forwards_on_kill = asked.forward_profiles_on_jobs_killed
        if not asked.forward_profiles_on_simulation_begins:
            self._use(replace(self._parts, begins=replace(self._parts.begins, profiles={})))

    def _begin(self) -> None:
        """Put the first event into the outbox, and let the sources put theirs into the queue."""
        begins = self._parts.begins
        if self._store is not None:
            self._store.begin(len(begins.resources) + len(begins.storages))
        self._outbox.append(begins)
        for source in self._parts.sources:
            source.start()

    def _take_outbox(self) -> Sequence[Event]:
        events = tuple(self._outbox)
        self._outbox.clear()
        self._machines.failed_since_request = 0
        return events

    def _note(self, events: Sequence[Event], reply: Message, report: ProgressReport, guard: LivelockGuard) -> None:
        """Note what a request and its reply tell, before the commands are applied."""
        jobs, queue, ended = self._jobs, self._queue, self._ended.count
        if self._store is not None:
            self._store.read(reply.events)
        if jobs.announced or jobs.leaving:
            jobs.forget_ended()
        if queue.now > guard.instant:
            guard.instant = queue.now
        else:
            guard.note(events, ended, jobs.unfinished)
        if events and type(events[0]) in IN_VAIN:
            self._idling.note(queue.stamp, events, reply)
        else:
            self._idling.count = 0
        if ended >= report.next:
            report.call(ended, self.job_count, queue.stamp)

    def _last_events(self) -> Sequence[Event]:
        """Return the events of the last request. DeadlockError if something is left that nobody will bring on."""
        if self._jobs.unfinished or self._registration.open:
            raise DeadlockError(describe_deadlock(self._context, self._jobs, registering=self._registration.open))
        return [*self._outbox, SimulationEnds(self._queue.stamp)]

    def _obey_last(self, reply: Message) -> None:
        """Obey the last reply (v1.4): Batsim still switches hosts, until they are done, and ignores the rest."""
        for position, command in enumerate(reply.events):
            if isinstance(command, SetResourceState):
                self._parts.referee.apply(position, command)
        while self._machines.switching:
            self._queue.run_next()

    def _idle_jobs(self) -> Sequence[str]:
        """Return a line if energy was counted, and jobs did nothing that their hosts would be charged for."""
        meter = self._context.meter
        if meter is None or not self._context.settings.energy:
            return ()
        idle = meter.held - meter.computed
        return (IDLE_JOBS % (idle / _HOUR, meter.held / _HOUR),) if idle >= _LEAST_IDLE * _HOUR else ()

    def _result(self, link: SchedulerLink) -> Result:
        context, ended, switching, tally = self._context, self._ended, self._parts.switching, self._ended.tally()
        first, last = self._parts.submissions.joules_at_first, self._jobs.joules_at_last_end
        latest = max((record.finish for record in ended.records), default=0.0)
        return Result(
            jobs=tuple(ended.records),
            tally=tally,
            host_count=self._machines.compute_count,
            storage_count=self._machines.storages.bit_count(),
            makespan=latest if tally is None else tally.makespan,
            end=self._queue.now,
            messages=link.messages,
            host_seconds=self._machines.seconds(),
            joules=max(0.0, last) - max(0.0, first) if last >= 0 else 0.0,
            switch_requests=switching.requests,
            host_switches=switching.host_switches,
            approximations=tuple(sorted({*context.approximations, *self._idle_jobs()})),
            deciding_seconds=link.deciding_seconds,
            simulating_seconds=link.total_seconds() - link.deciding_seconds,
            trace=None if context.tracer is None else context.tracer.trace,
            files=context.generation.files,
            consumed_joules=last - first,
            unavailable=tuple(UnavailableHosts(time, HostSet(hosts)) for time, hosts in self._machines.outages),
            slowed=tuple(ended.slowed),
            features=self._asked,
        )
