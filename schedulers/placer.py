"""Placement as in Legion: hosts are found by queries, and asked; each decides for itself."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Final, Literal

from batsched_py.api import (
    Event,
    Host,
    HostSet,
    Job,
    JobCompleted,
    JobKilled,
    OptionError,
    Plan,
    Scheduler,
    Table,
    View,
    counted,
    document,
    named,
    option,
)
from batsched_py.collection.alternatives import Placement
from batsched_py.collection.attempts import Attempts, why_not
from batsched_py.collection.classes import JobClass, parse_classes
from batsched_py.collection.codes import Code
from batsched_py.collection.collection import Collection as Records
from batsched_py.collection.demands import Demand, read_demand
from batsched_py.collection.enactor import Enactor, PlacementAnswer
from batsched_py.collection.hosts import DYNAMIC, HOST, VAULT, host_attributes, idle_attributes, number_of
from batsched_py.collection.mil.expression import Expression, both
from batsched_py.collection.mil.parser import parse
from batsched_py.collection.mil.values import Value
from batsched_py.collection.placers import PLACERS, Arrange, first_names, propose, with_vaults
from batsched_py.collection.policies import POLICIES_OF_HOSTS, MakePolicy, Moody, read_policies
from batsched_py.collection.resources import Resource
from batsched_py.collection.tokens import Token
from batsched_py.collection.waiting import Waiting

NEVER_DUE: Final = "its class runs after jobs that will not end"
#: What is kept of jobs that others have taken out of the queue, at least.
SPARE: Final = 64
#: What a host reports that runs a job.
BUSY: Final[Mapping[str, Value]] = {"load": 1.0, "jobs": 1, "free_cpu": 0, "free_mem": 0}


@dataclass(frozen=True, slots=True)
class PlacerOptions:
    """Options of queries, of proposals, and of the hosts that are asked."""

    place: Arrange = named("best", "the order in which hosts that suit are proposed", PLACERS)
    alternatives: int = option(4, "schedules of one proposal, each a difference from the one before", minimum=1)
    staleness: float = option(0.0, "seconds for which the placer knows nothing new of hosts", minimum=0)
    keep: Literal["any", "next", "none"] = option(
        "any", "which grants of a schedule that failed are kept: what a later one needs, or the next one, or none"
    )
    retries: int = option(3, "proposals for a job at a time, each without hosts that have refused", minimum=1)
    time_out: float = option(math.inf, "seconds after which a grant that is not used expires", minimum=0)
    refuse: float = option(0.0, "share of requests and starts that each host refuses, at random", minimum=0, maximum=1)
    pause: float = option(60.0, "seconds after which hosts are asked again while nothing runs", minimum=1)
    patience: float = option(86400.0, "seconds of that after which jobs are rejected that no hosts want", minimum=0)
    foresight: bool = option(True, "leave out hosts whose properties say that they will refuse the user")
    seed: int = option(0, "the same seed makes the same decisions")
    classes: Mapping[str, JobClass] | None = document(  # as `option`, which makes a field
        parse_classes, "classes of jobs by name, JSON or YAML; without it there are none"
    )
    share: Literal["space", "time"] = option(
        "space", "a job has its hosts to itself, or `cpus` of each, which needs compute sharing"
    )
    max_jobs: int | None = option(None, "reservations that each host has at a time, at most", minimum=0)
    allowed_users: str | None = option(
        None, "the users whom hosts admit, with blanks between them", peer_text=r"[\w.@ -]{1,200}"
    )
    allowed_hours: str | None = option(
        None, "hours of the day, as 8-18, outside of which nothing starts", peer_text=r"\d{1,2}-\d{1,2}"
    )
    policy: MakePolicy = named("none", "a rule that each host has beside those of its properties", POLICIES_OF_HOSTS)


class Placer(Scheduler[PlacerOptions]):
    """Start each job on hosts that its query finds and that agree; nobody is promised anything.

    The member `constraint` of a job is the query, `user` says whose job it is. A proposal is a list of schedules, of
    which the first is started whose hosts all grant a reservation; a host refuses if it is in use, down, or asleep, or
    by its properties `max_jobs`, `allowed_users`, `allowed_hours` and `refuse`. What is known of hosts may be out of
    date.
    """

    name = "placer"
    source = "Legion: Chapin, Katramatos, Karpovich, Grimshaw, The Legion resource management system, JSSPP 1999."
    heeds_constraints = True

    def setup(self, view: View) -> None:
        """Let the hosts join, and poll them."""
        self.random = random.Random(self.options.seed)
        self.members, self.known = Records(), Records()
        self.idle: dict[str, dict[str, Value]] = {}
        self.numbers: dict[str, int] = {}
        self.resources: dict[str, Resource] = {}
        if self.options.share == "time" and not view.compute_sharing:
            raise OptionError("option share of placer: time needs a simulation with --enable-compute-sharing")
        #: Names of the storage hosts.
        self.vaults = frozenset(host.name for host in view.storages.values())
        for number, host in view.hosts.items():
            self.join(number, host, HOST)
        for number, host in view.storages.items():
            self.join(number, host, VAULT)
        if self.options.staleness:
            self.known.poll(self.members, period=self.options.staleness, now=view.now)
        else:
            self.known = self.members
        #: The version of `members` at the last poll; hosts that have said since then that they are in use.
        self.seen = self.members.version
        self.said: set[str] = set()
        self.enactor = Enactor(self.resources.get, self.options.keep)
        #: Job id -> tokens that it has used.
        self.tokens: dict[str, list[Token]] = {}
        #: Job id -> what it took to place it, of all jobs that were tried.
        self.attempts: dict[str, Attempts] = {}
        self.used, self.down = HostSet(), HostSet()
        #: The jobs that wait, by what is asked of hosts for them.
        self.waiting = Waiting()
        #: Job id -> what it asks for, while it waits.
        self.demands: dict[str, Demand] = {}
        #: Job id -> job, of those that wait for others to end; ids of jobs that have ended, of those waited for.
        self.later: dict[str, Job] = {}
        self.ended: set[str] = set()
        self.classes = self.options.classes or {}
        self.awaited = frozenset(name for kind in self.classes.values() for name in kind.after)
        #: Resources whose reservations have changed since they reported.
        self.changed: dict[str, None] = {}
        #: Text of a query -> what is asked of hosts for it; how many hosts may ever suit it.
        self.suits: dict[str, Expression] = {}
        self.ever: dict[str, int] = {}
        #: When hosts began to refuse all that waits, while nothing ran; None if they do not.
        self.idle_since: float | None = None
        #: A host has refused in this decision.
        self.refused = False
        self.free = parse('$kind == "host" and $load < 1 and $up') if view.storages else parse("$load < 1 and $up")

    def join(self, number: int, host: Host, kind: str) -> None:
        static = host_attributes(number, host.name, host.properties, host.zone_properties, kind)
        self.idle[host.name], self.numbers[host.name] = idle_attributes(static), number
        self.members.join(host.name, {**static, **self.idle[host.name]})
        try:
            policies = read_policies({**self.usual(kind), **host.properties}, self.random.random)
        except ValueError as error:
            raise OptionError(f"host {host.name}: property {error}") from None
        if self.options.refuse:
            policies.append(Moody(self.options.refuse, self.random.random))
        own = self.options.policy(host.properties, self.random.random)
        capacity = number_of(static, "size", 0) if kind == VAULT else number_of(static, "cpus", 1)
        self.resources[host.name] = Resource(host.name, capacity, (*policies, *([] if own is None else [own])))

    def usual(self, kind: str) -> dict[str, object]:
        """Return the policies of hosts whose properties do not say others."""
        given = {name: getattr(self.options, name) for name in ("max_jobs", "allowed_users", "allowed_hours")}
        return {name: value for name, value in given.items() if value is not None and kind == HOST}

    def observe(self, event: Event, view: View) -> None:
        """Free the hosts of jobs that have ended."""
        ended: list[str] = []
        if isinstance(event, JobCompleted):
            ended.append(event.job_id)
        elif isinstance(event, JobKilled):
            ended += event.killed_ids
        for job_id in ended:
            self.note_end(job_id)
            for token in self.tokens.pop(job_id, ()):
                self.resources[token.resource].finish(token, view.now)
                self.changed[token.resource] = None
                self.hear(token.resource)

    def hear(self, name: str) -> None:
        """Believe again what is known of a host that said that it is in use: it is not any more."""
        if name in self.said:
            self.said.remove(name)
            self.known.correct(name, self.idle[name])

    def note_end(self, job_id: str) -> None:
        """Note that a job has ended, under its id with its workload and without, if others wait for it."""
        self.ended |= self.awaited & {job_id, job_id.partition("!")[2]}

    def decide(self, view: View, plan: Plan) -> None:
        polled = self.update(view)
        self.refused = False
        running = len(view.running)
        before = self.waiting.last
        arrived = [job for job in view.arrived if self.admit(job, view, plan)]
        arrived += [job for job in list(self.later.values()) if self.is_due(job, view)]
        self.waiting.prune(view.queue)
        if len(self.demands) > 2 * len(view.queue) + SPARE:
            self.demands = {job_id: demand for job_id, demand in self.demands.items() if job_id in view.queue}
        news = view.hosts_changed or polled or not running
        for job in self.waiting.candidates(lambda query: self.known.count(query, view.now)) if news else arrived:
            if job.id in view.queue:
                self.place(job, max(before, self.waiting.number(job)), view, plan)
        if len(view.running) > running:
            self.idle_since = None
        if len(view.queue):
            self.call(view, plan)

    def update(self, view: View) -> bool:
        """Let hosts report what they are doing, after the polls that were due before; return whether any was due."""
        polled = self.poll(math.nextafter(view.now, -math.inf))
        down = view.unavailable | view.asleep | view.switching
        turned = (down - self.down) | (self.down - down)
        if self.options.share == "space":
            used = view.all_hosts - view.free
            for number in (used - self.used) | (self.used - used) | turned:
                name, works = view.hosts[number].name, number in used and number not in down
                self.members.update(name, {**self.idle[name], **(BUSY if works else {}), "up": number not in down})
            self.used = used
        for number in turned:
            self.resources[view.hosts[number].name].up = number not in down
            self.hear(view.hosts[number].name)
        self.down = down
        if self.options.share == "time" or view.storages:
            for name in [*self.changed, *(view.hosts[number].name for number in turned)]:
                self.report(name, view.now)
        self.changed.clear()
        return self.poll(view.now) or polled

    def poll(self, now: float) -> bool:
        """Poll what hosts have reported, if that is due by now."""
        if not self.known.refresh(now):
            return False
        self.seen = self.members.version
        self.said.clear()
        return True

    def report(self, name: str, now: float) -> None:
        """Let a resource report that others share it."""
        resource, idle = self.resources[name], self.idle[name]
        free = resource.free(now, math.nextafter(now, math.inf), now)
        if "space" in idle:
            self.members.update(name, {"free_space": free})
        elif self.options.share == "time":
            load = 1 - free / resource.capacity if resource.capacity else 1.0
            jobs, cpu = len(resource.tokens(now)), idle["free_cpu"]
            left = cpu * (1 - load) if isinstance(cpu, (int, float)) else 0
            self.members.update(name, {**idle, "load": load, "jobs": jobs, "free_cpu": left, "up": resource.up})

    def admit(self, job: Job, view: View, plan: Plan) -> bool:
        """Let a job wait, or reject it; return whether it waits for hosts."""
        try:
            demand = read_demand(job, view.profile(job), self.classes)
        except ValueError as error:
            plan.reject(job, str(error))
            self.note_end(job.id)
            return False
        if not self.may_ever_run(job, demand, plan):
            self.note_end(job.id)
            return False
        self.demands[job.id], self.attempts[job.id] = demand, Attempts()
        if not self.ended.issuperset(demand.kind.after):
            self.later[job.id] = job
            plan.hold(job, "its class runs after jobs that have not ended")
            return False
        self.enqueue(job, demand.query)
        plan.hold(job, why_not(job, {}))
        return True

    def enqueue(self, job: Job, query: Expression) -> None:
        """Let a job wait for hosts."""
        suits = self.suits.get(query.text)
        if suits is None:
            suits = self.suits[query.text] = both(query, self.free)
        self.waiting.add(job, suits, changes=not query.names.isdisjoint(DYNAMIC) or self.options.share == "time")

    def is_due(self, job: Job, view: View) -> bool:
        """Return whether the jobs have ended for which a job waited: then it waits for hosts."""
        demand = self.demands[job.id]
        if job.id in view.queue and not self.ended.issuperset(demand.kind.after):
            return False
        del self.later[job.id]
        if job.id in view.queue:
            self.enqueue(job, demand.query)
        return job.id in view.queue

    def may_ever_run(self, job: Job, demand: Demand, plan: Plan) -> bool:
        """Return whether enough hosts and a vault may ever suit a job, which is rejected otherwise."""
        count = self.possible(both(demand.query, self.free) if self.vaults else demand.query)
        if count < job.size:
            plan.reject(job, f"needs {counted(job.size, 'host')}, its constraint allows {count}")
        elif demand.vault is not None and not self.possible(demand.vault):
            plan.reject(job, f"needs a vault, {demand.vault} allows none")
        elif demand.vault is not None and demand.space > max(self.resources[name].capacity for name in self.vaults):
            plan.reject(job, f"needs a vault with {demand.space:g} of space; none has so much")
        else:
            return True
        return False

    def possible(self, query: Expression) -> int:
        """Return how many records may ever suit a query."""
        count = self.ever.get(query.text)
        if count is None:
            count = self.ever[query.text] = len(self.members.possible(query, DYNAMIC))
        return count

    def place(self, job: Job, turn: int, view: View, plan: Plan) -> None:
        """Propose schedules until one is started, or the job has to wait; `turn` is how many jobs came up to now."""
        demand, suits = self.demands[job.id], self.waiting.query(job)
        requester = demand.requester if self.options.foresight else None
        request = demand.request(job, view.now, self.options.time_out, shared=self.options.share == "time")
        objects = [str(number) for number in range(job.size)]
        attempts = self.attempts[job.id]
        refused: dict[str, Code] = {}
        for _ in range(self.options.retries):
            if self.known.count(suits, view.now) < job.size + len(refused.keys() - self.vaults - self.said):
                break
            found = self.known.search(suits, view.now, requester).without(refused)
            arranged = (demand.kind.placer or self.options.place)(found, self.random.random, turn)
            hosts = first_names(arranged, job.size + self.options.alternatives - 1)
            schedules = propose(objects, hosts, self.options.alternatives)
            if demand.vault is not None:
                schedules = with_vaults(schedules, self.roomy(demand, refused, view.now), self.options.alternatives)
            if not schedules:
                break
            talk = self.enactor.negotiate(schedules, request, demand.vault_request(request))
            granted = talk.reserve(view.now) and talk.approve(view.now, self.creates(demand)) and talk.start(view.now)
            refused |= attempts.count(talk)
            self.refused = self.refused or bool(refused)
            self.learn(refused)
            if granted:
                self.start(job, talk.granted, demand, plan)
                return
        plan.hold(job, why_not(job, refused))

    def learn(self, refused: Mapping[str, Code]) -> None:
        """Note which hosts are in use, so that nobody else asks them before that has changed or they are polled."""
        if self.options.staleness and self.options.share == "space":
            for name, code in refused.items():
                if code is Code.NO_CAPACITY and name not in self.vaults and self.known.correct(name, BUSY):
                    self.said.add(name)

    def roomy(self, demand: Demand, refused: Collection[str], now: float) -> list[str]:
        """Return the vaults that suit and are known to have the space, the emptiest first."""
        assert demand.vault is not None  # noqa: S101  # only then it is asked for
        found = self.known.search(demand.vault, now, demand.requester if self.options.foresight else None)
        space = dict(zip(found.names, found.numbers("free_space"), strict=True))
        names = [name for name in found.names if space[name] >= demand.space and name not in refused]
        return sorted(names, key=lambda name: -space[name])

    def creates(self, demand: Demand) -> Callable[[Placement], bool]:
        """Return what says whether the class of a job creates it on a host: by what is true there now."""
        veto = demand.kind.veto
        if veto is None:
            return lambda _: True

        def creates(placement: Placement) -> bool:
            record = self.members.find(placement.host)
            return record is None or veto.evaluate(record.attributes) is not True

        return creates

    def start(self, job: Job, placed: Sequence[PlacementAnswer], demand: Demand, plan: Plan) -> None:
        """Start a job whose hosts have all agreed."""
        tokens = [token for answer in placed for token in (answer.token, answer.vault_token) if token is not None]
        self.tokens[job.id] = tokens
        del self.demands[job.id]
        self.waiting.remove(job)
        for token in tokens:
            self.changed[token.resource] = None
            if token.resource in self.vaults or self.options.share == "time":
                self.report(token.resource, token.created)
            else:
                self.members.update(token.resource, BUSY)
        hosts = HostSet.from_ids(self.numbers[answer.placement.host] for answer in placed)
        self.used |= hosts
        vault = placed[0].placement.vault
        stores = None if vault is None or demand.label is None else {demand.label: self.numbers[vault]}
        plan.start(job, hosts, storage_mapping=stores)

    def call(self, view: View, plan: Plan) -> None:
        """Be called when hosts are polled next that have news; while nothing runs, too, as hosts may agree later."""
        staleness, news = self.options.staleness, self.members.version != self.seen
        if staleness and news:
            plan.wake_at((view.now // staleness + 1) * staleness)
        if view.running or not view.all_submitted:
            return
        if self.idle_since is None:
            self.idle_since = view.now
        hopes = self.refused or (staleness > 0 and news)
        if hopes and view.now < self.idle_since + self.options.patience:
            plan.wake_at(view.now + self.options.pause)
        elif not self.down:
            for job in list(view.queue):
                awaits = job.id in self.later
                plan.reject(job, NEVER_DUE if awaits else "no hosts that suit it agree, though nothing runs")

    def tables(self, view: View) -> list[Table]:
        """Return what it took to place each job."""
        rows = ((job_id, *astuple(attempts)) for job_id, attempts in self.attempts.items())
        return [Table("placements", ("job", *(each.name for each in fields(Attempts))), list(rows))]
