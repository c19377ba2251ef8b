"""Strict checks of the types of members of bodies, as in the description of the API."""

from __future__ import annotations

from typing import Final

import msgspec

from batsched_py.site.api.identity import Asking
from batsched_py.site.api.problems import Problem, RequestRefusedError

#: The text of msgspec between a rule and the path of the member that violates it.
_AT: Final = " - at `$"


async def check_types(request: Asking, body: type) -> None:
    """Raise RequestRefusedError if a member has another type.

    The framework alone would convert 0 to false and "4" to 4.
    """
    try:
        msgspec.convert(await request.json(), body)
    except msgspec.ValidationError as error:
        rule, _, path = str(error).partition(_AT)
        raise RequestRefusedError(422, [Problem(path.strip("`.") or "data", rule)]) from None
