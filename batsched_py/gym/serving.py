"""Serving of a chosen job: it starts now, or waits for its hosts, possibly while others overtake it."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, Literal

from batsched_py.errors import OptionError
from batsched_py.gym.actions import Actions
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.planning.future.promise_book import ShadowBook
from batsched_py.scheduling.placement import Placement
from batsched_py.scheduling.placement_options import PlacementOptions
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View

#: Jobs are expected to run until their walltimes.
_LIMIT: Final = attrgetter("limit")


@dataclass(frozen=True, slots=True)
class ServingActions(Actions):
    """Actions that choose the next job to serve.

    Attributes:
        backfilling: "easy": while the chosen job waits for hosts, others may overtake it, in order of arrival, if they
            do not delay its start by the walltimes; jobs then need walltimes. "none": no job may overtake.
        placement: selection of hosts for jobs, as in algorithms.
    """

    backfilling: Literal["none", "easy"] = field(default="none", kw_only=True)
    placement: PlacementOptions = field(default_factory=PlacementOptions, kw_only=True)

    @property
    def needs_walltime(self) -> bool:
        """True with backfilling."""
        return self.backfilling == "easy"


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


class Serving:
    """The selection of hosts for jobs in one run, and the overtaking."""

    def __init__(self, actions: ServingActions, view: View) -> None:
        """Raise OptionError if the placement does not suit the platform, or the backfilling."""
        self._view = view
        self.placement = Placement(actions.placement, view)
        self._overtaking = EasyOvertaking(actions.placement, view) if actions.backfilling == "easy" else None

    def refuse(self, plan: Plan) -> None:
        """Reject jobs that can never run."""
        self.placement.refuse(self._view, plan)

    def serve(self, job: Job, plan: Plan) -> bool:
        """Start a waiting job, or hold it and start those that may overtake it; return whether it has started."""
        hosts = self.hosts(job, plan.free)
        if hosts is not None:
            plan.start(job, hosts)
            return True
        plan.hold(job, self.placement.why_not(job, plan.free), "constraint")
        if self._overtaking is not None:
            self._overtaking.serve(job, plan)
        return False

    def hosts(self, job: Job, free: HostSet) -> HostSet | None:
        """Return the hosts for a job to start now; None if it has to wait."""
        return self.placement.hosts(job, free)
