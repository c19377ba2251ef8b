"""Timelines of deployed experiments: a VM is launched when its compute is created, and ends with it (M39)."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any, Final

from msgspec.structs import replace

from batsched_py.errors import OptionError
from batsched_py.experiments.contexts import with_contexts
from batsched_py.experiments.managed import ManagedExperiment, ManagedResource
from batsched_py.experiments.model import Compute, PlannedResource
from batsched_py.experiments.states import ResourceState
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.model.table import Table
from batsched_py.planning.wait_time import TOLERANCE
from batsched_py.protocol.events import Event, JobCompleted
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.text.display import shown
from batsched_py.timelines.additions import add_entry, resume
from batsched_py.timelines.enactment import Mode, TimelineEnactment
from batsched_py.timelines.entries import TimelineRules, Timelines
from batsched_py.timelines.kinds import KindMaker, Works
from batsched_py.timelines.parsing import parse_timelines
from batsched_py.timelines.run import TimelineRun
from batsched_py.timelines.status_tables import TimelineState, state_of
from batsched_py.timelines.tables import timeline_tables

# Each experiment has a separate run of timelines, with its own start and barrier, and one agenda calls the runs with
# due actions: experiments without any cost nothing. Obsolete entries of the agenda are recognized by comparison with
# the run, and dropped.
#
# Between two calls `_open` contains the experiments with pending actions, `_all` all of them, for the tables;
# each compute whose VM was launched is in `places`, and in `gone` when it has ended. A VM gets its final entries at its
# launch, because contexts may hold addresses that are not known earlier.

#: Prefix of the name of the workload for an experiment's entries; the experiment's number follows.
WORKLOAD: Final = "experiment"
#: States of a compute whose VM exists, or existed.
_GONE: Final = frozenset({ResourceState.FAILED, ResourceState.REMOVED, ResourceState.LEAKED, ResourceState.KEPT})


def timelines_of(order: Iterable[PlannedResource], rules: TimelineRules) -> Timelines | None:
    """Return the timelines of all instances of computes; None if none of them has one."""
    computes = {one.name: one.resource for one in order if isinstance(one.resource, Compute)}
    if all(one.timeline is None for one in computes.values()):
        return None
    vms = {name: list(one.timeline or ()) for name, one in computes.items()}
    return replace(parse_timelines("", {"vms": vms}), rules=rules)


class _Playing:
    """An experiment with running timelines."""

    def __init__(self, one: ManagedExperiment, entries: TimelineEnactment, works: Works) -> None:
        self.one, self.entries, self.works = one, entries, works
        self.places: dict[str, HostSet] = {}
        self.gone: set[str] = set()


class ExperimentTimelines:
    """The timelines of all experiments of a run.

    Args:
        view: view of the run.
        mode: execution mode of entries.
        kinds: kinds of programs.
        rules: rules of all timelines.
        host_of: returns the host of a created compute.
        fail: called with an experiment that must fail, and the reason.
    """

    def __init__(
        self,
        view: View,
        mode: Mode,
        kinds: Mapping[str, KindMaker],
        rules: TimelineRules,
        *,
        host_of: Callable[[ManagedResource], HostSet],
        fail: Callable[[ManagedExperiment, str], None],
    ) -> None:
        self._view, self._mode, self._kinds, self._rules = view, mode, kinds, rules
        self._host_of, self._fail = host_of, fail
        self._all: dict[str, _Playing] = {}
        #: Experiments with pending actions.
        self._open: dict[str, _Playing] = {}
        #: Numbers of experiments to check, of those with waiting jobs, and a heap of (time, number), some obsolete.
        self._touched: set[int] = set()
        #: Experiment -> the state of its timelines; numbers of experiments whose state has changed since.
        self._states: dict[str, TimelineState] = {}
        self._changed: set[str] = set()
        self._waiting: set[int] = set()
        self._agenda: list[tuple[float, int]] = []

    def check(self, order: Iterable[PlannedResource]) -> None:
        """Raise ValueError if a program is of an unknown kind, or its arguments are wrong."""
        timelines = timelines_of(order, self._rules)
        if timelines is not None:
            Works(timelines, self._kinds)

    def run_of(self, experiment: str) -> TimelineRun | None:
        """Return the run of an experiment's timelines; None if it has none, or has not begun."""
        playing = self._all.get(experiment)
        return None if playing is None else playing.entries.run

    @property
    def has_jobs(self) -> bool:
        """True if a job of an entry waits or runs."""
        return any(one.entries.has_jobs for one in self._open.values())

    def owns(self, job: Job) -> bool:
        """Return whether a job belongs to an entry."""
        playing = self._of_job(job.id)
        return playing is not None and playing.entries.owns(job)

    def observe(self, event: Event) -> None:
        """Record ended jobs."""
        if isinstance(event, JobCompleted) and (playing := self._of_job(event.job_id)) is not None:
            playing.entries.observe(event)
            self._touched.add(playing.one.number)

    def next_time(self) -> float:
        """Return the time of the next action; infinity if only an event can cause one."""
        while self._agenda:
            time, number = self._agenda[0]
            playing = self._open.get(str(number))
            if playing is not None and playing.entries.next_time() == time:
                return time
            heappop(self._agenda)
        return math.inf

    def follow(self, one: ManagedExperiment, now: float) -> None:
        """Launch the VMs of created computes, and end those of removed ones."""
        playing = self._all.get(one.id) or self._begin(one)
        if playing is None:
            return
        run = playing.entries.run
        self._touched.add(one.number)
        playing.entries.take_ends(now)
        for resource in one.computes:
            if resource.name in playing.gone:
                continue
            if resource.state is ResourceState.CREATED and resource.name not in playing.places:
                self._launch(playing, resource, now)
            elif resource.state in _GONE and resource.name in playing.places:
                playing.gone.add(resource.name)
                if resource.state is ResourceState.FAILED:
                    run.lose(resource.name, now, resource.reason)
                else:
                    run.end_lease(resource.name, now)
            elif resource.state is ResourceState.LEFT_OUT or resource.state in _GONE:
                playing.gone.add(resource.name)
                run.leave_out(resource.name, now, resource.reason or "its compute was never created")

    def advance(self, plan: Plan) -> None:
        """Execute the due actions of all VMs, and start waiting jobs, in the order of experiments."""
        while self.next_time() <= self._view.now + TOLERANCE:
            self._touched.add(heappop(self._agenda)[1])
        touched, self._touched = sorted(self._touched | self._waiting), set()
        self._waiting.clear()
        for number in touched:
            playing = self._open.get(str(number))
            if playing is not None:
                self._advance_one(playing, plan)

    def _advance_one(self, playing: _Playing, plan: Plan) -> None:
        entries, one = playing.entries, playing.one
        self._changed.add(one.id)
        entries.advance(plan)
        if entries.run.failed and one.open:
            self._fail(one, f"timelines: {entries.run.failed}")
        if entries.waits:
            self._waiting.add(one.number)
        if not one.open and not entries.has_jobs and entries.run.finished:
            del self._open[one.id]
        elif (time := entries.next_time()) < math.inf:
            heappush(self._agenda, (time, one.number))

    def resume(self, experiment: str, vms: Sequence[str] | None, now: float) -> None:
        """Resume breaks; OptionError for unknown VMs, and if no VM is held.

        KeyError if there is no such experiment with timelines.
        """
        playing = self._open[experiment]
        self._touched.add(playing.one.number)
        playing.entries.take_ends(now)
        resume(playing.entries.run, vms, now)

    def add(self, experiment: str, members: Mapping[str, Any], now: float) -> None:
        """Add an entry, the member `entry`, to the VM of the member `vm`.

        KeyError if there is no such experiment with timelines, OptionError if the entry is wrong.
        """
        playing = self._open[experiment]
        resource = playing.one.resources.get(str(members.get("vm")))
        try:
            filled = with_contexts(members, {} if resource is None else resource.contexts)
        except KeyError as error:
            raise OptionError(f"there is no context {shown(str(error.args[0]))}") from None
        playing.entries.take_ends(now)
        add_entry(playing.entries.run, playing.works, filled, now)
        self._touched.add(playing.one.number)

    def states(self, now: float, present: Container[str]) -> list[TimelineState]:
        """Return the current state of the timelines of each experiment in `present`."""
        changed, self._changed = self._changed, set()
        for id in sorted(changed, key=int):
            playing = self._all[id]
            self._states[id] = state = state_of(id, playing.entries.run, playing.places, now)
            if any(vm.paused_until is not None for vm in state.vms):  # a pause ends without an action
                self._changed.add(id)
        self._states = {id: state for id, state in self._states.items() if id in present}
        return list(self._states.values())

    def tables(self) -> list[Table]:
        """Return the results of each entry and VM; names begin with those of their experiments."""
        found: dict[str, tuple[Sequence[str], list[Sequence[object]]]] = {}
        for id, playing in self._all.items():
            for table in timeline_tables(playing.entries.run, playing.places):
                rows = found.setdefault(table.name, (table.header, []))[1]
                rows += (_named(id, row) for row in table.rows)
        return [Table(name, header, rows) for name, (header, rows) in found.items()]

    def _begin(self, one: ManagedExperiment) -> _Playing | None:
        timelines = timelines_of(one.order, self._rules) if one.link is not None else None
        if timelines is None:
            return None
        works = Works(timelines, self._kinds)
        entries = TimelineEnactment(TimelineRun(timelines), works, self._view, self._mode, f"{WORKLOAD}{one.id}")
        playing = self._all[one.id] = self._open[one.id] = _Playing(one, entries, works)
        return playing

    def _launch(self, playing: _Playing, resource: ManagedResource, now: float) -> None:
        """Launch a VM, with the current contexts in its entries."""
        compute, run = resource.planned.resource, playing.entries.run
        assert isinstance(compute, Compute)  # noqa: S101
        if compute.timeline and resource.contexts:
            own = with_contexts(compute.timeline, resource.contexts)
            timeline = parse_timelines("", {"vms": {resource.name: own}}, run.vms).vms[0]
            run.replace(timeline)
            playing.works.add(timeline)
        hosts = self._host_of(resource)
        playing.places[resource.name] = playing.entries.hosts[resource.name] = hosts
        run.launch(resource.name, max(now, run.launched or 0.0))

    def _of_job(self, job_id: str) -> _Playing | None:
        workload = job_id.partition("!")[0]
        return self._open.get(workload.removeprefix(WORKLOAD)) if workload.startswith(WORKLOAD) else None


def _named(id: str, row: Sequence[object]) -> tuple[object, ...]:
    vm, *others = row
    return f"{id}/{vm}", *others
