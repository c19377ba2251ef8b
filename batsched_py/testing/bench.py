"""The bench: a state set up in a few lines, single decisions of an algorithm, and their plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from batsched_py.errors import AlgorithmError, BenchError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.plugins import load
from batsched_py.protocol.commands import CallMeLater, Command, ExecuteJob, KillJob, SetResourceState
from batsched_py.protocol.conversation import BatsimSide
from batsched_py.protocol.events import (
    COMPLETED_KILLED,
    COMPLETED_SUCCESSFULLY,
    FINAL_STATES,
    MACHINE_AVAILABLE,
    MACHINE_UNAVAILABLE,
    REJECTED,
    Config,
    DescribedHost,
    Event,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    Notify,
    Progress,
    RequestedCall,
    ResourceStateChanged,
    SimulationBegins,
)
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.plan import Plan, too_few
from batsched_py.scheduling.view import View
from batsched_py.session.session import Session
from batsched_py.testing.case import POWER, SLEEP
from batsched_py.testing.decision import Decision

#: The profile of jobs without another; it is never executed.
PROFILE: Final = "p"
#: An action that replaces a decision, to set up a state.
Instead = Callable[[Plan], None]
#: Hosts as a set, or as a text like "0-3 7".
Hosts = HostSet | str


class Bench:
    """One algorithm with a Batsim that the test controls.

    Events are collected, and sent in one message when `decide` is called; the algorithm answers through a real session
    and real bytes, so that each decision is checked as in a run. Jobs are identified by the ids that `submit` and `run`
    return, or by their names. BenchError for impossible events.

    Args:
        algorithm: its class, or a name as after `-s`.
        hosts: number of compute hosts, numbered from 0.
        options: of the algorithm.
        energy: True for hosts with power states: 0 and 1 compute, 2 sleeps; None: if the algorithm needs them.
        dynamic: True if the algorithm may submit jobs; None: if it needs to. With `acknowledge`, Batsim submits them
            back.
        sharing: True if several jobs may run on one host.
        properties: host -> its properties, which are text.
        warn: receives a line for each warning; None to ignore them.
    """

    def __init__(
        self,
        algorithm: str | type[Scheduler[Any]],
        *,
        hosts: int = 8,
        options: Mapping[str, Any] = MappingProxyType({}),
        energy: bool | None = None,
        dynamic: bool | None = None,
        acknowledge: bool = False,
        sharing: bool = False,
        properties: Mapping[int, Mapping[str, str]] = MappingProxyType({}),
        warn: Callable[[str], None] | None = None,
    ) -> None:
        scheduler = load(algorithm) if isinstance(algorithm, str) else algorithm
        #: The action that replaces the decision on the next message.
        self._instead: Instead | None = None
        self.session = Session(self._benched(scheduler), options, warn=warn)
        self._side = BatsimSide()
        self.now = 0.0
        #: Collected events that are not sent yet.
        self._pending: list[Event] = []
        self._jobs = 0
        #: Job id -> hosts of running jobs, in the order of their starts.
        self.running: dict[str, HostSet] = {}
        #: Future calls; kills and switches that are not done.
        self._calls: list[float] = []
        self._kills: list[tuple[str, ...]] = []
        self._switches: list[tuple[HostSet, str]] = []
        powered = scheduler.needs_energy if energy is None else energy
        self._powered = powered
        common = POWER if powered else {}
        resources = tuple(
            DescribedHost(number, f"h{number}", "idle", {**common, **properties.get(number, {})})
            for number in range(hosts)
        )
        config = Config(
            dynamic_jobs=scheduler.needs_dynamic_jobs if dynamic is None else dynamic,
            dynamic_jobs_acknowledged=acknowledge,
            profile_reuse=True,
        )
        profiles = {"w0": {PROFILE: {"type": "delay", "delay": 100}}}
        begins = SimulationBegins(0.0, resources, (), sharing, True, config, {"w0": "the bench"}, profiles)
        #: The decision at the beginning, before any job is submitted.
        self.opening = self._exchange([begins])

    @property
    def view(self) -> View:
        """Return the view of the algorithm."""
        return self.session.view

    def at(self, time: float) -> Bench:
        """Advance the time to `time`, and return the bench."""
        if not time >= self.now:
            raise BenchError(f"at {time!r}: time does not go back, it is {self.now!r}")
        self.now = time
        return self

    def submit(
        self,
        name: str | None = None,
        *,
        size: int = 1,
        walltime: float | None = None,
        profile: Mapping[str, Any] | None = None,
        **members: Any,
    ) -> str:
        """Submit a job now, and return its id. `profile` is forwarded if given; `members` are its other members."""
        job = self._new(name, size, walltime, profile, members)
        self._pending.append(JobSubmitted(self.now, job.id, job, profile))
        return job.id

    def run(
        self,
        name: str | None = None,
        *,
        size: int = 1,
        hosts: Hosts | None = None,
        walltime: float | None = None,
        profile: Mapping[str, Any] | None = None,
        **members: Any,
    ) -> str:
        """Start a job now, on these hosts or the lowest free ones, without calling the algorithm; return its id."""
        given = None if hosts is None else _hosts(hosts)
        job = self._new(name, size if given is None else len(given), walltime, profile, members)

        def start(plan: Plan) -> None:
            chosen = plan.free.first(job.size) if given is None else given
            if chosen is None:
                raise BenchError(f"run {job.id}: it {too_few(job.size, len(plan.free))}")
            plan.start(job, chosen)

        self._arrange(start, [JobSubmitted(self.now, job.id, job, profile)])
        return job.id

    def end(self, job: str, state: str = COMPLETED_SUCCESSFULLY) -> None:
        """End a running job, early or late: successfully, or as COMPLETED_FAILED, COMPLETED_WALLTIME_REACHED..."""
        job_id = _full(job)
        if job_id not in self.running:
            raise BenchError(f"end {job_id}: it does not run; there run: {', '.join(self.running) or 'none'}")
        if state not in FINAL_STATES or state == REJECTED:
            raise BenchError(f"end {job_id}: must be {', '.join(sorted({*FINAL_STATES} - {REJECTED}))}, not {state!r}")
        code = 0 if state == COMPLETED_SUCCESSFULLY else -1
        self._pending.append(JobCompleted(self.now, job_id, state, code, self.running.pop(job_id)))

    def finish_kills(self) -> None:
        """Complete the requested kills; jobs that ended before have ended by themselves."""
        if not self._kills:
            raise BenchError("finish kills: nothing was killed")
        for job_ids in self._kills:
            alive = [job_id for job_id in job_ids if job_id in self.running]
            for job_id in alive:
                self.end(job_id, COMPLETED_KILLED)
            self._pending.append(JobKilled(self.now, job_ids, {job_id: Progress(PROFILE, 0.5) for job_id in alive}))
        self._kills.clear()

    def fail(self, hosts: Hosts) -> None:
        """Make hosts unavailable; jobs on them continue."""
        self._notice(MACHINE_UNAVAILABLE, _hosts(hosts))

    def repair(self, hosts: Hosts) -> None:
        """Make hosts available again."""
        self._notice(MACHINE_AVAILABLE, _hosts(hosts))

    def sleep(self, hosts: Hosts) -> None:
        """Put hosts to sleep now, without calling the algorithm. The bench must have power states."""
        chosen = _hosts(hosts)
        if not self._powered:
            raise BenchError(f"sleep {chosen}: hosts have no power states; make the bench with energy=True")
        before, self._switches = self._switches, []
        self._arrange(lambda plan: plan.set_pstate(chosen, int(SLEEP)), [])
        self._arrange(_nothing, [ResourceStateChanged(self.now, chosen, SLEEP)])
        self._switches = before

    def finish_switches(self, hosts: Hosts | None = None) -> None:
        """Complete the requested changes of pstate: all, or those of these hosts."""
        wanted = None if hosts is None else _hosts(hosts)
        done = [switch for switch in self._switches if wanted is None or not switch[0].isdisjoint(wanted)]
        if not done:
            raise BenchError("finish switches: no change of pstate of these hosts was asked for")
        self._switches = [switch for switch in self._switches if switch not in done]
        self._pending += [ResourceStateChanged(self.now, switched, pstate) for switched, pstate in done]

    def call(self) -> Bench:
        """Advance the time to the next requested call, add its event, and return the bench."""
        if not self._calls:
            raise BenchError("call: none was asked for")
        self.at(max(self.now, min(self._calls)))
        self._calls = [time for time in self._calls if time > self.now]
        self._pending.append(RequestedCall(self.now))
        return self

    def add_event(self, event: Event) -> None:
        """Add any other event unchanged: FromJobMessage, Query, Answer, Notify..."""
        self._pending.append(event)

    def decide(self) -> Decision:
        """Send the collected events, if any, in one message, and return the decision of the algorithm.

        AlgorithmError if it raises or plans the impossible.
        """
        events, self._pending = self._pending, []
        return self._exchange(events)

    def _new(
        self, name: str | None, size: int, walltime: float | None, profile: Mapping[str, Any] | None, members: Any
    ) -> Job:
        self._jobs += 1
        job_id = _full(name or str(self._jobs))
        named = PROFILE if profile is None else f"profile of {job_id}"
        return Job.create(job_id, size=size, profile=named, submit_time=self.now, walltime=walltime, extra=members)

    def _notice(self, kind: str, hosts: HostSet) -> None:
        self._pending.append(Notify(self.now, kind, hosts, {"type": kind, "resources": str(hosts)}))

    def _arrange(self, instead: Instead, events: list[Event]) -> None:
        """Send a message that the bench answers instead of the algorithm."""
        self._instead = instead
        try:
            self._exchange(events)
        except AlgorithmError as error:  # not an error of the algorithm
            raise BenchError(str(error.__cause__)) from None
        finally:
            self._instead = None

    def _benched(self, scheduler: type[Scheduler[Any]]) -> type[Scheduler[Any]]:
        """Return a subclass of the algorithm that leaves some messages to the bench."""

        def decide(algorithm: Scheduler[Any], view: View, plan: Plan) -> None:
            if self._instead is None:
                scheduler.decide(algorithm, view, plan)
            else:
                self._instead(plan)

        return type(scheduler.__name__, (scheduler,), {"decide": decide, "__doc__": scheduler.__doc__})

    def _exchange(self, events: list[Event]) -> Decision:
        session = self.session
        reply = self._side.receive(session.answer(self._side.request(self.now, events)))
        session.check()
        for command in reply.events:
            self._book(command)
        promises = {job_id: promise.start for job_id, promise in session.plan.promises.items()}
        holds = {job_id: hold.reason for job_id, hold in session.plan.holds.items()}
        return Decision.of(self.now, reply.events, session.rejections, promises, holds)

    def _book(self, command: Command) -> None:
        if isinstance(command, ExecuteJob):
            self.running[command.job_id] = command.hosts
        elif isinstance(command, KillJob):
            self._kills.append(command.job_ids)
        elif isinstance(command, SetResourceState):
            self._switches.append((command.hosts, command.state))
        elif isinstance(command, CallMeLater):
            self._calls.append(command.at)


def _full(job: str) -> str:
    """Return a job's id from its id or its name."""
    return job if "!" in job else f"w0!{job}"


def _hosts(hosts: Hosts) -> HostSet:
    try:
        return HostSet.parse(hosts) if isinstance(hosts, str) else hosts
    except ValueError as error:
        raise BenchError(f"hosts {hosts!r}: {error}") from None


def _nothing(plan: Plan) -> None:
    """Decide nothing."""
