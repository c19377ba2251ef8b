"""Timelines over HTTP: the state of the experiment and its VMs, the end of breaks, and additional entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import orjson
from litestar import Controller, Response
from litestar.params import JSONBody, PathParameter
from msgspec import Meta, Struct

from batsched_py.errors import WorkloadError
from batsched_py.site.api.handlers import get, post
from batsched_py.site.api.identity import Asking, check_operator
from batsched_py.site.api.member_types import check_types
from batsched_py.site.api.parts import parts
from batsched_py.site.api.problems import Problem, RequestRefusedError
from batsched_py.site.api.timeline_views import (
    TimelineEntry,
    TimelineExperiment,
    check_vm,
    entries,
    experiment,
    vm_names,
)
from batsched_py.site.inbox import Asked
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown
from batsched_py.timelines.additions import ADD_ENTRY, RESUME
from batsched_py.timelines.parsing import parse_entry

#: The name of an entry's source in error messages.
_SOURCE: Final = "entry"
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
    """

    number: int
    time: float


class TimelineController(Controller):
    """The resource /api/timelines, of a site whose algorithm is `timelines`."""

    path = "/api/timelines"
    tags = ("timelines",)

    @get("/", summary="Show the experiment")
    async def shown(self, request: Asking) -> TimelineExperiment:
        """Return the experiment's times, and the state of each VM."""
        return experiment(parts(request).site)

    @get("/{vm:str}/entries", summary="List the entries of a VM")
    async def listed(self, request: Asking, vm: VmName) -> list[TimelineEntry]:
        """List the entries of a VM with their outcomes."""
        return entries(parts(request).site, vm)

    @post("/resume", summary="Resume VMs", status_code=202)
    async def resume(self, data: JSONBody[ResumeRequest], request: Asking) -> Response[Accepted]:
        """End the breaks that hold VMs now. Only for the operator, without an asserted user."""
        check_operator(request)
        await check_types(request, ResumeRequest)
        known = vm_names(parts(request).site)
        if data.vms != "all" and (wrong := [name for name in data.vms if name not in known]):
            raise RequestRefusedError(
                422, [Problem("vms", f"VM {shown(name)}: {unknown(name, known)}") for name in wrong]
            )
        return await _accept(request, RESUME, {"vms": data.vms})

    @post("/{vm:str}/entries", summary="Add an entry to a VM", status_code=202)
    async def add(self, data: JSONBody[dict[str, Any]], request: Asking, vm: VmName) -> Response[Accepted]:
        """Add an entry to a VM, with the same members as in a file.

        Only for the operator, without an asserted user.
        """
        check_operator(request)
        site = parts(request).site
        check_vm(site, vm)
        try:
            parse_entry(_SOURCE, data, 0, vm_names(site))
            orjson.dumps(data)  # as the journal will keep it
        except WorkloadError as error:
            raise RequestRefusedError(422, [Problem(path, rule) for path, rule in error.faults]) from None
        except TypeError:
            raise RequestRefusedError(422, [Problem("", "contains a number of more than 64 bits")]) from None
        return await _accept(request, ADD_ENTRY, {"vm": vm, "entry": data})


async def _accept(request: Asking, kind: str, members: Mapping[str, Any]) -> Response[Accepted]:
    entry = await parts(request).acceptance.accept(Asked(kind, lambda _: members, request.user.user))
    return Response(Accepted(entry.number, entry.time), status_code=202)
