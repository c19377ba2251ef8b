"""Jobs that talk with the scheduler, played task after task, because their end is not known beforehand."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from msgspec import Struct

from batsched_py.bits import lowest_one
from batsched_py.errors import RefusedError
from batsched_py.model.profile import Composed, Profile, Receive, Send
from batsched_py.protocol.events import FromJobMessage, Members, Progress
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.execution import Execution, Site, io_of_step
from batsched_py.simulator.jobs.live_jobs import LiveJob
from batsched_py.simulator.jobs.profiles import WorkloadProfiles
from batsched_py.simulator.jobs.work import Task, rank_of_end
from batsched_py.simulator.machines.energy_use import EnergyUse
from batsched_py.simulator.machines.machines import members
from batsched_py.simulator.referee.errors import BrokenRuleError
from batsched_py.simulator.time.event_queue import RANK_END, Ticket
from batsched_py.simulator.wire.rounding import wire_members

#: Profiles inside each other at which a job is taken to go on for ever.
DEEPEST: Final = 100_000
#: Levels of its progress that are reported: JSON may not nest deeper than some 200.
REPORTED_LEVELS: Final = 50

FORGOTTEN: Final = "profiles: a profile that only a recv names runs here; real Batsim 4.2.1 has forgotten it and aborts"


class PlayedProfile(Struct, eq=False):
    """A profile that is being played.

    Attributes:
        step: of a composed profile, counted through all repetitions; 0 for what follows a received text; -1 before.
        task: the task of a profile that has one, while it runs; `since` is its start.
    """

    profile: Profile
    site: Site
    step: int = -1
    task: Task | None = None
    since: float = 0.0


class TalkingJob:
    """One running job that sends or receives."""

    def __init__(
        self,
        context: Context,
        execution: Execution,
        live: LiveJob,
        profiles: WorkloadProfiles,
        end: Callable[[LiveJob], None],
        *,
        inbox: deque[str],
    ) -> None:
        """`end` is called when the job ends by itself or at its walltime; its code stands in `live` before.

        `inbox` has the scheduler's texts that were not received yet.
        """
        self._context, self._queue, self._execution, self._live = context, context.queue, execution, live
        self._profiles, self._end, self._inbox, self._hosts = profiles, end, inbox, live.hosts.bits
        #: Seconds until the walltime, as of `_measured` or of the begin of a wait; how many of them go by until the end
        #: of what takes time now.
        self._left = math.inf if live.job.walltime is None else live.job.walltime
        self._measured = self._queue.now
        self._spending = 0.0
        #: Profiles that are being played, from the job's own down to the innermost.
        self._frames = [PlayedProfile(live.profile, live.site)]
        #: The end that is due: of the task, the wait or the job.
        self._ticket: Ticket | None = None
        #: Time at which the wait for a text began; None if the job does not wait.
        self._waiting_since: float | None = None
        #: True once the job has ended, or was killed.
        self._over = False
        #: Draw of the task that runs, if energy is counted; joules of the hosts when the job began.
        self._energy_use: EnergyUse | None = None
        self._before = self._joules()

    @property
    def waits(self) -> bool:
        """True if it waits for a text and no walltime will ever end that."""
        return self._waiting_since is not None and self._ticket is None

    def begin(self) -> None:
        """Play on until something takes time."""
        try:
            code = self._advance()
        except BrokenRuleError as broken:
            raise RefusedError(f"t={self._queue.stamp:.6f}: job {self._live.job.id} {broken}") from None
        if code is not None:
            self._finish(code)

    def hear(self) -> None:
        """Find the text that was put into the inbox at the next look, if the job waits."""
        since = self._waiting_since
        if since is None:
            return
        profile = self._frames[-1].profile
        assert isinstance(profile, Receive)  # noqa: S101  # what waits
        # The look at this very instant counts, whatever the rounding.
        looks = max(1, math.ceil((self._queue.now - since) / profile.poll - 1e-9))
        if looks * profile.poll < self._left:
            self._drop_ticket()
            self._waiting_since, self._spending = None, looks * profile.poll
            self._ticket = self._queue.at(since + looks * profile.poll, RANK_END, self._go_on, None)

    def kill(self) -> tuple[int, Progress]:
        """Return the return code and the progress of the job, which is stopped next.

        A profile that talks has no progress of its own, as in Batsim.
        """
        progress: Progress | None = None
        for frame in reversed(self._frames[:REPORTED_LEVELS]):
            if frame.task is not None and not isinstance(frame.profile, Send):
                elapsed = self._queue.now - frame.since
                progress = Progress(frame.profile.name, round(frame.task.progress(elapsed), 6))
            else:
                progress = Progress(frame.profile.name, None, frame.step, progress)
        assert progress is not None  # noqa: S101  # a job that runs plays a profile
        task = self._frames[-1].task
        return -1 if task is None else task.killed_code, progress

    def stop(self) -> float:
        """Clean up at the end, however it came; return the joules its hosts have consumed, 0 if not counted."""
        self._over, self._waiting_since = True, None
        self._drop_ticket()
        self._unload()
        return self._joules() - self._before

    def _go_on(self, _: None) -> None:
        """Play on after a task or a wait."""
        self._ticket = None
        self._left -= self._spending
        self._unload()
        self.begin()

    def _advance(self) -> int | None:
        """Return the return code of the job if it has ended, None if a task or a wait has begun."""
        while self._frames:
            frame = self._frames[-1]
            following = self._following(frame)
            if following is not None:
                if len(self._frames) == DEEPEST:
                    name = following.profile.name
                    raise BrokenRuleError(f"goes on for ever: {DEEPEST} profiles inside each other ({name})")
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
        """Return the next profile inside that of the frame; None if there is none, or none yet."""
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
        """Begin a task; that of a `send` begins when the server has taken the message, as in Batsim."""
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
        """Let the task take its time; it may be the walltime that ends it, by the rule of `execution.ending`."""
        if self._over:
            return
        frame.since = self._queue.now
        if task.loads and self._context.meter is not None:
            self._energy_use = EnergyUse(self._context.meter, self._queue, self._hosts, task)
        self._due(task, task.duration)

    def follow_speeds(self) -> None:
        """Compute the end of the task anew after a change of speed of some of the hosts."""
        frame, now = self._frames[-1], self._queue.now
        if self._energy_use is None or frame.task is None:
            return
        task = self._task(frame)
        done = self._energy_use.follow(task)
        self._left -= now - self._measured
        frame.task, frame.since = task, now - done
        self._drop_ticket()
        self._due(task, task.duration - done)

    def _due(self, task: Task, duration: float) -> None:
        """Let the task end after so many seconds from now, or the job's walltime."""
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
