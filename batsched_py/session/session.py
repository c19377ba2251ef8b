"""The decision process without I/O: a request's bytes in, the reply's bytes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from typing import Any, Final, TypeVar

import batsched_py
from batsched_py.errors import (
    InvariantError,
    LocalProtocolError,
    OptionError,
    PlatformError,
    RemoteProtocolError,
    StoreError,
)
from batsched_py.hostset import HostSet
from batsched_py.metadata.store import JobStore
from batsched_py.model.features import NO_FEATURES, Features
from batsched_py.model.job import Job
from batsched_py.model.table import Table
from batsched_py.planning.wait_time import TOLERANCE
from batsched_py.protocol.batsim5.greeting import Hello, is_greeting
from batsched_py.protocol.codec import Message, Written
from batsched_py.protocol.commands import Command
from batsched_py.protocol.conversation import DecisionSide, Turn
from batsched_py.protocol.dialect import Dialect
from batsched_py.protocol.events import Config, Event, SimulationBegins
from batsched_py.reading.faults import FieldError
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.checks import idle_fault, staging_fault
from batsched_py.scheduling.host_queries import MEMBER
from batsched_py.scheduling.options import plain_options
from batsched_py.scheduling.plan import MOST_REPORTED, Plan
from batsched_py.scheduling.view import View
from batsched_py.session.clock import ZERO, DecisionClock, postponed
from batsched_py.session.decision_log import DecisionLog, PassOn
from batsched_py.session.demands import check_sharing, demand_refusal
from batsched_py.session.endless import EndlessTasks
from batsched_py.session.error_context import failure, in_short
from batsched_py.session.ignored_constraints import constraint_hint, misdated_line
from batsched_py.session.option_values import Origin
from batsched_py.session.periodic_emulation import RecurringCalls, as_received
from batsched_py.session.placed_jobs import PlacedJobs
from batsched_py.session.questions import QueryAnswers
from batsched_py.session.releases import Releases
from batsched_py.session.requests import Requests
from batsched_py.session.run_tables import run_tables
from batsched_py.session.scheduler_factory import (
    check_needs,
    make_configured,
    make_scheduler,
    needed_features,
    read_options,
    sent_options,
)
from batsched_py.session.stored_jobs import deposit, describe, unread
from batsched_py.session.wait_report import deadlock_line, waiting_lines
from batsched_py.session.withdrawals import Withdrawals
from batsched_py.state.state import State
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted, seconds

# The state machine of a run without sockets, files or threads: bytes in, bytes out. The transport (ZeroMQ, a simulator
# in this process, a recording) owns the loop, so that every test can play a run, and a recording replays exactly.
#
# A message passes the same steps each time: read and check it, advance the clock, apply its events to the state, call
# the algorithm, complete the decision (answers, jobs of the algorithm's own), write the reply. Between two calls the
# state has all events and all verbs of the past, since verbs are booked when they are called (ADR 3), and nothing is
# sent that the Plan has not checked. There is one set of books: a check needs no copy of the state, but a decision
# cannot be taken back. After an error the books contain half of a decision, so the session can only refuse: `refusal`
# makes Batsim stop, which otherwise waits without limit (ADR 7).
#
# What the algorithm raises is an AlgorithmError with the message that it was deciding on, even for SystemExit or a
# cancellation: Batsim must receive its last reply whatever an algorithm does.
#
# Jobs that can never run are rejected before the algorithm sees them. The end of registration is announced in the name
# of algorithms that never submit jobs, and of no others: an algorithm that forgot to ask for a call looks like one that
# is done (ADR 10).
#
# `answer` exists in two halves (`receive`, `reply`) for environments that decide in between, and in a third form for
# messages of a simulator in this process, which are not written unless they are recorded: 0.8 of the time of a run (ADR
# 40). A message costs 10 us with `fcfs` and 14 us with `easy`, 5 and 6 us compiled, so rare features are attributes
# that are None, tested once for each message.

#: The name in the answer to Batsim 5's greeting, before that of the algorithm.
PROGRAM: Final = "batsched-py"
#: A possible reason for a crash of Batsim 5 after a request for all profiles.
UNUSED_PROFILE: Final = (
    "Batsim 5.0.0-rc2 crashes here if the workload has a profile that no job uses: 'batsched-py convert' drops those"
)
#: Warning about hosts in this state in SIMULATION_BEGINS.
_COMPUTING: Final = "hosts %s compute when the simulation begins: no event will report their end, so they count as free"
#: The message before the first request.
_NONE: Final = Message(0.0, ())
#: A reply, encoded or not, depending on the method that requests it.
_Reply = TypeVar("_Reply", bytes, bytes | Message)


class Session:
    """One run of one algorithm: decode, apply, decide, check, encode.

    Args:
        scheduler: the algorithm's class.
        options: its options, as text or as JSON values; they take precedence over those of a recording and of Batsim.
        recorded: options of a recording, which take precedence over those in Batsim's `sched-config`. Both may choose
            only among built-in values: a function, file or path in them is an OptionError.
        clock: how long decisions take in simulated time.
        open_store: opens the store of job descriptions that Batsim does not send; called once, if its configuration has
            Redis.
        warn: called with each warning, one line; None to ignore warnings.
        limits: maximum size of a message.
        requests: True if external events may submit and cancel jobs (see `session.requests`).
        call_every: maximum interval of calls, in simulated seconds, as long as these events may arrive.
        log: called with batches of rows of holds and promises; None for no log.
        features: features of Batsim 5 to request in addition to the algorithm's needs. These are registration and the
            reuse of profiles if the algorithm or events submit jobs; in that case, or if it `needs_profiles`, all
            profiles at the beginning, else each with its job.
        compute_sharing: True if several jobs may run on one host of Batsim 5, which does not check it; earlier versions
            set it themselves.

    Raises OptionError at once if the options are wrong.
    """

    def __init__(
        self,
        scheduler: type[Scheduler[Any]],
        options: Mapping[str, Any] | None = None,
        *,
        recorded: Mapping[str, Any] | None = None,
        clock: DecisionClock = ZERO,
        open_store: Callable[[Config], JobStore] | None = None,
        warn: Callable[[str], None] | None = None,
        limits: Limits = LIMITS,
        requests: bool = False,
        call_every: float | None = None,
        log: PassOn | None = None,
        features: Features = NO_FEATURES,
        compute_sharing: bool = False,
    ) -> None:
        self._takes_requests, self._call_every = requests, call_every
        self._features, self._sharing = features, compute_sharing
        #: True if Batsim 5 was asked for all profiles at the beginning.
        self._asks_for_all = False
        #: The requests of external events; None if these are not allowed.
        self._requests: Requests | None = None
        self._class = scheduler
        #: Values of the options that are known before the first message of Batsim.
        self._values = {
            **read_options(scheduler, recorded or {}, Origin.PEER),
            **read_options(scheduler, options or {}, Origin.USER),
        }
        #: The same options as given, with texts for functions and files.
        self._texts = {**(recorded or {}), **(options or {})}
        self._clock, self._write_warning, self._open_store = clock, warn, open_store
        self._store: JobStore | None = None
        self._conversation = DecisionSide(warn, limits)
        self._state = State(holds=not scheduler.heeds_conditions)
        self._log = None if log is None else DecisionLog(self._state, warn, log)
        #: The algorithm's output: its promises, and why jobs wait.
        self.plan: Final = Plan(self._state, warn) if self._log is None else self._log.plan
        self._releases = Releases(self._state, self.plan)
        #: The algorithm's input.
        self.view: Final = View(self._state)
        self._withdrawals = Withdrawals(self._state, self.view, self.plan)
        self._scheduler = make_scheduler(scheduler, self._values)
        #: The first event of the run; None before it.
        self._begins: SimulationBegins | None = None
        #: True once the algorithm's `setup` was called.
        self._ready = False
        #: Places of jobs, if the peer does not record them.
        self.placed: Final = PlacedJobs(self._state)
        self._recurring = RecurringCalls(self._state, self.plan)
        #: Warning for the first job with a constraint on hosts; None if none is needed.
        self._hint: str | None = None
        #: Warning for the first job whose `subtime` is not its submission time; "" as long as there is none.
        self._misdated = ""
        #: The latest request, and the wall-clock time of its arrival.
        self._message = _NONE
        #: True from a request to its reply.
        self._deciding, self._began = False, 0.0
        #: True once the last reply was written.
        self.over = False
        #: Requests answered.
        self.messages = 0

    def warn_of_endless_tasks(self) -> None:
        """Enable warnings about orders for which real Batsim may not terminate, before they are sent."""
        self.plan.watch = EndlessTasks(self._state, self.plan.warn)

    @property
    def now(self) -> float:
        """The simulated time of the latest request."""
        return self._conversation.now

    @property
    def deciding(self) -> str:
        """A description of the decision in progress, for other threads; "" between two messages."""
        message = self._message
        return f"t={seconds(message.now)}: {self._class.name} on {in_short(message)}" if self._deciding else ""

    @property
    def dialect(self) -> Dialect:
        """The protocol's version, decided at SIMULATION_BEGINS."""
        return self._conversation.dialect

    @property
    def scheduler(self) -> Scheduler[Any]:
        """The algorithm, which is made anew at SIMULATION_BEGINS if Batsim has options for it."""
        return self._scheduler

    @property
    def options(self) -> dict[str, Any]:
        """The options that the algorithm runs with, defaults included; texts for functions and files."""
        return plain_options(self._scheduler.options, self._texts)

    @property
    def explicit_options(self) -> tuple[str, ...]:
        """The names of the options that differ from their defaults, in their order."""
        return tuple(name for name in self.options if name in self._texts)

    @property
    def rejections(self) -> Mapping[str, str]:
        """Job id -> why it was rejected."""
        return self.plan.rejections

    @property
    def submitted(self) -> int:
        """Number of jobs submitted so far, including the algorithm's own."""
        return len(self._state.known) - len(self._state.registered)

    @property
    def ended(self) -> int:
        """Number of jobs that ran and have ended, without rejected jobs."""
        state = self._state
        waiting = len(state.queue) + len(state.held)
        return self.submitted - waiting - len(state.running) - len(state.control) - len(self.rejections)

    def answer(self, request: bytes) -> bytes:
        """Return the reply to one request.

        Raises RemoteProtocolError (Batsim broke the protocol), OptionError (its `sched-config` is wrong,
        or an option does not suit the platform), PlatformError (the algorithm cannot read a host's description),
        AlgorithmError (the algorithm raised or planned the impossible; see `error_context`), LocalProtocolError or
        InvariantError (a defect of batsched-py). After an error send `refusal`, or Batsim waits forever.
        """
        if self._conversation.turn is Turn.BEFORE and is_greeting(request):
            self.messages += 1
            return self._conversation.greet(request, self._hello(), compute_sharing=self._sharing)
        self._take(self._conversation.receive(request))
        return self._reply(self._conversation.reply)

    def answer_unwritten(self, request: Message) -> bytes | Message:
        """Answer an unencoded request of a simulator in this process, with the errors of `answer`.

        The reply is not encoded either, if encoding would not change it. The first request must be encoded.
        """
        self._conversation.receive_unwritten(request)
        self._take(request)
        return self._reply(self._conversation.reply_unwritten)

    def receive(self, request: bytes) -> None:
        """Receive a request and let the algorithm decide: the first half of `answer`, with its errors.

        Between the halves, `decide_again` may call the algorithm again. A greeting has no halves.
        """
        self._take(self._conversation.receive(request))

    def _take(self, message: Message) -> None:
        conversation, wall = self._conversation, self._clock.wall
        self._message, self._deciding = message, True
        self._began = wall() if wall is not None else 0.0
        self._state.advance(message.now)
        self.plan.begin(message.now + self._clock.fixed)
        if self._store is not None:
            self._message = message = self._with_stored(message, self._store)
        if self._state.periodic and self._recurring.emulates:
            self._message = message = self._recurring.named(message)
        self._apply(message)
        if conversation.turn is Turn.LAST_REPLY:
            self._end(message)
        elif self._state.stopped:
            self.plan.wind_up()
        else:
            self._attempt(self._decide)

    def decide_again(self) -> None:
        """Call the algorithm once more for the received request, after it has got more information. AlgorithmError.

        Do not call this for the last request, which needs no decision.
        """
        self._attempt(self._decide_only)

    def hand_over(self, successor: Scheduler[Any]) -> None:
        """Let another algorithm, which is set up, decide from the next message on: for it, all waiting jobs arrive."""
        self._class, self._scheduler, self._state.arriving = type(successor), successor, [*self._state.queue]
        if self._requests is not None:
            self._requests.scheduler = successor

    def reply(self) -> bytes:
        """Return the reply to the received request: the second half of `answer`, with its errors."""
        return self._reply(self._conversation.reply)

    def _reply(self, write: Callable[[float, Sequence[Command], Written], _Reply]) -> _Reply:
        message, plan, wall, conversation = self._message, self.plan, self._clock.wall, self._conversation
        ends = conversation.turn is Turn.LAST_REPLY
        if not ends:
            self._complete(message)
        if self._log is not None:
            self._log.note(message.events, last=ends)
        now = plan.timestamp
        commands: Sequence[Command] = plan.commands
        if self._state.rooms is not None and not self._state.counts_rooms:
            self.placed.note(commands)
        if wall is not None:
            now = message.now + max(0.0, wall() - self._began)
            commands = [postponed(command, now) for command in commands]
        if self._store is not None:
            commands = deposit(commands, self._store, with_profiles=conversation.dialect.is_v14)
        try:
            reply = write(now, commands, plan.written)
        except LocalProtocolError as error:
            circumstances = f"t={seconds(message.now)}: {self._class.name} answering {in_short(message)}"
            raise LocalProtocolError(error.path, f"{error.rule} ({circumstances})") from error
        self.over, self._deciding = ends, False
        self.messages += 1
        return reply

    def refusal(self, error: BaseException) -> bytes:
        """Return the reply to send after `answer` has raised: it stops Batsim; after SIMULATION_ENDS it is empty."""
        return self._conversation.refusal(str(error))

    @property
    def idle(self) -> bool:
        """True if no job waits or runs, and only external events can submit jobs."""
        state = self._state
        waiting = state.queue or state.held.jobs
        return state.static_over and not (waiting or state.running or state.control or state.registered)

    def waiting(self) -> Sequence[str]:
        """Return a line for each waiting job: its request, and the algorithm's reason why it waits.

        The first line is another one if jobs may still be registered, which keeps Batsim from ending the run.
        """
        return waiting_lines(self._state, self.plan.holds, self._class.name)

    def deadlock(self) -> str:
        """Explain a possible deadlock of Batsim from the state; "" if there is none.

        Real Batsim closes the connection without a message in a deadlock.
        """
        if self._asks_for_all and not self._ready:
            return UNUSED_PROFILE
        over = self.over or not self.messages or not (self._state.all_submitted or self.dialect.is_v14)
        return "" if over else deadlock_line(self._state, self.waiting(), self.now)

    def end_log(self) -> None:
        """Pass on the remaining log rows of a failed run: running and waiting jobs are unfinished."""
        if self._log is not None and not self.over:
            self._log.note((), last=True)

    def tables(self) -> tuple[Table, ...]:
        """Return the algorithm's tables of the run; AlgorithmError if it fails or a table cannot be written."""
        return run_tables(self._scheduler, self.view) if self._ready else ()

    def live_tables(self) -> Sequence[Table]:
        """Return the algorithm's tables of the current state."""
        return tuple(self._scheduler.live_tables(self.view)) if self._ready else ()

    @property
    def postponed(self) -> Set[object]:
        """The ids of the jobs whose requested changes wait until Batsim has submitted the jobs."""
        return self._requests.postponed if self._requests is not None else frozenset()

    def check_request(self, kind: str, members: Mapping[str, Any], now: float) -> object:
        """Return the algorithm's reading of an external event, if any, after checking that it accepts the event.

        InputError if the algorithm would refuse the event, LookupError if the kind is unsupported.
        """
        return self._scheduler.check_request(kind, members, now)

    def forget_message(self) -> None:
        """Forget the latest message and its reply, between two messages: they are no part of the state."""
        self._message = _NONE
        self.plan.begin(self.plan.timestamp)

    def check(self) -> None:
        """Raise InvariantError if the state is inconsistent."""
        self._state.check()

    def _hello(self) -> Hello:
        """Return the answer to Batsim 5's greeting: name, version and the features that the algorithm needs."""
        features = needed_features(self._class, self._features, takes_requests=self._takes_requests)
        self._asks_for_all = features.forward_profiles_on_simulation_begins
        return Hello(f"{PROGRAM} {self._class.name}", batsched_py.__version__, features)

    def _with_stored(self, message: Message, store: JobStore) -> Message:
        """Fill in the jobs, profiles and answers that Batsim keeps in Redis."""
        forwarded = self._state.config.profiles_forwarded or self._conversation.dialect.is_v14
        return Message(message.now, tuple(describe(message.events, store, with_profiles=forwarded)))

    def _apply(self, message: Message) -> None:
        applied = 0
        try:
            for event in message.events:
                self._state.apply(event)
                applied += 1
        except FieldError as error:
            path = f"events[{applied}].data.{displayed(error.path)}"
            raise RemoteProtocolError(path, f"{error.rule} (t={seconds(message.now)})") from None
        if self._state.held.failures:
            self._state.held.settle_failures(message.now)
        if not self._ready:
            self._begin(message.events[0])
        for answer in self._state.unread:
            self._warn(unread(answer))
        for job_id in self._state.cancelled:
            self.plan.withdraw_promise(job_id)

    def _begin(self, event: SimulationBegins) -> None:
        """Set up what depends on SIMULATION_BEGINS: dialect, store, and the algorithm with Batsim's options."""
        self._begins = event
        self.plan.dialect = self._conversation.dialect
        if event.config.redis:
            if self._open_store is None:
                raise StoreError("Batsim keeps its jobs in Redis, and this session was given no way to read them")
            self._store = self._open_store(event.config)
        if computing := HostSet.from_ids(host.id for host in event.resources if host.state == "computing"):
            self._warn(_COMPUTING % computing)
        if sent := sent_options(event.config, self._class, self._warn):
            self._scheduler = make_configured(self._class, sent, self._values)
            self._texts = {**sent, **self._texts}
        check_needs(self._scheduler, event.config, self.view)
        if self._takes_requests:
            self._requests = Requests(self._scheduler, self._state, self.view, self.plan, call_every=self._call_every)
            # Batsim 5 does not announce the last job; a site submits its own.
            if self._call_every is None and not event.extra.get("external_event_lists", True):
                self._state.close_requests()

    def _warn(self, text: str) -> None:
        if self._write_warning is not None:
            self._write_warning(text)

    def _attempt(self, work: Callable[[], None]) -> None:
        """Run code of the algorithm; AlgorithmError, with the time and the events, if it fails."""
        try:
            work()
        # It may refuse an option for this platform, or fail to read a host's description.
        except (InvariantError, OptionError, PlatformError):
            raise
        # Without this, an algorithm that exits, is cancelled or "skipped" would leave Batsim without its last reply.
        except BaseException as error:
            raise failure(self._class.name, self._message, error) from error

    def _decide(self) -> None:
        events, view, scheduler = self._message.events, self.view, self._scheduler
        if not self._ready:
            self._set_up()
        if self._requests is not None:
            self._requests.take(events)
        if self._state.cancellations.pending:
            self._withdrawals.before_decision(scheduler)
        if self._state.held.jobs:
            self._releases.before_decision()
        if self._state.arrived:
            self._admit(self._state.arrived)
        if scheduler.observes:
            self._observe(events)
        scheduler.decide(view, self.plan)
        if self._state.held.jobs:
            self._decide_on_released()
        if self._state.cancellations.pending:
            self._withdrawals.after_decision()

    def _decide_on_released(self) -> None:
        """Let the algorithm decide on jobs that its own decisions release, until there are no more."""
        while self._releases.after_decision():
            self._admit(self._state.arrived)
            self._scheduler.decide(self.view, self.plan)

    def _observe(self, events: Sequence[Event]) -> None:
        dialect, now = self.dialect, self._message.now
        for event in events:
            self._scheduler.observe(as_received(event, dialect, now), self.view)

    def _decide_only(self) -> None:
        self._scheduler.decide(self.view, self.plan)
        if self._state.held.jobs:
            self._decide_on_released()

    def _complete(self, message: Message) -> None:
        """Complete a message after its last decision."""
        if self._requests is not None:
            self._attempt(self._requests.finish)
        if self._state.arriving:  # its own jobs, which Batsim does not submit: there may be no later message
            self._attempt(partial(self._admit, self._state.arriving))
        if self._state.periodic or self._state.probes:
            self._recurring.renew()
        if self._state.asked:
            assert self._begins is not None  # noqa: S101  # no other event comes before it
            answers = QueryAnswers(
                self._scheduler, self.view, self.plan, self._refusal, begins=self._begins, state=self._state
            )
            answers.answer(self._state.asked, message)

    def _set_up(self) -> None:
        """Set up the algorithm; finish registration if neither it nor external events submit jobs."""
        self._ready = True
        self._hint = constraint_hint(self._scheduler)
        self._state.hosts.mixes = self._scheduler.counts_shares and self._state.compute_sharing
        self._scheduler.setup(self.view)
        submits = self._class.needs_dynamic_jobs or self._class.uses_dynamic_jobs
        if self._state.registration_open and not submits and self._requests is None:
            self.plan.finish_registration()

    def _end(self, message: Message) -> None:
        """Show the algorithm the last message: in v1.4 it contains the ends of the last jobs, but needs no decision."""
        if len(self.rejections) > MOST_REPORTED:
            self._warn(f"{len(self.rejections)} jobs were rejected; the first {MOST_REPORTED} were reported")
        if self._scheduler.observes:
            self._attempt(partial(self._observe, message.events))

    def _admit(self, arrived: Sequence[Job]) -> None:
        now = self._message.now
        for job in arrived:
            if not (now - TOLERANCE <= job.submit_time <= now + TOLERANCE or self._misdated):
                self._warn_of_misdated()
            if (why := self._refusal(job)) is not None and job.id in self._state.queue:
                self.plan.reject(job, why)
            if self._hint is not None and MEMBER in job.members:
                self._warn(self._hint)
                self._hint = None

    def _warn_of_misdated(self) -> None:
        """Warn about the first job whose `subtime` is not its submission time."""
        self._misdated = misdated_line(self._message.events)
        if self._misdated:
            self._warn(self._misdated)

    def _refusal(self, job: Job) -> str | None:
        """Return the reason to reject a job that can never run, before the algorithm sees it; None if it may wait."""
        scheduler, host_count = self._scheduler, len(self._state.hosts.by_id)
        if job.demand is not None:
            check_sharing(scheduler, self._state, job)
            if (unmet := demand_refusal(self._state, job)) is not None:
                return unmet
        packed = job.demand is not None and scheduler.places_tasks
        if job.size > host_count and not (scheduler.oversubscribes or packed):
            return f"needs {counted(job.size, 'host')}, the platform has {host_count}"
        if job.size == 0:
            return "needs no host, and Batsim runs no job on none"
        if self.plan.dialect.is_v5:  # which may abort
            lookup = partial(self._state.profiles.members, job.workload)
            if (fault := staging_fault(job.profile, lookup) or idle_fault(job, lookup)) is not None:
                return fault
        if job.walltime is None and scheduler.needs_walltime:
            return "has no walltime, and the algorithm needs one"
        return None
