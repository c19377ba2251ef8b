"""Managed experiments over HTTP, compatible with BonFIRE's clients (M2, M18)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Final

import msgspec
from litestar import Controller, Response
from litestar.params import Parameter

from batsched_py.experiments.parsing.submissions import DELETE, SUBMIT
from batsched_py.experiments.states import QUEUED, ExperimentState
from batsched_py.site.api.bodies import JSON, TYPES, XML, wants_json
from batsched_py.site.api.descriptors import DESCRIPTORS, checked, members_of_descriptor
from batsched_py.site.api.experiment_callers import Number, identified
from batsched_py.site.api.experiment_json import experiment_json, experiment_summary
from batsched_py.site.api.experiment_views import Experiments
from batsched_py.site.api.experiment_xml import PATH, collection_xml, experiment_xml, log_xml
from batsched_py.site.api.handlers import delete, get, post
from batsched_py.site.api.identity import Asking
from batsched_py.site.api.parts import ONE_EXPERIMENT, parts
from batsched_py.site.api.problems import refuse
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
    part_of,
    state_parameter,
)
from batsched_py.site.inbox import Asked

#: All states that the member `status` of an experiment may have.
EXPERIMENT_STATES: Final = (QUEUED, *(state.value for state in ExperimentState if state != ExperimentState.DELETED))
InExperimentState = Annotated[str, state_parameter(EXPERIMENT_STATES)]
UserId = Annotated[
    str | None, Parameter(description="The user whose experiments to list; unless an operator asks, the caller.")
]


class ExperimentController(Controller):
    """The resource /managed_experiments; callers must name the user, or ask as the operator."""

    path = PATH
    tags = ("experiments",)

    @post("/", summary="Submit an experiment", media_type=XML, opt={TYPES: DESCRIPTORS})
    async def hand_in(self, request: Asking) -> Response[bytes]:
        """Accept a descriptor in JSON or OVF. It is saved before the answer is sent, and deployed in the background."""
        who, content = identified(request), await request.body()
        parts(request).check_experiment(who)
        members = members_of_descriptor(request, content, who, parts(request).site.begun)
        experiment = await parts(request).read(partial(checked, parts(request).site, SUBMIT, members))
        if experiment.reservation is not None:
            parts(request).reservations.check_usable(experiment.reservation, who)
        asked = Asked(SUBMIT, lambda number: members | {"experiment": number}, who.user, who.group)
        entry = await parts(request).accept(who, asked, ONE_EXPERIMENT)
        view = Experiments.unseen(entry)._replace(name=experiment.name, description=experiment.description)
        parts(request).experiments.note(view)
        location = {"Location": f"{PATH}/{entry.number}"}
        return await _answer(request, view, experiment_xml, experiment_json, status=201, headers=location)

    @get("/", summary="List experiments", media_type=XML)
    async def listed(
        self,
        request: Asking,
        *,
        user_id: UserId = None,
        after: After = 0,
        before: Before = 2**53,
        limit: Limit = MOST,
        newest: Newest = False,
        in_state: InExperimentState = "",
        user: OfUser = "",
        text: WithText = "",
    ) -> Response[bytes]:
        """List the experiments of the caller and of the caller's group.

        A part has fewer experiments than `limit`, or none, if many others were checked for it; then it has a link to
        the next one all the same.
        """
        who = identified(request)
        if user_id is not None and not who.may_change(user_id):
            raise refuse(403, "only your own experiments can be listed", "user_id")
        if user_id is not None and user and user != user_id:
            raise refuse(422, "must be that of `user_id`", "user")
        named = user or (user_id or "" if who.operator else "")
        wanted = ItemSelection(after, before, limit, newest, known_state(in_state, EXPERIMENT_STATES), named, text)
        shown, selected = parts(request).experiments.readable(who, wanted)
        headers = link(request, wanted, selected)
        return await _answer(
            request,
            shown,
            collection_xml,
            lambda views: {"items": list(map(experiment_summary, views))},
            headers=headers,
        )

    @get("/{number:int}", summary="Show an experiment", media_type=XML)
    async def shown(self, request: Asking, number: Number) -> Response[bytes]:
        """Show one experiment with its resources."""
        return await _answer(
            request, parts(request).experiments.find(number, identified(request)), experiment_xml, experiment_json
        )

    @get("/{number:int}/log", summary="Read the log of an experiment", media_type=XML)
    async def log(
        self,
        request: Asking,
        number: Number,
        *,
        after: After = 0,
        before: Before = 2**53,
        limit: Limit = MOST,
        newest: Newest = False,
        text: WithText = "",
    ) -> Response[bytes]:
        """Return the messages of the log of an experiment, numbered from 1.

        A part may have fewer messages than `limit`, and a link to the next one all the same.
        """
        log = parts(request).experiments.find(number, identified(request)).log
        wanted = ItemSelection(after, before, limit, newest, text=text)
        shown, headers = part_of(request, log, wanted, lambda one: ("", (one.resource, one.text)))
        return await _answer(request, shown, log_xml, lambda found: found, headers=headers)

    @delete("/{number:int}", summary="Delete an experiment")
    async def remove(self, request: Asking, number: Number) -> None:
        """Delete an experiment in any state and free its resources.

        Only the user who submitted it, or an operator, may.
        """
        found, who = parts(request), identified(request)
        async with found.turns.of(("experiment", number)):
            found.experiments.find(number, who)
            found.experiments.check_owner(number, who)
            members = {"experiment": str(number)}
            await found.acceptance.accept(Asked(DELETE, lambda _: members, who.user, who.group, number))


async def _answer(
    request: Asking,
    found: Any,
    to_xml: Callable[[Any], bytes],
    to_json: Callable[[Any], Any],
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response[bytes]:
    """Answer in the media type that the caller prefers."""
    headers = dict(headers or {})
    if not wants_json(request.headers):
        body = await parts(request).read(lambda: to_xml(found))
        return Response(body, status_code=status, media_type=XML, headers=headers)
    body = await parts(request).read(lambda: msgspec.json.encode(to_json(found)))
    return Response(body, status_code=status, media_type=JSON, headers=headers)
