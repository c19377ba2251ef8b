"""Decorators of the API's handlers: Litestar's, with the descriptions of all error answers."""

from __future__ import annotations

from functools import partial
from typing import Final

import litestar

from batsched_py.site.api.problems import refusals

get: Final = partial(litestar.get, responses=refusals())
post: Final = partial(litestar.post, responses=refusals())
put: Final = partial(litestar.put, responses=refusals())
delete: Final = partial(litestar.delete, responses=refusals())
