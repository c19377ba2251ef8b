"""Timelines over HTTP: the state of the experiment and its VMs, the end of breaks, and additional entries."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final, Literal, get_args

import litestar
import orjson
from litestar import Controller, Response
from litestar.openapi import ResponseSpec
from litestar.params import JSONBody, PathParameter
from msgspec import Meta, Struct

from batsched_py.errors import WorkloadError
from batsched_py.experiments.contexts import context_keys
from batsched_py.experiments.states import ExperimentState
from batsched_py.site.api.decided import decided
from batsched_py.site.api.experiment_callers import Number, identified
from batsched_py.site.api.experiment_xml import PATH
from batsched_py.site.api.handlers import get
from batsched_py.site.api.identity import Asking, check_operator
from batsched_py.site.api.member_types import check_types
from batsched_py.site.api.parts import parts
from batsched_py.site.api.problems import UNDECIDED, Problem, RequestRefusedError, refusals, refuse
from batsched_py.site.api.selection import (
    MOST,
    After,
    Before,
    ItemSelection,
    Limit,
    Newest,
    WithText,
    known_state,
    state_parameter,
)
from batsched_py.site.api.timeline_views import (
    EntriesOfVm,
    TimelineEntry,
    TimelineExperiment,
    all_entries,
    check_vm,
    entries,
    experiment,
    state_of_experiment,
    state_of_site,
    vm_names,
)
from batsched_py.site.inbox import Asked
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown
from batsched_py.timelines.additions import ADD_ENTRY, RESUME, unheld
from batsched_py.timelines.parsing import parse_entry
from batsched_py.timelines.records import Outcome
from batsched_py.timelines.states import VmState
from batsched_py.timelines.status_tables import TimelineState

#: States of experiments whose timelines do not go on.
_OVER: Final = frozenset(state.value for state in (ExperimentState.ENDED, ExperimentState.FAILED))
#: The name of an entry's source in error messages.
_SOURCE: Final = "entry"
#: All outcomes of entries, and all states of VMs.
OUTCOMES: Final = get_args(Outcome)
VM_STATES: Final = tuple(state.value for state in VmState)
WithOutcome = Annotated[str, state_parameter(OUTCOMES)]
InVmState = Annotated[str, state_parameter(VM_STATES)]
VmName = Annotated[str, PathParameter(description="The name of a VM.", min_length=1, max_length=200)]


class ResumeRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A request to end the breaks that hold VMs at this moment.

    Attributes:
        vms: names of VMs, or "all".
    """

    vms: Annotated[list[str], Meta(min_length=1, max_length=10_000)] | Literal["all"] = "all"


class Accepted(Struct, frozen=True):
    """A request that was accepted.

    Attributes:
        number: assigned by the site.
        time: the simulated second at which it takes effect.
        decided: whether it has taken effect; otherwise it is not decided yet, and ignored if it is not possible then.
    """

    number: int
    time: float
    decided: bool


#: The decorator of changes: 200 after the decision, or 202 if that takes long.
_deciding: Final = partial(
    litestar.post,
    status_code=200,
    responses={202: ResponseSpec(Accepted, description=UNDECIDED[202].description), **refusals()},
)


