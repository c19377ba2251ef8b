"""What an algorithm may do: verbs that are checked at the call and booked at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from batsched_py.errors import PlanError
from batsched_py.hostset import HostSet, format_bits
from batsched_py.model.job import Job
from batsched_py.model.profile import Parallel, Profile, ProfileError, parse_profile
from batsched_py.planning.availability import Shadow, Slot
from batsched_py.protocol.commands import (
    CallMeLater,
    Command,
    ExecuteJob,
    KillJob,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SetJobMetadata,
    SetResourceState,
    ToJobMessage,
)
from batsched_py.protocol.events import CONTINUE_REGISTRATION, REGISTRATION_FINISHED, Answer, Members, Notify, Query
from batsched_py.protocol.fields import FieldError
from batsched_py.protocol.jobs import check_job_id, read_job
from batsched_py.state.state import State

#: Seconds from now to the nearest call we ask for. Batsim refuses a call that is not later than its clock, which
#: moves on a little with each event of a reply: some 15 us on small platforms, 0.6 ms on large ones (E18). So the
#: second call of a reply is twice as far, and so on.
SHORTEST_CALL: Final = 1e-3

#: What became of a profile whose last job has ended; real Batsim aborts if it is named again, to use or to register it.
GONE: Final = "Batsim forgot it with its last job; take a new name, or run with --enable-profile-reuse"


class Hold(Struct, frozen=True):
    """Why a job waits, in the algorithm's words, and when it said so."""

    job: Job
    reason: str
    time: float


