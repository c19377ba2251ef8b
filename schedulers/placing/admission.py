"""Admission: jobs that may ever run wait for hosts, or for other jobs to end; the others are rejected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from batsched_py.api import Job, Plan, View, counted
from batsched_py.collection.attempts import PlacementCounts, why_not
from batsched_py.collection.classes import JobClass
from batsched_py.collection.demands import FREE, FREE_HOST, UP, UP_HOST, Demand, read_demand
from batsched_py.collection.waiting_index import WaitingQueries
from batsched_py.queries.expression import Expression, both
from batsched_py.queries.host_attributes import DYNAMIC
from batsched_py.schedulers.placing.members import CollectionMembers

# A job that no combination of hosts can ever run is rejected when it arrives, with the reason; otherwise it would wait
# for a change that cannot come. "Ever" is three-valued: what a host is doing is unknown then, and it counts unless the
# query is false whatever that is (`possible`). The answer is computed once for each text of a query, however many jobs
# have it.
#
# Between two decisions each admitted job that has not started is either in `waiting` or in `later`, and in `demands`.
# Jobs that others take out of the queue leave entries behind, which are dropped when they are more than half (`prune`):
# a check of all jobs at each decision would cost O(queue).

#: Number of entries of jobs that have left the queue that are always tolerated.
SPARE: Final = 64


class JobAdmission:
    """The jobs of a run until they start.

    Attributes:
        waiting: jobs that wait for hosts, by their queries.
        demands: job id -> its demand, while it waits.
        later: job id -> job, of jobs that wait for the end of others.
        attempts: job id -> its attempts, for all admitted jobs.
    """

    def __init__(self, members: CollectionMembers, classes: Mapping[str, JobClass], *, shared: bool) -> None:
        """Set the hosts and the classes of jobs; with `shared`, jobs may share hosts."""
        self._members, self._classes, self._shared = members, classes, shared
        self.waiting = WaitingQueries()
        self.demands: dict[str, Demand] = {}
        self.later: dict[str, Job] = {}
        self.attempts: dict[str, PlacementCounts] = {}
        #: Ids of jobs for which others may wait; of those, which have ended.
        self._awaited = frozenset(name for kind in classes.values() for name in kind.after)
        self._ended: set[str] = set()
        #: Text of a query -> what is asked of hosts for it; how many hosts may ever suit it.
        self._suits: dict[str, Expression] = {}
        self._ever: dict[str, int] = {}
        self._task_suits: dict[str, Expression] = {}
        self._free, self._up = (FREE_HOST, UP_HOST) if members.vaults else (FREE, UP)

    def admit(self, job: Job, view: View, plan: Plan, number: int | None = None) -> bool:
        """Admit or reject a job; return whether it waits for hosts.

        `number` is its position among the waiting jobs; None: the last one.
        """
        try:
            demand = read_demand(job, view.profile(job), self._classes)
            self._members.accept_tasks(job, view)
        except ValueError as error:
            plan.reject(job, str(error))
            self.note_end(job.id)
            return False
        why = self._why_never(job, demand) if job.demand is None else self._why_no_room(job, demand, view)
        if why:
            plan.reject(job, why)
            self.note_end(job.id)
            return False
        self.demands[job.id], self.attempts[job.id] = demand, PlacementCounts()
        if not self._ended.issuperset(demand.kind.after):
            self.later[job.id] = job
            plan.hold(job, "its class runs after jobs that have not ended")
            return False
        self._enqueue(job, demand.query, number)
        plan.hold(job, why_not(job, {}))
        return True

    def is_due(self, job: Job, view: View) -> bool:
        """Return whether the jobs for which a job waited have ended: then it waits for hosts."""
        demand = self.demands[job.id]
        if job.id in view.queue and not self._ended.issuperset(demand.kind.after):
            return False
        del self.later[job.id]
        if job.id in view.queue:
            self._enqueue(job, demand.query)
        return job.id in view.queue

    def note_end(self, job_id: str) -> None:
        """Record the end of a job, under its id with and without its workload, if others wait for it."""
        self._ended |= self._awaited & {job_id, job_id.partition("!")[2]}

    def note_start(self, job: Job) -> int:
        """Remove a started job, and return its number among the waiting jobs."""
        del self.demands[job.id]
        number = self.waiting.number(job)
        self.waiting.remove(job)
        return number

    def prune(self, view: View) -> None:
        """Remove the jobs that have left the queue, once there may be many."""
        self.waiting.prune(view.queue)
        if len(self.demands) > 2 * len(view.queue) + SPARE:
            self.demands = {job_id: demand for job_id, demand in self.demands.items() if job_id in view.queue}

    def _enqueue(self, job: Job, query: Expression, number: int | None = None) -> None:
        """Add a job to those that wait for hosts."""
        known = self._suits if job.demand is None else self._task_suits
        suits = known.get(query.text)
        if suits is None:
            suits = known[query.text] = both(query, self._free if job.demand is None else self._up)
        changes = not query.names.isdisjoint(DYNAMIC) or self._shared
        self.waiting.add(job, suits, changes=changes, number=number)

    def _why_never(self, job: Job, demand: Demand) -> str:
        """Return the reason why a job can never run: too few suitable hosts, or no suitable vault; "" if it may run."""
        members = self._members
        stranger = self._stranger(demand)
        if stranger:
            return f"alternatives: there is no {stranger}"
        count = self._possible(both(demand.query, self._free) if members.vaults else demand.query)
        if count < job.size:
            return f"needs {counted(job.size, 'host')}, its constraint allows {count}"
        return self._why_no_vault(demand)

    def _why_no_vault(self, demand: Demand) -> str:
        """Return the reason why no vault suits a job that needs one; "" if there may be one."""
        members = self._members
        if demand.vault is None:
            return ""
        if not self._possible(demand.vault):
            return f"needs a vault, {demand.vault} allows none"
        if demand.space > max(members.resources[name].capacity for name in members.vaults):
            return f"needs a vault with {demand.space:g} of space; none has so much"
        return ""

    def _why_no_room(self, job: Job, demand: Demand, view: View) -> str:
        """Return the reason why the tasks of a job can never run on the hosts that suit it; "" if they may."""
        stranger = self._stranger(demand)
        if stranger:
            return f"alternatives: there is no {stranger}"
        names = self._members.reported.possible(both(demand.query, self._up), DYNAMIC)
        fit = sum(self._members.most_tasks(name, job, view) for name in names)
        if fit < job.size:
            return f"has {counted(job.size, 'task')}, on the hosts that its constraint allows {fit} fit"
        return self._why_no_vault(demand)

    def _stranger(self, demand: Demand) -> str:
        """Return a host or vault in a job's alternatives that does not exist; "" if all exist."""
        members = self._members
        for placement in (one for schedule in demand.alternatives for one in schedule):
            if placement.host not in members.numbers or placement.host in members.vaults:
                return f"host {placement.host!r}"
            if placement.vault is not None and placement.vault not in members.vaults:
                return f"vault {placement.vault!r}"
        return ""

    def _possible(self, query: Expression) -> int:
        """Return the number of records that may ever satisfy a query."""
        count = self._ever.get(query.text)
        if count is None:
            count = self._ever[query.text] = len(self._members.reported.possible(query, DYNAMIC))
        return count
