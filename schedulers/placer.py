"""Placement as in Legion: hosts are found by queries and negotiated with; each decides for itself."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, fields
from typing import Final

from batsched_py.api import Event, HostSet, Job, OptionError, Placed, Plan, Scheduler, Table, View
from batsched_py.collection.alternatives import ObjectPlacement
from batsched_py.collection.attempts import PlacementCounts, why_not
from batsched_py.collection.codes import Code
from batsched_py.collection.demands import Demand
from batsched_py.collection.enactor import Enactor, Negotiation
from batsched_py.collection.placers import Fate, PlacementRequest, PlacerSettings
from batsched_py.collection.rests import Rests
from batsched_py.collection.task_rooms import places_of
from batsched_py.queries.parser import check_installed
from batsched_py.schedulers.placing.admission import JobAdmission
from batsched_py.schedulers.placing.losses import JobLosses
from batsched_py.schedulers.placing.members import CollectionMembers
from batsched_py.schedulers.placing.options import PlacerOptions

# The scheduler of Legion does not decide where a job runs: it proposes, and each host decides. So a decision is a loop
# of proposals, and its cost is the negotiation, some 16 hosts for each job at about 0.1 ms each with the benchmark's
# queries. All else here prevents negotiations that must fail.
#
# A job whose hosts have refused rests (`Rests`) until something has changed that may make one of them agree; hosts that
# are in use are not asked by others before that is over (`Members.learn`); and jobs are grouped by query and size, so
# that a group for which too few hosts are free is skipped as a whole. Asking the whole queue at each event, in lists of
# names, took 21.0 s for 2 500 jobs instead of 6.4 s (ADR 29).
#
# No start is promised, since a host may refuse at any time. Therefore a run could wait without end: if nothing runs and
# hosts still refuse after `patience` seconds, the jobs that wait are rejected.

NEVER_DUE: Final = "its class runs after jobs that will not end"


class PlacerScheduler(Scheduler[PlacerOptions]):
    """Start each job on hosts that its query finds and that agree; jobs get no promises.

    The member `constraint` of a job is the query, `user` is its user. A proposal is a list of schedules, of
    which the first is started whose hosts all grant a reservation; a host refuses if it is in use, down, or asleep, or
    by its properties `max_jobs`, `allowed_users`, `allowed_hours` and `refuse`. The records of hosts may be out of
    date.
    """

    name = "placer"
    foresight = "promises"
    source = "Legion: Chapin, Katramatos, Karpovich, Grimshaw, The Legion resource management system, JSSPP 1999."
    uses_dynamic_jobs = True
    heeds_constraints = True
    places_tasks = True

    def __init__(self, options: PlacerOptions) -> None:
        """Create the algorithm; ExtraError if the packages that parse queries are missing."""
        super().__init__(options)
        check_installed()

    def setup(self, view: View) -> None:
        """Add the hosts to the collection, and poll them."""
        options = self.options
        draw = random.Random(options.seed).random
        if options.share == "time" and not view.compute_sharing:
            raise OptionError("option share of placer: time needs a simulation with --enable-compute-sharing")
        self.members = CollectionMembers(view, options, draw)
        self.losses = JobLosses(options.on_loss, view)
        self.admission = JobAdmission(self.members, options.classes or {}, shared=options.share == "time")
        self.enactor = Enactor(self.members.resources.get, options.keep)
        fate: Fate = "replace" if options.on_loss == "replace" else "fail"
        settings = PlacerSettings(alternatives=options.alternatives, draw=draw, fate=fate)
        self.placer = options.place.make(self.members.known, self.enactor, settings)
        #: Job id -> its negotiation, while it runs.
        self.talks: dict[str, Negotiation] = {}
        #: Time since which hosts have refused all waiting jobs while no job ran; None if they have not.
        self.idle_since: float | None = None
        #: Jobs that hosts have refused.
        self.rests = Rests(options.pause)
        #: True if a host has refused in this decision.
        self.refused = False

    def observe(self, event: Event, view: View) -> None:
        """Free the hosts of jobs that have ended."""
        for job_id in self.losses.observe(event):
            talk = self.talks.pop(job_id, None)
            if talk is not None:
                self.members.note_end(talk.end(view.now))
                if self.losses.ends(job_id):
                    self.admission.note_end(self.losses.first_id(job_id))

    def decide(self, view: View, plan: Plan) -> None:
        polled = self.members.update(view)
        self.refused = False
        running = len(view.running)
        waiting, known = self.admission.waiting, self.members.known
        before = waiting.last
        self.losses.stop_lost(self.talks, self.admission.attempts, self.placer, view, plan)
        came = [job for job in view.arrived if job.id not in self.admission.attempts]
        arrived = [job for job in [*self.losses.repeat(view, plan), *came] if self.admit(job, view, plan)]
        arrived += [job for job in list(self.admission.later.values()) if self.admission.is_due(job, view)]
        self.admission.prune(view)
        news = self.rests.expire(view.now, view.queue) or view.hosts_changed or polled or not running
        for job in waiting.candidates(lambda query: known.count(query, view.now)) if news else arrived:
            if job.id in view.queue and self.is_rested(job, view):
                self.place(job, max(before, waiting.number(job)), view, plan)
        if len(view.running) > running:
            self.idle_since = None
        if len(view.queue):
            self.call(view, plan)
        self.losses.finish_registration(view, plan)

    def admit(self, job: Job, view: View, plan: Plan) -> bool:
        """Admit or reject a job; return whether it waits for hosts."""
        return self.admission.admit(job, view, plan, self.losses.number(job))

    def is_rested(self, job: Job, view: View) -> bool:
        """Return whether a suitable host has changed since the refusal of a job, or its rest is over."""
        if job.id not in self.rests:
            return True
        stores = self.admission.demands[job.id].vault is not None
        latest = self.members.latest(self.admission.waiting.query(job), view.now, stores=stores)
        return self.rests.is_over(job.id, latest, view.now)

    def place(self, job: Job, turn: int, view: View, plan: Plan) -> None:
        """Propose schedules until one is started, or the job has to wait; `turn` is the number of jobs so far."""
        demand, suits = self.admission.demands[job.id], self.admission.waiting.query(job)
        terms = demand.request(job, view.now, self.options.time_out, shared=self.options.share == "time")
        if job.demand is not None and plan.place(job) is None:
            plan.hold(job, view.shortage(job), "resource")
            return
        asked = self.request(job, demand, turn, view)
        attempts = self.admission.attempts[job.id]
        refused: dict[str, Code] = {}
        for _ in range(self.options.retries):
            needed = job.size if job.demand is None else 1
            if self.members.known.count(suits, view.now) < needed + self.members.recorded_free(refused):
                break
            schedules = self.placer.schedule(asked._replace(without=refused))
            if not schedules:
                break
            talk = self.enactor.negotiate(schedules, terms, demand.vault_request(terms))
            granted = talk.reserve(view.now) and talk.approve(view.now, self.creates(demand)) and talk.start(view.now)
            refused |= attempts.count(talk)
            self.refused = self.refused or bool(refused)
            self.members.learn(refused)
            if granted:
                self.start(job, talk, demand, plan)
                return
        self.rest(job, refused, view)
        plan.hold(job, why_not(job, refused))

    def rest(self, job: Job, refused: Mapping[str, Code], view: View) -> None:
        """Let a job rest if hosts refuse it by policy; hosts in use are not asked again anyway."""
        unwilling = [name for name, code in refused.items() if code is not Code.NO_CAPACITY]
        if unwilling:
            self.rests.begin(job.id, self.members.decision, view.now, self.members.opens(unwilling, view.now))

    def request(self, job: Job, demand: Demand, turn: int, view: View) -> PlacementRequest:
        """Return the request for the placer."""
        given = demand.alternatives
        return PlacementRequest(
            [one.object for one in given[0]] if given else [str(number) for number in range(job.size)],
            self.admission.waiting.query(job),
            view.now,
            demand.requester if self.options.foresight else None,
            demand.vault,
            demand.space,
            arrange=demand.kind.placer,
            turn=turn,
            alternatives=given,
            fits=None if job.demand is None else lambda name: self.members.fits(name, job, view),
        )

    def creates(self, demand: Demand) -> Callable[[ObjectPlacement], bool]:
        """Return the function that checks whether the class of a job creates it on a host now."""
        veto = demand.kind.veto
        if veto is None:
            return lambda _: True

        def creates(placement: ObjectPlacement) -> bool:
            record = self.members.reported.find(placement.host)
            return record is None or veto.evaluate(record.attributes) is not True

        return creates

    def start(self, job: Job, talk: Negotiation, demand: Demand, plan: Plan) -> None:
        """Start a job whose hosts have all agreed."""
        self.talks[job.id] = talk
        self.rests.leave(job.id)
        self.losses.note_start(job, self.admission.note_start(job))
        numbers = self.members.numbers
        placements = [answer.placement for answer in talk.granted]
        hosts = HostSet.from_ids(numbers[placement.host] for placement in placements)
        self.members.note_start(hosts, talk.tokens)
        vault = next((placement.vault for placement in placements if placement.vault is not None), None)
        if job.demand is not None:
            answers = [(numbers[one.placement.host], one.token) for one in talk.granted if one.token is not None]
            plan.start(job, Placed(places_of(answers)))
            return
        stores = None if vault is None or demand.label is None else {demand.label: numbers[vault]}
        plan.start(job, hosts, storage_mapping=stores)

    def call(self, view: View, plan: Plan) -> None:
        """Request a call for the next poll with changes; also while nothing runs, because hosts may agree later."""
        staleness, news = self.options.staleness, self.members.has_unpolled
        if staleness and news:
            plan.wake_at((view.now // staleness + 1) * staleness)
        due = self.rests.next_due
        if view.running or not view.all_submitted:
            if due < math.inf:
                plan.wake_at(due)
            return
        if self.idle_since is None:
            self.idle_since = view.now
        hopes = self.refused or len(self.rests) or (staleness > 0 and news)
        end = self.idle_since + self.options.patience
        if hopes and view.now < end:
            plan.wake_at(min(end, due if due < math.inf else view.now + self.options.pause))
        elif not self.members.down:
            for job in list(view.queue):
                awaits = job.id in self.admission.later
                plan.reject(job, NEVER_DUE if awaits else "no suitable hosts accept it, although nothing runs")

    def tables(self, view: View) -> Sequence[Table]:
        """Return the table of attempts to place each job."""
        rows = ((job_id, *astuple(attempts)) for job_id, attempts in self.admission.attempts.items())
        return [Table("placements", ("job", *(each.name for each in fields(PlacementCounts))), list(rows))]
