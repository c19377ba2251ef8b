"""Constraints of leases: the hosts for which a query is true, by their fixed properties."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from batsched_py.errors import QueryError
from batsched_py.queries.columns import Columns
from batsched_py.queries.host_attributes import host_attributes, idle_attributes
from batsched_py.queries.parser import parse
from batsched_py.reading.faults import FieldError
from batsched_py.scheduling.view import View
from batsched_py.text.display import shown


class HostConstraints:
    """The hosts of a site as constraints of leases see them: attributes that change have the values of an idle host.

    Whether hosts are free does not matter here: the scheduler plans each lease for a time when they are.

    Args:
        numbers: numbers of the hosts in the view.
        view: the state of the run, with their properties.
    """

    def __init__(self, numbers: Sequence[int], view: View) -> None:
        self._numbers, self._view = numbers, view

    @cached_property
    def _columns(self) -> Columns:
        found = Columns()
        for number in self._numbers:
            host = self._view.hosts[number]
            static = host_attributes(number, host.name, host.properties, host.zone_properties)
            found.add({**static, **idle_attributes(static)})
        return found

    def suitable(self, constraint: str) -> int:
        """Return the bits of the hosts, by number at the site, for which a query is true.

        FieldError if the query is invalid, or true for no host.
        """
        try:
            hosts = self._columns.select(parse(constraint)).true
        except QueryError as error:
            raise FieldError("lease.constraint", str(error)) from error
        if not hosts:
            raise FieldError("lease.constraint", f"no host has {shown(constraint)}")
        return hosts
