"""The timelines of an experiment as they run: all VMs, and the global barrier between them (F3, F4)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import count

from batsched_py.errors import OptionError
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown
from batsched_py.timelines.entries import Resume, ScheduleEntry, Timelines, Transfer, VmTimeline
from batsched_py.timelines.records import Order
from batsched_py.timelines.states import VmState
from batsched_py.timelines.status import Vm
from batsched_py.timelines.vm import TimelineVm

# Machines do not know each other. What connects them is here: the global barrier, resumes of one machine by an entry of
# another, failures that end the experiment, and entries that are added at an experiment time.
#
# After `advance` nothing is due any more: each machine was settled since it was touched last, or since its `next_time`
# came. `_agenda` is a heap whose entries are not removed when a machine's time changes; one counts only if it is still
# what the machine says, and an experiment of many machines so costs O(log n) for each change instead of a look at all.
#
# The order inside one instant is part of the rules and must not depend on the order of calls: machines by their number,
# then resumes, then additions. Resumes come after all breaks of the instant, else a machine that reaches its break a
# moment later in the same instant would miss them (F19). The start is decided once, when the last machine that is
# awaited is configured; it may include a buffer, and it is the moment at which all times become known.


class TimelineRun:
    """A run of timelines: the caller reports events, and `advance` returns the orders that are due.

    Wall time must not decrease from call to call.

    Attributes:
        timelines: the timelines.
        vms: name -> VM, in their order.
        launched: wall time of the first launch; None before.
        start: wall time at which experiment time is 0; None while the global barrier is closed.
        failed: reason why the experiment has failed; "" if it has not.
        failed_at: wall time of the failure.
    """

    def __init__(self, timelines: Timelines) -> None:
        self.timelines, self._rules = timelines, timelines.rules
        self.vms = {one.name: TimelineVm(one, timelines.rules) for one in timelines.vms}
        self.launched: float | None = None
        self.start: float | None = None
        self.failed = ""
        self.failed_at: float | None = None
        #: True after a deadlock in which the caller has ended it.
        self._abandoned = False
        self._orders: list[Order] = []
        self._numbers = {name: number for number, name in enumerate(self.vms)}
        self._names = list(self.vms)
        #: VMs to be settled, by number, and a heap of (wall time, number), which may be outdated.
        self._touched: set[int] = set()
        self._agenda: list[tuple[float, int]] = []
        #: Heap of (wall time, place in the file, VM, entry): entries that are added when the start is known.
        self._additions: list[tuple[float, int, str, ScheduleEntry]] = []
        #: Managed VMs that the barrier waits for: not configured, and not excluded.
        self._awaited = {one.name for one in timelines.vms if one.managed}
        #: VMs that were never created or ended with the experiment: that they failed has no effect on others.
        self._aborted: set[str] = set()

    # Queries

    def experiment_time(self, now: float) -> float | None:
        """Return seconds since the start, negative in the buffer; None while the barrier is closed (F18)."""
        return None if self.start is None else now - self.start

    @property
    def launch_to_start(self) -> float | None:
        """Seconds from the launch to the start; None while the barrier is closed."""
        return None if self.start is None or self.launched is None else self.start - self.launched

    @property
    def closed_by(self) -> list[str]:
        """VMs that keep the barrier closed (F32)."""
        return [name for name in self.vms if name in self._awaited] if self.start is None else []

    def status(self, vm: str, now: float, hosts: str = "") -> Vm:
        """Return the state of a VM, whose lease has these hosts."""
        one = self.vms[vm]
        clock = now if one.state is VmState.CONFIGURING else self.experiment_time(now)
        paused = one.held is None and clock is not None and clock < one.paused_until and one.alive
        entry, comes = one.next_entry or (None, None)
        return Vm(
            name=vm,
            state=one.state.value,
            hosts=hosts,
            launched=one.launched,
            keeps_barrier=self.start is None and vm in self._awaited,
            current=one.current,
            held_by=one.held.name if one.held else None,
            held_since=one.held_since if one.held else None,
            paused_until=one.paused_until if paused else None,
            next_entry=None if entry is None else entry.name,
            next_scheduled=None if entry is None or math.isinf(entry.at) else entry.at,
            next_time=comes,
            why=one.failure,
        )

    def next_time(self) -> float:
        """Return the wall time of the next call of `advance`; infinity if only an event can lead to progress."""
        addition = self._additions[0][0] if self._additions else math.inf
        while self._agenda:
            time, number = self._agenda[0]
            if self.vms[self._names[number]].next_time(self.start) == time:
                return min(time, addition)
            heappop(self._agenda)
        return addition

    @property
    def finished(self) -> bool:
        """True if nothing runs and nothing else will begin, unless entries are added."""
        if self.start is None and self._awaited and not (self.failed or self._abandoned):
            return False
        return not self._additions and all(vm.finished for vm in self.vms.values())

    def transfer_times(self, vm: str, name: str) -> Iterator[float]:
        """Iterate over the times of a transfer until its VM ends; yield only the first if that is open (F28)."""
        one = self.vms[vm]
        record = one.records[name]
        action = record.entry.action
        assert isinstance(action, Transfer)  # noqa: S101
        if record.time is None:
            return
        yield record.time
        lasts = one.end - record.spans[0].begin
        if action.interval is None or math.isinf(lasts):
            return
        for number in count(1):
            if number * action.interval >= lasts:
                return
            yield record.time + number * action.interval

    # What happens

    def launch(self, vm: str, now: float) -> None:
        """Record the launch of a VM."""
        self.launched = now if self.launched is None else self.launched
        self.vms[vm].launched = now
        if self.vms[vm].timeline.managed and not self.failed:
            self.vms[vm].launch(now)
        self._touch(vm)

    def ended(self, vm: str, name: str, now: float, code: int = 0, *, reboot: bool = False) -> None:
        """Record the end of an entry with its exit code; `reboot` if it left the marker that requests a reboot."""
        self.vms[vm].ended(name, now, code, reboot=reboot)
        self._touch(vm)

    def not_loaded(self, vm: str, name: str, now: float) -> None:
        """Record that the files of a running entry could not be loaded."""
        self.vms[vm].not_loaded(name, now)
        self._touch(vm)

    def lose(self, vm: str, now: float, reason: str) -> None:
        """Record the loss of a VM, because its host failed or its lease was cancelled."""
        self.vms[vm].lose(now, reason)
        self._touch(vm)

    def begun(self, vm: str, name: str, now: float) -> None:
        """Record that a due entry has begun only now, because its host was busy; it is late (F31, F34)."""
        self.vms[vm].begun(name, now, self.start)

    def suspend(self, vm: str, now: float = -math.inf) -> None:
        """Record the suspension of a VM's lease: due entries wait (F24)."""
        self.vms[vm].suspend(now)

    def wake(self, vm: str, now: float = -math.inf) -> None:
        """Record the resumption of a VM's lease; if both times are given, its end is moved by the difference."""
        self.vms[vm].wake(now)
        self._touch(vm)

    def end_lease(self, vm: str, now: float) -> None:
        """Record the end of a VM's lease."""
        self.vms[vm].end = min(self.vms[vm].end, now)
        self._touch(vm)

    def leave_out(self, vm: str, now: float, reason: str) -> None:
        """Record that a VM will never be launched, and exclude it from the barrier."""
        self._awaited.discard(vm)
        self._abort(self.vms[vm], now, reason)
        self._touch(vm)

    def replace(self, timeline: VmTimeline) -> None:
        """Replace the timeline of a VM that is not launched yet."""
        assert self.vms[timeline.name].launched is None  # noqa: S101
        self.vms[timeline.name] = TimelineVm(timeline, self._rules)

    def give_up(self, now: float, reason: str) -> None:
        """End a run in which no more events can happen: held VMs fail, and no more entries begin."""
        self._additions.clear()
        self._abandoned = True
        for vm in self.vms.values():
            if vm.held is not None and vm.alive:
                vm.fail(f"held by {vm.held.name}: no resume can come")
        self._end_all(now, reason)

    def add(self, vm: str, entry: ScheduleEntry, now: float) -> None:
        """Add an entry that becomes known now (F21). Its name must be new in the VM, or that of one `added` later."""
        self._settle(now)
        self.vms[vm].add(entry, now, self.start)
        self._touch(vm)

    def resume(self, vms: Iterable[str] | None, now: float, time: float | None = None) -> list[str]:
        """End the breaks that hold these VMs at this instant; all VMs if `vms` is None. Return those that were held.

        `time` is the same instant in experiment time, for callers that know it exactly. OptionError, without a change,
        if a name is unknown (FA-46).
        """
        names = list(self.vms) if vms is None else list(vms)
        for name in names:
            if name not in self.vms:
                raise OptionError(f"VM {shown(name)}: {unknown(name, self.vms)}")
        self._settle(now)
        if time is None:
            time = self.experiment_time(now)
        resumed = [name for name in names if self.vms[name].resume(now, time)]
        for name in resumed:
            self._touch(name)
        return resumed

    def advance(self, now: float) -> Sequence[Order]:
        """Process everything that is due until now, and return the orders for the caller, in order."""
        self._settle(now)
        orders, self._orders = self._orders, []
        return orders

    def _touch(self, vm: str) -> None:
        self._touched.add(self._numbers[vm])

    def _settle(self, now: float) -> None:
        """Settle VMs until nothing is due. Resumes are processed after all breaks of their instant (F19)."""
        resumes: list[tuple[ScheduleEntry, float | None]] = []
        while True:
            while self._agenda and self._agenda[0][0] <= now:
                self._touched.add(heappop(self._agenda)[1])
            if self._touched:
                numbers = sorted(self._touched)
                self._touched.clear()
                for number in numbers:
                    resumes += self._settle_one(self.vms[self._names[number]], now)
            elif resumes:
                entry, time = resumes.pop(0)
                assert isinstance(entry.action, Resume)  # noqa: S101
                self._resume_by_entry(entry.action, now, time)
            elif self._additions and self._additions[0][0] <= now:
                _, _, vm, added = heappop(self._additions)
                self.vms[vm].add(added, now, self.start)
                self._touch(vm)
            else:
                return

    def _resume_by_entry(self, action: Resume, now: float, time: float | None) -> None:
        for name in self.vms if action.vms is None else action.vms:
            if self.vms[name].resume(now, time):
                self._touch(name)

    def _settle_one(self, vm: TimelineVm, now: float) -> list[tuple[ScheduleEntry, float | None]]:
        vm.settle(now, self.start)
        self._orders += vm.orders
        vm.orders = []
        resumes, vm.resumes = vm.resumes, []
        if vm.failure and not (self.failed or vm.name in self._aborted):
            self._answer_failure(vm, now)
        if vm.state is VmState.CONFIGURED:
            self._awaited.discard(vm.name)
        self._open_barrier(now)
        heappush(self._agenda, (vm.next_time(self.start), self._numbers[vm.name]))
        return resumes

    def _answer_failure(self, vm: TimelineVm, now: float) -> None:
        """Wait forever, continue without the VM, or end the experiment (F22)."""
        if self._rules.on_failed == "exclude":
            self._awaited.discard(vm.name)
        elif self._rules.on_failed == "abort":
            self.failed, self.failed_at = f"{vm.name} failed: {vm.failure}", now
            self._end_all(now, f"the experiment failed: {self.failed}")

    def _end_all(self, now: float, reason: str) -> None:
        for vm in self.vms.values():
            self._abort(vm, now, reason)
            self._orders += vm.orders
            vm.orders = []

    def _abort(self, vm: TimelineVm, now: float, reason: str) -> None:
        if not vm.failure:
            self._aborted.add(vm.name)
        vm.abort(now, reason)

    def _open_barrier(self, now: float) -> None:
        """Set the start as soon as no VM is awaited; it is set only once (F4)."""
        if self.start is not None or self._awaited or self.failed or self.launched is None:
            return
        managed = [one for one in self.vms.values() if one.timeline.managed]
        counted = [one for one in managed if one.name not in self._aborted]
        if counted and all(one.state is VmState.FAILED for one in counted):
            self.failed, self.failed_at = "every VM failed", now
            return
        self.start = (now if managed else self.launched) + self._rules.buffer
        self._agenda = [(one.next_time(self.start), self._numbers[one.name]) for one in self.vms.values()]
        heapify(self._agenda)
        later = [
            (name, entry) for name, one in self.vms.items() for entry in one.timeline.entries if entry.added is not None
        ]
        self._additions = [
            (max(self.start + (entry.added or 0.0), now), number, name, entry)
            for number, (name, entry) in enumerate(later)
        ]
        heapify(self._additions)
