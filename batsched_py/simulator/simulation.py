"""One simulation: time passes, the scheduler is sent what happened, and its commands are applied, to the end.

The story of a run is `Simulation._play`. SIMULATION_BEGINS is put into the outbox, and the sources of jobs and external
events are started. Then a *loop* (three modules in `time`) lets time pass by the event queue and, when it is the
scheduler's turn, calls `_ask`, which sends the outbox; the loop gives each command of the reply to the *referee*, which
applies it or reports the rule it breaks. All parts leave events in the outbox and future actions in the queue. When
nothing is left in either, the run is over, or deadlocked. `assembly` makes the parts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from batsched_py.errors import DeadlockError, PlatformError
from batsched_py.metadata.store import JobStore
from batsched_py.model.platform import Platform
from batsched_py.model.workload import Workload
from batsched_py.protocol.codec import Message
from batsched_py.protocol.commands import SetResourceState
from batsched_py.protocol.dialects import DIALECTS
from batsched_py.protocol.events import SimulationEnds
from batsched_py.simulator.assembly import assemble
from batsched_py.simulator.progress import ProgressReport, RunProgress, RunStatus
from batsched_py.simulator.records import JobRecord, Result
from batsched_py.simulator.referee.deadlock import describe_deadlock
from batsched_py.simulator.referee.livelock import MOST_IN_VAIN, LivelockGuard
from batsched_py.simulator.settings import Settings
from batsched_py.simulator.time.live_loop import LiveEvents
from batsched_py.simulator.wire.scheduler_link import Exchange, SchedulerLink

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
        live: LiveEvents | None = None,
    ) -> None:
        """PlatformError, WorkloadError or OptionError if this cannot be simulated, in the words of the user's files.

        With a `store` jobs are described there instead of in messages (--enable-redis). `trace` keeps the rows of the
        trace files: machine states, and with energy what was consumed and the pstates. `pass_on` receives the records
        of jobs soon after they end, some at a time, instead of the result, which then has their numbers alone: for runs
        of very many jobs. `live` brings external events while the simulation runs, which does not end before the last.
        """
        if settings.roles:
            platform = platform.with_roles(settings.roles)
        self._source = platform.source
        self._parts = parts = assemble(
            platform, workloads, settings, store=store, trace=trace, pass_on=pass_on, live=live
        )
        self._context, self._queue, self._outbox = parts.context, parts.context.queue, parts.context.outbox
        self._machines, self._store = parts.context.machines, parts.context.store
        self._jobs, self._ended, self._registration = parts.jobs, parts.ended, parts.registration

    @property
    def records(self) -> Sequence[JobRecord]:
        """The jobs that have ended so far, in order of their ends: all that a run leaves that deadlocks.

        Few of them, or none, if they are passed on.
        """
        return tuple(self._ended.records)

    def records_from(self, number: int) -> Sequence[JobRecord]:
        """Return the jobs that have ended so far, without the first `number` of them."""
        return self._ended.records[number:]

    @property
    def job_count(self) -> int:
        """Jobs of the workloads, and those that were registered so far."""
        return self._parts.submissions.count + self._registration.count + self._jobs.resubmitted

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
        exchange: Exchange,
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
            link = SchedulerLink(exchange, clock, DIALECTS[self._context.generation.protocol])
            return self._play(link, ProgressReport(progress), LivelockGuard(most_in_vain))
        except PlatformError as error:
            raise PlatformError(error.file or self._source, error.field, error.rule) from error

    def _play(self, link: SchedulerLink, report: ProgressReport, guard: LivelockGuard) -> Result:
        begins = self._parts.begins
        if self._store is not None:
            self._store.begin(len(begins.resources) + len(begins.storages))
        self._outbox.append(begins)
        for source in self._parts.sources:
            source.start()
        self._parts.loop.run(partial(self._ask, link, report, guard), self._parts.referee.apply)
        if self._jobs.unfinished or self._registration.open:
            raise DeadlockError(describe_deadlock(self._context, self._jobs, registering=self._registration.open))
        now = self._queue.stamp
        self._obey_last(link.request(now, [*self._outbox, SimulationEnds(now)]))
        return self._result(link)

    def _ask(self, link: SchedulerLink, report: ProgressReport, guard: LivelockGuard) -> Message:
        """Send what is in the outbox; return the reply."""
        jobs, queue, ended = self._jobs, self._queue, self._ended.count
        events = tuple(self._outbox)
        self._outbox.clear()
        reply = link.request(queue.stamp, events)
        if self._store is not None:
            self._store.read(reply.events)
        if jobs.announced or jobs.leaving:
            jobs.forget_ended()
        if queue.now > guard.instant:
            guard.instant = queue.now
        else:
            guard.note(events, ended, jobs.unfinished)
        if ended >= report.next:
            report.call(ended, self.job_count, queue.stamp)
        return reply

    def _obey_last(self, reply: Message) -> None:
        """Obey the last reply (v1.4): Batsim still switches hosts, until they are done, and ignores the rest."""
        for position, command in enumerate(reply.events):
            if isinstance(command, SetResourceState):
                self._parts.referee.apply(position, command)
        while self._machines.switching:
            self._queue.run_next()

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
            approximations=tuple(sorted(context.approximations)),
            deciding_seconds=link.deciding_seconds,
            simulating_seconds=link.total_seconds() - link.deciding_seconds,
            trace=None if context.tracer is None else context.tracer.trace,
            lists_rejected=context.generation.lists_rejected,
            consumed_joules=last - first,
        )