class Plan:
    """The decisions of one message. A verb that Batsim would refuse raises PlanError, naming job, hosts and rule."""

    __slots__ = ("_calls", "_others", "_state", "holds", "promises", "rejections", "timestamp")

    def __init__(self, state: State) -> None:
        self._state = state
        #: When the commands take effect: `now`, or later with a decision clock.
        self.timestamp = 0.0
        #: What will be sent, in the order of the verbs, but for the calls.
        self._others: list[Command] = []
        #: The calls. They are sent first: Batsim's clock moves on a little with each event it applies (E18).
        self._calls: list[Command] = []
        #: Job id -> why it waits; only jobs that wait.
        self.holds: dict[str, Hold] = {}
        #: Job id -> the latest promise of a start; only jobs that wait.
        self.promises: dict[str, Slot | Shadow] = {}
        #: Job id -> why it was rejected.
        self.rejections: dict[str, str] = {}

    @property
    def commands(self) -> list[Command]:
        """What will be sent, in the order of sending."""
        return self._calls + self._others if self._calls else self._others

    @property
    def free(self) -> HostSet:
        """Hosts that could take a job now, after what this plan has started."""
        return HostSet(self._state.hosts.free)

    def start(self, job: Job, hosts: HostSet, mapping: Mapping[int, int] | None = None) -> None:
        """Start a waiting job now on these hosts: as many as its size, all free (or shared, where Batsim allows it).

        `mapping` puts executor i on the mapping[i]-th of the hosts; then it is the executors that number `job.size`.
        """
        state = self._state
        if type(hosts) is not HostSet:
            raise PlanError(f"start {job.id}: hosts must be a HostSet, not {hosts!r}")
        if job.id not in state.queue:
            raise PlanError(f"start {job.id} on {hosts}: {self._not_waiting(job.id)}")
        usable = state.hosts.all & ~state.hosts.down if state.compute_sharing else state.hosts.free
        if hosts.bits & ~usable or not hosts.bits:
            raise PlanError(f"start {job.id} on {hosts}: {self._not_usable(hosts.bits & ~usable)}")
        if mapping is None:
            if hosts.bits.bit_count() != job.size:
                raise PlanError(f"start {job.id} on {hosts}: it needs {job.size} hosts, these are {len(hosts)}")
        else:
            self._check_mapping(job, hosts, mapping)
        command = ExecuteJob(self.timestamp, job.id, hosts, mapping)
        state.apply(command)
        self._others.append(command)
        if self.holds or self.promises:
            self._forget(job.id)

    def reject(self, job: Job, why: str) -> None:
        """Refuse a waiting job for good; the reason is kept in our records, Batsim has no place for it."""
        if job.id not in self._state.queue:
            raise PlanError(f"reject {job.id}: {self._not_waiting(job.id)}")
        self._send(RejectJob(self.timestamp, job.id))
        self._forget(job.id)
        self.rejections[job.id] = why

    def kill(self, jobs: Job | Iterable[Job]) -> None:
        """Stop a running job, or several at once. Those whose kill is already on its way are left out."""
        running = self._state.running
        chosen = []
        for job in [jobs] if isinstance(jobs, Job) else jobs:
            run = running.get(job.id)
            if run is None:
                raise PlanError(f"kill {job.id}: it does not run")
            if not run.killed and job.id not in chosen:
                chosen.append(job.id)
        if chosen:
            self._send(KillJob(self.timestamp, tuple(chosen)))

    def wake_at(self, time: float) -> None:
        """Be called at `time`, later than now. Each instant is asked for once; nothing takes a call back."""
        if not (math.isfinite(time) and time > self._state.now):
            raise PlanError(f"wake at {time!r}: it must be later than now, {self._state.now!r}")
        time = max(time, self.timestamp + SHORTEST_CALL * (len(self._calls) + 1))
        if time not in self._state.wakeups:
            call = CallMeLater(self.timestamp, time)
            self._state.apply(call)
            self._calls.append(call)

    def set_pstate(self, hosts: HostSet, pstate: int) -> None:
        """Switch hosts to a pstate; they take no job until Batsim acknowledges. Only idle hosts may be put to sleep."""
        state = self._state.hosts
        what = f"set pstate {pstate} on {hosts}"
        if not hosts.bits or hosts.bits & ~state.all:
            raise PlanError(f"{what}: these are not hosts of the platform")
        if hosts.bits & state.switching:
            raise PlanError(f"{what}: {format_bits(hosts.bits & state.switching)} is switching")
        chosen = [state.by_id[number] for number in hosts]
        for host in chosen:
            if not 0 <= pstate < host.pstate_count:
                there = (
                    f"has pstates 0 to {host.pstate_count - 1}" if host.pstate_count else "describes no power states"
                )
                raise PlanError(f"{what}: host {host.id} {there}")
            if str(pstate) in host.transition_pstates:
                raise PlanError(f"{what}: for host {host.id} this pstate only models switching off or on")
        sleeps = any(str(pstate) in host.sleep_pstates for host in chosen)
        if sleeps and hosts.bits & state.busy:
            raise PlanError(f"{what}: {format_bits(hosts.bits & state.busy)} runs a job")
        if sleeps and hosts.bits & state.asleep:
            raise PlanError(f"{what}: {format_bits(hosts.bits & state.asleep)} sleeps already")
        self._send(SetResourceState(self.timestamp, hosts, str(pstate)))

    def register_profile(self, workload: str, name: str, profile: Members) -> None:
        """Add a profile for jobs of one's own; its name must be new in the workload, which is created if new."""
        what = f"register profile {workload}!{name}"
        self._check_registration(what)
        if self._is_gone(workload, name):
            raise PlanError(f"{what}: {GONE}")
        if name in self._state.profiles.get(workload, {}):
            raise PlanError(f"{what}: it exists")
        _typed(what, name, profile)
        self._send(RegisterProfile(self.timestamp, workload, name, dict(profile)))

    def submit(self, job: Job, profile: Members | None = None) -> None:
        """Submit a job of one's own (see Job.create), now, with its profile if that is not registered yet.

        A profile that is registered already may be given again if it is the same. With acknowledgement the job waits
        from the next message on; without, it may be started at once.
        """
        what = f"submit {job.id}"
        self._check_registration(what)
        described = self._described(what, job)
        known = self._state.profiles.get(job.workload, {}).get(job.profile)
        if self._is_gone(job.workload, job.profile):
            raise PlanError(f"{what}: profile {job.profile}: {GONE}")
        members = known if profile is None else profile
        if members is None:
            raise PlanError(f"{what}: profile {job.profile} is not registered in workload {job.workload}")
        if known is not None and known != members:
            raise PlanError(f"{what}: profile {job.profile} of workload {job.workload} has other members")
        typed = _typed(f"{what}: profile {job.profile}", job.profile, members)
        if isinstance(typed, Parallel) and len(typed.cpu) != job.size:
            rule = f"is for {len(typed.cpu)} hosts, the job asks for {job.size}"
            raise PlanError(f"{what}: profile {job.profile} {rule}")
        if known is None:
            self._send(RegisterProfile(self.timestamp, job.workload, job.profile, dict(members)))
        self._send(RegisterJob(self.timestamp, job.id, described))

    def finish_registration(self) -> None:
        """Say that no job of one's own will come any more; without it the simulation never ends.

        Jobs that were submitted before, even in this plan, still run.
        """
        self._check_registration("finish registration")
        self._send(Notify(self.timestamp, REGISTRATION_FINISHED))

    def continue_registration(self) -> None:
        """Take `finish_registration` back."""
        if not self._state.config.dynamic_jobs or self._state.registration_open:
            raise PlanError("continue registration: it was not finished")
        self._send(Notify(self.timestamp, CONTINUE_REGISTRATION))

    def set_metadata(self, job: Job, text: str) -> None:
        """Attach a text without double quotes to a waiting or running job; ends in Batsim's jobs file (not in v1.4)."""
        if job.id not in self._state.queue and job.id not in self._state.running:
            raise PlanError(f"set metadata of {job.id}: it neither waits nor runs")
        if '"' in text or not text.isprintable():
            raise PlanError(f"set metadata of {job.id}: the text must not hold a double quote or a control character")
        self._send(SetJobMetadata(self.timestamp, job.id, text))

    def message(self, job: Job, text: str) -> None:
        """Send a text to a running job."""
        if job.id not in self._state.running:
            raise PlanError(f"message to {job.id}: it does not run")
        self._send(ToJobMessage(self.timestamp, job.id, text))

    def ask_energy(self) -> None:
        """Ask for the energy consumed so far; the Answer comes with the next message. Batsim must run with energy.

        That message asks for a decision again: to ask at each decision is to ask for ever.
        """
        for host in self._state.hosts.by_id.values():
            if not host.pstate_count:
                raise PlanError(f"ask energy: host {host.id} describes no power (property wattage_per_state)")
        self._others.append(Query(self.timestamp, {"consumed_energy": {}}))

    def answer(self, values: Mapping[str, Any]) -> None:
        """Answer a Query of Batsim."""
        self._send(Answer(self.timestamp, dict(values)))

    def hold(self, job: Job, why: str) -> None:
        """Record why a job waits. Not sent: it is told when the simulation stands still."""
        self.holds[job.id] = Hold(job, why, self._state.now)

    def promise(self, job: Job, slot: Slot | Shadow) -> None:
        """Record when a job will start at the latest. Not sent."""
        self.promises[job.id] = slot

    def begin(self, timestamp: float) -> None:
        """For the engine: a new message; commands take effect at `timestamp`."""
        self.timestamp = timestamp
        self._others = []
        self._calls = []

    def _send(self, command: Command) -> None:
        self._state.apply(command)
        self._others.append(command)

    def _forget(self, job_id: str) -> None:
        self.holds.pop(job_id, None)
        self.promises.pop(job_id, None)

    def _not_waiting(self, job_id: str) -> str:
        if job_id in self._state.running:
            return f"it runs already, on {self._state.running[job_id].hosts}"
        return "it has ended" if job_id in self._state.known else "no such job was submitted"

    def _not_usable(self, wrong: int) -> str:
        hosts = self._state.hosts
        reasons = {
            "not in the platform": wrong & ~hosts.all,
            "unavailable": wrong & hosts.unavailable,
            "asleep": wrong & hosts.asleep,
            "switching": wrong & hosts.switching,
            "running a job": wrong & hosts.busy,
        }
        said = [f"{format_bits(bits)} {reason}" for reason, bits in reasons.items() if bits]
        return ", ".join(said) or "it needs at least one host"

    def _check_mapping(self, job: Job, hosts: HostSet, mapping: Mapping[int, int]) -> None:
        if len(mapping) != job.size or sorted(mapping) != list(range(job.size)):
            raise PlanError(f"start {job.id} on {hosts}: the mapping must place executors 0 to {job.size - 1}")
        if any(type(position) is not int or not 0 <= position < len(hosts) for position in mapping.values()):
            raise PlanError(f"start {job.id} on {hosts}: the mapping must name positions 0 to {len(hosts) - 1}")

    def _check_registration(self, what: str) -> None:
        if not self._state.config.dynamic_jobs:
            raise PlanError(f"{what}: Batsim runs without --enable-dynamic-jobs")
        if not self._state.registration_open:
            raise PlanError(f"{what}: registration was finished before")

    def _described(self, what: str, job: Job) -> Job:
        """The job as it is sent: with its time of submission, and checked as Batsim checks it."""
        if job.id in self._state.known:
            raise PlanError(f"{what}: this id was used before")
        if "subtime" not in job.members:
            members = {"id": job.id, "subtime": self.timestamp, **job.members}
            job = Job(job.id, self.timestamp, job.size, job.walltime, job.profile, members)
        try:
            check_job_id(job.id)
            read_job(job.id, job.members)
        except FieldError as error:
            raise PlanError(f"{what}: {error.path.removeprefix('job.')}: {error.rule}") from None
        if not job.size:
            raise PlanError(f"{what}: it needs at least one host")
        if job.submit_time > self.timestamp:
            later = "Batsim submits at once; to submit later, ask for a call (wake_at)"
            raise PlanError(f"{what}: its submit_time {job.submit_time!r} is later than now; {later}")
        return job

    def _is_gone(self, workload: str, name: str) -> bool:
        use = self._state.profile_use
        return use is not None and use.is_gone(workload, name)


def _typed(what: str, name: str, profile: Members) -> Profile:
    try:
        return parse_profile(name, profile)
    except ProfileError as error:
        raise PlanError(f"{what}: {error}") from None
