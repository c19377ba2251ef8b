"""The life cycle of jobs, from submission to the record of the end.

The table `live_jobs.STATES` contains the possible commands and ends in each state. The execution of running jobs is in
`planned_jobs` (nearly all jobs), `contending_jobs` and `talking_jobs`.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from batsched_py.bits import lowest_one, size_of
from batsched_py.model.cancellation import still_cancelled
from batsched_py.model.conditions import ATTEMPT_OF
from batsched_py.model.job import Job
from batsched_py.model.profile import Composed, Delay, Profile
from batsched_py.protocol.batsim5.profiles import write_profile
from batsched_py.protocol.commands import ChangeJobState, ExecuteJob, KillJob, RejectJob, SetJobMetadata, ToJobMessage
from batsched_py.protocol.events import (
    COMPLETED_SUCCESSFULLY,
    REJECTED,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    Progress,
)
from batsched_py.reading.limits import LONGEST, TOO_LONG
from batsched_py.results.records import EndedJobs, JobRecord, SlowedJob
from batsched_py.results.tracing import JOB_ENDED, JOB_STARTED
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.contending_jobs import ContendingJob
from batsched_py.simulator.jobs.execution import ProfileExecution
from batsched_py.simulator.jobs.feedback import FollowingJobs
from batsched_py.simulator.jobs.live_jobs import NO_HOSTS, ONLY_IN_THE_BOOKS, RUNNING, SUBMITTED, LiveJob, RunningJob
from batsched_py.simulator.jobs.planned_jobs import PlannedJob
from batsched_py.simulator.jobs.profiles import ProfileStore
from batsched_py.simulator.jobs.talking_jobs import TalkingJob
from batsched_py.simulator.jobs.workflow_submitter import WorkflowSubmitter
from batsched_py.simulator.machines.machines import COMPUTING
from batsched_py.simulator.referee.errors import BrokenRuleError
from batsched_py.simulator.referee.placement import PlacementRules
from batsched_py.simulator.time.event_queue import PRECISION
from batsched_py.simulator.wire.rounding import wire_members

# The end of a job has three steps at different times: it ends, its end is announced (the message may take time), and it
# is removed immediately after the announcing message was sent (E8; Batsim 1 removes nothing). `live` contains the jobs
# that are not removed, `unfinished` counts those that have not ended, and `announced` lists those whose end is in the
# next message. Profiles are removed one message later (`leaving`): a reply may still reference them.
#
# Which commands and ends are possible in a state is a table (`live_jobs.STATES`), and each method asks `next_state`
# before it changes anything.
#
# A running job is one of three objects, chosen at its start: `PlannedJob` (its end is computed), `ContendingJob`
# (others may slow it down) and `TalkingJob` (it waits for the scheduler). Nearly all are planned jobs, for which the
# others cost only one test. A job and its running object reference each other; `_end` removes the cycle, so that ended
# jobs are freed immediately and not only by the garbage collector.

#: The execution time in seconds that Batsim records for a job of duration 0.
NULL_RUNTIME: Final = 1e-5

#: The return code of a job that ends because one of its hosts fails.
FAILED_CODE: Final = 1

SHARED_HOSTS: Final = "computation: parallel tasks that share a host do not slow each other down"


class Jobs:
    """The set of live jobs: starts, ends, and records of ended jobs."""

    def __init__(
        self,
        context: Context,
        profiles: ProfileStore,
        execution: ProfileExecution,
        placement: PlacementRules,
        ended: EndedJobs,
        *,
        used_ids: set[str],
    ) -> None:
        """Take the parts it uses; `used_ids` are the ids of all jobs, which only resubmission needs."""
        self._context, self._queue, self._machines = context, context.queue, context.machines
        self._profiles, self._execution, self._placement, self._ended = profiles, execution, placement, ended
        self._emit, self._forgets = context.outbox.append, context.generation.forgets
        self._forgets_profiles = context.settings.dynamic_jobs and not context.settings.profile_reuse
        #: Whether failures of hosts end their jobs.
        self._loses_jobs = context.settings.on_failure != "ignore"
        #: Whether JOBS_KILLED includes the profiles of the jobs, on request to Batsim 5.
        self.forwards_on_kill = False
        #: Id -> job, from submission until removal.
        self.live: dict[str, LiveJob] = {}
        #: Number of jobs in `live` that have not ended.
        self.unfinished = 0
        #: Id -> running job, in the order of starts; only maintained with energy accounting.
        self._charged: dict[str, LiveJob] = {}
        #: Joules of all hosts at the latest completion; -1 before, as in Batsim.
        self.joules_at_last_end = -1.0
        #: Ids of jobs with an end in the outbox.
        self.announced: list[str] = []
        #: (workload, name) of profiles to remove with the next message.
        self.leaving: list[tuple[str, str]] = []
        self._used_ids = used_ids
        #: Id of a resubmitted job -> id of its first attempt, and the number in its name.
        self._attempts: dict[str, tuple[str, int]] = {}
        #: Number of resubmitted jobs.
        self.resubmitted = 0
        #: Id -> metadata of a job that has not ended; id -> texts that the job has not received yet.
        self._metadata: dict[str, str] = {}
        self._inboxes: defaultdict[str, deque[str]] = defaultdict(deque)
        #: Workflows and jobs that follow others, which wait for ends of jobs.
        self.workflows: list[WorkflowSubmitter] = []
        self.following: FollowingJobs | None = None

    def count_waiting(self) -> int:
        """Return the number of jobs that wait for a decision, in a time proportional to that of live jobs."""
        return sum(live.state == SUBMITTED for live in self.live.values())

    def submit(self, job: Job, profile: Profile, *, announced: bool = True) -> None:
        """Submit a job; announce it by JOB_SUBMITTED, which contains only its id if the job is in the store."""
        self.live[job.id] = LiveJob(job, profile)
        self.unfinished += 1
        if not announced:
            return
        stored, forwarded = self._context.store is not None, None
        if self._context.settings.forward_profiles and not stored:
            forwarded = wire_members(profile.members)
        self._emit(JobSubmitted(self._queue.stamp, job.id, None if stored else job, forwarded))

    def forget_ended(self) -> None:
        """Remove the jobs whose ends the sent message announced (E8). Batsim 1 removes nothing.

        The reply may still reference the profiles of these jobs, but not those of the previous message.
        """
        for workload, profile in self.leaving:
            self._profiles.forget(workload, profile)
        self.leaving.clear()
        if self._forgets:
            for job_id in self.announced:
                live = self.live.pop(job_id)
                if self._forgets_profiles:
                    self.leaving.append((live.job.workload, live.job.profile))
        self.announced.clear()

    def execute(self, command: ExecuteJob) -> None:
        """Start a job; BrokenRuleError by the rules of E11.

        If failures end jobs, a job on a host that has failed since the request fails immediately.
        """
        live = self._find(command.job_id)
        state = live.next_state("executed")
        job, profile, hosts = live.job, live.profile, command.hosts.bits
        lost = hosts & self._machines.failed_since_request if self._loses_jobs else 0
        self._placement.check(command, job, profile, lost)
        if off := hosts & self._context.off:
            rule = "starts on a host that is off (see --on-failure): Batsim aborts"
            raise BrokenRuleError(rule, job=job.id, hosts=off)
        if job.demand is not None or command.places:
            live.places = self._placement.capacities.begin(command, job)
        if self._context.fluid is None:
            self._note_sharing(profile, hosts)
        live.hosts, live.site = command.hosts, self._placement.site(command, job, profile)
        live.running = running = self._running(live)
        live.state, live.start = state, self._queue.now
        self._machines.occupy(hosts, live.start)
        if self._context.meter is not None:
            self._charged[job.id] = live
        if self._context.tracer is not None:
            self._context.tracer.job(JOB_STARTED)
        running.begin()
        if lost:
            self.end_failed([live])

    def _note_sharing(self, profile: Profile, hosts: int) -> None:
        if type(profile) is not Delay and hosts & self._machines.hosts_in[COMPUTING] & self._machines.compute:
            self._context.approximations.add(SHARED_HOSTS)

    def follow_speeds(self, hosts: int) -> None:
        """Update the ends of jobs on hosts whose speed has changed (with energy accounting)."""
        for live in self._charged.values():
            if live.running is not None and (live.hosts.bits & hosts or live.site.reaches(hosts)):
                live.running.follow_speeds()

    def reject(self, command: RejectJob) -> None:
        """Reject a waiting job."""
        live = self._find(command.job_id)
        self._reject(live, live.next_state("rejected"))

    def kill(self, command: KillJob) -> None:
        """Kill running jobs, in the sequence of E9; skip those that are already being killed."""
        found = [self._find(job_id) for job_id in dict.fromkeys(command.job_ids)]
        asked = [live for live in found if not live.kill_requested]
        for live in asked:
            if live.state in (SUBMITTED, ONLY_IN_THE_BOOKS):
                raise BrokenRuleError(f"does not run, it cannot be killed (it is {live.state})", job=live.job.id)
        progress: dict[str, Progress] = {}
        for live in asked:
            live.kill_requested = True
            if live.state == RUNNING and live.running is not None:
                code, progress[live.job.id] = live.running.kill()
                self._end(live, live.next_state("killed"), code)
        if asked:
            self._context.mailbox.post(self._announce_kill, (asked, progress))
        elif not self._context.generation.accepts_kills_in_vain:
            raise BrokenRuleError("names no job that is not being killed already")

    def running(self) -> list[LiveJob]:
        """Return the jobs that run and are not lost."""
        return [live for live in self.live.values() if live.state == RUNNING and live.running is not None]

    def fail(self, hosts: int) -> None:
        """End the jobs that run on failing hosts, and resubmit them if `on_failure` requests it."""
        self.end_failed([live for live in self.running() if live.hosts.bits & hosts])

    def forget_running(self, live: LiveJob) -> None:
        """Lose a job, which keeps its hosts and never ends."""
        running, live.running = live.running, None
        assert running is not None  # noqa: S101  # it runs
        running.kill()
        running.stop()

    def end_failed(self, lost: Sequence[LiveJob]) -> None:
        """End jobs that fail, and resubmit them if `on_failure` requests it."""
        is_repeated = self._context.settings.on_failure == "requeue"
        for live in lost:
            assert live.running is not None  # noqa: S101  # set when it was executed
            live.running.kill()
            live.code = FAILED_CODE
            self._end(live, live.next_state("failed"), FAILED_CODE)
            announce = self._announce_attempt if is_repeated else self._announce_end
            self._context.mailbox.post(announce, live, lowest_one(live.hosts.bits))
        if is_repeated:
            for live in lost:
                self._submit_again(live)

    def _submit_again(self, live: LiveJob) -> None:
        """Resubmit a job that failed with its hosts, from the beginning, under the next free name: 7, 7~1, 7~2..."""
        now, plain = self._queue.now, live.job
        first, attempt = self._attempts.pop(plain.id, (plain.id, 0))
        attempt += 1
        while (job_id := f"{first}~{attempt}") in self._used_ids:
            attempt += 1
        self._used_ids.add(job_id)
        self._attempts[job_id] = first, attempt
        earlier = plain.id.partition("!")[2]
        members: Mapping[str, Any] = {**plain.members, "id": job_id, "subtime": round(now, 6), ATTEMPT_OF: earlier}
        members = still_cancelled(plain, members, now)
        job = Job(job_id, now, plain.size, plain.walltime, plain.profile, members, plain.demand)
        if self._forgets_profiles:
            self._profiles.need(job.workload, job.profile)
        self.submit(job, live.profile)
        self.resubmitted += 1
        if self._context.store is not None:
            self._context.store.write([(job, live.profile)])

    def set_metadata(self, command: SetJobMetadata) -> None:
        """Attach a text, which appears in the jobs file."""
        self._metadata[self._find(command.job_id).job.id] = command.metadata

    def send(self, command: ToJobMessage) -> None:
        """Keep a message until a profile of the job receives it; the job may not have started yet."""
        live = self._find(command.job_id)
        if live.job.profile in self._profiles.by_workload[live.job.workload].talking:
            self._inboxes[live.job.id].append(command.message)
            if isinstance(live.running, TalkingJob):
                live.running.schedule_check()

    def change_state(self, command: ChangeJobState) -> None:
        """Change only the recorded state, without an event; Batsim 4.2.1 accepts only SUBMITTED to RUNNING."""
        live, now = self._find(command.job_id), self._queue.now
        self._context.generation.check_state_change(command)
        state = live.next_state(f"set to {command.state}")
        if state == REJECTED:
            self._reject(live, state)
            return
        live.state = state
        if state == ONLY_IN_THE_BOOKS:
            live.start = now
        else:
            code = 0 if state == COMPLETED_SUCCESSFULLY else -1
            finish = max(now, live.start + NULL_RUNTIME)
            self._record(JobRecord(live.job, state, code, live.start, finish, NO_HOSTS))

    def _running(self, live: LiveJob) -> RunningJob:
        job, profiles = live.job, self._profiles.by_workload[live.job.workload]
        if profiles.talking and job.profile in profiles.talking:
            inbox = self._inboxes[job.id]
            return TalkingJob(self._context, self._execution, live, profiles, self._complete, inbox=inbox)
        try:
            work = self._execution.work(live.profile, profiles.by_name, live.site)
        except BrokenRuleError as broken:
            raise BrokenRuleError(str(broken), job=job.id) from None
        if job.walltime is None and work.duration > LONGEST:
            rule = f"runs {work.profile} without a walltime: {TOO_LONG} not {work.duration:g}"
            raise BrokenRuleError(rule, job=job.id)
        if work.contends and work.duration > PRECISION:  # a sequence of duration 0 may have very many steps
            return ContendingJob(self._context, self._execution, live, work, end=self._complete)
        return PlannedJob(self._context, self._execution, live, profiles.by_name, work, end=self._complete)

    def _find(self, job_id: str) -> LiveJob:
        live = self.live.get(job_id)
        if live is None:
            raise BrokenRuleError(
                "is unknown: it was never submitted, or its end was reported and it is forgotten", job=job_id
            )
        return live

    def _reject(self, live: LiveJob, state: str) -> None:
        live.state = state
        self._record(JobRecord(live.job, state, 0, 0.0, 0.0, NO_HOSTS, metadata=self._metadata.pop(live.job.id, "")))
        self.announced.append(live.job.id)
        first_id, _ = self._attempts.pop(live.job.id, (live.job.id, 0))
        self._let_follow(first_id)

    def _complete(self, live: LiveJob) -> None:
        """End a job that completes, or reaches its walltime (code None)."""
        code = live.code
        # Batsim interprets a negative `ret` of a profile as a reached walltime.
        what = "succeeded" if code == 0 else "failed" if (code or -1) > 0 else "stopped at its walltime"
        running = live.running
        assert running is not None  # noqa: S101  # set when it was executed
        self._end(live, live.next_state(what), -1 if code is None else code)
        self._context.mailbox.post(self._announce_end, live, lowest_one(live.hosts.bits), running.release)

    def _announce_end(self, live: LiveJob) -> None:
        self._announce_attempt(live)
        first_id, _ = self._attempts.pop(live.job.id, (live.job.id, 0))
        self._let_follow(first_id)

    def _announce_attempt(self, live: LiveJob) -> None:
        """Announce the end of an attempt, which may not be the end of the job: nothing follows it."""
        self.announced.append(live.job.id)
        self._emit_end(live)

    def _let_follow(self, job_id: str) -> None:
        """Submit what follows the end of a job, by the id of its first attempt."""
        for workflow in self.workflows:
            workflow.end(job_id)
        if self.following is not None:
            self.following.announce(job_id, "end")

    def _emit_end(self, live: LiveJob) -> None:
        event = JobCompleted(self._queue.stamp, live.job.id, live.state, live.code, live.hosts)
        announced = self._context.generation.completion(event)
        if announced is not None:
            self._emit(announced)

    def _announce_kill(self, done: tuple[list[LiveJob], dict[str, Progress]]) -> None:
        asked, progress = done
        for live in asked:
            if live.job.id in progress:
                self._announce_end(live)
        extra: dict[str, Any] = {}
        if self._context.generation.counts_repetitions:
            progress = {job_id: self._repeated(job_id, progress[job_id]) for job_id in sorted(progress)}
            if self.forwards_on_kill:
                extra = {"profiles": self._forwarded(live for live in asked if live.job.id in progress)}
        self._emit(JobKilled(self._queue.stamp, tuple(live.job.id for live in asked), progress, extra))

    def _repeated(self, job_id: str, progress: Progress) -> Progress:
        """Return the progress with steps of sequences numbered within each repetition."""
        profile = self._profiles.by_workload[job_id.partition("!")[0]].by_name.get(progress.profile)
        current = None if progress.current is None else self._repeated(job_id, progress.current)
        if progress.step is None or not isinstance(profile, Composed):
            return progress
        repetition, step = divmod(max(progress.step, 0), len(profile.sequence))
        return Progress(progress.profile, None, step, current, repetition)

    def _forwarded(self, killed: Iterable[LiveJob]) -> list[dict[str, Any]]:
        """Return the profiles of killed jobs without repetition, as Batsim 5 writes them."""
        profiles = {(live.job.workload, live.job.profile): live.profile.members for live in killed}
        return [write_profile(workload, name, profiles[workload, name]) for workload, name in sorted(profiles)]

    def _end(self, live: LiveJob, state: str, code: int) -> None:
        running, live.running = live.running, None  # breaks a reference cycle: no garbage collection is needed
        assert running is not None  # noqa: S101  # set when it was executed
        now, energy, job_id = self._queue.now, -1.0, live.job.id
        live.state, live.code = state, code
        self._machines.release(live.hosts.bits, now)
        if live.job.demand is not None:
            self._placement.capacities.end(job_id)
        joules, lost = running.stop(), running.lost
        if not isinstance(running, PlannedJob):
            if self._ended.slowed is None:
                self._ended.slowed = []
            if abs(lost) > PRECISION:
                self._ended.slowed.append(SlowedJob(job_id, now - live.start, now - live.start - lost))
        meter = self._context.meter
        if meter is not None:
            del self._charged[job_id]
            meter.held += size_of(live.hosts.bits) * (now - live.start)
            if self._context.settings.energy:
                energy, self.joules_at_last_end = joules, meter.total(now)
        if self._context.tracer is not None:
            self._context.tracer.job(JOB_ENDED)
        if self._inboxes:
            self._inboxes.pop(job_id, None)
        finish = now if now > live.start else live.start + NULL_RUNTIME
        metadata = self._metadata.pop(job_id, "") if self._metadata else ""
        self._ended.add(JobRecord(live.job, state, code, live.start, finish, live.hosts, energy, metadata, live.places))
        self.unfinished -= 1

    def _record(self, record: JobRecord) -> None:
        self._ended.add(record)
        self.unfinished -= 1
