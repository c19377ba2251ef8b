"""A run of timelines without hosts: entries have the durations and exit codes that they give."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from itertools import count

from msgspec import Struct

from batsched_py.errors import OptionError
from batsched_py.text.display import shown
from batsched_py.text.wording import seconds, unknown
from batsched_py.timelines.entries import Drop, Program, ScheduleEntry, Timelines
from batsched_py.timelines.kinds import BUILT_IN, KindMaker, Works
from batsched_py.timelines.records import Begin, Kill
from batsched_py.timelines.run import TimelineRun
from batsched_py.timelines.states import VmState

#: Order of the events of an instant.
_END, _LAUNCH, _RESUME = range(3)


class ExternalResume(Struct, frozen=True):
    """An external resume.

    Attributes:
        time: experiment time, or seconds after the launch.
        vms: names; None for all.
        after_launch: True if `time` counts from the launch.
    """

    time: float
    vms: tuple[str, ...] | None = None
    after_launch: bool = False


class _Happening(Struct, frozen=True):
    """An event at a wall time; `token` identifies a run of an entry."""

    vm: str = ""
    entry: ScheduleEntry | None = None
    token: int = 0
    code: int = 0
    request: ExternalResume | None = None


class _Player:
    def __init__(self, timelines: Timelines, resumes: Iterable[ExternalResume], works: Works) -> None:
        self._works = works
        self.run, self.notes = TimelineRun(timelines), list[str]()
        self._counter = count()
        self._heap: list[tuple[float, int, int, _Happening]] = []
        #: VM and entry -> token of the run that has not ended.
        self._tokens: dict[tuple[str, str], int] = {}
        first = min((one.launch for one in timelines.vms), default=0.0)
        self._later: list[ExternalResume] = []
        for one in timelines.vms:
            self._push(one.launch, _LAUNCH, _Happening(vm=one.name))
        for request in resumes:
            if request.after_launch:
                self._push(first + request.time, _RESUME, _Happening(request=request))
            else:
                self._later.append(request)

    def play(self) -> None:
        now, known = -math.inf, False
        while True:
            now = max(now, min(self._heap[0][0] if self._heap else math.inf, self.run.next_time()))
            if math.isinf(now):
                return
            self._happen(now)
            self._obey(now)
            if self.run.start is not None and not known:
                known = True
                self._plan_resumes(now, self.run.start)

    def _happen(self, now: float) -> None:
        """Report the events of now to the run: all except resumes, or one resume if nothing else is left."""
        if self._heap and self._heap[0][:2] == (now, _RESUME):
            request = heappop(self._heap)[3].request
            assert request is not None  # noqa: S101
            self.run.resume(request.vms, now, None if request.after_launch else request.time)
            return
        while self._heap and self._heap[0][0] == now and self._heap[0][1] < _RESUME:
            _, kind, _, what = heappop(self._heap)
            if kind == _LAUNCH:
                self.run.launch(what.vm, now)
            elif what.entry is not None and self._tokens.pop((what.vm, what.entry.name), None) == what.token:
                self.run.ended(what.vm, what.entry.name, now, what.code)

    def _obey(self, now: float) -> None:
        for order in self.run.advance(now):
            if isinstance(order, Kill):
                del self._tokens[order.vm, order.entry.name]
            elif isinstance(order, Begin) and isinstance(order.entry.action, Program | Drop):
                work = self._works.of(order.vm, order.entry, order.number)
                token = self._tokens[order.vm, order.entry.name] = next(self._counter)
                self._push(now + work.takes, _END, _Happening(order.vm, order.entry, token, work.exit))

    def _plan_resumes(self, now: float, start: float) -> None:
        """Schedule the resumes that are given in experiment time, which is known from now on."""
        for request in self._later:
            if start + request.time < now:
                self.notes.append(
                    f"resume at {seconds(request.time)}: experiment time begins later, so it has no effect"
                )
            else:
                self._push(start + request.time, _RESUME, _Happening(request=request))

    def _push(self, time: float, kind: int, what: _Happening) -> None:
        heappush(self._heap, (time, kind, next(self._counter), what))


def play(
    timelines: Timelines, resumes: Iterable[ExternalResume] = (), kinds: Mapping[str, KindMaker] = BUILT_IN
) -> tuple[TimelineRun, list[str]]:
    """Play timelines to their end, and return the ended run with notes about events without effect.

    OptionError if a resume names an unknown VM, or a program has an unknown or invalid kind.
    """
    try:
        works = Works(timelines, kinds)
    except ValueError as error:
        raise OptionError(str(error)) from error
    requests = list(resumes)
    known = {one.name for one in timelines.vms}
    for name in (name for request in requests for name in request.vms or () if name not in known):
        raise OptionError(f"resume: VM {shown(name)}: {unknown(name, known)}")
    player = _Player(timelines, requests, works)
    player.play()
    return player.run, player.notes + find_deadlock(player.run)


def find_deadlock(run: TimelineRun) -> list[str]:
    """Return the reasons why a run ends with entries left that can never begin."""
    notes = [run.failed] if run.failed else []
    if run.start is None and not run.failed and run.closed_by:
        closed = ", ".join(f"{name} ({run.vms[name].failure or run.vms[name].state.value})" for name in run.closed_by)
        notes.append(f"no start: the barrier is kept closed by {closed}")
    for vm in run.vms.values():
        if vm.held is not None and vm.state is not VmState.FAILED:
            since = "the launch" if math.isinf(vm.held.at) else seconds(vm.held_since)
            notes.append(f"{vm.name} is held by {vm.held.name} since {since}: no resume comes")
    return notes
