"""Managed experiments on leases: documents become machines, networks and storages, deployed as a whole (BonFIRE)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from batsched_py.api import (
    TOLERANCE,
    Event,
    HostSet,
    Job,
    Notify,
    OptionError,
    Plan,
    Table,
    View,
    document,
    named,
    option,
)
from batsched_py.experiments.deployment_order import deployment_order
from batsched_py.experiments.descriptor_cache import DescriptorReader, ReadExperiment
from batsched_py.experiments.descriptor_errors import DescriptorError, InvalidDescriptorError
from batsched_py.experiments.host_finder import HostFinder
from batsched_py.experiments.lease_manager import LeaseManager
from batsched_py.experiments.managed import ManagedExperiment, ManagedResource
from batsched_py.experiments.model import Experiment, Storage
from batsched_py.experiments.orchestrator import Orchestrator
from batsched_py.experiments.orchestrator_settings import DeploymentSettings, OrchestratorSettings
from batsched_py.experiments.parsing.descriptor import read_descriptor
from batsched_py.experiments.parsing.submissions import (
    DELETE,
    DESCRIPTOR,
    RESERVE,
    SUBMIT,
    SUBMITTED,
    WITHDRAW,
    Submission,
    numbered,
    origin_of,
    parse_submissions,
    submit_text,
)
from batsched_py.experiments.parsing.testbed_form import parse_testbed
from batsched_py.experiments.reservation_views import LIVE_RESERVATIONS, ReservationView
from batsched_py.experiments.resource_manager import RefusedByManagerError
from batsched_py.experiments.tables import experiment_tables
from batsched_py.experiments.testbed import Location, Testbed
from batsched_py.experiments.timeline_playback import ExperimentTimelines
from batsched_py.experiments.user_reservations import UserReservations
from batsched_py.experiments.validation import Situation
from batsched_py.experiments.views import LIVE_EXPERIMENTS, ExperimentView, refused_view, view_of
from batsched_py.leases.actions import Action
from batsched_py.leases.api import UNLIMITED
from batsched_py.leases.options import LeasesOptions
from batsched_py.queries.host_attributes import host_attributes, idle_attributes
from batsched_py.schedulers.leases import Leases
from batsched_py.timelines.additions import ADD_ENTRY, RESUME
from batsched_py.timelines.enactment import mode_of
from batsched_py.timelines.entries import OnExit, OnFailed, TimelineRules
from batsched_py.timelines.kinds import KINDS, Kinds
from batsched_py.timelines.status_tables import live_table

#: The notice after the last external event.
_NO_MORE: Final = "no_more_external_event_to_occur"
_NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class ExperimentsOptions(LeasesOptions):
    """Options of leases, and those of experiments."""

    file: tuple[Submission, ...] | None = document(  # as `option`, which makes a field
        parse_submissions,
        "a descriptor, JSON, YAML or OVF, or several with their submission times",
        {".ovf": submit_text, ".xml": submit_text},
    )
    testbed: Testbed | None = document(  # noqa: RUF009
        parse_testbed, "locations with their delays and catalogues, and types of instances"
    )
    reservations: Literal["off", "on"] = option("off", "whether all machines of an experiment are reserved together")
    deploy: Literal["parallel", "sequential"] = option(
        "parallel", "independent resources in parallel, or one resource after the other, as in BonFIRE"
    )
    no_capacity: Literal["fail", "wait"] = option("fail", "if no host has room for a machine: fail, or wait for one")
    capacity_wait: float | None = option(
        None, "maximum wait of a machine in seconds, with no_capacity=wait", minimum=0.001
    )
    deployments: int | None = option(None, "maximum number of simultaneous deployments", minimum=1)
    ip_timeout: float = option(3600.0, "seconds until a required address must be known", minimum=0)
    undo_attempts: int = option(3, "number of attempts for each step of a rollback", minimum=1)
    undo_delay: float = option(0.0, "seconds between two attempts", minimum=0)
    buffer: float = option(60.0, "seconds between the configuration of the last machine and the start", minimum=0)
    on_exit: OnExit = option("log", "effect of a nonzero exit code of an entry on its machine")
    on_failed: OnFailed = option("wait", "effect of a failed machine on its experiment")
    entries: Literal["booked", "serialise"] = option(
        "booked", "if hosts are not shared: entries are not jobs, or sequential jobs that may be late"
    )
    kinds: Kinds = named("built-in", "built-in kinds of programs, or your own class in addition", KINDS)

    def __post_init__(self) -> None:
        LeasesOptions.__post_init__(self)
        if self.capacity_wait is not None and self.no_capacity == "fail":
            raise OptionError("capacity_wait needs no_capacity=wait")


class ExperimentsScheduler(Leases):
    """Deploy experiments on leases of machines, and run the jobs of the workload as leases, too.

    Each machine of an experiment is a lease of a share of a host, or a part of one reservation. If hosts are shared,
    the entries of its timeline are jobs on that host.
    """

    name = "experiments"
    foresight = "promises"
    source = "BonFIRE's experiment manager (ADR 31), on Haizea's leases, with FIREWHEEL's timelines"
    options: ExperimentsOptions
    options_type = ExperimentsOptions

    def setup(self, view: View) -> None:
        """Begin with no experiments."""
        super().setup(view)
        options = self.options
        finder = HostFinder([self._attributes(host, view) for host in self.hosts])
        testbed = options.testbed or Testbed()
        if testbed.locations is None and finder.locations:
            testbed = Testbed({name: Location() for name in finder.locations}, testbed.instance_types)
        self.testbed = testbed
        wait = 0.0 if options.no_capacity == "fail" else options.capacity_wait or math.inf
        enlist = partial(self.arrivals.enlist, unnumbered=view.expects_requests)
        self.manager = LeaseManager(self.scheduler, enlist, finder, testbed, wait=wait)
        self.orchestrator = Orchestrator(
            self.manager,
            OrchestratorSettings(
                DeploymentSettings(options.deploy, options.ip_timeout),
                options.reservations,
                options.deployments,
                options.undo_attempts,
                options.undo_delay,
            ),
        )
        self.reservations = UserReservations(self.manager, allowed=self.options.reservations == "on")
        self.timelines = ExperimentTimelines(
            view,
            mode_of(view, self.options.entries, self.name),
            options.kinds.makers,
            TimelineRules(options.buffer, options.on_exit, options.on_failed),
            host_of=self._host_of,
            fail=lambda one, why: self.orchestrator.fail(one.id, why, self.clock),
        )
        self.reader = DescriptorReader(self.timelines.check)
        #: All accepted experiments, including deleted ones.
        self.accepted: list[ManagedExperiment] = []
        self.events_may_come = view.config.forward_unknown_events
        #: Number -> state of an experiment that was not deleted; numbers of experiments that have changed since.
        self.views: dict[str, ExperimentView] = {}
        self.changed: dict[str, ManagedExperiment] = {}
        #: Descriptors to submit, the last one first; requests of external events.
        self.coming = list(options.file or ())[::-1]
        self.asked: list[Notify] = []
        self._check_all(options.file or ())

    def observe(self, event: Event, view: View) -> None:
        """Record ends of entries, and requests."""
        super().observe(event, view)
        self.timelines.observe(event)
        if not isinstance(event, Notify):
            return
        if event.kind in (SUBMIT, DELETE, RESERVE, WITHDRAW, RESUME, ADD_ENTRY):
            self.asked.append(event)
        elif event.kind == _NO_MORE:
            self.events_may_come = False

    def arrived(self, view: View) -> Sequence[Job]:
        """Return the new jobs, except those of entries."""
        return [job for job in super().arrived(view) if not self.timelines.owns(job)]

    def enact(self, view: View, plan: Plan) -> None:
        """Carry out the decisions of the scheduler, then the due actions of experiments and their timelines."""
        self._enact_leases(plan)
        while (due := self._next_due()) <= view.now + TOLERANCE:
            self._step(max(due, self.clock), plan)
        asked, self.asked = self.asked, []
        self.clock = max(view.now, self.clock)
        for event in asked:
            self._obey(event, plan)
        self._step(self.clock, plan)
        while (one := self._stuck()) is not None:
            self.orchestrator.fail(one.id, "its machines wait for hosts that will never be free", self.clock)
            self._step(self.clock, plan)

    def binding(self, view: View) -> str:
        """Return why no other algorithm can go on: experiments that were not deleted, or leases."""
        known = next(iter(self.orchestrator.experiments), None)
        return super().binding(view) if known is None and not self.coming else "it has experiments"

    def next_instant(self) -> float | None:
        """Return the next instant of a lease, an experiment or a timeline; None if there is none."""
        times = [super().next_instant(), self._next_due()]
        return min((time for time in times if time is not None and math.isfinite(time)), default=None)

    def submits(self) -> bool:
        """Return whether jobs may still have to be submitted."""
        if self.coming or self.events_may_come:
            return True
        return super().submits() or self.orchestrator.busy or self.timelines.has_jobs

    def tables(self, view: View) -> list[Table]:
        """Return the tables of leases, of experiments and of their timelines."""
        found = super().tables(view) + experiment_tables(self.accepted, self.timelines.run_of, self._host_of)
        return found + self.timelines.tables()

    def live_tables(self, view: View) -> list[Table]:
        """Return the tables of leases, and of the current state of each experiment."""
        for changed in self.changed.values():
            if changed.id in self.orchestrator.experiments:
                self.views[changed.id] = view_of(changed, self._host_of)
            else:
                self.views.pop(changed.id, None)
        self.changed.clear()
        for one in list(self.views.values()):
            run = self.timelines.run_of(one.id)
            if run is not None and (one.start != run.start or not one.timelines):
                self.views[one.id] = one._replace(start=run.start, timelines=True)
        timelines = self.timelines.states(max(view.now, self.clock), self.orchestrator.experiments)
        experiments = Table(LIVE_EXPERIMENTS, ExperimentView._fields, list(self.views.values()))
        reserved = list(self.reservations.views(self.orchestrator.experiments, self.hosts.__getitem__))
        reservations = Table(LIVE_RESERVATIONS, ReservationView._fields, reserved)
        return [*super().live_tables(view), experiments, reservations, live_table(timelines)]

    def check_request(self, kind: str, members: Mapping[str, Any], now: float) -> Experiment | None:
        """Return the experiment of a descriptor before its submission; DescriptorError for an invalid one."""
        if kind not in (SUBMIT, RESERVE):
            return None
        content = DESCRIPTOR(members["descriptor"])
        try:
            found = self.reader.check(content, self._situation_now(now), origin_of(members), kind)
            if kind == RESERVE:
                self.reservations.check(found)
        except DescriptorError:
            raise
        except (RefusedByManagerError, ValueError) as error:
            raise InvalidDescriptorError(kind, "", str(error)) from None
        return found.experiment

    def _attributes(self, number: int, view: View) -> dict[str, Any]:
        host = view.hosts[number]
        static = host_attributes(number, host.name, host.properties, host.zone_properties)
        return {**static, **idle_attributes(static)}

    def _host_of(self, resource: ManagedResource) -> HostSet:
        """Return the host of a compute; no host if it was not created."""
        return HostSet() if resource.host is None else HostSet.from_ids([self.hosts[resource.host]])

    def _next_due(self) -> float:
        coming = self.coming[-1].time if self.coming else math.inf
        return min(self.orchestrator.next_time(), self.timelines.next_time(), coming)

    def _step(self, now: float, plan: Plan) -> None:
        """Process everything that is due at one instant."""
        self.clock = now
        while self.coming and self.coming[-1].time <= now + TOLERANCE:
            self._submit(self.coming.pop(), plan)
        while True:
            for one in self.orchestrator.advance(now):
                self.timelines.follow(one, now)
                self.changed[one.id] = one
            self.timelines.advance(plan)
            if not self.scheduler.actions and self.orchestrator.next_time() > now:
                return
            self._enact_leases(plan)

    def _stuck(self) -> ManagedExperiment | None:
        """Return the latest experiment with waiting machines in a deadlock; None if there is no deadlock.

        Experiments that are being deployed hold their hosts forever if each of them needs one more.
        """
        if self.coming or self.events_may_come or self._next_due() < math.inf:
            return None
        following = super().next_instant()
        if self.scheduler.table.down or (following is not None and following < self.clock + UNLIMITED / 2):
            return None
        active = (lease for lease in self.scheduler.leases.values() if lease.running is not None)
        if not all(self.manager.owns(lease) and lease.duration >= UNLIMITED for lease in active):
            return None  # a job that has no walltime may end
        waiting = (one for one in self.orchestrator.experiments.values() if one.waits_for_machines)
        return max(waiting, key=lambda one: one.number, default=None)

    def _enact_leases(self, plan: Plan) -> None:
        actions = list(self.scheduler.actions)
        self.scheduler.actions.clear()
        own, others = list[Action](), list[Action]()
        for action in actions:
            (own if self.manager.owns(action.lease) else others).append(action)
        self.enactment.enact(others, plan)
        for action in own:
            self.manager.note(action, self.clock)

    # Requests

    def _check_all(self, submissions: Sequence[Submission]) -> None:
        """Validate the descriptors of the file before the run begins, assuming that persistent resources are kept."""
        kept = list[tuple[str, str | None]]()
        for one in submissions:
            try:
                experiment = read_descriptor(one.place, one.content, self._situation(one.time, kept))
                order = deployment_order(experiment)
                self.timelines.check(order)
                if one.reserve:
                    self.reservations.check(ReadExperiment(experiment, order, ()))
            except RefusedByManagerError as error:
                raise OptionError(f"option file of {self.name}: {one.place}: {error}") from None
            except (DescriptorError, ValueError) as error:
                raise OptionError(f"option file of {self.name}: {error}") from None
            storages = (each for each in experiment.resources if isinstance(each, Storage) and each.persistent)
            kept += ((each.name, each.location) for each in storages)

    def _situation(self, now: float, kept: Iterable[tuple[str, str | None]]) -> Situation:
        return Situation(self.testbed.with_storages(kept), now, self.options.reservations == "on")

    def _situation_now(self, now: float) -> Situation:
        return self._situation(now, [(each.name, each.location) for each in self.orchestrator.kept])

    def _submit(self, one: Submission, plan: Plan, members: Mapping[str, Any] = _NOTHING) -> None:
        """Accept an experiment or a reservation, or report its errors."""
        number = numbered(members, "reservation" if one.place == RESERVE else "experiment")
        try:
            found = self.reader.read(one.content, self._situation_now(one.time), origin_of(members), one.place)
            for line in found.notes:
                plan.warn(line)
            if one.place == RESERVE:
                self.reservations.request(number, found, one.owner, self.clock)
            elif one.reserve:
                note = self.reservations.reserve(one.reserve, found, one.owner, self.clock)
                if note:
                    plan.warn(f"{one.place}: {note}")
            else:
                self._accept(found, one.owner, number)
            return
        except RefusedByManagerError as error:
            reason = f"{one.place}: {error}"
        except (DescriptorError, ValueError) as error:
            reason = str(error)
        plan.warn(f"{reason}; it is ignored")
        if number and one.place == RESERVE:
            self.reservations.refuse(number, one.owner, reason, self.clock)
        elif number:
            self.views[str(number)] = refused_view(str(number), one.owner, reason, self.clock)

    def _accept(self, found: ReadExperiment, owner: str, number: int) -> None:
        accepted = self.orchestrator.accept(found.experiment, found.order, self.clock, owner=owner, number=number)
        self.accepted.append(accepted)
        self.changed[accepted.id] = accepted

    def _obey(self, event: Notify, plan: Plan) -> None:
        """Carry out an external event, or report its errors."""
        if event.kind in (SUBMIT, RESERVE):
            self._submit_event(event.kind, event.members, plan)
            return
        number = str(event.members.get("experiment"))
        try:
            if event.kind == DELETE:
                if number not in self.orchestrator.experiments and self.views.pop(number, None) is not None:
                    return  # it was refused
                self.orchestrator.delete(number, self.clock)
            elif event.kind == WITHDRAW:
                self.reservations.withdraw(str(event.members.get("reservation")), self.clock)
            elif event.kind == ADD_ENTRY:
                self.timelines.add(number, event.members, self.clock)
            else:
                self._resume(number, event.members.get("vms", "all"))
        except (KeyError, OptionError, RefusedByManagerError) as error:
            why = f"there is no experiment {number}" if isinstance(error, KeyError) else str(error)
            plan.ignore(event.kind, number, why, f"{event.kind}: {why}")

    def _submit_event(self, kind: str, members: Mapping[str, Any], plan: Plan) -> None:
        known = ("descriptor", "reserve") if kind == SUBMIT else ("descriptor",)
        try:
            read = SUBMITTED({name: members[name] for name in known if name in members})
        except ValueError as error:
            plan.warn(f"{kind}: {error}; it is ignored")
            return
        owner = owner if isinstance(owner := members.get("owner"), str) else ""
        self._submit(Submission(kind, self.clock, read["descriptor"], owner, read.get("reserve", "")), plan, members)

    def _resume(self, number: str, vms: Any) -> None:
        if vms != "all" and not (isinstance(vms, list) and all(isinstance(one, str) for one in vms)):
            raise OptionError('vms must be a list of names or "all"; no VM is resumed')
        self.timelines.resume(number, None if vms == "all" else vms, self.clock)
