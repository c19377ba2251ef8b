"""A simulation: it advances time, sends events to the scheduler, and applies its commands, until the end.

`Simulation._play` is the sequence of a run. It puts SIMULATION_BEGINS into the outbox, and starts the sources of jobs
and external events. Then a *loop* (three modules in `time`) advances time by the event queue, and sends the outbox to
the scheduler when it is its turn; the loop passes each command of the reply to the *referee*, which applies it or
reports the broken rule. All parts put events into the outbox and future actions into the queue. When both are empty,
the run has ended, or is deadlocked. `assembly` creates the parts.
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
from batsched_py.model.features import Features
from batsched_py.model.platform import Platform
from batsched_py.model.settings import DEFAULTS, Settings
from batsched_py.model.workload import Workload
from batsched_py.protocol.codec import Message
from batsched_py.protocol.commands import SetResourceState
from batsched_py.protocol.dialects import DIALECTS
from batsched_py.protocol.events import Event, SimulationEnds
from batsched_py.results.progress import ProgressReport, RunProgress, RunStatus
from batsched_py.results.records import JobRecord, Result, UnavailableHosts
from batsched_py.simulator.assembly import SimulationParts, assemble
from batsched_py.simulator.referee.deadlock import describe_deadlock, describe_standing
from batsched_py.simulator.referee.errors import StoppedError
from batsched_py.simulator.referee.idling import IN_VAIN, IdleGuard
from batsched_py.simulator.referee.livelock import MOST_IN_VAIN, LivelockGuard
from batsched_py.simulator.time.event_queue import RANK_CALL
from batsched_py.simulator.time.instant_loop import InstantLoop, apply_reply
from batsched_py.simulator.time.live_loop import LiveEvents
from batsched_py.simulator.wire.scheduler_link import AnyExchange, DirectExchange, Exchange, SchedulerLink

#: Maximum travel time of messages in seconds without an effect: times in messages of Batsim 4 have six decimals.
UNNOTICED: Final = 1e-6
#: Note for algorithms that compare waits, in simulations without Batsim's message latency.
WAITS: Final = "waits: messages take no time here and up to %.3g ms in Batsim, which may decide between waits"
#: Note for runs whose energy is too low because jobs did not compute: idle and total host hours of jobs.
IDLE_JOBS: Final = "%.1f of %.1f host hours of jobs were delays, or computed nothing: counted at idle power"
_HOUR: Final = 3600.0
#: Host hours below which the note is omitted: it would read "0.0 of".
_LEAST_IDLE: Final = 0.05
#: The option that simulates message latency.
_WITH_LATENCY: Final = " (--message-latency)"


class Simulation:
    """Batsim's role in one run: construct it, then call `run` once."""

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
        """Assemble the parts; PlatformError, WorkloadError or OptionError if the inputs cannot be simulated.

        With a `store`, it contains the descriptions of jobs instead of messages (--enable-redis). `trace` records the
        rows of the trace files: machine states, and with energy accounting, consumption and pstates. For very large
        runs, `pass_on` receives batches of records soon after jobs end, and the result contains only their tally.
        `live` provides external events during the simulation, which does not end before the last one. `warn` receives
        warnings.
        """
        self._source = platform.source
        self._warn, self._live = warn, live is not None
        #: Creates the parts for given settings: the scheduler determines some of them for Batsim 5.
        self._assemble = partial(assemble, platform, workloads, store=store, trace=trace, pass_on=pass_on, live=live)
        #: None before the run.
        self._link: SchedulerLink | None = None
        #: What counts the messages of a run; None before it.
        self._counters: tuple[ProgressReport, LivelockGuard] | None = None
        #: Features that the scheduler has requested from Batsim 5.
        self._asked: Features | None = None
        self._use(self._assemble(settings))

    def _use(self, parts: SimulationParts) -> None:
        self._parts = parts
        self._idling = self._guard(parts)
        self._context, self._queue, self._outbox = parts.context, parts.context.queue, parts.context.outbox
        self._machines, self._store = parts.context.machines, parts.context.store
        self._jobs, self._ended, self._registration = parts.jobs, parts.ended, parts.registration

    def _guard(self, parts: SimulationParts) -> IdleGuard:
        """Return the guard against endless calls, which is disabled for live events: more may always follow."""
        context, jobs = parts.context, parts.jobs

        return IdleGuard(
            0 if self._live else context.settings.max_calls,
            is_due=lambda: context.queue.has_others(RANK_CALL),
            describe=lambda: describe_standing(context, jobs, registering=parts.registration.open),
            warn=self._warn,
        )

    @property
    def records(self) -> Sequence[JobRecord]:
        """The records of jobs that have ended so far, in order of their ends: the results of a deadlocked run.

        If they are passed on, only those of the current batch.
        """
        return tuple(self._ended.records)

    def records_from(self, number: int) -> Sequence[JobRecord]:
        """Return the records of jobs that have ended so far, without the first `number`."""
        return self._ended.records[number:]

    def result_so_far(self) -> Result | None:
        """Return the partial result of an aborted run; None if no message was answered."""
        return None if self._link is None or not self._link.messages else self._result(self._link)

    @property
    def job_count(self) -> int:
        """The number of jobs of the workloads, and of those registered so far."""
        return self._parts.submissions.count + self._registration.count + self._jobs.resubmitted

    def with_latency_note(self, result: Result) -> Result:
        """Return the result of an algorithm that compares waits, with a note if Batsim's messages would take time."""
        settings, seconds = self._context.settings, self._parts.longest_message()
        if settings.message_latency or seconds <= UNNOTICED:
            return result
        line = WAITS % (seconds * 1000) + (_WITH_LATENCY if self._context.generation.waits_for_calls else "")
        return replace(result, approximations=tuple(sorted({*result.approximations, line})))

    def status(self) -> RunStatus:
        """Return the status of the run between two messages, in a time that grows with the number of waiting jobs."""
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
        """Simulate the whole run with `exchange`, the only contact with the scheduler.

        `progress` is called about a hundred times; `clock` measures wall-clock seconds. RefusedError or
        RemoteProtocolError where Batsim would abort because of the scheduler; DeadlockError if no event is pending
        before the end, or after `most_in_vain` messages at one instant without progress of a job; StoreError if the
        store fails. A PlatformError of a scheduler that only knows the host is raised with the platform's file.
        """
        try:
            self._link = link = SchedulerLink(clock, DIALECTS[self._context.generation.protocol])
            if self._context.generation.greets:
                self._greet(exchange.answer if isinstance(exchange, DirectExchange) else exchange, link)
            self._counters = report, guard = ProgressReport(progress), LivelockGuard(most_in_vain)
            return self._play(exchange, link, report, guard)
        except PlatformError as error:
            raise PlatformError(error.file or self._source, error.field, error.rule) from error

    def turns(self, clock: Callable[[], float] = time.perf_counter) -> Generator[bytes, bytes, Result]:
        """Simulate the run turn by turn under the caller's control: yield each request and receive its reply.

        The generator returns the result. Errors are those of `run`, and OptionError with message latency, with live
        external events, or in protocols v1.4 and v5: those loops cannot be interrupted.
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
            """Send the outbox; return the reply."""
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
        """Greet the scheduler; the features it requests override the settings."""
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
        """Put the first event into the outbox, and start the sources, which put events into the queue."""
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
        """Process a request and its reply before the commands are applied: store, removed jobs, guards, progress."""
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
        """Return the events of the last request. DeadlockError if jobs have not ended, or registration is open."""
        if self._jobs.unfinished or self._registration.open:
            raise DeadlockError(describe_deadlock(self._context, self._jobs, registering=self._registration.open))
        return [*self._outbox, SimulationEnds(self._queue.stamp)]

    def _obey_last(self, reply: Message) -> None:
        """Apply the last reply (v1.4): Batsim still switches hosts until they are done, and ignores other commands."""
        for position, command in enumerate(reply.events):
            if isinstance(command, SetResourceState):
                self._parts.referee.apply(position, command)
        while self._machines.switching:
            self._queue.run_next()

    def _idle_jobs(self) -> Sequence[str]:
        """Return a line if energy was counted, and jobs spent time without computing."""
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
            slowed=None if ended.slowed is None else tuple(ended.slowed),
            features=self._asked,
            capacity=self._parts.capacities.machine,
        )
