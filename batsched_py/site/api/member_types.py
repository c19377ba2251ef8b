"""Types of members of bodies, checked as the description of the API has them."""

from __future__ import annotations

from typing import Final

import msgspec

from batsched_py.site.api.parts import Asking
from batsched_py.site.api.problems import Problem, RefusedError

#: What msgspec writes between a rule and the place where it is broken.
_AT: Final = " - at `$"


async def check_types(request: Asking, body: type) -> None:
    """Raise RefusedError if a member is of another type: the framework itself takes 0 for false and "4" for 4."""
    try:
        msgspec.convert(await request.json(), body)
    except msgspec.ValidationError as error:
        rule, _, path = str(error).partition(_AT)
        raise RefusedError(422, [Problem(path.strip("`.") or "data", rule)]) from None
