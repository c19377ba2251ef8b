"""The one state: jobs that wait and run, hosts, wake-ups; changed by `advance` and `apply` and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from msgspec.structs import replace

from batsched_py.errors import InvariantError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.model.name_set import NameSet
from batsched_py.protocol import commands, events
from batsched_py.protocol.fields import FieldError
from batsched_py.state.hosts import Hosts
from batsched_py.state.profiles import Profiles
from batsched_py.state.queue import Queue
from batsched_py.state.running import WIRE_RESOLUTION, Periodic, Running
from batsched_py.text.display import displayed

#: Arguments of Batsim 5 with which it may count energy: the switch, or a file with it.
_ENERGY_SWITCHES: Final = frozenset({"--energy-host", "-c", "--config"})


class Forecast(Protocol):
    """A listener that follows which hosts work takes and gives back; all hosts are bits."""

    #: Bits of hosts that can take no job for a reason other than work.
    down: int

    def advance(self, now: float) -> None:
        """Move time on to `now`."""

    def occupy(self, hosts: int, until: float) -> None:
        """Book that work takes hosts until then at the latest (infinite: unknown)."""

    def vacate(self, hosts: int, until: float) -> None:
        """Book that the work that was to hold hosts until then has ended."""

    def predict(self, hosts: HostSet, end: float) -> None:
        """Book that the work that holds hosts is expected to end then, whatever was booked (infinite: unknown)."""


class State:
    """The state of the run, as far as Batsim has announced and we have decided.

    Events that contradict it raise FieldError (Batsim's mistake); commands that do raise InvariantError, because the
    Plan checks them first.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.config = events.Config()
        self.compute_sharing = False
        self.storage_sharing = True
        self.hosts = Hosts(())
        #: Submitted, not started, not rejected.
        self.queue = Queue()
        #: Job id -> started and not ended, in the order of starting.
        self.running: dict[str, Running] = {}
        #: Ended by a JOB_KILLED: a JOB_COMPLETED of such a job is no news.
        self._ended_by_kill: set[str] = set()
        #: Job id -> called running by CHANGE_JOB_STATE: a control job, which has no hosts and is in no other list.
        self.control: dict[str, Job] = {}
        #: Job id -> registered by us, its submission not yet acknowledged.
        self.registered: dict[str, Job] = {}
        #: Every job id ever seen; an id never comes twice.
        self.known = NameSet()
        #: Submitted since the latest decision; some may have been rejected since.
        self.arrived: list[Job] = []
        #: Registered by us and not submitted back by Batsim (no acknowledgement): they arrive with the next message.
        self.arriving: list[Job] = []
        #: Questions of Batsim in the latest message.
        self.asked: list[events.Query] = []
        #: Answers of the latest message that name a key in Redis, where nobody has read them.
        self.unread: list[events.Answer] = []
        #: True if hosts became free or unavailable, woke or slept since the latest decision.
        self.hosts_changed = False
        #: Instants for which a call is pending; one that is past is late: calls travel like all messages (E18).
        self.wakeups: set[float] = set()
        #: Name -> periodic calls that go on.
        self.periodic: dict[str, Periodic] = {}
        #: Name of a probe that goes on -> its period in seconds.
        self.probes: dict[str, float] = {}
        #: False if Batsim was told to count no energy, as far as that shows.
        self.counts_energy = True
        #: True once the end of the simulation was asked for.
        self.stopped = False
        self.profiles = Profiles()
        #: True while we may register jobs.
        self.registration_open = False
        #: True once no job will come but those that the algorithm submits itself.
        self.all_submitted = False
        #: True as long as external events may ask for jobs.
        self.expects_requests = False
        #: True once Batsim has announced that no static job is left.
        self.static_over = False
        self._forecast: Forecast | None = None

    def follow(self, forecast: Forecast) -> None:
        """Inform `forecast` of the jobs that run, and from now on of every change."""
        self._forecast = forecast
        held = shared = 0
        for run in self.running.values():
            hosts = run.hosts.bits & self.hosts.all
            held, shared = held | hosts, shared | held & hosts
            forecast.occupy(hosts, run.end)
        self._expect(shared)

    def advance(self, now: float) -> None:
        """Begin a new decision: a message of this instant has come."""
        self.now = now
        if self.arrived or self.arriving:
            self.arrived, self.arriving = self.arriving, []
        self.hosts_changed = False
        if self.asked:
            self.asked = []
        if self.unread:
            self.unread = []
        if self.profiles.pending:
            self.profiles.settle()
        if self._forecast is not None:
            self._forecast.advance(now)

    def receive_own(self) -> None:
        """Let jobs that were registered in this decision arrive in it, if Batsim will not submit them itself."""
        if self.arriving:
            self.arrived, self.arriving = [*self.arrived, *self.arriving], []

    @property
    def over(self) -> bool:
        """True if nothing waits or runs, and no job can come any more: only calls keep the simulation going."""
        jobs = self.queue or self.running or self.registered or self.arriving
        return self.all_submitted and not (jobs or self.control or self.registration_open)

    def close_requests(self) -> None:
        """Note that no external event will ask for a job any more."""
        self.expects_requests = False
        self.all_submitted = self.static_over

    def apply(self, item: events.Event | commands.Command) -> None:
        """Book an event that came or a command that will be sent. Kinds that change nothing are ignored."""
        change = CHANGES.get(type(item))
        if change is not None:
            change(self, item)

    def check(self) -> None:
        """Raise InvariantError if the books contradict themselves."""
        busy = 0
        for job_id, run in self.running.items():
            if run.hosts.bits & busy and not self.compute_sharing:
                raise InvariantError(f"t={self.now}: {job_id} runs on hosts of another job")
            if job_id in self.queue:
                raise InvariantError(f"t={self.now}: {job_id} both waits and runs")
            busy |= run.hosts.bits & self.hosts.all
        if any(job_id in self.queue or job_id in self.running for job_id in self.control):
            raise InvariantError(f"t={self.now}: a control job waits or runs")
        if busy != self.hosts.busy:
            raise InvariantError(f"t={self.now}: busy hosts {self.hosts.busy:b} are not those of running jobs {busy:b}")
        if self.hosts.free != self.hosts.all & ~(busy | self.hosts.down):
            raise InvariantError(f"t={self.now}: free hosts {self.hosts.free:b} are not those that may work")
        if any(job.id not in self.known for job in self.queue):
            raise InvariantError(f"t={self.now}: a job waits that was never submitted")

    def _begin(self, event: events.SimulationBegins) -> None:
        self.config = event.config
        self.compute_sharing = event.compute_sharing
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
        self.queue.add(job)
        self.arrived.append(job)

    def _complete(self, event: events.JobCompleted) -> None:
        run = self.running.get(event.job_id)
        if run is None:
            if event.job_id in self._ended_by_kill:
                self._ended_by_kill.discard(event.job_id)
                return
            raise FieldError("job_id", f"must be a running job, not {displayed(event.job_id)}")
        if event.hosts is not None and event.hosts != run.hosts:
            started = f"the hosts on which {displayed(event.job_id)} was started"
            raise FieldError("alloc", f"must be {started}, not {displayed(str(event.hosts))}")
        self._end(event.job_id, run)

    def _kill_done(self, event: events.JobKilled) -> None:
        """End the killed jobs: v1.4 announces them only here; since v3 a JOB_COMPLETED comes too, as a rule before.

        A job without progress had ended by itself: its own completion frees its hosts, and may come later than this.
        If no job has a progress, all end here.
        """
        for job_id in event.killed_ids:
            run = self.running.get(job_id)
            if run is not None:
                self._end(job_id, run)
                self._ended_by_kill.add(job_id)

    def _end(self, job_id: str, run: Running) -> None:
        del self.running[job_id]
        freed = run.hosts.bits & self.hosts.all if self.hosts.stores else run.hosts.bits
        if self.compute_sharing:
            for other in self.running.values():
                freed &= ~other.hosts.bits
        self.hosts.vacate(freed)
        self.hosts_changed = True
        if self.profiles.forgets:
            self.profiles.release(run.job)
        if self._forecast is not None:
            self._forecast.vacate(freed, run.end)
            if self.compute_sharing:
                self._expect(run.hosts.bits & self.hosts.busy)

    def _expect(self, hosts: int) -> None:
        """Tell the forecast when the last of those who share these hosts is expected to end."""
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
        """Book a notice of either direction; each kind is known in one of them only."""
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
        """Take all calls that are due as done, because the event does not name its call but in Batsim 5."""
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

    def _hear(self, event: events.Answer) -> None:
        if "redis_keys" in event.values:
            self.unread.append(event)

    def _execute(self, command: commands.ExecuteJob) -> None:
        try:
            job = self.queue.remove(command.job_id)
        except KeyError:
            raise InvariantError(f"t={self.now}: {command.job_id} was started but does not wait") from None
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
        io = command.additional_io
        if io is not None and io.profile is not None:
            self.profiles.add(job.workload, io.profile_name, io.profile)

    def _reject(self, command: commands.RejectJob) -> None:
        job = self.queue.remove(command.job_id)
        if self.profiles.forgets:
            self.profiles.leave(job)

    def _change_job(self, command: commands.ChangeJobState) -> None:
        """Book a control job: it has no hosts, and no event will announce its end."""
        if self.control.pop(command.job_id, None) is not None:
            return
        job = self.queue.remove(command.job_id)
        if command.state == commands.RUNNING:
            self.control[job.id] = job

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
            self.queue.add(command.job)
            self.arriving.append(command.job)

    def _register_profile(self, command: commands.RegisterProfile) -> None:
        self.profiles.register(command.workload, command.name, command.profile)

    def _switch(self, command: commands.SetResourceState) -> None:
        self.hosts.switch(command.hosts.bits)
        self._hosts_moved()

    def _hosts_moved(self) -> None:
        self.hosts_changed = True
        if self._forecast is not None:
            self._forecast.down = self.hosts.down


#: Notices of ours -> whether registration is open after them.
_REGISTRATION: Final[Mapping[str, bool]] = {events.REGISTRATION_FINISHED: False, events.CONTINUE_REGISTRATION: True}

#: Class of an event or command -> the method that books it; classes that are absent change nothing.
CHANGES: Final[Mapping[type, Callable[[State, Any], None]]] = {
    events.SimulationBegins: State._begin,
    events.JobSubmitted: State._submit,
    events.JobCompleted: State._complete,
    events.JobKilled: State._kill_done,
    events.ResourceStateChanged: State._settle_hosts,
    events.Notify: State._notice,
    events.RequestedCall: State._call,
    events.Query: State._ask,
    events.Answer: State._hear,
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
