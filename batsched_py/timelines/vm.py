"""One VM with its timeline: local barriers, reboots, then positive times, held by pauses and breaks."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Final

from msgspec.structs import replace

from batsched_py.timelines.barriers import LocalBarriers
from batsched_py.timelines.clock import ExperimentClock, foresee
from batsched_py.timelines.entries import (
    REBOOT_CODE,
    Drop,
    PauseEntry,
    Program,
    Resume,
    ScheduleEntry,
    TimelineRules,
    VmTimeline,
)
from batsched_py.timelines.records import Begin, EntryRecord, Kill, Order, Reboot
from batsched_py.timelines.states import NOT_CONFIGURED, TRANSITIONS, VmState

# The rules are FIREWHEEL's, whose schedules mean: negative times configure a machine, one after the other, and each
# begins when all of the one before have ended (local barriers, in wall time); when every machine is configured the
# experiment starts (global barrier); positive times then count from the start, and pauses and breaks move later ones.
#
# Methods either note what has happened or do what is due (`settle`), and none calls back. What others have to do is
# left in `orders` and `resumes`, from which the run takes it; the run settles machines until nothing is due. So the
# result depends on what is noted at an instant, and not on the order in which machines are asked; there is no clock,
# thread or I/O here, and a run can be played in a test or on Batsim.
#
# Between two calls each entry has a record, and is in exactly one place: `_first_holds`, the barriers, `_queue`,
# `_waiting`, `_running` or `held`; or nothing more will happen to it. The queue is ordered by time, and at one time by
# kind and position (`Entry.key`): a pause comes after everything at its time, whatever the order in the file.
# `_reached` is the key of the last entry that was passed; a program added later with a smaller key begins at once,
# since its time has passed.
#
# Times are of three kinds, and confusing them is the likeliest mistake: schedule time as written, experiment time
# (moved by holds, `ExperimentClock`), wall time (experiment time plus the start). Holds at -infinity come before there
# is an experiment time, and count in wall time. A pause is noted with its whole duration when it begins, and must be
# cut when the lease ends or the machine is lost meanwhile (`_kill`).
#
# Cost: O(log n) for each entry, O(1) to say when something is due.

LEASE_ENDED: Final = "lease ended"


class TimelineVm:
    """The state of one VM. `settle` processes what is due; the other methods record events.

    Attributes:
        timeline: its timeline.
        state: its state (F6).
        records: entry's name -> its record, in the order of the list.
        launched: wall time of its launch; None before.
        configured: wall time at which it reached the global barrier; None before.
        end: wall time at which its lease ends, or it was lost; infinity if neither is known.
        held: the break that holds it now.
        held_since: experiment time at which that was reached; wall time if it is a break at -infinity.
        paused_until: experiment time at which its last pause ends; wall time for one at -infinity.
        orders: orders for the caller; taken by the run.
        resumes: entries that resume VMs, with their experiment time; taken by the run.
        failure: reason of its failure; "" if it has not failed.
        loading: wall times between which files are loaded before the first entry (F27); None if that takes no time.
    """

    def __init__(self, timeline: VmTimeline, rules: TimelineRules) -> None:
        self.timeline, self._rules = timeline, rules
        self.state = VmState.UNINITIALIZED if timeline.managed else VmState.NOT_MANAGED
        self.records: dict[str, EntryRecord] = {}
        self.launched: float | None = None
        self.configured: float | None = None
        self.end = timeline.end
        self.held: ScheduleEntry | None = None
        self.held_since = self.paused_until = -math.inf
        self.orders: list[Order] = []
        self.resumes: list[tuple[ScheduleEntry, float | None]] = []
        self.failure = ""
        self.loading: tuple[float, float] | None = None
        #: True if its lease has ended, or the experiment has failed.
        self._over = False
        #: Future pauses and breaks at -infinity, and the wall time until which they hold the VM.
        self._first_holds: deque[ScheduleEntry] = deque()
        self._free_at = -math.inf
        #: Negative entries, and other running entries.
        self._barriers = LocalBarriers()
        self._running: dict[str, ScheduleEntry] = {}
        #: Heap of positive entries, pauses and breaks that have not been reached; the key of the last one that was.
        self._queue: list[tuple[tuple[float, int, int], ScheduleEntry]] = []
        self._reached: tuple[float, int, int] = (-math.inf, 0, 0)
        self.clock = ExperimentClock()
        #: Entries that became due while the lease was suspended, with the wall times at which they were due.
        self.suspended = False
        self._suspended_at = -math.inf
        self._waiting: list[tuple[ScheduleEntry, float]] = []
        for entry in sorted(timeline.entries, key=lambda one: one.sequence):
            self._put(entry)

    @property
    def name(self) -> str:
        """The name of the VM."""
        return self.timeline.name

    @property
    def reboots(self) -> list[tuple[float, float]]:
        """Wall times of the begins and ends of its reboots."""
        return self._barriers.reboots

    @property
    def alive(self) -> bool:
        """True if something may still begin."""
        return self.state in (VmState.CONFIGURING, VmState.CONFIGURED) and not self._over

    @property
    def finished(self) -> bool:
        """True if nothing runs, and nothing else will begin."""
        if self.state is VmState.NOT_MANAGED or self._over:
            return True
        left = self._barriers.running or self._running or self._waiting
        if self.state is VmState.FAILED:
            return not left
        return self.state is VmState.CONFIGURED and not (left or self._queue or self.held)

    @property
    def current(self) -> float | None:
        """The current negative time (F18); None if it is not being configured, or before the first one."""
        at = self._barriers.current
        return at if self.state is VmState.CONFIGURING and at > -math.inf else None

    @property
    def next_entry(self) -> tuple[ScheduleEntry, float | None] | None:
        """The next entry and its experiment time, None if that is open; None if no entry is left (F32)."""
        if self._barriers.pending:
            return self._barriers.pending[0], self._barriers.pending[0].at
        if not self._queue:
            return None
        entry = self._queue[0][1]
        return entry, None if self.held else self.clock.experiment_time(entry.at)

    def _put(self, entry: ScheduleEntry) -> None:
        """Add an entry that is known before the launch; entries that are added later only get a record."""
        self.records[entry.name] = EntryRecord(entry)
        if entry.added is not None or not self.timeline.managed:
            return
        if entry.at == -math.inf:
            self._first_holds.append(entry)
        elif entry.configures:
            self._barriers.put(entry)
        else:
            heappush(self._queue, (entry.key, entry))

    # Events

    def launch(self, now: float) -> None:
        """Launch the VM (F3)."""
        if self.state not in (VmState.UNINITIALIZED, VmState.TESTING) or self._over:
            return
        self.end += now - self.timeline.launch
        rate = self._rules.preload_rate
        self._free_at = now if rate is None else now + self.timeline.preloaded / rate
        if self._free_at > now:
            self.loading = now, self._free_at
        if self.loading or self._first_holds or self._barriers.pending:
            self._change(VmState.CONFIGURING)
        else:
            self._configured(now)

    def ended(self, name: str, now: float, code: int = 0, *, reboot: bool = False) -> None:
        """Record the end of an entry with its exit code; `reboot` if it left the marker that requests a reboot (F7)."""
        entry, counted = self._stop(name)
        record = self.records[name]
        record.end(now, code=code)
        action = entry.action
        asks = (code == REBOOT_CODE or reboot) and not (isinstance(action, Program) and action.on_host)
        if asks and counted and self.state is VmState.CONFIGURING:
            self._barriers.requests.append(entry)
        elif asks:
            record.reason = "its request for a reboot is only logged: the VM is configured"
        elif code and self._rules.on_exit == "fail" and self._may_fail(entry, counted=counted):
            self.fail(f"{name} exited with {code}")

    def not_loaded(self, name: str, now: float) -> None:
        """Record that the files of a running entry could not be loaded, which fails the VM unless ignored (F7)."""
        entry, counted = self._stop(name)
        self.records[name].end(now, reason="its files could not be loaded")
        if self._may_fail(entry, counted=counted):
            self.fail(f"the files of {name} could not be loaded")

    def begun(self, name: str, now: float, start: float | None) -> None:
        """Record that a due entry has begun only now."""
        self.records[name].put_off(now, counts=start is not None)

    def suspend(self, now: float) -> None:
        """Record the suspension of the lease."""
        self.suspended, self._suspended_at = True, now

    def wake(self, now: float) -> None:
        """Record the resumption of the lease; its end is moved by the same time."""
        self.suspended = False
        if math.isfinite(now - self._suspended_at):
            self.end += now - self._suspended_at

    def lose(self, now: float, reason: str) -> None:
        """Record the loss of the VM: running entries are killed, and it has failed (F24)."""
        self._kill(now, reason)
        self.end = min(self.end, now)
        if self.state is not VmState.NOT_MANAGED:
            self.fail(reason)

    def fail(self, reason: str) -> None:
        """Let the VM fail: no more entries begin, running ones continue."""
        if self.state is VmState.FAILED:
            return
        self._change(VmState.FAILED)
        self.failure = reason
        self._give_up(f"{self.name} failed: {reason}")

    def abort(self, now: float, reason: str) -> None:
        """Kill running entries, and begin no more: the experiment has failed, or the VM is never created."""
        self._kill(now, reason)
        self._give_up(reason)
        if not self._over and self.state in NOT_CONFIGURED:
            self.fail(reason)
        self._over, self.end = True, min(self.end, now)

    def resume(self, now: float, time: float | None) -> bool:
        """End the break that holds the VM at this instant, if one does (F12, F19).

        `time` is the same instant in experiment time; None before the start, where a break at -infinity holds.
        """
        held = self.held
        if held is None or not self.alive:
            return False
        self.held = None
        self.records[held.name].end(now)
        if held.at == -math.inf:
            self._free_at = now
        else:
            assert time is not None  # noqa: S101  # a break is reached after the start
            self.clock.resume(held.at, time, held.name)
        return True

    def add(self, entry: ScheduleEntry, now: float, start: float | None) -> None:
        """Add an entry that becomes known now (F16, F21)."""
        if self.state is VmState.UNINITIALIZED and entry.added is None and not self._over:
            self.timeline = replace(self.timeline, entries=(*self.timeline.entries, entry))
            self._put(entry)
            return
        record = self.records.setdefault(entry.name, EntryRecord(entry))
        record.known = now
        if not self.alive:
            record.outcome, record.reason = "not run", self.failure or "the timeline of the VM does not run"
        elif isinstance(entry.action, PauseEntry):
            if self._has_passed(entry, now, start):
                record.outcome, record.reason = "refused", "its time has passed"
            else:
                heappush(self._queue, (entry.key, entry))
        elif self.state is VmState.CONFIGURING and entry.configures and entry.at > self._barriers.current:
            self._barriers.put(entry)
        elif entry.configures or entry.key < self._reached:
            self._due(entry, now, now, start, None)
        else:
            heappush(self._queue, (entry.key, entry))

    # Due entries

    def settle(self, now: float, start: float | None) -> None:
        """Process everything that is due until now; `start` is None as long as the global barrier is closed."""
        if self.alive and now >= self.end:
            self._end_lease(now)
        if not self.alive:
            return
        self._pass_first_holds(now)
        blocked = self._first_holds or self.held is not None or now < self._free_at
        if self.state is VmState.CONFIGURING and not blocked:
            self._configure(now)
        if not self.suspended:
            waiting, self._waiting = self._waiting, []
            for entry, due in waiting:
                self._begin(entry, now, due, start, None)
        if self.state is VmState.CONFIGURED and start is not None:
            self._proceed(now, start)

    def next_time(self, start: float | None) -> float:
        """Return the next due wall time; infinity if only an external event can lead to progress."""
        if not self.alive:
            return math.inf
        times = [self.end]
        if self.state is VmState.CONFIGURING and not (self.held or self.suspended):
            times.append(self._barriers.next_time(self._free_at))
        elif self.state is VmState.CONFIGURED and start is not None and self._queue and self.held is None:
            times.append(start + self.clock.experiment_time(self._queue[0][1].at))
        return min(times)

    def _pass_first_holds(self, now: float) -> None:
        """Pass pauses and breaks at -infinity, which hold the VM in wall time before its first entry (F20)."""
        while self._first_holds and self.held is None and now >= self._free_at:
            entry = self._first_holds.popleft()
            self._hold(entry, self._free_at, self._free_at)

    def _configure(self, now: float) -> None:
        """Begin the entries of the next negative time, after all entries of the previous one have ended (F2)."""
        barriers = self._barriers
        while self.state is VmState.CONFIGURING and not barriers.is_closed(now):
            if barriers.requests:
                self._reboot(now)
            elif self.suspended and barriers.pending:
                return
            elif barriers.pending:
                self._begin_counted(barriers.open(), now)
            else:
                self._configured(now)

    def _reboot(self, now: float) -> None:
        """Reboot once for all requests; afterwards only the entries that requested it run again (F23)."""
        barriers = self._barriers
        if barriers.rebooting > -math.inf:
            if not self.suspended:
                self._begin_counted(barriers.again(), now)
        elif len(barriers.reboots) == self._rules.reboot_limit:
            self.fail(f"it requested more than {self._rules.reboot_limit} reboots")
        else:
            self.orders.append(Reboot(self.name, barriers.reboot(now, self._rules.reboot_delay)))

    def _begin_counted(self, entries: Iterable[ScheduleEntry], now: float) -> None:
        for entry in entries:
            self._begin(entry, now, now, None, entry.at, counted=True)

    def _proceed(self, now: float, start: float) -> None:
        """Begin positive entries that are due, and pass pauses and breaks, in their order (F5, F11)."""
        while self._queue and self.held is None:
            key, entry = self._queue[0]
            time = self.clock.experiment_time(entry.at)
            if start + time > now:
                return
            heappop(self._queue)
            self._reached = key
            if isinstance(entry.action, PauseEntry):
                self._hold(entry, time, start + time)
            else:
                self._due(entry, now, start + time, start, time)

    def _hold(self, entry: ScheduleEntry, time: float, wall: float) -> None:
        assert isinstance(entry.action, PauseEntry)  # noqa: S101
        record, duration = self.records[entry.name], entry.action.duration
        record.begin(wall)
        record.moved_by = self.clock.moved_by
        record.time = entry.at if entry.at == -math.inf else time
        if entry.action.is_break:
            self.held, self.held_since = entry, time
            return
        record.end(wall + duration)
        if entry.at == -math.inf:
            self._free_at = self.paused_until = time + duration
        else:
            self.clock.pause(duration, entry.name)
            self.paused_until = self.clock.experiment_time(entry.at)

    def _due(self, entry: ScheduleEntry, now: float, due: float, start: float | None, time: float | None) -> None:
        if self.suspended:
            self._waiting.append((entry, due))
        else:
            self._begin(entry, now, due, start, time)

    def _begin(
        self,
        entry: ScheduleEntry,
        now: float,
        due: float,
        start: float | None,
        time: float | None,
        *,
        counted: bool = False,
    ) -> None:
        """Begin an entry that was due at a wall time; `time` is the experiment time of its begin, if it applies."""
        record = self.records[entry.name]
        if time is None or (due != now and start is not None):
            time = entry.at if start is None else now - start
        if record.time is None:
            record.time, record.moved_by = time, self.clock.moved_by
            record.late = now - max(due, record.known)
        record.begin(now)
        if isinstance(entry.action, Program | Drop):
            (self._barriers.running if counted else self._running)[entry.name] = entry
        else:
            record.end(now)
        if isinstance(entry.action, Resume):
            self.resumes.append((entry, None if start is None else time))
        else:
            self.orders.append(Begin(self.name, entry, len(record.spans) - 1))

    # Ends

    def _end_lease(self, now: float) -> None:
        """End with the lease: remaining entries are not run (F24)."""
        if self.held is None:
            for entry, time in foresee(self.clock, (entry for _, entry in sorted(self._queue))):
                self.records[entry.name].due = time
        self._kill(now, LEASE_ENDED)
        if self.state is VmState.CONFIGURING:
            self.fail(LEASE_ENDED)
        self.abort(now, LEASE_ENDED)

    def _give_up(self, reason: str) -> None:
        """Cancel all entries that have not begun."""
        for record in self.records.values():
            if record.outcome == "pending":
                record.outcome, record.reason = "not run", reason
        self._queue, self._waiting = [], []
        self._barriers.clear()
        self._first_holds.clear()

    def _kill(self, now: float, reason: str) -> None:
        """Kill running entries, and shorten the record of the current pause, which has its whole duration."""
        for record in self.records.values():
            end = record.spans[-1].end if isinstance(record.entry.action, PauseEntry) and record.spans else None
            if end is not None and end > now:
                record.end(now, "killed", reason)
        for entry in [*self._barriers.running.values(), *self._running.values()]:
            self.records[entry.name].end(now, "killed", reason)
            self.orders.append(Kill(self.name, entry))
        self._barriers.running, self._running = {}, {}

    def _stop(self, name: str) -> tuple[ScheduleEntry, bool]:
        """Remove a running entry; return it, and whether a local barrier waited for it."""
        counted = name in self._barriers.running
        return (self._barriers.running if counted else self._running).pop(name), counted

    def _may_fail(self, entry: ScheduleEntry, *, counted: bool) -> bool:
        """Return whether a failure of the entry fails its VM; that of a late negative one does not (F21, F22)."""
        ignored = isinstance(entry.action, Program) and entry.action.ignore_failure
        return not ignored and (counted or not entry.configures)

    def _has_passed(self, entry: ScheduleEntry, now: float, start: float | None) -> bool:
        if entry.at == -math.inf or entry.key < self._reached:
            return True
        return start is not None and self.held is None and start + self.clock.experiment_time(entry.at) < now

    def _configured(self, now: float) -> None:
        self._change(VmState.CONFIGURED)
        self.configured = now

    def _change(self, state: VmState) -> None:
        assert state in TRANSITIONS[self.state], f"{self.name} cannot become {state.value}: it is {self.state.value}"  # noqa: S101
        self.state = state
