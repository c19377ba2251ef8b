"""The Plan, an algorithm's output: verbs that are checked and booked immediately."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, SupportsFloat, SupportsIndex

from msgspec.structs import replace

from batsched_py.bits import size_of
from batsched_py.errors import LocalProtocolError, PlanError
from batsched_py.hostset import HostSet, IntervalSet, as_host_set
from batsched_py.model.decision_row import HoldKind
from batsched_py.model.job import Job
from batsched_py.planning.future.promises import Claim, RoomSlot, Shadow, Slot
from batsched_py.protocol import events
from batsched_py.protocol.codec import Written, encode_alone
from batsched_py.protocol.commands import (
    AdditionalIo,
    CallMeLater,
    ChangeJobState,
    Command,
    ExecuteJob,
    ExecutorPlacement,
    KillJob,
    PlacedProfile,
    RejectJob,
    SetJobMetadata,
    SetResourceState,
    ToJobMessage,
)
from batsched_py.protocol.dialect import V4, Dialect
from batsched_py.scheduling.arguments import Text, id_of, id_text, no_job, number_of, several, whole_of
from batsched_py.scheduling.checks import (
    check_extras,
    control_job_fault,
    insist,
    mapping_fault,
    missing,
    not_usable,
    not_waiting,
    only_storage,
    overrides_fault,
    placement_fault,
    switch_fault,
    turned_hosts,
    usable_storages,
)
from batsched_py.scheduling.holds import Hold
from batsched_py.scheduling.placed import Placed
from batsched_py.scheduling.queue_requests import IgnoredRequest
from batsched_py.scheduling.registration_verbs import RegistrationVerbs
from batsched_py.scheduling.task_starts import TaskStarts
from batsched_py.state.state import State
from batsched_py.text.display import displayed, displayed_line
from batsched_py.text.wording import counted, seconds

#: Maximum number of rejections that are shown; the end of the run shows their total number.
MOST_REPORTED: Final = 5
#: Seconds from now to the earliest call. Batsim refuses a call that is not later than its clock, which advances with
#: each message that it handles before: about 15 us on small platforms, 0.6 ms on large ones, where the first command of
#: a reply was observed 2.4 ms late (E18). Therefore the second call of a reply is twice as far, and so on.
SHORTEST_CALL: Final = 1e-2


class Plan(RegistrationVerbs):
    """The decisions of one message. A verb that Batsim would refuse raises PlanError, naming job, hosts and rule."""

    __slots__ = (
        *("_calls", "_state", "_tasks", "_warn_user", "commands", "dialect"),
        *("holds", "ignored", "promises", "rejections", "timestamp", "watch", "written"),
    )

    def __init__(self, state: State, warn_user: Callable[[str], None] | None = None) -> None:
        self._state = state
        #: The starts of tasks that share hosts.
        self._tasks = TaskStarts(state, self.warn)
        #: Callback for warnings; None to ignore them.
        self._warn_user = warn_user
        #: The dialect that Batsim understands.
        self.dialect: Dialect = V4
        #: The instant at which the commands take effect: `now`, or later with a decision clock.
        self.timestamp = 0.0
        #: Commands to send, in the order of the verbs, but for calls, which are first: Batsim's clock advances slightly
        #: with each event that it applies (E18).
        self.commands: list[Command] = []
        #: Number of these calls.
        self._calls = 0
        #: Commands that were written when they were checked.
        self.written: Written = {}
        #: Called with each start of executors on named hosts, or on hosts that may be shared; None for no callback.
        self.watch: Callable[[Job, ExecuteJob], None] | None = None
        #: Job id -> the reason why it waits; waiting jobs only.
        self.holds: dict[str, Hold] = {}
        #: Job id -> the latest promise of a start; waiting jobs only.
        self.promises: dict[str, Slot | Claim | Shadow | RoomSlot] = {}
        #: Job id -> the reason of its rejection.
        self.rejections: dict[str, str] = {}
        #: Requests of this message, or postponed to it, that have no effect.
        self.ignored: list[IgnoredRequest] = []

    @property
    def free(self) -> HostSet:
        """Hosts that could take a job now, after what this plan has started."""
        return HostSet(self._state.hosts.free)

    def start(
        self,
        job: Job,
        hosts: HostSet | IntervalSet | Placed,
        mapping: Mapping[int, int] | None = None,
        *,
        storage_mapping: Mapping[str, int] | None = None,
        additional_io: AdditionalIo | None = None,
        placement: ExecutorPlacement | None = None,
        overrides: Sequence[PlacedProfile] = (),
    ) -> None:
        """Start a waiting job now on these hosts: as many as its size, all free (or shared, where Batsim allows it).

        They are a HostSet or a procset.ProcSet, and may include storage hosts. At most one of the following may be
        given: `mapping` puts executor i on the mapping[i]-th of the hosts, and `job.size` is the number of executors;
        `storage_mapping` gives the labels of the job's profile their storage hosts; `additional_io` is a parallel task,
        on hosts of its own, that is merged with the job's profile.

        With a `placement` there may be fewer hosts, on which the executors are placed in turn ("spread"), or on one
        host after the other, as many as it has cores ("fill", in Batsim 5 only, which sends the number of cores).
        `overrides` give profiles of a sequence their own hosts, in Batsim 5.

        A job with a demand starts on a Placed, as `place` returns it, whose hosts it may share with others; on a
        HostSet it has whole hosts, and wastes what it does not need.
        """
        state = self._state
        if type(hosts) is not HostSet or type(job) is not Job:
            if isinstance(hosts, Placed):
                self._start_tasks(job, hosts)
                return
            hosts = _as_hosts(f"start {id_of('start', job)}", hosts)
        if job.id not in state.queue:
            raise PlanError(f"start {job.id} on {hosts}: {not_waiting(state, job.id)}")
        usable = state.hosts.shareable if state.compute_sharing else state.hosts.free
        if hosts.bits & usable != hosts.bits or not hosts.bits:
            self._check_usable(job, hosts, usable)
        if placement is not None or mapping is not None or size_of(hosts.bits) != job.size:
            mapping = self._placed(job, hosts, mapping, placement)
        command = ExecuteJob(self.timestamp, job.id, hosts, mapping, storage_mapping, additional_io)
        if placement is not None or overrides:
            command = self._with_strategy(command, placement, overrides)
        if storage_mapping is not None or additional_io is not None or state.hosts.stores:
            command = self._with_extras(job, command)
        if self.watch is not None and (
            state.compute_sharing or mapping is not None or placement is not None or command.overrides
        ):
            self.watch(job, command)
        if job.demand is not None:
            self._tasks.note_whole(job)
        state.apply(command)
        self.commands.append(command)
        self.holds.pop(job.id, None)
        self.promises.pop(job.id, None)

    def place(self, job: Job, packing: str = "best_fit", among: HostSet | None = None) -> Placed | None:
        """Return where the tasks of a job with a demand could start now; None if there is no room for all of them.

        `packing` names the selection of hosts, one of PACKED_SELECTIONS; `among` are the hosts on which the job may
        run, None for all.
        """
        if job.demand is None:
            raise PlanError(f"place {id_of('place', job)}: it requests whole hosts, and not parts of them")
        return self._tasks.place(job.demand, packing, among)

    def has_room(self, job: Job, placed: Placed) -> bool:
        """Return whether the tasks of a job can start now at these places."""
        return self._tasks.can_start(job, placed, self.dialect)

    def _start_tasks(self, job: Job, placed: Placed) -> None:
        command = self._tasks.started(job, placed, self.timestamp, self.dialect)
        self._state.apply(command)
        self.commands.append(self._tasks.sent(command))
        self._forget(job.id)

    def reject(self, job: Job, why: str) -> None:
        """Reject a waiting or held job permanently. The reason is kept in `rejections`; users see the first ones."""
        if id_of("reject", job) not in self._state.queue and job.id not in self._state.held:
            raise PlanError(f"reject {job.id}: {not_waiting(self._state, job.id)}")
        if self.dialect.is_wrench:
            insist(f"reject {job.id} ({displayed(why)})", missing(self.dialect, RejectJob))
        self._send(RejectJob(self.timestamp, job.id))
        self._forget(job.id)
        self.rejections[job.id] = why
        if len(self.rejections) <= MOST_REPORTED:
            self.warn(f"{displayed(job.id)} rejected: {displayed(why)}")

    def kill(self, jobs: Job | Iterable[Job]) -> None:
        """Kill a running job, or several at once. Jobs that are already being killed are ignored."""
        running = self._state.running
        chosen = []
        for job in [jobs] if isinstance(jobs, Job) else several("kill", jobs):
            run = running.get(id_of("kill", job))
            if run is None:
                raise PlanError(f"kill {job.id}: it does not run")
            if not run.killed and job.id not in chosen:
                chosen.append(job.id)
        if chosen:
            insist(f"kill {', '.join(chosen)}", missing(self.dialect, KillJob))
            self._send(KillJob(self.timestamp, tuple(chosen)))

    def wake_at(self, time: SupportsFloat) -> None:
        """Request a call at `time`, later than now. Each instant is requested once; calls cannot be cancelled."""
        at = number_of("wake at", time)
        if not (math.isfinite(at) and at > self._state.now):
            raise PlanError(f"wake at {at!r}: it must be later than now, {self._state.now!r}")
        at = max(at, self.timestamp + SHORTEST_CALL * (self._calls + 1))
        if at not in self._state.wakeups:
            call = CallMeLater(self.timestamp, at)
            self._state.apply(call)
            self.commands.insert(self._calls, call)
            self._calls += 1

    def call_at(self, time: SupportsFloat) -> None:
        """Request a call at exactly `time`, in the order of the verbs, even if this instant is requested already.

        `wake_at` is safer: real Batsim may refuse a call soon after now, or after other commands of this message.
        """
        at = number_of("call at", time)
        if not (math.isfinite(at) and at > self.timestamp):
            raise PlanError(f"call at {at!r}: it must be later than now, {self.timestamp!r}")
        self._send(CallMeLater(self.timestamp, at))

    def take_time(self, duration: SupportsFloat) -> None:
        """Let the decision take `duration` more seconds of the simulation: later verbs take effect afterwards."""
        taken = number_of("take time", duration)
        if not (math.isfinite(taken) and taken >= 0):
            raise PlanError(f"take time {taken!r}: it must be a number of seconds, at least 0")
        self.timestamp += taken

    def set_pstate(self, hosts: HostSet | IntervalSet, pstate: SupportsIndex) -> None:
        """Switch hosts to a pstate; they take no job until Batsim acknowledges. Only idle hosts may be put to sleep."""
        pstate = whole_of("set pstate", pstate)
        hosts = _as_hosts(f"set pstate {pstate}", hosts)
        fault = switch_fault(self._state.hosts, hosts, pstate)
        if fault is not None:
            raise PlanError(f"set pstate {pstate} on {hosts}: {fault}")
        insist(f"set pstate {pstate} on {hosts}", missing(self.dialect, SetResourceState))
        if not self.dialect.is_v5:
            self._send(SetResourceState(self.timestamp, hosts, str(pstate)))
            return
        turned = turned_hosts(self._state.hosts, hosts, pstate)
        for part, turns in ((turned, True), (hosts.bits & ~turned, False)):
            if part:
                self._send(SetResourceState(self.timestamp, HostSet(part), str(pstate), turns))

    def set_metadata(self, job: Job, text: str) -> None:
        """Attach a text without double quotes to a job that waits, runs, or was just submitted by the algorithm.

        Batsim writes it to its jobs file; v1.4 does not support it.
        """
        state, job_id = self._state, id_of("set metadata", job)
        waits = job_id in state.queue or job_id in state.held
        if not waits and job_id not in state.running and job_id not in state.registered:
            raise PlanError(f"set metadata of {job.id}: it neither waits nor runs")
        insist(f"set metadata of {job.id}", missing(self.dialect, SetJobMetadata))
        if '"' in text or not text.isprintable():
            raise PlanError(f"set metadata of {job.id}: the text must not hold a double quote or a control character")
        self._send_written(f"set metadata of {job.id}", SetJobMetadata(self.timestamp, job.id, text))

    def message(self, job: Job, text: str) -> None:
        """Send a text to a running job."""
        insist(f"message to {id_of('message', job)}", missing(self.dialect, ToJobMessage))
        if job.id not in self._state.running:
            raise PlanError(f"message to {job.id}: it does not run")
        self._send_written(f"message to {job.id}", ToJobMessage(self.timestamp, job.id, text))

    def change_state(self, job: Job, state: str, why: str | None = None) -> None:
        """Change Batsim's record of the state of a control job, for which nothing is executed (CHANGE_JOB_STATE).

        A waiting job may become RUNNING, and in v1.4 REJECTED; a job that became RUNNING so may in v1.4 become
        COMPLETED_SUCCESSFULLY or COMPLETED_KILLED, which may have a reason. No event follows. Batsim 4 aborts on any
        change that would end this job: there it runs forever, and the run never ends.
        """
        what = f"change state of {id_of('change state', job)} to {state}"
        waits, runs = job.id in self._state.queue, job.id in self._state.control
        if job.id in self._state.running:
            raise PlanError(
                f"{what}: it really runs, on {self._state.running[job.id].hosts}; it ends by itself or by kill"
            )
        if not waits and not runs:
            raise PlanError(f"{what}: {not_waiting(self._state, job.id)}")
        insist(what, missing(self.dialect, ChangeJobState) or control_job_fault(self.dialect, state, why, runs=runs))
        self._send_written(what, ChangeJobState(self.timestamp, job.id, state, why))
        self._forget(job.id)

    def ask_energy(self) -> None:
        """Request the energy consumed so far; the Answer is in the next message. Batsim must run with energy.

        That message needs another decision, so a request at each decision never ends.
        """
        insist("ask energy", missing(self.dialect, events.Query))
        self.check_energy("ask energy")
        self.commands.append(events.Query(self.timestamp, {"consumed_energy": {}}))

    def answer(self, values: Mapping[str, Any]) -> None:
        """Answer a Query of Batsim."""
        self._send_written("answer", events.Answer(self.timestamp, dict(values)))

    def hold(self, job: Job, why: str, kind: HoldKind = "own") -> None:
        """Record the reason why a job waits. Not sent: it is shown after a deadlock, and by `explain`.

        The `kind` classifies the reason: a promise that would be broken, free hosts that are not suitable
        (`constraint`), or a fixed start in the future (`instant`). Too few free hosts need no kind: they are detected.
        The engine holds jobs for their conditions on other jobs (`condition`).
        """
        try:
            self.holds[job.id] = Hold(job, why, self._state.now, kind)
        except AttributeError:
            raise no_job("hold", job) from None

    def release(self, job: Job) -> None:
        """Forget why a job was held that is in the queue now; for the engine."""
        self.holds.pop(job.id, None)

    def promise(self, job: Job, slot: Slot | Claim | Shadow | RoomSlot) -> None:
        """Record the latest start of a job. Not sent."""
        try:
            self.promises[job.id] = slot
        except AttributeError:
            raise no_job("promise", job) from None

    def withdraw_promise(self, job_id: Text) -> None:
        """Remove the promise of the job of this id, if it has one. Not sent."""
        self.promises.pop(job_id if isinstance(job_id, str) else id_text("withdraw promise", job_id), None)

    def warn(self, text: str) -> None:
        """Show a warning of one line with the time to the user; names from a peer are escaped. Not sent."""
        if self._warn_user is not None:
            self._warn_user(displayed_line(f"t={seconds(self._state.now)}: {text}"))

    def ignore(self, kind: str, subject: object, why: str, line: str) -> None:
        """Warn with a line that the request of an event has no effect, as an IgnoredRequest says; not sent."""
        self.ignored.append(IgnoredRequest(kind, subject, why))
        self.warn(line)

    def begin(self, timestamp: float) -> None:
        """Begin the plan of a new message, for the engine; commands take effect at `timestamp`."""
        self.timestamp = timestamp
        self.commands = []
        self._calls = 0
        if self.ignored:
            self.ignored = []
        if self.written:
            self.written = {}

    def _check_usable(self, job: Job, hosts: HostSet, usable: int) -> None:
        """Raise PlanError unless the hosts beyond the usable ones (bits) are storage hosts."""
        wrong = hosts.bits & ~usable & ~usable_storages(self._state)
        if wrong or not hosts.bits:
            raise PlanError(f"start {job.id} on {hosts}: {not_usable(self._state.hosts, wrong)}")

    def _with_strategy(
        self, command: ExecuteJob, placement: ExecutorPlacement | None, overrides: Sequence[PlacedProfile]
    ) -> ExecuteJob:
        """Return a start with a placement of executors and hosts of profiles, after checking and writing it."""
        what = f"start {command.job_id} on {command.hosts}"
        strategy = placement if placement is not None and self.dialect.is_v5 else "spread"
        command = replace(command, placement=strategy, overrides=tuple(overrides))
        insist(what, overrides_fault(self._state, command.overrides))
        self._write(what, command)
        return command

    def _with_extras(self, job: Job, command: ExecuteJob) -> ExecuteJob:
        """Check the extras of a start; return the command with the storage that Batsim 5 requires."""
        what, given = f"start {job.id} on {command.hosts}", command.additional_io
        if command.storage_mapping is None and given is None:
            named = only_storage(self._state, job) if self.dialect.is_v5 else None
            return command if named is None else replace(command, storage_mapping=named)
        insist(what, None if given is None else missing(self.dialect, AdditionalIo))
        check_extras(self._state, self.dialect, job, command)
        self._write(what, command)
        return command

    def _placed(
        self, job: Job, hosts: HostSet, mapping: Mapping[int, int] | None, placement: ExecutorPlacement | None
    ) -> Mapping[int, int] | None:
        """Return the given mapping, or that equivalent to a placement for a Batsim without placements.

        None if none is needed. PlanError if executors do not fit on the hosts.
        """
        what = f"start {job.id} on {hosts}"
        if placement is None:
            if mapping is None:
                raise PlanError(f"{what}: it needs {counted(job.size, 'host')}, not {len(hosts)}")
            insist(what, mapping_fault(job, hosts, mapping))
            return mapping
        insist(what, placement_fault(self.dialect, job, hosts, mapping, placement))
        if self.dialect.is_v5 or len(hosts) == job.size:
            return None
        return {executor: executor % len(hosts) for executor in range(job.size)}

    def _send(self, command: Command) -> None:
        self._state.apply(command)
        self.commands.append(command)

    def _send_written(self, what: str, command: Command) -> None:
        """Send a command of a rare verb, whose data comes from the algorithm and may not be valid JSON."""
        self._write(what, command)
        self._send(command)

    def _write(self, what: str, command: Command) -> None:
        """Write a command for the reply; PlanError if that is impossible in this dialect."""
        try:
            self.written[id(command)] = command, encode_alone(command, self.dialect.commands, self.dialect.name)
        except LocalProtocolError as error:
            raise PlanError(f"{what}: {error.path.removeprefix('events[0].')}: {error.rule}") from None

    def _forget(self, job_id: str) -> None:
        self.holds.pop(job_id, None)
        self.promises.pop(job_id, None)


def _as_hosts(what: str, hosts: HostSet | IntervalSet) -> HostSet:
    """Return the given hosts as a HostSet; PlanError if they are not hosts."""
    try:
        return as_host_set(hosts)
    except ValueError as error:
        raise PlanError(f"{what}: {error}") from None


def too_few(needed: int, free: int) -> str:
    """Return the reason why a job waits: "needs 3 hosts, 1 is free". It is fast: it is called at each decision."""
    return f"needs {needed} host{'' if needed == 1 else 's'}, {free} {'is' if free == 1 else 'are'} free"
