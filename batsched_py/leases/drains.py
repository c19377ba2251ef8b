"""Drained hosts: nothing new starts on them, and what runs there goes on, at the request of an operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from batsched_py.hostset import HostSet
from batsched_py.model.table import Table
from batsched_py.protocol.events import Notify
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.text.display import shown

#: Types of external events that drain hosts, and end that; the member `resources` has the hosts.
DRAIN_HOSTS: Final = "drain_hosts"
UNDRAIN_HOSTS: Final = "undrain_hosts"
DRAINS: Final = frozenset({DRAIN_HOSTS, UNDRAIN_HOSTS})
#: The name of the live table of drained hosts.
DRAINED: Final = "drained_hosts"


class Drains:
    """The drained hosts of a site.

    Args:
        hosts: Batsim's numbers of the site's hosts.

    Attributes:
        drained: drained hosts, by Batsim's numbers.
    """

    def __init__(self, hosts: Sequence[int]) -> None:
        self._hosts, self._known = hosts, HostSet.from_ids(hosts)
        self.drained = HostSet()
        #: Hosts that were unavailable at the last decision, as places among the site's hosts.
        self._failed: set[int] = set()
        self._warnings: list[str] = []

    def note(self, event: Notify, view: View) -> None:
        """Note an event that drains hosts or ends that; an invalid one is reported at the next decision."""
        given = event.members.get("resources")
        try:
            if not view.expects_requests:
                raise ValueError("can be drained as long as requests may follow (--requests)")
            if not isinstance(given, str):
                raise ValueError(f"must be a text, not {shown(given)}")
            hosts = HostSet.parse(given)
            if not hosts <= self._known:
                raise ValueError(f"host {hosts - self._known} does not exist")
        except ValueError as error:
            self._warnings.append(f"{event.kind}: resources: {error}; it is ignored")
            return
        self.drained = self.drained | hosts if event.kind == DRAIN_HOSTS else self.drained - hosts

    def report(self, plan: Plan) -> None:
        """Warn of invalid events."""
        for text in self._warnings:
            plan.warn(text)
        self._warnings.clear()

    def out_of_service(self, view: View) -> tuple[set[int], set[int]]:
        """Return the hosts that are unavailable or drained, and those that became unavailable since the last call.

        Both are places among the site's hosts. Once no request can follow, no host is drained any more.
        """
        if self.drained and not view.expects_requests:
            self.drained = HostSet()
        if not (view.unavailable or self.drained or self._failed):
            return set(), set()
        out = view.unavailable | self.drained
        failed = {place for place, host in enumerate(self._hosts) if host in view.unavailable}
        new, self._failed = failed - self._failed, failed
        return {place for place, host in enumerate(self._hosts) if host in out}, new

    def live_table(self) -> Table:
        """Return the table of drained hosts: one row, with an interval set."""
        return Table(DRAINED, ("hosts",), [(str(self.drained),)])


def drained_hosts(tables: Mapping[str, Table]) -> str:
    """Return the drained hosts of live tables, an interval set."""
    table = tables.get(DRAINED)
    return "" if table is None else str(next(iter(table.rows))[0])
