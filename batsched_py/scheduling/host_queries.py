"""Queries of jobs for hosts: the member `constraint` of a job restricts its hosts (L25, L42)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from batsched_py.bits import bit_runs
from batsched_py.errors import QueryError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.queries.columns import Columns
from batsched_py.queries.expression import Expression
from batsched_py.queries.host_attributes import DYNAMIC, host_attributes, idle_attributes
from batsched_py.queries.parser import parse
from batsched_py.queries.values import Value
from batsched_py.scheduling.view import View
from batsched_py.text.display import shown

#: The member of a job that holds its query.
MEMBER: Final = "constraint"


class HostQueries:
    """The hosts of a run, as queries of jobs see them.

    Attributes from the platform are static; load, jobs and others are computed when a query reads them.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._columns = Columns()
        #: Host number of each row.
        self._hosts = list(view.hosts)
        #: Row -> dynamic attributes of the idle host.
        self._idle: list[Mapping[str, Value]] = []
        for number, host in view.hosts.items():
            static = host_attributes(number, host.name, host.properties, host.zone_properties)
            self._idle.append(idle_attributes(static))
            self._columns.add({**static, **self._idle[-1]})
        #: Rows whose hosts were in use when dynamic attributes were computed last.
        self._used: set[int] = set()
        self._row = {number: row for row, number in enumerate(self._hosts)}
        #: Text of a query -> hosts on which it may ever be true.
        self._ever: dict[str, HostSet] = {}

    def query(self, job: Job) -> Expression | None:
        """Return the query of a job; None if it may run anywhere. QueryError for an invalid query."""
        text = job.members.get(MEMBER)
        if text is None:
            return None
        if not isinstance(text, str):
            raise QueryError("", 0, f"must be a text, not {shown(text)}")
        return parse(text)

    def ever(self, query: Expression) -> HostSet:
        """Return the hosts for which a query may ever be true, in any dynamic state."""
        text = str(query)
        found = self._ever.get(text)
        if found is None:
            found = self._ever[text] = self._host_set(self._columns.may_be_true(query, DYNAMIC))
        return found

    def changes(self, query: Expression) -> bool:
        """Return whether a query reads dynamic attributes."""
        return not query.names.isdisjoint(DYNAMIC)

    def now(self, query: Expression) -> HostSet:
        """Return the hosts for which a query is true now."""
        self._compute()
        if "pstate" in query.names:
            for row, number in enumerate(self._hosts):
                pstate = self._view.pstate(number)
                if pstate is not None:
                    self._columns.update(row, {"pstate": pstate})
        return self._host_set(self._columns.select(query).true)

    def _compute(self) -> None:
        """Update the dynamic attributes of the hosts that are or were in use."""
        view = self._view
        used: dict[int, dict[str, Value]] = {}
        for running in view.running:
            for number in running.hosts:
                row = self._row.get(number)
                if row is not None:
                    state = used.setdefault(row, {**self._idle[row], "jobs": 0, "load": 0.0, "next_free": view.now})
                    state["jobs"] = int(state["jobs"]) + 1
                    state["load"] = float(state["jobs"])
                    state["next_free"] = max(float(state["next_free"]), running.end)
                    state["free_cpu"] = state["free_mem"] = 0
        down = view.unavailable | view.asleep | view.switching
        for number in down:
            row = self._row[number]
            used.setdefault(row, dict(self._idle[row]))["up"] = False
        for row in self._used - used.keys():
            self._columns.update(row, self._idle[row])
        for row, state in used.items():
            self._columns.update(row, state)
        self._used = set(used)

    def _host_set(self, rows: int) -> HostSet:
        if self._hosts[-1:] == [len(self._hosts) - 1]:  # hosts are numbered without gaps
            return HostSet(rows)
        return HostSet.from_ids(self._hosts[row] for low, high in bit_runs(rows) for row in range(low, high + 1))
