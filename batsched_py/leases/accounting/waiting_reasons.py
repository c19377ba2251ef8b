"""Reasons of waiting leases in words: which hosts are busy until when, and what comes before them in the queue."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from batsched_py.hostset import HostSet
from batsched_py.leases.accounting.predictions import START_ESTIMATES, EstimateRow
from batsched_py.leases.accounting.rows import LiveRow
from batsched_py.model.table import Table
from batsched_py.results.lease_rows import ReservationUse
from batsched_py.text.wording import counted

#: The largest number of groups of busy hosts in a text, and of characters of the hosts of one.
_MOST_GROUPS: Final = 3
_LONGEST: Final = 40
_RUN: Final = ReservationUse.VM.value


class WaitingReasons:
    """The reasons of the waiting leases of one snapshot, and their expected starts.

    Args:
        tables: the live tables of the algorithm.
        busy, unavailable, drained: interval sets of hosts with running jobs, of unavailable and of drained ones.
        hosts: the number of hosts.
        exclusive: whether each host runs one lease at a time; otherwise nothing is said about hosts.
    """

    def __init__(
        self,
        tables: Mapping[str, Table],
        busy: str,
        unavailable: str,
        drained: str = "",
        *,
        hosts: int,
        exclusive: bool,
    ) -> None:
        self._exclusive = exclusive
        table, estimates = tables.get("reservations"), tables.get(START_ESTIMATES)
        rows = cast(Iterable[LiveRow], () if table is None else table.rows)
        #: End -> hosts in service that are busy until then, with the earliest first.
        self._busy: dict[float, HostSet] = {}
        #: Number of a lease -> start of its planned run; the earliest of all planned starts.
        self.planned: dict[int, float] = {}
        ends: dict[str, float] = {}
        for row in rows:
            if row.phase == "under way":
                ends[row.hosts] = max(ends.get(row.hosts, 0.0), row.end or 0.0)
            elif row.kind == _RUN and row.phase == "planned":
                self.planned.setdefault(row.lease, row.start)
        down = HostSet.parse(unavailable)
        out, used = down | HostSet.parse(drained), HostSet.parse(busy)
        for text, end in sorted(ends.items(), key=lambda pair: pair[1]):
            if in_service := HostSet.parse(text) - out:
                self._busy[end] = self._busy.get(end, HostSet()) | in_service
                used |= in_service
        self._out = {"unavailable": len(down), "drained": len(out - down)}
        self._free = max(0, hosts - len(used | out))
        found = cast(Sequence[EstimateRow], () if estimates is None else estimates.rows)
        self.estimates: Mapping[int, EstimateRow] = {row.lease: row for row in found}

    def reason(self, lease: int, nodes: int) -> str:
        """Return why a lease that waits for hosts does not run yet: fewer than 300 characters; "" if unknown."""
        parts = list[str]()
        if self._exclusive:
            parts.append(self._about_hosts(nodes))
        estimate = self.estimates.get(lease)
        if estimate is not None and estimate.ahead:
            parts.append(f"{counted(estimate.ahead, 'lease')} before it in the queue")
        return "; ".join(parts)

    def _about_hosts(self, nodes: int) -> str:
        needs = f"needs {counted(nodes, 'host')}, {self._free} {'is' if self._free == 1 else 'are'} free"
        if self._free >= nodes:
            return f"{needs}, but planned for others or not suitable"
        groups, missing = list[str](), nodes - self._free
        later = sum(map(len, self._busy.values()))
        for end, hosts in self._busy.items():
            if missing <= 0 or len(groups) == _MOST_GROUPS:
                break
            text = str(hosts)
            text = text if len(text) <= _LONGEST else f"{text[:_LONGEST].rpartition(' ')[0] or text[:_LONGEST]} ..."
            groups.append(f"{text} until {math.ceil(end)}")
            missing, later = missing - len(hosts), later - len(hosts)
        later = min(missing, later)
        more = [f"{later} more later"] if later > 0 else []
        down = [f"{number} {state}" for state, number in self._out.items() if number]
        return ", ".join([f"{needs}; busy: {groups[0]}" if groups else needs, *groups[1:], *more, *down])
