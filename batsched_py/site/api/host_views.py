"""Hosts of a site as callers see them: their states, and why an operator has taken them out of service."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.leases.accounting.rows import LiveRow
from batsched_py.leases.drains import DRAIN_HOSTS, DRAINS, drained_hosts
from batsched_py.model.external_event import MACHINE_EVENTS, MACHINE_UNAVAILABLE
from batsched_py.site.board import Board
from batsched_py.site.inbox import Inbox
from batsched_py.site.journal import JournalEntry
from batsched_py.site.snapshot import Snapshot
from batsched_py.state.host import Host as SimulatedHost

#: The types of requests that concern hosts.
_REQUESTS: Final = MACHINE_EVENTS | DRAINS


class Host(Struct, frozen=True, omit_defaults=True):
    """A host.

    Attributes:
        number: the number of the host in intervals and charts, from 0.
        name: the name in the platform file.
        state: free, busy, unavailable (failed), draining (busy, and nothing new starts), drained, asleep or switching.
        properties: the properties in the platform file.
        reason: why an operator has drained or failed it; "" for no reason.
        by: the operator who did; "" if the host is in service.
    """

    number: int
    name: str
    state: str
    properties: dict[str, str]
    reason: str = ""
    by: str = ""


class RequestedHosts:
    """Hosts that requests of one kind have taken out of service, or returned.

    Attributes:
        taken: host -> the request that has taken it, and that no request has ended.
    """

    def __init__(self) -> None:
        self.taken: dict[int, JournalEntry] = {}
        #: Host -> the time of the latest request for it; none whose effect a snapshot has shown.
        self._times: dict[int, float] = {}

    def note(self, entry: JournalEntry) -> None:
        """Note a request, in the order of their numbers."""
        for host in HostSet.parse(entry.members["resources"]):
            self._times[host] = entry.time
            if entry.kind in (MACHINE_UNAVAILABLE, DRAIN_HOSTS):
                self.taken[host] = entry
            else:
                self.taken.pop(host, None)

    def applied(self, out: HostSet, now: float) -> HostSet:
        """Return the hosts that are out of service after all requests.

        Args:
            out: those that are out of service in a snapshot.
            now: its time: it may lack the effects of requests from then on. What has become of a host after the effect
                of an earlier one, such as a failure by itself, counts.
        """
        self._times = {host: time for host, time in self._times.items() if time >= now}
        unseen = HostSet.from_ids(self._times)
        return (out - unseen) | HostSet.from_ids(host for host in self._times if host in self.taken)


class HostIndex:
    """An index of the hosts that operators have taken out of service; used from one event loop.

    Args:
        inbox: the requests of the site.
        board: the state of its run.
        hosts: returns its compute hosts, ordered by number.
    """

    def __init__(self, inbox: Inbox, board: Board, hosts: Callable[[], Sequence[SimulatedHost]]) -> None:
        self._inbox, self._board, self._hosts = inbox, board, hosts
        #: The number of indexed requests.
        self._indexed = 0
        self._failed, self._drained = RequestedHosts(), RequestedHosts()

    def listed(self, begin: int, end: int, *, out: bool = False) -> list[Host]:
        """Return the hosts with numbers in [begin, end) ordered by number; with `out`, only those out of service."""
        self._catch_up()
        sets = self._sets()
        hosts, gone = self._hosts(), sets["unavailable"] | sets["drained"]
        numbers = [one for one in gone if begin <= one < end] if out else range(begin, min(end, len(hosts)))
        return [self._host(number, hosts[number], sets) for number in numbers]

    def failed(self) -> HostSet:
        """Return the hosts that are unavailable, or will be by requests, whose effect may not be visible yet."""
        self._catch_up()
        snapshot = self._board.snapshot
        return self._failed.applied(HostSet.parse(snapshot.hosts.unavailable), snapshot.now)

    def failed_by_request(self) -> HostSet:
        """Return the hosts that a request has made unavailable, and none has returned."""
        self._catch_up()
        return HostSet.from_ids(self._failed.taken)

    def drained(self) -> HostSet:
        """Return the hosts that are drained, or will be by requests, whose effect may not be visible yet."""
        self._catch_up()
        snapshot = self._board.snapshot
        return self._drained.applied(HostSet.parse(drained_hosts(snapshot.tables)), snapshot.now)

    def _sets(self) -> dict[str, HostSet]:
        snapshot = self._board.snapshot
        now = snapshot.hosts
        sets = {name: HostSet.parse(getattr(now, name)) for name in ("unavailable", "switching", "asleep", "busy")}
        sets["busy"] |= under_way(snapshot)
        sets["drained"] = HostSet.parse(drained_hosts(snapshot.tables))
        return sets

    def _host(self, number: int, host: SimulatedHost, sets: Mapping[str, HostSet]) -> Host:
        state = _state(number, sets)
        requested = {"unavailable": self._failed, "drained": self._drained, "draining": self._drained}.get(state)
        found = Host(number, host.name, state, {**host.properties})
        entry = None if requested is None else requested.taken.get(number)
        if entry is None:
            return found
        return Host(number, host.name, state, {**host.properties}, str(entry.members.get("reason", "")), entry.user)

    def _catch_up(self) -> None:
        for entry in self._new():
            (self._failed if entry.kind in MACHINE_EVENTS else self._drained).note(entry)

    def _new(self) -> Iterator[JournalEntry]:
        entries = self._inbox.entries
        while (entry := entries.get(self._indexed + 1)) is not None:
            self._indexed += 1
            if entry.kind in _REQUESTS:
                yield entry


def under_way(snapshot: Snapshot) -> HostSet:
    """Return the hosts that leases use now; leases for virtual machines have no jobs that would make hosts busy."""
    table = snapshot.tables.get("reservations")
    rows = cast(Iterable[LiveRow], () if table is None else table.rows)
    found = HostSet()
    for hosts in {row.hosts for row in rows if row.phase == "under way"}:
        found |= HostSet.parse(hosts)
    return found


def _state(number: int, sets: Mapping[str, HostSet]) -> str:
    if number in sets["drained"] and number not in sets["unavailable"]:
        return "draining" if number in sets["busy"] else "drained"
    return next((name for name, hosts in sets.items() if number in hosts), "free")
