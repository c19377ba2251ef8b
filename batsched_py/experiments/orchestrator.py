"""Orchestrator: moves accepted experiments through their states by calls to a resource manager.

Requirements M8 to M16 and M22 to M36. It has no clock and no threads: `advance` takes the time, and executes all
actions due by then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Literal

from batsched_py.experiments.deployment import Deployment, DeploymentError
from batsched_py.experiments.log import ExperimentLog
from batsched_py.experiments.managed import ManagedExperiment, ManagedReservation, ManagedResource
from batsched_py.experiments.model import Compute, Experiment, PlannedResource
from batsched_py.experiments.orchestrator_settings import USUAL, OrchestratorSettings
from batsched_py.experiments.reservation_requests import largest_reservation
from batsched_py.experiments.resource_manager import (
    RefusedByManagerError,
    ReservationStatus,
    ResourceManager,
    ResourceStatus,
)
from batsched_py.experiments.rollback import ExperimentUndo, Kept, Leak, Undoer
from batsched_py.experiments.states import OVER, ExperimentState, ReservationState, ResourceState
from batsched_py.text.display import shown
from batsched_py.text.wording import seconds

# A state machine without a clock, threads or a network: calls to the manager return immediately, news arrive later,
# and `advance` takes the time. Therefore the rules of BonFIRE (waits, rollbacks, transitions of states) are tested with
# a scripted manager, and the same code runs in simulated time on leases (ADR 31).
#
# Between two calls nothing is due; each experiment that has not ended is in `_open`, and has at most one active
# deployment or undoing: once an undoing exists, news and times of the deployment are ignored.
# Therefore all failures end in `_undo`, and a second failure during it has no effect; a deletion during it only changes
# the outcome.
#
# `_agenda` and `_ready` are heaps whose obsolete entries are ignored, not removed. At one instant experiments are
# settled in the order of their acceptance, repeatedly until there is neither news nor anything to begin: a deletion may
# free the machine for which another one waits. Cost: O(log n) for each change of an experiment, with n experiments.


class Orchestrator:
    """The accepted experiments.

    Args:
        manager: manager of resources and reservations.
        settings: the rules.
        clock: returns seconds since 1970, for the logs; None for logs without wall times.

    Attributes:
        experiments: id -> experiment, in the order of acceptance, without deleted ones.
        leaks: objects that could not be removed at the resource manager.
        kept: persistent storages of ended experiments.
    """

    def __init__(
        self,
        manager: ResourceManager,
        settings: OrchestratorSettings = USUAL,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._manager, self._settings, self._clock = manager, settings, clock
        self._undoer = Undoer(manager, settings.undo_attempts, settings.undo_delay)
        self.experiments: dict[str, ManagedExperiment] = {}
        self._last = 0
        #: Number -> experiment, until its final state.
        self._open: dict[int, ManagedExperiment] = {}
        self._deployments: dict[int, Deployment] = {}
        self._undos: dict[int, ExperimentUndo] = {}
        #: Numbers of experiments to settle; heap of (time, number), some of them obsolete.
        self._touched: set[int] = set()
        self._agenda: list[tuple[float, int]] = []
        #: Heap of numbers of experiments that only wait for a worker.
        self._ready: list[int] = []
        #: Id at the resource manager -> experiment and resource; id of a reservation -> experiments that use it.
        self._resources: dict[str, tuple[ManagedExperiment, ManagedResource]] = {}
        self._reservations: dict[str, dict[int, ManagedExperiment]] = {}

    @property
    def leaks(self) -> Sequence[Leak]:
        """Objects that could not be removed, until a sweep succeeds."""
        return self._undoer.leaks

    @property
    def kept(self) -> Sequence[Kept]:
        """Persistent storages of ended experiments."""
        return self._undoer.kept

    @property
    def busy(self) -> bool:
        """True if an experiment has not ended."""
        return bool(self._open)

    def accept(
        self,
        experiment: Experiment,
        order: Sequence[PlannedResource],
        now: float,
        *,
        owner: str = "",
        number: int = 0,
    ) -> ManagedExperiment:
        """Accept a validated experiment with its deployment order; the caller calls `advance` at the same instant.

        It receives the requested number, or the next one if that is not greater than all previous ones.
        """
        self._last = max(self._last + 1, number)
        log, reservable = ExperimentLog(self._clock), any(isinstance(each.resource, Compute) for each in order)
        reserves = self._settings.reservations == "on" and (experiment.reservation is not None or reservable)
        one = ManagedExperiment(self._last, experiment, order, now, owner=owner, reserves=reserves, log=log)
        one.log_message(now, one.state.value)
        self.experiments[one.id] = self._open[one.number] = one
        self._touched.add(one.number)
        return one

    def delete(self, id: str, now: float) -> None:
        """Delete an experiment in any state, with all its resources; the caller then calls `advance`.

        KeyError for an unknown id. It disappears immediately, although the removal of its resources may take several
        attempts.
        """
        one = self.experiments.pop(id)
        undo = self._undos.get(one.number)
        if undo is not None:
            undo.outcome, undo.reason = ExperimentState.DELETED, ""
            return
        self._open[one.number] = one
        self._undo(one, ExperimentState.DELETED, "", now)

    def fail(self, id: str, reason: str, now: float) -> None:
        """Make an experiment that has not ended fail, and roll it back; the caller then calls `advance`. KeyError."""
        one = self.experiments[id]
        if one.number in self._open:
            self._fail(one, reason, now)

    def sweep(self, now: float) -> None:
        """Retry the removal of leaked objects."""
        self._undoer.sweep(now, self._note_swept)

    def next_time(self) -> float:
        """Return the time of the next call of `advance`; infinity if only external events can cause changes."""
        if self._touched:
            return -math.inf
        while self._agenda:
            time, number = self._agenda[0]
            if self._next_time(number) == time:
                return min(time, self._manager.next_time())
            heappop(self._agenda)
        return self._manager.next_time()

    def advance(self, now: float) -> Sequence[ManagedExperiment]:
        """Execute all actions due by now; return the experiments that may have changed."""
        seen = dict[int, ManagedExperiment]()
        while True:
            news = self._manager.news(now)
            for id in news:
                self._look(id, now)
            while self._agenda and self._agenda[0][0] <= now:
                self._touched.add(heappop(self._agenda)[1])
            touched = sorted(self._touched)
            self._touched.clear()
            for number in touched:
                if number in self._open:
                    seen[number] = self._open[number]
                self._settle(number, now)
            begun = self._begin_next(now)
            if not (news or touched or begun):
                return list(seen.values())

    # News

    def _look(self, id: str, now: float) -> None:
        """Check a resource or a reservation with a changed status."""
        if id in self._resources:
            self._look_at_resource(id, now)
        for one in list(self._reservations.get(id, {}).values()):
            self._look_at_reservation(one, now)

    def _look_at_resource(self, id: str, now: float) -> None:
        one, resource = self._resources[id]
        if one.number in self._undos:
            return
        self._touched.add(one.number)
        try:
            status = self._manager.get_resource(id, now)
        except RefusedByManagerError as error:
            status = ResourceStatus("failed", reason=str(error))
        deployment = self._deployments.get(one.number)
        if deployment is not None:
            try:
                deployment.note(resource, status, now)
            except DeploymentError as error:
                self._fail(one, str(error), now)
        elif status.state == "failed":
            if one.ends is not None and now >= one.ends:
                self._end(one, now)
                return
            resource.reason = status.reason
            resource.change(ResourceState.FAILED, now)
            why = f"{resource.name} was lost: {status.reason}"
            one.log_message(now, why, resource=resource.name, level="error")
            self._fail(one, why, now)
        elif status.addresses and resource.addressed is None:
            one.note_status(resource, status, now)
            text = f"{resource.name}: address {', '.join(resource.addresses.values())}"
            one.log_message(now, text, resource=resource.name)

    def _look_at_reservation(self, one: ManagedExperiment, now: float) -> None:
        reservation = one.reservation
        if reservation is None or one.number in self._undos:
            return
        self._touched.add(one.number)
        try:
            reservation.status = self._manager.get_reservation(reservation.id, one.owner, now)
        except RefusedByManagerError as error:
            self._fail(one, f"reservation {reservation.id}: {error}", now)
            return
        self._note_reservation(one, reservation, now)

    def _note_reservation(self, one: ManagedExperiment, reservation: ManagedReservation, now: float) -> None:
        """Continue, or end, according to the state of the reservation."""
        status = reservation.status
        if status.state in OVER:
            if status.state is ReservationState.ENDED and one.state is ExperimentState.DEPLOYED:
                self._end(one, now)
                return
            text = f"reservation {reservation.id} is {status.state.value}"
            self._fail(one, f"{text}: {status.reason}" if status.reason else text, now)
        elif one.state is ExperimentState.DEPLOYED:
            one.ends = status.end
        elif status.state is ReservationState.RUNNING and one.state is ExperimentState.RESERVED:
            self._enqueue(one)

    # What is due

    def _settle(self, number: int, now: float) -> None:
        """Execute the due actions of one experiment, and schedule its next check."""
        one = self._open.get(number)
        if one is None:
            return
        if number not in self._undos:
            if one.state is ExperimentState.READY:
                self._plan(one, now)
            elif one.waits_for_start and now >= self._next_time(number):
                self._enqueue(one)
            elif one.state is ExperimentState.DEPLOYING:
                self._deploy(one, now)
            if one.state is ExperimentState.DEPLOYED and one.ends is not None and now >= one.ends:
                self._end(one, now)
        undo = self._undos.get(number)
        if undo is not None and self._undoer.proceed(one, undo, now):
            self._close(one, undo, now)
        time = self._next_time(number)
        if time < math.inf:
            heappush(self._agenda, (time, number))

    def _next_time(self, number: int) -> float:
        one, undo, deployment = self._open.get(number), self._undos.get(number), self._deployments.get(number)
        if one is None:
            return math.inf
        if undo is not None:
            return undo.retry_at
        if deployment is not None:
            return deployment.next_time()
        if one.waits_for_start and one.experiment.start is not None:
            return one.experiment.start
        return one.ends if one.state is ExperimentState.DEPLOYED and one.ends is not None else math.inf

    def _plan(self, one: ManagedExperiment, now: float) -> None:
        experiment = one.experiment
        asks = experiment.reservation is not None or experiment.start is not None
        if asks and self._settings.reservations == "off":
            self._fail(one, "it needs a reservation or a start, but reservations are off", now)
            return
        one.change(ExperimentState.DEPLOYABLE, now, f"deployment order: {', '.join(one.resources) or 'nothing'}")
        if not one.reserves:
            if one.experiment.start is None or now >= one.experiment.start:
                self._enqueue(one)
            return
        try:
            reservation = one.reservation = self._reserve(one, now)
            reservation.status = self._manager.get_reservation(reservation.id, one.owner, now)
        except RefusedByManagerError as error:
            given = experiment.reservation
            what = "the reservation was refused" if given is None else f"reservation {shown(given)}"
            self._fail(one, f"{what}: {error}", now)
            return
        status = reservation.status
        times = (("from", status.start), ("to", status.end))
        text = [f"{word} {seconds(time)}" for word, time in times if time is not None]
        one.change(ExperimentState.RESERVED, now, " ".join([f"reservation {reservation.id}", *text]))
        self._reservations.setdefault(reservation.id, {})[one.number] = one
        self._note_reservation(one, reservation, now)

    def _reserve(self, one: ManagedExperiment, now: float) -> ManagedReservation:
        """Return the user's reservation, or a new one, which may omit some computes (M30)."""
        unknown = ReservationStatus(ReservationState.PENDING)
        if one.experiment.reservation is not None:
            return ManagedReservation(one.experiment.reservation, created=False, status=unknown)
        id, names = largest_reservation(one, self._manager, now)
        for resource in one.computes:
            if resource.name not in names:
                resource.optional = True
                text = f"{resource.name} has no place in the reservation: it is deployed if hosts are free then"
                one.log_message(now, text, resource=resource.name, level="warning")
        return ManagedReservation(id, created=True, status=unknown, names=names)

    def _enqueue(self, one: ManagedExperiment) -> None:
        if not one.queued:
            one.queued = True
            heappush(self._ready, one.number)

    def _begin_next(self, now: float) -> bool:
        """Begin deployments for free workers, in the order of acceptance (M36); return whether any began."""
        begun, most = False, self._settings.deployments
        while self._ready and (most is None or len(self._deployments) < most):
            number = heappop(self._ready)
            one = self._open.get(number)
            if one is None or not one.queued or number in self._undos:
                continue
            one.queued, begun = False, True
            self._begin(one, now)
        return begun

    def _begin(self, one: ManagedExperiment, now: float) -> None:
        one.change(ExperimentState.DEPLOYING, now)
        self._deployments[one.number] = deployment = Deployment(
            one, self._manager, self._settings.deployment, lambda resource: self._note_asked(one, resource)
        )
        self._touched.add(one.number)
        try:
            deployment.begin(now)
        except DeploymentError as error:
            self._fail(one, str(error), now)

    def _note_asked(self, one: ManagedExperiment, resource: ManagedResource) -> None:
        assert resource.id is not None  # noqa: S101  # it was asked for
        self._resources[resource.id] = one, resource

    def _deploy(self, one: ManagedExperiment, now: float) -> None:
        deployment = self._deployments[one.number]
        try:
            deployment.proceed(now)
        except DeploymentError as error:
            self._fail(one, str(error), now)
            return
        if deployment.complete:
            del self._deployments[one.number]
            reservation, one.deployed = one.reservation, now
            one.ends = now + one.experiment.duration if reservation is None else reservation.status.end
            if reservation is None and one.link is not None and one.ends is not None:
                self._manager.expect_end(one.link, one.ends, now)
            one.change(ExperimentState.DEPLOYED, now, "" if one.ends is None else f"until {seconds(one.ends)}")

    # Ends

    def _fail(self, one: ManagedExperiment, reason: str, now: float) -> None:
        if one.number not in self._undos:
            one.failure = reason
            self._undo(one, ExperimentState.FAILED, reason, now)

    def _end(self, one: ManagedExperiment, now: float) -> None:
        if one.number not in self._undos:
            self._undo(one, ExperimentState.ENDED, "its time is over", now)

    def _undo(self, one: ManagedExperiment, outcome: ExperimentState, reason: str, now: float) -> None:
        one.queued = False
        for resource in one.resources.values():
            if resource.state is ResourceState.PLANNED:
                resource.change(ResourceState.LEFT_OUT, now)
        self._undos[one.number] = self._undoer.plan(one, outcome, reason, now)
        self._touched.add(one.number)

    def _close(self, one: ManagedExperiment, undo: ExperimentUndo, now: float) -> None:
        """Enter the final state after everything has been removed."""
        number = one.number
        del self._undos[number], self._open[number]
        self._deployments.pop(number, None)
        for resource in one.resources.values():
            self._resources.pop(resource.id or "", None)
        if one.reservation is not None:
            self._reservations.get(one.reservation.id, {}).pop(number, None)
        level: Literal["info", "error"] = "error" if undo.outcome is ExperimentState.FAILED else "info"
        one.change(undo.outcome, now, undo.reason, level=level)

    def _note_swept(self, leak: Leak, now: float) -> None:
        one = self.experiments.get(leak.experiment)
        if one is None:
            return
        if leak.name:
            one.resources[leak.name].change(ResourceState.REMOVED, now)
        one.log_message(now, f"{leak.name or f'{leak.kind} {leak.id}'} removed by a clean-up", resource=leak.name)
