"""Members of a run's collection: hosts and vaults, which report their state, are polled, and decide for themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from batsched_py.api import Host, HostRoom, HostSet, Job, OptionError, View
from batsched_py.collection.codes import Code
from batsched_py.collection.collection import Collection
from batsched_py.collection.policies import Moody, read_policies
from batsched_py.collection.resources import CollectionResource
from batsched_py.collection.task_rooms import fitting
from batsched_py.collection.tokens import Token
from batsched_py.queries.expression import Expression
from batsched_py.queries.host_attributes import HOST, VAULT, host_attributes, idle_attributes, number_of
from batsched_py.queries.values import Value
from batsched_py.schedulers.placing.options import PlacerOptions

# There are two collections: what hosts report, which is always exact, and what is known of them, which is as old as the
# last poll if `staleness` is not 0, and otherwise the same object. Schedules are computed from the second; vetoes and
# the hosts themselves use the first. A host that refuses because it is in use is corrected in the second until the next
# poll, or until it is free: otherwise each waiting job would ask it once more.
#
# `_news` has hosts by the last decision at which they may have begun to agree, the latest last, so that the question
# whether a resting job has a reason to try again looks only at the hosts that are newer than its last answer
# (`latest`), and each query is answered once for each decision.
#
# Between two decisions the state of each host in `reported` is that of the view at the last `update`, plus the starts
# since then.

#: Attributes that a host with a job reports.
BUSY: Final[Mapping[str, Value]] = {"load": 1.0, "jobs": 1, "free_cpu": 0, "free_mem": 0}


class CollectionMembers:
    """The hosts and vaults of a run.

    Attributes:
        reported: their reports, always exact.
        known: the polled records: the same, or as old as the last poll.
        resources: name -> the resource that decides for it.
        numbers: name -> its number.
        vaults: names of the storage hosts.
        down: hosts that can run nothing.
    """

    def __init__(self, view: View, options: PlacerOptions, draw: Callable[[], float]) -> None:
        """Add them to the collections, and poll them."""
        self._options, self._draw = options, draw
        self._shared = options.share == "time"
        self.reported = Collection()
        self.resources: dict[str, CollectionResource] = {}
        self.numbers: dict[str, int] = {}
        #: Name -> the report of an idle member.
        self._idle: dict[str, dict[str, Value]] = {}
        self.vaults = frozenset(host.name for host in view.storages.values())
        for number, host in view.hosts.items():
            self._join(number, host, HOST)
        for number, host in view.storages.items():
            self._join(number, host, VAULT)
        self.known = self.reported
        if options.staleness:
            self.known = Collection()
            self.known.poll(self.reported, period=options.staleness, now=view.now)
        #: The version of the reports at the last poll; hosts that have been found in use since then.
        self._seen = self.reported.version
        self._found_used: set[str] = set()
        self._used, self.down = HostSet(), HostSet()
        #: The number of the current decision, and that of the last poll.
        self.decision = self._polled = 0
        #: Host -> the decision with the latest change that may make it agree, the latest last.
        self._news: dict[str, int] = {}
        #: Text of a query -> a decision, and the last one before it with a change of a suitable host.
        self._latest: dict[str, tuple[int, int]] = {}
        #: The last decision with a change of a vault.
        self._vault_news = 0
        #: True once hosts accept tasks; if records are polled, the rooms of hosts with tasks at the last poll, and the
        #: hosts that jobs had whole.
        self._accepts = False
        self._rooms: dict[int, HostRoom] = {}
        self._whole = HostSet()
        #: Resources whose reservations have changed since their last report.
        self._changed: dict[str, None] = {}

    def _join(self, number: int, host: Host, kind: str) -> None:
        static = host_attributes(number, host.name, host.properties, host.zone_properties, kind)
        self._idle[host.name], self.numbers[host.name] = idle_attributes(static), number
        self.reported.join(host.name, {**static, **self._idle[host.name]})
        try:
            policies = read_policies({**self._usual(kind), **host.properties}, self._draw)
        except ValueError as error:
            raise OptionError(f"host {host.name}: property {error}") from None
        if self._options.refuse:
            policies.append(Moody(self._options.refuse, self._draw))
        own = self._options.policy(host.properties, self._draw)
        capacity = number_of(static, "size", 0) if kind == VAULT else number_of(static, "cpus", 1)
        self.resources[host.name] = CollectionResource(
            host.name, capacity, (*policies, *([] if own is None else [own]))
        )

    def _usual(self, kind: str) -> dict[str, object]:
        """Return the default policies of hosts, which their properties may override."""
        given = {name: getattr(self._options, name) for name in ("max_jobs", "allowed_users", "allowed_hours")}
        return {name: value for name, value in given.items() if value is not None and kind == HOST}

    @property
    def has_unpolled(self) -> bool:
        """True if the reports differ from the polled records."""
        return self.reported.version != self._seen

    def update(self, view: View) -> bool:
        """Let hosts report their state, after the polls that were due before; return whether any was due."""
        self.decision += 1
        polled = self._poll(math.nextafter(view.now, -math.inf))
        down = view.unavailable | view.asleep | view.switching
        turned = (down - self.down) | (self.down - down)
        if not self._shared:
            used = view.all_hosts - view.free
            for number in (used - self._used) | (self._used - used) | turned:
                name, works = view.hosts[number].name, number in used
                self.reported.update(name, {**(BUSY if works else self._idle[name]), "up": number not in down})
            self._used = used
        for number in turned:
            self.resources[view.hosts[number].name].up = number not in down
            self._note_change(view.hosts[number].name, self.decision)
        self.down = down
        if self._shared or self.vaults:
            for name in [*self._changed, *(view.hosts[number].name for number in turned)]:
                self._report(name, view.now)
        self._changed.clear()
        polled = self._poll(view.now) or polled
        if polled:
            self._look_at(view)
        return polled

    def note_start(self, hosts: HostSet, tokens: Iterable[Token]) -> None:
        """Let the resources of a started job report."""
        for token in tokens:
            self._changed[token.resource] = None
            if token.resource in self.vaults or self._shared:
                self._report(token.resource, token.created)
            else:
                self.reported.update(token.resource, {**BUSY, "next_free": token.request.end})
        self._used |= hosts

    def note_end(self, names: Iterable[str]) -> None:
        """Record the end of a job on these resources."""
        for name in names:
            self._changed[name] = None
            self._note_change(name, self.decision + 1)  # its effects are part of the next decision

    def learn(self, refused: Mapping[str, Code]) -> None:
        """Record hosts that are in use, so that other jobs do not ask them before a change or the next poll."""
        if self._options.staleness and not self._shared:
            for name, code in refused.items():
                if code is Code.NO_CAPACITY and name not in self.vaults and self.known.correct(name, BUSY):
                    self._found_used.add(name)

    def recorded_free(self, refused: Iterable[str]) -> int:
        """Return the number of refusing hosts that are still free according to their records."""
        return sum(name not in self.vaults and name not in self._found_used for name in refused)

    def latest(self, query: Expression, now: float, *, stores: bool = False) -> int:
        """Return the last decision with a change of a host that suits a query; with `stores`, also of a vault."""
        until, found = self._latest.get(query.text, (0, 0))
        if until < self.decision:
            found = max(found, self._polled)
            for name in reversed(self._news):
                if self._news[name] <= max(until, found):
                    break
                if self.known.suits(name, query, now):
                    found = self._news[name]
            self._latest[query.text] = self.decision, found
        return max(found, self._vault_news) if stores else found

    def accept_tasks(self, job: Job, view: View) -> None:
        """Let hosts accept tasks, from the first job with a demand on."""
        if job.demand is not None and not self._accepts:
            self._accepts = True
            for number, host in view.hosts.items():
                self.resources[host.name].host = view.room(number).capacity
            self._look_at(view)

    def most_tasks(self, name: str, job: Job, view: View) -> int:
        """Return how many tasks of a job fit on a host while nothing runs there."""
        capacity = self.resources[name].host
        return 0 if job.demand is None or capacity is None else fitting(HostRoom(capacity), job.demand)

    def fits(self, name: str, job: Job, view: View) -> int:
        """Return how many tasks of a job fit on a host, as far as it is known: now, or at the last poll."""
        number, capacity = self.numbers[name], self.resources[name].host
        if job.demand is None or capacity is None or name in self._found_used:
            return 0
        if not self._options.staleness:
            whole = number not in view.part and number not in view.free
            room = view.room(number)
        else:
            whole, room = number in self._whole, self._rooms.get(number) or HostRoom(capacity)
        return 0 if whole else fitting(room, job.demand)

    def _look_at(self, view: View) -> None:
        """Keep the rooms of hosts until the next poll."""
        if self._options.staleness and self._accepts:
            self._rooms = {number: view.room(number) for number in view.part}
            self._whole = view.all_hosts - view.free - view.part

    def opens(self, names: Iterable[str], now: float) -> float:
        """Return the next begin of opening hours of these resources; infinity if they have none."""
        return min((self.resources[name].opens(now) for name in names), default=math.inf)

    def _note_change(self, name: str, decision: int) -> None:
        """Record that a host may agree again; restore its record from before it was found in use."""
        if name in self._found_used:
            self._found_used.remove(name)
            self.known.correct(name, self._idle[name])
        elif self.known is not self.reported:
            return  # not known
        if name in self.vaults:
            self._vault_news = decision
        else:
            self._news.pop(name, None)
            self._news[name] = decision

    def _poll(self, now: float) -> bool:
        """Poll what hosts have reported, if that is due by now."""
        before = self.known.version
        if not self.known.refresh(now):
            return False
        if self.known.version != before:
            self._polled = self.decision
        self._seen = self.reported.version
        self._found_used.clear()
        return True

    def _report(self, name: str, now: float) -> None:
        """Let a shared resource report its state."""
        resource, idle = self.resources[name], self._idle[name]
        free = resource.free(now, math.nextafter(now, math.inf), now)
        if "space" in idle:
            self.reported.update(name, {"free_space": free})
        elif self._shared:
            load = 1 - free / resource.capacity if resource.capacity else 1.0
            tokens, cpu = resource.tokens(now), idle["free_cpu"]
            left = cpu * (1 - load) if isinstance(cpu, (int, float)) else 0
            found = {**idle, "load": load, "jobs": len(tokens), "free_cpu": left, "up": resource.up}
            self.reported.update(name, {**found, "next_free": max((one.request.end for one in tokens), default=0.0)})
