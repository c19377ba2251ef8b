"""Timelines of VMs together with leases: each VM of a file has its own host, on which its entries run (FIREWHEEL)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from batsched_py.api import Event, HostSet, Job, Notify, OptionError, Plan, Table, View, document, named, option
from batsched_py.leases.actions import Action, Occupy, Reject, Start
from batsched_py.leases.api import UNLIMITED, LeaseKind
from batsched_py.leases.lease import Lease
from batsched_py.leases.options import LeasesOptions
from batsched_py.schedulers.leases import Leases
from batsched_py.timelines.additions import ADD_ENTRY, RESUME, add_entry, resume
from batsched_py.timelines.enactment import TimelineEnactment, mode_of
from batsched_py.timelines.entries import Timelines, VmTimeline
from batsched_py.timelines.kinds import KINDS, Kinds, Works
from batsched_py.timelines.parsing import parse_timelines
from batsched_py.timelines.playback import find_deadlock
from batsched_py.timelines.run import TimelineRun
from batsched_py.timelines.states import VmState
from batsched_py.timelines.status_tables import live_table, state_of
from batsched_py.timelines.tables import timeline_tables

#: The notice after the last external event.
_NO_MORE: Final = "no_more_external_event_to_occur"


@dataclass(frozen=True, slots=True)
class TimelinesOptions(LeasesOptions):
    """Options of leases, and those of timelines."""

    file: Timelines | None = document(  # noqa: RUF009  # as `option`, which makes a field
        parse_timelines, "the timelines, JSON or YAML; without it there are no VMs"
    )
    entries: Literal["booked", "serialise"] = option(
        "booked", "if hosts are not shared: entries are not jobs, or sequential jobs that may be late"
    )
    kinds: Kinds = named("built-in", "built-in kinds of programs, or your own class in addition", KINDS)
    vm_leases: Literal["reserved", "queued", "preemptible"] = option(
        "reserved", "VMs are launched at their time or fail, as soon as possible, or may also be suspended"
    )


class TimelinesScheduler(Leases):
    """Run timelines of VMs on leases, and the jobs of the workload as leases, too.

    Each VM is a lease of one whole host from its launch on. If hosts are shared, each entry is a job on that host.
    An external event `resume` ends breaks, `add_entry` adds an entry to a VM. A run in which nothing more can happen
    ends with the reason.
    """

    name = "timelines"
    foresight = "promises"
    source = "FIREWHEEL's VM resource schedules, on Haizea's leases"
    options: TimelinesOptions
    options_type = TimelinesOptions

    def setup(self, view: View) -> None:
        """Begin with VMs that are not launched."""
        super().setup(view)
        timelines = self.options.file or Timelines(())
        self.run = TimelineRun(timelines)
        try:
            self.works = Works(timelines, self.options.kinds.makers)
        except ValueError as error:
            raise OptionError(f"option file of {self.name}: {error}") from None
        self.entries = TimelineEnactment(self.run, self.works, view, mode_of(view, self.options.entries, self.name))
        #: VMs whose leases are not requested yet, the last one first.
        self.coming = sorted(timelines.vms, key=lambda one: one.launch)[::-1]
        #: Number of a lease -> the VM; VM -> its lease.
        self.vm_of: dict[int, VmTimeline] = {}
        self.lease_of: dict[str, Lease] = {}
        #: Requests of external events: their members.
        self.resumes: list[Mapping[str, Any]] = []
        self.additions: list[Mapping[str, Any]] = []
        self.events_may_come = view.config.forward_unknown_events
        #: Hosts of VMs that were launched.
        self.places: dict[str, HostSet] = {}

    def observe(self, event: Event, view: View) -> None:
        """Record ends of entries, and requests to resume VMs."""
        super().observe(event, view)
        self.entries.observe(event)
        if not isinstance(event, Notify):
            return
        if event.kind == RESUME:
            self.resumes.append(event.members)
        elif event.kind == ADD_ENTRY:
            self.additions.append(event.members)
        elif event.kind == _NO_MORE:
            self.events_may_come = False

    def requests(self, view: View, plan: Plan) -> list[Lease]:
        """Return the new leases of VMs and of jobs."""
        now, requests = max(view.now, self.clock), list[Lease]()
        reserved = self.options.vm_leases == "reserved"
        while self.coming and (reserved or view.due(self.coming[-1].launch)):
            requests.append(self._lease(self.coming.pop(), now, unnumbered=view.expects_requests))
        return requests + super().requests(view, plan)

    def arrived(self, view: View) -> Sequence[Job]:
        """Return the new jobs, except those of entries."""
        return [job for job in super().arrived(view) if not self.entries.owns(job)]

    def enact(self, view: View, plan: Plan) -> None:
        """Carry out the decisions of the scheduler, then the due actions of the VMs, until both are done."""
        while True:
            actions = list(self.scheduler.actions)
            self.scheduler.actions.clear()
            self.enactment.enact([one for one in actions if one.lease.id not in self.vm_of], plan)
            for action in actions:
                if action.lease.id in self.vm_of:
                    self._enact(action, view, plan)
            now = self.entries.advance(plan)
            self._add_entries(now, plan)
            self._resume(now, plan)
            self._end_deadlock(view, plan)
            ended = self._over(view)
            if not ended:
                return
            self.enactment.ended += ended
            self.advance(view)

    def binding(self, view: View) -> str:
        """Return why no other algorithm can go on: VMs, or leases."""
        return "it has VMs" if self.run.vms else super().binding(view)

    def next_instant(self) -> float | None:
        """Return the next instant of a lease or a timeline; None if there is none."""
        times = [super().next_instant(), self.entries.next_time()]
        if self.coming:
            times.append(self.coming[-1].launch)
        known = [time for time in times if time is not None and math.isfinite(time)]
        return min(known, default=None)

    def submits(self) -> bool:
        """Return whether jobs may still have to be submitted."""
        return super().submits() or bool(self.coming) or self.entries.has_jobs

    def tables(self, view: View) -> list[Table]:
        """Return the tables of leases, and of the outcomes of entries and VMs."""
        return super().tables(view) + (timeline_tables(self.run, self.places) if self.run.vms else [])

    def live_tables(self, view: View) -> list[Table]:
        """Return the tables of leases, and of the current state of the experiment, its VMs and their entries."""
        found = super().live_tables(view)
        if self.run.vms:
            found.append(live_table([state_of("", self.run, self.places, max(view.now, self.clock))]))
        return found

    def _lease(self, vm: VmTimeline, now: float, *, unnumbered: bool) -> Lease:
        """Return the lease of a VM: a whole host, from its launch on, or as soon as possible."""
        number = self.arrivals.enlist(vm.name, unnumbered=unnumbered)
        self.vm_of[number] = vm
        reserved = self.options.vm_leases == "reserved"
        lease = self.lease_of[vm.name] = Lease(
            number,
            LeaseKind.ADVANCE if reserved else LeaseKind.BEST_EFFORT,
            now,
            UNLIMITED if vm.lease is None else max(vm.lease, self.options.tolerance),
            (self.site.smallest(),),
            start=max(vm.launch, now) if reserved else None,
            preemptible=self.options.vm_leases == "preemptible",
        )
        return lease

    def _enact(self, action: Action, view: View, plan: Plan) -> None:
        """Launch, suspend, resume or give up a VM."""
        now, vm = max(self.clock, view.now), self.vm_of[action.lease.id].name
        if isinstance(action, Start):
            hosts = HostSet.from_ids(self.hosts[host] for host in action.run.nodes.values())
            if vm in self.places:
                self.entries.wake(vm, hosts, now, plan)
            else:
                self.entries.hosts[vm] = hosts
                self.run.launch(vm, max(action.run.start, self.run.launched or 0.0))
            self.places[vm] = hosts
        elif isinstance(action, Reject):
            self.run.lose(vm, now, f"no lease: {action.why}")
            plan.warn(f"{vm} has no lease: {action.why}")
        elif not isinstance(action, Occupy) and action.why == "suspend":
            self.entries.suspend(vm, now, plan)
        elif not isinstance(action, Occupy) and action.why != "shutdown":
            self.entries.take_ends(now)
            down = self.places[vm] & view.unavailable
            self.run.lose(vm, now, f"host {down} failed" if down else "its lease was cancelled")

    def _resume(self, now: float, plan: Plan) -> None:
        """Resume the VMs that external events name; report invalid events."""
        resumes, self.resumes = self.resumes, []
        for members in resumes:
            vms = members.get("vms", "all")
            if vms != "all" and not (isinstance(vms, list) and all(isinstance(one, str) for one in vms)):
                plan.warn('resume: vms must be a list of names or "all"; no VM is resumed')
                continue
            try:
                resume(self.run, None if vms == "all" else vms, now)
            except OptionError as error:
                plan.ignore(RESUME, "", str(error), f"{RESUME}: {error}; no VM is resumed")
        if resumes:
            self.entries.advance(plan)

    def _add_entries(self, now: float, plan: Plan) -> None:
        """Add the entries of external events; report invalid events."""
        additions, self.additions = self.additions, []
        for members in additions:
            try:
                add_entry(self.run, self.works, members, now)
            except OptionError as error:
                plan.ignore(ADD_ENTRY, "", str(error), f"{ADD_ENTRY}: {error}; it is ignored")
        if additions:
            self.entries.advance(plan)

    def _end_deadlock(self, view: View, plan: Plan) -> None:
        """End a run in a deadlock, with the reason."""
        if self.run.finished or self.coming or self.events_may_come or self.entries.has_jobs:
            return
        expected = any(
            not lease.ended and (self.run.vms[vm].state is VmState.UNINITIALIZED or self.run.vms[vm].suspended)
            for vm, lease in self.lease_of.items()
        )
        if expected or self.entries.next_time() < math.inf:
            return
        reasons = find_deadlock(self.run)
        for reason in reasons:
            plan.warn(reason)
        self.run.give_up(max(view.now, self.clock), "; ".join(reasons) or "nothing can happen any more")
        self.entries.advance(plan)

    def _over(self, view: View) -> list[Lease]:
        """Return leases that end with the run of timelines: those without their own end, or all if it failed.

        On a live site, more entries may be added.
        """
        if self.coming or not self.run.finished or self.entries.has_jobs:
            return []
        if view.expects_requests and not self.run.failed:
            return []
        return [
            lease
            for number, vm in self.vm_of.items()
            if (vm.lease is None or self.run.failed)
            and (lease := self.lease_of[vm.name]).running is not None
            and number in self.scheduler.leases
        ]
