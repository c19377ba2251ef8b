"""Placement as in Legion: hosts are found by queries, and asked; each decides for itself."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from typing import Any, Final, Literal

from batsched_py.api import (
    Event,
    Host,
    HostSet,
    Job,
    JobCompleted,
    JobKilled,
    OptionError,
    Plan,
    QueryError,
    Scheduler,
    Table,
    View,
    counted,
    named,
    option,
)
from batsched_py.collection.codes import Code
from batsched_py.collection.collection import Collection
from batsched_py.collection.enactor import Enactor
from batsched_py.collection.hosts import DYNAMIC, host_attributes, idle_attributes
from batsched_py.collection.mil.expression import Expression, both
from batsched_py.collection.mil.parser import parse
from batsched_py.collection.mil.values import Value
from batsched_py.collection.placers import PLACERS, Arrange, first_names, propose
from batsched_py.collection.policies import Moody, read_policies
from batsched_py.collection.records import Requester
from batsched_py.collection.resources import Resource
from batsched_py.collection.tokens import Request, Token
from batsched_py.collection.waiting import Waiting

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


@dataclass(slots=True)
class Attempts:
    """Counts of the work to place a job: proposals, requests to hosts, grants given back, and hosts that refused."""

    proposals: int = 0
    requests: int = 0
    releases: int = 0
    refusals: int = 0

    def count(self, answer: Mapping[str, Any]) -> dict[str, str]:
        """Add what an enactor has answered to a proposal; return the hosts that refused, and how."""
        self.proposals += 1
        self.requests += answer["requests"]
        self.releases += answer["releases"]
        placements = [one for schedule in answer["schedules"] for one in schedule["placements"]]
        refused = {one["host"]: one["code"] for one in placements if one["code"] not in (Code.GRANTED, Code.NOT_ASKED)}
        self.refusals += len(refused)
        return refused


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
        self.members, self.known = Collection(), Collection()
        self.idle: dict[str, dict[str, Value]] = {}
        self.numbers: dict[str, int] = {}
        self.resources: dict[str, Resource] = {}
        for number, host in view.hosts.items():
            self.join(number, host)
        if self.options.staleness:
            self.known.poll(self.members, period=self.options.staleness, now=view.now)
        else:
            self.known = self.members
        self.enactor = Enactor(self.resources.get, self.options.keep)
        #: Job id -> tokens that it has used.
        self.tokens: dict[str, list[Token]] = {}
        #: Job id -> what it took to place it, of all jobs that were tried.
        self.attempts: dict[str, Attempts] = {}
        self.used, self.down = HostSet(), HostSet()
        #: The jobs that wait, by what is asked of hosts for them.
        self.waiting = Waiting()
        #: Text of a query -> what is asked of hosts for it; how many hosts may ever suit it.
        self.suits: dict[str, Expression] = {}
        self.ever: dict[str, int] = {}
        #: When hosts began to refuse all that waits, while nothing ran; None if they do not.
        self.idle_since: float | None = None
        #: A host has refused in this decision.
        self.refused = False
        self.free = parse("$load < 1 and $up")

    def join(self, number: int, host: Host) -> None:
        static = host_attributes(number, host.name, host.properties, host.zone_properties)
        self.idle[host.name], self.numbers[host.name] = idle_attributes(static), number
        self.members.join(host.name, {**static, **self.idle[host.name]})
        try:
            policies = read_policies(host.properties, self.random.random)
        except ValueError as error:
            raise OptionError(f"host {host.name}: property {error}") from None
        if self.options.refuse:
            policies.append(Moody(self.options.refuse, self.random.random))
        self.resources[host.name] = Resource(host.name, policies=tuple(policies))

    def observe(self, event: Event, view: View) -> None:
        """Free the hosts of jobs that have ended."""
        ended: list[str] = []
        if isinstance(event, JobCompleted):
            ended.append(event.job_id)
        elif isinstance(event, JobKilled):
            ended += event.killed_ids
        for job_id in ended:
            for token in self.tokens.pop(job_id, ()):
                self.resources[token.resource].finish(token, view.now)

    def decide(self, view: View, plan: Plan) -> None:
        self.update(view)
        self.refused = False
        running = len(view.running)
        before = self.waiting.last
        arrived = [job for job in view.arrived if self.admit(job, plan)]
        self.waiting.prune(view.queue)
        news = view.hosts_changed or self.options.staleness > 0 or not running
        for job in self.waiting.candidates(lambda query: self.known.count(query, view.now)) if news else arrived:
            if job.id in view.queue:
                self.place(job, max(before, self.waiting.number(job)), view, plan)
        if len(view.running) > running:
            self.idle_since = None
        if len(view.queue):
            self.call(view, plan)

    def update(self, view: View) -> None:
        """Let hosts report what they are doing, after the polls that were due before."""
        self.known.refresh(math.nextafter(view.now, -math.inf))
        used, down = view.all_hosts - view.free, view.unavailable | view.asleep | view.switching
        for number in (used - self.used) | (self.used - used) | (down - self.down) | (self.down - down):
            name, works = view.hosts[number].name, number in used and number not in down
            self.members.update(name, {**self.idle[name], **(BUSY if works else {}), "up": number not in down})
            self.resources[name].up = number not in down
        self.used, self.down = used, down

    def admit(self, job: Job, plan: Plan) -> bool:
        """Let a job wait, or reject it; return whether it waits."""
        query = self.query(job, plan)
        if query is None or not self.may_ever_run(job, query, plan):
            return False
        suits = self.suits.get(query.text)
        if suits is None:
            suits = self.suits[query.text] = both(query, self.free)
        self.waiting.add(job, suits, changes=not query.names.isdisjoint(DYNAMIC))
        self.attempts[job.id] = Attempts()
        plan.hold(job, why_not(job, {}))
        return True

    def query(self, job: Job, plan: Plan) -> Expression | None:
        """Return a job's query; None if it is none, and the job is rejected."""
        text = job.members.get("constraint", "true")
        if not isinstance(text, str):
            plan.reject(job, "constraint: must be a text")
            return None
        try:
            return parse(text)
        except QueryError as error:
            plan.reject(job, f"constraint: {error}")
            return None

    def may_ever_run(self, job: Job, query: Expression, plan: Plan) -> bool:
        """Return whether enough hosts may ever suit a job, which is rejected otherwise."""
        count = self.ever.get(query.text)
        if count is None:
            count = self.ever[query.text] = len(self.members.possible(query, DYNAMIC))
        if count < job.size:
            plan.reject(job, f"needs {counted(job.size, 'host')}, its constraint allows {count}")
        return count >= job.size

    def place(self, job: Job, turn: int, view: View, plan: Plan) -> None:
        """Propose schedules until one is started, or the job has to wait; `turn` is how many jobs came up to now."""
        suits = self.waiting.query(job)
        user = job.members.get("user")
        name = None if user is None else str(user)
        requester = Requester(user=name) if self.options.foresight else None
        request = Request(job.id, view.now, view.now + job.limit, time_out=self.options.time_out, user=name)
        objects = [str(number) for number in range(job.size)]
        attempts = self.attempts[job.id]
        refused: dict[str, str] = {}
        for _ in range(self.options.retries):
            if self.known.count(suits, view.now) < job.size + len(refused):
                break
            found = self.known.search(suits, view.now, requester).without(refused)
            arranged = self.options.place(found, self.random.random, turn)
            hosts = first_names(arranged, job.size + self.options.alternatives - 1)
            schedules = propose(objects, hosts, self.options.alternatives)
            if not schedules:
                break
            talk = self.enactor.negotiate(schedules, request)
            granted = talk.reserve(view.now) and talk.approve(view.now) and talk.start(view.now)
            refused |= attempts.count(talk.answer())
            self.refused = self.refused or bool(refused)
            if granted:
                self.start(job, [answer.token for answer in talk.granted if answer.token is not None], plan)
                return
        plan.hold(job, why_not(job, refused))

    def start(self, job: Job, tokens: list[Token], plan: Plan) -> None:
        """Start a job whose hosts have all agreed."""
        self.tokens[job.id] = tokens
        self.waiting.remove(job)
        for token in tokens:
            self.members.update(token.resource, BUSY)
        hosts = HostSet.from_ids(self.numbers[token.resource] for token in tokens)
        self.used |= hosts
        plan.start(job, hosts)

    def call(self, view: View, plan: Plan) -> None:
        """Be called when hosts are polled next; while nothing runs, too, as hosts may agree later."""
        staleness = self.options.staleness
        if staleness:
            plan.wake_at((view.now // staleness + 1) * staleness)
        if view.running or not view.all_submitted or self.down:
            return
        if self.idle_since is None:
            self.idle_since = view.now
        hopes = self.refused or staleness > 0
        if hopes and view.now < self.idle_since + self.options.patience:
            plan.wake_at(view.now + self.options.pause)
        else:
            for job in list(view.queue):
                plan.reject(job, "no hosts that suit it agree, though nothing runs")

    def tables(self, view: View) -> list[Table]:
        """Return what it took to place each job."""
        rows = ((job_id, *astuple(attempts)) for job_id, attempts in self.attempts.items())
        return [Table("placements", ("job", *(each.name for each in fields(Attempts))), list(rows))]


def why_not(job: Job, refused: Mapping[str, str]) -> str:
    """Return why a job waits: which hosts refused, and how."""
    if not refused:
        return f"needs {counted(job.size, 'host')}; fewer that suit it are known to be free"
    codes = Counter(refused.values())
    return "refused by hosts: " + ", ".join(f"{code} {count} times" for code, count in sorted(codes.items()))
