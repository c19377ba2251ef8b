"""Arrivals: the leases of newly submitted jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from batsched_py.leases.host_constraints import HostConstraints
from batsched_py.leases.lease import Lease
from batsched_py.leases.lease_nodes import LeaseNodes
from batsched_py.leases.segments import Segments
from batsched_py.leases.site import Site
from batsched_py.model.job import Job
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.lease_terms import ALL_TERMS, UNLIMITED, Terms, read_terms
from batsched_py.reading.faults import FieldError
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.text.display import shown

#: Kinds of leases that are never preempted, whatever their terms.
_NEVER_STOPPED: Final = frozenset({LeaseKind.ADVANCE, LeaseKind.IMMEDIATE})
#: The largest number of digits in a job's name that is used as the number of its lease.
_DIGITS: Final = 9
#: The jobs of one lease, each with its terms.
_Party = Sequence[tuple[Job, Terms]]


class Arrivals:
    """The leases of submitted jobs; jobs of one group that are submitted together are one lease (H110).

    Args:
        site: the hosts of the leases.
        segments: the jobs that continue a lease, which request none.
        constraints: the hosts as constraints of leases see them.

    Attributes:
        jobs: number of a lease -> the id of its job; for a group, all ids separated by blanks.
        unnumbered: numbers and names of leases outside the job numbering, such as machines of experiments; append-only.
    """

    def __init__(self, site: Site, segments: Segments, constraints: HostConstraints) -> None:
        self._site, self._segments, self._constraints = site, segments, constraints
        self.jobs: dict[int, str] = {}
        #: Id of a job -> the numbers of its leases.
        self._numbers: dict[str, list[int]] = {}
        self._last = 0
        self.unnumbered = list[tuple[int, str]]()
        self._preemptible_reported = False
        #: Reason why best-effort leases cannot be preempted -> the first job concerned, "" once it was reported.
        self._obstacles: dict[str, str] = {}
        self._reserved = False

    def read(self, arrived: Sequence[Job], view: View, plan: Plan) -> Iterator[tuple[Lease, Sequence[Job]]]:
        """Iterate over the leases of submitted jobs, each with its jobs; reject jobs with invalid terms."""
        if not arrived:
            return
        for party in self._parties([job for job in arrived if self._segments.first(job) is job], plan):
            jobs = [job for job, _ in party]
            try:
                lease = self._lease(party, view)
            except FieldError as error:
                for job in jobs:
                    plan.reject(job, str(error))
                continue
            if not self._preemptible_reported and lease.preemptible and lease.kind in _NEVER_STOPPED:
                self._preemptible_reported = True
                why = "reservations and immediate leases are never suspended or stopped"
                plan.warn(f"{jobs[0].id}: lease.preemptible is ignored, also for later jobs: {why}")
            self._reserved = self._reserved or lease.kind in _NEVER_STOPPED
            yield lease, jobs
        if self._reserved:
            self._report_obstacles(plan)

    def find_cancelled(
        self, notices: Iterable[Mapping[str, Any]], leases: Mapping[int, Lease], plan: Plan
    ) -> list[Lease]:
        """Return the leases that notices cancel; warn of notices that match none.

        A notice names a lease by number in its member `lease`, or by the id of a job in `job`.
        """
        found = list[Lease]()
        for notice in notices:
            number, job_id = notice.get("lease"), notice.get("job")
            lease = leases.get(number) if isinstance(number, int) else self.find(str(job_id), leases)
            if lease is None:
                what = shown(job_id if number is None else number)
                plan.warn(f"{what} cannot be cancelled: it is not a lease, or has ended")
            elif lease not in found:
                found.append(lease)
        return found

    def find(self, job_id: str, leases: Mapping[int, Lease]) -> Lease | None:
        """Return the lease of a job among these leases; None if there is none."""
        return next((leases[number] for number in self._numbers.get(job_id, ()) if number in leases), None)

    def enlist(self, name: str, *, unnumbered: bool = False) -> int:
        """Assign a number to a named lease that no job has requested, and return it.

        With `unnumbered`, the number is outside the range of numbers from names of jobs.
        """
        if unnumbered:
            number = 10**_DIGITS + len(self.unnumbered) + 1
            self.unnumbered.append((number, name))
        else:
            number = self._last = self._last + 1
        self._note(number, name)
        return number

    def _note(self, number: int, jobs: str) -> None:
        self.jobs[number] = jobs
        for job_id in jobs.split(" "):
            self._numbers.setdefault(job_id, []).append(number)

    def _report_obstacles(self, plan: Plan) -> None:
        for why, job_id in self._obstacles.items():
            if job_id:
                plan.warn(f"{job_id} cannot be suspended or stopped for others, nor later jobs like it: {why}")
                self._obstacles[why] = ""

    def _parties(self, jobs: Iterable[Job], plan: Plan) -> Iterable[_Party]:
        """Return jobs with their terms, one list per lease: jobs of a user's group submitted together, others alone."""
        parties: dict[object, list[tuple[Job, Terms]]] = {}
        for job in jobs:
            try:
                terms = read_terms(job, ALL_TERMS)
            except FieldError as error:
                plan.reject(job, str(error))
                continue
            key = job.id if terms.group is None else (terms.group, job.user, job.submit_time)
            parties.setdefault(key, []).append((job, terms))
        return parties.values()

    def _lease(self, party: _Party, view: View) -> Lease:
        """Return the lease of jobs; FieldError if their terms differ, or the site lacks a resource type."""
        jobs, (job, terms) = [one for one, _ in party], party[0]
        allowed = None if terms.constraint is None else self._constraints.suitable(terms.constraint)
        nodes = LeaseNodes(self._site, allowed)
        nodes.add(job, terms.nodes)
        for other, other_terms in party[1:]:
            if replace(other_terms, nodes=terms.nodes) != terms or other.walltime != job.walltime:
                raise FieldError("lease.group", f"{other.id} has other terms, or another walltime, than {job.id}")
            nodes.add(other, other_terms.nodes)
        obstacles = [self._segments.obstacle(one, view) for one in jobs] if view.config.dynamic_jobs else []
        repeatable = bool(obstacles) and not any(obstacles)
        if terms.kind is LeaseKind.BEST_EFFORT and terms.preemptible:
            for one, why in zip(jobs, obstacles, strict=False):
                if why:
                    self._obstacles.setdefault(why, one.id)
        duration = terms.duration if terms.duration is not None else min(job.limit, UNLIMITED)
        return Lease(
            self._number(jobs),
            terms.kind,
            job.submit_time,
            duration,
            tuple(nodes.demands),
            start=terms.start,
            preemptible=terms.preemptible,
            deadline=terms.deadline,
            software=terms.software,
            repeatable=repeatable,
            suitable=nodes.suitable,
            user=job.user or "",
            needs=nodes.needs,
        )

    def _number(self, jobs: Sequence[Job]) -> int:
        """Return the number of a lease: the name of its job if that is a number, as in workloads from lease traces.

        If the name is not a number, or the number is taken, it is the largest number so far plus one.
        """
        name = jobs[0].id.rpartition("!")[2]
        wanted = int(name) if name.isascii() and name.isdecimal() and len(name) <= _DIGITS else 0
        number = wanted if wanted and wanted not in self.jobs else self._last + 1
        self._last = max(self._last, number)
        self._note(number, " ".join(job.id for job in jobs))
        return number
