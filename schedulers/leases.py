"""Leases as Haizea schedules them: best effort, immediate, in advance, with suspension, migration and images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain, islice
from typing import Any, Final

from batsched_py.api import (
    QUEUE_REQUESTS,
    Claim,
    Event,
    Job,
    Notify,
    OptionError,
    Plan,
    QueueRequest,
    Scheduler,
    Table,
    View,
    seconds,
)
from batsched_py.leases.accounting.ledger import Ledger
from batsched_py.leases.accounting.predictions import Predictions
from batsched_py.leases.accounting.rows import MACHINES
from batsched_py.leases.accounting.tables import ledger_tables
from batsched_py.leases.actions import LeaseFailedError, Occupy
from batsched_py.leases.api import ALL_TERMS, UNLIMITED, LeaseKind, LeaseState
from batsched_py.leases.arrivals import Arrivals
from batsched_py.leases.drains import DRAINS, Drains
from batsched_py.leases.enactment import Enactment
from batsched_py.leases.host_constraints import HostConstraints
from batsched_py.leases.lease import Lease, is_job
from batsched_py.leases.observer import Observer, Observers
from batsched_py.leases.options import CHANGEABLE, LeasesOptions
from batsched_py.leases.platform_site import platform_site
from batsched_py.leases.requested_changes import RequestedChanges
from batsched_py.leases.scheduler import LeaseScheduler

# Haizea's scheduler decides when a machine starts, stops or is suspended, and Batsim only runs jobs. This class
# connects both: events become facts about leases, the scheduler goes through the instants that have come, and its
# actions become verbs of the Plan. It has no rules of its own, so the command `haizea` and the tests of Haizea's
# results use the same scheduler without Batsim.
#
# Planned instants and messages do not coincide: a message comes a little late, or for several instants at once.
# `_instants` therefore plays each planned instant with its own time, and only the last one sees the news of the
# message, within `tolerance`. `clock` is the scheduler's time and never moves back. Otherwise the lateness of messages
# would add up from lease to lease.
#
# A suspended lease is a job that was killed and another one that is submitted with the rest of its work, because Batsim
# cannot stop a job and let it go on.

#: The type of an external event that cancels a lease: that of the number `lease`, or of the job `job`.
CANCEL: Final = "cancel_lease"
#: The number of waiting jobs with demands whose reasons are said at each decision.
MOST_EXPLAINED: Final = 8


class Leases(Scheduler[LeasesOptions]):
    """Schedule jobs as leases: reservations at their time, all others as soon as possible.

    A job's member `lease` has its terms (docs/leases.md); a job without one is a best-effort lease of whole hosts.
    Jobs of one group that are submitted together are one lease: they start together or not at all.
    Best-effort leases may be suspended for an advance reservation: their job is killed, and the rest of its work
    is submitted as the next segment, `id#1`.
    """

    name = "leases"
    foresight = "promises"
    source = (
        "Haizea 1.0: Sotomayor, Keahey, Foster, Combining batch execution and leasing using virtual machines, HPDC"
        " 2008; the Haizea manual"
    )
    uses_dynamic_jobs = True
    places_tasks = True
    counts_shares = True
    lease_terms = ALL_TERMS

    def setup(self, view: View) -> None:
        """Begin with an empty site."""
        self.oversubscribes = view.compute_sharing
        #: Batsim's numbers of the site's hosts.
        self.hosts = hosts = list(view.all_hosts)
        self.site = platform_site(hosts, view)
        self.ledger = self.make_ledger()
        self.predictions = Predictions(wanted=view.expects_requests)
        self.scheduler = self.make_scheduler(view)
        self.enactment = Enactment(view, hosts, overhead_jobs=self.options.overhead_jobs)
        #: Requests to cancel leases: members of events, `lease` or `job`.
        self.cancelled: list[Mapping[str, Any]] = []
        self.arrivals = Arrivals(self.site, self.enactment.segments, HostConstraints(hosts, view))
        self.changes = RequestedChanges(self.arrivals, self.scheduler)
        self.drains = Drains(hosts)
        self.clock = 0.0

    def make_ledger(self) -> Ledger:
        """Return the empty ledger of a run, by the options."""
        return Ledger(self.options.probes, self.options.stats)

    def make_scheduler(self, view: View) -> LeaseScheduler:
        """Return the scheduler of a run on this site, by the options."""
        options, settings = self.options, self.options.settings(stoppable=view.config.dynamic_jobs)
        return LeaseScheduler(self.site, settings, options.policies(), options.transfers(), self.observer())

    def observer(self) -> Observer:
        """Return the observer of all events of leases: the ledger, and the predictions if they are wanted."""
        return Observers(self.ledger, self.predictions) if self.predictions.wanted else self.ledger

    def observe(self, event: Event, view: View) -> None:
        """Record ended jobs, the remaining work of killed jobs, and requests to cancel leases."""
        self.enactment.observe(event)
        if isinstance(event, Notify) and event.kind == CANCEL:
            self.cancelled.append(event.members)
        elif isinstance(event, Notify) and event.kind in DRAINS:
            self.drains.note(event, view)

    def cancel(self, job_id: str, view: View, plan: Plan) -> bool:
        """Cancel the lease of a job in any state."""
        if self.arrivals.find(job_id, self.scheduler.leases) is None:
            return super().cancel(job_id, view, plan)  # it has just arrived
        self.cancelled.append({"job": job_id})
        return True

    def change_job(self, change: QueueRequest, view: View, plan: Plan) -> bool:
        """Note a hold, a release or a priority, which `decide` carries out."""
        self.changes.ask(change)
        return True

    def check_request(self, kind: str, members: Mapping[str, Any], now: float) -> object:
        """Accept changes of leases, and drains. LookupError for other kinds."""
        return None if kind in QUEUE_REQUESTS | DRAINS else super().check_request(kind, members, now)

    def change_options(self, options: LeasesOptions, view: View) -> None:
        """Follow other rules for plans to come; OptionError for options that are properties of the site."""
        names = [field.name for field in fields(options)]
        changed = {name for name in names if getattr(options, name) != getattr(self.options, name)}
        if fixed := sorted(changed - CHANGEABLE):
            raise OptionError(f"option {fixed[0]} of {self.name} cannot change while leases wait and run")
        self.options = options
        self.scheduler.change_rules(options.settings(stoppable=view.config.dynamic_jobs), options.policies())

    def binding(self, view: View) -> str:
        """Return the first lease that is more than a job that waits or runs; "" if there is none."""
        for lease in self.scheduler.leases.values():
            name = self.arrivals.jobs[lease.id]
            if not (is_job(lease) and (name in view.queue or view.job(name) is not None)):
                return f"lease {lease.id} has terms or plans that only {self.name} knows"
        return "leases share hosts" if self.scheduler.leases and not self.site.exclusive else ""

    def decide(self, view: View, plan: Plan) -> None:
        """Let the scheduler process the due instants, and carry out its decisions."""
        requests = self.requests(view, plan)
        cancelled = self.arrivals.find_cancelled(self.cancelled, self.scheduler.leases, plan)
        self.cancelled.clear()
        self.advance(view, requests, cancelled)
        if left := self.changes.left_over(view):
            self.advance(view, cancelled=left)
        if self._waits_in_vain():
            self.clock = max(view.now, self.clock)
            self.scheduler.replan(self.clock)
            self.scheduler.step(self.clock)
        if self.options.lease_failure_handling == "exit":
            self._end_if_failed()
        self.enact(view, plan)
        self.enactment.proceed(plan)
        self._explain(view, plan)
        self.changes.report(view, plan)
        self.drains.report(plan)
        self._call(view, plan)
        self._keep_registration(view, plan)

    def _explain(self, view: View, plan: Plan) -> None:
        """Say what jobs with demands wait for: new ones, and those that are planned next or wait first."""
        if self.site.tasks is None:
            return
        leases = islice(chain(self.scheduler.future.values(), self.scheduler.queue[:1]), MOST_EXPLAINED)
        names = [name for lease in leases for name in self.arrivals.jobs[lease.id].split()]
        waiting = [job for name in names if (job := view.queue.get(name)) is not None]
        for job in {job.id: job for job in (*waiting, *view.arrived)}.values():
            if job.demand is None or job.id in plan.promises:
                continue
            if plan.place(job) is None:
                plan.hold(job, view.shortage(job), "resource")
            else:
                plan.hold(job, "would delay leases that are planned", "promise")

    def requests(self, view: View, plan: Plan) -> list[Lease]:
        """Return the new leases."""
        requests = list[Lease]()
        for lease, jobs in self.arrivals.read(self.arrived(view), view, plan):
            self.enactment.meet(lease, jobs)
            requests.append(lease)
            if lease.kind is LeaseKind.ADVANCE and lease.start is not None:
                for job in jobs:
                    plan.hold(job, f"is to start at {seconds(lease.start)}", "instant")
                    plan.promise(job, Claim(lease.start, lease.start + lease.duration, job.size))
        return requests

    def arrived(self, view: View) -> Sequence[Job]:
        """Return the jobs that have arrived and are leases, or parts of them."""
        return view.arrived

    def enact(self, view: View, plan: Plan) -> None:
        """Carry out the decisions of the scheduler."""
        self.enactment.enact(self.scheduler.actions, plan)
        self.scheduler.actions.clear()

    def next_instant(self) -> float | None:
        """Return the next planned instant; None if there is none."""
        return self.scheduler.next_instant()

    def submits(self) -> bool:
        """Return whether jobs may still have to be submitted."""
        return self.enactment.in_progress or bool(self.scheduler.leases)

    def tables(self, view: View) -> list[Table]:
        """Return the outcomes of leases, their reservations, and the figures of probes."""
        if self.enactment.ended or self.enactment.failed:  # in v1.4 the last jobs end after the last decision
            self.advance(view)
        self.ledger.close(self.clock)
        found = ledger_tables(self.ledger, self.arrivals.jobs, self.scheduler.disks.image_rows())
        return found + self.predictions.tables()

    def live_tables(self, view: View) -> list[Table]:
        """Return leases and their past and future reservations."""
        machines = Table(MACHINES, ("lease", "name"), self.arrivals.unnumbered)
        estimates = self.predictions.live_tables(self.scheduler.queue, max(view.now, self.clock))
        return [*self.ledger.live_tables(), machines, self.changes.live_table(), self.drains.live_table(), *estimates]

    def advance(self, view: View, requests: Sequence[Lease] = (), cancelled: Sequence[Lease] = ()) -> None:
        """Let the scheduler process the due instants, with new requests and cancellations."""
        ended = [lease for lease in self.enactment.ended if self._is_early(lease, view)]
        failed = list(self.enactment.failed)
        self.enactment.ended.clear()
        self.enactment.failed.clear()
        down, lost = self.drains.out_of_service(view)
        news = bool(requests or ended or failed or cancelled or self.changes or lost)
        news = news or down != self.scheduler.table.down
        for now in self._instants(view, news):
            self.clock = now
            last = now >= view.now - self.options.tolerance
            if last:
                self.scheduler.end(ended, now)
                self._dismiss(failed, cancelled, now)
                self.changes.carry_out(requests, now)
            if down - lost != self.scheduler.table.down:
                self.scheduler.lose_hosts(down - lost, now)
            if lost:
                self.scheduler.lose_hosts(down, now, fails=True)
                lost = set()
            self.scheduler.step(now, requests=requests if last else ())

    def _dismiss(self, failed: Iterable[Lease], cancelled: Iterable[Lease], now: float) -> None:
        """Give up leases, unless they have just ended."""
        for lease in failed:
            if not lease.ended:
                self.scheduler.fail(lease, now)
        for lease in cancelled:
            if lease.ended:
                self.changes.refuse_cancellation(lease)
            else:
                self.scheduler.cancel(lease, now)

    def _waits_in_vain(self) -> bool:
        """Return whether all plans wait for ends of leases without walltimes that have already ended."""
        planned = self.scheduler.next_instant()
        return planned is not None and planned >= UNLIMITED and not any(self.scheduler.under_way())

    def _end_if_failed(self) -> None:
        for action in self.scheduler.actions:
            if not isinstance(action, Occupy) and action.lease.state is LeaseState.FAIL:
                raise LeaseFailedError(f"the lease of {self.arrivals.jobs[action.lease.id]} has failed")

    def _is_early(self, lease: Lease, view: View) -> bool:
        """Return whether a lease whose job has ended was planned to continue, or to be suspended now."""
        run = lease.running
        return run is not None and (run.end > view.now + self.options.tolerance or run.suspends)

    def _instants(self, view: View, news: bool) -> Iterator[float]:
        """Iterate over the due instants: planned ones, and now if there are events."""
        while True:
            planned = self.scheduler.next_instant()
            if planned is None or planned > view.now + self.options.tolerance:
                break
            at = max(planned, self.clock)
            news = news and at < view.now - self.options.tolerance
            yield at
        if news:
            yield max(view.now, self.clock)

    def _call(self, view: View, plan: Plan) -> None:
        """Request a call at the next planned instant, unless there is an earlier one or it is not a real end."""
        planned = self.next_instant()
        if planned is None or planned >= UNLIMITED:
            return
        if planned > view.now and not any(view.now < call <= planned for call in view.wakeups):
            plan.wake_at(planned)

    def _keep_registration(self, view: View, plan: Plan) -> None:
        """Finish registration once no running job can be preempted.

        Batsim 1 does not announce the last job: there it is reopened.
        """
        if not view.config.dynamic_jobs:
            return
        needed, batsim_1 = self.submits(), plan.dialect.name == "v1.4"
        if view.registration_open and not needed and (view.all_submitted or batsim_1):
            plan.finish_registration()
        elif needed and batsim_1 and not view.registration_open:
            plan.continue_registration()
