"""Reservations over HTTP, and the resources of experiments that use them (M2, M15)."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

from litestar import Controller, Response
from litestar.params import PathParameter
from msgspec import Struct

from batsched_py.experiments.parsing.submissions import RESERVE, WITHDRAW
from batsched_py.experiments.resource_manager import RESERVATIONS
from batsched_py.experiments.states import ReservationState
from batsched_py.experiments.views import ResourceView
from batsched_py.site.api.bodies import TYPES
from batsched_py.site.api.descriptors import DESCRIPTORS, checked, members_of_descriptor
from batsched_py.site.api.experiment_xml import PATH
from batsched_py.site.api.handlers import delete, get, post
from batsched_py.site.api.identity import Asking
from batsched_py.site.api.parts import ONE_EXPERIMENT, parts
from batsched_py.site.api.problems import refuse
from batsched_py.site.api.reservation_views import (
    DetailedReservation,
    ReservationIndex,
    ReservedMachine,
    SummarisedReservation,
    details,
    summary,
)
from batsched_py.site.api.selection import (
    MOST,
    After,
    Before,
    ItemSelection,
    Limit,
    Newest,
    OfUser,
    WithText,
    known_state,
    link,
    state_parameter,
)
from batsched_py.site.inbox import Asked

#: All states of reservations.
RESERVATION_STATES: Final = tuple(state.value for state in ReservationState)
InReservationState = Annotated[str, state_parameter(RESERVATION_STATES)]
Number = Annotated[int, PathParameter(ge=1, le=2**53, description="The number of the reservation.")]
Machine = Annotated[int, PathParameter(ge=1, le=2**53, description="The number of the machine, from 1.")]
Numbered = Annotated[int, PathParameter(ge=1, le=2**53, description="The number in the address.")]


class DeployedExperiment(Struct, frozen=True):
    """An experiment at the resource manager, which creates its resources.

    Attributes:
        href: its address in the API.
        managed_experiment: the address of the managed experiment.
        resources: the addresses of its resources, in the order of deployment.
    """

    href: str
    managed_experiment: str
    resources: list[str]


class DeployedResource(Struct, frozen=True):
    """A resource at the resource manager.

    Attributes:
        href: its address in the API.
        experiment: the address of its experiment at the resource manager.
        resource: the resource, as in the managed experiment.
    """

    href: str
    experiment: str
    resource: ResourceView


class ReservationController(Controller):
    """The resource /reservations."""

    path = RESERVATIONS
    tags = ("reservations",)

    @post("/", summary="Create a reservation", opt={TYPES: DESCRIPTORS})
    async def reserve(self, request: Asking) -> Response[DetailedReservation]:
        """Reserve the computes of a descriptor, in JSON or OVF, for experiments to come.

        The descriptor is that of an experiment. It is saved before the answer is sent, and its computes are reserved
        right afterwards, from its `start` or as early as possible, for its `duration`; nothing is deployed. With
        `best_effort_allocation`, computes without a place are left out.
        """
        found, who = parts(request), request.user
        found.check_experiment(who)
        members = members_of_descriptor(request, await request.body(), who, found.site.begun)
        experiment = await found.read(partial(checked, found.site, RESERVE, members))
        asked = Asked(RESERVE, lambda number: members | {"reservation": number}, who.user, who.group)
        view = ReservationIndex.unseen(await found.accept(who, asked, ONE_EXPERIMENT))
        view = view._replace(name=experiment.name, description=experiment.description)
        found.reservations.note(view)
        return Response(details(view), status_code=201, headers={"Location": view.id})

    @get("/", summary="List reservations")
    async def listed(
        self,
        request: Asking,
        *,
        after: After = 0,
        before: Before = 2**53,
        limit: Limit = MOST,
        newest: Newest = False,
        in_state: InReservationState = "",
        user: OfUser = "",
        text: WithText = "",
    ) -> Response[list[SummarisedReservation]]:
        """List the reservations of the caller and of the caller's group, with those made for experiments.

        A part has fewer reservations than `limit`, or none, if many others were checked for it; then it has a link to
        the next one all the same.
        """
        wanted = ItemSelection(after, before, limit, newest, known_state(in_state, RESERVATION_STATES), user, text)
        found, selected = parts(request).reservations.readable(request.user, wanted)
        return Response([summary(one) for one in found], headers=link(request, wanted, selected))

    @get("/{number:int}", summary="Show a reservation")
    async def shown(self, request: Asking, number: Number) -> DetailedReservation:
        """Show one reservation with its machines."""
        return details(parts(request).reservations.find(number, request.user))

    @get("/{number:int}/{machine:int}", summary="Show a machine of a reservation")
    async def shown_machine(self, request: Asking, number: Number, machine: Machine) -> ReservedMachine:
        """Show one machine of a reservation."""
        view, id = parts(request).reservations.find(number, request.user), f"{RESERVATIONS}/{number}/{machine}"
        found = next((one for one in view.machines if one.id == id), None)
        if found is None:
            raise refuse(404, f"there is no machine {machine} in reservation {number}")
        return ReservedMachine(*found)

    @delete("/{number:int}", summary="Delete a reservation")
    async def remove(self, request: Asking, number: Number) -> None:
        """Delete a reservation in any state; experiments that use it fail.

        Only the user who requested it, or an operator, may. One that was made for an experiment is deleted with it.
        """
        found, who = parts(request), request.user
        async with found.turns.of(("reservation", number)):
            found.reservations.find(number, who)
            found.reservations.check_deletable(number, who)
            members = {"reservation": f"{RESERVATIONS}/{number}"}
            await found.acceptance.accept(Asked(WITHDRAW, lambda _: members, who.user, who.group, number))


class ManagerController(Controller):
    """The resources /experiments and /resources, to which links of experiments lead."""

    path = "/"
    tags = ("reservations",)

    @get("/experiments/{number:int}", summary="Show an experiment at the resource manager")
    async def experiment(self, request: Asking, number: Numbered) -> DeployedExperiment:
        """Show the resources of a managed experiment that have been requested."""
        view = parts(request).experiments.with_link(f"/experiments/{number}", request.user)
        resources = [one.id for one in view.resources if one.id is not None]
        return DeployedExperiment(str(view.link), f"{PATH}/{view.id}", resources)

    @get("/resources/{number:int}", summary="Show a resource at the resource manager")
    async def resource(self, request: Asking, number: Numbered) -> DeployedResource:
        """Show one resource of a managed experiment."""
        id = f"/resources/{number}"
        view, one = parts(request).experiments.with_resource(id, request.user)
        return DeployedResource(id, str(view.link), one)
