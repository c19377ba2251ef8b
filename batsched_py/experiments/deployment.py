"""Deployment of one experiment: requests its resources in order, and monitors them until all are created."""

from __future__ import annotations

import math
from collections.abc import Callable

from batsched_py.experiments.managed import ManagedExperiment, ManagedResource
from batsched_py.experiments.model import Compute, PlannedResource
from batsched_py.experiments.orchestrator_settings import DeploymentSettings
from batsched_py.experiments.progress import DeploymentProgress
from batsched_py.experiments.reservation_requests import assign_reserved
from batsched_py.experiments.resource_manager import (
    RefusedByManagerError,
    ResourceManager,
    ResourceRequest,
    ResourceStatus,
)
from batsched_py.experiments.states import ResourceState
from batsched_py.text.wording import seconds

# Resources are requested as soon as their dependencies exist, in the topological order of the plan.
# `DeploymentProgress` determines the next requests; this module handles the events between request and end: created,
# address known, failed, overdue.
#
# A compute's address may become known long after its creation. Only if another resource names it in its contexts does
# the deployment wait for it, and with a limit; `_deadlines` is in order of time because each is set `ip_timeout` after
# a creation, so that only the first must be compared.
#
# A failure ends the deployment, unless the resource is optional: then all resources that depend on it are also left
# out.


class DeploymentError(Exception):
    """The failure of a deployment; its text is the reason, on one line."""


class Deployment:
    """The deployment of one experiment. Its methods raise DeploymentError if the experiment must be rolled back.

    Args:
        one: the experiment, which is updated.
        manager: the manager from which resources are requested.
        settings: the rules of deployments.
        asked: called with each requested resource after it has an id.
    """

    def __init__(
        self,
        one: ManagedExperiment,
        manager: ResourceManager,
        settings: DeploymentSettings,
        asked: Callable[[ManagedResource], None],
    ) -> None:
        self._one, self._manager, self._settings, self._asked = one, manager, settings, asked
        self._progress = DeploymentProgress(one.order, sequential=settings.deploy == "sequential")
        #: Computes whose address is needed -> deadline for it, in ascending order.
        self._deadlines: dict[str, float] = {}

    @property
    def complete(self) -> bool:
        """True if all resources are created, and all needed addresses are known (M25)."""
        return self._progress.complete

    def begin(self, now: float) -> None:
        """Assign reserved resources, and create the experiment at the resource manager."""
        one = self._one
        for resource in one.computes:
            resource.reserved = resource.planned.reserved
        reservation = one.reservation
        if reservation is not None:
            free = [each.name for each in one.computes if each.reserved is None]
            names = [name for name in free if name in reservation.names] if reservation.created else free
            missing = assign_reserved(one, names, reservation.status.instances)
            if missing:
                raise DeploymentError(f"{missing}: nothing in reservation {reservation.id} matches it")
        try:
            one.link = self._manager.create_experiment(one.experiment, one.order, now)
        except RefusedByManagerError as error:
            raise DeploymentError(f"the experiment was refused: {error}") from error

    def proceed(self, now: float) -> None:
        """Request all resources whose dependencies exist, and check whether an address is overdue."""
        while (planned := self._progress.take()) is not None:
            self._request(planned, now)
        for name, deadline in self._deadlines.items():
            if now >= deadline:
                raise DeploymentError(f"{name}: no address after {seconds(self._settings.ip_timeout)} s")
            return

    def next_time(self) -> float:
        """Return the deadline of the next address; infinity if none is missing."""
        return next(iter(self._deadlines.values()), math.inf)

    def note(self, resource: ManagedResource, status: ResourceStatus, now: float) -> None:
        """Update the status of a requested resource."""
        one, unknown = self._one, resource.addressed is None
        if status.state == "failed":
            if resource.state is ResourceState.CREATED:
                resource.reason = status.reason
                resource.change(ResourceState.FAILED, now)
                raise DeploymentError(f"{resource.name} was lost: {status.reason}")
            self._fail(resource, status.reason, now)
            return
        if status.state == "pending":
            return
        one.note_status(resource, status, now)
        address = f"address {', '.join(resource.addresses.values())}" if unknown and resource.addresses else ""
        if resource.state is ResourceState.REQUESTED:
            resource.change(ResourceState.CREATED, now)
            words = [f"{resource.name} created", *([f"at {resource.location}"] if resource.location else [])]
            one.log_message(now, ", ".join([" ".join(words), *([address] if address else [])]), resource=resource.name)
            self._progress.created(resource.name)
            if resource.name in self._progress.needed and not resource.addresses:
                self._deadlines[resource.name] = now + self._settings.ip_timeout
        elif address:
            one.log_message(now, f"{resource.name}: {address}", resource=resource.name)
        if address:
            self._deadlines.pop(resource.name, None)
            self._progress.addressed(resource.name)

    def _request(self, planned: PlannedResource, now: float) -> None:
        one = self._one
        resource = one.resources[planned.name]
        if isinstance(planned.resource, Compute):
            try:
                resource.contexts = one.resolved_contexts(planned.resource)
            except KeyError as error:
                why = f"{planned.name}: {error.args[0]} has no address in a network that its contexts name"
                raise DeploymentError(why) from error
        resource.change(ResourceState.REQUESTED, now)
        one.log_message(now, f"{planned.name} requested", resource=planned.name)
        reserved = resource.reserved
        reservation = one.reservation.id if one.reservation is not None and reserved is not None else None
        until = None if one.reservation is None else one.reservation.status.end
        request = ResourceRequest(planned, resource.contexts, reserved, reservation, until)
        assert one.link is not None  # noqa: S101  # it was created first
        try:
            resource.id = self._manager.create_resource(one.link, request, now)
        except RefusedByManagerError as error:
            self._fail(resource, str(error), now)
        else:
            self._asked(resource)

    def _fail(self, resource: ManagedResource, reason: str, now: float) -> None:
        """Handle a resource that cannot be created: roll back, or leave it out with all that depend on it (M30)."""
        one, resource.reason = self._one, reason
        if not resource.optional:
            resource.change(ResourceState.FAILED, now)
            one.log_message(now, f"{resource.name} failed: {reason}", resource=resource.name, level="error")
            raise DeploymentError(f"{resource.name}: {reason}")
        resource.change(ResourceState.LEFT_OUT, now)
        one.log_message(now, f"{resource.name} left out: {reason}", resource=resource.name, level="warning")
        for name in self._progress.give_up(resource.name):
            other = one.resources[name]
            other.reason = f"it needs {resource.name}"
            other.change(ResourceState.LEFT_OUT, now)
            one.log_message(now, f"{name} left out: {other.reason}", resource=name, level="warning")
