"""Placement of jobs: its options, and the hosts of each job of one run."""

from __future__ import annotations

from typing import Final

from batsched_py.errors import OptionError, QueryError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.planning.policies.constraints import QUERY
from batsched_py.planning.policies.selection import SELECTIONS, HostLayout
from batsched_py.planning.task_packing import Packer
from batsched_py.queries.expression import Expression
from batsched_py.scheduling.host_queries import HostQueries
from batsched_py.scheduling.jobs_by_hosts import JobsByHosts
from batsched_py.scheduling.placed import Placed
from batsched_py.scheduling.placement_options import PlacementOptions
from batsched_py.scheduling.plan import Plan, too_few
from batsched_py.scheduling.view import View
from batsched_py.text.wording import counted

#: Number of results of a constraint that are kept even if their jobs no longer wait.
_ROOM: Final = 1024


class Placement:
    """The hosts of jobs, by a selection and a constraint; to be created in `setup`."""

    __slots__ = (
        "_changing",
        "_constraint",
        "_eligible",
        "_limited",
        "_packing",
        "_queries",
        "_room",
        "_selection",
        "_view",
        "choose",
        "jobs",
        "varies",
    )

    def __init__(self, options: PlacementOptions, view: View) -> None:
        """Prepare the selection; OptionError for a zone or a topology that it ignores or the platform lacks."""
        layout = HostLayout(options.zone, options.topology)
        for name, value in (("zone", layout.zone), ("topology", layout.topology)):
            if value and name not in options.selection.uses:
                users = " | ".join(each for each in SELECTIONS if name in SELECTIONS[each].uses)
                raise OptionError(
                    f"option {name}: selection {options.selection.name} does not use it; these do: {users}"
                )
        self._selection, self._constraint, self._packing = options.selection, options.constraint, options.packing.name
        #: True if a job may never find hosts, although it is not larger than the platform.
        self._limited = not options.by_number
        self._view = view
        self._queries = HostQueries(view) if options.constraint is QUERY else None
        #: True if the eligible hosts of a job may change.
        self.varies = self._queries is not None
        #: Job id -> its query, if it reads dynamic attributes; for the jobs of `_eligible`.
        self._changing: dict[str, Expression] = {}
        #: Selects a number of these hosts; None if the job should rather wait. Also for `Availability.earliest`.
        self.choose = self._selection.prepare(view, layout)
        #: Job id -> hosts on which it may run, for waiting jobs that were queried, and some jobs that have left.
        self._eligible: dict[str, HostSet] = {}
        #: The number of results at which those for jobs that have left are dropped.
        self._room = _ROOM
        #: The waiting jobs, by the hosts on which they may run.
        self.jobs = JobsByHosts(view.queue, self.eligible)

    def eligible(self, job: Job) -> HostSet:
        """Return all hosts on which a job may run, free or not. The constraint is called once for each waiting job."""
        return self._view.all_hosts if self._constraint.rule is None else self._ask(job)

    def eligible_now(self, job: Job) -> HostSet:
        """Return all hosts on which a job may run if it starts now, free or not.

        If its query reads dynamic attributes, `eligible` returns the hosts on which it may ever run.
        """
        eligible = self._eligible.get(job.id)
        if eligible is None:
            eligible = self.eligible(job)
        if self._queries is None or job.id not in self._changing:
            return eligible
        return self._queries.now(self._changing[job.id])

    def hosts(self, job: Job, free: HostSet) -> HostSet | None:
        """Select the hosts of a job that starts now among the free ones; None if it should rather wait."""
        return self.choose(free if self._constraint.rule is None else free & self.eligible_now(job), job.size)

    def place(self, job: Job, plan: Plan) -> Placed | None:
        """Place the tasks of a job with a demand that starts now; None if it should rather wait."""
        return plan.place(job, self._packing, None if self._constraint.rule is None else self.eligible_now(job))

    def place_on(self, job: Job, hosts: HostSet, plan: Plan) -> Placed | None:
        """Place the tasks of a job with a demand that starts now on these hosts; None if there is no room."""
        return plan.place(job, self._packing, hosts)

    def packer(self) -> Packer:
        """Return the selection of the option `packing`, to place tasks in rooms of the future."""
        return self._view.packer(self._packing)

    def why_not(self, job: Job, free: HostSet) -> str:
        """Return the reason why a job does not start on these free hosts, for `plan.hold`."""
        if job.demand is not None:
            return self._view.shortage(job)
        count = len(free)
        if count < job.size:
            return too_few(job.size, count)
        eligible = free & self.eligible_now(job)
        if len(eligible) < job.size:
            return f"{too_few(job.size, len(eligible))} that constraint {self._constraint.name} allows"
        return f"{_needs(job)}, selection {self._selection.name} finds none in {eligible}"

    def refusal(self, job: Job) -> str | None:
        """Return the reason why a job can never run, even if all existing hosts were free; None if it can."""
        try:
            eligible = self.eligible(job)
        except QueryError as error:
            return f"constraint: {error}"
        if job.demand is not None:
            return None if eligible else f"constraint {self._constraint.name} allows no host"
        if len(eligible) < job.size:
            return f"{_needs(job)}, constraint {self._constraint.name} allows {len(eligible)}"
        if not self._selection.total and self.choose(eligible, job.size) is None:
            return f"{_needs(job)}, selection {self._selection.name} finds none even if {eligible} are free"
        return None

    def refuse(self, view: View, plan: Plan) -> None:
        """Reject jobs that can never run: new ones, and all waiting ones when no more changes can occur.

        Call this first in `decide`.
        """
        if self._limited:
            for job in view.arrived:
                why = self.refusal(job)
                if why is not None:
                    plan.reject(job, why)
            if self._queries is not None and view.all_submitted and not view.running and not view.unavailable:
                self._give_up(view, plan)

    def _give_up(self, view: View, plan: Plan) -> None:
        """Reject jobs whose queries are false on the idle machine, unless a job starts now, which may change that."""
        waiting = list(view.queue)
        if not any(self._starts(job, plan) for job in waiting):
            for job in waiting:
                if len(self.eligible_now(job)) < (job.size if job.demand is None else 1):
                    plan.reject(job, "its constraint is true for too few hosts, and nothing will change any more")

    def _starts(self, job: Job, plan: Plan) -> bool:
        found = self.hosts(job, plan.free) if job.demand is None else self.place(job, plan)
        return found is not None

    def _ask(self, job: Job) -> HostSet:
        """Call the constraint, once for each job; results for jobs that have left are dropped from time to time."""
        eligible = self._eligible.get(job.id)
        if eligible is None:
            if len(self._eligible) >= self._room:
                waiting = self._view.queue
                self._eligible = {name: hosts for name, hosts in self._eligible.items() if name in waiting}
                self._changing = {name: query for name, query in self._changing.items() if name in waiting}
                self._room = max(_ROOM, 2 * len(self._eligible))
            if self._queries is None:
                eligible = self._constraint.hosts(job, self._view.hosts, self._view.all_hosts)
            else:
                query = self._queries.query(job)
                eligible = self._view.all_hosts if query is None else self._queries.ever(query)
                if query is not None and self._queries.changes(query):
                    self._changing[job.id] = query
            self._eligible[job.id] = eligible
        return eligible


def _needs(job: Job) -> str:
    return f"needs {counted(job.size, 'host')}"
