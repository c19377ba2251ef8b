"""Objects that the handlers share, kept in the application's state.

Litestar's dependency injection is not used: it would start a task group for each request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, TypeVar

import orjson
from msgspec import Struct

from batsched_py.leases.accounting.waiting_reasons import WaitingReasons
from batsched_py.leases.drains import drained_hosts
from batsched_py.site.api.acceptance import Acceptance
from batsched_py.site.api.answers import Answers
from batsched_py.site.api.changes import SiteChanges
from batsched_py.site.api.experiment_views import Experiments
from batsched_py.site.api.host_views import HostIndex
from batsched_py.site.api.identity import Asking, Identity
from batsched_py.site.api.lease_views import LeaseIndex
from batsched_py.site.api.pending import PendingRequests
from batsched_py.site.api.problems import RequestRefusedError
from batsched_py.site.api.quotas import Quotas
from batsched_py.site.api.reservation_views import ReservationIndex
from batsched_py.site.api.schedule import SiteSchedule
from batsched_py.site.api.turns import Turns
from batsched_py.site.api.what_if_player import WhatIfPlayer
from batsched_py.site.inbox import Asked
from batsched_py.site.journal import JournalEntry
from batsched_py.site.site import Site
from batsched_py.site.snapshot import Snapshot

#: The name of the parts in the application's state.
STATE: Final = "parts"
#: What requests use, by quota; bytes are those in the journal.
LEASES, EXPERIMENTS, BYTES = "leases", "experiments", "bytes"
#: The name of the turns of changes of hosts, of which two may concern the same ones.
HOSTS: Final = "hosts"
ONE_EXPERIMENT: Final = {EXPERIMENTS: 1}
T = TypeVar("T")


class SiteParts(Struct, frozen=True):
    """A site and the objects that answer requests about it."""

    site: Site
    leases: LeaseIndex
    hosts: HostIndex
    experiments: Experiments
    reservations: ReservationIndex
    answers: Answers
    changes: SiteChanges
    schedule: SiteSchedule
    acceptance: Acceptance
    quotas: Quotas
    pending: PendingRequests
    turns: Turns
    reader: ThreadPoolExecutor
    player: WhatIfPlayer

    async def accept(self, who: Identity, asked: Asked, more: Mapping[str, int]) -> JournalEntry:
        """Write a request to disk, and return it as accepted.

        RequestRefusedError if it exceeds a quota of its caller, with what is being written now; SiteError. `more` is
        what it will use: `LEASES` and `hosts`, or `EXPERIMENTS`, or nothing.
        """
        size = len(orjson.dumps(asked.members(0)))
        more = {**more, BYTES: size}
        while True:
            try:
                self._check(who, more)
                break
            except RequestRefusedError:
                # It may be in the journal and still count as pending, and it may fail.
                if not self.pending.has(who, more):
                    raise
            await self.pending.change()
        with self.pending.counted(who, more):
            return await self.acceptance.accept(asked)

    def _check(self, who: Identity, more: Mapping[str, int]) -> None:
        used: dict[str, tuple[int, int]] = {}
        if LEASES in more:
            used |= self.leases.used(who)
        if EXPERIMENTS in more:
            used |= self.experiments_used(who)
        self.quotas.check(who, self.pending.added(who, used), more)
        kept = self.pending.added(who, {BYTES: (self.site.inbox.bytes_of(who.user), 0)})[BYTES][0]
        self.quotas.check_bytes(kept, more[BYTES])

    def check_experiment(self, who: Identity) -> None:
        """Raise RequestRefusedError if another experiment or reservation exceeds a quota of a caller."""
        self.quotas.check(who, self.experiments_used(who), ONE_EXPERIMENT)

    def experiments_used(self, who: Identity) -> dict[str, tuple[int, int]]:
        """Return the number of experiments and reservations of a caller and its group, by quota."""
        own, shared = map(sum, zip(self.experiments.count(who), self.reservations.count(who), strict=True))
        return {"experiments": (own, shared)}

    async def read(self, work: Callable[[], T]) -> T:
        """Return the result of a long computation, run off the event loop, one at a time."""
        return await asyncio.get_running_loop().run_in_executor(self.reader, work)


def make_parts(site: Site, quotas: Quotas) -> SiteParts:
    """Return the parts of an application."""
    return SiteParts(
        site,
        LeaseIndex(site.inbox, site.board, site.begun, partial(_explain, site)),
        HostIndex(site.inbox, site.board, lambda: site.hosts),
        Experiments(site.inbox, lambda: site.board.snapshot.tables),
        ReservationIndex(site.inbox, lambda: site.board.snapshot.tables),
        Answers(site.board),
        SiteChanges(lambda: site.board.snapshot, site.board.ended),
        SiteSchedule(site.board, site.inbox.entries),
        Acceptance(site.inbox),
        quotas,
        PendingRequests(),
        Turns(),
        ThreadPoolExecutor(1, "reader"),
        WhatIfPlayer(site.stop_plays),
    )


def _explain(site: Site, now: Snapshot) -> WaitingReasons:
    view, hosts = site.session.view, len(site.hosts)
    exclusive = not view.compute_sharing and not view.shares_tasks
    some, drained = now.hosts, drained_hosts(now.tables)
    return WaitingReasons(now.tables, some.busy, some.unavailable, drained, hosts=hosts, exclusive=exclusive)


def parts(request: Asking) -> SiteParts:
    """Return the parts of a request's application."""
    found: SiteParts = request.app.state[STATE]
    return found
