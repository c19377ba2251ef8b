"""Overtaking of a picked job by others, by the rule of EASY backfilling."""

from __future__ import annotations

from operator import attrgetter
from typing import Final

from batsched_py.errors import OptionError
from batsched_py.model.job import Job
from batsched_py.planning.future.promise_book import ShadowBook
from batsched_py.scheduling.placement import Placement, PlacementOptions
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View

#: Jobs are expected to run until their walltimes.
_LIMIT: Final = attrgetter("limit")


class EasyOvertaking:
    """EASY backfilling: promises one job its earliest start by the walltimes, and starts others that do not delay it.

    It is the rule of `easy` for a job that need not be the first of the queue.
    """

    def __init__(self, placement: PlacementOptions, view: View) -> None:
        """Raise OptionError if free hosts are not interchangeable: promises count only numbers of hosts."""
        if not placement.by_number:
            try:
                placement.refuse("lets no job overtake: promises are of numbers of hosts")
            except ValueError as error:
                raise OptionError(str(error)) from None
        self._view = view
        self._choose = None if placement.plain else Placement(placement, view).choose
        self._book = ShadowBook(view.availability, _LIMIT)

    def serve(self, waiting: Job, plan: Plan) -> None:
        """Promise the waiting job a start, and start others, in order of arrival, that do not delay it."""
        if not plan.free:
            return
        view, book = self._view, self._book
        book.withdraw_all()
        promise = book.earliest(waiting)
        book.keep(waiting, promise)
        plan.promise(waiting, promise)
        gaps = book.gaps()
        for job in view.queue.within(gaps.limits(), view.now):
            if job.id != waiting.id and job.size <= gaps.left:
                end = view.now + job.limit
                hosts = gaps.find(job.size, end, self._choose)
                if hosts is not None:
                    plan.start(job, hosts)
                    gaps.take(hosts, end)
