"""Changes over HTTP that are answered once the simulation has decided on them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from litestar import Response

from batsched_py.site.api.problems import refuse
from batsched_py.site.journal import JournalEntry
from batsched_py.site.outcomes import ChangeOutcomes

#: The longest wait for a decision, in seconds: Batsim may send its next message much later, and a decision may be long.
_PATIENCE: Final = 2.0


async def answer(outcomes: ChangeOutcomes, entries: Sequence[JournalEntry]) -> Response[None]:
    """Wait for the decision on accepted changes: 204 if they have taken effect, 202 if there is none yet.

    RequestRefusedError if they are ignored.
    """
    return Response(None, status_code=204 if await decided(outcomes, entries) else 202)


async def decided(outcomes: ChangeOutcomes, entries: Sequence[JournalEntry]) -> bool:
    """Wait for the decision on accepted changes; return whether they have taken effect, or there is none yet.

    RequestRefusedError if they are ignored, because the state has changed since they were checked.
    """
    for entry in entries:
        if not await _decision(outcomes, entry.number):
            return False
        if (why := outcomes.ignored.get(entry.number)) is not None:
            raise refuse(409, why)
    return True


async def _decision(outcomes: ChangeOutcomes, number: int) -> bool:
    """Wait for the decision on a change; return whether it was made."""
    loop, decided = asyncio.get_running_loop(), asyncio.Event()
    outcomes.expect(number, lambda: loop.call_soon_threadsafe(decided.set))
    try:
        await asyncio.wait_for(decided.wait(), _PATIENCE)
    except TimeoutError:
        outcomes.forget(number)
    return outcomes.is_decided(number)
