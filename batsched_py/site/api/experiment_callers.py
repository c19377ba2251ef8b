"""Callers of the routes of experiments, and the number in these routes."""

from __future__ import annotations

from typing import Annotated

from litestar.params import Parameter

from batsched_py.site.api.identity import OPERATOR_HEADER, Asking, Identity
from batsched_py.site.api.problems import refuse

Number = Annotated[int, Parameter(ge=1, le=2**53, description="The number of the experiment.")]


def identified(request: Asking) -> Identity:
    """Return the caller's identity; RequestRefusedError if it neither names a user nor asks as the operator."""
    who = request.user
    if not who.asserted and OPERATOR_HEADER not in request.headers:
        raise refuse(401, "must name the user", "X-Bonfire-Asserted-Id")
    return who
