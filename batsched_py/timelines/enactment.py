"""Entries of timelines as Batsim's jobs: where hosts are shared, an entry that takes time is a dynamic job.

Otherwise entries are only booked, or run one after the other (F31). An entry without duration is not a job.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Final, Literal

from msgspec import Struct

from batsched_py.errors import OptionError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.model.new_profile import delay
from batsched_py.planning.wait_time import TOLERANCE
from batsched_py.protocol.events import COMPLETED_KILLED, Event, JobCompleted
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.text.display import displayed
from batsched_py.text.wording import seconds
from batsched_py.timelines.entries import Drop, Program, ScheduleEntry
from batsched_py.timelines.kinds import Works
from batsched_py.timelines.records import Begin, Kill, Order
from batsched_py.timelines.run import TimelineRun

# The run of timelines knows instants, Batsim knows jobs, and messages of Batsim come a little late. So `_clock` is kept
# apart from the time of the message, never moves back, and goes through the instants that have come one by one
# (`_catch_up`), each with the time that the timeline means: otherwise lateness would add up along the schedule.
#
# Between two messages each entry that runs is in `_works`, and either its job is in `_jobs` or its end is in `_ends`.
# An end counts only if its token is still that of the work: suspending a machine changes the token, and entries of the
# heap are not searched for. A job passes through three states that need care: submitted and not yet taken by Batsim,
# waiting for its hosts, running. One that is taken back in the first can only be rejected when Batsim has taken it
# (`_withdrawn`).

#: Execution modes of entries: concurrent `jobs`, `serialise` for jobs one after the other, `booked` without jobs.
Mode = Literal["jobs", "serialise", "booked"]
#: The workload of their jobs.
WORKLOAD: Final = "timelines"
#: Characters that the name of a job may not contain.
_ODD: Final = re.compile(r"[^A-Za-z0-9_.+-]")
#: Maximum length of an entry's name in the name of a job.
_LONGEST: Final = 40
#: Maximum length of the description of a job in its metadata.
_LONGEST_LINE: Final = 400
#: The reason for the cancellation of a job.
_NO_USE: Final = "its entry was stopped before it began"


class _Work(Struct):
    """An entry that runs or waits for its host.

    Attributes:
        vm: name of its VM.
        entry: the entry.
        left: remaining seconds.
        code: its exit code, unless its job has another one.
        began: wall time from which `left` counts; None while it does not run.
        token: of the instant at which it ends if it has no job.
        job: its job; None if it has none.
        waits: True if its job has not been started.
        begun: True if it has already run.
    """

    vm: str
    entry: ScheduleEntry
    left: float
    code: int
    began: float | None = None
    token: int = -1
    job: Job | None = None
    waits: bool = False
    begun: bool = False


def mode_of(view: View, without_sharing: Literal["serialise", "booked"], algorithm: str) -> Mode:
    """Return the mode on a platform, of which one is chosen for hosts that are not shared. OptionError."""
    if view.config.dynamic_jobs:
        return "jobs" if view.compute_sharing else without_sharing
    if without_sharing == "serialise":
        raise OptionError(f"option entries of {algorithm}: serialise needs --enable-dynamic-jobs")
    return "booked"


class TimelineEnactment:
    """The jobs of a run of timelines, and the ends of entries without jobs.

    Attributes:
        run: the run to enact.
        hosts: VM -> its hosts, while it has some.
    """

    def __init__(self, run: TimelineRun, works: Works, view: View, mode: Mode, workload: str = WORKLOAD) -> None:
        self.run, self._works_of, self._view, self._mode = run, works, view, mode
        self._workload = workload
        self.hosts: dict[str, HostSet] = {}
        #: VM and entry -> running work.
        self._works: dict[tuple[str, str], _Work] = {}
        #: Id of a job -> its work, as long as Batsim runs the job.
        self._jobs: dict[str, _Work] = {}
        #: Work whose jobs wait for hosts, in order.
        self._waiting: list[_Work] = []
        #: Jobs that were cancelled before Batsim had submitted them.
        self._withdrawn: list[Job] = []
        #: Heap of (wall time, token, work).
        self._ends: list[tuple[float, int, _Work]] = []
        self._tokens, self._numbers = count(), count()
        #: Jobs that have ended since the last `advance`: work and exit code.
        self._ended: list[tuple[_Work, int]] = []
        self._clock = -math.inf

    @property
    def has_jobs(self) -> bool:
        """True if one of its jobs waits or runs."""
        return bool(self._jobs or self._withdrawn)

    @property
    def waits(self) -> bool:
        """True if one of its jobs is to be started or cancelled as soon as Batsim allows it."""
        return bool(self._waiting or self._withdrawn)

    def owns(self, job: Job) -> bool:
        """Return whether a job belongs to an entry and has not ended."""
        return job.id in self._jobs or any(one.id == job.id for one in self._withdrawn)

    def next_time(self) -> float:
        """Return the next due instant; infinity if only an event can lead to progress."""
        while self._ends and self._ends[0][2].token != self._ends[0][1]:
            heappop(self._ends)
        return min(self._ends[0][0] if self._ends else math.inf, self.run.next_time())

    def observe(self, event: Event) -> None:
        """Record the ends of jobs."""
        if not isinstance(event, JobCompleted):
            return
        work = self._jobs.pop(event.job_id, None)
        if work is None or work.job is None or work.job.id != event.job_id or event.state == COMPLETED_KILLED:
            return
        self._ended.append((work, event.return_code or work.code))  # Batsim 1 and 5 do not know the entry's

    def advance(self, plan: Plan) -> float:
        """Process all due instants in order; return the last of them."""
        self._catch_up(plan)
        self._step(max(self._view.now, self._clock), plan)
        self._catch_up(plan)
        self._start_jobs(plan)
        return self._clock

    def take_ends(self, now: float) -> None:
        """Record the ends of entries until now; to be called before the loss of a VM is recorded, and other changes.

        An entry that ends at the instant at which its VM is lost is done, as its job is.
        """
        self._take_ended(now)
        while self._ends and self._ends[0][0] <= now + TOLERANCE:
            end, token, work = heappop(self._ends)
            if token == work.token:
                self._end(work, min(end, now), work.code)

    def suspend(self, vm: str, now: float, plan: Plan) -> None:
        """Stop the running entries of a VM whose lease is suspended; `wake` continues them."""
        self._clock = max(now, self._clock)
        self.run.suspend(vm, self._clock)
        for work in self._of(vm):
            if work.began is not None:
                work.left = max(work.left - (self._clock - work.began), 0.0)
            self._stop(work, plan)
            work.began, work.token = None, -1

    def wake(self, vm: str, hosts: HostSet, now: float, plan: Plan) -> None:
        """Continue a VM, possibly on other hosts."""
        self._clock = max(now, self._clock)
        self.hosts[vm] = hosts
        self.run.wake(vm, self._clock)
        for work in self._of(vm):
            self._go(work, self._clock, plan)

    def _of(self, vm: str) -> Sequence[_Work]:
        return [work for work in self._works.values() if work.vm == vm]

    def _catch_up(self, plan: Plan) -> None:
        while (due := self.next_time()) <= self._view.now + TOLERANCE:
            self._step(max(due, self._clock), plan)

    def _step(self, now: float, plan: Plan) -> None:
        """Record ends, and carry out the orders of one instant."""
        self._clock = now
        self._take_ended(now)
        while self._ends and self._ends[0][0] <= now:
            _, token, work = heappop(self._ends)
            if token == work.token:
                self._end(work, now, work.code)
        for order in self.run.advance(now):
            self._obey(order, now, plan)

    def _take_ended(self, now: float) -> None:
        """Record the ends of entries whose jobs have ended."""
        ended, self._ended = self._ended, []
        for work, code in ended:
            if self._works.get((work.vm, work.entry.name)) is work:
                self._end(work, now, code)

    def _end(self, work: _Work, now: float, code: int) -> None:
        del self._works[work.vm, work.entry.name]
        self.run.ended(work.vm, work.entry.name, now, code)

    def _obey(self, order: Order, now: float, plan: Plan) -> None:
        if isinstance(order, Kill):
            self._stop(self._works.pop((order.vm, order.entry.name)), plan)
        elif isinstance(order, Begin) and isinstance(order.entry.action, Program | Drop):
            takes, code = self._works_of.of(order.vm, order.entry, order.number)
            work = self._works[order.vm, order.entry.name] = _Work(order.vm, order.entry, takes, code)
            self._go(work, now, plan)

    def _go(self, work: _Work, now: float, plan: Plan) -> None:
        """Run an entry as a job, or until a fixed end."""
        if self._mode == "booked" or work.left <= 0:
            work.began, work.begun, work.token = now, True, next(self._tokens)
            heappush(self._ends, (now + work.left, work.token, work))
            return
        work.job, work.waits = self._submit(work, now, plan), True
        self._jobs[work.job.id] = work
        self._waiting.append(work)

    def _submit(self, work: _Work, now: float, plan: Plan) -> Job:
        """Submit the job of an entry; its name has the scheduled and the experiment time (F33)."""
        entry, text, rest = work.entry, self._described(work, now), ""
        if plan.dialect.name != "v1.4":
            rest = f":{_plain(work.vm)}:{_plain(entry.name)}@{_plain(seconds(entry.at))}={_plain(text[0])}"
        names = (f"{number}{rest}" for number in self._numbers)
        name = next(name for name in names if not self._view.has_id(f"{self._workload}!{name}"))
        size = len(self.hosts[work.vm])
        job = Job.create(f"{self._workload}!{name}", size=size, profile=f"entry {name}", walltime=None)
        plan.submit(job, delay(work.left, ret=work.code if plan.dialect.registers_exit_codes else 0))
        if plan.dialect.keeps_metadata:
            plan.set_metadata(job, text[1])
        return job

    def _described(self, work: _Work, now: float) -> tuple[str, str]:
        """Return the experiment time of an entry, and a line about it."""
        record = self.run.vms[work.vm].records[work.entry.name]
        start = self.run.start
        time = seconds(record.time if record.time is not None else now - (start or 0.0))
        moved = f", moved by {' and '.join(record.moved_by)}" if record.moved_by else ""
        names = f"{work.entry.name} in {work.vm}"
        line = f"{names}: scheduled {seconds(work.entry.at)}, experiment time {time}{moved}"
        return time, displayed(line, _LONGEST_LINE).replace('"', "'")

    def _start_jobs(self, plan: Plan) -> None:
        """Start the submitted jobs whose hosts are free."""
        for withdrawn in [job for job in self._withdrawn if job.id in self._view.queue]:
            self._withdrawn.remove(withdrawn)
            plan.reject(withdrawn, _NO_USE)
        waiting, self._waiting = self._waiting, []
        for work in waiting:
            job = work.job
            if job is None or not work.waits:
                continue
            hosts = self.hosts.get(work.vm)
            usable = plan.free if self._mode == "serialise" else self._view.all_hosts - self._view.unavailable
            if job.id not in self._view.queue or hosts is None or not hosts <= usable:
                self._waiting.append(work)
                continue
            plan.start(job, hosts)
            if not work.begun:
                self._note_begin(work)
            work.waits, work.began, work.begun = False, self._view.now, True

    def _note_begin(self, work: _Work) -> None:
        record = self.run.vms[work.vm].records[work.entry.name]
        if self._view.now > record.spans[-1].begin:
            self.run.begun(work.vm, work.entry.name, self._view.now)

    def _stop(self, work: _Work, plan: Plan) -> None:
        """Cancel the job of an entry, and ignore its end."""
        job, work.job, work.token = work.job, None, -1
        if job is None or self._jobs.pop(job.id, None) is None:
            return
        if not work.waits:
            plan.kill(job)
        elif job.id in self._view.queue:
            plan.reject(job, _NO_USE)
        else:
            self._withdrawn.append(job)
        work.waits = False


def _plain(text: str) -> str:
    """Return a text as a part of the name of a job."""
    return _ODD.sub("_", text[:_LONGEST])