class TimelineController(Controller):
    """The resource /api/timelines, of a site whose algorithm is `timelines`."""

    path = "/api/timelines"
    tags = ("timelines",)

    @get("/", summary="Show the experiment")
    async def shown(
        self,
        request: Asking,
        *,
        after: After = 0,
        before: Before = 2**53,
        limit: Limit = MOST,
        newest: Newest = False,
        in_state: InVmState = "",
        text: WithText = "",
    ) -> Response[TimelineExperiment]:
        """Return the experiment's times, and the states of VMs, which are numbered from 1 in the order of the file."""
        wanted = ItemSelection(after, before, limit, newest, known_state(in_state, VM_STATES), text=text)
        site = parts(request).site
        return experiment(request, site, state_of_site(site), wanted)

    @get("/entries", summary="List the entries of all VMs")
    async def all(
        self,
        request: Asking,
        *,
        after: After = 0,
        before: Before = 2**53,
        limit: Limit = MOST,
        newest: Newest = False,
        in_state: WithOutcome = "",
        text: WithText = "",
    ) -> Response[list[EntriesOfVm]]:
        """List the entries of all VMs with their outcomes, which are their states.

        Entries are numbered from 1 in the order of the VMs, those of a VM that have begun first.
        """
        wanted = ItemSelection(after, before, limit, newest, known_state(in_state, OUTCOMES), text=text)
        return all_entries(request, state_of_site(parts(request).site), wanted)

    @get("/{vm:str}/entries", summary="List the entries of a VM")
    async def listed(
        self,
        request: Asking,
        vm: VmName,
        *,
        after: After = 0,
        before: Before = 2**53,
        limit: Limit = MOST,
        newest: Newest = False,
        in_state: WithOutcome = "",
        text: WithText = "",
    ) -> Response[list[TimelineEntry]]:
        """List the entries of a VM with their outcomes, which are their states.

        Entries are numbered from 1, those that have begun first.
        """
        wanted = ItemSelection(after, before, limit, newest, known_state(in_state, OUTCOMES), text=text)
        return entries(request, state_of_site(parts(request).site), vm, wanted)

    @_deciding("/resume", summary="Resume VMs")
    async def resume(self, data: JSONBody[ResumeRequest], request: Asking) -> Response[Accepted]:
        """End the breaks that hold VMs now; VMs that are named must be held. Only for operators."""
        check_operator(request)
        await check_types(request, ResumeRequest)
        return await _accept(request, RESUME, _resumed(state_of_site(parts(request).site), data))

    @_deciding("/{vm:str}/entries", summary="Add an entry to a VM")
    async def add(self, data: JSONBody[dict[str, Any]], request: Asking, vm: VmName) -> Response[Accepted]:
        """Add an entry to a VM, with the same members as in a file. Only for operators."""
        check_operator(request)
        return await _accept(request, ADD_ENTRY, _added(state_of_site(parts(request).site), vm, data))


class ExperimentTimelineController(Controller):
    """The resource /managed_experiments/N/timelines, of a site whose algorithm is `experiments`."""

    path = f"{PATH}/{{number:int}}/timelines"
    tags = ("timelines",)

    @get("/", summary="Show the timelines of an experiment")
    async def shown(
        self,
        request: Asking,
        number: Number,
        *,
        after: After = 0,
        before: Before = 2**53,
        limit: Limit = MOST,
        newest: Newest = False,
        in_state: InVmState = "",
        text: WithText = "",
    ) -> Response[TimelineExperiment]:
        """Return the times of an experiment, and the states of VMs, which are numbered from 1 in their order there."""
        parts(request).experiments.find(number, identified(request))
        wanted = ItemSelection(after, before, limit, newest, known_state(in_state, VM_STATES), text=text)
        site = parts(request).site
        return experiment(request, site, state_of_experiment(site, number), wanted)

    @get("/entries", summary="List the entries of an experiment")
    async def all(
        self,
        request: Asking,
        number: Number,
        *,
        after: After = 0,
        before: Before = 2**53,
        limit: Limit = MOST,
        newest: Newest = False,
        in_state: WithOutcome = "",
        text: WithText = "",
    ) -> Response[list[EntriesOfVm]]:
        """List the entries of all VMs with their outcomes, which are their states.

        Entries are numbered from 1 in the order of the VMs, those of a VM that have begun first.
        """
        parts(request).experiments.find(number, identified(request))
        wanted = ItemSelection(after, before, limit, newest, known_state(in_state, OUTCOMES), text=text)
        return all_entries(request, state_of_experiment(parts(request).site, number), wanted)

    @get("/{vm:str}/entries", summary="List the entries of a VM of an experiment")
    async def listed(
        self,
        request: Asking,
        number: Number,
        vm: VmName,
        *,
        after: After = 0,
        before: Before = 2**53,
        limit: Limit = MOST,
        newest: Newest = False,
        in_state: WithOutcome = "",
        text: WithText = "",
    ) -> Response[list[TimelineEntry]]:
        """List the entries of a VM with their outcomes, which are their states.

        Entries are numbered from 1, those that have begun first.
        """
        parts(request).experiments.find(number, identified(request))
        wanted = ItemSelection(after, before, limit, newest, known_state(in_state, OUTCOMES), text=text)
        return entries(request, state_of_experiment(parts(request).site, number), vm, wanted)

    @_deciding("/resume", summary="Resume VMs of an experiment")
    async def resume(self, data: JSONBody[ResumeRequest], request: Asking, number: Number) -> Response[Accepted]:
        """End the breaks that hold VMs now; VMs that are named must be held.

        Only the user who submitted the experiment, or an operator, may.
        """
        state = _owned_by_caller(request, number)
        await check_types(request, ResumeRequest)
        return await _accept(request, RESUME, {"experiment": str(number), **_resumed(state, data)}, number)

    @_deciding("/{vm:str}/entries", summary="Add an entry to a VM of an experiment")
    async def add(
        self, data: JSONBody[dict[str, Any]], request: Asking, number: Number, vm: VmName
    ) -> Response[Accepted]:
        """Add an entry to a VM, with the same members as in a descriptor.

        Only the user who submitted the experiment, or an operator, may.
        """
        members = {"experiment": str(number), **_added(_owned_by_caller(request, number), vm, data)}
        resources = parts(request).experiments.find(number, request.user).resources
        known = {key for one in resources if one.name == vm for key in one.contexts}
        if wrong := [key for key in context_keys(data) if key not in known]:
            raise RequestRefusedError(
                422, [Problem("", f"context {shown(key)}: {unknown(key, known)}") for key in wrong]
            )
        return await _accept(request, ADD_ENTRY, members, number)


