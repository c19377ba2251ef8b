"""The state of a run: waiting and running jobs, hosts, wake-ups; only `advance` and `apply` change it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from batsched_py.errors import InvariantError
from batsched_py.hostset import HostSet
from batsched_py.model.cancellation import CANCELLED_AFTER, cancelled_after
from batsched_py.model.conditions import ATTEMPT_OF, CONDITIONS, conditions_in
from batsched_py.model.job import Job
from batsched_py.model.name_set import NameSet
from batsched_py.protocol import commands, events
from batsched_py.protocol.later_ids import LATER_IDS, read_later_ids
from batsched_py.protocol.task_gpus import DEMANDS
from batsched_py.reading.faults import FieldError
from batsched_py.state.cancellations import Cancellations
from batsched_py.state.held_jobs import HeldJobs, JobTimes
from batsched_py.state.hosts import Hosts
from batsched_py.state.occupation_listener import OccupationListener
from batsched_py.state.outcomes import Outcomes
from batsched_py.state.profiles import Profiles
from batsched_py.state.queue import Queue
from batsched_py.state.rooms import Rooms
from batsched_py.state.running import WIRE_RESOLUTION, Periodic, Running
from batsched_py.text.display import displayed

#: Arguments of Batsim 5 that may enable energy accounting: the switch, or a file with it.
_ENERGY_SWITCHES: Final = frozenset({"--energy-host", "-c", "--config"})


class State:
    """The state of the run, according to Batsim's messages and the algorithm's decisions.

    Contradictory events raise FieldError (an error of Batsim); contradictory commands raise InvariantError, because the
    Plan checks commands first.
    """

    def __init__(self, *, holds: bool = True) -> None:
        """Create the state before a run; without `holds`, the conditions of jobs on other jobs are not read."""
        self.now = 0.0
        #: False if the algorithm obeys the conditions of jobs by itself.
        self.holds = holds
        self.config = events.Config()
        self.compute_sharing = False
        #: True if Batsim counts the resources of hosts itself, as our simulator does.
        self.counts_rooms = False
        self.storage_sharing = True
        self.hosts = Hosts(())
        #: The resources of hosts that tasks may share; None before the first job with a demand.
        self.rooms: Rooms | None = None
        #: Jobs submitted, and neither held, started nor rejected.
        self.queue = Queue()
        #: Jobs submitted that must not start yet, because of their conditions on other jobs.
        self.held = HeldJobs(self._times_of)
        self._outcomes = Outcomes()
        #: The jobs that their users cancel at an instant.
        self.cancellations = Cancellations()
        #: Job id -> running job, in the order of starts.
        self.running: dict[str, Running] = {}
        #: Ids of waiting jobs that the peer cancelled in this message.
        self.cancelled: list[str] = []
        #: Ids of jobs ended by a JOB_KILLED: a later JOB_COMPLETED is ignored.
        self._ended_by_kill: set[str] = set()
        #: Job id -> control job (set to running by CHANGE_JOB_STATE), which has no hosts and is in no other list.
        self.control: dict[str, Job] = {}
        #: Job id -> job registered by the algorithm, before the acknowledgement of its submission.
        self.registered: dict[str, Job] = {}
        #: All job ids ever seen; ids are unique.
        self.known = NameSet()
        #: Ids of jobs to come, as far as they were announced.
        self.later_ids = frozenset[str]()
        #: Jobs submitted since the latest decision; some may have been rejected since.
        self.arrived: list[Job] = []
        #: Jobs registered by the algorithm without acknowledgement by Batsim: they arrive with the next message.
        self.arriving: list[Job] = []
        #: Queries of Batsim in the latest message.
        self.asked: list[events.Query] = []
        #: Answers of the latest message that reference an unread key in Redis.
        self.unread: list[events.Answer] = []
        #: True if hosts became free or unavailable, woke or slept since the latest decision.
        self.hosts_changed = False
        #: Instants with a pending call; past ones are delayed, because calls travel like all messages (E18).
        self.wakeups: set[float] = set()
        #: Name -> active periodic calls.
        self.periodic: dict[str, Periodic] = {}
        #: Name of an active probe -> its period in seconds.
        self.probes: dict[str, float] = {}
        #: False if Batsim's configuration shows that energy accounting is disabled.
        self.counts_energy = True
        #: True after the algorithm has requested the end of the simulation.
        self.stopped = False
        self.profiles = Profiles()
        #: True while the algorithm may register jobs.
        self.registration_open = False
        #: True after all jobs have arrived except those submitted by the algorithm.
        self.all_submitted = False
        #: True while external events may request jobs.
        self.expects_requests = False
        #: True after Batsim has announced the last static job.
        self.static_over = False
        self._forecast: OccupationListener | None = None

    def follow(self, forecast: OccupationListener) -> None:
        """Inform `forecast` of the running jobs, and from now on of every change."""
        self._forecast = forecast
        held = shared = 0
        if self.rooms is not None:
            forecast.share(self.rooms.capacities, self.rooms.licences)
        for run in self.running.values():
            if run.places and run.job.demand is not None:
                forecast.occupy_tasks(run.job.id, run.places, run.job.demand, run.end)
                continue
            hosts = run.hosts.bits & self.hosts.all
            held, shared = held | hosts, shared | held & hosts
            forecast.occupy(hosts, run.end)
        self._expect(shared)

    def advance(self, now: float) -> None:
        """Begin a new decision at the instant of a received message."""
        self.now = now
        if self.arrived or self.arriving:
            self.arrived, self.arriving = self.arriving, []
        self.hosts_changed = False
        if self.cancelled:
            self.cancelled = []
        if self.asked:
            self.asked = []
        if self.unread:
            self.unread = []
        if self.profiles.pending:
            self.profiles.settle()
        if self.held.jobs:
            self.held.advance(now)
        if self._forecast is not None:
            self._forecast.advance(now)

    def receive_released(self) -> list[Job]:
        """Let held jobs arrive whose conditions are fulfilled; return them, in the order of their submission."""
        if self.held.failures:
            self.held.settle_failures(self.now)
        released = self.held.take_released()
        for job in released:
            self.queue.add(job)
        return released

    def receive_registered(self) -> None:
        """Let jobs registered in this decision arrive immediately, if Batsim will not submit them."""
        if self.arriving:
            self.arrived, self.arriving = [*self.arrived, *self.arriving], []

    @property
    def shares_rooms(self) -> bool:
        """True if tasks of several jobs may run on one host."""
        return self.counts_rooms or self.compute_sharing

    @property
    def over(self) -> bool:
        """True if no job waits or runs, and none can arrive: only calls prolong the simulation."""
        jobs = self.queue or self.running or self.registered or self.arriving or self.held.jobs
        return self.all_submitted and not (jobs or self.control or self.registration_open)

    def close_requests(self) -> None:
        """Record that no further external event will request a job."""
        self.expects_requests = False
        self.all_submitted = self.static_over

    def apply(self, item: events.Event | commands.Command) -> None:
        """Apply a received event or a command to be sent. Kinds without an effect are ignored."""
        change = CHANGES.get(type(item))
        if change is not None:
            change(self, item)

    def check(self) -> None:
        """Raise InvariantError if the state is inconsistent."""
        busy = part = 0
        for job_id, run in self.running.items():
            if run.hosts.bits & busy and not self.compute_sharing:
                raise InvariantError(f"t={self.now}: {job_id} runs on hosts of another job")
            if job_id in self.queue or job_id in self.held:
                raise InvariantError(f"t={self.now}: {job_id} both waits and runs")
            if run.places:
                part |= run.hosts.bits
            else:
                busy |= run.hosts.bits & self.hosts.all
        self._check_rooms(busy, part)
        if any(job_id in self.queue or job_id in self.running for job_id in self.control):
            raise InvariantError(f"t={self.now}: a control job waits or runs")
        if busy != self.hosts.busy:
            raise InvariantError(f"t={self.now}: busy hosts {self.hosts.busy:b} are not those of running jobs {busy:b}")
        if self.hosts.free != self.hosts.all & ~(busy | part | self.hosts.down):
            raise InvariantError(f"t={self.now}: free hosts {self.hosts.free:b} are not those that may work")
        if any(job.id not in self.known for job in self.queue):
            raise InvariantError(f"t={self.now}: a job waits that was never submitted")
        if any(job_id in self.queue for job_id in self.held.jobs):
            raise InvariantError(f"t={self.now}: a held job is in the queue")

    def _check_rooms(self, busy: int, part: int) -> None:
        """Check the hosts that tasks share, whose bits are `part`."""
        if part != self.hosts.part or (busy & part and not self.hosts.mixes):
            raise InvariantError(f"t={self.now}: shared hosts {self.hosts.part:b} are not those of tasks, {part:b}")
        if self.rooms is not None:
            runs = self.running.values()
            self.rooms.check((run.job.demand, run.places) for run in runs if run.places and run.job.demand is not None)

    def _begin(self, event: events.SimulationBegins) -> None:
        self.config = event.config
        self.compute_sharing = event.compute_sharing
        self.counts_rooms = event.extra.get(DEMANDS) is True
        self.later_ids = read_later_ids(event.extra.get(LATER_IDS))
        self.storage_sharing = event.storage_sharing
        self.hosts = Hosts(event.resources, event.storages)
        self.registration_open = event.config.dynamic_jobs
        if not event.config.static_jobs:
            self.static_over = self.all_submitted = True
        self.profiles = Profiles(event.profiles, forgets=event.config.forgets_profiles)
        if not event.config.static_jobs:
            self.profiles.complete()
        arguments = event.extra.get("batsim_arguments")
        listed = arguments if type(arguments) is list else []
        self.counts_energy = not listed or any(type(one) is str and one in _ENERGY_SWITCHES for one in listed)

    def _submit(self, event: events.JobSubmitted) -> None:
        job = event.job
        if job is None:
            raise FieldError("job", "is missing, and there is no Redis to read it from")
        if self.registered.pop(event.job_id, None) is None:
            if not self.known.add(event.job_id):
                raise FieldError("job_id", f"must be new; {displayed(event.job_id)} was submitted before")
            if self.profiles.forgets:
                self.profiles.use(job)
        if event.profile is not None:
            self.profiles.add(job.workload, job.profile, event.profile)
        self._receive(job, self.arrived)

    def _receive(self, job: Job, arrivals: list[Job]) -> None:
        """Let a job wait in the queue, or hold it."""
        if self.held.failures and ATTEMPT_OF in job.members:
            self.held.attempt_again(f"{job.workload}!{job.members[ATTEMPT_OF]}", job.id)
        if job.demand is not None:
            self._made_rooms().request(job.demand)
        if CANCELLED_AFTER in job.members:
            self.cancellations.add(self.now + (cancelled_after(job.members) or 0.0), job.id)
        if self.holds and not CONDITIONS.isdisjoint(job.members):
            conditions = conditions_in(job.members)
            self._outcomes.remember()
            self.held.add(job, conditions, self.now)
        else:
            self.queue.add(job)
            arrivals.append(job)

    def _made_rooms(self) -> Rooms:
        """Return the rooms, which are made when a job first needs them. FieldError."""
        if self.rooms is None:
            try:
                self.rooms = Rooms(self.hosts.by_id)
            except ValueError as error:
                raise FieldError("job.demand", f"cannot be counted: {displayed(str(error))}") from None
            if self._forecast is not None:
                self._forecast.share(self.rooms.capacities, self.rooms.licences)
        return self.rooms

    def _times_of(self, job_id: str) -> JobTimes:
        """Return the progress of a job, for the conditions of others; of its last attempt, if there are several."""
        job_id = self.held.last_attempt(job_id)
        run = self.running.get(job_id)
        if run is not None:
            return JobTimes("started", run.start)
        if job_id in self.control:
            return JobTimes("started", self.now)
        waits = job_id in self.queue or job_id in self.held or job_id in self.registered
        if waits or job_id not in self.known:
            return JobTimes("pending")
        start, end = self._outcomes.times(job_id)
        return JobTimes("failure" if job_id in self._outcomes.failed else "success", start, end)

    def _note_end(self, job_id: str, start: float, *, success: bool, ran: bool = False) -> None:
        """Record how a job has ended, and look at the held jobs that depend on it.

        For those of a job that ran and failed, the state waits for the end of the message, which may have another
        attempt of it.
        """
        outcomes = self._outcomes
        if not success:
            outcomes.failed.add(job_id)
        outcomes.latest[job_id] = start, self.now
        if len(outcomes.latest) >= outcomes.room:
            outcomes.turn()
        if ran and not success and self.holds:
            self.held.failures[job_id] = None
        elif self.held.used:
            self.held.end(job_id, self.now)

    def _complete(self, event: events.JobCompleted) -> None:
        run = self.running.get(event.job_id)
        if run is None:
            if event.job_id in self._ended_by_kill:
                self._ended_by_kill.discard(event.job_id)
                return
            waits = event.job_id in self.queue or event.job_id in self.held
            if waits and event.kill_reason == events.CANCELLED_BY_USER:
                self._cancel(event.job_id)
                return
            raise FieldError("job_id", f"must be a running job, not {displayed(event.job_id)}")
        if event.hosts is not None and event.hosts != run.hosts:
            started = f"the hosts on which {displayed(event.job_id)} was started"
            raise FieldError("alloc", f"must be {started}, not {displayed(str(event.hosts))}")
        self._end(event.job_id, run, success=event.state == events.COMPLETED_SUCCESSFULLY)

    def _cancel(self, job_id: str) -> None:
        """Remove a waiting or held job. Others may start now, as after an end, and its promise is void."""
        if job_id in self.held:
            self.held.remove(job_id)
        else:
            self.queue.remove(job_id)
        self._note_end(job_id, self.now, success=False)
        self.cancelled.append(job_id)
        self.let_others_start()

    def let_others_start(self) -> None:
        """Record that a job was withdrawn, so that others may start now, as after an end."""
        self.hosts_changed = True
        if self._forecast is not None:
            self._forecast.disrupt()

    def _kill_done(self, event: events.JobKilled) -> None:
        """End the killed jobs: v1.4 announces them only here; since v3 there is also a JOB_COMPLETED, usually earlier.

        A job without progress had already completed: its completion, which may be announced later, frees its hosts.
        If no job has a progress, all jobs end here.
        """
        for job_id in event.killed_ids:
            run = self.running.get(job_id)
            if run is not None:
                self._end(job_id, run, success=False)
                self._ended_by_kill.add(job_id)

    def _end(self, job_id: str, run: Running, *, success: bool) -> None:
        del self.running[job_id]
        if run.places:
            self._end_tasks(run)
            self._note_end(job_id, run.start, success=success, ran=True)
            return
        freed = run.hosts.bits & self.hosts.all if self.hosts.stores else run.hosts.bits
        if self.compute_sharing:
            for other in self.running.values():
                freed &= ~(0 if other.places else other.hosts.bits)
        self.hosts.vacate(freed)
        self.hosts_changed = True
        if self.profiles.forgets:
            self.profiles.release(run.job)
        if self._forecast is not None:
            self._forecast.vacate(freed, run.end)
            if self.compute_sharing:
                self._expect(run.hosts.bits & self.hosts.busy)
        self._note_end(job_id, run.start, success=success, ran=True)

    def _end_tasks(self, run: Running) -> None:
        """Free the resources of tasks."""
        assert self.rooms is not None  # noqa: S101  # tasks run
        assert run.job.demand is not None  # noqa: S101
        self.hosts.unshare(self.rooms.give(run.job.demand, run.places))
        self.hosts_changed = True
        if self.profiles.forgets:
            self.profiles.release(run.job)
        if self._forecast is not None:
            self._forecast.vacate_tasks(run.job.id)

    def _expect(self, hosts: int) -> None:
        """Inform the forecast of the expected end of the last job among those that share these hosts."""
        if hosts and self._forecast is not None:
            for run in sorted(self.running.values(), key=lambda run: -run.end):
                last = run.hosts.bits & hosts
                if last:
                    self._forecast.predict(HostSet(last), run.end)
                    hosts ^= last

    def _settle_hosts(self, event: events.ResourceStateChanged) -> None:
        self.hosts.settle(event.hosts.bits, event.state)
        self._hosts_moved()

    def _notice(self, item: events.Notify) -> None:
        """Apply a notice of either direction; each kind occurs in only one of them."""
        if item.kind == events.NO_MORE_STATIC_JOB:
            self.static_over = True
            self.all_submitted = not self.expects_requests
            self.profiles.complete()
        elif item.kind == events.MACHINE_UNAVAILABLE and item.hosts is not None:
            self.hosts.fail(item.hosts.bits)
            self._hosts_moved()
        elif item.kind == events.MACHINE_AVAILABLE and item.hosts is not None:
            self.hosts.recover(item.hosts.bits)
            self._hosts_moved()
        elif item.kind in _REGISTRATION:
            self.registration_open = _REGISTRATION[item.kind]

    def _call(self, event: events.RequestedCall) -> None:
        """Remove all due calls, because only in Batsim 5 the event names its call."""
        calls = self.periodic.get(event.call_id)
        if calls is not None:
            if event.last:
                del self.periodic[event.call_id]
            else:
                self.periodic[event.call_id] = calls.after(self.now)
        due = self.now + WIRE_RESOLUTION
        self.wakeups = {time for time in self.wakeups if time > due}

    def _ask(self, event: events.Query) -> None:
        self.asked.append(event)

    def _receive_answer(self, event: events.Answer) -> None:
        if "redis_keys" in event.values:
            self.unread.append(event)

    def _execute(self, command: commands.ExecuteJob) -> None:
        try:
            job = self.queue.remove(command.job_id)
        except KeyError:
            raise InvariantError(f"t={self.now}: {command.job_id} was started but does not wait") from None
        if command.places:
            self._execute_tasks(job, command)
            return
        hosts = command.hosts.bits & self.hosts.all if self.hosts.stores else command.hosts.bits
        if hosts & self.hosts.busy and not self.compute_sharing:
            raise InvariantError(f"t={self.now}: {command.job_id} was started on hosts in use")
        end = command.timestamp + job.limit
        self.running[job.id] = Running(job, command.hosts, command.timestamp, end)
        shared = hosts & self.hosts.busy
        self.hosts.occupy(hosts)
        if self._forecast is not None:
            self._forecast.occupy(hosts, end)
            if shared:
                self._expect(shared)
        if self.held.jobs:
            self.held.look_at(job.id, self.now)
        io = command.additional_io
        if io is not None and io.profile is not None:
            self.profiles.add(job.workload, io.profile_name, io.profile)

    def _execute_tasks(self, job: Job, command: commands.ExecuteJob) -> None:
        """Start a job whose tasks share hosts with others."""
        if job.demand is None or self.rooms is None or command.hosts.bits & self.hosts.whole:
            raise InvariantError(f"t={self.now}: {job.id} was started on hosts that it cannot share")
        try:
            self.rooms.take(job.demand, command.places)
        except ValueError as error:
            raise InvariantError(f"t={self.now}: {job.id} was started where there is no room: {error}") from None
        end = command.timestamp + job.limit
        self.running[job.id] = Running(job, command.hosts, command.timestamp, end, places=command.places)
        self.hosts.share(command.hosts.bits)
        if self._forecast is not None:
            self._forecast.occupy_tasks(job.id, command.places, job.demand, end)
        if self.held.jobs:
            self.held.look_at(job.id, self.now)

    def _reject(self, command: commands.RejectJob) -> None:
        job_id = command.job_id
        job = self.held.remove(job_id) if job_id in self.held else self.queue.remove(job_id)
        if self.profiles.forgets:
            self.profiles.leave(job)
        self._note_end(job_id, self.now, success=False)

    def _change_job(self, command: commands.ChangeJobState) -> None:
        """Add a control job, which has no hosts, and whose end no event announces."""
        if self.control.pop(command.job_id, None) is None:
            job = self.queue.remove(command.job_id)
            if command.state == commands.RUNNING:
                self.control[job.id] = job
                self.held.look_at(job.id, self.now)
                return
        self._note_end(command.job_id, self.now, success=command.state == events.COMPLETED_SUCCESSFULLY)

    def _kill(self, command: commands.KillJob) -> None:
        for job_id in command.job_ids:
            self.running[job_id] = replace(self.running[job_id], killed=True)

    def _ask_call(self, command: commands.CallMeLater) -> None:
        self.wakeups.add(command.at)

    def _ask_calls(self, command: commands.CallPeriodically) -> None:
        calls = Periodic(command.period, command.times, 0.0)
        self.periodic[command.call_id] = replace(calls, next=calls.multiple(self.now))

    def _stop_calls(self, command: commands.StopCalls) -> None:
        self.periodic.pop(command.call_id, None)

    def _probe(self, command: commands.CreateProbe) -> None:
        self.probes[command.probe_id] = command.period

    def _stop_probe(self, command: commands.StopProbe) -> None:
        self.probes.pop(command.probe_id, None)

    def _stop(self, _: commands.StopSimulation) -> None:
        self.stopped = True

    def _register_job(self, command: commands.RegisterJob) -> None:
        self.known.add(command.job_id)
        if command.job is None:
            return
        if self.profiles.forgets:
            self.profiles.use(command.job)
        if self.config.dynamic_jobs_acknowledged:
            self.registered[command.job_id] = command.job
        else:
            self._receive(command.job, self.arriving)

    def _register_profile(self, command: commands.RegisterProfile) -> None:
        self.profiles.register(command.workload, command.name, command.profile)

    def _switch(self, command: commands.SetResourceState) -> None:
        self.hosts.switch(command.hosts.bits)
        self._hosts_moved()

    def _hosts_moved(self) -> None:
        self.hosts_changed = True
        if self._forecast is not None:
            self._forecast.down = self.hosts.down


#: Notices of the algorithm -> whether registration is open afterwards.
_REGISTRATION: Final[Mapping[str, bool]] = {events.REGISTRATION_FINISHED: False, events.CONTINUE_REGISTRATION: True}

#: Class of an event or command -> the method that applies it; other classes have no effect.
CHANGES: Final[Mapping[type, Callable[[State, Any], None]]] = {
    events.SimulationBegins: State._begin,
    events.JobSubmitted: State._submit,
    events.JobCompleted: State._complete,
    events.JobKilled: State._kill_done,
    events.ResourceStateChanged: State._settle_hosts,
    events.Notify: State._notice,
    events.RequestedCall: State._call,
    events.Query: State._ask,
    events.Answer: State._receive_answer,
    commands.ExecuteJob: State._execute,
    commands.RejectJob: State._reject,
    commands.ChangeJobState: State._change_job,
    commands.KillJob: State._kill,
    commands.CallMeLater: State._ask_call,
    commands.CallPeriodically: State._ask_calls,
    commands.StopCalls: State._stop_calls,
    commands.CreateProbe: State._probe,
    commands.StopProbe: State._stop_probe,
    commands.StopSimulation: State._stop,
    commands.RegisterJob: State._register_job,
    commands.RegisterProfile: State._register_profile,
    commands.SetResourceState: State._switch,
}
