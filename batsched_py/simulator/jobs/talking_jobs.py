"""Jobs that communicate with the scheduler, simulated task by task, because their ends are not known in advance."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Final

from msgspec import Struct

from batsched_py.bits import lowest_one
from batsched_py.errors import RefusedError
from batsched_py.model.profile import Composed, Profile, Receive, Send
from batsched_py.protocol.events import FromJobMessage, Members, Progress
from batsched_py.simulator.contention.activities import Activity
from batsched_py.simulator.contention.demand import ActivityDemand
from batsched_py.simulator.contention.fluid_model import FluidModel
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.execution import HostsByRole, ProfileExecution, io_of_step
from batsched_py.simulator.jobs.live_jobs import LiveJob
from batsched_py.simulator.jobs.profiles import WorkloadProfiles
from batsched_py.simulator.jobs.work import Task, rank_of_end
from batsched_py.simulator.machines.energy_use import EnergyUse, HostDraw
from batsched_py.simulator.machines.machines import members
from batsched_py.simulator.referee.errors import BrokenRuleError
from batsched_py.simulator.time.event_queue import RANK_END, RANK_WATCH, Ticket
from batsched_py.simulator.wire.rounding import wire_members

# The end of any other job is computed at its start: its work is a tree of tasks with known durations, and one entry in
# the queue ends it. A `recv` continues with one of two profiles when a message arrives, so that the end of its job
# depends on future decisions. These jobs are simulated one task at a time, with the same execution and the same rules
# of walltimes as all others (ADR 14). Whether a profile communicates is determined once, when it is read: other jobs
# have no overhead.
#
# The profiles in execution are a stack of frames, not recursion: a `recv` may continue with itself thousands of times,
# which Python's stack does not allow; DEEPEST limits endless nesting.
#
# Between two events of a job exactly one of these is in progress: a precomputed task or a wait with a walltime
# (`_ticket`), a task in the fluid model (`_activity`, with the walltime as `_ticket`), a wait without a walltime
# (`waits`), or a message in transit to the server, after which `_spend` is called. That call may occur after the job
# has been killed, hence `_over`. `_left` is the rest of the walltime as of `_measured`, without the travel times of
# messages.
#
# A wait needs no events, although Batsim polls every 5 ms: when a message arrives, the next poll is computed from the
# beginning of the wait (`schedule_check`), and a message at the instant of a poll counts, regardless of rounding. A
# message without a poll before the walltime is not received.
#
# No recording of real Batsim has jobs that send or receive, so these rules were read in its source: `timeout` does not
# wait, a message may arrive before the job starts, and a profile that communicates has no progress.

#: Nesting depth of profiles at which a job is assumed to continue forever.
DEEPEST: Final = 100_000
#: Maximum number of reported levels of progress: JSON parsers limit nesting to about 200.
REPORTED_LEVELS: Final = 50

FORGOTTEN: Final = "profiles: a profile that only a recv names runs here; real Batsim 4.2.1 has forgotten it and aborts"


class PlayedProfile(Struct, eq=False):
    """A profile in execution.

    Attributes:
        step: step of a composed profile, counted through all repetitions; 0 for the continuation of a received text; -1
            before the first step.
        task: the running task of a profile that has one; `since` is its start.
    """

    profile: Profile
    site: HostsByRole
    step: int = -1
    task: Task | None = None
    since: float = 0.0


class TalkingJob:
    """A running job that sends or receives messages."""

    #: Traces are replayed by contending jobs.
    replays: ClassVar[bool] = False

    def __init__(
        self,
        context: Context,
        execution: ProfileExecution,
        live: LiveJob,
        profiles: WorkloadProfiles,
        end: Callable[[LiveJob], None],
        *,
        inbox: deque[str],
    ) -> None:
        """Take the job; `end` is called when it completes or reaches its walltime, after `live` has its code.

        `inbox` contains texts of the scheduler that were not received yet.
        """
        self._context, self._queue, self._execution, self._live = context, context.queue, execution, live
        self._profiles, self._end, self._inbox, self._hosts = profiles, end, inbox, live.hosts.bits
        #: Seconds until the walltime, as of `_measured` or the beginning of a wait; how many of them pass until the end
        #: of the current task or wait.
        self._left = math.inf if live.job.walltime is None else live.job.walltime
        self._measured = self._queue.now
        self._spending = 0.0
        #: Profiles in execution, from the job's own to the innermost.
        self._frames = [PlayedProfile(live.profile, live.site)]
        #: The ticket for the next end: of the task, the wait or the job.
        self._ticket: Ticket | None = None
        #: Start time of the wait for a text; None if the job does not wait.
        self._waiting_since: float | None = None
        #: True after the job has ended or was killed.
        self._over = False
        #: Draw of the running task, with energy accounting; joules of the hosts at the start of the job.
        self._energy_use: EnergyUse | HostDraw | None = None
        self._before = self._joules()
        #: The running task, if others may slow it down; delay of the previous tasks by others, in seconds.
        self._activity: Activity | None = None
        self.lost = 0.0

    @property
    def demands(self) -> Sequence[ActivityDemand]:
        """The demand of its parallel task; none during a delay or a wait."""
        task = self._frames[-1].task if self._frames else None
        return () if task is None else task.demands

    @property
    def waits(self) -> bool:
        """True if it waits for a text without a walltime that would end the wait."""
        return self._waiting_since is not None and self._ticket is None

    @property
    def release(self) -> Callable[[], None] | None:
        """Release the resources of a task stopped by the walltime; None if there is none."""
        return None if self._activity is None else self._release

    def begin(self) -> None:
        """Advance until a task or a wait takes time."""
        try:
            code = self._advance()
        except BrokenRuleError as broken:
            raise RefusedError(f"t={self._queue.stamp:.6f}: job {self._live.job.id} {broken}") from None
        if code is not None:
            self._finish(code)

    def schedule_check(self) -> None:
        """Schedule the next check of the inbox, if the job waits."""
        since = self._waiting_since
        if since is None:
            return
        profile = self._frames[-1].profile
        assert isinstance(profile, Receive)  # noqa: S101  # what waits
        # A check at this instant counts, regardless of rounding.
        looks = max(1, math.ceil((self._queue.now - since) / profile.poll - 1e-9))
        if looks * profile.poll < self._left:
            self._drop_ticket()
            self._waiting_since, self._spending = None, looks * profile.poll
            self._ticket = self._queue.at(since + looks * profile.poll, RANK_END, self._go_on, None)

    def kill(self) -> tuple[int, Progress]:
        """Return the return code and the progress of the job, which is stopped next.

        A profile that communicates has no progress, as in Batsim.
        """
        progress: Progress | None = None
        for frame in reversed(self._frames[:REPORTED_LEVELS]):
            if frame.task is not None and not isinstance(frame.profile, Send):
                progress = Progress(frame.profile.name, round(self._share(frame.task, frame.since), 6))
            else:
                progress = Progress(frame.profile.name, None, frame.step, progress)
        assert progress is not None  # noqa: S101  # a job that runs plays a profile
        task = self._frames[-1].task
        self._release()
        return -1 if task is None else task.killed_code, progress

    def stop(self) -> float:
        """Clean up after any kind of end; return the joules consumed by its hosts, 0 without energy accounting."""
        self._over, self._waiting_since = True, None
        if self._activity is not None and self._context.fluid is not None:
            self.lost += self._context.fluid.lost(self._activity)
            self._activity.mute()
        self._drop_ticket()
        self._unload()
        return self._joules() - self._before

    def _go_on(self, _: None) -> None:
        """Continue after a task or a wait."""
        self._ticket = None
        self._left -= self._spending
        self._unload()
        self.begin()

    def _advance(self) -> int | None:
        """Advance; return the return code if the job has ended, None if a task or a wait has begun."""
        while self._frames:
            frame = self._frames[-1]
            following = self._following(frame)
            if following is not None:
                if len(self._frames) == DEEPEST:
                    name = following.profile.name
                    raise BrokenRuleError(f"continues forever: {DEEPEST} profiles inside each other ({name})")
                self._frames.append(following)
                continue
            if self._waiting_since is not None:
                if self._left < math.inf:
                    self._ticket = self._queue.at(self._queue.now + self._left, RANK_END, self._run_out, None)
                return None
            if frame.task is None and not isinstance(frame.profile, (Composed, Receive)):
                self._run(frame)
                return None
            self._frames.pop()
            if frame.profile.return_code:
                return frame.profile.return_code
        return 0

    def _following(self, frame: PlayedProfile) -> PlayedProfile | None:
        """Return the next profile inside that of the frame; None if there is none, or not yet."""
        profile = frame.profile
        if isinstance(profile, Composed):
            frame.step += 1
            if frame.step == len(profile.sequence) * profile.repeat:
                return None
            position = frame.step % len(profile.sequence)
            profiles = self._profiles.by_name
            site = io_of_step(frame.site, profile, profiles, position)
            return PlayedProfile(profiles[profile.sequence[position]], site)
        if not isinstance(profile, Receive) or frame.step == 0:
            return None
        if not self._inbox and not profile.timeout:
            self._waiting_since = self._queue.now
            return None
        frame.step = 0
        name = profile.timeout
        if self._inbox:
            name = profile.success if re.fullmatch(profile.regex, self._inbox.popleft()) else profile.failure
        return PlayedProfile(self._named(name), frame.site) if name else None

    def _named(self, name: str) -> Profile:
        profiles = self._profiles.by_name
        if name not in profiles or name in self._profiles.forgotten:
            raise BrokenRuleError(f"goes on with the profile {name!r}, which does not exist (any more)")
        composed = (profile for profile in profiles.values() if isinstance(profile, Composed))
        if name not in self._profiles.needed and not any(name in profile.sequence for profile in composed):
            self._context.approximations.add(FORGOTTEN)
        return profiles[name]

    def _run(self, frame: PlayedProfile) -> None:
        """Begin a task; that of a `send` begins after the server has received the message, as in Batsim."""
        profile = frame.profile
        frame.task = task = self._task(frame)
        if isinstance(profile, Send):
            begin = partial(self._spend, frame, task)
            self._context.mailbox.post(self._send, profile.message, lowest_one(self._hosts), begin)
        else:
            self._spend(frame, task)

    def _send(self, message: Members) -> None:
        self._context.emit(FromJobMessage(self._queue.stamp, self._live.job.id, wire_members(message)))

    def _task(self, frame: PlayedProfile) -> Task:
        if isinstance(frame.profile, Send):
            return Task(frame.profile.name, frame.profile.sleep)
        task = self._execution.work(frame.profile, self._profiles.by_name, frame.site)
        assert isinstance(task, Task)  # noqa: S101  # a composed profile is played step by step
        return task

    def _spend(self, frame: PlayedProfile, task: Task) -> None:
        """Begin the task's duration; the task or the walltime ends it, by the rule of `execution.ending`."""
        if self._over:
            return
        frame.since = self._queue.now
        if task.demand is not None and self._context.fluid is not None:
            if self._context.lose is not None and self._context.fluid.crosses(task.demand):
                self._context.lose(self._live.job.id)
                return
            self._contend(task, task.demand, self._context.fluid)
            return
        if task.loads and self._context.meter is not None:
            self._energy_use = EnergyUse(self._context.meter, self._queue, self._hosts, task)
        self._due(task, task.duration)

    def _contend(self, task: Task, demand: ActivityDemand, fluid: FluidModel) -> None:
        """Begin a task that competes with others for resources; the walltime may stop it."""
        self._measured = now = self._queue.now
        if self._left < math.inf:
            self._ticket = self._queue.at(now + self._left, RANK_WATCH, self._run_out, None)
        on_pace = None
        if self._context.meter is not None:
            self._energy_use = draw = HostDraw(self._context.meter, self._queue, self._hosts)
            draw.begin(task)
            on_pace = partial(_load, draw, self._execution, task)
        self._activity = fluid.begin(demand, self._end_activity, deadline=now + self._left, on_pace=on_pace)

    def _end_activity(self) -> None:
        self._drop_ticket()
        if self._activity is not None:
            self.lost += self._activity.lost
        self._activity, self._spending = None, self._queue.now - self._measured
        self._go_on(None)

    def _release(self) -> None:
        if self._activity is not None and self._context.fluid is not None:
            self._context.fluid.stop(self._activity)
            self.lost += self._activity.lost
            self._activity = None

    def _share(self, task: Task, since: float) -> float:
        """Return the completed share of a task's work."""
        if self._activity is not None and self._context.fluid is not None:
            return self._context.fluid.progress(self._activity)
        return task.progress(self._queue.now - since)

    def follow_speeds(self) -> None:
        """Recompute the end of the task after a change of speed of some of the hosts."""
        frame, now = self._frames[-1], self._queue.now
        if self._activity is not None and self._context.fluid is not None:
            self._context.fluid.follow_speeds(self._activity)
        if not isinstance(self._energy_use, EnergyUse) or frame.task is None:
            return
        task = self._task(frame)
        done = self._energy_use.follow(task)
        self._left -= now - self._measured
        frame.task, frame.since = task, now - done
        self._drop_ticket()
        self._due(task, task.duration - done)

    def _due(self, task: Task, duration: float) -> None:
        """Schedule the end of the task after this duration, or the end of the walltime."""
        # A delay that ends exactly at the walltime counts as cut, a computation as done, as in Batsim.
        now = self._measured = self._queue.now
        self._spending = duration
        stopped = duration > self._left or (duration == self._left and task.is_delay)
        end, rank = self._run_out if stopped else self._go_on, rank_of_end(task, stopped=stopped)
        self._ticket = self._queue.at(now + min(duration, self._left), rank, end, None)

    def _run_out(self, _: None) -> None:
        """End the job at its walltime."""
        self._ticket = None
        self._finish(None)

    def _finish(self, code: int | None) -> None:
        self._over, self._waiting_since = True, None
        self._live.code = code
        self._end(self._live)

    def _drop_ticket(self) -> None:
        if self._ticket is not None:
            self._queue.cancel(self._ticket)
            self._ticket = None

    def _unload(self) -> None:
        if self._energy_use is not None:
            self._energy_use.stop()
            self._energy_use = None

    def _joules(self) -> float:
        meter, now = self._context.meter, self._queue.now
        if meter is None:
            return 0.0
        meter.settle_all(now)
        return meter.joules(members(self._hosts), now)


def _load(draw: HostDraw, execution: ProfileExecution, task: Task, seconds: float) -> None:
    """Set the load of the hosts for a task whose total duration at the current rate is `seconds`."""
    draw.load(execution.loads(task, seconds))
