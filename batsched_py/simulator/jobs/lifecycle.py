"""Jobs: those that are submitted and not forgotten, from submission to the record of how they ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from batsched_py.bits import lowest_one
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.model.limits import LONGEST, TOO_LONG
from batsched_py.model.profile import Delay, Profile
from batsched_py.protocol.commands import ChangeJobState, ExecuteJob, KillJob, RejectJob, SetJobMetadata, ToJobMessage
from batsched_py.protocol.events import (
    COMPLETED_FAILED,
    COMPLETED_KILLED,
    COMPLETED_SUCCESSFULLY,
    COMPLETED_WALLTIME_REACHED,
    REJECTED,
    JobCompleted,
    JobKilled,
    Progress,
)
from batsched_py.simulator.context import Context
from batsched_py.simulator.generation import completion
from batsched_py.simulator.jobs.ended import EndedJobs
from batsched_py.simulator.jobs.execution import PLAIN, Execution, Site, ending
from batsched_py.simulator.jobs.profiles import ProfileStore, WorkloadProfiles
from batsched_py.simulator.jobs.talking_jobs import TalkingJob
from batsched_py.simulator.jobs.work import Task, Work, last_task, progress_at, rank_of_end, task_at
from batsched_py.simulator.machines.energy_use import EnergyUse
from batsched_py.simulator.machines.machines import COMPUTING
from batsched_py.simulator.machines.switching import Switching
from batsched_py.simulator.outputs.tracing import JOB_ENDED, JOB_STARTED
from batsched_py.simulator.records import JobRecord
from batsched_py.simulator.referee.errors import BrokenRuleError
from batsched_py.simulator.referee.placement import PlacementRules, executors
from batsched_py.simulator.time.event_queue import RANK_END, RANK_WATCH, Ticket

SUBMITTED: Final = "SUBMITTED"
RUNNING: Final = "RUNNING"
#: RUNNING in Batsim's books only, by CHANGE_JOB_STATE: nothing runs, and nothing will ever end it.
ONLY_IN_THE_BOOKS: Final = "RUNNING (set by CHANGE_JOB_STATE)"

#: (state, what happens) -> next state; what is absent is refused.
STATES: Final = {
    (SUBMITTED, "executed"): RUNNING,
    (SUBMITTED, "rejected"): REJECTED,
    (SUBMITTED, "set to RUNNING"): ONLY_IN_THE_BOOKS,
    (SUBMITTED, "set to REJECTED"): REJECTED,
    (ONLY_IN_THE_BOOKS, "set to COMPLETED_SUCCESSFULLY"): COMPLETED_SUCCESSFULLY,
    (ONLY_IN_THE_BOOKS, "set to COMPLETED_KILLED"): COMPLETED_KILLED,
    (RUNNING, "succeeded"): COMPLETED_SUCCESSFULLY,
    (RUNNING, "failed"): COMPLETED_FAILED,
    (RUNNING, "stopped at its walltime"): COMPLETED_WALLTIME_REACHED,
    (RUNNING, "killed"): COMPLETED_KILLED,
}

NO_HOSTS: Final = HostSet()
#: What Batsim records as the execution time of a job that took none, in seconds.
NULL_RUNTIME: Final = 1e-5

SHARED_HOSTS: Final = "computation: parallel tasks that share a host do not slow each other down"


class LiveJob(Struct, eq=False):
    """A job that Batsim knows: from its submission until the message that tells its end was sent."""

    job: Job
    profile: Profile
    state: str = SUBMITTED
    kill_requested: bool = False
    #: From here on: only of a job that was executed.
    hosts: HostSet = NO_HOSTS
    start: float = 0.0
    work: Work | None = None
    #: Host of each executor, what the job has beside its hosts, and by how many seconds the work is further than the
    #: clock: only where speeds may change.
    executors: Sequence[int] = ()
    site: Site = PLAIN
    ahead: float = 0.0
    #: Return code if nobody kills it; None if its walltime ends it.
    code: int | None = None
    end: Ticket = 0
    #: Of a parallel task that takes as long as its walltime; else 0.
    watch: Ticket = 0
    #: Only where energy is counted, and of no job that talks.
    energy_use: EnergyUse | None = None
    #: Only of a job that talks: what plays it, and the texts that it has not received yet.
    talking: TalkingJob | None = None
    inbox: deque[str] | None = None


class Jobs:
    """Starts and ends jobs, and makes the record of each that ended."""

    def __init__(
        self,
        context: Context,
        profile_store: ProfileStore,
        execution: Execution,
        switching: Switching,
        ended: EndedJobs,
    ) -> None:
        self._context, self._profiles, self._execution, self._switching = context, profile_store, execution, switching
        self._queue, self._machines, self._tracer = context.queue, context.machines, context.tracer
        self._placement = PlacementRules(context, profile_store, switching)
        self._is_v14 = context.is_v14
        self._forget_profiles = context.settings.dynamic_jobs and not context.settings.profile_reuse
        switching.follow_speeds = self.follow_speeds
        #: Id -> job, submitted and not forgotten.
        self.live: dict[str, LiveJob] = {}
        #: Those of them that have not ended.
        self.unfinished = 0
        #: Id -> job, those that run, in the order of their starts; only kept up where energy is counted.
        self._charged: dict[str, LiveJob] = {}
        self.ended = ended
        #: Joules of all hosts at the latest completion; -1 before, as in Batsim.
        self.joules_at_last_end = -1.0
        #: EndedJobs, and told of in the message that is sent next.
        self.told: list[str] = []
        #: (workload, name) of profiles whose jobs' ends the latest message told.
        self.leaving: list[tuple[str, str]] = []
        #: Id -> metadata, of jobs that have not ended.
        self._metadata: dict[str, str] = {}

    def count_waiting(self) -> int:
        """Jobs that wait for a decision; looks at each that is not forgotten."""
        return sum(live.state == SUBMITTED for live in self.live.values())

    def submit(self, job: Job, profile: Profile) -> None:
        """The job now waits for the scheduler's decision."""
        self.live[job.id] = LiveJob(job, profile)
        self.unfinished += 1

    def forget_ended(self) -> None:
        """A message was sent: the jobs whose end it told are unknown from now on (E8). Batsim 1 forgets nothing.

        The profiles of these jobs may still be named in the reply, those of the message before no more.
        """
        for workload, profile in self.leaving:
            self._profiles.forget(workload, profile)
        self.leaving.clear()
        if not self._is_v14:
            for job_id in self.told:
                live = self.live.pop(job_id)
                if self._forget_profiles:
                    self.leaving.append((live.job.workload, live.job.profile))
        self.told.clear()

    def execute(self, command: ExecuteJob) -> None:
        """Start a job; BrokenRuleError by the rules of E11."""
        live = self._find(command.job_id)
        state = _next_state(live, "executed")
        job, now, hosts = live.job, self._queue.now, command.hosts.bits
        self._placement.check(command, job, live.profile)
        is_delay = type(live.profile) is Delay
        if not is_delay and hosts & self._machines.hosts_in[COMPUTING] & self._machines.compute:
            self._context.approximations.add(SHARED_HOSTS)
        profiles, site = self._profiles.by_workload[job.workload], self._placement.site(command, job, live.profile)
        if profiles.talking and job.profile in profiles.talking:
            live.state = state
            self._converse(live, command, profiles, site)
            return
        used = () if is_delay else executors(command)
        try:
            live.work = work = self._work(live, profiles, used, site)
            if work.duration > LONGEST and job.walltime is None:
                raise BrokenRuleError(f"runs {work.profile} without a walltime: {TOO_LONG} not {work.duration:g}")
        except BrokenRuleError as broken:
            raise BrokenRuleError(str(broken), job=job.id) from None
        live.state, live.hosts, live.start = state, command.hosts, now
        self._machines.occupy(hosts, now)
        if self._context.meter is not None:
            live.energy_use = EnergyUse(self._context, self._context.meter, hosts, work)
            live.executors, live.site = used, site
            self._charged[job.id] = live
        if self._tracer is not None:
            self._tracer.job(JOB_STARTED)
        duration, live.code = ending(work, job.walltime)
        live.end = self._queue.at(now + duration, _rank_of_end(work, live.code, duration), self._complete, live)
        if duration == job.walltime and live.code is not None:
            live.watch = self._queue.at(now + duration, RANK_WATCH, self._stop, live)

    def follow_speeds(self, hosts: int) -> None:
        """The speed of these hosts has changed: what computes there ends at another time (energy is counted)."""
        now = self._queue.now
        for live in self._charged.values():
            if not live.hosts.bits & hosts:
                continue
            if live.talking is not None:
                live.talking.follow_speeds()
            if not live.executors:
                continue
            assert live.energy_use is not None  # noqa: S101  # set when it was executed
            profiles = self._profiles.by_workload[live.job.workload]
            live.work = work = self._work(live, profiles, live.executors, live.site)
            done = live.energy_use.follow(work)
            elapsed = now - live.start
            live.ahead = done - elapsed
            walltime = live.job.walltime
            left, live.code = ending(work, None if walltime is None else walltime - elapsed, done)
            self._queue.cancel(live.end)
            live.end = self._queue.at(now + left, _rank_of_end(work, live.code, done + left), self._complete, live)

    def reject(self, command: RejectJob) -> None:
        """Refuse a waiting job for good."""
        live = self._find(command.job_id)
        self._reject(live, _next_state(live, "rejected"))

    def kill(self, command: KillJob) -> None:
        """Stop running jobs: the sequence of E9. Those whose kill was asked before are passed over."""
        found = [self._find(job_id) for job_id in dict.fromkeys(command.job_ids)]
        asked = [live for live in found if not live.kill_requested]
        for live in asked:
            if live.state in (SUBMITTED, ONLY_IN_THE_BOOKS):
                raise BrokenRuleError(f"does not run, it cannot be killed (it is {live.state})", job=live.job.id)
        progress: dict[str, Progress] = {}
        for live in asked:
            live.kill_requested = True
            if live.state == RUNNING:
                progress[live.job.id] = self._kill(live)
        if asked:
            self._context.mailbox.post(self._tell_kill, (asked, progress))

    def set_metadata(self, command: SetJobMetadata) -> None:
        """Attach a text, which ends in the jobs file."""
        self._metadata[self._find(command.job_id).job.id] = command.metadata

    def tell(self, command: ToJobMessage) -> None:
        """A message to a job, which keeps it until a profile of its own listens: also one that waits for its start."""
        live = self._find(command.job_id)
        if live.job.profile in self._profiles.by_workload[live.job.workload].talking:
            self._inbox(live).append(command.message)
            if live.talking is not None:
                live.talking.hear()

    def change_state(self, command: ChangeJobState) -> None:
        """Change the books alone, and tell nobody; of Batsim 4.2.1 only SUBMITTED to RUNNING gets past."""
        live, now = self._find(command.job_id), self._queue.now
        if command.state != RUNNING and not self._is_v14:
            raise BrokenRuleError(f"cannot be set to {command.state}: Batsim 4 aborts on it", job=command.job_id)
        if self._is_v14 and command.kill_reason is not None and command.state != COMPLETED_KILLED:
            raise BrokenRuleError("has a kill_reason, which goes with COMPLETED_KILLED alone", job=command.job_id)
        state = _next_state(live, f"set to {command.state}")
        if state == ONLY_IN_THE_BOOKS:
            live.state, live.start = state, now
        elif state == REJECTED:
            self._reject(live, state)
        else:
            live.state = state
            code = 0 if state == COMPLETED_SUCCESSFULLY else -1
            finish = max(now, live.start + NULL_RUNTIME)
            self._record(JobRecord(live.job, state, code, live.start, finish, NO_HOSTS))

    def _find(self, job_id: str) -> LiveJob:
        live = self.live.get(job_id)
        if live is None:
            raise BrokenRuleError(
                "is unknown: it was never submitted, or its end was told and it is forgotten", job=job_id
            )
        return live

    def _reject(self, live: LiveJob, state: str) -> None:
        live.state = state
        self._record(JobRecord(live.job, state, 0, 0.0, 0.0, NO_HOSTS, metadata=self._metadata_of(live)))
        self.told.append(live.job.id)

    def _converse(self, live: LiveJob, command: ExecuteJob, profiles: WorkloadProfiles, site: Site) -> None:
        """Start a job whose end depends on what the scheduler says."""
        job, hosts, runners = live.job, command.hosts.bits, executors(command)

        def perform(profile: Profile, site: Site) -> Task:
            task = self._execution.work(profile, profiles.by_name, runners, self._switching.speeds, site)
            assert isinstance(task, Task)  # noqa: S101  # a composed profile is played step by step
            return task

        live.hosts, live.start = command.hosts, self._queue.now
        self._machines.occupy(hosts, live.start)
        if self._tracer is not None:
            self._tracer.job(JOB_STARTED)
        live.talking = TalkingJob(
            self._context,
            job_id=job.id,
            hosts=hosts,
            walltime=job.walltime,
            profiles=profiles,
            inbox=self._inbox(live),
            perform=perform,
            end=partial(self._hang_up, live),
        )
        if self._context.meter is not None:
            self._charged[job.id] = live
        live.talking.begin(live.profile, site)

    def _hang_up(self, live: LiveJob, code: int | None) -> None:
        """A talking has come to its end."""
        live.code = code
        self._complete(live)

    def _inbox(self, live: LiveJob) -> deque[str]:
        if live.inbox is None:
            live.inbox = deque()
        return live.inbox

    def _complete(self, live: LiveJob) -> None:
        """It ends by itself or at its walltime."""
        code = live.code
        # Batsim takes a negative `ret` of a profile for the code of a walltime that is over.
        what = "succeeded" if code == 0 else "failed" if (code or -1) > 0 else "stopped at its walltime"
        self._end(live, _next_state(live, what), -1 if code is None else code)
        self._context.mailbox.post(self._tell_end, live, lowest_one(live.hosts.bits))

    def _work(self, live: LiveJob, profiles: WorkloadProfiles, used: Sequence[int], site: Site) -> Work:
        return self._execution.work(live.profile, profiles.by_name, used, self._switching.speeds, site)

    def _stop(self, live: LiveJob) -> None:
        """A walltime is over at the very instant at which the job would have ended by itself."""
        self._queue.cancel(live.end)
        live.code, live.watch = None, 0
        self._complete(live)

    def _kill(self, live: LiveJob) -> Progress:
        if live.talking is not None:
            code, progress = live.talking.killed_code, live.talking.progress()
            self._end(live, _next_state(live, "killed"), code)
            return progress
        assert live.work is not None  # noqa: S101  # set when it was executed
        elapsed = self._queue.now - live.start + live.ahead
        self._queue.cancel(live.end)
        self._end(live, _next_state(live, "killed"), task_at(live.work, elapsed).killed_code)
        return progress_at(live.work, elapsed, next_at_border=self._is_v14)

    def _tell_end(self, live: LiveJob) -> None:
        self.told.append(live.job.id)
        if not self._is_v14:
            self._context.emit(JobCompleted(self._queue.stamp, live.job.id, live.state, live.code, live.hosts))
        elif live.state != COMPLETED_KILLED:  # of a killed job only JOB_KILLED tells
            self._context.emit(completion(self._queue.stamp, live.job.id, live.state, live.code))

    def _tell_kill(self, done: tuple[list[LiveJob], dict[str, Progress]]) -> None:
        asked, progress = done
        for live in asked:
            if live.job.id in progress:
                self._tell_end(live)
        self._context.emit(JobKilled(self._queue.stamp, tuple(live.job.id for live in asked), progress))

    def _end(self, live: LiveJob, state: str, code: int) -> None:
        now = self._queue.now
        live.state, live.code = state, code
        if live.watch:
            self._queue.cancel(live.watch)
        self._machines.release(live.hosts.bits, now)
        energy, consumer = -1.0, live.energy_use if live.talking is None else live.talking
        joules = 0.0 if consumer is None else consumer.stop()
        if self._context.meter is not None:
            energy = joules
            del self._charged[live.job.id]
            self.joules_at_last_end = self._context.meter.total(now)
        if self._tracer is not None:
            self._tracer.job(JOB_ENDED)
        finish = now if now > live.start else live.start + NULL_RUNTIME
        metadata = self._metadata_of(live) if self._metadata else ""
        self._record(JobRecord(live.job, state, code, live.start, finish, live.hosts, energy, metadata))

    def _record(self, record: JobRecord) -> None:
        self.ended.add(record)
        self.unfinished -= 1

    def _metadata_of(self, live: LiveJob) -> str:
        return self._metadata.pop(live.job.id, "")


def _rank_of_end(work: Work, code: int | None, elapsed: float) -> int:
    """Rank of the end of a job `elapsed` seconds into its work; without a code its walltime stops it."""
    if type(work) is Task and work.is_delay:  # as nearly all are: nothing more need be asked
        return RANK_END
    if code is None:
        return rank_of_end(task_at(work, elapsed), stopped=True)
    return rank_of_end(last_task(work), stopped=False)


def _next_state(live: LiveJob, what: str) -> str:
    state = STATES.get((live.state, what))
    if state is None:
        raise BrokenRuleError(f"is {live.state}, it cannot be {what}", job=live.job.id)
    return state
