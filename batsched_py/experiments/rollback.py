"""Undoing of experiments: their resources are removed in reverse order; failed steps are retried (M34)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.experiments.managed import ManagedExperiment, ManagedResource
from batsched_py.experiments.model import Storage
from batsched_py.experiments.resource_manager import RefusedByManagerError, ResourceManager
from batsched_py.experiments.states import OVER, ExperimentState, ReservationState, ResourceState

# An undoing is data (`Undo`), not a loop: calls to a manager may fail and are repeated after a delay, during which
# other experiments continue. `proceed` executes the steps possible at an instant and is called again when one is due.
#
# The order is the reverse of that in which resources were requested, since a later one may use an earlier one: machines
# are removed before the storages and networks attached to them. The reservation follows when nothing uses it, then the
# experiment at the manager. Steps are strictly one after the other; a step that fails blocks the next ones until it
# succeeds or is given up, so that nothing is removed under something that still exists.
#
# Each object of an experiment has exactly one outcome: removed, kept (a persistent storage), or leaked after the
# maximum number of attempts. Leaks are stored because they still occupy the manager's resources: they are retried by
# `sweep`, and when the same experiment is deleted again (`plan`, which first drops its old leaks, so that none is
# counted twice). After a failed deployment storages are also removed, as the experiment never used them.
#
# Source: BonFIRE's managed experiments (M22, M34). Cost: O(r log r) for r resources, and one call to the manager for
# each.

Kind = Literal["resource", "reservation", "experiment"]


class Leak(Struct, frozen=True):
    """An object that could not be removed at the resource manager.

    Attributes:
        kind: kind of the object.
        id: its id at the resource manager.
        name: name of the resource; "" for a reservation or an experiment.
        experiment: id of its managed experiment.
    """

    kind: Kind
    id: str
    name: str
    experiment: str


class Kept(Struct, frozen=True):
    """A persistent storage of an ended experiment; it can be referenced as `@name` (M22)."""

    name: str
    id: str
    location: str | None
    experiment: str


class _Step(Struct):
    kind: Kind
    id: str
    resource: ManagedResource | None = None
    attempts: int = 0


class ExperimentUndo(Struct):
    """The undoing of an experiment.

    Attributes:
        outcome: the next state.
        reason: reason of the end.
        steps: remaining steps, the next one first.
        retry_at: time of the next attempt.
    """

    outcome: ExperimentState
    reason: str
    steps: list[_Step]
    retry_at: float = -math.inf


class Undoer:
    """The removal of experiments' resources.

    Args:
        manager: the resource manager.
        attempts: number of attempts for a step.
        delay: seconds between two attempts.

    Attributes:
        leaks: objects that could not be removed, until a sweep succeeds.
        kept: persistent storages of ended experiments.
    """

    def __init__(self, manager: ResourceManager, attempts: int, delay: float) -> None:
        self._manager, self._attempts, self._delay = manager, attempts, delay
        self.leaks: list[Leak] = []
        self.kept: list[Kept] = []

    def plan(self, one: ManagedExperiment, outcome: ExperimentState, reason: str, now: float) -> ExperimentUndo:
        """Return the steps of the removal: resources in reverse order, its own reservation, its experiment.

        Leaked objects are included again.
        """
        steps = list[_Step]()
        failed_deployment = outcome is ExperimentState.FAILED and one.deployed is None
        positions = {name: position for position, name in enumerate(one.resources)}
        asked = sorted(one.held, key=lambda held: (held.requested or 0.0, positions[held.name]))
        for resource in reversed(asked):
            planned = resource.planned.resource
            persistent = isinstance(planned, Storage) and planned.persistent
            if persistent and resource.state is ResourceState.CREATED and not failed_deployment:
                self._keep(one, resource, now)
            elif resource.id is not None:
                steps.append(_Step("resource", resource.id, resource))
        reservation = one.reservation
        if reservation is not None and reservation.created and reservation.status.state not in OVER:
            steps.append(_Step("reservation", reservation.id))
        if one.link is not None:
            steps.append(_Step("experiment", one.link))
        tried = {step.id for step in steps}
        self.leaks = [leak for leak in self.leaks if leak.id not in tried]
        return ExperimentUndo(outcome, reason, steps)

    def proceed(self, one: ManagedExperiment, undo: ExperimentUndo, now: float) -> bool:
        """Execute the steps that are possible now; return whether all are done."""
        while undo.steps:
            if now < undo.retry_at:
                return False
            step = undo.steps[0]
            step.attempts += 1
            try:
                self._remove(step.kind, step.id, now)
            except RefusedByManagerError as error:
                self._note_failure(one, undo, step, str(error), now)
                continue
            undo.steps.pop(0)
            self._note_removed(one, step, now)
        return True

    def sweep(self, now: float, record: Callable[[Leak, float], None]) -> None:
        """Retry the removal of leaked objects."""
        leaks, self.leaks = self.leaks, []
        for leak in leaks:
            try:
                self._remove(leak.kind, leak.id, now)
            except RefusedByManagerError:
                self.leaks.append(leak)
            else:
                record(leak, now)

    def _keep(self, one: ManagedExperiment, resource: ManagedResource, now: float) -> None:
        assert resource.id is not None  # noqa: S101  # it was created
        resource.change(ResourceState.KEPT, now)
        self.kept.append(Kept(resource.name, resource.id, resource.location, one.id))
        one.log_message(now, f"{resource.name} is persistent and kept", resource=resource.name)

    def _note_removed(self, one: ManagedExperiment, step: _Step, now: float) -> None:
        if step.resource is not None:
            step.resource.change(ResourceState.REMOVED, now)
            one.log_message(now, f"{step.resource.name} removed", resource=step.resource.name)
        elif step.kind == "reservation":
            assert one.reservation is not None  # noqa: S101  # it was to be deleted
            one.reservation.status = replace(one.reservation.status, state=ReservationState.TERMINATED)
            one.log_message(now, f"reservation {step.id} deleted")
        else:
            one.link = None

    def _note_failure(self, one: ManagedExperiment, undo: ExperimentUndo, step: _Step, why: str, now: float) -> None:
        name = "" if step.resource is None else step.resource.name
        what = name or f"{step.kind} {step.id}"
        given_up = step.attempts >= self._attempts
        text = f"{what} could not be removed, attempt {step.attempts} of {self._attempts}: {why}"
        one.log_message(now, text, resource=name, level="warning")
        if not given_up:
            undo.retry_at = now + self._delay if self._delay else -math.inf
            return
        undo.steps.pop(0)
        undo.retry_at = -math.inf
        self.leaks.append(Leak(step.kind, step.id, name, one.id))
        if step.resource is not None and step.resource.state is not ResourceState.LEAKED:
            step.resource.change(ResourceState.LEAKED, now)
        one.log_message(now, f"{what} leaked", resource=name, level="error")

    def _remove(self, kind: Kind, id: str, now: float) -> None:
        if kind == "resource":
            self._manager.delete_resource(id, now)
        elif kind == "reservation":
            self._manager.delete_reservation(id, now)
        else:
            self._manager.delete_experiment(id, now)
