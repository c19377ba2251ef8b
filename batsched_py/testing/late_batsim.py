"""A Batsim that sends events late, most of them one by one, as far as the protocol allows it (E4, E5, E15, E18).

Events of one instant come in any order, an end after its walltime, a call after its instant, and others in between. The
real state (which hosts run which jobs until when) is kept apart from the state that was announced, and every decision
is judged by the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from random import Random
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.bits import format_bits
from batsched_py.errors import ContractError, DeadlockError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.protocol.commands import (
    CallMeLater,
    ExecuteJob,
    KillJob,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SetResourceState,
)
from batsched_py.protocol.conversation import BatsimSide
from batsched_py.protocol.events import (
    COMPLETED_KILLED,
    COMPLETED_SUCCESSFULLY,
    COMPLETED_WALLTIME_REACHED,
    CONTINUE_REGISTRATION,
    MACHINE_AVAILABLE,
    MACHINE_UNAVAILABLE,
    NO_MORE_STATIC_JOB,
    REGISTRATION_FINISHED,
    REJECTED,
    Answer,
    Config,
    DescribedHost,
    Event,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    Members,
    Notify,
    Progress,
    Query,
    RequestedCall,
    ResourceStateChanged,
    SimulationBegins,
    SimulationEnds,
)
from batsched_py.results.records import JobRecord
from batsched_py.testing.case import SLEEPS, Case
from batsched_py.text.wording import counted, seconds

#: Seconds from an event to its message: none, latencies that were observed, and long ones.
LATENESS: Final = (0.0, 0.0, 1e-6, 15e-6, 6e-4, 0.1, 2.5)
#: The same for a Batsim that only splits instants.
PROMPT: Final = (0.0,)
#: Seconds from a reply to the effect of its first command, and from each to the next.
STEP: Final = 15e-6
#: Seconds until a host sleeps, and until it is awake again.
FALLING_ASLEEP: Final = 2.0
WAKING: Final = 20.0
#: Probability that an event shares a message with the one before, if it may.
TOGETHER: Final = 0.2
#: Seconds of a job whose profile is not a delay.
SOME_TIME: Final = 5.0


class _Run(Struct):
    """A job that runs in the real state; `end` moves when it is killed."""

    job: Job
    hosts: HostSet
    start: float
    end: float
    state: str


class LateBatsim:
    """One run of a case; `run` plays it. ContractError for a broken rule, DeadlockError for a deadlock."""

    def __init__(self, case: Case, lateness: Sequence[float] = LATENESS) -> None:
        self._case, self._lateness, self._chance = case, lateness, Random(case.seed)
        self._side = BatsimSide()
        #: (time of its message, order, time of the event, event).
        self._pending: list[tuple[float, int, float, Event]] = []
        self._asked = 0
        self.now = 0.0
        #: Host -> end of its job in the real state.
        self._busy_until = dict.fromkeys(range(case.hosts), 0.0)
        self._static = {job.id: job for job in case.workload().jobs}
        #: Workload -> name -> seconds of the profile.
        self._seconds: dict[tuple[str, str], float] = {}
        #: Announced jobs that have not been started.
        self._waiting: dict[str, Job] = {}
        #: Job id -> run, of started jobs, including ended ones.
        self._runs: dict[str, _Run] = {}
        #: Records in the order in which their ends were announced.
        self.records: list[JobRecord] = []
        self._unsubmitted = len(case.jobs)
        #: Bits of hosts that fail, sleep or switch.
        self._failed = self._asleep = self._switching = 0
        self._registering = case.dynamic
        self.messages = 0

    def run(self, answer: Callable[[bytes], bytes]) -> None:
        """Play the case from the first message to the last."""
        profiles = self._case.workload().profiles
        for job_id, (submit, _, run, _) in self._case.job_ids().items():
            name = job_id.partition("!")[2]
            job = replace(self._static[name], id=job_id, members={**self._static[name].members, "id": job_id})
            self._seconds[job.workload, job.profile] = run
            self._later(submit, JobSubmitted(submit, job_id, job))
        for begin, hosts, _ in self._case.outages:
            self._later(begin, _machine_notice(MACHINE_UNAVAILABLE, begin, HostSet.parse(hosts)))
        if not self._case.jobs:
            self._later(0.0, Notify(0.0, NO_MORE_STATIC_JOB))
        self._ask(answer, [self._begins({"w0": {name: profile.members for name, profile in profiles.items()}})])
        while self._pending:
            self._ask(answer, self._next())
        if self._waiting or self._registering:
            raise DeadlockError(self._deadlock_text())
        self._ask(answer, [SimulationEnds(self.now)])

    def _begins(self, profiles: dict[str, dict[str, Members]]) -> SimulationBegins:
        hosts = range(self._case.hosts)
        resources = tuple(
            DescribedHost(number, f"h{number}", "idle", self._case.properties(number)) for number in hosts
        )
        config = Config(
            dynamic_jobs=self._case.dynamic, dynamic_jobs_acknowledged=self._case.acknowledge, profile_reuse=True
        )
        return SimulationBegins(0.0, resources, config=config, workloads={"w0": "the case"}, profiles=profiles)

    def _next(self) -> list[Event]:
        """Return the next event, sometimes with other due ones; nothing if it is no longer valid.

        Each may be older than its message.
        """
        events: list[Event] = []
        self.now = max(self.now, round(self._pending[0][0], 6))
        while True:
            _, _, happened, event = heappop(self._pending)
            if isinstance(event, Answer):  # joules at the time of the message: they never decrease
                event = Answer(event.timestamp, {"consumed_energy": 100.0 * self._case.hosts * self.now})
            if self._note(event):
                timestamp = self._chance.choice((min(round(happened, 6), self.now), self.now))
                before = events[-1].timestamp if events else 0.0
                events.append(replace(event, timestamp=max(timestamp, before)))
            if not self._pending or self._pending[0][0] > self.now or self._chance.random() >= TOGETHER:
                return events

    def _later(self, happens: float, event: Event) -> None:
        self._asked += 1
        order = self._chance.randrange(1000) * 100_000 + self._asked
        heappush(self._pending, (happens + self._chance.choice(self._lateness), order, happens, event))

    def _note(self, event: Event) -> bool:
        """Apply an event to the announced state; return False if it did not happen after all."""
        if isinstance(event, JobSubmitted):
            self._note_submission(event)
        elif isinstance(event, JobCompleted):
            return self._note_end(event)
        elif isinstance(event, ResourceStateChanged):
            self._switching &= ~event.hosts.bits
            self._asleep &= ~event.hosts.bits
            self._asleep |= event.hosts.bits if event.state in SLEEPS else 0
        elif isinstance(event, Notify) and event.hosts is not None:
            self._note_machines(event.kind, event.hosts)
        return True

    def _note_submission(self, event: JobSubmitted) -> None:
        assert event.job is not None  # noqa: S101  (all jobs of a case are described)
        self._waiting[event.job_id] = event.job
        if event.job_id in self._case.job_ids():
            self._unsubmitted -= 1
            if not self._unsubmitted:
                self._later(self.now, Notify(self.now, NO_MORE_STATIC_JOB))

    def _note_end(self, event: JobCompleted) -> bool:
        run = self._runs[event.job_id]
        if run.state != event.state:  # it was killed before
            return False
        self.records.append(JobRecord(run.job, run.state, event.return_code or 0, run.start, run.end, run.hosts))
        return True

    def _note_machines(self, kind: str, hosts: HostSet) -> None:
        """Apply a failure with its message: a start that is in transit then is not a mistake of the algorithm."""
        if kind == MACHINE_AVAILABLE:
            self._failed &= ~hosts.bits
            return
        self._failed |= hosts.bits
        for _, names, end in self._case.outages:
            if HostSet.parse(names) == hosts and end is not None:
                back = max(end, self.now)
                self._later(back, _machine_notice(MACHINE_AVAILABLE, back, hosts))

    def _ask(self, answer: Callable[[bytes], bytes], events: list[Event]) -> None:
        if not events:
            return
        reply = self._side.receive(answer(self._side.request(self.now, events)))
        self.messages += 1
        if reply.now < self.now:
            raise ContractError(f"a reply is dated t={reply.now!r}, before its message of t={self.now!r}")
        for position, command in enumerate(reply.events, 1):
            if obey := _OBEY.get(type(command)):
                obey(self, self.now + position * STEP, command)

    def _call(self, now: float, command: CallMeLater) -> None:
        if not command.at > now:
            raise ContractError(f"asks at t={now!r} to be called at {command.at!r}: Batsim aborts, it is not later")
        self._later(command.at, RequestedCall(command.at))

    def _execute(self, now: float, command: ExecuteJob) -> None:
        job = self._waiting.pop(command.job_id, None)
        what = f"starts {command.job_id} on {command.hosts} at t={seconds(self.now)}"
        if job is None:
            raise ContractError(f"{what}: it does not wait, according to the messages sent")
        bits = command.hosts.bits
        if command.mapping is None and bits.bit_count() != job.size:
            raise ContractError(f"{what}: it needs {counted(job.size, 'host')}")
        working = sum(1 << host for host, until in self._busy_until.items() if until > now)
        reasons = {
            "are not there": bits & ~((1 << self._case.hosts) - 1),
            "work": bits & working,
            "have failed": bits & self._failed,
            "sleep": bits & self._asleep,
            "are switching": bits & self._switching,
        }
        for reason, wrong in reasons.items():
            if wrong:
                raise ContractError(f"{what}: hosts {format_bits(wrong)} {reason}")
        run = self._seconds.get((job.workload, job.profile), SOME_TIME)
        limit = job.limit
        state = COMPLETED_WALLTIME_REACHED if run >= limit else COMPLETED_SUCCESSFULLY
        end = now + min(run, limit)
        self._runs[job.id] = _Run(job, command.hosts, now, end, state)
        self._busy_until.update(dict.fromkeys(command.hosts, end))
        self._later(end, JobCompleted(end, job.id, state, 0, command.hosts))

    def _reject(self, now: float, command: RejectJob) -> None:
        job = self._waiting.pop(command.job_id, None)
        if job is None:
            raise ContractError(
                f"rejects {command.job_id} at t={seconds(now)}: it does not wait, according to the messages sent"
            )
        self.records.append(JobRecord(job, REJECTED, -1, 0.0, 0.0, HostSet()))

    def _kill(self, now: float, command: KillJob) -> None:
        """Kill jobs, except those that end before the kill arrives. Completions and JOB_KILLED are also late."""
        progress = {}
        for job_id in command.job_ids:
            run = self._runs.get(job_id)
            if run is None:
                raise ContractError(f"kills {job_id} at t={seconds(now)}: it was never started")
            if run.end <= now or run.state == COMPLETED_KILLED:
                continue
            share = round((now - run.start) / (run.end - run.start), 6)
            progress[job_id] = Progress(run.job.profile, share)
            run.end, run.state = now, COMPLETED_KILLED
            self._busy_until.update(dict.fromkeys(run.hosts, now))
            self._later(now, JobCompleted(now, job_id, COMPLETED_KILLED, -1, run.hosts))
        self._later(now, JobKilled(now, command.job_ids, progress))

    def _switch(self, now: float, command: SetResourceState) -> None:
        bits = command.hosts.bits
        what = f"switches hosts {command.hosts} to pstate {command.state} at t={seconds(now)}"
        working = sum(1 << host for host, until in self._busy_until.items() if until > now)
        if not self._case.energy:
            raise ContractError(f"{what}: they have no power states")
        if bits & self._switching:
            raise ContractError(f"{what}: hosts {format_bits(bits & self._switching)} are switching already")
        if command.state in SLEEPS and bits & (working | self._asleep):
            raise ContractError(f"{what}: hosts {format_bits(bits & (working | self._asleep))} work, or sleep already")
        self._switching |= bits
        waking = WAKING if bits & self._asleep else 0.0
        done = now + (FALLING_ASLEEP if command.state in SLEEPS else waking)
        self._later(done, ResourceStateChanged(done, command.hosts, command.state))

    def _register_profile(self, _: float, command: RegisterProfile) -> None:
        run = command.profile.get("delay", SOME_TIME)
        self._seconds[command.workload, command.name] = float(run)

    def _register_job(self, now: float, command: RegisterJob) -> None:
        job = command.job
        if job is None or not self._registering:
            raise ContractError(
                f"registers {command.job_id} at t={seconds(now)}: registration is not open, or there is no job"
            )
        if self._case.acknowledge:
            self._later(now, JobSubmitted(now, command.job_id, job))
        else:
            self._waiting[command.job_id] = job

    def _notify(self, _: float, command: Notify) -> None:
        if command.kind in (REGISTRATION_FINISHED, CONTINUE_REGISTRATION):
            self._registering = command.kind == CONTINUE_REGISTRATION

    def _query(self, now: float, command: Query) -> None:
        if "consumed_energy" in command.requests:
            self._later(now, Answer(now, {}))

    def _deadlock_text(self) -> str:
        reasons = [f"{', '.join(self._waiting)} wait"] if self._waiting else []
        reasons += ["registration was never finished"] if self._registering else []
        return f"t={seconds(self.now)}: nothing will ever happen again, yet {'; '.join(reasons)}"


def _machine_notice(kind: str, time: float, hosts: HostSet) -> Notify:
    return Notify(time, kind, hosts, {"type": kind, "resources": str(hosts)})


#: Class of a command -> its execution; others change nothing here.
_OBEY: Final[dict[type, Callable[[LateBatsim, float, Any], None]]] = {
    CallMeLater: LateBatsim._call,
    ExecuteJob: LateBatsim._execute,
    RejectJob: LateBatsim._reject,
    KillJob: LateBatsim._kill,
    SetResourceState: LateBatsim._switch,
    RegisterProfile: LateBatsim._register_profile,
    RegisterJob: LateBatsim._register_job,
    Notify: LateBatsim._notify,
    Query: LateBatsim._query,
}
