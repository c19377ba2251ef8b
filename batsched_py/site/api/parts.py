"""The parts of the application that answer, for its handlers.

Handlers find them at the application: Litestar's dependencies would start a group of tasks for each request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from litestar import Request
from msgspec import Struct

from batsched_py.site.api.acceptance import Acceptance
from batsched_py.site.api.answers import Answers
from batsched_py.site.api.experiment_views import Experiments
from batsched_py.site.api.lease_views import Leases
from batsched_py.site.api.quotas import Quotas
from batsched_py.site.site import Site

#: A request, whatever else the framework may know of it.
Asking = Request[Any, Any, Any]
#: Name of the parts in the application's state.
STATE: Final = "parts"
T = TypeVar("T")


class Parts(Struct, frozen=True):
    """A site, and what answers for it."""

    site: Site
    leases: Leases
    experiments: Experiments
    answers: Answers
    acceptance: Acceptance
    quotas: Quotas
    reader: ThreadPoolExecutor

    async def read(self, work: Callable[[], T]) -> T:
        """Return what some work makes of much; one after the other, while the event loop serves others."""
        return await asyncio.get_running_loop().run_in_executor(self.reader, work)


def make_parts(site: Site, quotas: Quotas) -> Parts:
    """Return the parts of an application."""
    return Parts(
        site,
        Leases(site),
        Experiments(site),
        Answers(site.board),
        Acceptance(site.inbox),
        quotas,
        ThreadPoolExecutor(1, "reader"),
    )


def parts(request: Asking) -> Parts:
    """Return the parts of the application that was asked."""
    found: Parts = request.app.state[STATE]
    return found
