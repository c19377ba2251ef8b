"""Decorators of the API's handlers: Litestar's, with the descriptions of all error answers."""

from __future__ import annotations

from functools import partial
from typing import Final

import litestar

from batsched_py.site.api.problems import UNDECIDED, refusals

get: Final = partial(litestar.get, responses=refusals())
post: Final = partial(litestar.post, responses=refusals())
put: Final = partial(litestar.put, responses=refusals())
delete: Final = partial(litestar.delete, responses=refusals())
#: Decorators of changes that are answered after the decision, or with 202 if that takes long.
deciding_post: Final = partial(litestar.post, status_code=204, responses={**UNDECIDED, **refusals()})
deciding_put: Final = partial(litestar.put, status_code=204, responses={**UNDECIDED, **refusals()})
deciding_delete: Final = partial(litestar.delete, status_code=204, responses={**UNDECIDED, **refusals()})