def _owned_by_caller(request: Asking, number: int) -> TimelineState:
    """Return the timelines of an experiment that has not ended and that the caller may change. RequestRefusedError."""
    who, experiments = identified(request), parts(request).experiments
    status = experiments.find(number, who).status
    experiments.check_owner(number, who)
    if status in _OVER:
        raise refuse(409, f"it has ended: {status}")
    return state_of_experiment(parts(request).site, number)


def _resumed(state: TimelineState, data: ResumeRequest) -> dict[str, Any]:
    """Return the members of a checked resume. RequestRefusedError names unknown VMs."""
    known = vm_names(state)
    if data.vms != "all" and (wrong := [name for name in data.vms if name not in known]):
        raise RequestRefusedError(422, [Problem("vms", f"VM {shown(name)}: {unknown(name, known)}") for name in wrong])
    if data.vms != "all" and (free := [vm.name for vm in state.vms if vm.name in data.vms and vm.held_by is None]):
        raise refuse(409, unheld(free))
    return {"vms": data.vms}


def _added(state: TimelineState, vm: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a checked addition. RequestRefusedError."""
    check_vm(state, vm)
    try:
        parse_entry(_SOURCE, data, 0, vm_names(state))
        orjson.dumps(data)  # as the journal will keep it
    except WorkloadError as error:
        raise RequestRefusedError(422, [Problem(path, rule) for path, rule in error.faults]) from None
    except TypeError:
        raise RequestRefusedError(422, [Problem("", "contains a number of more than 64 bits")]) from None
    return {"vm": vm, "entry": data}


async def _accept(
    request: Asking, kind: str, members: Mapping[str, Any], target: int | None = None
) -> Response[Accepted]:
    """Accept a change of timelines, and answer once it is decided; RequestRefusedError if it has no effect."""
    asked, found = Asked(kind, lambda _: members, request.user.user, request.user.group, target), parts(request)
    async with found.turns.of(("timelines", target)):
        entry = await found.accept(request.user, asked, {})
        effective = await decided(found.site.inbox.outcomes, [entry])
    return Response(Accepted(entry.number, entry.time, effective), status_code=200 if effective else 202)
